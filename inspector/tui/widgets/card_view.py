"""The card as readable text, as the served JSON, and compared with other cards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message

from inspector.findings.finding import Finding
from inspector.lazy_dataclass import dataclass
from inspector.protocol.difference import Change
from inspector.text.units import counted
from inspector.tui.keys import bind
from inspector.tui.notify import notify
from inspector.tui.render.card import CardLines
from inspector.tui.render.card_lines import Act, EnterCredentials, More, See, Try, Unfold, Verify
from inspector.tui.render.changes import ChangeLines, as_text
from inspector.tui.render.finding_lines import finding_note, findings_here
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.text_lines import Paragraph, Paragraphs
from inspector.tui.widgets.cursor import CursorView
from inspector.tui.widgets.fact_view import FactView
from inspector.tui.widgets.json_view import JsonView

_HINTS = {
    Try: "try the example",
    Unfold: "unfold or fold",
    More: "show more or less",
    See: "show in the JSON",
    Verify: "verify",
    EnterCredentials: "credentials",
}


class CardView(CursorView):
    """Draws the lines of a card; enter tries an example, unfolds a skill or shows a finding in the JSON."""

    DEFAULT_CSS = """
    CardView {
        overflow-x: hidden;
        & > .card--text { color: $foreground; }
        & > .card--muted { color: $text-soft; }
        & > .card--label { color: $wire-quiet; }
        & > .card--title { color: $foreground; text-style: bold; }
        & > .card--heading { color: $bar; text-style: bold; }
        & > .card--strong { color: $foreground; text-style: bold; }
        & > .card--emphasis { color: $foreground; text-style: italic; }
        & > .card--code { color: $json-string; }
        & > .card--link { color: $foreground; text-style: underline; }
        & > .card--example { color: $wire-sent; }
        & > .card--good { color: $state-good; }
        & > .card--warning { color: $state-warning; }
        & > .card--bad { color: $state-bad; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("right", "next_skill(1)", "", "Go to the next skill", show=False),
        bind("left", "next_skill(-1)", "", "Go to the previous skill", show=False),
        bind("write", "try_skill", "try", "Write the skill's example into the composer"),
    ]

    @dataclass
    class Tried(Message):
        """The user wants an example in the composer."""

        example: str

    class VerifyWanted(Message):
        """The user wants to fetch the keys and verify the signatures."""

    class CredentialsWanted(Message):
        """The user wants to enter credentials."""

    @dataclass
    class PlaceWanted(Message):
        """The user wants to see a place in the served card."""

        pointer: str

    @property
    def lines(self) -> CardLines | None:
        """The lines of the card, None without a card."""
        return self.source if isinstance(self.source, CardLines) else None

    @property
    def act(self) -> Act:
        """What enter does on the line under the cursor."""
        return self.lines.act(self.cursor) if self.lines else None

    @property
    def enter_hint(self) -> str:  # type: ignore[override]  # it depends on the line here
        """What enter does on the line under the cursor, in words; on most lines, it goes to the next example."""
        if self.act is not None:
            return _HINTS[type(self.act)]
        if self.lines is None or not self.lines.stops():
            return ""
        return "example" if self.lines.skills.first_example else "next skill"

    @property
    def pointer(self) -> str:
        """The JSON pointer into the served card for the line under the cursor."""
        return self.lines.pointer(self.cursor) if self.lines else ""

    @property
    def example(self) -> str:
        """The example under the cursor, else the first example of the skill, else `""`."""
        return self.lines.example(self.cursor) if self.lines else ""

    def renew(self) -> None:
        """Update the lines from new observations; the cursor stays on its item."""
        if self.lines:
            below = self.line_count - self.cursor
            in_skills = self.pointer.startswith("/skills")
            self.lines.renew()
            self.refresh_source()
            if in_skills and self.line_count - self.cursor != below:
                self.cursor = self.line_count - below

    @property
    def words(self) -> str:
        """The text of the present search."""
        return self.lines.words if self.lines else ""

    def find(self, words: str) -> str:
        """Show the skills that contain these words and return their number; show the whole card without words."""
        if not self.lines:
            return ""
        self.lines.search(words)
        self.refresh_source()
        self.cursor = next(iter(self.lines.skill_lines()), 0) if words.strip() else 0
        found = self.lines.skills.shown
        return counted(found, "skill") if words.strip() else ""

    def action_next_example(self, step: int) -> None:
        """Move the cursor to the next example or folded skill in a direction, or move the focus."""
        if not self._go(self.lines.stops() if self.lines else [], step):
            self.screen.focus_next() if step > 0 else self.screen.focus_previous()

    def action_next_skill(self, step: int) -> None:
        """Move the cursor to the next skill in a direction."""
        self._go(self.lines.skill_lines() if self.lines else [], step)

    def _go(self, places: list[int], step: int) -> bool:
        ahead = [line for line in places if (line - self.cursor) * step > 0]
        if ahead:
            self.cursor = min(ahead) if step > 0 else max(ahead)
        return bool(ahead)

    def action_try_skill(self) -> None:
        """Try the example of the skill under the cursor, or of the first skill with one."""
        example = self.example
        if not example and self.lines and not self.pointer.startswith("/skills/"):
            example = self.lines.skills.first_example
        if example:
            self.post_message(self.Tried(example))
        else:
            notify(self, "This skill has no example.", "warning")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the key of examples if no skill has one."""
        if action == "try_skill":
            return bool(self.lines and self.lines.skills.first_example)
        return super().check_action(action, parameters)

    def watch_cursor(self, before: int, cursor: int) -> None:
        """Update what the footer shows for enter."""
        super().watch_cursor(before, cursor)
        if self.lines and type(self.lines.act(before)) is not type(self.act):
            self.refresh_bindings()

    def _opened(self) -> None:
        match self.act:
            case Try(text):
                self.post_message(self.Tried(text))
            case See(pointer):
                self.post_message(self.PlaceWanted(pointer))
            case Unfold(skill) if self.lines:
                first, last = self.lines.toggle(skill)
                self.refresh_source()
                self._bring_into_view(last)
                self.cursor = first
                self._bring_into_view(first)
            case Verify():
                self.post_message(self.VerifyWanted())
            case EnterCredentials():
                self.post_message(self.CredentialsWanted())
            case More() if self.lines:
                self.lines.whole = not self.lines.whole
                self.lines.renew()
                self.refresh_source()
            case _:
                self.action_next_example(1)


_MOST_NOTED = 1000
"""The most findings that are marked in the JSON."""


class RawCard(Vertical):
    """Shows bytes as JSON, facts about them above, and the findings at the cursor below."""

    DEFAULT_CSS = """
    RawCard {
        & > FactView { height: auto; }
        & > .facts { border-bottom: solid $rule; }
        & > .here { border-top: solid $rule; }
        & > JsonView { height: 1fr; }
    }
    """

    def __init__(self, glyphs: Glyphs, *, id: str) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._facts: Sequence[Paragraph] = ()
        self._found: dict[str, list[Finding]] = {}

    def compose(self) -> ComposeResult:
        """Make the facts, the JSON and the findings."""
        yield FactView(classes="facts")
        yield JsonView(id="card-json", empty="No bytes.")
        yield FactView(classes="here")

    @property
    def json(self) -> JsonView:
        """The JSON."""
        return self.query_one(JsonView)

    def show(self, raw: bytes, facts: Sequence[Paragraph], findings: Sequence[Finding] = ()) -> None:
        """Show bytes, facts about them and their findings."""
        self._found = {}
        self.json.show_bytes(raw)
        for finding in findings[:_MOST_NOTED]:
            self._found.setdefault(self.json.nearest(finding.pointer), []).append(finding)
        self.json.note({pointer: finding_note(found, self._glyphs) for pointer, found in self._found.items()})
        self.show_facts(facts)
        self.on_json_view_highlighted()

    def show_facts(self, facts: Sequence[Paragraph]) -> None:
        """Show other facts about the same bytes."""
        self._facts = facts
        self._fill(".facts", facts)

    def on_json_view_highlighted(self) -> None:
        """Show the findings at the cursor."""
        self._fill(".here", findings_here(self._found.get(self.json.pointer, ()), self._glyphs))

    def on_resize(self) -> None:
        """Fit the texts to the new width."""
        self.show_facts(self._facts)
        self.on_json_view_highlighted()

    def _fill(self, part: str, paragraphs: Sequence[Paragraph]) -> None:
        view = self.query_one(part, FactView)
        lines = Paragraphs(paragraphs)
        lines.layout(self.content_size.width - 1, 0)
        view.display = bool(len(lines))
        view.styles.height = min(len(lines), max(2, self.size.height // 4)) + 1
        view.show(lines)


class ChangeView(CursorView):
    """Draws changes; enter shows the values of the change under the cursor in full."""

    DEFAULT_CSS = """
    ChangeView {
        overflow-x: hidden;
        & > .change--path { color: $foreground; text-style: bold; }
        & > .change--added { color: $state-good; }
        & > .change--removed { color: $state-bad; }
        & > .change--changed { color: $state-warning; }
    }
    """

    @property
    def enter_hint(self) -> str:  # type: ignore[override]  # it depends on the lines here
        """What enter does, `""` without changes."""
        return "show in full" if self.line_count else ""

    @property
    def _change(self) -> Change | None:
        return self.source.change(self.cursor) if isinstance(self.source, ChangeLines) else None

    @property
    def pointer(self) -> str:
        """The JSON pointer into the later card for the line under the cursor."""
        return self._change.pointer if self._change else ""

    @property
    def text(self) -> str:
        """The change under the cursor as text, `""` for none."""
        return as_text(self._change) if self._change else ""

    def _opened(self) -> None:
        if isinstance(self.source, ChangeLines):
            line = self.source.toggle(self.cursor)
            self.refresh_source()
            self.cursor = line
