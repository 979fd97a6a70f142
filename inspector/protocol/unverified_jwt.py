"""Read JSON Web Tokens without verification."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Mapping

from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Json


def jwt_parts(token: str) -> tuple[Mapping[str, Json], Mapping[str, Json]] | None:
    """Return the header and the payload of a JWT; None if it is not a JWT."""
    pieces = token.split(".")
    if len(pieces) != 3:
        return None
    header, payload = (parse(decoded_base64url(piece)) for piece in pieces[:2])
    if not isinstance(header, dict) or not isinstance(payload, dict):
        return None
    return header, payload


def claims_of(token: str) -> Mapping[str, Json]:
    """Return the claims of a JWT, whose header is not read; none if the token is not a JWT."""
    pieces = token.split(".")
    claims = parse(decoded_base64url(pieces[1])) if len(pieces) == 3 else {}
    return claims if isinstance(claims, dict) else {}


def decoded_base64url(text: str) -> bytes:
    """Return the bytes of a base64url text, none if it is not valid."""
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return b""
