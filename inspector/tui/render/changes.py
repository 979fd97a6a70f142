"""Differences between two cards as lines: each added, removed or changed member with its values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from inspector.protocol.difference import Change, How
from inspector.protocol.model import Json
from inspector.session.card.changes import EarlierCard
from inspector.text.sanitise import clean
from inspector.text.units import counted
from inspector.tui.keys import key_of
from inspector.tui.render.finding_lines import date_and_time
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.text_lines import ItemLines, Line, Piece, wrap_pieces

MOST = 2000
"""The most changes that are listed."""

_SIGNS = {How.ADDED: "+", How.REMOVED: "-", How.CHANGED: "~", How.MOVED: "^"}
_STYLES = {
    How.ADDED: "change--added",
    How.REMOVED: "change--removed",
    How.CHANGED: "change--changed",
    How.MOVED: "change--changed",
}
_PATH = 30
_INDENT = 4
_FOLDED_ROWS = 3
_LONGEST = 20_000
"""The most characters that are shown of one value."""


class ChangeLines(ItemLines[int]):
    """Numbered changes below a headline; a `LineSource`. A long value shows its beginning until it is unfolded."""

    def __init__(self, about: Sequence[Line], changes: Sequence[Change], glyphs: Glyphs) -> None:
        super().__init__()
        self._about = about
        self._glyphs = glyphs
        self._changes = changes
        self._unfolded: set[int] = set()
        self._width = 0

    def _build(self, width: int) -> Iterator[tuple[Line, int | None]]:
        self._width = width
        yield from ((line, None) for text in self._about for line in wrap_pieces(text, width))
        for number, change in enumerate(self._changes[:MOST]):
            yield from ((line, number) for line in self._write(number, change))
        if len(self._changes) > MOST:
            yield [(f"… and {len(self._changes) - MOST:,} more changes", "line--note")], None

    def change(self, index: int) -> Change | None:
        """Return the change that a line shows, None for other lines."""
        number = self.item(index)
        return None if number is None else self._changes[number]

    def toggle(self, index: int) -> int:
        """Show the values of a change in full, or only their beginnings; return its first line."""
        number = self.item(index)
        if number is not None:
            self._unfolded ^= {number}
            self.layout(self._width, index)
        return next((at for at, (_, owner) in enumerate(self._lines) if owner == number), index)

    def _write(self, number: int, change: Change) -> list[Line]:
        style = _STYLES[change.how]
        path = " / ".join(clean(step, limit=80) for step in change.path) or "the whole card"
        head: list[Piece] = [(f"{_SIGNS[change.how]} ", style), (path, "change--path")]
        gap = " " * max(3, _PATH - cell_len(path))
        if change.how is How.MOVED:
            return [[*head, (gap + "the same items in another order", "line--soft")]]
        whole = number in self._unfolded
        inline = self._inline(change)
        if not whole and sum(cell_len(text) for text, _ in [*head, *inline]) + len(gap) <= self._width:
            return [[*head, (gap, "line--text"), *inline]]
        lines: list[Line] = [head]
        if change.how is not How.ADDED:
            lines += self._value("- ", change.before, "change--removed", whole=whole)
        if change.how is not How.REMOVED:
            lines += self._value("+ ", change.after, "change--added", whole=whole)
        return lines

    def _inline(self, change: Change) -> list[Piece]:
        pieces: list[Piece] = []
        if change.how is not How.ADDED:
            pieces.append((clean(_short(change.before)), "change--removed"))
        if change.how is How.CHANGED:
            pieces.append((f"  {self._glyphs.sent}  ", "line--quiet"))
        if change.how is not How.REMOVED:
            pieces.append((clean(_short(change.after)), "change--added"))
        return pieces

    def _value(self, sign: str, value: Json, style: str, *, whole: bool) -> list[Line]:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2 if whole else None)
        first: list[Piece] = [(" " * _INDENT, style), (sign, style)]
        rest: list[Piece] = [(" " * (_INDENT + len(sign)), style)]
        lines = wrap_pieces([(text[:_LONGEST], style)], self._width, first=first, rest=rest)
        if whole or len(lines) <= _FOLDED_ROWS:
            return lines
        more = f"… {len(lines) - _FOLDED_ROWS} more lines, press {key_of('open')} to show them"
        return [*lines[:_FOLDED_ROWS], [*rest, (more, "line--note")]]


def since_earlier(earlier: Sequence[EarlierCard], which: int, glyphs: Glyphs) -> ChangeLines:
    """Return the changes since an earlier card."""
    found = earlier[which]
    first, last = date_and_time(found.card.first), date_and_time(found.card.last)
    seen = last if first == last else f"from {first} to {last}"
    keys = f"   {which + 1} of {len(earlier)} earlier cards" if len(earlier) > 1 else ""
    return _below_headline(f"since the card seen {seen}", keys, found.changes, glyphs)


def against_public(changes: Sequence[Change], glyphs: Glyphs) -> ChangeLines:
    """Return the differences between the extended card and the public one."""
    keys = f"   {key_of('refresh')} fetch again"
    return _below_headline("from the public card to the extended card", keys, changes, glyphs)


def _below_headline(where: str, keys: str, changes: Sequence[Change], glyphs: Glyphs) -> ChangeLines:
    count = counted(len(changes), "change") if changes else "no changes"
    headline = [(f"{count} {where}", "line--text"), (keys, "line--quiet")]
    return ChangeLines([headline, [("", "line--text")]], changes, glyphs)


def as_text(change: Change) -> str:
    """Return a change as text for the clipboard: both values as JSON."""
    values = (("-", change.before, change.how is not How.ADDED), ("+", change.after, change.how is not How.REMOVED))
    lines = [f"{sign} {json.dumps(value, ensure_ascii=False)}" for sign, value, present in values if present]
    return "\n".join([f"{change.how.value} {change.pointer}", *lines])


def _short(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)[:_LONGEST]
