"""Records as rows of a feed: cells of text with the name of a meaning, nothing that knows a widget."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeAlias

from inspector.capture.records import Kind, Record
from inspector.findings.finding import Severity
from inspector.protocol.lifecycle import INTERRUPTED, TERMINAL, State, short
from inspector.text.units import size
from inspector.tui.render.glyphs import Glyphs

if TYPE_CHECKING:  # a session is loaded after the first paint
    from inspector.session.exchanges import ExchangeSummary
    from inspector.session.lists import Row
    from inspector.session.tasks import TrackedTask

Cell: TypeAlias = tuple[str, str]
"""Text from anywhere, not yet sanitised, and the component class that colours it."""

Cells: TypeAlias = tuple[Cell, ...]

SHORT_ID = 8
"""How many characters of an id are shown until it is selected."""

_VERBS = {
    "SendMessage": "send",
    "SendStreamingMessage": "stream",
    "GetTask": "get",
    "CancelTask": "cancel",
    "SubscribeToTask": "subscribe",
    "GetAgentCard": "get card",
}
"""Operations in a narrow column; the others are called a request there, and by their name beside it."""

_NOTHING: Cell = ("", "feed--text")


def relative(seconds: float) -> str:
    """Return a time since something: `0.041`, `8.211`, `93.4`, `12:07`."""
    if seconds < 60:
        return f"{seconds:.3f}"
    if seconds < 100:
        return f"{seconds:.1f}"
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def clock(at: float) -> str:
    """Return the local time of day."""
    return time.strftime("%H:%M:%S", time.localtime(at))


def ago(seconds: float) -> str:
    """Return an age as people say it: `4 s`, `12 min`, `3 h`, `2 d`."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(0, seconds):.0f} s"


def state_style(state: str) -> str:
    """Return the meaning of a task state as a colour."""
    if state == State.COMPLETED:
        return "feed--good"
    if state in INTERRUPTED or state == State.CANCELED:
        return "feed--warning"
    return "feed--bad" if state in TERMINAL else "feed--text"


def state_cell(state: str, glyphs: Glyphs) -> Cell:
    """Return a state with its glyph."""
    return (f"{glyphs.state_glyph(state)} {short(state)}", state_style(state)) if state else _NOTHING


def worst(record: Record) -> Severity | None:
    """Return the severity of the worst finding of a record."""
    severities = {finding.severity for finding in record.findings}
    return next((severity for severity in Severity if severity in severities), None)


def finding_cell(severity: Severity | None, glyphs: Glyphs) -> Cell:
    """Return the mark of a finding."""
    if severity is None:
        return _NOTHING
    style = {Severity.ERROR: "feed--bad", Severity.WARNING: "feed--warning", Severity.HINT: "feed--muted"}
    return glyphs.severities[severity], style[severity]


def direction(record: Record, glyphs: Glyphs) -> Cell:
    """Return the glyph of the way that a record went."""
    match record.kind:
        case Kind.REQUEST:
            return glyphs.sent, "feed--sent"
        case Kind.DELIVERY:
            return glyphs.pushed, "feed--pushed"
        case Kind.KEEPALIVE | Kind.NOTE | Kind.END:
            return glyphs.quiet, "feed--quiet"
        case _:
            return glyphs.received, "feed--received"


def timeline_row(record: Record, row: Row, began: float | None, glyphs: Glyphs) -> Cells:
    """Return the cells of a timeline: time, direction, kind, what, note, mark.

    A row that opens a turn shows the time of day, the others the time since `began`.
    """
    return (
        _when(record, began),
        direction(record, glyphs),
        (_kind(record), "feed--quiet" if record.kind in (Kind.KEEPALIVE, Kind.NOTE, Kind.END) else "feed--text"),
        _what(record, glyphs),
        _note(record, row, glyphs),
        finding_cell(worst(record), glyphs),
    )


def _when(record: Record, began: float | None) -> Cell:
    if began is None or (record.kind is Kind.REQUEST and record.at == began):
        return clock(record.at), "feed--muted"
    return relative(max(0.0, record.at - began)), "feed--muted"


def _kind(record: Record) -> str:
    match record.kind:
        case Kind.DELIVERY:
            return "push"
        case Kind.REQUEST:
            return _VERBS.get(record.operation, "request")
        case Kind.KEEPALIVE:
            return "keep-alive"
        case Kind.NOTE | Kind.END:
            return record.kind.value
        case Kind.RESPONSE:
            return "response"
        case _:
            return record.event or record.kind.value


def _what(record: Record, glyphs: Glyphs) -> Cell:
    match record.kind:
        case Kind.REQUEST:
            return record.label or record.operation, "feed--sent"
        case Kind.END:
            return record.label, "feed--bad" if "seen" in record.meta else "feed--quiet"
        case Kind.NOTE | Kind.KEEPALIVE:
            return record.label, "feed--quiet"
        case Kind.DELIVERY if record.meta.get("refused"):
            return f"refused  {record.label}", "feed--bad"
        case Kind.RESPONSE:
            return record.label, "feed--bad" if record.meta["status"] >= 400 else "feed--text"
    if record.event in ("error", "unreadable"):
        return record.label, "feed--bad"
    if record.state:
        return f"{glyphs.state_glyph(record.state)} {short(record.state)}  {record.label}", state_style(record.state)
    return record.label, "feed--text"


def _note(record: Record, row: Row, glyphs: Glyphs) -> Cell:
    if record.kind is Kind.DELIVERY:
        verdict, style = _verdict(record, glyphs)
        return (f"+{row.records:,} {verdict}", style) if row.records > 1 else (verdict, style)
    if row.records > 1:
        return f"+{row.records:,} {glyphs.folded} {size(row.size)}", "feed--muted"
    return (size(record.size), "feed--muted") if record.event == "artifact" else _NOTHING


def _verdict(record: Record, glyphs: Glyphs) -> Cell:
    """Return the verdict of a delivery in two words: the first check that failed, or that the token matched.

    What was no HTTP is refused before anything of it can be checked.
    """
    checks: list[list[object]] = record.meta.get("checks", [])
    bad = next(
        (str(name) for name, good, _ in checks if good is False), "refused" if record.meta.get("refused") else ""
    )
    if bad:
        return f"{bad} {glyphs.cross}", "feed--bad"
    return f"token {glyphs.check}", "feed--good"


def delivery_row(record: Record, glyphs: Glyphs) -> Cells:
    """Return the cells of a delivery: time, sender, task, what it reports, verdict, the answer given, mark."""
    return (
        (clock(record.at), "feed--muted"),
        (str(record.meta.get("peer", "")), "feed--muted"),
        (record.task[:SHORT_ID], "feed--text"),
        _what(record, glyphs),
        _verdict(record, glyphs),
        (str(record.meta.get("status") or "none"), "feed--bad" if record.meta.get("refused") else "feed--good"),
        finding_cell(worst(record), glyphs),
    )


def exchange_row(exchange: ExchangeSummary, glyphs: Glyphs) -> Cells:
    """Return the cells of an exchange: time, operation, where, status, content type, events, size, duration, mark."""
    status = str(exchange.status) if exchange.status else "…" if exchange.seconds is None else "none"
    good = 200 <= exchange.status < 300
    took = "…" if exchange.seconds is None else relative(exchange.seconds)
    ended_well = exchange.how in ("", "complete", "stopped")
    return (
        (clock(exchange.at), "feed--muted"),
        (exchange.operation, "feed--sent"),
        (f"{exchange.method} {exchange.url}", "feed--text"),
        (status, "feed--good" if good else "feed--bad" if exchange.status else "feed--muted"),
        (exchange.content_type.partition(";")[0], "feed--muted"),
        (f"{exchange.events:,}", "feed--text"),
        (size(exchange.received), "feed--muted"),
        (took, "feed--muted" if ended_well else "feed--bad"),
        (glyphs.severities[Severity.ERROR], "feed--bad") if exchange.findings else _NOTHING,
    )


def record_row(record: Record, began: float, glyphs: Glyphs) -> Cells:
    """Return the cells of one record inside its exchange: time, direction, kind, what, size, mark."""
    return (
        (relative(max(0.0, record.at - began)), "feed--muted"),
        direction(record, glyphs),
        (_kind(record), "feed--text"),
        _what(record, glyphs),
        (size(record.size), "feed--muted") if record.size else _NOTHING,
        finding_cell(worst(record), glyphs),
    )


def task_row(task: TrackedTask, now: float, glyphs: Glyphs) -> Cells:
    """Return the cells of a task: state, id, context, age, last update, artifacts, last message."""
    account = task.now
    message = account.messages[-1] if account.messages else None
    said = " ".join(part.text for part in message.parts if part.text) if message else ""
    return (
        state_cell(account.state, glyphs),
        (task.id[:SHORT_ID], "feed--text"),
        (account.context_id[:SHORT_ID], "feed--muted"),
        (ago(now - task.first_seen), "feed--muted"),
        (ago(now - account.updated), "feed--muted"),
        (str(len(account.artifacts)), "feed--text"),
        (said, "feed--text"),
    )
