"""Exchanges, and the records of an exchange, as rows."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from inspector.capture.records import Record
from inspector.session.exchanges import ExchangeSummary
from inspector.text.units import duration, size
from inspector.tui.render.annotations import NO_ANNOTATION, Annotation
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.rows import (
    NOTHING,
    Cell,
    Cells,
    content_cell,
    direction,
    finding_cell,
    kind_of,
    marked,
    severity_cell,
)
from inspector.tui.render.times import clock

_LOWEST_HTTP_STATUS = 100
"""Lower numbers are codes of gRPC."""

_METHOD_BADGES = {"GET": "feed--badge-get", "POST": "feed--badge-post"}


class BarScale(NamedTuple):
    """The scale of timing bars: the duration in seconds that fills a bar, and the cells of a bar."""

    longest: float = 0.0
    width: int = 0


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
    took = "" if exchange.seconds is None else duration(exchange.seconds)
    ended_well = exchange.how in ("", "complete", "stopped")
    media_type = exchange.content_type.partition(";")[0].strip()
    return (
        (clock(exchange.at), "feed--muted"),
        _method(exchange),
        (path_of(exchange.url, hosts), "feed--text"),
        marked(operation_cell(exchange), annotation, glyphs),
        _status(exchange),
        (media_type.partition("/")[2] or media_type, "feed--muted"),
        (size(exchange.received), "feed--muted"),
        (took or "running", "feed--muted" if ended_well else "feed--bad"),
        (_timing_bar(exchange, scale, glyphs), "feed--received" if ended_well else "feed--bad"),
        severity_cell(exchange.worst, glyphs),
    )


def _method(exchange: ExchangeSummary) -> Cell:
    """Return the method as a badge; for a gRPC call, the name of the protocol."""
    if exchange.url.startswith(("grpc:", "grpcs:")):
        return " gRPC ", "feed--badge-other"
    return f" {exchange.method} ", _METHOD_BADGES.get(exchange.method, "feed--badge-other")


def path_of(url: str, hosts: Collection[str]) -> str:
    """Return the path and the query of a URL, after its host if that is not one of `hosts`."""
    authority, slash, path = url.partition("://")[2].partition("/")
    return f"{'' if authority in hosts else authority}{slash}{path}" or "/"


def operation_cell(exchange: ExchangeSummary) -> Cell:
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
        (f"+{duration(max(0.0, record.at - began))}", "feed--muted"),
        direction(record, glyphs),
        (kind_of(record), "feed--text"),
        marked(content_cell(record, glyphs), annotation, glyphs),
        (size(record.size), "feed--muted") if record.size else NOTHING,
        finding_cell(record, glyphs),
    )
