"""Findings and the origin of a card, as lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from inspector.capture.secret_locations import mask_url
from inspector.findings.finding import Finding, Severity, most_severe_first
from inspector.findings.lint import CARD_RULES
from inspector.findings.rule_set import Rule
from inspector.session.connection import Connection
from inspector.text.units import size
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.text_lines import ItemLines, Line, Paragraph, Piece, hang, labelled
from inspector.wire.client.http_caching import caching_of

MOST = 200
"""The most findings that are listed."""
_MOST_PLACES = 3
"""The most findings of one rule that are listed for a record."""
_LABEL = 12
_CARD_RULES = {checked.rule.id: checked.rule for checked in CARD_RULES}
_STYLES = {"error": "line--bad", "warning": "line--warning", "hint": "line--soft"}
_VERDICTS = {"card--bad": "$state-bad", "card--warning": "$state-warning", "card--good": "$state-good"}


def rule_of(name: str) -> Rule:
    """Return the rule of this id, or a placeholder for a rule that this version of a2a-inspect does not have."""
    known = _CARD_RULES.get(name) or _all_rules().get(name)
    title, remedy = "This version does not know the rule.", "Update a2a-inspect to read its description."
    return known or Rule(name, Severity.HINT, title, "", "", remedy)


def _all_rules() -> Mapping[str, Rule]:
    from inspector.findings.rules import RULES  # noqa: PLC0415 - 10 ms, which the rules about cards do not need

    return RULES


def date_and_time(at: float) -> str:
    """Return a local date and time."""
    return f"{datetime.fromtimestamp(at).astimezone():%Y-%m-%d %H:%M:%S}"


def how_served(connection: Connection) -> list[Paragraph]:
    """Return how the card was found and served, with the headers of the response last."""
    found, headers = connection.found, connection.headers
    version = f"A2A {found.dialect.version} card"
    rows = [_row("source", mask_url(connection.url) or connection.reference)]
    rows += [_row("tried", f"{attempt.url}   {attempt.outcome}") for attempt in connection.attempts[:-1]]
    if not connection.url:
        return [*rows, _row("read", f"{date_and_time(connection.at)}, {size(len(found.raw))}, {version}")]
    types = next((value for name, value in headers if name.lower() == "content-type"), "no content type")
    rows.append(_row("served", f"{date_and_time(connection.at)}, {types}, {size(len(found.raw))}, {version}"))
    caching = caching_of(headers)
    until = caching.fresh_until(connection.confirmed or connection.at)
    rows.append(_row("caching", f"{caching.words()}{f', fresh until {date_and_time(until)}' if until else ''}"))
    if connection.confirmed:
        how = "the same bytes" if connection.confirmed == connection.at else "not modified (304)"
        rows.append(_row("refreshed", f"{how}, {date_and_time(connection.confirmed)}"))
    return [*rows, *(Paragraph((f"{name}: ", "line--soft"), value, "line--text") for name, value in headers)]


def findings_here(found: Sequence[Finding], glyphs: Glyphs) -> list[Paragraph]:
    """Return the findings at one place, each with its requirement and its remedy."""
    lines: list[Paragraph] = []
    for finding in found:
        rule, style = rule_of(finding.rule), _STYLES[finding.severity]
        mark = (f"{glyphs.severities[finding.severity]} ", style)
        lines.append(Paragraph(mark, f"{finding.rule}  {rule.title}: {finding.seen}", "line--text"))
        lines.append(Paragraph(("  ", style), f"{rule.remedy}  ({rule.section}: {rule.requirement})", "line--soft"))
    return lines


def findings_of(found: Sequence[Finding], glyphs: Glyphs) -> list[Paragraph]:
    """Return the findings about a record, the worst first: for each rule what was seen, and the remedy once."""
    lines: list[Paragraph] = []
    for name in dict.fromkeys(finding.rule for finding in most_severe_first(found)):
        same = [finding for finding in found if finding.rule == name]
        rule, style = rule_of(name), _STYLES[same[0].severity]
        mark = (f"{glyphs.severities[same[0].severity]} ", style)
        for number, finding in enumerate(same[:_MOST_PLACES]):
            what = "" if number else f"{name}  {rule.title}: "
            lines.append(Paragraph(("  ", style) if number else mark, f"{what}{seen_where(finding)}", "line--text"))
        if len(same) > _MOST_PLACES:
            lines.append(Paragraph(("  ", style), f"and at {len(same) - _MOST_PLACES:,} more places", "line--soft"))
        section = f"  ({rule.section})" if rule.section else ""
        lines.append(Paragraph(("  ", style), f"{rule.remedy}{section}", "line--soft"))
    return lines


def seen_where(finding: Finding) -> str:
    """Return what was seen, and its place in the payload."""
    return f"{finding.seen} at {finding.pointer}" if finding.pointer else finding.seen


def finding_note(found: Sequence[Finding], glyphs: Glyphs) -> Piece:
    """Return the rules that are violated at one place, as a note after a line of JSON."""
    worst = min((finding.severity for finding in found), key=list(_STYLES).index)
    rules = (f"{glyphs.severities[finding.severity]} {finding.rule}" for finding in found)
    return "  ".join(dict.fromkeys(rules)), f"json--{worst}"


def _row(label: str, text: str) -> Paragraph:
    return labelled(label, text, _LABEL)


def verdict_in_words(findings: tuple[Finding, ...], glyphs: Glyphs) -> Piece:
    """Return how many findings of each severity a card has, with the style of the worst."""
    count = Counter(finding.severity for finding in findings)
    counts = [
        f"{count[severity]:,} {severity.value}{'s' * (count[severity] > 1)}" for severity in Severity if count[severity]
    ]
    if count[Severity.ERROR]:
        return f"{glyphs.cross} {', '.join(counts)}", "card--bad"
    if count[Severity.WARNING]:
        return f"{glyphs.severities[Severity.WARNING]} {', '.join(counts)}", "card--warning"
    return f"{glyphs.check} {', '.join(['valid card', *counts])}", "card--good"


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
        text, style = verdict_in_words(tuple(self._findings), self._glyphs)
        return text, _VERDICTS[style]

    def _build(self, width: int) -> Iterator[tuple[Line, Finding | None]]:
        for finding in self._findings[:MOST]:
            rule = rule_of(finding.rule)
            mark = (f"{self._glyphs.severities[finding.severity]} ", f"finding--{finding.severity}")
            seen = Paragraph(mark, f"{rule.title}: {seen_where(finding)}", "line--text")
            remedy = Paragraph(("  ", "line--soft"), f"{rule.remedy}  ({finding.rule}, {rule.section})", "line--soft")
            yield from ((line, finding) for part in (seen, remedy) for line in hang(part, width))
        if len(self._findings) > MOST:
            yield [(f"… and {len(self._findings) - MOST:,} more", "line--note")], None
