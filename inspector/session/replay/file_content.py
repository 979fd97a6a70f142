"""What a file part carries, as bytes: decoded, measured, known by its first bytes; nothing is unpacked or fetched."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.protocol.model import Part

_URL_SAFE = str.maketrans("-_", "+/")
_BREAKS = re.compile(r"[ \t\r\n]+")
_TWICE = 64
"""Bytes that look like base64 themselves; shorter ones may be anything."""

_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (0, b"BM", "image/bmp"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"MZ", "application/vnd.microsoft.portable-executable"),
    (0, b"\x7fELF", "application/x-elf"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"OggS", "audio/ogg"),
    (8, b"WAVE", "audio/wav"),
    (4, b"ftyp", "video/mp4"),
)
"""Where the bytes stand by which a type is known."""

_TEXTS = ((b"<svg", "image/svg+xml"), (b"<!doctype html", "text/html"), (b"<html", "text/html"))
_HEAD = 512
"""How many bytes of a text are looked through for what it is."""

_AS_GOOD_AS = {
    "image/jpg": "image/jpeg",
    "image/x-png": "image/png",
    "audio/mp3": "audio/mpeg",
    "audio/x-wav": "audio/wav",
    "application/x-gzip": "application/gzip",
    "application/x-zip-compressed": "application/zip",
}
_ZIPPED = ("application/vnd.", "application/epub", "application/java-archive", "application/x-")
"""Types whose files are ZIP archives with a name of their own."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The bytes of a part, and what is odd about the way in which they were written, `""` where nothing is."""

    content: bytes
    odd: str = ""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What is known of a file: its bytes, their SHA-256, the type that they look like, and the pixels of an image.

    `looks_like` is `""` where nothing gives the type away; `width` and `height` are 0 where there is no image;
    `odd` has a sentence for each thing that is not as it should be.
    """

    size: int
    sha256: str
    looks_like: str = ""
    width: int = 0
    height: int = 0
    odd: tuple[str, ...] = ()


def decode(encoded: str) -> Decoded | None:
    """Return the bytes that base64 stands for, or None where it stands for none.

    Line breaks, the alphabet for urls and missing padding are read too, and said.
    """
    try:
        return Decoded(base64.b64decode(encoded, validate=True))
    except (binascii.Error, ValueError):
        pass
    if not encoded.isascii():
        return None
    joined = _BREAKS.sub("", encoded)
    plain = joined.translate(_URL_SAFE).rstrip("=")
    odd = [
        *(("has line breaks",) if joined != encoded else ()),
        *(("has the alphabet for urls",) if "-" in joined or "_" in joined else ()),
        *(("lacks its padding",) if len(joined) % 4 else ()),
    ]
    try:
        content = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None
    if joined and not plain:
        return None
    return Decoded(content, f"the base64 {' and '.join(odd) or 'is padded wrongly'}")


def facts_of(part: Part) -> FileFacts | None:
    """Return what is known of the bytes that a part carries, None for a part without bytes or with bad base64."""
    decoded = decode(part.raw or "") if part.raw is not None else None
    return facts_of_bytes(decoded.content, part.media_type or "", decoded.odd) if decoded else None


def facts_of_bytes(content: bytes, declared: str = "", odd: str = "") -> FileFacts:
    """Return what is known of bytes that are declared to be of a media type."""
    looks_like = look(content)
    said = [odd] if odd else []
    stated = declared.partition(";")[0].strip().lower()
    stated = _AS_GOOD_AS.get(stated, stated)
    zipped = looks_like == "application/zip" and stated.startswith(_ZIPPED)
    if looks_like and stated and stated not in (looks_like, "application/octet-stream") and not zipped:
        said.append(f"declared as {stated}, the bytes are those of {looks_like}")
    if inner := _encoded_twice(content):
        said.append(inner)
    width, height = dimensions(content, looks_like)
    return FileFacts(len(content), hashlib.sha256(content).hexdigest(), looks_like, width, height, tuple(said))


def look(content: bytes) -> str:
    """Return the media type that the first bytes give away, `""` where they give none away."""
    for at, signature, media_type in _SIGNATURES:
        if content[at : at + len(signature)] == signature:
            return media_type
    head = content[:_HEAD].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith(b"<?xml") and b"<svg" in head:
        return "image/svg+xml"
    return next((media_type for start, media_type in _TEXTS if head.startswith(start)), "")


def dimensions(content: bytes, media_type: str) -> tuple[int, int]:
    """Return the width and height that the head of an image names, zeros where it names none; nothing is decoded."""
    read = _DIMENSIONS.get(media_type)
    try:
        return read(content) if read else (0, 0)
    except (struct.error, IndexError):
        return 0, 0


def _encoded_twice(content: bytes) -> str:
    """Say that bytes are base64 once more, as far as that can be told."""
    if len(content) < _TWICE or len(content) % 4 or not re.fullmatch(rb"[A-Za-z0-9+/]+={0,2}", content[: 4 * _HEAD]):
        return ""
    inner = look(base64.b64decode(content[: 4 * _HEAD // 4 * 4]))
    return f"the bytes are base64 once more{f', of {inner}' if inner else ''}"


def _png(content: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from(">II", content, 16)
    return width, height


def _gif(content: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<HH", content, 6)
    return width, height


def _bmp(content: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<ii", content, 18)
    return abs(width), abs(height)


def _jpeg(content: bytes) -> tuple[int, int]:
    """Walk over the segments to the one that begins a frame (ITU T.81, B.1.1.4)."""
    at = 2
    while content[at] == 0xFF:
        marker = content[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", content, at + 5)
            return width, height
        if marker == 0xDA:
            break
        at += 2 + struct.unpack_from(">H", content, at + 2)[0]
    return 0, 0


def _webp(content: bytes) -> tuple[int, int]:
    match content[12:16]:
        case _ if len(content) < 30:
            return 0, 0
        case b"VP8X":
            return 1 + int.from_bytes(content[24:27], "little"), 1 + int.from_bytes(content[27:30], "little")
        case b"VP8L":
            bits = struct.unpack_from("<I", content, 21)[0]
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", content, 26)
            return width & 0x3FFF, height & 0x3FFF
        case _:
            return 0, 0


_DIMENSIONS: dict[str, Callable[[bytes], tuple[int, int]]] = {
    "image/png": _png,
    "image/gif": _gif,
    "image/bmp": _bmp,
    "image/jpeg": _jpeg,
    "image/webp": _webp,
}
