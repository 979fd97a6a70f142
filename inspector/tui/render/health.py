"""The health of a stream, in one line and in full."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rich.cells import cell_len

from inspector.session.stream_health import StreamHealth
from inspector.text.units import duration, rate, wire_size
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.text_lines import Paragraph, Piece, labelled

_WIDE_SPARKS = 32
_IDLE = 2.0
"""After this many seconds without an event, the idle time is highlighted."""
_SEPARATOR = 3
_LABEL = 14


def sparkline(counts: Sequence[int], glyphs: Glyphs, width: int) -> str:
    """Return a chart of the number of events in each slice of time, at most `width` bars."""
    cells = min(len(counts), width)
    ends = [len(counts) * cell // cells for cell in range(cells + 1)] if cells else []
    sums = [sum(counts[start:end]) for start, end in pairwise(ends)]
    most = max(sums, default=0)
    heights = len(glyphs.levels) - 1
    return "".join(glyphs.levels[-(-total * heights // most)] if total else glyphs.levels[0] for total in sums)


def health_words(found: StreamHealth, glyphs: Glyphs, room: int, *, well: bool = True) -> list[Piece]:
    """Return the state of a stream and its measures, in styles of Textual's `Content`.

    With a separator of three cells between them, they need at most `room` cells: the most important measure is first,
    and the last measures are left out. `well` is false for a stream that ended without a fault while its task was
    running.
    """
    soft = "$text-soft"
    lost = found.lost or found.end not in ("open", "ended")
    mark = f"{glyphs.cross} " if lost or not well else f"{glyphs.received} " if found.end == "open" else ""
    style = "$state-bad" if found.lost else "$state-warning" if lost or not well else soft
    pieces: list[Piece] = [(f"{mark}{found.words}", style)]
    if found.end == "open" and found.idle >= _IDLE:
        pieces.append((f"idle {duration(found.idle)}", "bold $state-warning"))
    if found.buffered:
        pieces.append((found.buffered, "$state-warning"))
    pieces += [(rate(found.rate), soft)] if found.rate else []
    pieces += [(f"first {duration(found.first_event)}", soft)] if found.first_event is not None else []
    pieces += [(f"gap {duration(found.gap)}", soft)] if found.gap else []
    pieces.append((wire_size(found.size), soft))
    room += _SEPARATOR
    for index, (text, _) in enumerate(pieces):
        room -= cell_len(text) + _SEPARATOR
        if room < 0:
            return pieces[:index]
    return pieces


def awaited_words(seconds: float, glyphs: Glyphs) -> Piece:
    """Return for how long a response is awaited."""
    style = "bold $state-warning" if seconds >= _IDLE else "$text-soft"
    return f"{glyphs.received} awaiting response, {duration(seconds)}", style


def health_in_full(found: StreamHealth, glyphs: Glyphs) -> list[Paragraph]:
    """Return all measures of a stream, one in each line."""
    style = "line--bad" if found.lost else "line--warning" if found.end != "ended" else "line--good"
    rows = [
        _row("state", found.words if found.end != "ended" else f"ended after {found.words}", style),
        _row("first byte", _since(found.first_byte)),
        _row("first event", _since(found.first_event)),
        _row("duration", duration(found.total) + ("" if found.end != "open" else " so far")),
    ]
    if found.end == "open":
        rows.append(_row("idle", duration(found.idle)))
    rows += [
        _row("events", f"{found.events:,}, {found.keepalives:,} keep-alives, {wire_size(found.size)}"),
        _row("rate", f"{rate(found.rate)} from the first to the last event" if found.rate else "not enough events"),
        _row("longest gap", f"{duration(found.gap)}, ended at {duration(found.gap_ended)}" if found.gap else "none"),
    ]
    chart = sparkline(found.arrivals, glyphs, _WIDE_SPARKS)
    if chart:
        each = duration(found.slice_seconds) if found.slice_seconds else ""
        rows.append(_row("over time", f"{chart}   {each} per bar, at most {max(found.arrivals):,} events"))
    if found.buffered:
        why = "Possible causes: a buffering proxy (X-Accel-Buffering), compression, an agent that does not flush."
        rows += [_row("buffering", found.buffered, "line--warning"), _row("", why)]
    return rows


def _since(seconds: float | None) -> str:
    return "not yet" if seconds is None else f"{duration(seconds)} after the request"


def _row(label: str, text: str, style: str = "line--text") -> Paragraph:
    return labelled(label, text, _LABEL, style)
