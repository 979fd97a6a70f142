"""The translate dialog: an object as received and in another protocol version, side by side."""

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
    """Shows an object in two protocol versions; a key shows the next version."""

    CSS_PATH = "translate.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "translate(1)", "next version", id="translate.next", tooltip="Show the next protocol version"),
        Binding(
            "X",
            "translate(-1)",
            "previous version",
            id="translate.previous",
            tooltip="Show the previous protocol version",
        ),
        Binding("y", "copy", "copy", id="translate.copy", tooltip="Copy the value under the cursor"),
        Binding("escape,q", "leave", "close", id="translate.close", tooltip="Close the translation"),
    ]

    def __init__(self, translations: list[Translation]) -> None:
        super().__init__()
        self._translations = translations
        self._shown = 1

    def compose(self) -> ComposeResult:
        """Make the two sides and the footer."""
        with Vertical(id="translate"):
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
        """Show the object as it was received, and beside it the first translation."""
        received = self._translations[0]
        self.query_one("#left-title", Static).update(
            Content.assemble((f"RECEIVED  {received.name}", "bold"), ("   known members only", "$text-soft"))
        )
        self.query_one("#left", JsonView).show_value(received.value)
        self._show()
        self.query_one("#right").focus()

    def action_translate(self, step: int) -> None:
        """Show the next (1) or the previous (-1) translation."""
        others = len(self._translations) - 1
        self._shown = (self._shown - 1 + step) % others + 1
        self._show()

    def _show(self) -> None:
        translation = self._translations[self._shown]
        self.query_one("#right-title", Static).update(Content.styled(f"TRANSLATED  {translation.name}", "bold"))
        self.query_one("#right", JsonView).show_value(translation.value)
        losses = self.query_one("#losses", Static)
        if not translation.losses:
            losses.update(Content.styled("No members are lost.", "$state-good"))
        elif "" in translation.losses:
            losses.update(Content.styled("This object does not exist in this protocol version.", "$state-bad"))
        else:
            losses.update(
                Content.assemble(("lost members   ", "$state-warning"), plain("   ".join(translation.losses)))
            )

    def action_copy(self) -> None:
        """Copy the value under the cursor of the side that has the focus."""
        focused = self.focused if isinstance(self.focused, JsonView) else self.query_one("#right", JsonView)
        copy(self, focused.value)
