"""Sentences that name keys: each key is drawn in the style of keys, and is the key that the user chose."""

from __future__ import annotations

import re

from inspector.tui.keys import key_of
from inspector.tui.render.text_lines import Piece

KEY_STYLE = "bold $bar"
"""The style of a key, as in the footer."""
_COMMAND = re.compile(r"\{([a-z-]+)\}")


def with_keys(template: str, style: str) -> list[Piece]:
    """Return a sentence of our own in pieces; `{command}` is replaced by the key of that command."""
    parts = _COMMAND.split(template)
    pieces = [(key_of(part), KEY_STYLE) if index % 2 else (part, style) for index, part in enumerate(parts)]
    return [piece for piece in pieces if piece[0]]
