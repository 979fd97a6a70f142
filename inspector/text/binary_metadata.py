"""Binary metadata of gRPC: headers whose names end in `-bin` have bytes in base64 as values, often without padding."""

from __future__ import annotations

from base64 import b64decode

BINARY = "-bin"
"""The end of the names of binary metadata."""


def bytes_of(value: str) -> bytes:
    """Return the bytes of a value; raises `ValueError` if it is not base64."""
    return b64decode(value + "=" * (-len(value) % 4))


def values_of(text: str) -> list[bytes]:
    """Return the values of a header, which are joined by commas if it is repeated; raises `ValueError` as above."""
    return [bytes_of(value.strip()) for value in text.split(",")]
