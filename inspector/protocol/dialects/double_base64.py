"""Detect files that were encoded in base64 twice, as the official Python SDK 0.3 does over HTTP+JSON and gRPC."""

from __future__ import annotations

import binascii
import codecs

_LOOKED_AT = 4096
"""How many characters are examined; a multiple of 16, so that both decodings end at a group of four characters."""

_SHORT = 16
"""Below this length, base64 without padding can be a word: 6 % of English words of four letters decode to a text."""

_MAGIC = (
    b"\x89PNG\r\n",
    b"\xff\xd8\xff",
    b"GIF8",
    b"%PDF-",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"RIFF",
    b"OggS",
    b"ID3",
    b"\x7fELF",
    b"BM",
    b"II*\0",
    b"MM\0*",
)


def looks_double_encoded(raw: str) -> bool:
    """Return whether base64 contains base64 of a text or of a file with a known signature.

    The result is also True for a file whose own content is base64 of a text. A text of fewer than 12 bytes is detected
    only if its base64 is padded.
    """
    once = _decoded(raw[:_LOOKED_AT])
    if once is None or len(once) < 4:
        return False
    try:
        twice = _decoded(once.decode("ascii"))
    except UnicodeDecodeError:
        return False
    if twice is None or (len(once) < _SHORT and not once.endswith(b"=")):
        return False
    return twice.startswith(_MAGIC) or is_text(twice, whole=len(raw) <= _LOOKED_AT)


def _decoded(text: str) -> bytes | None:
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except ValueError:  # also for text that is not ASCII
        return None


def is_text(data: bytes, *, whole: bool) -> bool:
    """Return whether bytes are text without control characters; unless `whole`, a character may be cut at the end."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(data, final=whole)
    except UnicodeDecodeError:
        return False
    return all(character.isprintable() or character in "\r\n\t" for character in text)
