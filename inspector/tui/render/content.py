"""Text for places where Textual would parse markup: titles, labels, notifications."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content

from inspector.text.sanitise import clean

LONGEST = 2000
"""The most characters that are shown in such a place."""


def plain(text: str, *, newlines: bool = False, limit: int = LONGEST) -> Content:
    """Return `text` sanitised and literal: brackets in it are not markup."""
    return Content(clean(text, newlines=newlines, limit=limit))


def styled(pieces: Iterable[tuple[str, str]], *, limit: int = LONGEST) -> Content:
    """Return pieces of text, each with its style, sanitised and literal on one line."""
    return Content.assemble(*(plain(text, limit=limit).stylize(style) for text, style in pieces))
