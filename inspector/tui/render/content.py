"""Text for places where Textual would parse markup: titles, labels, notifications."""

from __future__ import annotations

from textual.content import Content

from inspector.text.sanitise import clean

LONGEST = 2000
"""The most characters that are shown in such a place."""


def plain(text: str, *, newlines: bool = False, limit: int = LONGEST) -> Content:
    """Return `text` sanitised and literal: brackets in it are not markup."""
    return Content(clean(text, newlines=newlines, limit=limit))
