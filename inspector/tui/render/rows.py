"""Records as rows of a list: cells of text, each with its component class."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple, TypeAlias

from rich.cells import cell_len

from inspector.capture.records import Kind, Record
from inspector.findings.finding import Severity, worst_of
from inspector.protocol.lifecycle import INTERRUPTED, TERMINAL, State, short
from inspector.session.exchanges import ExchangeSummary
from inspector.session.record_list import Row
from inspector.session.tasks import TrackedTask
from inspector.text.units import size, timestamp_seconds
from inspector.tui.render.annotations import NO_ANNOTATION, Annotation
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.times import MINUTES, ago, clock, lasting_short, relative

Cell: TypeAlias = tuple[str, str]
"""A text, not yet sanitised, and the component class that colours it."""

Cells: TypeAlias = tuple[Cell, ...]

SHORT_ID = 8
"""The number of characters of an id that are shown in a row."""

_VERBS = {
    "SendMessage": "send",
    "SendStreamingMessage": "stream",
    "GetTask": "get",
    "CancelTask": "cancel",
    "SubscribeToTask": "subscribe",
    "GetAgentCard": "get card",
}
"""Short names of operations; the others are shown as `request`."""

SENDS = frozenset({"SendMessage", "SendStreamingMessage"})
"""The operations that send a message."""

_NOTHING: Cell = ("", "feed--text")
SEVERITY_STYLES = {Severity.ERROR: "feed--bad", Severity.WARNING: "feed--warning", Severity.HINT: "feed--muted"}
"""The component class of each severity in a row, the same in every view."""

NOTE_WIDTH = 22
"""The width of a note on a timeline."""
_TASK_PREFIX = 4
"""The number of characters of an id that distinguish the rows of tasks."""
_SHORTEST_GAP = 0.0005
"""Shorter gaps would be shown as 0 milliseconds."""
_KIND = 8
"""The cells that most names of events need, so that the texts after them are aligned."""
_STATE = 11
"""The cells that the most frequent states need with their glyphs."""
_CHECK_NAME = 9
"""The number of characters of a check's name that fit before its mark."""

_LOWEST_HTTP_STATUS = 100
"""Lower numbers are codes of gRPC."""
_METHOD_BADGES = {"GET": "feed--badge-get", "POST": "feed--badge-post"}

_ORDER = "order"
CHECK_GROUPS = {
    "token": ("token", "path"),
    "auth": ("authorization", "issuer", "audience", "dates", "signature", "body-hash"),
    "signature": ("signature", "body-hash"),
    _ORDER: (_ORDER, "task", "replay"),
    "schema": ("schema", "content-type", "json", "size", "encoding", "method"),
}
"""The checks that each of the five columns of a delivery combines; the signature is a proof of authorization, too."""


class BarScale(NamedTuple):
    """The scale of timing bars: the duration in seconds that fills a bar, and the cells of a bar."""

    longest: float = 0.0
    width: int = 0


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
    return (f"{glyphs.state_glyph(state)} {short(state)}", state_style(state)) if state else _NOTHING


def finding_cell(record: Record, glyphs: Glyphs) -> Cell:
    """Return the mark of the worst finding of a record."""
    return _severity_cell(worst_of(finding.severity for finding in record.findings), glyphs)


def _severity_cell(severity: Severity | None, glyphs: Glyphs) -> Cell:
    return _NOTHING if severity is None else (glyphs.severities[severity], SEVERITY_STYLES[severity])


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


def timeline_row(
    record: Record,
    row: Row,
    began: float | None,
    glyphs: Glyphs,
    annotation: Annotation = NO_ANNOTATION,
    gap: float | None = None,
    *,
    other: bool = False,
    keepalives: int = 0,
) -> Cells:
    """Return the cells of a timeline: time, gap, direction, kind, task, state, text, finding, note.

    A request shows the time of day, other records the time since `began`. `gap` is the time since the row before;
    `other` is true if the row before is about another task: the row then shows the id of its task. A request has the
    number of `keepalives` in its response. If a task is reported by stream and by push, the note compares the two.
    """
    sent = is_send(record)
    kind = f"you {glyphs.folded}" if sent else f"{_kind(record):<{_KIND}}"
    quiet = record.kind in (Kind.KEEPALIVE, Kind.NOTE, Kind.END)
    state, style = _state(record, glyphs)
    return (
        _when(record, began),
        (_since(gap) if gap is not None and gap >= _SHORTEST_GAP else "", "feed--quiet"),
        _NOTHING if sent else direction(record, glyphs),
        (kind, "feed--user" if sent else "feed--quiet" if quiet else "feed--text"),
        (record.task[:_TASK_PREFIX] if other else "", "feed--muted"),
        (f"{state:<{_STATE}}" if state else "", style),
        _marked(_text(record, annotation, glyphs), annotation, glyphs),
        finding_cell(record, glyphs),
        _request_note(record, keepalives) if record.kind is Kind.REQUEST else _note(record, row, glyphs, annotation),
    )


def _state(record: Record, glyphs: Glyphs) -> Cell:
    """Return the state that an event reports, in a cell of its own; a refused delivery has none."""
    return state_cell("" if record.kind is Kind.REQUEST or _refused(record) else record.state, glyphs)


def _refused(record: Record) -> bool:
    return record.kind is Kind.DELIVERY and bool(record.meta.get("refused"))


def _text(record: Record, annotation: Annotation, glyphs: Glyphs) -> Cell:
    """Return the text of a row without its state; a push that repeats a streamed event names that event instead."""
    if is_send(record):
        return record.label or record.operation, "feed--user"
    if annotation.matched and record.kind is Kind.DELIVERY and not _refused(record):
        late = f"{lasting_short(abs(annotation.delay))} {'before' if annotation.delay < 0 else 'later'}"
        same = f"{glyphs.check} same as #{annotation.seq}, {late}"
        return (same if record.state else f"{record.label}  {same}"), "feed--muted"
    text, style = _what(record, glyphs)
    return (record.label, "feed--text") if record.state and not _refused(record) else (text, style)


def _request_note(record: Record, keepalives: int) -> Cell:
    sent = {"SendMessage": "send", "SendStreamingMessage": "stream"}.get(record.operation, "")
    kept = f"{keepalives:,} keep-alive{'' if keepalives == 1 else 's'}" if keepalives else ""
    return ", ".join(filter(None, (kept, sent))), "feed--muted"


def _since(gap: float) -> str:
    return f"+{gap:.3f}" if gap < 9.9995 else f"+{gap:.1f}" if gap < MINUTES else f"+{relative(gap)}"


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
            return f"rejected  {record.label}", "feed--bad"
        case Kind.RESPONSE:
            return record.label, "feed--bad" if record.meta["status"] >= 400 else "feed--text"
    if record.event in ("error", "unreadable"):
        return record.label, "feed--bad"
    if record.state:
        return f"{glyphs.state_glyph(record.state)} {short(record.state)}  {record.label}", state_style(record.state)
    return record.label, "feed--text"


def _marked(cell: Cell, annotation: Annotation, glyphs: Glyphs) -> Cell:
    """Return a cell with the sign of a bookmark, the sign of a remark and the remark before its text."""
    text, style = cell
    if annotation.remark:
        text = f"{glyphs.remark} {annotation.remark}  {glyphs.quiet} {text}"
    return (f"{glyphs.bookmark} {text}" if annotation.bookmarked else text), style


def _note(record: Record, row: Row, glyphs: Glyphs, annotation: Annotation) -> Cell:
    if record.kind is Kind.DELIVERY:
        verdict, style = _verdict(record, glyphs)
        if annotation.paired and style == "feed--good":
            return _beside_stream(annotation, row, verdict, glyphs)
        count = f"{row.records:,} pushes"
        return (_fitting(f"{count} {verdict}", count), style) if row.records > 1 else (verdict, style)
    if row.records > 1:
        count = f"{row.records:,} chunks"
        return _fitting(f"{count} {size(row.size)}", count), "feed--muted"
    return _beside_pushes(size(record.size) if record.event == "artifact" else "", annotation, glyphs)


def _beside_stream(annotation: Annotation, row: Row, verdict: str, glyphs: Glyphs) -> Cell:
    """Compare an accepted push with the stream: whether the push was first, or no streamed event is equal."""
    count = f"{row.records:,} " if row.records > 1 else ""
    if annotation.matched:
        return (_fitting(f"{count}pushes {verdict}", f"{count}pushes"), "feed--good") if count else _NOTHING
    text, style = ("push first", "feed--good") if annotation.matched is None else ("push only", "feed--warning")
    return _fitting(f"{count}{text} {glyphs.check}", f"{count}{text}"), style


def _beside_pushes(text: str, annotation: Annotation, glyphs: Glyphs) -> Cell:
    """Mark a streamed event that was pushed, too, or that was not although others were."""
    if not annotation.matched:
        text = text or ("no push" if annotation.matched is False else "")
        return (text, "feed--muted") if text else _NOTHING
    return (f"{text} {glyphs.pushed}", "feed--muted") if text else (glyphs.pushed, "feed--pushed")


def _fitting(*texts: str) -> str:
    """Return the first text that fits into a note, else the last."""
    return next((text for text in texts if len(text) <= NOTE_WIDTH), texts[-1])


def _verdict(record: Record, glyphs: Glyphs) -> Cell:
    """Return the verdict of a delivery: the first failed check, or the authentication that passed."""
    meta = record.meta
    checks: dict[str, bool | None] = {name: good for name, good, _ in meta.get("checks", [])}
    bad = next((name for name, good in checks.items() if good is False), "refused" if meta.get("refused") else "")
    if bad:
        return f"{bad} {glyphs.cross}", "feed--bad"
    if meta.get("dialled") and not meta.get("taken"):
        return f"failed {glyphs.cross}", "feed--warning"
    passed = next((name for name in ("token", "signature", "authorization") if checks.get(name)), "")
    return (f"{passed[:_CHECK_NAME]} {glyphs.check}", "feed--good") if passed else _NOTHING


def delivery_row(record: Record, row: Row, glyphs: Glyphs, annotation: Annotation = NO_ANNOTATION) -> Cells:
    """Return the cells of a delivery: time, latency, task, event, count, checks, status of the response, finding.

    The row may have several equal pushes or chunks; the record is the last of them.
    """
    meta = record.meta
    latency = meta.get("latency")
    answer = "feed--bad" if meta.get("refused") else "feed--good" if meta.get("taken") else "feed--warning"
    text, style = _what(record, glyphs)
    kind = f"{record.event}  " if record.event in ("artifact", "message") and not meta.get("refused") else ""
    count = f"{row.records:,} chunks {size(row.size)}" if record.event == "artifact" else f"{row.records:,} equal"
    return (
        (clock(record.at), "feed--muted"),
        (relative(latency) if latency is not None else "", "feed--muted"),
        (record.task[:SHORT_ID], "feed--text"),
        _marked((kind + text, style), annotation, glyphs),
        (count if row.records > 1 else "", "feed--muted"),
        *_check_cells(meta.get("checks", []), meta.get("attempt", 1), glyphs),
        (str(meta.get("status") or "none"), answer),
        finding_cell(record, glyphs),
    )


CHECKS_WIDTH = 14
"""The width of the column that has the results of all checks in words."""


def _check_cells(checks: list[tuple[str, bool | None, str]], attempt: int, glyphs: Glyphs) -> list[Cell]:
    """Return a cell that summarises the checks in words, and a cell for each group of checks with its worst result.

    Deliveries that are late or repeated have the mark of a warning, because the order is not guaranteed.
    """
    found: dict[str, bool | None] = {name: good for name, good, _ in checks}
    warning = glyphs.severities[Severity.WARNING]
    signs: dict[bool | None, Cell] = {
        False: (glyphs.cross, "feed--bad"),
        True: (glyphs.check, "feed--good"),
        None: (glyphs.quiet, "feed--quiet"),
    }
    late = found.get(_ORDER, True) is None
    cells: list[Cell] = []
    failed: list[str] = []
    for group, names in CHECK_GROUPS.items():
        results = [found[name] for name in names if name in found]
        worst = False if False in results else True if True in results else None
        failed += [group] if worst is False and not (group == "auth" and _is_signature(found)) else []
        again = f"{warning} x{attempt}" if attempt > 1 else warning
        cells.append((again, "feed--warning") if group == _ORDER and late else signs[worst])
    if failed:
        named = f"{glyphs.cross} {' '.join(failed)}"
        counted = f"{glyphs.cross} {len(failed)} failed"
        summary: Cell = (named if cell_len(named) <= CHECKS_WIDTH else counted, "feed--bad")
    elif late:
        summary = (f"{warning} attempt {attempt}" if attempt > 1 else f"{warning} late", "feed--warning")
    else:
        passed = True in found.values()
        summary = (f"{glyphs.check} passed", "feed--good") if passed else (f"{glyphs.quiet} none", "feed--quiet")
    return [summary, *cells]


def _is_signature(found: Mapping[str, bool | None]) -> bool:
    """Return whether all failed checks of the authentication are those of the signature, which has its own column."""
    failed = {name for name in CHECK_GROUPS["auth"] if found.get(name) is False}
    return failed <= set(CHECK_GROUPS["signature"])


def exchange_row(
    exchange: ExchangeSummary,
    scale: BarScale,
    hosts: Collection[str],
    glyphs: Glyphs,
    annotation: Annotation = NO_ANNOTATION,
) -> Cells:
    """Return the cells of an exchange: time, method, path, operation, status, type, size, duration, bar, finding.

    The URL is shown without its host if that is one of `hosts`.
    """
    took = "" if exchange.seconds is None else relative(exchange.seconds)
    ended_well = exchange.how in ("", "complete", "stopped")
    media_type = exchange.content_type.partition(";")[0].strip()
    return (
        (clock(exchange.at), "feed--muted"),
        _method(exchange),
        (_path(exchange.url, hosts), "feed--text"),
        _marked(_operation(exchange), annotation, glyphs),
        _status(exchange),
        (media_type.partition("/")[2] or media_type, "feed--muted"),
        (size(exchange.received), "feed--muted"),
        (took or "running", "feed--muted" if ended_well else "feed--bad"),
        (_timing_bar(exchange, scale, glyphs), "feed--received" if ended_well else "feed--bad"),
        _severity_cell(exchange.worst, glyphs),
    )


def _method(exchange: ExchangeSummary) -> Cell:
    """Return the method as a badge; for a gRPC call, the name of the protocol."""
    if exchange.url.startswith(("grpc:", "grpcs:")):
        return " gRPC ", "feed--badge-other"
    return f" {exchange.method} ", _METHOD_BADGES.get(exchange.method, "feed--badge-other")


def _path(url: str, hosts: Collection[str]) -> str:
    """Return the path and the query of a URL, after its host if that is not one of `hosts`."""
    authority, slash, path = url.partition("://")[2].partition("/")
    return f"{'' if authority in hosts else authority}{slash}{path}" or "/"


def _operation(exchange: ExchangeSummary) -> Cell:
    """Return the operation, and the A2A error in the response."""
    if exchange.error:
        return f"{exchange.operation}  {exchange.error}", "feed--bad"
    return exchange.operation, "feed--sent"


def _status(exchange: ExchangeSummary) -> Cell:
    """Return the status as a badge: that of HTTP, or the code of a failed gRPC call, or that there is no response."""
    if exchange.status >= _LOWEST_HTTP_STATUS:
        style = "bad" if exchange.status >= 400 or exchange.error else "good" if exchange.status < 300 else "warning"
        return f" {exchange.status} ", f"feed--badge-{style}"
    if exchange.status:
        return f" {exchange.status} ", "feed--badge-bad"
    if exchange.seconds is None:
        return "...", "feed--muted"
    return (" none ", "feed--badge-quiet") if exchange.how == "stopped" else (" fail ", "feed--badge-bad")


def _timing_bar(exchange: ExchangeSummary, scale: BarScale, glyphs: Glyphs) -> str:
    """Return a bar: the time until the head of the response is thin, the time until its end is thick."""
    if scale.longest <= 0:
        return ""
    ended = exchange.at + exchange.seconds if exchange.seconds is not None else exchange.last_at
    headed = exchange.headed or ended
    cells, waited = (
        min(scale.width, round(max(0.0, at - exchange.at) / scale.longest * scale.width)) for at in (ended, headed)
    )
    cells = max(1, cells)
    waited = cells if headed >= ended else min(cells, waited)
    return glyphs.horizontal * waited + glyphs.thick * (cells - waited)


def record_row(record: Record, began: float, glyphs: Glyphs, annotation: Annotation = NO_ANNOTATION) -> Cells:
    """Return the cells of one record of an exchange: time, direction, kind, text, size, finding."""
    return (
        (relative(max(0.0, record.at - began)), "feed--muted"),
        direction(record, glyphs),
        (_kind(record), "feed--text"),
        _marked(_what(record, glyphs), annotation, glyphs),
        (size(record.size), "feed--muted") if record.size else _NOTHING,
        finding_cell(record, glyphs),
    )


def task_row(task: TrackedTask, now: float, glyphs: Glyphs) -> Cells:
    """Return the cells of a task: state, id, context, age, last update, artifacts, last message.

    The age is counted from the first record of the task, or from the timestamp of its state if that is earlier.
    """
    account = task.now
    parts = account.messages[-1].parts if account.messages else ()
    stamp = timestamp_seconds(account.status.timestamp)
    since = task.first_seen if stamp is None else min(stamp, task.first_seen)
    return (
        state_cell(account.state, glyphs),
        (task.id[:SHORT_ID], "feed--text"),
        (account.context_id[:SHORT_ID], "feed--muted"),
        (ago(now - since), "feed--muted"),
        (ago(now - account.updated), "feed--muted"),
        (str(len(account.artifacts)), "feed--text"),
        (" ".join(part.text for part in parts if part.text), "feed--text"),
    )


def short_task_row(task: TrackedTask, glyphs: Glyphs) -> Cells:
    """Return the cells of a task in the narrow list: state, id, last message."""
    account = task.now
    parts = account.messages[-1].parts if account.messages else ()
    text = " ".join(part.text for part in parts if part.text)
    return state_cell(account.state, glyphs), (task.id[:SHORT_ID], "feed--muted"), (text, "feed--text")
