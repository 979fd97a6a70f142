"""What the six places have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Container
from textual.message import Message

from inspector.tui.render.glyphs import Glyphs

if TYPE_CHECKING:
    from inspector.capture.records import Record
    from inspector.session.session import Session


class CallWanted(Message):
    """The user wants an operation of the agent, by its 1.0 name, about a task where it is about one."""

    def __init__(self, operation: str, task_id: str = "") -> None:
        super().__init__()
        self.operation = operation
        self.task_id = task_id


class Place(Container):
    """One of the six places; it shows the session that it is given and posts what the user wants.

    `CALLS` names the operations behind those of its actions that ask the agent for something.

    `attach` comes once a session; `refresh_view` whenever something may have changed while the place is seen, and
    once when it comes into sight.
    """

    CALLS: ClassVar[Mapping[str, str]] = {}
    LIVE: ClassVar[frozenset[str]] = frozenset()
    """What else nothing can be done of where what is shown is a recording."""

    def __init__(self, place: str, glyphs: Glyphs) -> None:
        super().__init__(id=place, classes="place")
        self.glyphs = glyphs
        self.session: Session | None = None

    def why_not(self, action: str) -> str:
        """Say why the agent cannot do what an action asks for, `""` where nothing speaks against it."""
        if action not in self.CALLS or self.session is None or self.session.connection is None:
            return ""
        from inspector.protocol.operations import Operation  # noqa: PLC0415 - loaded with the session

        return self.session.unavailable_reason(Operation(self.CALLS[action]))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey what a recording cannot do, which has no agent."""
        if self.session is not None and self.session.recorded and (action in self.CALLS or action in self.LIVE):
            return None
        return super().check_action(action, parameters)

    def attach(self, session: Session) -> None:
        """Show another session."""
        self.session = session

    def refresh_view(self) -> None:
        """Show what is new."""

    def focus_first(self) -> None:
        """Give the keys to whatever is most likely wanted here."""
        for widget in self.query("*"):
            if widget.focusable:
                self.screen.set_focus(widget)
                return

    def show_seq(self, seq: int) -> None:
        """Select a record where the place lists it."""

    def selected_record(self) -> Record | None:
        """Return the record that is selected, None where none is."""
        return None

    def selected_text(self) -> str:
        """Return what copy should copy, `""` where nothing is selected."""
        return ""
