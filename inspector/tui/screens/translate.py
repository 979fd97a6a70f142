"""The translate dialog: an object as received and in another protocol version, side by side."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from inspector.session.replay.translate import Translation
from inspector.tui.keys import bind
from inspector.tui.notify import copy
from inspector.tui.render.content import plain
from inspector.tui.screens.dialog import Dialog
from inspector.tui.widgets.json_view import JsonView
from inspector.tui.widgets.text_block import TextBlock


class TranslateScreen(Dialog[None]):
    """Shows an object in two protocol versions; a key shows the next version."""

    FRAME = "translate"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("representation", "translate", "next version", "Show the next protocol version"),
        bind("copy", "copy", "", "Copy the value under the cursor"),
        bind("open", "continue", "continue", "Continue the tour", priority=True),
        bind("back", "leave", "close", "Close the translation"),
        bind("quit", "leave", "close", "Close the translation", show=False),
    ]

    def __init__(self, translations: list[Translation], step: str = "") -> None:
        """Make the dialog; with a `step` of the tour, it shows its text, and enter closes the dialog."""
        super().__init__("Translation")
        self._translations = translations
        self._step = step
        self._shown = 1

    def body(self) -> ComposeResult:
        """Make the two sides and the lost members."""
        with Horizontal():
            yield JsonView(id="left", classes="pane")
            yield JsonView(id="right", classes="pane")
        yield TextBlock(id="losses")
        if self._step:
            yield Static(Content.assemble(("Tour  ", "bold $bar"), self._step), id="tour-step")

    def on_mount(self) -> None:
        """Show the object as it was received, and beside it the first translation."""
        received = self._translations[0]
        left = self.query_one("#left", JsonView)
        left.border_title = plain(f"Received: {received.name} (known members only)")
        left.show_value(received.value)
        self._show()
        self.query_one("#right").focus()

    def action_translate(self) -> None:
        """Show the next translation."""
        self._shown = self._shown % (len(self._translations) - 1) + 1
        self._show()

    def _show(self) -> None:
        translation = self._translations[self._shown]
        right = self.query_one("#right", JsonView)
        right.border_title = plain(f"Translated: {translation.name}")
        right.show_value(translation.value)
        losses = self.query_one("#losses", TextBlock)
        if not translation.losses:
            losses.update(Content.styled("No members are lost.", "$state-good"))
        elif "" in translation.losses:
            losses.update(Content.styled("This object does not exist in this protocol version.", "$state-bad"))
        else:
            losses.update(
                Content.assemble(("lost members   ", "$state-warning"), plain("   ".join(translation.losses)))
            )

    def action_continue(self) -> None:
        """Close the dialog, so that the tour continues."""
        self.dismiss(None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave enter to the JSON, except in the tour."""
        return bool(self._step) if action == "continue" else super().check_action(action, parameters)

    def action_copy(self) -> None:
        """Copy the value under the cursor of the side that has the focus."""
        focused = self.focused if isinstance(self.focused, JsonView) else self.query_one("#right", JsonView)
        copy(self, focused.value)
