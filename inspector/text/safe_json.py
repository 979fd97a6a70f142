"""JSON without characters that a terminal could obey, hide or reorder."""

from __future__ import annotations

import json
import re
from typing import Any

_STRING_OR_CONSTANT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*(?:"|\\?\Z)|-?Infinity|NaN')
_NUMBERS = {"Infinity": "1e999", "-Infinity": "-1e999", "NaN": "null"}
"""What is written for the numbers that JSON does not have: readers of `1e999` get infinity, or report it."""


def dump(value: Any, indent: int | None = None) -> str:
    """Write a JSON value with escapes for characters that a terminal could obey, hide or reorder."""
    separators = (",", ":") if indent is None else (",", ": ")
    try:
        return escape(_dump(value, indent, separators))
    except RecursionError:
        if indent is None:
            raise
        return dump(value)  # without indentation it needs less of the stack


def escape(text: str) -> str:
    """Replace the characters in JSON text that a terminal could obey, hide or reorder by escapes; keep newlines."""
    if text.isascii():
        return text.replace("\x7f", "\\u007f")
    if text.replace("\n", "").isprintable():
        return text
    return text.translate(
        {
            ord(char): "\\u007f" if char == "\x7f" else json.dumps(char)[1:-1]
            for char in set(text)
            if char != "\n" and not char.isprintable()
        }
    )


def _dump(value: Any, indent: int | None, separators: tuple[str, str]) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators)
    except ValueError:  # infinity: the value of a number beyond the range of a double
        text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
        return _STRING_OR_CONSTANT.sub(lambda found: _NUMBERS.get(found[0], found[0]), text)
