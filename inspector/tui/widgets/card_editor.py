"""An editor for a copy of a card, with its findings beside the text."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input

from inspector.capture.private_files import reason
from inspector.lazy_dataclass import dataclass
from inspector.protocol.pointer import steps_of
from inspector.session.card.lint import CardText, lint_text, save_text
from inspector.text.typed_path import typed_path
from inspector.tui.keys import bind
from inspector.tui.render.content import plain, styled
from inspector.tui.render.finding_lines import FindingLines
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.json_nodes import NotJsonError, laid_out
from inspector.tui.render.key_hints import with_keys
from inspector.tui.widgets.cursor import CursorView
from inspector.tui.widgets.text_block import TextBlock
from inspector.tui.widgets.verbatim_area import VerbatimArea

_WORD = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*"?|[{}\[\],:]|[^\s{}\[\],:"]++', re.DOTALL)


@dataclass(slots=True)
class _Level:
    """An object or array around a token: the member or item that is being read, and its offset."""

    is_object: bool
    step: str = ""
    at: int = 0
    item: int = 0
    named: bool = False


def location_of(text: str, pointer: str) -> tuple[int, int]:
    """Return the row and column, from 0, of the value or the name at a pointer, or of its nearest ancestor.

    For the empty pointer it is the first syntax error.
    """
    at = _offset(text, steps_of(pointer)) if pointer else _first_error(text)
    before = text.count("\n", 0, at)
    return before, at - (text.rfind("\n", 0, at) + 1)


def _first_error(text: str) -> int:
    """Return the offset of the first syntax error, 0 if there is none."""
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:  # errors about long numbers and deep nesting have no position
        return getattr(error, "pos", 0)
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
            _advance(level, word, at)
            continue
        if level is not None and not level.is_object:
            level.step, level.at = str(level.item), at
        path = tuple(outer.step for outer in levels)
        if path == steps[: len(path)] and len(path) > depth:
            best, depth = levels[-1].at, len(path)
            if path == steps:
                return best
        if word in "{[":
            levels.append(_Level(word == "{"))
    return best


def _advance(level: _Level | None, word: str, at: int) -> None:
    """Advance in an object or array: to the next member or item, or past a name."""
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
"""The most bytes that can be edited; with many more, the text area needs seconds for every key."""

_PAUSE = 0.3
"""How long after the last key the text is checked, in seconds."""


class CardArea(VerbatimArea):
    """The text of a card."""


class FindingList(CursorView):
    """The findings about the text; enter goes to the text of a finding."""

    DEFAULT_CSS = """
    FindingList {
        overflow-x: hidden;
        & > .finding--error { color: $state-bad; }
        & > .finding--warning { color: $state-warning; }
        & > .finding--hint { color: $text-soft; }
    }
    """
    enter_hint = "go to the text"

    class Opened(Message):
        """The user wants to see the text of the finding under the cursor."""

    def _opened(self) -> None:
        self.post_message(self.Opened())


class CardEditor(Vertical):
    """The text, its findings, and the line for the path when it is saved."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("send", "save", "save", "Save the copy as a file", priority=True),
        bind("next-finding", "next_finding"),
        bind("back", "leave", "leave", "Go to the findings, then back to the card"),
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

    def __init__(self, glyphs: Glyphs, *, id: str) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._timer: Timer | None = None
        self._confirmed = ""
        self._next = 0
        self._verdict = Content("")
        self._status = TextBlock(id="edit-status")
        self._area = CardArea(id="edit-text", show_line_numbers=True, tab_behavior="indent", compact=True)
        self._findings = FindingList(id="edit-findings", empty="No findings.")
        self._path = Input(id="edit-path", placeholder="save as", compact=True)
        self._path.display = False  # until the user saves

    def compose(self) -> ComposeResult:
        """Make the status, the text, its findings and the line for the path."""
        yield self._status
        with Horizontal(id="edit-panes"):
            yield self._area
            yield self._findings
        yield self._path

    @property
    def text(self) -> str:
        """The text."""
        return self._area.text

    def open(self, raw: bytes, name: str) -> str:
        """Open a copy of a card; return a sentence if the card is too large, else `""`."""
        if len(raw) > LARGEST:
            return f"The card has {len(raw):,} bytes; at most {LARGEST:,} can be edited here. The raw card shows it."
        text = raw.decode(json.detect_encoding(raw), "replace")  # a copy is always UTF-8 without BOM
        if "\n" not in text.strip():  # a single line is hard to edit
            with suppress(NotJsonError):  # shown as it is, with its findings
                text = laid_out(raw)
        self._area.text = text
        self._path.value = name
        self._check(text)
        return ""

    def focus_text(self) -> None:
        """Focus the text."""
        self.screen.set_focus(self._area)

    # Checking

    def on_text_area_changed(self) -> None:
        """Check the text after a pause."""
        if self._timer is not None:
            self._timer.stop()
        if self.display:
            self._timer = self.set_timer(_PAUSE, lambda: self._check(self.text))

    @work(exclusive=True, group="check")
    async def _check(self, text: str) -> None:
        checked = await asyncio.to_thread(lint_text, text)
        if self.is_attached and text == self.text:
            self._show(checked)

    def _show(self, checked: CardText) -> None:
        lines = FindingLines(checked.findings, self._glyphs)
        self._findings.show(lines)
        self._next = 0
        version = f"A2A {checked.version} card" if checked.version else checked.problem
        self._verdict = Content.assemble(lines.verdict, "   ", plain(version).stylize("$text-soft"))
        if not self._path.display:
            self._status.update(self._verdict)

    def on_finding_list_opened(self) -> None:
        """Go to the text of the finding under the cursor."""
        listed = self._findings
        finding = listed.source.item(listed.cursor) if isinstance(listed.source, FindingLines) else None
        if finding is not None:
            self._area.move_cursor(location_of(self.text, finding.pointer), center=True)
            self.focus_text()

    def action_next_finding(self) -> None:
        """Go to the text of the next finding, after the last finding to that of the first."""
        lines = self._findings.source
        heads = lines.heads if isinstance(lines, FindingLines) else []
        if heads and not self._path.display:
            self._findings.cursor = heads[self._next % len(heads)]
            self._next += 1
            self.on_finding_list_opened()

    # Saving

    def action_save(self) -> None:
        """Ask for a path, or save the text at the path."""
        if self._path.display:
            self._save(self._path.value)
            return
        self._confirmed = ""
        self._path.display = True
        self.screen.set_focus(self._path)
        self._status.update(styled(with_keys("save as: {open} save, {back} back", "$text-soft")))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Save the text."""
        event.stop()
        self._save(event.value)

    def _save(self, name: str) -> None:
        try:
            path = typed_path(name)
            save_text(path, self.text, replace=name == self._confirmed)
        except FileExistsError:
            self._confirmed = name
            self._status.update(
                Content.assemble(plain(name), (" exists; press enter again to replace it", "$state-warning"))
            )
            return
        except (OSError, ValueError) as error:
            self._status.update(Content.assemble(("not saved: ", "$state-bad"), plain(f"{name}: {reason(error)}")))
            return
        self._path.display = False
        self.focus_text()
        saved = Content.assemble(("saved ", "$state-good"), plain(str(path)))
        self._status.update(
            Content.assemble(saved, ("   to serve it: ", "$text-soft"), plain(f"a2a-inspect mock --card {path}"))
        )

    def action_leave(self) -> None:
        """Go back: from the path to the text, from the text to its findings, from the findings to the card."""
        if self._path.display:
            self._path.display = False
            self._status.update(self._verdict)
            self.focus_text()
        elif self._area.has_focus:
            self.screen.set_focus(self._findings)
        else:
            self.post_message(self.Left())
