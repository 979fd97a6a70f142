"""Lines of a card: what each shows, what enter does there, and which place of the served card it is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from inspector.findings.finding import Finding, Severity
from inspector.tui.render.finding_lines import rule_of
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.markdown import markdown_lines
from inspector.tui.render.text_lines import LONGEST, Line, Paragraph, Piece, hang, wrap_pieces

LABEL = 14
"""The width of the column of labels."""
_NARROWEST = LABEL + 12
_WIDEST = 120
"""The width of running text; longer lines are hard to read."""

MOST_BESIDE = 5
"""How many findings are listed beside one row."""


@dataclass(frozen=True, slots=True)
class Try:
    """Enter writes a message into the composer."""

    text: str


@dataclass(frozen=True, slots=True)
class Unfold:
    """Enter shows a skill, or hides what it showed of it."""

    skill: int


@dataclass(frozen=True, slots=True)
class More:
    """Enter shows the rest of the description, or hides it."""


@dataclass(frozen=True, slots=True)
class See:
    """Enter goes to a place in the card as it was served."""

    pointer: str


Act: TypeAlias = Try | Unfold | More | See | None


@dataclass(frozen=True, slots=True)
class CardLine:
    """One line; `pointer` is the place in the served card that it is about."""

    pieces: Line
    act: Act = None
    pointer: str = ""


class Beside:
    """The findings of a card, to be shown beside the rows that they concern; each is given out once."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._by_member: dict[str, list[Finding]] = defaultdict(list)
        for finding in findings:
            self._by_member[_member(finding.pointer)].append(finding)

    def take(self, *members: str) -> list[Finding]:
        """Give out the findings within some members (`name`, `skills/3`), those that are left within others not."""
        return [finding for member in members for finding in self._by_member.pop(member, ())]

    def peek(self, member: str) -> Sequence[Finding]:
        """Return the findings within a member without giving them out."""
        return self._by_member.get(member, ())

    def rest(self) -> list[Finding]:
        """Give out all that were not asked for, those of skills aside, which are shown with their skill."""
        members = [member for member in self._by_member if not member.startswith("skills/")]
        return self.take(*members)


def _member(pointer: str) -> str:
    """Return the member of the card that a pointer leads into, with the number of an item where it is a list's."""
    steps = pointer.split("/")[1:3]
    return "/".join(steps) if len(steps) == 2 and steps[1].isdigit() else "".join(steps[:1])


class Writer:
    """Writes lines of a card for a width: labelled rows, running text, Markdown, findings."""

    def __init__(self, width: int, glyphs: Glyphs) -> None:
        self.width = max(_NARROWEST, width)
        self.glyphs = glyphs
        self.lines: list[CardLine] = []

    def add(self, *pieces: Piece, act: Act = None, pointer: str = "") -> None:
        """Write one line as it is."""
        self.lines.append(CardLine(pieces, act, pointer))

    def blank(self) -> None:
        """Leave a line free."""
        self.add(("", "card--text"))

    def text(
        self, label: str, text: str, style: str = "card--text", *, indent: int = LABEL, act: Act = None, at: str = ""
    ) -> None:
        """Write a text beside its label; the act is that of its first line."""
        head = (f"{label:<{indent}}"[: indent or None], "card--label")
        for number, line in enumerate(hang(Paragraph(head, text, style), min(self.width, _WIDEST + indent))):
            self.add(*line, act=act if number == 0 else None, pointer=at)

    def row(self, label: str, *pieces: Piece, at: str = "") -> None:
        """Write a row of several styles beside its label."""
        head = [(f"{label:<{LABEL}}", "card--label")]
        short = [(text[:LONGEST], style) for text, style in pieces]
        for line in wrap_pieces(short, self.width, first=head, rest=[(" " * LABEL, "card--label")]):
            self.add(*line, pointer=at)

    def markdown(self, text: str, *, indent: int = 0, at: str = "") -> None:
        """Write Markdown."""
        gap = (" " * indent, "card--text")
        for line in markdown_lines(text, min(self.width - indent, _WIDEST)):
            self.add(gap, *line, pointer=at)

    def findings(self, found: Sequence[Finding], label: str = "") -> None:
        """Write findings below the row that they concern, the worst first; enter goes to their place."""
        order = list(Severity)
        for finding in sorted(found, key=lambda one: order.index(one.severity))[:MOST_BESIDE]:
            title, style = rule_of(finding.rule).title, STYLES[finding.severity]
            sign = self.glyphs.severities[finding.severity]
            said = f"{sign} {finding.rule}  {title}: {finding.seen}"
            self.text(label, said, style, act=See(finding.pointer), at=finding.pointer)
            label = ""
        if len(found) > MOST_BESIDE:
            self.text("", f"and {len(found) - MOST_BESIDE:,} more here", "card--muted")


STYLES = {Severity.ERROR: "card--bad", Severity.WARNING: "card--warning", Severity.HINT: "card--muted"}
"""The style of a finding."""
