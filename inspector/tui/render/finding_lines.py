"""Findings of a text one below the other, each with its remedy."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.findings.finding import Finding
from inspector.tui.render.card import verdict
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.line_source import Line
from inspector.tui.render.paragraphs import Paragraph, hang
from inspector.tui.render.rule_texts import rule_of

MOST = 200
"""How many findings are listed."""

_VERDICTS = {"card--bad": "$state-bad", "card--warning": "$state-warning", "card--good": "$state-good"}


class FindingLines:
    """Findings laid out for a width; a `LineSource`."""

    def __init__(self, findings: Sequence[Finding], glyphs: Glyphs) -> None:
        self._findings = findings
        self._glyphs = glyphs
        self._lines: list[tuple[Line, Finding | None]] = []
        self.heads: list[int] = []
        """The first line of each finding."""

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def verdict(self) -> tuple[str, str]:
        """Say how many errors and warnings there are, with the colour of that."""
        said, style = verdict(tuple(self._findings), self._glyphs)
        return said, _VERDICTS[style]

    def layout(self, width: int, keep: int) -> int:
        """Fit the lines to a width; `keep` stays as near as the new width allows."""
        self._lines, self.heads = [], []
        for finding in self._findings[:MOST]:
            rule = rule_of(finding.rule)
            mark = (f"{self._glyphs.severities[finding.severity]} ", f"finding--{finding.severity}")
            where = f" at {finding.pointer}" if finding.pointer else ""
            said = Paragraph(mark, f"{rule.title}: {finding.seen}{where}", "line--text")
            remedy = Paragraph(("  ", "line--soft"), f"{rule.remedy}  ({finding.rule}, {rule.section})", "line--soft")
            self.heads.append(len(self._lines))
            self._lines += [(line, finding) for part in (said, remedy) for line in hang(part, width)]
        if len(self._findings) > MOST:
            more = f"… and {len(self._findings) - MOST:,} more"
            self._lines.append(([(more, "line--note")], None))
        return min(keep, max(0, len(self._lines) - 1))

    def line(self, index: int) -> Line:
        """Return one line."""
        return self._lines[index][0]

    def finding(self, index: int) -> Finding | None:
        """Return the finding that a line tells of."""
        return self._lines[index][1] if 0 <= index < len(self._lines) else None
