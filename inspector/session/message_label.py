"""Describe a message in one line: its texts and the numbers of its other parts, or else the names of its parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from inspector.protocol.model import Message, Part

TEXT = "text"
"""The kind of a part with a text; the other kinds are `file`, `url` and `data`, as in the Artifact pane."""
_KINDS = {"raw": "file", "": "empty part"}


def text_of(message: Message | None) -> str:
    """Return the text parts of a message, joined by spaces."""
    return " ".join(part.text for part in message.parts if part.text) if message else ""


def label_of(message: Message | None) -> str:
    """Return the texts of a message with the numbers of its other parts, or else the names of its parts."""
    parts = message.parts if message is not None else []
    if len(parts) == 1 and parts[0].text is not None:  # most messages of a stream
        return parts[0].text
    return label_of_parts(map(_described, parts))


def _described(part: Part) -> tuple[str, str]:
    if part.text is not None:
        return TEXT, part.text
    kind = _KINDS.get(part.content, part.content)
    return kind, part.filename or part.url or kind


def label_of_parts(parts: Iterable[tuple[str, str]]) -> str:
    """Return the label of parts: each has a kind, and its text or its name."""
    texts: list[str] = []
    names: list[str] = []
    counts: Counter[str] = Counter()
    for kind, value in parts:
        if kind == TEXT:
            texts.append(value)
        else:
            names.append(value)
            counts[kind] += 1
    text = " ".join(filter(None, texts))
    if not (text and names):
        return text or ", ".join(names)
    others = (f"{count:,} {kind}{'' if count == 1 or kind == 'data' else 's'}" for kind, count in counts.items())
    return f"{text} + {', '.join(others)}"
