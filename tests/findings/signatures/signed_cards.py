"""Signed cards for tests, and the results of their verification."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import rfc8785
from joserfc.jwk import ECKey, RSAKey
from joserfc.jws import JWSRegistry

from inspector.findings.signatures.keyset import KeySet, read_keys
from inspector.findings.signatures.verify import SignatureFlaw, SignatureResult, problems_of, verify
from inspector.protocol.jsonvalue import parse

RECORDINGS = Path(__file__).parents[1] / "recordings"
EC = ECKey.generate_key("P-256", {"kid": "ours"})
OTHER = ECKey.generate_key("P-256", {"kid": "other"})
RSA = RSAKey.generate_key(2048, {"kid": "rsa"})
CARD: dict[str, Any] = {
    "name": "Ünïcode €",
    "description": "",
    "supportedInterfaces": [{"url": "https://x/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
    "version": "1",
    "capabilities": {"streaming": False},
    "defaultInputModes": [],
    "defaultOutputModes": ["text/plain"],
    "skills": [],
}
AS_SERVED = "the card as served"


def b64(value: Any) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return urlsafe_b64encode(raw).decode().rstrip("=")


def sign(payload: bytes, key: Any = EC, alg: str = "ES256", **header: Any) -> dict[str, Any]:
    protected = b64({name: value for name, value in ({"alg": alg, "kid": key.kid} | header).items() if value})
    signature = JWSRegistry.algorithms[alg].sign(f"{protected}.{b64(payload)}".encode(), key)
    return {"protected": protected, "signature": b64(signature)}


def signed(card: dict[str, Any], key: Any = EC, alg: str = "ES256", **header: Any) -> dict[str, Any]:
    return card | {"signatures": [sign(rfc8785.dumps(card), key, alg, **header)]}


def public(*keys: Any) -> KeySet:
    return read_keys({"keys": [key.as_dict(private=False) for key in keys]})


def result_of(card: Any, keys: KeySet | None, version: str = "1.0") -> SignatureResult:
    [result] = verify(card, keys, version)
    return result


def flaws(entry: Any) -> list[tuple[str, SignatureFlaw]]:
    return [(problem.pointer, problem.flaw) for problem in problems_of(entry)]


def with_header(**members: Any) -> dict[str, Any]:
    header = {"alg": "ES256", "kid": "ours", "typ": "JOSE"} | members
    return {
        "protected": b64({name: value for name, value in header.items() if value != "absent"}),
        "signature": b64(b"x" * 64),
    }


def recording(name: str) -> tuple[dict[str, Any], KeySet]:
    _, _, body = (RECORDINGS / f"card_{name}.txt").read_bytes().replace(b"\r\n", b"\n").partition(b"\n\n")
    return parse(body), read_keys(parse((RECORDINGS / f"jwks_{name}.json").read_bytes()))
