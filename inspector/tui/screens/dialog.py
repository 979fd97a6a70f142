"""A base class for dialogs: modal screens that return a result, or None if the user cancels."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message_pump import MessagePump
from textual.screen import ModalScreen
from textual.widgets import Static

from inspector.tui.render.content import plain
from inspector.tui.widgets.footer import KeyFooter

Result = TypeVar("Result")


class Dialog(ModalScreen[Result | None]):
    """A modal frame with a title, the widgets of `body`, and the footer."""

    FRAME: ClassVar[str] = "dialog"
    """The id of the frame, for the style sheet."""

    def __init__(self, title: str = "") -> None:
        super().__init__()
        self.heading = Static(plain(title).stylize("bold $bar"), classes="pane-title")

    def compose(self) -> ComposeResult:
        """Make the frame."""
        with Vertical(id=self.FRAME):
            yield self.heading
            yield from self.body()
            yield KeyFooter()

    def body(self) -> ComposeResult:
        """Make the widgets below the title."""
        yield from ()

    def action_leave(self) -> None:
        """Close the dialog without a result."""
        self.dismiss(None)


def ask(node: MessagePump, dialog: Dialog[Result], use: Callable[[Result], object]) -> None:
    """Show a dialog, and call `use` with its result unless the user cancels."""

    def on_closed(result: Result | None) -> None:
        if result is not None:
            use(result)

    node.app.push_screen(dialog, on_closed)
