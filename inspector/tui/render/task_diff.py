"""What came about between two moments of a task, as paragraphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from inspector.protocol.lifecycle import short
from inspector.text.units import size
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.paragraphs import Paragraph
from inspector.tui.render.rows import lasting

if TYPE_CHECKING:  # a session is loaded after the first paint
    from inspector.session.replay.task_diff import ArtifactChange, DiffLine, TaskDiff

_LABEL = 12
_TEXT = "line--text"
_STYLES = {
    " ": "line--soft",
    "+": "line--good",
    "-": "line--bad",
    ">": "line--good",
    ":": "line--quiet",
}
_MESSAGES = 50


def what_changed(found: TaskDiff, glyphs: Glyphs) -> list[Paragraph]:
    """Return what differs between two moments, the artifacts line by line."""
    if found.nothing:
        return [_row("", f"Nothing changed in {found.events:,} events.", "line--soft")]
    rows = [_row("in short", f"{found.words}; {found.events:,} events in {lasting(max(0.0, found.seconds))}")]
    if found.before != found.after or found.moves:
        states = [f"{glyphs.state_glyph(move.state)} {short(move.state)}" for move in found.moves]
        before = f"{glyphs.state_glyph(found.before)} {short(found.before)}" if found.before else "not heard of"
        rows.append(_row("states", f" {glyphs.sent} ".join([before, *states])))
    rows += [_row("said" if not at else "", text or "(no text)") for at, text in enumerate(found.said[:_MESSAGES])]
    if len(found.said) > _MESSAGES:
        rows.append(_row("", f"… and {len(found.said) - _MESSAGES:,} messages more", "line--quiet"))
    if found.history:
        rows.append(_row("history", f"{found.history:+,} messages"))
    for change in found.artifacts:
        rows += _artifact(change)
    return rows


def _artifact(change: ArtifactChange) -> list[Paragraph]:
    counts = [f"{change.chunks:+,} chunk{'' if abs(change.chunks) == 1 else 's'}"] if change.chunks else []
    counts += [f"{'+' if change.size > 0 else '-'}{size(abs(change.size))}"] if change.size else []
    counts += [f"{change.parts:+,} parts"] if change.parts else []
    counts += ["now complete"] if change.closed else []
    style = "line--good" if change.how in ("new", "longer") else "line--warning"
    head = ", ".join([change.how, *counts])
    return [
        _row("", ""),
        Paragraph(("artifact    ", "line--soft"), f"{change.name}   {head}", style),
        *diff_lines(change.lines),
        *diff_lines(change.others),
    ]


def diff_lines(lines: Sequence[DiffLine]) -> Iterator[Paragraph]:
    """Yield the lines of a difference, each behind its sign."""
    for line in lines:
        style = _STYLES[line.sign.value]
        if line.lead:
            yield Paragraph(("    ", "line--soft"), f"…{line.lead}", "line--soft")
        yield Paragraph((f"  {line.sign.value} ", style), line.text, style)


def _row(label: str, text: str, style: str = _TEXT) -> Paragraph:
    return Paragraph((f"{label:<{_LABEL}}", "line--soft"), text, style)
