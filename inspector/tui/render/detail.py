"""A record in full: its findings, the checks of a delivery, and its facts and headers."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.capture.records import Kind, Record
from inspector.session.exporters.http_exchange import HttpExchange
from inspector.text.units import duration, size
from inspector.tui.render.finding_lines import findings_of
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.text_lines import BLANK, Paragraph, labelled, without_head
from inspector.tui.render.times import clock

_LABEL = 13
_TEXT = "line--text"
_LOWEST_ERROR = 400
"""The lowest status of HTTP that is an error."""
_FACTS = (
    ("method", "method"),
    ("url", "url"),
    ("target", "target"),
    ("from", "peer"),
    ("status", "status"),
    ("A2A version", "dialect"),
    ("binding", "binding"),
    ("request id", "id"),
    ("gRPC status", "name"),
    ("gRPC message", "message"),
    ("ended", "how"),
    ("events", "events"),
    ("seconds", "seconds"),
)
"""Labels, and the members of `meta` that they show."""
_INFORMATIVE = frozenset({"token", "authorization", "signature", "dates", "body-hash", "schema", "task", "order"})
"""The checks of a delivery that are shown in full when they pass, too."""


def title(record: Record) -> str:
    """Return the title of a record, like `#431 push`."""
    kinds = {Kind.FRAME: record.event, Kind.BODY: record.event, Kind.DELIVERY: "push"}
    return f"#{record.seq} {kinds.get(record.kind) or record.kind.value}"


def has_task_update(record: Record) -> bool:
    """Return whether a record may have changed a task."""
    is_update = record.event in ("task", "status", "artifact", "message")
    return bool(record.task) and is_update and record.kind in (Kind.FRAME, Kind.BODY, Kind.DELIVERY)


def about(record: Record, glyphs: Glyphs) -> list[Paragraph]:
    """Return the lines above the payload: overridden warnings, findings, checks of a delivery, a failure."""
    deliberate = (f"{'deliberate':<{_LABEL}}", "line--warning")
    paragraphs = [Paragraph(deliberate, str(warning), _TEXT) for warning in record.meta.get("deliberate") or ()]
    paragraphs += findings_of(record.findings, glyphs)
    if record.kind is Kind.DELIVERY:
        paragraphs += _checks(record, glyphs)
    for label, name in (("responsible", "whose"), ("seen", "seen"), ("next step", "hint")):
        if "seen" in record.meta and record.meta.get(name):
            paragraphs.append(_row(label, str(record.meta[name])))
    return paragraphs


def _checks(record: Record, glyphs: Glyphs) -> list[Paragraph]:
    """Return the failed checks, what was expected and answered, the informative checks, and the names of the others."""
    failed: list[Paragraph] = []
    informative: list[Paragraph] = []
    passed: list[str] = []
    signs = {True: (f"{glyphs.check} ", "line--good"), False: (f"{glyphs.cross} ", "line--bad")}
    for name, good, reason in record.meta.get("checks", []):
        line = Paragraph(signs.get(good, (f"{glyphs.quiet} ", "line--quiet")), f"{name}: {reason}", _TEXT)
        if good is False:
            failed.append(line)
        elif good is None or name in _INFORMATIVE:
            informative.append(line)
        else:
            passed.append(str(name))
    rest = [Paragraph(signs[True], ", ".join(passed), "line--soft")] if passed else []
    if record.meta.get("refused") and not failed:  # data that is not HTTP has no checks
        failed.append(Paragraph(signs[False], str(record.meta["refused"]), _TEXT))
    latency, override = record.meta.get("latency"), record.meta.get("dialled")
    rows = [
        ("expected", str(record.meta.get("asked", ""))),
        ("answered", f"{override} (override)" if override else ""),
        ("latency", f"{duration(latency)} after the change of state" if latency is not None else ""),
    ]
    return [*failed, *(_row(label, text) for label, text in rows if text), *informative, *rest]


def facts(record: Record) -> list[Paragraph]:
    """Return the facts about a record (method, url, status, ids, times), then its headers."""
    meta = record.meta
    rows = [("record", f"#{record.seq} {record.kind.value}, {clock(record.at)}, {size(record.size)}")]
    rows += [(label, str(meta[name])) for label, name in _FACTS if name in meta]
    rows += [("operation", record.operation), ("task", record.task), ("context", record.context)]
    rows += [("exchange", f"#{record.exchange}" if record.exchange else "")]
    rows += [("text", record.label)] if record.kind in (Kind.NOTE, Kind.KEEPALIVE) else []
    headers = header_lines((str(name), str(value)) for name, value in meta.get("headers") or ())
    gap = [BLANK] if headers else []
    return [*(_row(label, value) for label, value in rows if value), *gap, *headers]


def header_lines(headers: Iterable[tuple[str, str]]) -> list[Paragraph]:
    """Return the lines of HTTP headers."""
    return [Paragraph((f"{name}: ", "line--soft"), value, _TEXT) for name, value in headers]


def request_head(exchange: HttpExchange) -> list[Paragraph]:
    """Return the first line and the headers of the request of an exchange."""
    first, headers = exchange.request_head()
    strong = "line--strong"
    if exchange.request.kind is not Kind.REQUEST:
        return [without_head(first, strong), *header_lines(headers)]
    method, _, url = first.partition(" ")
    return [Paragraph((f"{method} ", strong), url, strong), *header_lines(headers)]


def response_head(exchange: HttpExchange) -> list[Paragraph]:
    """Return the status line, the headers and the trailers of the response of an exchange, and how it ended."""
    first, headers = exchange.response_head()
    bad = exchange.response is not None and exchange.response.meta["status"] >= _LOWEST_ERROR
    lines = [without_head(first, "line--bad" if bad else "line--strong"), *header_lines(headers)]
    if exchange.response is None:
        lines = [without_head("No response was received.", "line--soft")]
    if exchange.trailers is not None:
        meta = exchange.trailers.meta
        trailers = [(str(name), str(value)) for name, value in meta.get("headers") or ()]
        lines += [BLANK, _row("gRPC status", f"{meta['code']} {meta['name']} {meta['message']}".strip())]
        lines += header_lines(trailers)
    return [*lines, BLANK, *_ending(exchange)]


def _ending(exchange: HttpExchange) -> list[Paragraph]:
    """Return the times of an exchange, and how it ended."""
    began, head, end = exchange.request.at, exchange.response, exchange.end
    rows = [("sent", clock(began))]
    rows += [("head after", duration(max(0.0, head.at - began)))] if head else []
    if end is None:
        rows.append(("ended", "the exchange is still running"))
    else:
        rows.append(("ended", f"{end.meta['how']}, after {duration(end.meta['seconds'])}"))
        rows.append(("received", size(end.meta["bytes"]) if "bytes" in end.meta else ""))
    return [_row(label, value) for label, value in rows if value]


def _row(label: str, value: str) -> Paragraph:
    return labelled(label, value, _LABEL)
