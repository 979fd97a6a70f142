"""What the views of the workbench have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.containers import Container
from textual.message import Message

from inspector.capture.records import Record
from inspector.protocol.operations import Operation
from inspector.session.session import Session
from inspector.tui.render.glyphs import Glyphs


class CallWanted(Message):
    """The user wants an operation of the agent, by its 1.0 name, about a task where it is about one."""

    def __init__(self, operation: str, task_id: str = "") -> None:
        super().__init__()
        self.operation = operation
        self.task_id = task_id


class View(Container):
    """One view of a session; it posts what the user wants.

    `CALLS` names the operations behind those of its actions that ask the agent for something. `refresh_view` is called
    whenever something may have changed while the view is seen, and when it comes into sight.
    """

    CALLS: ClassVar[Mapping[str, str]] = {}
    LIVE: ClassVar[frozenset[str]] = frozenset()
    """The other actions that a recording, which has no agent, cannot do."""

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:  # noqa: A002 - as every widget calls it
        super().__init__(id=id, classes="view")
        self.session = session
        self.glyphs = glyphs

    def why_not(self, action: str) -> str:
        """Say why the agent cannot do what an action asks for, `""` where nothing speaks against it."""
        if action not in self.CALLS or self.session.connection is None:
            return ""
        return self.session.unavailable_reason(Operation(self.CALLS[action]))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey what a recording cannot do, which has no agent."""
        if self.session.recorded and (action in self.CALLS or action in self.LIVE):
            return None
        return super().check_action(action, parameters)

    def refresh_view(self) -> None:
        """Show what is new."""

    def focus_first(self) -> None:
        """Give the keys to whatever is most likely wanted here."""
        for widget in self.query("*"):
            if widget.focusable:
                self.screen.set_focus(widget)
                return

    def show_seq(self, seq: int) -> None:
        """Select a record where the view lists it."""

    def selected_record(self) -> Record | None:
        """Return the record that is selected, None where none is."""
        return None

    def selected_text(self) -> str:
        """Return what copy should copy, `""` where nothing is selected."""
        return ""
