"""Lines of a card: the text, the action of the enter key, and the place in the served card."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from inspector.findings.finding import Finding, Severity, most_severe_first
from inspector.lazy_dataclass import dataclass
from inspector.session.authentication import Alternative
from inspector.tui.render.finding_lines import rule_of, seen_where
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.markdown import markdown_lines
from inspector.tui.render.text_lines import LONGEST, Line, Paragraph, Piece, hang, padded, wrap_pieces

LABEL = 16
"""The width of the column of labels."""
_NARROWEST = LABEL + 12
_WIDEST = 120
"""The width of running text; longer lines are hard to read."""
MOST_BESIDE = 5
"""The most findings that are listed below one row."""
STYLES = {Severity.ERROR: "card--bad", Severity.WARNING: "card--warning", Severity.HINT: "card--muted"}
"""The style of a finding."""


class Try(NamedTuple):
    """Enter writes an example message into the composer."""

    text: str


class Unfold(NamedTuple):
    """Enter unfolds or folds a skill."""

    skill: int


@dataclass(frozen=True, slots=True)
class More:
    """Enter shows the rest of the description, or hides it."""


class See(NamedTuple):
    """Enter goes to a place in the card as it was served."""

    pointer: str


@dataclass(frozen=True, slots=True)
class Verify:
    """Enter fetches the keys and verifies the signatures."""


@dataclass(frozen=True, slots=True)
class EnterCredentials:
    """Enter opens the dialog for credentials."""


Act: TypeAlias = Try | Unfold | More | See | Verify | EnterCredentials | None


class CardLine(NamedTuple):
    """One line of a card; `pointer` is the place in the served card that it shows."""

    pieces: Line
    act: Act = None
    pointer: str = ""


class FindingsByMember:
    """The findings of a card by member, shown below the row of the member; `take` removes what it returns."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._by_member: dict[str, list[Finding]] = defaultdict(list)
        for finding in findings:
            self._by_member[_member(finding.pointer)].append(finding)

    def take(self, *members: str) -> list[Finding]:
        """Remove and return the findings within some members (`name`, `skills/3`)."""
        return [finding for member in members for finding in self._by_member.pop(member, ())]

    def peek(self, member: str) -> Sequence[Finding]:
        """Return the findings within a member without removing them."""
        return self._by_member.get(member, ())

    def rest(self) -> list[Finding]:
        """Remove and return the other findings, except those of a skill, which are shown with the skill."""
        members = [member for member in self._by_member if not member.startswith("skills/")]
        return self.take(*members)


def _member(pointer: str) -> str:
    """Return the member of the card that a pointer leads into; for an item of a list, with its number (`skills/3`).

    Extensions are not shown with the other capabilities, but in rows of their own.
    """
    steps = pointer.split("/")[1:3]
    has_rows = steps == ["capabilities", "extensions"] or (len(steps) == 2 and steps[1].isdigit())
    return "/".join(steps) if has_rows else "".join(steps[:1])


class Writer:
    """Writes lines of a card for a width: labelled rows, running text, Markdown, findings."""

    def __init__(self, width: int, glyphs: Glyphs) -> None:
        self.width = max(_NARROWEST, width)
        self.glyphs = glyphs
        self.lines: list[CardLine] = []

    def add(self, *pieces: Piece, act: Act = None, pointer: str = "") -> None:
        """Write one line without wrapping it."""
        self.lines.append(CardLine(pieces, act, pointer))

    def blank(self) -> None:
        """Write an empty line."""
        self.add(("", "card--text"))

    def text(
        self, label: str, text: str, style: str = "card--text", *, indent: int = LABEL, act: Act = None, at: str = ""
    ) -> None:
        """Write a text beside its label; its first line has the action."""
        head = (f"{label:<{indent}}"[: indent or None], "card--label")
        for number, line in enumerate(hang(Paragraph(head, text, style), min(self.width, _WIDEST + indent))):
            self.add(*line, act=act if number == 0 else None, pointer=at)

    def row(self, label: str, *pieces: Piece, indent: int = LABEL, act: Act = None, at: str = "") -> None:
        """Write a row of several styles beside its label; its first line has the action."""
        head = [(f"{label:<{indent}}", "card--label")]
        short = [(text[:LONGEST], style) for text, style in pieces]
        lines = wrap_pieces(short, self.width, first=head, rest=[(" " * indent, "card--label")])
        for number, line in enumerate(lines):
            self.add(*line, act=act if number == 0 else None, pointer=at)

    def alternative(
        self, label: str, alternative: Alternative, *, indent: int = LABEL, at: str = "", width: int = 0
    ) -> None:
        """Write credentials that are required, padded to a width, and whether there are credentials for them."""
        missing = bool(alternative.missing)
        sign, style = (self.glyphs.cross, "card--warning") if missing else (self.glyphs.check, "card--good")
        words = padded(alternative.words, width)
        pieces = ((f"{sign} {words}", "card--text"), (f"   {alternative.result}", style))
        self.row(label, *pieces, indent=indent, act=EnterCredentials() if missing else None, at=at)

    def markdown(self, text: str, *, indent: int = 0, at: str = "") -> None:
        """Write Markdown."""
        gap = (" " * indent, "card--text")
        for line in markdown_lines(text, min(self.width - indent, _WIDEST)):
            self.add(gap, *line, pointer=at)

    def findings(self, found: Sequence[Finding], label: str = "") -> None:
        """Write findings below their row, the worst first; enter goes to their place."""
        for finding in most_severe_first(found)[:MOST_BESIDE]:
            sign = self.glyphs.severities[finding.severity]
            text = f"{sign} {finding.rule}  {rule_of(finding.rule).title}: {seen_where(finding)}"
            self.text(label, text, STYLES[finding.severity], act=See(finding.pointer), at=finding.pointer)
            label = ""
        if len(found) > MOST_BESIDE:
            self.text("", f"and {len(found) - MOST_BESIDE:,} more", "card--muted")
