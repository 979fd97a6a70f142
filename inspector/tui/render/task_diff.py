"""The differences between two moments of a task, and between stream, push and GetTask, as paragraphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from inspector.protocol.lifecycle import short
from inspector.session.push.comparison import SOURCE_NAMES, Aspect, Comparison, Verdict
from inspector.session.replay.task_diff import ArtifactChange, DiffLine, TaskDiff
from inspector.text.sanitise import clean_line
from inspector.text.units import counted, duration, size
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.text_lines import Paragraph, labelled

_LABEL = 12
_STYLES = {" ": "line--soft", "+": "line--good", "-": "line--bad", ">": "line--good", ":": "line--quiet"}
_MESSAGES = 50
_NAME = 24
_CELL = 15
_WIDEST = 40
"""The width of an id."""
_VERDICT_STYLES = {"same": "line--good", "not yet": "line--soft"}


def what_changed(found: TaskDiff, glyphs: Glyphs) -> list[Paragraph]:
    """Return the differences between two moments, for artifacts line by line."""
    if found.is_empty:
        return [_row("", f"Nothing changed in {_events(found)}.", "line--soft")]
    rows = [_row("summary", f"{found.words}; {_events(found)} in {duration(max(0.0, found.seconds))}")]
    if found.before != found.after or found.moves:
        states = [f"{glyphs.state_glyph(move.state)} {short(move.state)}" for move in found.moves]
        before = f"{glyphs.state_glyph(found.before)} {short(found.before)}" if found.before else "unknown"
        rows.append(_row("states", f" {glyphs.sent} ".join([before, *states])))
    rows += [_row("" if at else "message", text or "(no text)") for at, text in enumerate(found.messages[:_MESSAGES])]
    if (hidden := len(found.messages) - _MESSAGES) > 0:
        rows.append(_row("", f"… and {hidden:,} more messages", "line--quiet"))
    if found.history:
        rows.append(_row("history", found.history_in_words))
    for change in found.artifacts:
        rows += _artifact(change)
    return rows


def _events(found: TaskDiff) -> str:
    return counted(found.events, "event")


def _artifact(change: ArtifactChange) -> list[Paragraph]:
    counts = [f"{change.chunks:+,} chunk{'' if abs(change.chunks) == 1 else 's'}"] if change.chunks else []
    counts += [f"{'+' if change.size > 0 else '-'}{size(abs(change.size))}"] if change.size else []
    counts += [f"{change.parts:+,} parts"] if change.parts else []
    counts += ["now complete"] if change.closed else []
    style = "line--good" if change.how in ("new", "longer") else "line--warning"
    head = _row("artifact", f"{change.name}   {', '.join([change.how, *counts])}", style)
    return [_row("", ""), head, *diff_lines(change.lines), *diff_lines(change.others)]


def diff_lines(lines: Sequence[DiffLine]) -> Iterator[Paragraph]:
    """Yield the lines of a difference, each after its sign."""
    for line in lines:
        style = _STYLES[line.sign.value]
        if line.lead:
            yield Paragraph(("    ", "line--soft"), f"…{line.lead}", "line--soft")
        yield Paragraph((f"  {line.sign.value} ", style), line.text, style)


def _row(label: str, text: str, style: str = "line--text") -> Paragraph:
    return labelled(label, text, _LABEL, style)


def compared(found: Comparison, failure: str, glyphs: Glyphs, width: int) -> list[Paragraph]:
    """Return stream, push and GetTask side by side, differences first, the remarks, and how the texts differ.

    `failure` is why GetTask failed, `""` if it was answered.
    """
    rows = [_line(f"{glyphs.cross} ", failure, "line--bad")] if failure else []
    if not found.sources:
        return [*rows, _line("", "No event of this task was recorded yet.", "line--soft")]
    cell = max(_CELL, min(_WIDEST, (width - _NAME) // len(found.sources)))
    titles = "".join(f"{SOURCE_NAMES[way]:<{cell}}" for way in found.sources)
    rows.append(labelled("", titles, _NAME, "line--soft"))
    differences_first = sorted(found.aspects, key=lambda aspect: aspect.verdict is Verdict.SAME)
    rows += [_aspect(aspect, found, glyphs, cell) for aspect in differences_first]
    counts = "".join(f"{f'{found.updates.events.get(way, 0):,}':<{cell}}" for way in found.sources)
    rows += [labelled("  events", counts, _NAME, "line--soft"), _line("", "")]
    if len(found.sources) == 1:
        rows.append(_line("  ", "Only one source reported the task, so there is nothing to compare.", "line--soft"))
    elif found.agree and not found.words:
        rows.append(_line(f"{glyphs.check} ", "All sources agree.", "line--good"))
    rows += [_line(f"{glyphs.folded} ", words, "line--warning") for words in found.words]
    for aspect in found.aspects:
        if aspect.lines:
            minus, plus = (SOURCE_NAMES[way] for way in aspect.compared)
            rows += [_line("", ""), _line("  ", f"{aspect.name}: - {minus}, + {plus}", "line--soft")]
            rows += diff_lines(aspect.lines)
    return rows


def _aspect(aspect: Aspect, found: Comparison, glyphs: Glyphs, cell: int) -> Paragraph:
    style = _VERDICT_STYLES.get(aspect.verdict.value, "line--bad")
    mark = glyphs.check if style == "line--good" else glyphs.quiet if style == "line--soft" else glyphs.cross
    cells = [clean_line(aspect.values.get(way, "") or "-", cell - 2) for way in found.sources]
    name = clean_line(aspect.name, _NAME - 3)
    head = f"{mark} {name}{' ' * (_NAME - 2 - cell_len(name))}"
    return Paragraph((head, style), "".join(text + " " * (cell - cell_len(text)) for text in cells), "line--text")


def _line(head: str, text: str, style: str = "line--text") -> Paragraph:
    return Paragraph((head, style), text, style)
