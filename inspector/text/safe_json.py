"""JSON without characters that a terminal could obey, hide or reorder."""

from __future__ import annotations

import json
from typing import Any


def dump(value: Any, indent: int | None = None) -> str:
    """Write a JSON value with escapes for characters that a terminal could obey, hide or reorder."""
    separators = (",", ":") if indent is None else (",", ": ")
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    except RecursionError:
        if indent is None:
            raise
        return dump(value)  # without indentation it needs less of the stack
    if text.isascii() and "\x7f" not in text:
        return text
    escapes = {ord(char): json.dumps(char)[1:-1] for char in set(text) if char != "\n" and not char.isprintable()}
    return text.translate(escapes | ({0x7F: "\\u007f"} if "\x7f" in text else {}))
