"""Deliveries as rows: a mark for each group of checks of the receiver."""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len

from inspector.capture.records import Record
from inspector.findings.finding import Severity
from inspector.session.record_list import Row
from inspector.text.short_id import short_id
from inspector.text.units import duration, wire_size
from inspector.tui.render.annotations import NO_ANNOTATION, Annotation
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.rows import Cell, Cells, content_cell, finding_cell, marked
from inspector.tui.render.times import clock

_ORDER = "order"
_CHECK_GROUPS = {
    "token": ("token",),
    "auth": ("authorization", "issuer", "audience", "dates", "signature", "body-hash", "replay"),
    "signature": ("signature", "body-hash"),
    _ORDER: (_ORDER,),
    "schema": ("schema", "content-type", "json", "size", "encoding", "method"),
}
"""The checks that each of the five columns of a delivery combines; the signature is a proof of authorization, too.

The other checks have no column: if path, host or origin fails, the row shows the reason of the rejection; `task` has a
finding.
"""
_GROUPED = frozenset(name for names in _CHECK_GROUPS.values() for name in names)

CHECKS_WIDTH = 14
"""The width of the column that has the results of all checks in words."""


def delivery_row(record: Record, row: Row, glyphs: Glyphs, annotation: Annotation = NO_ANNOTATION) -> Cells:
    """Return the cells of a delivery: time, latency, task, event, count, checks, status of the response, finding.

    The row may have several equal or rejected pushes, or chunks; the record is the last of them.
    """
    meta = record.meta
    latency = meta.get("latency")
    answer = "feed--bad" if meta.get("refused") else "feed--good" if meta.get("taken") else "feed--warning"
    text, style = content_cell(record, glyphs)
    kind = f"{record.event}  " if record.event in ("artifact", "message") and not meta.get("refused") else ""
    attempt = meta.get("attempt", 1)
    count = f"attempt {attempt}" if attempt > 1 else ""
    if row.records > 1:
        chunks = f"{row.records:,} chunks, {wire_size(row.size)}"
        count = chunks if record.event == "artifact" else f"{row.records:,} equal"
        if meta.get("refused"):  # the rows of different updates, and of their attempts, show the same reason
            count = f"{row.records:,} deliveries"
    return (
        (clock(record.at), "feed--muted"),
        (duration(latency) if latency is not None else "", "feed--muted"),
        (short_id(record.task), "feed--text"),
        marked((kind + text, style), annotation, glyphs),
        (count, "feed--warning" if attempt > 1 else "feed--muted"),
        *_check_cells(meta.get("checks", []), attempt, glyphs),
        (str(meta.get("status") or "none"), answer),
        finding_cell(record, glyphs),
    )


def failed_checks(checks: Iterable[tuple[str, bool | None, str]]) -> list[str]:
    """Return the groups with a failed check, and the failed checks that are in no group."""
    failed = {name for name, good, _ in checks if good is False}
    groups = [group for group, names in _CHECK_GROUPS.items() if failed.intersection(names)]
    if "auth" in groups and failed.intersection(_CHECK_GROUPS["auth"]) <= set(_CHECK_GROUPS["signature"]):
        groups.remove("auth")  # only the signature has failed, which has its own column
    return [*groups, *sorted(failed - _GROUPED)]


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
    for group, names in _CHECK_GROUPS.items():
        results = [found[name] for name in names if name in found]
        passed = found.get("schema") if group == "schema" else True in results or None
        worst = False if False in results else passed
        cells.append((warning, "feed--warning") if group == _ORDER and late else signs[worst])
    if failed := failed_checks(checks):
        named = f"{glyphs.cross} {' '.join(failed)}"
        counted = f"{glyphs.cross} {len(failed)} failed"
        summary: Cell = (named if cell_len(named) <= CHECKS_WIDTH else counted, "feed--bad")
    elif late:
        summary = (f"{warning} {'retry' if attempt > 1 else 'late'}", "feed--warning")
    else:
        checked = True in found.values()
        summary = (f"{glyphs.check} passed", "feed--good") if checked else (f"{glyphs.quiet} none", "feed--quiet")
    return [summary, *cells]
