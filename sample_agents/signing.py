"""Sign cards and pushes, and publish the key (1.0 section 8.4, RFC 7515)."""

from __future__ import annotations

import hashlib
import time

from joserfc import jws, jwt
from joserfc.jwk import ECKey, KeyParameters, KeySet, RSAKey

from inspector.findings.signatures.canonical import payloads
from inspector.protocol.dialects.detect import card_shape
from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Json

from .task_store import new_id

ALGORITHMS = ("es256", "rs256")
ISSUER = "a2a-mock"
_LIFETIME = 300
_MOST_SIGNED = 64
"""The most cards whose signatures are kept."""


class Signer:
    """Create a key for an algorithm, one of `ALGORITHMS`, and sign with it."""

    def __init__(self, algorithm: str) -> None:
        self._algorithm = algorithm.upper()
        named: KeyParameters = {"use": "sig", "alg": self._algorithm, "kid": f"mock-{new_id()[:8]}"}
        self._key: ECKey | RSAKey = (
            ECKey.generate_key("P-256", named) if algorithm == "es256" else RSAKey.generate_key(2048, named)
        )
        self._signatures: dict[tuple[bytes, str], Json] = {}

    @property
    def keys(self) -> bytes:
        """Return the JWK Set with the public key, as JSON."""
        return dump(KeySet([self._key]).as_dict(private=False))

    def signed(self, card: Json, jku: str) -> Json:
        """Return a card with a signature over its canonical form (1.0 section 8.4.1).

        `jku` is the URL of the JWK Set. The same card gets the same signature, so that its ETag stays the same:
        two ES256 signatures of the same bytes differ.
        """
        if not isinstance(card, dict):
            raise TypeError("a card is an object")
        signed = next(payloads(card, card_shape(card))).raw, jku
        if signed not in self._signatures:
            if len(self._signatures) >= _MOST_SIGNED:  # the client chooses the host in the URLs of the card
                self._signatures.clear()
            self._signatures[signed] = self._signature(*signed)
        return {**card, "signatures": [self._signatures[signed]]}

    def _signature(self, payload: bytes, jku: str) -> Json:
        header = {"alg": self._algorithm, "typ": "JOSE", "kid": self._key.kid, "jku": jku}
        protected, _, signature = jws.serialize_compact(header, payload, self._key).split(".")
        return {"protected": protected, "signature": signature}

    def token(self, audience: str, task_id: str, body: bytes) -> str:
        """Return a JWT for one push, with the audience, the task id as `sub`, and the hash of the body."""
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
