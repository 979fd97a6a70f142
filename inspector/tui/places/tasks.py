"""Tasks: every task that the session has heard of, and the states that the selected one passed through."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from inspector.protocol.lifecycle import is_terminal
from inspector.tui.places.base import CallWanted, Place
from inspector.tui.render import detail
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.paragraphs import Paragraph, Paragraphs
from inspector.tui.render.sources import TaskRows
from inspector.tui.widgets.detailpane import FactView
from inspector.tui.widgets.feed import Column, Feed

if TYPE_CHECKING:
    from inspector.session.session import Session
    from inspector.session.tasks import TrackedTask

COLUMNS = (
    Column("state", 16),
    Column("id", 8),
    Column("context", 8, min_total_width=60),
    Column("age", 6, "right", min_total_width=70),
    Column("last", 6, "right"),
    Column("artifacts", 3, "right", min_total_width=60),
    Column("message"),
)


class TasksPlace(Place):
    """A row a task, the lane of its states below."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "get", "update", id="tasks.get", tooltip="Ask the agent for the task (GetTask)"),
        Binding("c", "cancel", "cancel", id="tasks.cancel", tooltip="Cancel the task"),
        Binding("s", "subscribe", "resubscribe", id="tasks.subscribe", tooltip="Listen to the task again"),
        Binding("l", "list_tasks", "list", id="tasks.list", tooltip="Ask the agent for its tasks (ListTasks)"),
    ]

    CALLS: ClassVar[dict[str, str]] = {
        "get": "GetTask",
        "cancel": "CancelTask",
        "subscribe": "SubscribeToTask",
        "list_tasks": "ListTasks",
    }

    class Opened(Message):
        """The user wants to talk about a task."""

        def __init__(self, task_id: str) -> None:
            super().__init__()
            self.task_id = task_id

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__("tasks", glyphs)
        self._rows: TaskRows | None = None

    def compose(self) -> ComposeResult:
        """Make the table and the lane."""
        columns = "   state, id, context, age, last heard of, artifacts, last message"
        yield Static(Content.assemble(("TASKS", "bold"), (columns, "$wire-quiet")), classes="pane-title")
        yield Feed(
            COLUMNS, enter_hint="talk", id="task-table", follow=False, empty="No task yet. Press 2 and send a message."
        )
        yield FactView(id="lane")

    def attach(self, session: Session) -> None:
        """Show another session."""
        super().attach(session)
        self._rows = TaskRows(session.tasks.all, self.glyphs)
        self.query_one(Feed).show_rows(self._rows)

    def refresh_view(self) -> None:
        """Show the tasks as they are now."""
        if self._rows is None:
            return
        self._rows.refresh()
        self.query_one(Feed).refresh_rows()
        self._show_lane()

    @property
    def selected(self) -> TrackedTask | None:
        """Return the task under the cursor."""
        index = self.query_one(Feed).cursor
        return self._rows.tasks[index] if self._rows and 0 <= index < len(self._rows) else None

    def _show_lane(self) -> None:
        task = self.selected
        rows: list[Paragraph] = []
        if task is not None:
            account = task.now
            moves = [(move.state, move.at) for move in account.moves]
            rows = [
                Paragraph(("task     ", "line--soft"), task.id, "line--text"),
                Paragraph(("context  ", "line--soft"), account.context_id, "line--text"),
                Paragraph(("states   ", "line--soft"), detail.lane(moves, self.glyphs), "line--text"),
            ]
        self.query_one(FactView).show(Paragraphs(rows))

    def on_feed_highlighted(self) -> None:
        """Show the lane of the task under the cursor."""
        self._show_lane()

    def on_feed_opened(self) -> None:
        """Talk about the task."""
        if self.selected is not None:
            self.post_message(self.Opened(self.selected.id))

    def action_get(self) -> None:
        """Ask the agent for the task."""
        self._want("GetTask")

    def action_cancel(self) -> None:
        """Cancel the task."""
        self._want("CancelTask")

    def action_subscribe(self) -> None:
        """Listen to the task again."""
        self._want("SubscribeToTask")

    def action_list_tasks(self) -> None:
        """Ask the agent for its tasks; what it answers joins the table."""
        self.post_message(CallWanted("ListTasks"))

    def _want(self, operation: str) -> None:
        if self.selected is not None:
            self.post_message(CallWanted(operation, self.selected.id))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey what cannot be done to the task under the cursor."""
        if action in ("cancel", "subscribe"):
            return True if self.selected is not None and not is_terminal(self.selected.now.state) else None
        if action == "get":
            return True if self.selected is not None else None
        return super().check_action(action, parameters)

    def selected_text(self) -> str:
        """Return the id of the task."""
        return self.selected.id if self.selected else ""
