"""The skills of a card as lines, folded or unfolded; only visible skills are laid out."""

from __future__ import annotations

from rich.cells import cell_len

from inspector.protocol.card import AgentCard, AgentSkill
from inspector.session.authentication import Authentication
from inspector.text.sanitise import clean_line
from inspector.tui.render.card_lines import STYLES, CardLine, FindingsByMember, Try, Unfold, Writer
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.markdown import in_one_line
from inspector.tui.render.text_lines import Piece, wrap_pieces

FEW = 12
"""Up to this number, skills are shown unfolded."""
_INDENT = 4
_NARROWEST_NAME = 12
_WIDEST_NAME = 32
_MOST_EXAMPLES = 50
_MOST_ALTERNATIVES = 10
_LONGEST = 1000
"""The most characters of the description of a folded skill."""
_MOST_WRAPPED = 200
"""Up to this number of skills, the descriptions of folded skills are wrapped instead of cut."""


class SkillLines:
    """The skills that match a search, each folded to a line or unfolded."""

    def __init__(self, card: AgentCard, findings: FindingsByMember, glyphs: Glyphs) -> None:
        self._card = card
        self._findings = findings
        self._glyphs = glyphs
        self._texts: list[str] = []
        self._unfolded = set(range(len(card.skills))) if len(card.skills) <= FEW else set()
        self._shown = list(range(len(card.skills)))
        longest = max((cell_len(_name(skill, _WIDEST_NAME)) for skill in card.skills), default=0)
        self._name = max(_NARROWEST_NAME, longest)
        self._rows: list[tuple[int, int]] = []
        self._details: dict[int, list[CardLine]] = {}
        self._heads: dict[int, list[CardLine]] = {}
        self._width = 0
        self._authentication = Authentication()

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def shown(self) -> int:
        """Return the number of skills that match."""
        return len(self._shown)

    def layout(self, width: int) -> None:
        """Fit the lines to a width."""
        if width != self._width:
            self._width = width
            self._details.clear()
            self._heads.clear()
            self._place()

    def authenticate(self, authentication: Authentication) -> None:
        """Compare the requirements of the skills with these credentials."""
        self._authentication = authentication
        self._details.clear()
        if self._width:
            self._place()

    def search(self, words: str) -> None:
        """Show the skills with all of these words in their id, name, description, tags or examples."""
        wanted = words.casefold().split()
        if wanted and not self._texts:
            self._texts = [_text(skill) for skill in self._card.skills]
        numbers = range(len(self._card.skills))
        self._shown = [number for number in numbers if all(word in self._texts[number] for word in wanted)]
        self._place()

    def toggle(self, skill: int) -> tuple[int, int]:
        """Unfold or fold a skill; return its first line and its last."""
        self._unfolded ^= {skill}
        self._heads.pop(skill, None)
        self._place()
        first = self._rows.index((skill, 0))
        return first, first + self._count(skill) - 1

    def line(self, index: int) -> CardLine:
        """Return one line."""
        skill, row = self._rows[index]
        heads = self._head(skill)
        return heads[row] if row < len(heads) else self._all_of(skill)[row - len(heads)]

    def skill(self, index: int) -> int:
        """Return the index of the skill that a line belongs to."""
        return self._rows[index][0]

    def heads(self) -> list[int]:
        """Return the lines where skills begin."""
        return [at for at, (_, row) in enumerate(self._rows) if row == 0]

    def stops(self) -> list[int]:
        """Return the lines that are examples, and the skills that are folded."""
        return [
            at
            for at, (skill, row) in enumerate(self._rows)
            if (skill in self._unfolded and isinstance(self.line(at).act, Try) if row else skill not in self._unfolded)
        ]

    def _place(self) -> None:
        self._rows = [(skill, row) for skill in self._shown for row in range(self._count(skill))]

    def _count(self, skill: int) -> int:
        """Return how many lines a skill has."""
        heads = len(self._head(skill)) if len(self._card.skills) <= _MOST_WRAPPED else 1
        return heads + (len(self._all_of(skill)) if skill in self._unfolded else 0)

    def _head(self, number: int) -> list[CardLine]:
        """Return the name of a skill, if it is folded with its description."""
        if number not in self._heads:
            self._heads[number] = self._write_head(number)
        return self._heads[number]

    def _write_head(self, number: int) -> list[CardLine]:
        skill = self._card.skills[number]
        found = self._findings.peek(f"skills/{number}")
        worst = min((finding.severity for finding in found), key=list(STYLES).index, default=None)
        mark = self._glyphs.severities[worst] if worst else " "
        unfolded = number in self._unfolded
        fold = self._glyphs.open if unfolded else self._glyphs.folded
        column = min(self._name, max(_NARROWEST_NAME, self._width // 3))
        name = _name(skill, self._width if unfolded else column)
        gap = " " * (0 if unfolded else column - cell_len(name))
        first: list[Piece] = [
            (f"{fold} ", "card--label"),
            (name + gap, "card--title"),
            (f" {mark} " if found or not unfolded else "", STYLES[worst] if worst else "card--text"),
        ]
        at = f"/skills/{number}"
        if unfolded:
            tags = "".join(f"  #{tag}" for tag in skill.tags[:20])
            return [CardLine([*first, (tags, "card--muted")], Unfold(number), at)]
        room = self._width - column - _INDENT - 1
        text = in_one_line(skill.description, _LONGEST)
        if len(self._card.skills) > _MOST_WRAPPED:
            return [CardLine([*first, (clean_line(text, room), "card--muted")], Unfold(number), at)]
        rest: list[Piece] = [(" " * (column + _INDENT + 1), "card--text")]
        lines = wrap_pieces([(text, "card--muted")], self._width, first=first, rest=rest)
        return [CardLine(line, Unfold(number), at) for line in lines]

    def _all_of(self, number: int) -> list[CardLine]:
        if number not in self._details:
            self._details[number] = self._write(number, self._card.skills[number])
        return self._details[number]

    def _write(self, number: int, skill: AgentSkill) -> list[CardLine]:
        writer = Writer(self._width, self._glyphs)
        at = f"/skills/{number}"
        if skill.description:
            writer.markdown(skill.description, indent=_INDENT, at=f"{at}/description")
        facts = [f"id {skill.id}"] if skill.id and skill.id != skill.name else []
        facts += [f"input modes {', '.join(skill.input_modes)}"] if skill.input_modes else []
        facts += [f"output modes {', '.join(skill.output_modes)}"] if skill.output_modes else []
        if facts:
            writer.text("", "   ".join(facts), "card--label", indent=_INDENT, at=at)
        self._write_requirements(writer, skill, f"{at}/securityRequirements")
        for example in (skill.examples or ())[:_MOST_EXAMPLES]:
            text = f"{self._glyphs.sent} {example}"
            writer.text("", text, "card--example", indent=_INDENT, act=Try(example), at=f"{at}/examples")
        writer.findings(self._findings.peek(f"skills/{number}"))
        writer.blank()
        return writer.lines

    def _write_requirements(self, writer: Writer, skill: AgentSkill, at: str) -> None:
        """Write the requirements of a skill that has its own, and whether there are credentials for them."""
        required = self._authentication.alternatives(self._card, skill) if skill.security_requirements else []
        for number, alternative in enumerate(required[:_MOST_ALTERNATIVES]):
            label = " " * _INDENT + ("or " if number else "requires ")
            writer.alternative(label, alternative, indent=len(label), at=at)
        if len(required) > _MOST_ALTERNATIVES:
            more = f"and {len(required) - _MOST_ALTERNATIVES:,} more alternatives"
            writer.text("", more, "card--muted", indent=_INDENT, at=at)

    @property
    def first_example(self) -> str:
        """Return the first example of the skills that match, `""` without one."""
        return next(filter(None, map(self.example, self._shown)), "")

    def example(self, skill: int) -> str:
        """Return the first example of a skill, `""` without one."""
        return next(iter(self._card.skills[skill].examples or ()), "")


def _name(skill: AgentSkill, width: int) -> str:
    return clean_line(skill.name or skill.id or "(no name)", width)


def _text(skill: AgentSkill) -> str:
    parts = (skill.id, skill.name, skill.description, *skill.tags, *(skill.examples or ()))
    return "\n".join(parts).casefold()
