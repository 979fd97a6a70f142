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
        return dump(value)  # without indentation it takes less of the stack
    if text.isascii() and "\x7f" not in text:
        return text
    escapes = {ord(one): json.dumps(one)[1:-1] for one in set(text) if one != "\n" and not one.isprintable()}
    return text.translate(escapes | ({0x7F: "\\u007f"} if "\x7f" in text else {}))
