"""Finds files that were encoded in base64 twice, as the official 0.3 SDK for Python sends them over REST and gRPC."""

from __future__ import annotations

import binascii
import codecs

_LOOKED_AT = 4096
"""How many characters at the start tell; a multiple of 16, so that both cuts fall between groups of four."""

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
    """Say whether base64 holds base64 again, which in turn holds text or starts as a known kind of file does.

    Text that happens to be base64 of text is taken for it too: the two cannot be told apart.
    """
    once = _decoded(raw[:_LOOKED_AT])
    if once is None or len(once) < 4:
        return False
    try:
        twice = _decoded(once.decode("ascii"))
    except UnicodeDecodeError:
        return False
    return twice is not None and (twice.startswith(_MAGIC) or _is_text(twice, whole=len(raw) <= _LOOKED_AT))


def _decoded(text: str) -> bytes | None:
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except ValueError:  # also what is not ASCII
        return None


def _is_text(data: bytes, *, whole: bool) -> bool:
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(data, final=whole)
    except UnicodeDecodeError:
        return False
    return all(one.isprintable() or one in "\r\n\t" for one in text)
