"""The store of tokens: the file, and a keyring of the system."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail, null
from keyring.errors import KeyringLocked, PasswordDeleteError

from inspector.protocol.errors import FaultError
from inspector.session.login.token_store import Place, StoredToken, TokenStore, keyring_problem
from inspector.session.login.tokens import Token, TokenKey

KEY = TokenKey("https://agent.example:443", "oauth", "client")
TOKEN = Token(
    KEY, "canary-token", scopes=("a", "b"), expires_at=5.0, refresh_token="canary-refresh", client_secret="env:X"
)


class MemoryKeyring(KeyringBackend):
    """A keyring in memory, which can be locked."""

    priority = 1  # type: ignore[assignment]
    viable = False  # type: ignore[assignment]
    """Whether the library chooses it without being told."""
    name = "Memory"

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[tuple[str, str], str] = {}
        self.locked = False

    def _check(self) -> None:
        if self.locked:
            raise KeyringLocked("locked")

    def get_password(self, service: str, username: str) -> str | None:
        self._check()
        return self.values.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._check()
        self.values[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._check()
        if self.values.pop((service, username), None) is None:
            raise PasswordDeleteError("not there")


@pytest.fixture
def ring() -> Iterator[MemoryKeyring]:
    before, ring = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


@pytest.fixture
def store(tmp_path: Path) -> TokenStore:
    return TokenStore(tmp_path / "state" / "logins.json")


def test_the_file_is_private_and_has_the_token(store: TokenStore):
    store.put(TOKEN, Place.FILE)
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700
    [entry] = TokenStore(store.path).entries(KEY.origin)
    assert store.get(entry) == TOKEN
    assert store.entries("https://other.example:443") == []
    assert store.remove(KEY)
    assert not store.remove(KEY)
    assert b"canary" not in store.path.read_bytes()


def test_nothing_is_lost_if_several_processes_store_and_remove_tokens(store: TokenStore):
    keys = [TokenKey(f"https://agent-{number}.example:443", "oauth", "client") for number in range(24)]

    def change(key: TokenKey) -> None:
        own = TokenStore(store.path)  # the locks are those of the open files, as between processes
        own.put(replace(TOKEN, key=key), Place.FILE)
        if key in keys[::2]:
            own.remove(key)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(change, keys))
    assert {entry.key for entry in store.entries()} == set(keys[1::2])


def test_the_keyring_has_the_token_and_the_file_only_names_it(store: TokenStore, ring: MemoryKeyring):
    store.put(TOKEN, Place.KEYRING)
    assert b"canary" not in store.path.read_bytes()
    assert [*ring.values] == [("a2a-inspect", '["https://agent.example:443", "oauth", "client"]')]
    [entry] = store.entries()
    assert (entry, store.get(entry)) == (StoredToken(KEY, Place.KEYRING), TOKEN)
    assert store.where(Place.KEYRING) == "the keyring (Memory)"
    assert store.remove(KEY)
    assert (ring.values, store.entries()) == ({}, [])


def test_a_token_that_the_user_removed_from_the_keyring_is_gone(store: TokenStore, ring: MemoryKeyring):
    store.put(TOKEN, Place.KEYRING)
    ring.values.clear()
    [entry] = store.entries()
    assert store.get(entry) is None
    assert store.remove(KEY)


def test_a_token_in_the_file_replaces_that_in_the_keyring(store: TokenStore, ring: MemoryKeyring):
    store.put(TOKEN, Place.KEYRING)
    store.put(replace(TOKEN, access_token="canary-second"), Place.FILE)
    assert ring.values == {}
    [entry] = store.entries()
    assert entry.is_in_file
    assert store.remove(KEY)
    assert store.entries() == []


def test_a_replaced_token_in_a_locked_keyring_is_deleted_later(store: TokenStore, ring: MemoryKeyring):
    store.put(TOKEN, Place.KEYRING)
    ring.locked = True
    store.put(TOKEN, Place.FILE)
    assert [entry.place for entry in store.entries()] == [Place.FILE]
    with pytest.raises(FaultError, match="locked"):
        store.remove(KEY)
    assert b"canary" not in store.path.read_bytes(), "the token in the file is removed"
    assert [entry.place for entry in store.entries()] == [Place.KEYRING]
    ring.locked = False
    assert store.remove(KEY)
    assert (ring.values, store.entries()) == ({}, [])


@pytest.mark.usefixtures("ring")
def test_a_keyring_that_is_not_installed_any_more_is_reported(store: TokenStore, monkeypatch: pytest.MonkeyPatch):
    store.put(TOKEN, Place.KEYRING)
    for name in ("keyring", "keyring.errors"):
        monkeypatch.setitem(sys.modules, name, None)
    [entry] = store.entries()
    with pytest.raises(FaultError, match="keyring is not installed"):
        store.get(entry)
    store.put(TOKEN, Place.FILE)
    [entry] = store.entries()
    assert store.get(entry) == TOKEN


def test_a_locked_keyring_is_never_replaced_by_the_file(store: TokenStore, ring: MemoryKeyring):
    ring.locked = True
    with pytest.raises(FaultError, match="cannot be written: locked"):
        store.put(TOKEN, Place.KEYRING)
    assert not store.path.exists()


@pytest.mark.usefixtures("ring")
@pytest.mark.parametrize("backend", [fail.Keyring, null.Keyring])
def test_a_keyring_without_a_secure_backend_is_not_used(store: TokenStore, backend: type[KeyringBackend]):
    keyring.set_keyring(backend())
    assert "no secure backend" in keyring_problem()
    with pytest.raises(FaultError, match="no secure backend"):
        store.put(TOKEN, Place.KEYRING)
    assert not store.path.exists()


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"logins": 1}'])
def test_a_damaged_file_is_reported(store: TokenStore, content: bytes):
    store.put(TOKEN, Place.FILE)
    store.path.write_bytes(content)
    with pytest.raises(FaultError, match="is damaged"):
        store.entries()


def test_damaged_entries_are_left_out(store: TokenStore):
    store.put(TOKEN, Place.FILE)
    text = store.path.read_text()
    store.path.write_text(text.replace('"place": "file"', '"place": "cloud"'))
    assert store.entries() == []
    store.path.write_text(text.replace('"access_token"', '"other"'))
    [entry] = store.entries()
    assert store.get(entry) is None


def test_a_token_is_stored_with_the_authentication_of_its_client(store: TokenStore):
    token = replace(TOKEN, client_authentication=("client_secret_post",))
    store.put(token, Place.FILE)
    [entry] = store.entries()
    assert store.get(entry) == token


def test_a_token_of_an_earlier_version_has_no_authentication_of_its_client(store: TokenStore):
    store.put(TOKEN, Place.FILE)
    document = json.loads(store.path.read_text())
    del document["logins"][0]["token"]["client_authentication"]
    store.path.write_text(json.dumps(document))
    [entry] = store.entries()
    assert store.get(entry) == TOKEN


def test_a_link_is_not_followed(store: TokenStore, tmp_path: Path):
    store.put(TOKEN, Place.FILE)
    link = tmp_path / "state" / "link.json"
    link.symlink_to(store.path)
    with pytest.raises(FaultError, match="symbolic link"):
        TokenStore(link).entries()


def test_a_file_that_others_can_read_is_not_used(store: TokenStore):
    store.put(TOKEN, Place.FILE)
    store.path.chmod(0o640)
    with pytest.raises(FaultError, match="chmod 600"):
        store.entries()
