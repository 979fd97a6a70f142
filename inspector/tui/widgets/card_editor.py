"""A copy of a card being edited, with what is wrong with it beside the text."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input, Static

from inspector.capture.private_files import reason
from inspector.protocol.pointer import steps_of
from inspector.session.card.lint import CardText, lint_text, save_text
from inspector.tui.render.content import plain
from inspector.tui.render.finding_lines import FindingLines
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.json_lines import NotJsonError, laid_out
from inspector.tui.widgets.cursor import CursorView
from inspector.tui.widgets.verbatim_area import VerbatimArea

_WORD = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


@dataclass(slots=True)
class _Level:
    """An object or array around a word: the member or item that is being read, and where it begins."""

    is_object: bool
    step: str = ""
    at: int = 0
    item: int = 0
    named: bool = False


def place_of(text: str, pointer: str) -> tuple[int, int]:
    """Return the row and column, from 0, where the value of a pointer begins, or its name, or the nearest around it."""
    at = _offset(text, steps_of(pointer)) if pointer else _first_fault(text)
    before = text.count("\n", 0, at)
    return before, at - (text.rfind("\n", 0, at) + 1)


def _first_fault(text: str) -> int:
    """Return where a text ceases to be JSON, 0 where it is JSON."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.pos
    except (ValueError, RecursionError):  # numbers too long, levels too deep: no one place is to blame
        return 0
    return 0


def _offset(text: str, steps: tuple[str, ...]) -> int:
    levels: list[_Level] = []
    best, depth = 0, 0
    for found in _WORD.finditer(text):
        word, at = found[0], found.start()
        level = levels[-1] if levels else None
        if word in "}]":
            del levels[-1:]
            continue
        if word in ",:" or (level is not None and level.is_object and not level.named):
            _step_on(level, word, at)
            continue
        if level is not None and not level.is_object:
            level.step, level.at = str(level.item), at
        path = tuple(one.step for one in levels)
        if path == steps[: len(path)] and len(path) > depth:
            best, depth = levels[-1].at, len(path)
            if path == steps:
                return best
        if word in "{[":
            levels.append(_Level(word == "{"))
    return best


def _step_on(level: _Level | None, word: str, at: int) -> None:
    """Go on within an object or array: to the next member or item, or over a name."""
    if level is None:
        return
    if word == ",":
        level.named = False
        level.item += 1
    elif word != ":":
        level.step, level.at, level.named = _name(word), at, True


def _name(word: str) -> str:
    try:
        return str(json.loads(word))
    except ValueError:
        return word.strip('"')


LARGEST = 1_000_000
"""How many bytes can be edited; with many more, a text area takes seconds for every key."""

_PAUSE = 0.3
"""How long nothing is typed before the text is judged, in seconds."""


class CardArea(VerbatimArea):
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
        self._status = Static(id="edit-status")
        self._area = CardArea(id="edit-text", show_line_numbers=True, tab_behavior="indent", compact=True)
        self._findings = FindingList(id="edit-findings", empty="Nothing is wrong with it.")
        self._path = Input(id="edit-path", placeholder="save as", compact=True)
        self._path.display = False  # until it is asked for

    def compose(self) -> ComposeResult:
        """Make the status, the text, its findings and the line for the path."""
        yield self._status
        with Horizontal(id="edit-panes"):
            yield self._area
            yield self._findings
        yield self._path

    @property
    def text(self) -> str:
        """What is written."""
        return self._area.text

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
        self._area.text = text
        self._path.value = name
        self._judge(text)
        return ""

    def focus_text(self) -> None:
        """Give the keys to the text."""
        self.screen.set_focus(self._area)

    # Judging

    def on_text_area_changed(self) -> None:
        """Judge the text once nothing was typed for a moment."""
        if self._timer is not None:
            self._timer.stop()
        if self.display:
            self._timer = self.set_timer(_PAUSE, lambda: self._judge(self.text))

    @work(exclusive=True, group="judge")
    async def _judge(self, text: str) -> None:
        judged = await asyncio.to_thread(lint_text, text)
        if self.is_attached and text == self.text:
            self._show(judged)

    def _show(self, judged: CardText) -> None:
        lines = FindingLines(judged.findings, self._glyphs)
        self._findings.show(lines)
        self._next = 0
        shape = f"in the shape of {judged.generation}" if judged.generation else judged.problem
        self._verdict = Content.assemble(lines.verdict, "   ", plain(shape).stylize("$text-soft"))
        if not self._path.display:
            self._say(self._verdict)

    def _say(self, content: Content) -> None:
        self._status.update(content)

    def on_finding_list_opened(self) -> None:
        """Go to the place of the finding under the cursor."""
        self._go_to_finding()

    def _go_to_finding(self) -> None:
        listed = self._findings
        finding = listed.source.item(listed.cursor) if isinstance(listed.source, FindingLines) else None
        if finding is not None:
            self._area.move_cursor(place_of(self.text, finding.pointer), center=True)
            self.focus_text()

    def action_next_finding(self) -> None:
        """Go to the place of the next finding, round the end."""
        listed = self._findings
        heads = listed.source.heads if isinstance(listed.source, FindingLines) else []
        if heads and not self._path.display:
            listed.cursor = heads[self._next % len(heads)]
            self._next += 1
            self._go_to_finding()

    # Saving

    def action_save(self) -> None:
        """Ask where to save the text, or save it where that is said."""
        if self._path.display:
            self._save(self._path.value)
            return
        self._asked = ""
        self._path.display = True
        self.screen.set_focus(self._path)
        self._say(Content.styled("save as: enter saves, escape goes back", "$text-soft"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Save the text."""
        event.stop()
        self._save(event.value)

    def _save(self, name: str) -> None:
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
        self._path.display = False
        self.focus_text()
        saved = Content.assemble(("saved ", "$state-good"), plain(str(path)))
        self._say(Content.assemble(saved, ("   serve it: ", "$text-soft"), plain(f"a2a-inspect mock --card {path}")))

    def action_leave(self) -> None:
        """Go from the path to the text, from the text to its findings, from there back to the card."""
        if self._path.display:
            self._path.display = False
            self._say(self._verdict)
            self.focus_text()
        elif self._area.has_focus:
            self.screen.set_focus(self._findings)
        else:
            self.post_message(self.Left())
