"""The base class of the views of the workbench."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from textual import actions
from textual.containers import Container
from textual.message import Message

from inspector.capture.records import Record
from inspector.lazy_dataclass import dataclass
from inspector.protocol.lifecycle import is_terminal, short
from inspector.protocol.operations import Operation
from inspector.session.session import Session
from inspector.session.tasks import TrackedTask
from inspector.tui.keys import NO_AGENT
from inspector.tui.render.detail import title
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.screens.menu import confirm

NO_TASK = "no task is selected"


def why_not_running(task: TrackedTask | None) -> str:
    """Return why a task cannot be canceled or subscribed to, `""` if it is running."""
    if task is None:
        return NO_TASK
    return f"the task is {short(task.now.state)}" if is_terminal(task.now.state) else ""


@dataclass
class CallWanted(Message):
    """The user wants to call an operation; an empty task id means the task in the Chat view."""

    operation: Operation
    task_id: str = ""


@dataclass
class RecordWanted(Message):
    """The user wants to see a record."""

    seq: int


@dataclass
class CheckMade(Message):
    """A check file was written."""

    path: Path


class View(Container):
    """One view of a session; it posts a message for each request of the user.

    A key calls an operation of the agent with an action such as `call('GET')`. `refresh_view` is called when the view
    becomes visible, and while it is visible whenever the session may have changed.
    """

    CALLS: ClassVar[Mapping[str, Operation]] = {}
    """The operations of actions that do more than call them, such as to ask before, by the name of the action."""
    NEEDS_AGENT: ClassVar[frozenset[str]] = frozenset()
    """The names of other actions that need an agent; they are disabled in a capture."""

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:
        super().__init__(id=id, classes="view")
        self.session = session
        self.glyphs = glyphs

    def unavailable_reason(self, action: str) -> str:
        """Return why the agent does not support the operation of an action; `""` if it does, or for other actions."""
        _, name, parameters = actions.parse(action)
        operation = Operation[str(parameters[0])] if name == "call" else self.CALLS.get(name)
        if operation is None or self.session.connection is None:
            return ""
        return self.session.unavailable_reason(operation)

    def disabled_reason(self, command: str) -> str:
        """Return why a command of this view cannot be used now, `""` if the view has no reason."""
        bound = (binding.action for _, binding in self._bindings if binding.id == command)
        return NO_AGENT if self.session.recorded and any(map(self._needs_agent, bound)) else ""

    def _needs_agent(self, action: str) -> bool:
        name = actions.parse(action)[1]
        return name == "call" or name in self.CALLS or name in self.NEEDS_AGENT

    @property
    def call_task(self) -> str:
        """The id of the task for calls, `""` for the task in the Chat view."""
        return ""

    def action_call(self, name: str) -> None:
        """Call the operation of the agent with a name of `Operation`."""
        self.post_message(CallWanted(Operation[name], self.call_task))

    def confirm_call(self, title: str, question: str, operation: Operation, task_id: str) -> None:
        """Ask a question about a task, and call an operation for it if the user confirms.

        Another task may be selected by then.
        """
        confirm(self, title, question, lambda: self.post_message(CallWanted(operation, task_id)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys that need an agent in a capture."""
        if self.session.recorded and self._needs_agent(action):
            return None
        return super().check_action(action, parameters)

    def refresh_view(self) -> None:
        """Show the current state of the session."""

    def focus_first(self) -> None:
        """Focus the first widget that can be focused."""
        for widget in self.query("*"):
            if widget.focusable:
                self.screen.set_focus(widget)
                return

    def show_seq(self, seq: int) -> None:
        """Select a record, if the view lists it."""

    def selected_record(self) -> Record | None:
        """Return the selected record, if any."""
        return None

    @property
    def selection_title(self) -> str:
        """The name of what is selected, for the title of the actions menu."""
        record = self.selected_record()
        return title(record) if record is not None else "Actions"

    def selected_text(self) -> str:
        """Return the text to copy, `""` if nothing is selected."""
        return ""
