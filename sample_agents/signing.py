"""Signs the agent's cards and pushes, and publishes the key to verify that with (1.0 section 8.4, RFC 7515)."""

from __future__ import annotations

import hashlib
import time

import rfc8785
from joserfc import jws, jwt
from joserfc.jwk import ECKey, KeyParameters, KeySet, RSAKey

from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Json

from .task_store import new_id

ALGORITHMS = ("es256", "rs256")
ISSUER = "a2a-mock"
_LIFETIME = 300


class Signer:
    """Has a key of its own for an algorithm, one of `ALGORITHMS`."""

    def __init__(self, algorithm: str) -> None:
        self._algorithm = algorithm.upper()
        named: KeyParameters = {"use": "sig", "alg": self._algorithm, "kid": f"mock-{new_id()[:8]}"}
        self._key: ECKey | RSAKey = (
            ECKey.generate_key("P-256", named) if algorithm == "es256" else RSAKey.generate_key(2048, named)
        )

    @property
    def keys(self) -> bytes:
        """Return the JWK Set that verifies what was signed here."""
        return dump(KeySet([self._key]).as_dict(private=False))

    def signed(self, card: Json, jku: str) -> Json:
        """Return a card without what has its default value, which is its canonical form, and a signature over that.

        `jku` is where the key is published.
        """
        sound = _tidy(card)
        header = {"alg": self._algorithm, "typ": "JOSE", "kid": self._key.kid, "jku": jku}
        protected, _, signature = jws.serialize_compact(header, rfc8785.dumps(sound), self._key).split(".")
        return {**sound, "signatures": [{"protected": protected, "signature": signature}]}

    def token(self, audience: str, task_id: str, body: bytes) -> str:
        """Return a JWT that is good for one body, pushed about a task to an audience."""
        now = int(time.time())
        header = {"alg": self._algorithm, "typ": "JWT", "kid": self._key.kid}
        claims = {
            "iss": ISSUER,
            "aud": audience,
            "sub": task_id,
            "iat": now,
            "exp": now + _LIFETIME,
            "jti": new_id(),
            "request_body_sha256": hashlib.sha256(body).hexdigest(),
        }
        return jwt.encode(header, claims, self._key)


def _tidy(value: Json) -> Json:
    """Leave out empty texts and lists, and the flag of an extension that is not required (1.0 section 8.4.1)."""
    if isinstance(value, list):
        return [_tidy(one) for one in value]
    if not isinstance(value, dict):
        return value
    kept = {name: _tidy(member) for name, member in value.items() if member not in ("", [])}
    return {name: member for name, member in kept.items() if not (name == "required" and member is False)}
