"""A copy of a card being edited, with what is wrong with it beside the text, as it stands."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static

from inspector.tui.render.content import plain
from inspector.tui.render.finding_lines import FindingLines
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.json_lines import NotJsonError, laid_out
from inspector.tui.render.json_position import place_of
from inspector.tui.widgets.cursor import CursorView
from inspector.tui.widgets.verbatim_area import ExactArea

if TYPE_CHECKING:
    from inspector.session.card.lint import CardText

LARGEST = 1_000_000
"""How many bytes can be edited; with many more, a text area takes seconds for every key."""

_PAUSE = 0.3
"""How long nothing is typed before the text is judged, in seconds."""


class CardArea(ExactArea):
    """The text of a card."""


class FindingList(CursorView):
    """What is wrong with the text; enter goes to the place."""

    DEFAULT_CSS = """
    FindingList {
        overflow-x: hidden;
        & > .finding--error { color: $state-bad; }
        & > .finding--warning { color: $state-warning; }
        & > .finding--hint { color: $text-soft; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"finding--error", "finding--warning", "finding--hint"}
    enter_hint = "go to the place"

    class Opened(Message):
        """The place of the finding under the cursor is to be seen."""

    def _opened(self) -> None:
        self.post_message(self.Opened())


class CardEditor(Vertical):
    """The text, its findings, and the line that asks where to save it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "save", id="edit.save", tooltip="Save the copy as a file", priority=True),
        Binding("ctrl+n", "next_finding", "next finding", id="edit.next", tooltip="To the place of the next finding"),
        Binding("escape", "leave", "leave", id="edit.leave", tooltip="Leave the text: to its findings, to the card"),
    ]

    DEFAULT_CSS = """
    CardEditor {
        & #edit-panes { height: 1fr; }
        & CardArea { width: 3fr; height: 1fr; border: none; padding: 0; background: $background; }
        & FindingList { width: 2fr; height: 1fr; border-left: solid $rule; padding: 0 0 0 1; }
        & #edit-status { height: auto; max-height: 3; }
    }
    """

    class Left(Message):
        """The user wants to go back to the card."""

    def __init__(self, glyphs: Glyphs, *, id: str) -> None:  # noqa: A002 - as every widget of Textual's calls it
        super().__init__(id=id)
        self._glyphs = glyphs
        self._timer: Timer | None = None
        self._asked = ""
        self._next = 0
        self._verdict = Content("")

    def compose(self) -> ComposeResult:
        """Make the status, the text, its findings and the line for the path."""
        yield Static(id="edit-status")
        with Horizontal(id="edit-panes"):
            yield CardArea(id="edit-text", show_line_numbers=True, tab_behavior="indent", compact=True)
            yield FindingList(id="edit-findings", empty="Nothing is wrong with it.")
        yield Input(id="edit-path", placeholder="save as", compact=True)

    def on_mount(self) -> None:
        """Ask for no path yet."""
        self._saving = False

    @property
    def _saving(self) -> bool:
        """Whether the path is being asked for."""
        return self.query_one(Input).display

    @_saving.setter
    def _saving(self, saving: bool) -> None:
        self.query_one(Input).display = saving

    @property
    def text(self) -> str:
        """What is written."""
        return self.query_one(CardArea).text

    @property
    def is_empty(self) -> bool:
        """Whether nothing was opened yet, or all of it was deleted."""
        return not self.text

    def open(self, raw: bytes, name: str) -> str:
        """Take up a copy of a card; returns a sentence where it is too large to be edited, else `""`."""
        if len(raw) > LARGEST:
            return f"A card of {len(raw):,} bytes is too large to be edited here ({LARGEST:,}); r shows it."
        text = raw.decode(json.detect_encoding(raw), "replace")  # a copy is in UTF-8 without a mark, whatever came
        if "\n" not in text.strip():  # nobody edits a card that is one line
            with suppress(NotJsonError):  # it is shown as it is then, and its findings say what is wrong
                text = laid_out(raw)
        self.query_one(CardArea).text = text
        self.query_one(Input).value = name
        self._judge(text)
        return ""

    def close(self) -> None:
        """Forget what is written."""
        self.query_one(CardArea).text = ""

    def focus_text(self) -> None:
        """Give the keys to the text."""
        self.screen.set_focus(self.query_one(CardArea))

    # Judging

    def on_text_area_changed(self) -> None:
        """Judge the text once nothing was typed for a moment."""
        if self._timer is not None:
            self._timer.stop()
        if self.display:
            self._timer = self.set_timer(_PAUSE, lambda: self._judge(self.text))

    @work(exclusive=True, group="judge")
    async def _judge(self, text: str) -> None:
        from inspector.session.card.lint import lint_text  # noqa: PLC0415 - loaded with the session, after first paint

        judged = await asyncio.to_thread(lint_text, text)
        if self.is_attached and text == self.text:
            self._show(judged)

    def _show(self, judged: CardText) -> None:
        lines = FindingLines(judged.findings, self._glyphs)
        self.query_one(FindingList).show(lines)
        self._next = 0
        shape = f"in the shape of {judged.generation}" if judged.generation else judged.problem
        self._verdict = Content.assemble(lines.verdict, "   ", plain(shape).stylize("$text-soft"))
        if not self._saving:
            self._say(self._verdict)

    def _say(self, content: Content) -> None:
        self.query_one("#edit-status", Static).update(content)

    def on_finding_list_opened(self) -> None:
        """Go to the place of the finding under the cursor."""
        self._go_to_finding()

    def _go_to_finding(self) -> None:
        listed = self.query_one(FindingList)
        finding = listed.source.finding(listed.cursor) if isinstance(listed.source, FindingLines) else None
        if finding is not None:
            area = self.query_one(CardArea)
            area.move_cursor(place_of(self.text, finding.pointer), center=True)
            self.focus_text()

    def action_next_finding(self) -> None:
        """Go to the place of the next finding, round the end."""
        listed = self.query_one(FindingList)
        heads = listed.source.heads if isinstance(listed.source, FindingLines) else []
        if heads and not self._saving:
            listed.cursor = heads[self._next % len(heads)]
            self._next += 1
            self._go_to_finding()

    # Saving

    def action_save(self) -> None:
        """Ask where to save the text, or save it where that is said."""
        field = self.query_one(Input)
        if self._saving:
            self._save(field.value)
            return
        self._asked = ""
        self._saving = True
        self.screen.set_focus(field)
        self._say(Content.styled("save as: enter saves, escape goes back", "$text-soft"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Save the text."""
        event.stop()
        self._save(event.value)

    def _save(self, name: str) -> None:
        from inspector.capture.private_files import reason  # noqa: PLC0415 - rarely needed
        from inspector.session.card.lint import save_text  # noqa: PLC0415 - loaded with the session, after first paint

        path = Path(name).expanduser()
        try:
            save_text(path, self.text, replace=name == self._asked)
        except FileExistsError:
            self._asked = name
            self._say(Content.assemble(plain(name), (" exists; enter again replaces it", "$state-warning")))
            return
        except (OSError, ValueError) as error:
            self._say(Content.assemble(("not saved: ", "$state-bad"), plain(f"{name}: {reason(error)}")))
            return
        self._saving = False
        self.focus_text()
        saved = Content.assemble(("saved ", "$state-good"), plain(str(path)))
        self._say(Content.assemble(saved, ("   serve it: ", "$text-soft"), plain(f"a2a-inspect mock --card {path}")))

    def action_leave(self) -> None:
        """Go from the path to the text, from the text to its findings, from there back to the card."""
        if self._saving:
            self._saving = False
            self._say(self._verdict)
            self.focus_text()
        elif self.query_one(CardArea).has_focus:
            self.screen.set_focus(self.query_one(FindingList))
        else:
            self.post_message(self.Left())
