"""Several values at once: some that are offered, to be marked, and others to be typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from inspector.tui.render.content import plain
from inspector.tui.screens.dialog import Dialog
from inspector.tui.widgets.fields import ChoiceList, LineInput
from inspector.tui.widgets.footer import KeyFooter


class PickScreen(Dialog[tuple[str, ...]]):
    """Gives back the values that were marked or typed, in that order, None where it was left."""

    CSS_PATH = "form.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "done", "done", id="pick.done", tooltip="Take what is marked", priority=True),
        Binding("space", "mark", "mark", id="pick.mark", tooltip="Mark it, or not", show=False),
        Binding("escape", "leave", "close", id="pick.close", tooltip="Close it, and change nothing"),
    ]

    def __init__(self, title: str, offered: Sequence[str], chosen: Sequence[str]) -> None:
        super().__init__()
        self._title_text = title
        self._offered = list(offered)
        self._marked = {one for one in chosen if one in self._offered}
        self._others = [one for one in chosen if one not in self._offered]

    def compose(self) -> ComposeResult:
        """Make the title, the list, the line for others and the keys."""
        with Vertical(id="form"):
            yield Static(plain(self._title_text).stylize("bold $bar"), classes="pane-title")
            if self._offered:
                yield ChoiceList(*map(self._option, self._offered), enter_hint="mark", id="choices")
            with Horizontal(classes="row"):
                yield Static("others" if self._offered else "values", classes="label")
                yield LineInput(", ".join(self._others), enter_hint="done", placeholder="with commas between")
            yield KeyFooter()

    def _option(self, value: str) -> Option:
        return Option(plain(f"[{'x' if value in self._marked else ' '}] {value}", limit=300))

    def on_mount(self) -> None:
        """Take the keys."""
        self.query(OptionList if self._offered else Input).first().focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Mark a value, or not."""
        self._toggle(event.option_index)

    def action_mark(self) -> None:
        """Mark the value under the cursor, or not."""
        listed = self.query(ChoiceList)
        if listed and listed.first().highlighted is not None:
            self._toggle(listed.first().highlighted or 0)

    def _toggle(self, index: int) -> None:
        self._marked ^= {self._offered[index]}
        listed = self.query_one(ChoiceList)
        listed.replace_option_prompt_at_index(index, self._option(self._offered[index]).prompt)

    def on_input_submitted(self) -> None:
        """Take what is marked and typed."""
        self.action_done()

    def action_done(self) -> None:
        """Take what is marked and typed."""
        typed = [one.strip() for one in self.query_one(Input).value.split(",")]
        self.dismiss((*(one for one in self._offered if one in self._marked), *filter(None, typed)))
