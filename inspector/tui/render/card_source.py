"""How a card came: where it was found after which tries, how it was served, how long it may be kept."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from inspector.findings.finding import Finding
from inspector.text.units import size
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.line_source import Piece
from inspector.tui.render.paragraphs import Paragraph
from inspector.tui.render.rule_texts import rule_of

if TYPE_CHECKING:  # a session is loaded after the first paint
    from inspector.session.connection import Connection

_LABEL = 12
_STYLES = {"error": "line--bad", "warning": "line--warning", "hint": "line--soft"}


def moment(at: float) -> str:
    """Return a time with its day, as the clock on the wall has it."""
    return f"{datetime.fromtimestamp(at).astimezone():%Y-%m-%d %H:%M:%S}"


def how_served(connection: Connection) -> list[Paragraph]:
    """Say how the card came, its headers last."""
    from inspector.wire.client.http_caching import caching_of  # noqa: PLC0415 - loaded with the session

    found, headers = connection.found, connection.headers
    shape = f"in the shape of {found.dialect.generation}"
    rows = [_row("found at", connection.url or connection.reference)]
    rows += [_row("tried", f"{one.url}   {one.outcome}") for one in connection.tries[:-1]]
    if not connection.url:
        return [*rows, _row("read", f"{moment(connection.at)}, {size(len(found.raw))}, {shape}")]
    types = next((value for name, value in headers if name.lower() == "content-type"), "no content type")
    rows.append(_row("served", f"{moment(connection.at)}, {types}, {size(len(found.raw))}, {shape}"))
    caching = caching_of(headers)
    until = caching.fresh_until(connection.confirmed or connection.at)
    rows.append(_row("caching", f"{caching.words()}{f', fresh until {moment(until)}' if until else ''}"))
    if connection.confirmed:
        how = "the same bytes were served again" if connection.confirmed == connection.at else "unchanged (304)"
        rows.append(_row("asked again", f"{how}, {moment(connection.confirmed)}"))
    return [*rows, *(Paragraph((f"{name}: ", "line--soft"), value, "line--text") for name, value in headers)]


def findings_here(found: Sequence[Finding], glyphs: Glyphs) -> list[Paragraph]:
    """Say what is wrong at one place, each with its ground and its remedy."""
    lines: list[Paragraph] = []
    for one in found:
        rule, style = rule_of(one.rule), _STYLES[one.severity]
        mark = (f"{glyphs.severities[one.severity]} ", style)
        lines.append(Paragraph(mark, f"{one.rule}  {rule.title}: {one.seen}", "line--text"))
        lines.append(Paragraph(("  ", style), f"{rule.remedy}  ({rule.section}: {rule.demand})", "line--soft"))
    return lines


def finding_note(found: Sequence[Finding], glyphs: Glyphs) -> Piece:
    """Name the rules that are broken at one place, as a note behind a line of JSON."""
    worst = min((one.severity for one in found), key=list(_STYLES).index)
    said = "  ".join(dict.fromkeys(f"{glyphs.severities[one.severity]} {one.rule}" for one in found))
    return said, f"json--{worst}"


def _row(label: str, text: str) -> Paragraph:
    return Paragraph((f"{label:<{_LABEL}}", "line--soft"), text, "line--text")
