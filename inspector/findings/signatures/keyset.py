"""Public keys: read a JWK Set (RFC 7517), and check which key may verify which algorithm (RFC 7518)."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from inspector.lazy_dataclass import dataclass
from inspector.protocol.jsonvalue import brief, type_name
from inspector.protocol.model import Json

_BASE64URL = re.compile(r"[A-Za-z0-9_-]*")
_MAX_KEYS = 100
"""The maximum number of keys that are read from a set."""
_RSA_BITS = range(2048, 16384 + 1)
"""The allowed sizes of RSA keys: from the minimum of RFC 7518 section 3.3 to the maximum of OpenSSL."""


def base64url(text: str) -> bytes | None:
    """Decode base64url without padding (RFC 7515 section 2); return None if the text is not valid."""
    if not _BASE64URL.fullmatch(text) or len(text) % 4 == 1:
        return None
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass(frozen=True, slots=True)
class Algorithm:
    """An accepted signature algorithm: the type and curves of its keys, and the sizes of its signatures in bytes.

    Curves and sizes are empty for RSA, where they depend on the key.
    """

    key_type: str
    curves: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()


_RSA = Algorithm("RSA")
ALGORITHMS: Mapping[str, Algorithm] = {
    "ES256": Algorithm("EC", ("P-256",), (64,)),
    "ES384": Algorithm("EC", ("P-384",), (96,)),
    "ES512": Algorithm("EC", ("P-521",), (132,)),
    "ES256K": Algorithm("EC", ("secp256k1",), (64,)),
    "EdDSA": Algorithm("OKP", ("Ed25519", "Ed448"), (64, 114)),
    "Ed25519": Algorithm("OKP", ("Ed25519",), (64,)),
    "Ed448": Algorithm("OKP", ("Ed448",), (114,)),
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), _RSA),
}
"""The algorithms with a public key, from RFC 7518, 8037, 8812 and 9864."""

_PUBLIC = {"EC": ("crv", "x", "y"), "OKP": ("crv", "x"), "RSA": ("n", "e")}
"""The members of a public key, by its type."""
_PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "k"})


@dataclass(frozen=True, slots=True)
class Key:
    """A public key: its name in messages, its JWK, and the key object of `joserfc`."""

    name: str
    jwk: Mapping[str, Json]
    loaded: Any = field(repr=False, compare=False)

    @property
    def kid(self) -> str:
        """Return the id of the key, `""` if it has none."""
        kid = self.jwk.get("kid")
        return kid if isinstance(kid, str) else ""

    def why_not(self, algorithm: str) -> str:
        """Return why the key cannot verify signatures of an algorithm in `ALGORITHMS`, `""` if it can."""
        required, kind = ALGORITHMS[algorithm], self.jwk["kty"]
        curve = self.jwk["crv"] if kind != "RSA" else ""
        if kind != required.key_type or (required.curves and curve not in required.curves):
            key_type = f"{required.key_type} {' or '.join(required.curves)}".strip()
            return f"{algorithm} requires a key of type {key_type}, {self.name} has type {f'{kind} {curve}'.strip()}"
        if self.jwk.get("alg") not in (None, algorithm):
            return f"{self.name} is only for {brief(self.jwk['alg'])}, the signature uses {algorithm}"
        if self.jwk.get("use") not in (None, "sig"):
            return f"{self.name} is not for signatures: its use is {brief(self.jwk['use'])}"
        operations = self.jwk.get("key_ops")
        if operations is not None and not (isinstance(operations, list) and "verify" in operations):
            return f"{self.name} is not for verifying: its key_ops do not contain verify"
        return ""

    def verifies(self, algorithm: str, message: bytes, signature: bytes) -> bool:
        """Whether this key signed the message; `why_not` must return `""` for the algorithm."""
        from joserfc.jws import JWSRegistry  # noqa: PLC0415 - loads cryptography, which only verification needs

        return JWSRegistry.algorithms[algorithm].verify(message, signature, self.loaded)


@dataclass(frozen=True, slots=True)
class KeySet:
    """The usable keys of a key set, in order; `notes` are messages about problems of the set."""

    keys: tuple[Key, ...] = ()
    notes: tuple[str, ...] = ()

    def __or__(self, other: KeySet) -> KeySet:
        return KeySet(self.keys + other.keys, self.notes + other.notes)

    def named(self, kid: str) -> tuple[Key, ...]:
        """Return the keys with this id or, if there are none, the keys without an id; for `""`, return all keys."""
        if not kid:
            return self.keys
        return tuple(key for key in self.keys if key.kid == kid) or tuple(key for key in self.keys if not key.kid)


def read_keys(value: Json) -> KeySet:
    """Read a JWK Set or a single JWK; each unusable key is skipped with a note."""
    listed = value.get("keys") if isinstance(value, dict) else None
    if isinstance(value, dict) and "keys" not in value and "kty" in value:
        listed = [value]
    if not isinstance(listed, list):
        return KeySet(notes=("This is not a JWK Set: expected an object with the array `keys` (RFC 7517 section 5).",))
    keys: list[Key] = []
    notes: list[str] = []
    for number, jwk in enumerate(listed[:_MAX_KEYS], 1):
        name = _name(jwk, number)
        key = read_key(jwk, name)
        if isinstance(key, str):
            notes.append(f"The key set contains {name}, which is ignored: {key}.")
            continue
        keys.append(key)
        if _PRIVATE & jwk.keys():
            notes.append(f"The key set contains the private part of {name}: everyone who reads it can sign.")
    if len(listed) > _MAX_KEYS:
        notes.append(f"The set has {len(listed):,} keys; only the first {_MAX_KEYS} are read.")
    return KeySet(tuple(keys), tuple(notes))


def read_key(jwk: Json, name: str) -> Key | str:
    """Read one JWK, which messages call `name`; return why it is unusable if it is."""
    loaded = _load(jwk)
    return loaded if isinstance(loaded, str) else Key(name, jwk, loaded)


def read_pem(raw: bytes) -> KeySet:
    """Read a key or a certificate in PEM; only the public part of a private key is read."""
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - only verification needs it
    from joserfc.errors import JoseError  # noqa: PLC0415 - likewise
    from joserfc.jwk import JWKRegistry  # noqa: PLC0415 - likewise

    for kind in _PUBLIC:
        try:
            return read_keys(dict(JWKRegistry.import_key(raw, kind).as_dict(private=False)))
        except (
            JoseError,
            UnsupportedAlgorithm,
            ValueError,
            TypeError,
            KeyError,
        ):  # another type or curve, or encrypted
            continue
    return KeySet(notes=(f"This is not an unencrypted PEM with a key of type {', '.join(_PUBLIC)}.",))


def _name(jwk: Json, number: int) -> str:
    kid = jwk.get("kid") if isinstance(jwk, dict) else None
    return f"key {brief(kid)}" if isinstance(kid, str) else f"key {number}"


def _load(jwk: Json) -> Any | str:
    """Return the key object of `joserfc`, or why the key is unusable."""
    if not isinstance(jwk, dict):
        return f"it is {type_name(jwk)}, not an object"
    kind = jwk.get("kty")
    if kind == "oct":
        return "it is a shared secret, so everyone who reads it can sign"
    members = _PUBLIC.get(kind) if isinstance(kind, str) else None
    if members is None:
        return f"its type (kty) is {brief(kind)}, which is not supported"
    public = {name: jwk.get(name) for name in members}
    if wrong := [name for name, member in public.items() if not isinstance(member, str)]:
        return f"{wrong[0]} is {type_name(public[wrong[0]])}, not a string"
    if kind == "RSA":
        bits = int.from_bytes(base64url(jwk["n"]) or b"").bit_length()
        if bits not in _RSA_BITS:
            return f"it has {bits:,} bits, expected {_RSA_BITS[0]:,} to {_RSA_BITS[-1]:,} (RFC 7518 section 3.3)"
    return _import({"kty": kind, **public})


def _import(public: Mapping[str, Json]) -> Any | str:
    from joserfc.errors import JoseError  # noqa: PLC0415 - loads cryptography, which only verification needs
    from joserfc.jwk import import_key  # noqa: PLC0415 - likewise

    try:
        return import_key(dict(public))
    except (JoseError, ValueError, KeyError):  # malformed, not on the curve, or an unknown curve
        return f"it cannot be read as an {public['kty']} key"
