"""The base class of dialogs, which are modal screens that return a result or None, and the command palette."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.await_remove import AwaitRemove
from textual.command import CommandList, CommandPalette
from textual.containers import Vertical
from textual.message_pump import MessagePump
from textual.screen import ModalScreen, Screen
from textual.widgets import Input

from inspector.tui.render.content import plain
from inspector.tui.widgets.fields import is_laid_out
from inspector.tui.widgets.footer import KeyFooter

Result = TypeVar("Result")


FITTED = "fitted"
"""The class of a widget that, with the footer, is all that a dialog contains."""
_AROUND = 4
"""Lines of a dialog for its border, the footer and the line above it."""


def bring_to_top(screen: Screen[Result]) -> bool:
    """Close the screens over a screen, so that it can be closed; return whether it is open at all.

    Textual's `dismiss` closes whatever is on top. A key that was pressed twice, or before the screen closed, would
    close the screen below it, too.
    """
    if screen not in screen.app.screen_stack:
        return False
    while screen.app.screen is not screen:
        screen.app.pop_screen()
    return True


class Palette(CommandPalette):
    """The command palette, without two errors of Textual: in a list that is not laid out, and while it is removed."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action is possible now."""
        if action == "command_list":
            return any(map(is_laid_out, self.query(CommandList)))
        return super().check_action(action, parameters)

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close the palette, unless it is closed already."""
        return super().dismiss(result) if bring_to_top(self) else AwaitComplete()

    @on(Input.Changed)
    def _prevent_late_search(self, event: Input.Changed) -> None:
        """Prevent that a search begins while the palette is removed: its list is removed before it."""
        if not self.query(CommandList):
            event.prevent_default()


class Dialog(ModalScreen[Result | None]):
    """A modal frame with a title in its border, the widgets of `body`, and the footer."""

    CSS_PATH = "dialogs.tcss"
    FRAME: ClassVar[str] = "dialog"
    """The id of the frame, for the style sheet."""

    def __init__(self, title: str = "") -> None:
        super().__init__()
        self.frame = Vertical(id=self.FRAME, classes="dialog")
        self.set_title(title)

    def compose(self) -> ComposeResult:
        """Make the frame."""
        with self.frame:
            yield from self.body()
            yield KeyFooter()

    def set_title(self, title: str, note: str = "") -> None:
        """Set the title and a note in the border of the frame."""
        self.frame.border_title = plain(title, limit=200)
        self.frame.border_subtitle = plain(note, limit=200)

    def body(self) -> ComposeResult:
        """Make the widgets below the title."""
        yield from ()

    @property
    def most_lines(self) -> int:
        """The most lines of `body`: the footer stays on the screen."""
        return max(1, self.size.height * 9 // 10 - _AROUND)

    def on_resize(self) -> None:
        """Give a long list the whole height of the frame, so that there are no blank rows and the footer is seen."""
        for fitted in self.query(f".{FITTED}"):
            fitted.styles.max_height = self.most_lines

    def remove(self) -> AwaitRemove:
        """Remove the dialog; its workers are cancelled before, because its widgets are removed first."""
        self.workers.cancel_node(self)
        return super().remove()

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close the dialog with a result, unless it is closed already."""
        return super().dismiss(result) if bring_to_top(self) else AwaitComplete()

    def action_leave(self) -> None:
        """Close the dialog without a result."""
        self.dismiss(None)


def ask(node: MessagePump, dialog: Screen[Result | None], use: Callable[[Result], object]) -> None:
    """Show a dialog or another screen, and call `use` with its result unless the user cancels."""

    def on_closed(result: Result | None) -> None:
        if result is not None:
            use(result)

    node.app.push_screen(dialog, on_closed)
