"""Decode base64 in any form that lenient readers accept."""

from __future__ import annotations

from base64 import b64decode


def decode_any_base64(text: str) -> bytes | None:
    """Decode base64 or base64url, with or without padding; return None for other texts."""
    plain = text.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except ValueError:
        return None
