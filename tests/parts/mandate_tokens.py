"""Mandates and passports that are signed with real keys, for tests."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from joserfc.jwk import ECKey
from joserfc.jws import JWSRegistry

WALLET = ECKey.generate_key("P-256", {"kid": "wallet"})
AGENT = ECKey.generate_key("P-256")
OTHER = ECKey.generate_key("P-256")
NOW = 1_700_000_000.0


def encoded(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def digest(text: str | bytes) -> str:
    return encoded(hashlib.sha256(text if isinstance(text, bytes) else text.encode()).digest())


def public(key: Any) -> dict[str, Any]:
    return {name: value for name, value in key.as_dict(private=False).items() if name != "kid"}


def sign(payload: Any, key: Any, alg: str = "ES256", **header: Any) -> str:
    """Return a JWT; a header of None is left out."""
    named = {"kid": key.kid} if key.kid and "kid" not in header else {}
    members = {name: value for name, value in {"alg": alg, **named, **header}.items() if value is not None}
    signed = f"{encoded(members)}.{encoded(payload)}"
    return f"{signed}.{encoded(JWSRegistry.algorithms[alg].sign(signed.encode(), key))}"


def unsigned(payload: Any, signature: str = "", **header: Any) -> str:
    return f"{encoded(header)}.{encoded(payload)}.{signature}"


def opened(jwk: Any = None, key: Any = WALLET, **claims: Any) -> str:
    """Return an open mandate with its disclosure: the first token of a chain, without the `~` at its end."""
    inner = {"vct": "mandate.payment.open.1", "cnf": {"jwk": public(AGENT) if jwk is None else jwk}, **claims}
    disclosure = encoded(["salt", inner])
    return f"{sign({'delegate_payload': [{'...': digest(disclosure)}], '_sd_alg': 'sha-256'}, key)}~{disclosure}"


def closed(before: str, key: Any = AGENT, alg: str = "ES256", typ: str = "kb+sd-jwt", **claims: Any) -> str:
    """Return the last token of a chain; a claim of None is left out."""
    return sign(closed_claims(before, **claims), key, alg, typ=typ, kid=None) + "~"


def closed_claims(before: str, **claims: Any) -> dict[str, Any]:
    usual = {"vct": "mandate.payment.1", "iat": NOW, "aud": "shop", "nonce": "n", "sd_hash": digest(f"{before}~")}
    return {name: value for name, value in {**usual, **claims}.items() if value is not None}


def chain(*tokens: str) -> str:
    return "~~".join(tokens)
