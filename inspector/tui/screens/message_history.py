"""The dialog of sent messages and snippets: search for a message, edit it, send it again or remove it."""

from __future__ import annotations

import asyncio
import os
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import ClassVar

from rich.cells import cell_len
from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from inspector.capture.paths import state_folder
from inspector.capture.private_files import CaptureError, reason
from inspector.capture.secret_locations import is_secret_name
from inspector.lazy_dataclass import dataclass
from inspector.session.compose.draft import Draft
from inspector.session.compose.history import MessageHistory, SentMessage
from inspector.session.compose.snippets import SUFFIX, fill_variables, find, variables
from inspector.text.sanitise import clean_line
from inspector.tui.keys import bind, key_of
from inspector.tui.notify import notify
from inspector.tui.render.content import plain
from inspector.tui.render.drafts import excerpt
from inspector.tui.screens.dialog import Dialog, ask
from inspector.tui.screens.form import Field, FormScreen
from inspector.tui.undo import UndoStack
from inspector.tui.widgets.fields import ChoiceList, LineInput, ValueOption, value_of
from inspector.tui.widgets.text_block import TextBlock

_MAX_SHOWN = 200
_TITLE = "Sent messages and snippets"
_ABOVE = 3
"""Lines above the list: the search field, a blank line and the headings."""
_HEADINGS = ("TIME", "AGENT OR FILE", "MESSAGE")
_WHEN, _WHERE = 16, 24
"""The width of the time and the largest width of the agent or file, in cells."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of the list: `when` and `where` describe its origin; only snippets have a path and variables."""

    draft: Draft
    title: str
    when: str
    where: str
    path: Path | None = None
    sent: SentMessage | None = None

    def contains(self, words: list[str]) -> bool:
        """Return whether all words, in lower case, are in the entry."""
        text = f"{self.draft.label} {self.title} {self.where} {self.path or ''}".lower()
        return all(word in text for word in words)


class MessageHistoryScreen(Dialog[tuple[Draft, bool]]):
    """Returns the message that was chosen, and whether to send it at once."""

    FRAME = "message-history"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("send", "send", "send again", "Send the message again", priority=True),
        bind("down", "to_list", "list", "Go to the list"),
        bind("up", "to_list", "list", "Go to the list", show=False),
        bind("remove", "remove", "", "Remove the message from the list, or delete the snippet"),
        bind("undo", "undo"),
        bind("back", "leave", "close", "Close the list"),
    ]

    def __init__(self, history: MessageHistory, undo: UndoStack) -> None:
        super().__init__(_TITLE)
        self._history = history
        self._undo = undo
        self._entries: list[Entry] = []

    def body(self) -> ComposeResult:
        """Make the search field, the headings, the list and the line for problems."""
        hint = "Search by text, agent or file name"
        yield LineInput(enter_hint="edit", placeholder=hint, id="history-words")
        yield Static(id="history-headings")
        yield ChoiceList(enter_hint="edit", id="history-list")
        yield TextBlock(id="history-problem")

    def on_resize(self) -> None:
        """Limit the list, so that the footer is seen below it."""
        super().on_resize()
        self.query_one(ChoiceList).styles.max_height = max(3, self.most_lines - _ABOVE)

    def on_mount(self) -> None:
        """Start reading the list."""
        self.query_one(Input).focus()
        self._read()

    @work(exclusive=True)
    async def _read(self, at: int = 0) -> None:
        """Read the list, and go to the entry at an index."""
        snippets, problems = await asyncio.to_thread(find, (Path.cwd(), state_folder() / "snippets"))
        sent, problem = await asyncio.to_thread(self._history.load)
        self._entries = [
            Entry(item.draft, f"{item.title}: {item.draft.label}", "snippet", _place(item.path), item.path)
            for item in snippets
        ]
        self._entries += [
            Entry(item.draft, item.draft.label, _local_time(item.at), item.agent, sent=item) for item in sent
        ]
        notes = [*problems, *filter(None, [problem])]
        if not self._entries and not notes:
            notes = [f"There are no sent messages, and no snippets (*{SUFFIX}) in {Path.cwd()}."]
        self._note("\n".join(notes[:3]))
        self._show(self.query_one(Input).value, at)
        self._show_undo()

    def _note(self, text: str) -> None:
        line = self.query_one("#history-problem", TextBlock)
        line.display = bool(text)
        line.update(plain(text, newlines=True))

    def _show(self, words: str, at: int = 0) -> None:
        wanted = words.lower().split()
        shown = [entry for entry in self._entries if entry.contains(wanted)][:_MAX_SHOWN]
        listed = self.query_one(OptionList)
        listed.clear_options()
        width = min(_WHERE, max((cell_len(entry.where) for entry in shown), default=0))
        width = max(width, cell_len(_HEADINGS[1]))
        self.query_one("#history-headings", Static).update(_line(*_HEADINGS, width).stylize("$text-soft"))
        listed.add_options(ValueOption(_line(entry.when, entry.where, entry.title, width), entry) for entry in shown)
        if shown:
            listed.highlighted = min(at, len(shown) - 1)
        elif self._entries:
            listed.add_option(Option(plain("No message contains these words."), disabled=True))

    def _show_undo(self) -> None:
        self.set_title(_TITLE, f"Undo: {self._undo.name} ({key_of('undo')})" if self._undo.name else "")
        self.refresh_bindings()

    def _selected(self) -> Entry | None:
        return value_of(self.query_one(OptionList).highlighted_option, Entry)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search for what is typed."""
        self._show(event.value)

    def on_input_submitted(self) -> None:
        """Return the message under the cursor."""
        self._choose(self._selected(), at_once=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Return the message that was chosen."""
        self._choose(value_of(event.option, Entry), at_once=False)

    def action_send(self) -> None:
        """Return the message under the cursor, to be sent at once."""
        self._choose(self._selected(), at_once=True)

    def action_to_list(self) -> None:
        """Focus the list."""
        self.query_one(OptionList).focus()

    async def action_remove(self) -> None:
        """Remove the message under the cursor from the history, or delete the file of the snippet."""
        entry = self._selected()
        if entry is None:
            return
        try:
            if entry.sent is not None:
                await asyncio.to_thread(self._history.remove, entry.sent)
                self._undo.add(f"remove {excerpt(entry.title)}", partial(self._history.restore, entry.sent))
            elif entry.path is not None:
                content = await asyncio.to_thread(_delete, entry.path)
                self._undo.add(f"delete {entry.path.name}", partial(_restore_file, entry.path, content))
        except (OSError, CaptureError) as error:
            notify(self, f"Not removed: {_why(error)}.", "error")
        self._read(self.query_one(OptionList).highlighted or 0)

    def action_undo(self) -> None:
        """Undo the last removal."""
        try:
            self._undo.undo()
        except (OSError, CaptureError) as error:
            notify(self, f"Not restored: {_why(error)}.", "error")
        self._read(self.query_one(OptionList).highlighted or 0)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable removing without a selected message, and undo if there is nothing to undo."""
        if action == "to_list":
            return not self.query_one(OptionList).has_focus
        if action == "remove":
            return self._selected() is not None
        return bool(self._undo.name) if action == "undo" else super().check_action(action, parameters)

    def _choose(self, entry: Entry | None, *, at_once: bool) -> None:
        if entry is None:
            return
        draft = entry.draft.with_new_ids()
        names = variables(draft) if entry.path else ()
        if not names:
            self.dismiss((draft, at_once))
            return
        fields = [Field(name, name, value=os.environ.get(name, ""), secret=is_secret_name(name)) for name in names]

        def use(values: dict[str, str]) -> None:
            self._history.mask(value for name, value in values.items() if is_secret_name(name))
            self.dismiss((fill_variables(draft, values), at_once))

        ask(self, FormScreen("Variables of the snippet", fields), use)


def _line(when: str, where: str, title: str, width: int) -> Content:
    """Return a line of the list; its second column has a width."""
    where = clean_line(where, width)
    origin = f"{when:<{_WHEN}}  {where}{' ' * (width - cell_len(where))}  "
    return Content.assemble(Content.styled(origin, "$text-soft"), plain(title))


def _why(error: OSError | CaptureError) -> str:
    return str(error).removesuffix(".") if isinstance(error, CaptureError) else reason(error)


def _delete(path: Path) -> bytes:
    """Delete a file and return its content."""
    content = path.read_bytes()
    path.unlink()
    return content


def _restore_file(path: Path, content: bytes) -> None:
    with path.open("xb") as file:  # a new file of the same name is not replaced
        file.write(content)


def _place(path: Path | None) -> str:
    return "" if path is None else path.name if path.parent == Path.cwd() else str(path)


def _local_time(at: float) -> str:
    return f"{datetime.fromtimestamp(at).astimezone():%Y-%m-%d %H:%M}"
