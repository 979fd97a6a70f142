"""A task by three accounts, as paragraphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from inspector.text.sanitise import clean_line
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.paragraphs import Paragraph
from inspector.tui.render.task_diff import diff_lines

if TYPE_CHECKING:  # a session is loaded after the first paint
    from inspector.session.push.comparison import Aspect, Comparison

_NAME = 24
_CELL = 15
_WIDEST = 40
"""As much as an id takes."""
_TITLES = {"stream": "by stream", "push": "by push", "answer": "by GetTask"}
_STYLES = {"same": "line--good", "not yet": "line--soft"}


def compared(found: Comparison, asked: str, glyphs: Glyphs, width: int) -> list[Paragraph]:
    """Return the accounts beside each other, what is odd about how they came, and how texts differ.

    `asked` says what became of asking the agent, `""` where it answered; `width` is how many cells there are.
    """
    rows = [_row(f"{glyphs.cross} ", asked, "line--bad")] if asked else []
    if not found.ways:
        return [*rows, _row("", "Nothing of this task was recorded yet.", "line--soft")]
    cell = max(_CELL, min(_WIDEST, (width - _NAME) // len(found.ways)))
    titles = "".join(f"{_TITLES[way]:<{cell}}" for way in found.ways)
    rows.append(Paragraph((f"{'':<{_NAME}}", "line--soft"), titles, "line--soft"))
    rows += [_aspect(one, found, glyphs, cell) for one in found.aspects]
    counts = "".join(f"{f'{found.updates.events.get(way, 0):,}':<{cell}}" for way in found.ways)
    rows += [Paragraph((f"{'  events':<{_NAME}}", "line--soft"), counts, "line--soft"), _row("", "")]
    if len(found.ways) == 1:
        rows.append(_row("  ", "There is one account alone, and none to compare it with.", "line--soft"))
    elif found.agree and not found.words:
        rows.append(_row(f"{glyphs.check} ", "All accounts come to the same.", "line--good"))
    rows += [_row(f"{glyphs.folded} ", words, "line--warning") for words in found.words]
    for one in found.aspects:
        if one.lines:
            minus, plus = (_TITLES[way] for way in one.between)
            rows += [_row("", ""), _row("  ", f"{one.name}: - is what came {minus}, + {plus}", "line--soft")]
            rows += diff_lines(one.lines)
    return rows


def _aspect(one: Aspect, found: Comparison, glyphs: Glyphs, cell: int) -> Paragraph:
    style = _STYLES.get(one.verdict.value, "line--bad")
    mark = glyphs.check if style == "line--good" else glyphs.quiet if style == "line--soft" else glyphs.cross
    cells = [clean_line(one.told.get(way, "") or "-", cell - 2) for way in found.ways]
    name = clean_line(one.name, _NAME - 3)
    head = f"{mark} {name}{' ' * (_NAME - 2 - cell_len(name))}"
    return Paragraph((head, style), "".join(said + " " * (cell - cell_len(said)) for said in cells), "line--text")


def _row(head: str, text: str, style: str = "line--text") -> Paragraph:
    return Paragraph((head, style), text, style)
