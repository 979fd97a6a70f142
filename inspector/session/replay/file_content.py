"""Decode the content of a file part and detect its media type; nothing is unpacked or downloaded."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct

from inspector.lazy_dataclass import dataclass
from inspector.protocol.dialects.double_base64 import is_text, looks_double_encoded
from inspector.protocol.http_fields import without_parameters
from inspector.text.any_base64 import decode_any_base64

_BREAKS = re.compile(r"[ \t\r\n]+")
_SHORTEST_BASE64 = 64
"""The smallest content in bytes that is checked for a second base64 encoding."""
_LONGEST_CHECKED = 6_000
"""How many bytes are checked for it."""

_SHORT = 4
"""A text can begin with a signature of at most so many bytes: `BMW`, `ID3`. Files with these also have other bytes."""
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
"""Offset and bytes of a signature, and the media type that it identifies."""

_TEXTS = ((b"<svg", "image/svg+xml"), (b"<!doctype html", "text/html"), (b"<html", "text/html"))
_HEAD = 512
"""How many bytes of a text are searched for its media type."""

_DIMENSIONS = {"image/png": (">II", 16), "image/gif": ("<HH", 6), "image/bmp": ("<ii", 18)}
"""Layout and offset of width and height."""

_ALIASES = {
    "image/jpg": "image/jpeg",
    "image/x-png": "image/png",
    "audio/mp3": "audio/mpeg",
    "audio/x-wav": "audio/wav",
    "application/x-gzip": "application/gzip",
    "application/x-zip-compressed": "application/zip",
}
_ZIPPED = ("application/vnd.", "application/epub", "application/java-archive", "application/x-")
"""Prefixes of the media types whose files are ZIP archives."""


@dataclass(frozen=True, slots=True)
class DecodedFile:
    """The bytes of a part, and the problem of their base64, `""` for none."""

    content: bytes
    problem: str = ""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Size in bytes, SHA-256, detected media type, dimensions in pixels, and problems of a file.

    `looks_like` is `""` for an unknown type; `width` and `height` are 0 unless it is an image.
    """

    size: int
    sha256: str
    looks_like: str = ""
    width: int = 0
    height: int = 0
    problems: tuple[str, ...] = ()


def decode(encoded: str) -> DecodedFile | None:
    """Decode base64, None if it is invalid; line breaks, the URL-safe alphabet and missing padding become problems."""
    try:
        return DecodedFile(base64.b64decode(encoded, validate=True))
    except (binascii.Error, ValueError):
        pass
    if not encoded.isascii():
        return None
    joined = _BREAKS.sub("", encoded)
    deviations = {
        "has line breaks": joined != encoded,
        "uses the URL-safe alphabet": "-" in joined or "_" in joined,
        "has no padding": len(joined) % 4 > 0,
    }
    found = [words for words, applies in deviations.items() if applies]
    content = decode_any_base64(joined)
    if content is None or (joined and not content):
        return None
    return DecodedFile(content, f"the base64 {' and '.join(found) or 'has wrong padding'}")


def file_facts(content: bytes, declared: str = "", problem: str = "") -> FileFacts:
    """Return the facts about a content; `declared` is its declared media type, `problem` the problem of its base64."""
    looks_like = detect_type(content)
    problems = [problem] if problem else []
    stated = without_parameters(declared)
    stated = _ALIASES.get(stated, stated)
    zipped = looks_like == "application/zip" and stated.startswith(_ZIPPED)
    if looks_like and stated and stated not in (looks_like, "application/octet-stream") and not zipped:
        problems.append(f"declared as {stated}, but the content is {looks_like}")
    if inner := _encoded_twice(content):
        problems.append(inner)
    width, height = dimensions(content, looks_like)
    return FileFacts(len(content), hashlib.sha256(content).hexdigest(), looks_like, width, height, tuple(problems))


def detect_type(content: bytes) -> str:
    """Return the media type of a content from its first bytes, `""` if it is unknown."""
    for at, signature, media_type in _SIGNATURES:
        found = content[at : at + len(signature)] == signature
        if found and (len(signature) > _SHORT or not is_text(content[:_HEAD], whole=False)):
            return media_type
    head = content[:_HEAD].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith(b"<?xml") and b"<svg" in head:
        return "image/svg+xml"
    return next((media_type for start, media_type in _TEXTS if head.startswith(start)), "")


def dimensions(content: bytes, media_type: str) -> tuple[int, int]:
    """Return width and height in pixels from the head of an image, zeros if they are unknown."""
    try:
        match media_type:
            case "image/jpeg":
                return _jpeg(content)
            case "image/webp":
                return _webp(content)
            case _:
                layout, at = _DIMENSIONS[media_type]
                width, height = struct.unpack_from(layout, content, at)
                return abs(width), abs(height)
    except (struct.error, LookupError):
        return 0, 0


def _encoded_twice(content: bytes) -> str:
    """Return the problem if the content is probably base64 again, `""` otherwise."""
    if len(content) < _SHORTEST_BASE64 or len(content) % 4:
        return ""
    # A hash in hexadecimal digits could be base64, too: only a known type or a text inside shows that it is.
    if not looks_double_encoded(base64.b64encode(content[:_LONGEST_CHECKED]).decode("ascii")):
        return ""
    inner = detect_type(base64.b64decode(content[: 4 * _HEAD]))
    return f"the content is encoded in base64 twice{f' ({inner})' if inner else ''}"


def _jpeg(content: bytes) -> tuple[int, int]:
    """Find the start-of-frame segment (ITU T.81, B.1.1.4)."""
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
