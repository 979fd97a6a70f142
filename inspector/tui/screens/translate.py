"""The lens: what a record carries, as it came and as it would stand in another generation, side by side."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from inspector.session.replay.translate import Translation
from inspector.tui.notify import copy
from inspector.tui.render.content import plain
from inspector.tui.screens.dialog import Dialog
from inspector.tui.widgets.footer import KeyFooter
from inspector.tui.widgets.json_view import JsonView


class TranslateScreen(Dialog[None]):
    """Shows one object in two dialects; a key goes through the others."""

    CSS_PATH = "translate.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "turn(1)", "next generation", id="lens.next", tooltip="Show it in the next generation"),
        Binding("X", "turn(-1)", "the one before", id="lens.previous", tooltip="Show it in the generation before"),
        Binding("y", "copy", "copy", id="lens.copy", tooltip="Copy the value under the cursor"),
        Binding("escape,q", "leave", "close", id="lens.close", tooltip="Close the lens"),
    ]

    def __init__(self, spellings: list[Translation]) -> None:
        super().__init__()
        self._spellings = spellings
        self._shown = 1

    def compose(self) -> ComposeResult:
        """Make the two sides and the keys."""
        with Vertical(id="lens"):
            with Horizontal():
                with Vertical():
                    yield Static(id="left-title", classes="pane-title")
                    yield JsonView(id="left")
                with Vertical(id="right-side"):
                    yield Static(id="right-title", classes="pane-title")
                    yield JsonView(id="right")
            yield Static(id="losses")
            yield KeyFooter()

    def on_mount(self) -> None:
        """Show the object as it came, and beside it the first other spelling."""
        came = self._spellings[0]
        self.query_one("#left-title", Static).update(
            Content.assemble((f"AS IT CAME  {came.name}", "bold"), ("   members that we know", "$text-soft"))
        )
        self.query_one("#left", JsonView).show_value(came.value)
        self._show()
        self.query_one("#right").focus()

    def action_turn(self, step: int) -> None:
        """Show the next spelling in a direction."""
        others = len(self._spellings) - 1
        self._shown = (self._shown - 1 + step) % others + 1
        self._show()

    def _show(self) -> None:
        spelling = self._spellings[self._shown]
        self.query_one("#right-title", Static).update(Content.styled(f"IN {spelling.name}", "bold"))
        self.query_one("#right", JsonView).show_value(spelling.value)
        losses = self.query_one("#losses", Static)
        if not spelling.losses:
            losses.update(Content.styled("Nothing is lost.", "$state-good"))
        elif "" in spelling.losses:
            losses.update(Content.styled("This generation has nothing of the kind.", "$state-bad"))
        else:
            losses.update(Content.assemble(("lost there   ", "$state-warning"), plain("   ".join(spelling.losses))))

    def action_copy(self) -> None:
        """Copy the value under the cursor of the side that has the focus."""
        focused = self.focused if isinstance(self.focused, JsonView) else self.query_one("#right", JsonView)
        copy(self, focused.value)
