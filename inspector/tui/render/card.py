"""A card as lines: who is this, how do I talk to it, what do I need to get in, what can it do, is it sound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector.findings.finding import Severity
from inspector.findings.rules import RULES
from inspector.text.sanitise import clean
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.paragraphs import Paragraph, hang
from inspector.tui.render.source import Line, Piece

if TYPE_CHECKING:  # a session is loaded after the first paint
    from inspector.protocol.card import AgentCard, AgentSkill
    from inspector.session.connection import Connection

LABEL = 14
"""The width of the column of labels."""


@dataclass(frozen=True, slots=True)
class CardLine:
    """One line, and the message that enter writes there, `""` on a line that is only to be read."""

    pieces: Line
    example: str = ""


class CardLines:
    """The lines of a card, laid out for a width; a `LineSource`."""

    def __init__(self, connection: Connection, glyphs: Glyphs) -> None:
        self._connection = connection
        self._glyphs = glyphs
        self._lines: list[CardLine] = []
        self._width = 0

    def __len__(self) -> int:
        return len(self._lines)

    def layout(self, width: int, keep: int) -> int:
        """Fit the lines to a width; `keep` stays where it is, as near as the new width allows."""
        if width != self._width:
            self._width = width
            self._lines = _Layout(self._connection, self._glyphs, width).lines()
        return min(keep, max(0, len(self._lines) - 1))

    def line(self, index: int) -> Line:
        """Return one line."""
        return self._lines[index].pieces

    def example(self, index: int) -> str:
        """Return the message that the line offers, `""` where it offers none."""
        return self._lines[index].example if 0 <= index < len(self._lines) else ""

    def examples(self) -> list[int]:
        """Return the lines that offer a message."""
        return [number for number, line in enumerate(self._lines) if line.example]


class _Layout:
    def __init__(self, connection: Connection, glyphs: Glyphs, width: int) -> None:
        self._connection = connection
        self._glyphs = glyphs
        self._width = max(LABEL + 12, width)
        self._lines: list[CardLine] = []

    def lines(self) -> list[CardLine]:
        from inspector.protocol.security import requirements_in_words  # noqa: PLC0415 - loaded with the session

        card = self._connection.card
        self._title(card)
        if card.description:
            self._blank()
            self._text("", card.description, "card--text", indent=0)
        self._blank()
        self._interfaces(card)
        self._text("get in", requirements_in_words(card), "card--text")
        self._capabilities(card)
        self._text("accepts", ", ".join(card.default_input_modes) or "not said", "card--text")
        self._text("gives", ", ".join(card.default_output_modes) or "not said", "card--text")
        if card.documentation_url:
            self._text("documentation", card.documentation_url, "card--text")
        self._text("signed by", self._signatures(card), "card--muted")
        self._origin()
        self._findings()
        self._skills(card)
        return self._lines

    def _add(self, *pieces: Piece, example: str = "") -> None:
        self._lines.append(CardLine(pieces, example))

    def _blank(self) -> None:
        self._add(("", "card--text"))

    def _text(self, label: str, text: str, style: str, *, indent: int = LABEL, example: str = "") -> None:
        """Add a labelled text, wrapped beside its label."""
        paragraph = Paragraph((f"{label:<{indent}}"[: indent or None], "card--label"), text, style)
        for number, line in enumerate(hang(paragraph, self._width)):
            self._add(*line, example=example if number == 0 else "")

    def _title(self, card: AgentCard) -> None:
        version = f"  {clean(card.version, limit=30)}" if card.version else ""
        provider = f"   by {clean(card.provider.organization, limit=60)}" if card.provider else ""
        verdict, style = self._verdict()
        name = clean(card.name, limit=120) or "an agent without a name"
        used = len(name) + len(version) + len(provider)
        gap = " " * max(3, self._width - used - len(verdict))
        self._add((name, "card--title"), (version + provider, "card--muted"), (gap, "card--text"), (verdict, style))

    def _verdict(self) -> tuple[str, str]:
        findings = self._connection.findings
        errors = sum(finding.severity is Severity.ERROR for finding in findings)
        if errors:
            return f"{self._glyphs.cross} {errors} error{'s' * (errors > 1)}", "card--bad"
        if findings:
            return f"{len(findings)} warning{'s' * (len(findings) > 1)}", "card--warning"
        return f"{self._glyphs.check} sound", "card--good"

    def _interfaces(self, card: AgentCard) -> None:
        from inspector.protocol.selection import options  # noqa: PLC0415 - loaded with the session

        choice = self._connection.choice
        judged = options(card)
        if not judged:
            self._text("talk to it", "the card declares no interface", "card--bad")
        for number, option in enumerate(judged):
            interface = option.interface
            used = choice is not None and interface is choice.interface
            what = clean(f"{interface.protocol_version or '?'} · {interface.protocol_binding or '?'}", limit=40)
            tenant = f"  tenant {clean(interface.tenant, limit=40)}" if interface.tenant else ""
            reason = (f"in use, {choice.reason}" if choice else "") if used else "" if option.usable else option.reason
            style = "card--good" if used else "card--text" if option.usable else "card--muted"
            self._add(
                (f"{'talk to it' if number == 0 else '':<{LABEL}}", "card--label"),
                (f"{what:<16} ", style),
                (clean(interface.url, limit=200) + tenant, style),
                (f"   {clean(reason, limit=120)}" if reason else "", "card--muted"),
            )

    def _capabilities(self, card: AgentCard) -> None:
        can = card.capabilities
        pieces: list[Piece] = [(f"{'can':<{LABEL}}", "card--label")]
        for name, declared in (
            ("streaming", can.streaming),
            ("push notifications", can.push_notifications),
            ("extended card", can.extended_agent_card),
        ):
            mark = self._glyphs.check if declared else self._glyphs.cross if declared is False else self._glyphs.quiet
            pieces.append((f"{mark} {name}   ", "card--good" if declared else "card--muted"))
        self._add(*pieces)
        for number, extension in enumerate(can.extensions or ()):
            need = "  required" if extension.required else ""
            said = f"{extension.uri}{need}  {extension.description or ''}"
            self._text("extensions" if number == 0 else "", said, "card--text")

    def _signatures(self, card: AgentCard) -> str:
        count = len(card.signatures or ())
        return f"{count} signature{'s' * (count > 1)}, not verified yet" if count else "nobody"

    def _origin(self) -> None:
        connection = self._connection
        tries = len(connection.tries)
        after = f" at the {tries}. try" if tries > 1 else ""
        shape = connection.found.dialect.generation
        where = connection.url or connection.reference
        self._text("found at", f"{where}{after}, in the shape of {shape}", "card--muted")

    def _findings(self) -> None:
        for number, finding in enumerate(self._connection.findings):
            label = "findings" if number == 0 else ""
            style = "card--bad" if finding.severity is Severity.ERROR else "card--warning"
            mark = self._glyphs.severities[finding.severity]
            title = RULES[finding.rule].title
            where = f" at {finding.pointer}" if finding.pointer else ""
            self._text(label, f"{mark} {finding.rule}  {title}: {finding.seen}{where}", style)

    def _skills(self, card: AgentCard) -> None:
        if not card.skills:
            self._text("skills", "none declared", "card--muted")
            return
        self._blank()
        self._add(("SKILLS", "card--heading"), ("   enter tries an example", "card--muted"))
        for skill in card.skills:
            self._skill(skill)

    def _skill(self, skill: AgentSkill) -> None:
        self._blank()
        name = clean(skill.name or skill.id, limit=LABEL * 3)
        tags = clean("  ".join(f"#{tag}" for tag in skill.tags), limit=80)
        self._add((f"{name:<{LABEL - 2}}  ", "card--title"), (tags, "card--muted"))
        if skill.description:
            self._text("", skill.description, "card--text")
        for example in skill.examples or ():
            self._text("", f"{self._glyphs.folded} {example}", "card--example", example=example)
