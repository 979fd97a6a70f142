"""Where tokens are stored between sessions: the keyring of the system, or a file that only the user can read.

The file `logins.json` in the state folder lists the stored tokens. It contains a token itself only if the user chose
the file; a token in the keyring is only named there, because a keyring cannot list its content.
"""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Any

from inspector import PROGRAM
from inspector.capture.paths import stored_tokens_path
from inspector.capture.private_files import CaptureError, private_folder, reason, replace_file
from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import FaultError, usage_error
from inspector.protocol.jsonvalue import parse
from inspector.session.login.tokens import Token, TokenKey

_LOCK = "logins.lock"
_LONGEST_WAIT = 40.0
"""How many seconds one process waits for another that renews a token."""
_PAUSE = 0.05
_OTHERS = 0o077
"""The permissions of the group and of others."""


class Place(StrEnum):
    """Where tokens are stored; one never replaces another silently."""

    KEYRING = "keyring"
    """In the keyring of the system (optional extra `keyring`)."""
    FILE = "file"
    """In a file that only the user can read; the user has to agree."""


@dataclass(frozen=True, slots=True)
class StoredToken:
    """An entry of the list: the key of a token, where the token is, and the token itself if it is in the file."""

    key: TokenKey
    place: Place
    token: Token | None = None

    @property
    def is_in_file(self) -> bool:
        """Return whether the token is in the file, not in the keyring."""
        return self.place is Place.FILE


class TokenStore:
    """The stored tokens; every method raises `FaultError` if the file or the keyring cannot be used."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or stored_tokens_path()

    def where(self, place: Place) -> str:
        """Return a place in words: `the keyring (SecretService Keyring)`, or the path of the file."""
        return str(self.path) if place is Place.FILE else f"the keyring ({_keyring().get_keyring().name})"

    def entries(self, origin: str = "") -> list[StoredToken]:
        """Return the stored tokens, all or those for one origin, without asking the keyring."""
        entries = self._read()
        in_file = {entry.key for entry in entries if entry.is_in_file}  # replaces that in the keyring, see `put`
        current = (entry for entry in entries if entry.is_in_file or entry.key not in in_file)
        return [entry for entry in current if origin in ("", entry.key.origin)]

    def get(self, entry: StoredToken) -> Token | None:
        """Return the token of an entry; None if the keyring does not have it any more."""
        if entry.place is Place.FILE:
            return entry.token
        text = _guarded("read", lambda ring: ring.get_password(PROGRAM, _account(entry.key)))
        value = parse(text.encode()) if text else None
        return _token(value) if isinstance(value, Mapping) else None

    def put(self, token: Token, place: Place) -> None:
        """Store a token, in place of that with the same key.

        If the token before cannot be deleted from the keyring, it stays in the list, so that a later call deletes it.
        """
        if place is Place.KEYRING:
            text = json.dumps(asdict(token))
            _guarded("written", lambda ring: ring.set_password(PROGRAM, _account(token.key), text))
        with self._alone():
            entries = self._read()
            others = [entry for entry in entries if entry.key != token.key]
            if place is Place.FILE:
                replaced = [entry for entry in entries if entry.key == token.key and not entry.is_in_file]
                others += [entry for entry in replaced if not _try_delete(entry)]
            self._write([*others, StoredToken(token.key, place, token if place is Place.FILE else None)])

    def remove(self, key: TokenKey) -> bool:
        """Remove a token; return whether there was one."""
        found = [entry for entry in self._read() if entry.key == key]
        for entry in sorted(found, key=lambda entry: not entry.is_in_file):  # the keyring may be locked
            if not entry.is_in_file:
                _delete(entry)
            with self._alone():
                self._write([each for each in self._read() if (each.key, each.place) != (key, entry.place)])
        return bool(found)

    @asynccontextmanager
    async def renewing(self) -> AsyncIterator[None]:
        """Wait until no other process renews a stored token, but not longer than a request of a login may last.

        Most servers accept a refresh token once, and revoke all tokens of the login if it is used again.
        """
        until = time.monotonic() + _LONGEST_WAIT
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        with self._open(self.path.with_name(_LOCK), flags) as handle:
            while not _lock(handle, wait=False) and time.monotonic() < until:  # noqa: ASYNC110 - of another process
                await asyncio.sleep(_PAUSE)
            yield

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Let no other process change the list meanwhile: it would store its own version of it."""
        with self._open(self.path.parent, os.O_RDONLY) as handle:
            _lock(handle, wait=True)
            yield

    @contextmanager
    def _open(self, path: Path, flags: int) -> Iterator[int]:
        """Open a path in the folder of the list, or the folder itself, for a lock."""
        try:
            private_folder(self.path.parent)
            handle = os.open(path, flags, 0o600)
        except (OSError, CaptureError) as error:
            raise self._unwritable(error) from error
        try:
            yield handle
        finally:
            os.close(handle)

    def _read(self) -> list[StoredToken]:
        try:
            handle = os.open(self.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._error(f"cannot be read: {reason(error)}", "Check the file.") from error
        with os.fdopen(handle, "rb") as file:
            if sys.platform != "win32" and os.fstat(handle).st_mode & _OTHERS:
                mode = stat.filemode(os.fstat(handle).st_mode)
                raise self._error(f"can be read by others ({mode})", f"Run chmod 600 {self.path}, and log in again.")
            value = parse(file.read())
        listed = value.get("logins") if isinstance(value, Mapping) else None
        if not isinstance(listed, list):
            raise self._error("is damaged", "Delete it and log in again.")
        return [entry for item in listed if isinstance(item, Mapping) and (entry := _entry(item)) is not None]

    def _write(self, entries: list[StoredToken]) -> None:
        listed = [
            {**asdict(entry.key), "place": entry.place.value} | ({"token": asdict(entry.token)} if entry.token else {})
            for entry in entries
        ]
        try:
            private_folder(self.path.parent)
            replace_file(self.path, json.dumps({"logins": listed}, indent=1).encode())
        except (OSError, CaptureError) as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError | CaptureError) -> FaultError:
        why = reason(error) if isinstance(error, OSError) else str(error)
        return self._error(f"cannot be written: {why}", "The token is used until the end of this session.")

    def _error(self, what: str, hint: str) -> FaultError:
        return usage_error(f"The file of tokens {self.path} {what}.", hint)


def _lock(handle: int, *, wait: bool) -> bool:
    """Lock an open file for this process until it is closed; return whether that was possible without waiting.

    Where files cannot be locked (Windows, some network file systems), nothing is locked.
    """
    if sys.platform == "win32":
        return True
    import fcntl  # noqa: PLC0415 - not on Windows

    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # the file system has no locks
        return True
    return True


def keyring_problem() -> str:
    """Return why the keyring of the system cannot be used, `""` if it can."""
    try:
        _keyring()
    except FaultError as error:
        return error.fault.sentence()
    return ""


def _keyring() -> Any:
    """Return the library `keyring` if it has a secure backend; raises `FaultError`."""
    try:
        import keyring  # noqa: PLC0415 - an optional library, which is slow to load
    except ImportError as error:
        hint = "Install it with pip install 'a2a-inspect[keyring]', or store the token in a file."
        raise usage_error(
            "The keyring of the system cannot be used: the library keyring is not installed.", hint
        ) from error
    backend = keyring.get_keyring()
    module = type(backend).__module__
    if module.startswith(("keyring.backends.fail", "keyring.backends.null", "keyrings.alt")):
        hint = "Start a keyring service (Secret Service, KWallet), or store the token in a file."
        raise usage_error("The keyring of the system cannot be used: it has no secure backend.", hint)
    return keyring


def _guarded(what: str, work: Callable[[Any], Any]) -> Any:
    """Call a function with the keyring and return its result; raises `FaultError`."""
    ring = _keyring()
    from keyring.errors import KeyringError  # noqa: PLC0415 - see `_keyring`

    try:
        return work(ring)
    except (KeyringError, OSError, RuntimeError) as error:
        hint = "Unlock the keyring, or store the token in a file."
        raise usage_error(f"The keyring of the system cannot be {what}: {error}.", hint) from error


def _delete(entry: StoredToken) -> None:
    """Delete the token of an entry from the keyring, unless the user has; raises `FaultError`."""
    account = _account(entry.key)
    if _guarded("read", lambda ring: ring.get_password(PROGRAM, account)) is not None:
        _guarded("changed", lambda ring: ring.delete_password(PROGRAM, account))


def _try_delete(entry: StoredToken) -> bool:
    """Delete the token of an entry from the keyring; return False if the keyring cannot be used."""
    try:
        _delete(entry)
    except FaultError:
        return False
    return True


def _account(key: TokenKey) -> str:
    return json.dumps([key.origin, key.scheme, key.client_id])


def _entry(item: Mapping[str, Any]) -> StoredToken | None:
    token = item.get("token")
    try:
        key = TokenKey(str(item["origin"]), str(item["scheme"]), str(item["client_id"]))
        place = Place(item["place"])
    except (KeyError, ValueError):
        return None
    return StoredToken(key, place, _token(token) if isinstance(token, Mapping) else None)


def _token(value: Mapping[str, Any]) -> Token | None:
    """Read a stored token; None if it is damaged."""
    try:
        methods = value.get("client_authentication", ())  # tokens that earlier versions stored do not have it
        tuples = {"scopes": tuple(value["scopes"]), "client_authentication": tuple(methods)}
        return Token(**{**value, **tuples, "key": TokenKey(**value["key"])})
    except (KeyError, TypeError):
        return None
