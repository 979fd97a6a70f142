"""An agent card as lines: identity, findings, interfaces, authentication, capabilities and skills."""

from __future__ import annotations

from enum import Enum

from inspector.session.authentication import Authentication
from inspector.session.card.observed import ObservedBehaviour
from inspector.session.connection import Connection
from inspector.tui.render.card_facts import CardFacts, Signed
from inspector.tui.render.card_lines import (
    Act,
    CardLine,
    FindingsByMember,
    Try,
    Writer,
)
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.skills import SkillLines
from inspector.tui.render.text_lines import Line


class Part(Enum):
    """What of a card is shown: everything, or on a wide screen one of two parts."""

    ALL = "all"
    FACTS = "facts"
    SKILLS = "skills"


class CardLines:
    """The lines of a card, laid out for a width; a `LineSource`. A search shows only the skills that match."""

    def __init__(
        self, connection: Connection, observed: ObservedBehaviour, glyphs: Glyphs, part: Part = Part.ALL
    ) -> None:
        self.part = part
        self._connection = connection
        self._observed = observed
        self._glyphs = glyphs
        self._head: list[CardLine] = []
        self._width = 0
        self.words = ""
        self.signed = Signed()
        self._authentication = Authentication()
        self.whole = False
        """Whether a long description is shown in full."""
        self.skills = SkillLines(connection.card, FindingsByMember(connection.findings), glyphs)

    def __len__(self) -> int:
        return len(self._head) + (len(self.skills) if self.part is not Part.FACTS else 0)

    def layout(self, width: int, keep: int) -> int:
        """Fit the lines to a width; return the line number `keep`, or the last line if there are fewer lines."""
        if width != self._width:
            self._width = width
            self.skills.layout(width)
            self.renew()
        return min(keep, max(0, len(self) - 1))

    def renew(self) -> None:
        """Lay out the lines above the skills again."""
        writer = Writer(self._width, self._glyphs)
        head = CardFacts(self._connection, self._observed, self.signed, writer, self._authentication, whole=self.whole)
        searching = bool(self.words)
        if self.part is not Part.SKILLS and not searching:
            head.write_facts()
        if self.part is Part.ALL and not searching:
            writer.blank()
        if self.part is not Part.FACTS:
            head.write_heading(searching=searching, found=self.skills.shown, apart=self.part is Part.SKILLS)
        self._head = writer.lines

    def authenticate(self, authentication: Authentication) -> None:
        """Compare the security requirements with these credentials; `renew` lays out the lines."""
        self._authentication = authentication
        self.skills.authenticate(authentication)

    def search(self, words: str) -> None:
        """Show the skills with all of these words, or without words the whole card."""
        self.words = words.strip()
        self.skills.search(self.words)
        self.renew()

    def line(self, index: int) -> Line:
        """Return one line."""
        return self.card_line(index).pieces

    def card_line(self, index: int) -> CardLine:
        """Return one line with its action."""
        head = len(self._head)
        return self._head[index] if index < head else self.skills.line(index - head)

    def act(self, index: int) -> Act:
        """Return the action of the enter key on a line."""
        return self.card_line(index).act if 0 <= index < len(self) else None

    def pointer(self, index: int) -> str:
        """Return the place in the served card that a line shows."""
        return self.card_line(index).pointer if 0 <= index < len(self) else ""

    def example(self, index: int) -> str:
        """Return the example message on a line, else the first example of its skill."""
        act = self.act(index)
        if isinstance(act, Try):
            return act.text
        at = index - len(self._head)
        return self.skills.example(self.skills.skill(at)) if 0 <= at < len(self.skills) else ""

    def stops(self) -> list[int]:
        """Return the lines with an action: examples, and folded skills."""
        return [len(self._head) + at for at in self.skills.stops() if self.part is not Part.FACTS]

    def skill_lines(self) -> list[int]:
        """Return the lines where skills begin."""
        return [len(self._head) + at for at in self.skills.heads() if self.part is not Part.FACTS]

    def toggle(self, skill: int) -> tuple[int, int]:
        """Unfold or fold a skill; return its first line and its last."""
        first, last = self.skills.toggle(skill)
        return len(self._head) + first, len(self._head) + last
