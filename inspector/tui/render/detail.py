"""One record in full: its payload, and in words what is known of it besides."""

from __future__ import annotations

from inspector.capture.records import Kind, Record
from inspector.findings.finding import Severity
from inspector.findings.rules import RULES
from inspector.protocol.sse import Decoder
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.rows import clock
from inspector.tui.render.source import Line, Piece
from inspector.tui.render.units import size

_LABEL = 13
_TELLING = frozenset({"token", "shape", "task"})
"""The checks of a delivery that have something to say when they are good, too."""


def payload(record: Record) -> bytes:
    """Return what a record carries: the body, or the data of a frame without its SSE lines."""
    if record.kind is not Kind.FRAME:
        return record.raw
    frames = Decoder(len(record.raw) + 1).feed(record.raw)
    return frames[0].data or b"" if frames else record.raw


def title(record: Record) -> str:
    """Return what a record is called: `#431 push`."""
    kind = {Kind.FRAME: record.event, Kind.BODY: record.event, Kind.DELIVERY: "push"}.get(
        record.kind, record.kind.value
    )
    return f"#{record.seq} {kind or record.kind.value}"


def about(record: Record, glyphs: Glyphs) -> list[Line]:
    """Return what stands above the payload: findings with remedy, the verdict of a delivery, how an exchange ended."""
    lines: list[Line] = []
    for finding in record.findings:
        bad = finding.severity is Severity.ERROR
        rule = RULES[finding.rule]
        mark = (glyphs.severities[finding.severity] + " ", "line--bad" if bad else "line--warning")
        lines.append([mark, (f"{finding.rule}  {rule.title}: {finding.seen}", "line--text")])
        lines.append([("  ", "line--text"), (f"{rule.remedy}  ({rule.section})", "line--soft")])
    match record.kind:
        case Kind.DELIVERY:
            lines += _verdict(record, glyphs)
        case Kind.END if "seen" in record.meta:
            lines += [_row("whose", str(record.meta["whose"])), _row("seen", str(record.meta["seen"]))]
            lines += [_row("to do", str(record.meta["hint"]))] if record.meta["hint"] else []
        case _:
            pass
    return lines


def _verdict(record: Record, glyphs: Glyphs) -> list[Line]:
    """Return a line for each check that matters or failed, and one for all the others."""
    lines: list[Line] = []
    passed: list[str] = []
    for name, good, said in record.meta.get("checks", []):
        if good and name not in _TELLING:
            passed.append(str(name))
            continue
        mark, style = {True: (glyphs.check, "line--good"), False: (glyphs.cross, "line--bad")}.get(
            good, (glyphs.quiet, "line--quiet")
        )
        lines.append([(f"{mark} ", style), (f"{name:<{_LABEL}}", "line--soft"), (str(said), "line--text")])
    if passed:
        lines.append([(f"{glyphs.check} ", "line--good"), (", ".join(passed), "line--soft")])
    return lines


def facts(record: Record) -> list[Line]:
    """Return the head of the record: method, url, status, headers, ids, times."""
    meta = record.meta
    lines: list[Line] = [_row("record", f"#{record.seq} {record.kind.value}, {clock(record.at)}, {size(record.size)}")]
    for label, name in (
        ("method", "method"),
        ("url", "url"),
        ("target", "target"),
        ("from", "peer"),
        ("status", "status"),
        ("dialect", "dialect"),
        ("binding", "binding"),
        ("request id", "id"),
        ("how", "how"),
        ("events", "events"),
        ("seconds", "seconds"),
    ):
        if name in meta:
            lines.append(_row(label, str(meta[name])))
    for label, value in (("operation", record.operation), ("task", record.task), ("context", record.context)):
        if value:
            lines.append(_row(label, value))
    if record.exchange:
        lines.append(_row("exchange", f"#{record.exchange}"))
    headers = meta.get("headers") or ()
    if headers:
        lines.append([("", "line--text")])
    lines += [[(f"{name}: ", "line--soft"), (str(value), "line--text")] for name, value in headers]
    return lines


def _row(label: str, value: str) -> Line:
    return [(f"{label:<{_LABEL}}", "line--soft"), (value, "line--text")]


def lane(moves: list[tuple[str, float]], glyphs: Glyphs) -> Line:
    """Return the states that a task passed through, each with the seconds since the first."""
    pieces: list[Piece] = []
    for number, (state, at) in enumerate(moves):
        arrow = "" if number == 0 else f"  {glyphs.sent}  "
        pieces += [(arrow, "line--quiet"), (f"{glyphs.state_glyph(state)} ", "line--text")]
        pieces += [(state.removeprefix("TASK_STATE_").lower().replace("_", "-"), "line--text")]
        pieces += [(f" {at - moves[0][1]:.3f}", "line--soft")]
    return pieces
