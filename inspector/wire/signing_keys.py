"""Read the public keys for card signatures: from a file, or from the `jku` URL on the origin of the card."""

from __future__ import annotations

from pathlib import Path

from inspector.findings.signatures.keyset import KeySet, read_keys, read_pem
from inspector.protocol.errors import usage_error
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Unreadable
from inspector.text.host import AddressScope, address_scope
from inspector.text.limited_file import read_limited
from inspector.wire.client.credentials import origin
from inspector.wire.endpoint import endpoint_of

_PEM = b"-----BEGIN "
_HINT = "Use a JWK Set, one JWK, or a key or certificate in PEM."


def read_file(path: Path) -> KeySet:
    """Read keys from a file: a JWK Set, one JWK or PEM; raises `FaultError` if it contains no key."""
    try:
        raw = read_limited(path)
    except OSError as error:
        seen = f"The key file {path} could not be read: {error.strerror or error}."
        raise usage_error(seen, _HINT) from error
    keys = read_pem(raw) if raw.lstrip().startswith(_PEM) else _read_json(raw)
    if not keys.keys:
        seen = f"The key file {path} contains no key to verify with. {' '.join(keys.notes)}".strip()
        raise usage_error(seen, _HINT)
    return keys


def refusal(jku: str, card_url: str) -> str:
    """Return why keys are not fetched from a `jku`, `""` if they are.

    Keys are fetched over https from the origin of the card only, because anybody could offer matching keys elsewhere.
    On this machine, http is allowed, too.
    """
    if not card_url:
        return f"The keys at {jku} are not fetched: the card was read from a file, which has no origin."
    if not origin(jku) or origin(jku) != origin(card_url):
        return f"The keys at {jku} are not fetched: expected the origin of the card, {origin(card_url)}."
    endpoint = endpoint_of(jku)
    if endpoint is None or not (endpoint.tls or address_scope(endpoint.host) is AddressScope.MACHINE):
        return f"The keys at {jku} are not fetched: expected https."
    return ""


def read_answer(url: str, status: int, raw: bytes) -> KeySet:
    """Read keys from an HTTP response; the notes describe its problems."""
    if status != 200:
        return KeySet(notes=(f"The keys at {url} could not be fetched: status {status}.",))
    keys = _read_json(raw)
    return KeySet(keys.keys, tuple(f"The keys at {url}: {note}" for note in keys.notes))


def _read_json(raw: bytes) -> KeySet:
    value = parse(raw)
    return KeySet(notes=(f"Not valid JSON: {value.why}.",)) if isinstance(value, Unreadable) else read_keys(value)
