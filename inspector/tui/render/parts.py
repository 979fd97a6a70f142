"""Parts that are not plain text, in a line or a few."""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING

from inspector.text.units import size
from inspector.tui.render.glyphs import Glyphs

if TYPE_CHECKING:
    from inspector.protocol.model import Message, Part

_LONGEST_DATA = 4000


def describe_part(part: Part, glyphs: Glyphs) -> str:
    """Say what a part is: a file by name, type and size, data as JSON, a text with what it says besides."""
    match part.content:
        case "raw":
            what = f"{_file_size(part.raw or '')}, sent in the message"
        case "url":
            what = f"at {part.url} (not fetched)"
        case "data":
            what = "data\n" + json.dumps(part.data, indent=2, ensure_ascii=False)[:_LONGEST_DATA]
        case "text":
            what = "text"
        case _:
            what = "a part without content"
    named = "  ".join(piece for piece in (part.filename, part.media_type, what) if piece)
    return f"{glyphs.folded} {named}"


def message_text(message: Message, glyphs: Glyphs) -> str:
    """Return a message to be read: its texts as they are, its other parts in words."""
    return "\n".join(part.text if part.text is not None else describe_part(part, glyphs) for part in message.parts)


def _file_size(encoded: str) -> str:
    try:
        return size(len(base64.b64decode(encoded, validate=True)))
    except (binascii.Error, ValueError):
        return f"{size(len(encoded))} that are not base64"
