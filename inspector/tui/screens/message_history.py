"""The dialog of sent messages and snippets: search for a message, edit it or send it again."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from inspector.capture.paths import state_folder
from inspector.session.compose.draft import Draft
from inspector.session.compose.history import MessageHistory
from inspector.session.compose.snippets import SUFFIX, fill_variables, find, variables
from inspector.tui.keys import bind
from inspector.tui.render.content import plain
from inspector.tui.render.drafts import excerpt
from inspector.tui.screens.dialog import Dialog, ask
from inspector.tui.screens.form import Field, FormScreen
from inspector.tui.widgets.fields import ChoiceList, LineInput

_MAX_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of the list, with the text and the `words` to search; only snippets have variables."""

    draft: Draft
    title: str
    origin: str
    words: str
    is_snippet: bool = False

    def contains(self, words: list[str]) -> bool:
        """Return whether all words, in lower case, are in the entry."""
        text = f"{self.draft.label} {self.words}".lower()
        return all(word in text for word in words)


class MessageHistoryScreen(Dialog[tuple[Draft, bool]]):
    """Returns the message that was chosen, and whether to send it at once."""

    FRAME = "message-history"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("send", "send", "send again", "Send the message again", priority=True),
        bind("down", "to_list", "list", "Go to the list"),
        bind("up", "to_list", "list", "Go to the list", show=False),
        bind("back", "leave", "close", "Close the list"),
    ]

    def __init__(self, history: MessageHistory) -> None:
        super().__init__("Sent messages and snippets")
        self._history = history
        self._entries: list[Entry] = []
        self._shown: list[Entry] = []

    def body(self) -> ComposeResult:
        """Make the search field, the list and the line for problems."""
        hint = "search by text, agent or file name"
        yield LineInput(enter_hint="edit", placeholder=hint, id="history-words")
        yield ChoiceList(enter_hint="edit", id="history-list")
        yield Static(id="history-problem")

    def on_mount(self) -> None:
        """Start reading the list."""
        self.query_one(Input).focus()
        self._read()

    @work(exclusive=True)
    async def _read(self) -> None:
        snippets, problems = await asyncio.to_thread(find, (Path.cwd(), state_folder() / "snippets"))
        sent, problem = await asyncio.to_thread(self._history.load)
        self._entries = [
            Entry(item.draft, item.title, str(item.path or ""), f"{item.title} {item.path}", is_snippet=True)
            for item in snippets
        ]
        self._entries += [
            Entry(item.draft, item.draft.label, f"{_local_time(item.at)}  {item.agent}", item.agent) for item in sent
        ]
        notes = [*problems, *filter(None, [problem])]
        if not self._entries and not notes:
            notes = [f"There are no sent messages, and no snippets (*{SUFFIX}) in {Path.cwd()}."]
        self.query_one("#history-problem", Static).update(plain("\n".join(notes[:3]), newlines=True))
        self._show("")

    def _show(self, words: str) -> None:
        wanted = words.lower().split()
        self._shown = [entry for entry in self._entries if entry.contains(wanted)][:_MAX_SHOWN]
        listed = self.query_one(OptionList)
        listed.clear_options()
        listed.add_options(
            Option(Content.assemble(plain(excerpt(item.title)), ("   ", ""), plain(item.origin).stylize("$text-soft")))
            for item in self._shown
        )
        if self._shown:
            listed.highlighted = 0

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search for what is typed."""
        self._show(event.value)

    def on_input_submitted(self) -> None:
        """Return the message under the cursor."""
        self._choose(at_once=False)

    def on_option_list_option_selected(self) -> None:
        """Return the message that was chosen."""
        self._choose(at_once=False)

    def action_send(self) -> None:
        """Return the message under the cursor, to be sent at once."""
        self._choose(at_once=True)

    def action_to_list(self) -> None:
        """Focus the list."""
        self.query_one(OptionList).focus()

    def _choose(self, *, at_once: bool) -> None:
        index = self.query_one(OptionList).highlighted
        if index is None or index >= len(self._shown):
            return
        entry = self._shown[index]
        draft = entry.draft.with_new_ids()
        names = variables(draft) if entry.is_snippet else ()
        if not names:
            self.dismiss((draft, at_once))
            return
        fields = [Field(name, name, value=os.environ.get(name, "")) for name in names]
        form = FormScreen("Variables of the snippet", fields)
        ask(self, form, lambda values: self.dismiss((fill_variables(draft, values), at_once)))


def _local_time(at: float) -> str:
    return f"{datetime.fromtimestamp(at).astimezone():%Y-%m-%d %H:%M}"
