"""Cells that rows of several lists share: states, severities, directions, and the content of a record."""

from __future__ import annotations

from typing import TypeAlias

from inspector.capture.records import HTTP_ERROR, LOGIN, Kind, Record, is_login
from inspector.findings.finding import Severity, worst_of
from inspector.protocol.lifecycle import INTERRUPTED, TERMINAL, State, short
from inspector.protocol.operations import SENDS
from inspector.session.login.state import Step
from inspector.tui.render.annotations import Annotation
from inspector.tui.render.glyphs import Glyphs

Cell: TypeAlias = tuple[str, str]
"""A text, not yet sanitised, and the component class that colours it."""

Cells: TypeAlias = tuple[Cell, ...]

_VERBS = {
    "SendMessage": "send",
    "SendStreamingMessage": "stream",
    "GetTask": "get",
    "CancelTask": "cancel",
    "SubscribeToTask": "subscribe",
    "GetAgentCard": "get card",
    "Login": "login",
}
"""Short names of operations; the others are shown as `request`."""

_STEPS = {step.value: step.in_words for step in Step}
"""The steps of a login in words."""

NOTHING: Cell = ("", "feed--text")

SEVERITY_STYLES = {Severity.ERROR: "feed--bad", Severity.WARNING: "feed--warning", Severity.HINT: "feed--muted"}
"""The component class of each severity in a row, the same in every view."""


def state_style(state: str) -> str:
    """Return the component class of a task state."""
    if state == State.COMPLETED:
        return "feed--good"
    if state in INTERRUPTED or state == State.CANCELED:
        return "feed--warning"
    return "feed--bad" if state in TERMINAL else "feed--text"


def state_colour(state: str) -> str:
    """Return the variable of the colour of a task state, for borders and lines."""
    return {"feed--text": "$foreground"}.get(style := state_style(state), f"$state-{style.removeprefix('feed--')}")


def state_cell(state: str, glyphs: Glyphs) -> Cell:
    """Return a state with its glyph."""
    return (f"{glyphs.state_glyph(state)} {short(state)}", state_style(state)) if state else NOTHING


def finding_cell(record: Record, glyphs: Glyphs) -> Cell:
    """Return the mark of the worst finding of a record."""
    return severity_cell(worst_of(finding.severity for finding in record.findings), glyphs)


def severity_cell(severity: Severity | None, glyphs: Glyphs) -> Cell:
    """Return the symbol of a severity in its colour, nothing for None."""
    return NOTHING if severity is None else (glyphs.severities[severity], SEVERITY_STYLES[severity])


def direction(record: Record, glyphs: Glyphs) -> Cell:
    """Return the glyph of the direction of a record."""
    match record.kind:
        case Kind.REQUEST if record.operation == "GetTask":
            return glyphs.poll, "feed--sent"
        case Kind.REQUEST:
            return glyphs.sent, "feed--sent"
        case Kind.DELIVERY:
            return glyphs.pushed, "feed--pushed"
        case Kind.KEEPALIVE | Kind.NOTE | Kind.END:
            return glyphs.quiet, "feed--quiet"
        case _:
            return glyphs.received, "feed--received"


def is_send(record: Record) -> bool:
    """Return whether a record is the request that sends a message."""
    return record.kind is Kind.REQUEST and record.operation in SENDS


def kind_of(record: Record) -> str:
    """Return the kind of a record in a word: the event that it contains, or what was requested."""
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
            return "error" if record.event == HTTP_ERROR else record.event or record.kind.value


def _step(record: Record) -> str:
    """Return the step of a login to which a record belongs, `""` for other records."""
    return _STEPS.get(str(record.meta[LOGIN]), "") if is_login(record) else ""


def content_cell(record: Record, glyphs: Glyphs) -> Cell:
    """Return the content of a record: its state and its text, or why it was rejected or failed."""
    match record.kind:
        case Kind.REQUEST:
            return record.label or _step(record) or record.operation, "feed--sent"
        case Kind.END:
            return record.label, "feed--bad" if "seen" in record.meta else "feed--quiet"
        case Kind.NOTE | Kind.KEEPALIVE:
            return record.label, "feed--quiet"
        case Kind.DELIVERY if record.meta.get("refused"):
            return f"rejected  {record.label}", "feed--bad"
        case Kind.RESPONSE:
            return record.label, "feed--bad" if record.meta["status"] >= 400 else "feed--text"
    if record.event in ("error", "unreadable", HTTP_ERROR) or (is_login(record) and record.label):
        return record.label, "feed--bad"
    if is_login(record):
        return f"{glyphs.check} {_step(record)}", "feed--quiet"
    if record.state:
        return f"{glyphs.state_glyph(record.state)} {short(record.state)}  {record.label}", state_style(record.state)
    return record.label, "feed--text"


def marked(cell: Cell, annotation: Annotation, glyphs: Glyphs) -> Cell:
    """Return a cell with the sign of a bookmark, the sign of a remark and the remark before its text."""
    text, style = cell
    if annotation.remark:
        text = f"{glyphs.remark} {annotation.remark}  {glyphs.quiet} {text}"
    return (f"{glyphs.bookmark} {text}" if annotation.bookmarked else text), style


def is_refused(record: Record) -> bool:
    """Return whether a record is a delivery that the receiver rejected."""
    return record.kind is Kind.DELIVERY and bool(record.meta.get("refused"))
