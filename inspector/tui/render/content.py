"""Text for the places where Textual would read markup: titles, labels, notifications."""

from __future__ import annotations

from textual.content import Content

from inspector.text.sanitise import clean

LONGEST = 2000
"""How many characters such a place can use at most."""


def plain(text: str, *, newlines: bool = False, limit: int = LONGEST) -> Content:
    """Return `text` clean and literal: brackets in it style nothing and run nothing."""
    return Content(clean(text, newlines=newlines, limit=limit))
