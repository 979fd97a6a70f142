"""Tasks: every task that the session has heard of, listed and polled, and the states that the selected one took on."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from inspector.protocol.errors import FaultError
from inspector.protocol.lifecycle import is_terminal
from inspector.protocol.model import TaskList
from inspector.session.polling import Polls
from inspector.session.session import Session
from inspector.session.task_filter import TaskFilter, read_filter
from inspector.session.tasks import TrackedTask
from inspector.tui.notify import notify, notify_fault
from inspector.tui.render.content import plain
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.row_sources import TaskRows
from inspector.tui.render.rows import SHORT_ID
from inspector.tui.render.state_line import lane_text
from inspector.tui.render.text_lines import Paragraph, Paragraphs
from inspector.tui.screens.form import Field, FormScreen
from inspector.tui.views.base import CallWanted, View
from inspector.tui.widgets.detail_pane import FactView
from inspector.tui.widgets.feed import Column, Feed

COLUMNS = (
    Column("state", 16),
    Column("id", 8),
    Column("context", 8, min_total_width=60),
    Column("age", 6, "right", min_total_width=70),
    Column("last", 6, "right"),
    Column("poll", 6, min_total_width=50),
    Column("artifacts", 3, "right", min_total_width=60),
    Column("message"),
)

POLL_SECONDS = 2.0
"""How often a task is asked for unless the user says otherwise."""

_LONGEST_PAUSE = 3600.0


class TasksView(View):
    """A row a task, the lane of its states below."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "get", "update", id="tasks.get", tooltip="Ask the agent for the task (GetTask)"),
        Binding("c", "cancel", "cancel", id="tasks.cancel", tooltip="Cancel the task"),
        Binding("s", "subscribe", "resubscribe", id="tasks.subscribe", tooltip="Listen to the task again"),
        Binding("w", "poll", "poll", id="tasks.poll", tooltip="Ask for the task every few seconds, or stop to"),
        Binding("l", "list_tasks", "list", id="tasks.list", tooltip="Ask the agent for its tasks (ListTasks)"),
        Binding("n", "next_page", "next page", id="tasks.next", tooltip="Ask for the next page of its tasks"),
        Binding("slash", "filter", "filter", id="tasks.filter", tooltip="Only tasks of a context, in a state, since"),
        Binding("W", "rhythm", "poll every", show=False, id="tasks.rhythm", tooltip="How many seconds between polls"),
    ]

    CALLS: ClassVar[dict[str, str]] = {
        "get": "GetTask",
        "poll": "GetTask",
        "next_page": "ListTasks",
        "cancel": "CancelTask",
        "subscribe": "SubscribeToTask",
        "list_tasks": "ListTasks",
    }

    class Opened(Message):
        """The user wants to talk about a task."""

        def __init__(self, task_id: str) -> None:
            super().__init__()
            self.task_id = task_id

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:  # noqa: A002 - as every widget calls it
        super().__init__(session, glyphs, id=id)
        self._polls = Polls(session)
        self._filter: TaskFilter | None = None
        self._typed: Mapping[str, str] = {}
        self._listed: tuple[int, int | None, str] | None = None
        self._every = POLL_SECONDS
        self._rows = TaskRows(self._wanted, glyphs, self._polls)
        self._title = Static(Content.styled("TASKS", "bold"), classes="pane-title")
        self._feed = Feed(
            COLUMNS,
            self._rows,
            enter_hint="talk",
            id="task-table",
            follow=False,
            empty="No task yet. Press 2 and send a message.",
        )
        self._states = FactView(id="lane")

    def compose(self) -> ComposeResult:
        """Make the table and the lane."""
        yield self._title
        yield self._feed
        yield self._states

    def on_mount(self) -> None:
        """Name the columns."""
        self._show_title()

    def _wanted(self) -> list[TrackedTask]:
        """Return the tasks that the filter leaves."""
        tasks = self.session.tasks.all()
        return [task for task in tasks if self._filter.matches(task)] if self._filter else tasks

    def _show_title(self) -> None:
        said = f"   {self._filter.words}" if self._filter else ""
        if self._listed is None and not said:
            said = "   state, id, context, age, last heard of, poll, artifacts, last message"
        elif self._listed is not None:
            shown, total, token = self._listed
            of = f" of {total:,}" if total is not None else ""
            said += f"   listed {shown:,}{of}{', n asks for more' if token else ''}"
        pieces = (Content.styled("TASKS", "bold"), plain(said, limit=300).stylize("$wire-quiet"))
        self._title.update(Content.assemble(*pieces), layout=False)

    def refresh_view(self) -> None:
        """Show the tasks as they are now."""
        self._rows.refresh()
        self._feed.refresh_rows()
        self._show_lane()
        self._show_title()

    @property
    def selected(self) -> TrackedTask | None:
        """Return the task under the cursor."""
        index = self._feed.cursor
        return self._rows.tasks[index] if 0 <= index < len(self._rows) else None

    def _show_lane(self) -> None:
        task = self.selected
        rows: list[Paragraph] = []
        if task is not None:
            account = task.now
            rows = [
                Paragraph(("task     ", "line--soft"), task.id, "line--text"),
                Paragraph(("context  ", "line--soft"), account.context_id, "line--text"),
                Paragraph(("states   ", "line--soft"), lane_text(account.moves, self.glyphs), "line--text"),
            ]
        self._states.show(Paragraphs(rows))

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
        """Ask the agent for its tasks, those that the filter wants; what it answers joins the table."""
        self._listed = None
        self._list("")

    def action_next_page(self) -> None:
        """Ask for the next page of what was listed."""
        if self._listed is not None and self._listed[2]:
            self._list(self._listed[2])

    @work(group="turns")
    async def _list(self, page_token: str) -> None:
        request = (self._filter or TaskFilter()).request(self.session.tasks.all(), page_token=page_token)
        try:
            turn = self.session.list_tasks(request)
            fault = await turn.finish()
        except FaultError as error:
            fault = error.fault
        else:
            answer = turn.exchange.answer
            if fault is None and isinstance(answer, TaskList):
                before = self._listed[0] if self._listed and page_token else 0
                token = answer.next_page_token or ""
                self._listed = (before + len(answer.tasks), answer.total_size, token if token != page_token else "")
        if fault is not None:
            notify_fault(self, fault)
        self.refresh_view()
        self.refresh_bindings()

    def action_filter(self) -> None:
        """Ask which tasks are wanted; the agent is asked for them too where it can list."""
        fields = (
            Field("context", "context", "an id, or how it begins", self._typed.get("context", "")),
            Field("state", "state", "working, input-required, ...", self._typed.get("state", "")),
            Field("since", "since", "10min, 2h, 1d, or 2026-01-31T12:00:00Z", self._typed.get("since", "")),
        )
        self.app.push_screen(FormScreen("TASKS   only those", fields, check=_wrong_filter), self._use_filter)

    def _use_filter(self, values: dict[str, str] | None) -> None:
        if values is None:
            return
        self._typed = values
        self._filter = _read_filter(values) or None
        self._listed = None
        self.refresh_view()
        if self.session.connection is not None and not self.why_not("list_tasks"):
            self.action_list_tasks()

    def action_poll(self) -> None:
        """Ask for the task every few seconds until it ends, or stop to."""
        task = self.selected
        if task is None:
            return
        if self._polls.get(task.id) is not None:
            self._polls.stop(task.id)
        else:
            self._poll(task.id)

    @work(group="turns")
    async def _poll(self, task_id: str) -> None:
        try:
            why = await self._polls.run(task_id, self._every)
        except FaultError as error:
            notify_fault(self, error.fault)
            return
        if why != "it was stopped":
            notify(self, f"Task {task_id[:SHORT_ID]} is not polled any more: {why}.")
        self.refresh_view()

    def action_rhythm(self) -> None:
        """Ask how many seconds lie between two polls that begin from now on."""
        field = Field("seconds", "seconds", f"{POLL_SECONDS:g}", f"{self._every:g}")
        self.app.push_screen(FormScreen("POLL EVERY", [field], check=_wrong_rhythm), self._use_rhythm)

    def _use_rhythm(self, values: dict[str, str] | None) -> None:
        if values is not None:
            self._every = float(values["seconds"])

    def _want(self, operation: str) -> None:
        if self.selected is not None:
            self.post_message(CallWanted(operation, self.selected.id))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey what cannot be done to the task under the cursor."""
        if action in ("cancel", "subscribe"):
            return True if self.selected is not None and not is_terminal(self.selected.now.state) else None
        if action == "poll":
            task = self.selected
            polled = task is not None and self._polls.get(task.id) is not None
            return True if task is not None and (polled or not is_terminal(task.now.state)) else None
        if action == "next_page":
            return True if self._listed is not None and self._listed[2] else None
        if action == "get":
            return True if self.selected is not None else None
        return super().check_action(action, parameters)

    def selected_text(self) -> str:
        """Return the id of the task."""
        return self.selected.id if self.selected else ""


def _read_filter(values: Mapping[str, str]) -> TaskFilter:
    return read_filter(values["context"], values["state"], values["since"], time.time())


def _wrong_filter(values: Mapping[str, str]) -> str:
    try:
        _read_filter(values)
    except ValueError as error:
        return str(error)
    return ""


def _wrong_rhythm(values: Mapping[str, str]) -> str:
    try:
        seconds = float(values["seconds"])
    except ValueError:
        seconds = 0.0
    return "" if 0 < seconds <= _LONGEST_PAUSE else "A number of seconds is due, at most 3600."
