"""A short form of the ids of tasks and contexts, for rows, titles and questions."""

from __future__ import annotations

import re

SHORT_ID = 8
"""The most characters of a short id."""

_CUT = "…"
_UUID = re.compile(r"[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-689a-f][0-9a-f]{3}\1[0-9a-f]{4}\1[0-9a-f]{12}", re.IGNORECASE)
"""A UUID, except of version 7, which begins with the time."""


def short_id(text: str, width: int = SHORT_ID) -> str:
    """Return the part of an id that differs from other ids: the beginning of a UUID, else the end.

    Many ids are numbered (`task-00012`), or begin with a prefix or the time (UUID 7, ULID).
    """
    if len(text) <= width or _UUID.fullmatch(text):
        return text[:width]
    return f"{_CUT}{text[1 - width :]}"


def end_of_id(typed: str) -> str:
    """Return the end of an id that a user typed or copied, without the sign for what was cut off."""
    return typed.removeprefix(_CUT) or typed


def is_part_of_id(typed: str, text: str) -> bool:
    """Return whether an id begins or ends with what was typed, because its short form is one of both."""
    return text.startswith(typed) or text.endswith(end_of_id(typed))
