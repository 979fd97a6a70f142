"""Records as rows of the timeline."""

from __future__ import annotations

from inspector.capture.records import Kind, Record
from inspector.session.record_list import Row
from inspector.text.short_id import short_id
from inspector.text.units import counted, duration, wire_size
from inspector.tui.render.annotations import NO_ANNOTATION, Annotation
from inspector.tui.render.delivery_rows import failed_checks
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.rows import (
    NOTHING,
    Cell,
    Cells,
    content_cell,
    direction,
    finding_cell,
    is_refused,
    is_send,
    kind_of,
    marked,
    state_cell,
)
from inspector.tui.render.times import clock

NOTE_WIDTH = 22
"""The width of a note on a timeline."""

_TASK_ID = 4
"""The number of characters of an id that distinguish the rows of tasks."""

_SHORTEST_GAP = 0.0005
"""Shorter gaps would be shown as 0 milliseconds."""

_KIND = 8
"""The cells that most names of events need, so that the texts after them are aligned."""

_STATE = 11
"""The cells that the most frequent states need with their glyphs."""

_CHECK_NAME = 9
"""The number of characters of a check's name that fit before its mark."""


def timeline_row(
    record: Record,
    row: Row,
    began: float | None,
    glyphs: Glyphs,
    annotation: Annotation = NO_ANNOTATION,
    gap: float | None = None,
    *,
    at: float | None = None,
    other: bool = False,
    keepalives: int = 0,
) -> Cells:
    """Return the cells of a timeline: time, gap, direction, kind, task, state, text, finding, note.

    A request shows the time of day, other records the time since `began`, when the message was sent. A run of records
    has the time `at` of its first record; `record` is its last. `gap` is the time since the row before. `other` is true
    if the row before is about another task: the row then shows the id of its task. A request has the number of
    `keepalives` in its response. If a task is reported by stream and by push, the note compares the two.
    """
    sent = is_send(record)
    kind = f"you {glyphs.folded}" if sent else f"{kind_of(record):<{_KIND}}"
    quiet = record.kind in (Kind.KEEPALIVE, Kind.NOTE, Kind.END)
    state, style = _state(record, glyphs)
    return (
        _when(record, record.at if at is None else at, began),
        (duration(gap) if gap is not None and gap >= _SHORTEST_GAP else "", "feed--quiet"),
        NOTHING if sent else direction(record, glyphs),
        (kind, "feed--user" if sent else "feed--quiet" if quiet else "feed--text"),
        (short_id(record.task, _TASK_ID) if other else "", "feed--muted"),
        (f"{state:<{_STATE}}" if state else "", style),
        marked(_text(record, annotation, glyphs), annotation, glyphs),
        finding_cell(record, glyphs),
        _request_note(record, keepalives) if record.kind is Kind.REQUEST else _note(record, row, glyphs, annotation),
    )


def _state(record: Record, glyphs: Glyphs) -> Cell:
    """Return the state that an event reports, in a cell of its own; a refused delivery has none."""
    return state_cell("" if record.kind is Kind.REQUEST or is_refused(record) else record.state, glyphs)


def _text(record: Record, annotation: Annotation, glyphs: Glyphs) -> Cell:
    """Return the text of a row without its state; the first push of a streamed event names that event instead."""
    if is_send(record):
        return record.label or record.operation, "feed--user"
    if annotation.matched and record.kind is Kind.DELIVERY and not is_refused(record) and not _repeated(record):
        late = f"{duration(abs(annotation.delay))} {'before' if annotation.delay < 0 else 'after'} stream"
        same = f"{glyphs.check} {late} #{annotation.seq}"
        return (same if record.state else f"{record.label}  {same}"), "feed--muted"
    text, style = content_cell(record, glyphs)
    return (record.label, "feed--text") if record.state and not is_refused(record) else (text, style)


def _repeated(record: Record) -> int:
    """Return the record of the delivery that this accepted delivery repeats with the same bytes, 0 for none."""
    first: int = record.meta.get("again", 0)
    return first


def _request_note(record: Record, keepalives: int) -> Cell:
    sent = {"SendMessage": "send", "SendStreamingMessage": "stream"}.get(record.operation, "")
    kept = counted(keepalives, "keep-alive") if keepalives else ""
    return ", ".join(filter(None, (kept, sent))), "feed--muted"


def _when(record: Record, at: float, began: float | None) -> Cell:
    if began is None or (record.kind is Kind.REQUEST and at == began):
        return clock(at), "feed--muted"
    return f"+{duration(max(0.0, at - began))}", "feed--muted"


def _note(record: Record, row: Row, glyphs: Glyphs, annotation: Annotation) -> Cell:
    if record.kind is Kind.DELIVERY:
        verdict, style = _verdict(record, glyphs)
        if (first := _repeated(record)) and style == "feed--good" and row.records == 1:
            return f"repeats #{first}", "feed--warning"
        if annotation.paired and style == "feed--good":
            return _beside_stream(annotation, row, verdict, glyphs)
        count = f"{row.records:,} pushes"
        return (_fitting(f"{count} {verdict}", count), style) if row.records > 1 else (verdict, style)
    if row.records > 1:
        count = f"{row.records:,} chunks"
        return _fitting(f"{count}, {wire_size(row.size)}", count), "feed--muted"
    return _beside_pushes(wire_size(record.size) if record.event == "artifact" else "", annotation, glyphs)


def _beside_stream(annotation: Annotation, row: Row, verdict: str, glyphs: Glyphs) -> Cell:
    """Compare an accepted push with the stream: whether the push was first, or no streamed event is equal."""
    count = f"{row.records:,} " if row.records > 1 else ""
    if annotation.matched:
        return (_fitting(f"{count}pushes {verdict}", f"{count}pushes"), "feed--good") if count else NOTHING
    text, style = ("push first", "feed--good") if annotation.matched is None else ("push only", "feed--warning")
    return _fitting(f"{count}{text} {glyphs.check}", f"{count}{text}"), style


def _beside_pushes(text: str, annotation: Annotation, glyphs: Glyphs) -> Cell:
    """Mark a streamed event that was pushed, too, or that was not although others were."""
    if not annotation.matched:
        text = text or ("no push" if annotation.matched is False else "")
        return (text, "feed--muted") if text else NOTHING
    return (f"{text} {glyphs.pushed}", "feed--muted") if text else (glyphs.pushed, "feed--pushed")


def _fitting(*texts: str) -> str:
    """Return the first text that fits into a note, else the last."""
    return next((text for text in texts if len(text) <= NOTE_WIDTH), texts[-1])


def _verdict(record: Record, glyphs: Glyphs) -> Cell:
    """Return the verdict of a delivery: the first failed check, or the authentication that passed."""
    meta = record.meta
    checks: dict[str, bool | None] = {name: good for name, good, _ in meta.get("checks", [])}
    bad = next(iter(failed_checks(meta.get("checks", []))), "refused" if meta.get("refused") else "")
    if bad:
        return f"{bad} {glyphs.cross}", "feed--bad"
    if meta.get("dialled") and not meta.get("taken"):
        return f"failed {glyphs.cross}", "feed--warning"
    passed = next((name for name in ("token", "signature", "authorization") if checks.get(name)), "")
    return (f"{passed[:_CHECK_NAME]} {glyphs.check}", "feed--good") if passed else NOTHING
