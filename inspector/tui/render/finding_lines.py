"""Findings and the origin of a card, as lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime

from inspector.findings.finding import Finding, Severity
from inspector.findings.rule_set import Rule
from inspector.findings.rules import RULES
from inspector.session.connection import Connection
from inspector.text.units import size
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.text_lines import ItemLines, Line, Paragraph, Piece, hang, labelled
from inspector.wire.client.http_caching import caching_of

MOST = 200
"""The most findings that are listed."""
_LABEL = 12
_STYLES = {"error": "line--bad", "warning": "line--warning", "hint": "line--soft"}
_VERDICTS = {"card--bad": "$state-bad", "card--warning": "$state-warning", "card--good": "$state-good"}


def rule_of(name: str) -> Rule:
    """Return the rule of this id, or a placeholder for a rule that only another version of the inspector has."""
    known = RULES.get(name)
    title, remedy = "A rule that this version does not know.", "Update a2a-inspect to read what it is about."
    return known or Rule(name, Severity.HINT, title, "", "", remedy)


def moment(at: float) -> str:
    """Return a local date and time."""
    return f"{datetime.fromtimestamp(at).astimezone():%Y-%m-%d %H:%M:%S}"


def how_served(connection: Connection) -> list[Paragraph]:
    """Return how the card was found and served, with the headers of the response last."""
    found, headers = connection.found, connection.headers
    shape = f"in the shape of {found.dialect.version}"
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
    """Return the findings at one place, each with its requirement and its remedy."""
    lines: list[Paragraph] = []
    for one in found:
        rule, style = rule_of(one.rule), _STYLES[one.severity]
        mark = (f"{glyphs.severities[one.severity]} ", style)
        lines.append(Paragraph(mark, f"{one.rule}  {rule.title}: {one.seen}", "line--text"))
        lines.append(Paragraph(("  ", style), f"{rule.remedy}  ({rule.section}: {rule.requirement})", "line--soft"))
    return lines


def finding_note(found: Sequence[Finding], glyphs: Glyphs) -> Piece:
    """Return the rules that are broken at one place, as a note after a line of JSON."""
    worst = min((one.severity for one in found), key=list(_STYLES).index)
    said = "  ".join(dict.fromkeys(f"{glyphs.severities[one.severity]} {one.rule}" for one in found))
    return said, f"json--{worst}"


def _row(label: str, text: str) -> Paragraph:
    return labelled(label, text, _LABEL)


def verdict(findings: tuple[Finding, ...], glyphs: Glyphs) -> Piece:
    """Return how many findings of each severity a card has, with the style of the worst."""
    count = Counter(finding.severity for finding in findings)
    said = [
        f"{count[severity]:,} {severity.value}{'s' * (count[severity] > 1)}" for severity in Severity if count[severity]
    ]
    if count[Severity.ERROR]:
        return f"{glyphs.cross} {', '.join(said)}", "card--bad"
    if count[Severity.WARNING]:
        return f"{glyphs.severities[Severity.WARNING]} {', '.join(said)}", "card--warning"
    return ", ".join([f"{glyphs.check} sound", *said]), "card--good"


class FindingLines(ItemLines[Finding]):
    """Findings laid out for a width; a `LineSource`."""

    def __init__(self, findings: Sequence[Finding], glyphs: Glyphs) -> None:
        super().__init__()
        self._findings = findings
        self._glyphs = glyphs

    @property
    def heads(self) -> list[int]:
        """Return the first line of each finding."""
        owners = [finding for _, finding in self._lines]
        return [at for at, owner in enumerate(owners) if owner and (not at or owner is not owners[at - 1])]

    @property
    def verdict(self) -> tuple[str, str]:
        """Return how many errors and warnings there are, with the colour of the worst."""
        said, style = verdict(tuple(self._findings), self._glyphs)
        return said, _VERDICTS[style]

    def _build(self, width: int) -> Iterator[tuple[Line, Finding | None]]:
        for finding in self._findings[:MOST]:
            rule = rule_of(finding.rule)
            mark = (f"{self._glyphs.severities[finding.severity]} ", f"finding--{finding.severity}")
            where = f" at {finding.pointer}" if finding.pointer else ""
            said = Paragraph(mark, f"{rule.title}: {finding.seen}{where}", "line--text")
            remedy = Paragraph(("  ", "line--soft"), f"{rule.remedy}  ({finding.rule}, {rule.section})", "line--soft")
            yield from ((line, finding) for part in (said, remedy) for line in hang(part, width))
        if len(self._findings) > MOST:
            yield [(f"… and {len(self._findings) - MOST:,} more", "line--note")], None
