"""The Tasks view: a table of all tasks of the session, polling, and the state history of the selected task."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from inspector.protocol.lifecycle import is_terminal
from inspector.protocol.model import TaskList
from inspector.protocol.operations import Operation
from inspector.session.polling import Polls
from inspector.session.session import Session
from inspector.session.task_filter import TaskFilter, read_filter
from inspector.session.tasks import TrackedTask
from inspector.tui.notify import notify, notify_fault, notify_faults
from inspector.tui.render.content import plain
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.row_sources import TaskRows
from inspector.tui.render.rows import SHORT_ID
from inspector.tui.render.state_line import state_text
from inspector.tui.render.text_lines import Paragraph, Paragraphs
from inspector.tui.screens.dialog import ask
from inspector.tui.screens.form import Field, FormScreen
from inspector.tui.views.base import View
from inspector.tui.widgets.fact_view import FactView
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
"""The default poll interval."""

_MAX_INTERVAL = 3600.0


class TasksView(View):
    """Shows a row for each task, and below the table the states of the selected task."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("u", "call('GET')", "get", id="tasks.get", tooltip="Get the task (GetTask)"),
        Binding("c", "call('CANCEL')", "cancel", id="tasks.cancel", tooltip="Cancel the task (CancelTask)"),
        Binding("s", "call('SUBSCRIBE')", "subscribe", id="tasks.subscribe", tooltip="Subscribe (SubscribeToTask)"),
        Binding("w", "poll", "poll", id="tasks.poll", tooltip="Start or stop polling the task"),
        Binding("l", "list_tasks", "list", id="tasks.list", tooltip="List the tasks of the agent (ListTasks)"),
        Binding("n", "next_page", "next page", id="tasks.next", tooltip="List the next page of tasks"),
        Binding("slash", "filter", "filter", id="tasks.filter", tooltip="Filter by context, state and time"),
        Binding("W", "poll_interval", "interval", show=False, id="tasks.interval", tooltip="Set the poll interval"),
    ]

    CALLS: ClassVar[dict[str, Operation]] = {
        "poll": Operation.GET,
        "next_page": Operation.LIST,
        "list_tasks": Operation.LIST,
    }

    @dataclass
    class Opened(Message):
        """The user wants to open a task in the Chat view."""

        task_id: str

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:  # noqa: A002 - as every widget calls it
        super().__init__(session, glyphs, id=id)
        self._polls = Polls(session)
        self._filter: TaskFilter | None = None
        self._typed: Mapping[str, str] = {}
        self._listed: tuple[int, int | None, str] | None = None
        self._interval = POLL_SECONDS
        self._rows = TaskRows(self._filtered, glyphs, self._polls)
        self._title = Static(Content.styled("TASKS", "bold"), classes="pane-title")
        self._feed = Feed(
            COLUMNS,
            self._rows,
            enter_hint="open in Chat",
            id="task-table",
            follow=False,
            empty="No tasks yet. Press 2 and send a message.",
        )
        self._states = FactView(id="lane")

    def compose(self) -> ComposeResult:
        """Make the table and the states."""
        yield self._title
        yield self._feed
        yield self._states

    def _filtered(self) -> list[TrackedTask]:
        """Return the tasks that match the filter."""
        tasks = self.session.tasks.all()
        return [task for task in tasks if self._filter.matches(task)] if self._filter else tasks

    def _show_title(self) -> None:
        text = f"   {self._filter.words}" if self._filter else ""
        if self._listed is None and not text:
            text = "   state, ID, context, age, updated, poll, artifacts, last message"
        elif self._listed is not None:
            shown, total, token = self._listed
            of_total = f" of {total:,}" if total is not None else ""
            text += f"   {shown:,}{of_total} listed{', n: next page' if token else ''}"
        pieces = (Content.styled("TASKS", "bold"), plain(text, limit=300).stylize("$wire-quiet"))
        self._title.update(Content.assemble(*pieces), layout=False)

    def refresh_view(self) -> None:
        """Show the current state of the tasks."""
        self._rows.refresh()
        self._feed.refresh_rows()
        self._show_states()
        self._show_title()

    @property
    def selected(self) -> TrackedTask | None:
        """The task under the cursor."""
        index = self._feed.cursor
        return self._rows.tasks[index] if 0 <= index < len(self._rows) else None

    @property
    def call_task(self) -> str:
        """The id of the task under the cursor."""
        return self.selected.id if self.selected else ""

    def _show_states(self) -> None:
        task = self.selected
        rows: list[Paragraph] = []
        if task is not None:
            account = task.now
            rows = [
                Paragraph(("task     ", "line--soft"), task.id, "line--text"),
                Paragraph(("context  ", "line--soft"), account.context_id, "line--text"),
                Paragraph(("states   ", "line--soft"), state_text(account.moves, self.glyphs), "line--text"),
            ]
        self._states.show(Paragraphs(rows))

    def on_feed_highlighted(self) -> None:
        """Show the states of the task under the cursor."""
        self._show_states()

    def on_feed_opened(self) -> None:
        """Open the task in the Chat view."""
        if self.selected is not None:
            self.post_message(self.Opened(self.selected.id))

    def action_list_tasks(self) -> None:
        """List the tasks of the agent that match the filter, and add them to the table."""
        self._listed = None
        self._list("")

    def action_next_page(self) -> None:
        """List the next page of tasks."""
        if self._listed is not None and self._listed[2]:
            self._list(self._listed[2])

    @work(group="calls")
    async def _list(self, page_token: str) -> None:
        request = (self._filter or TaskFilter()).request(self.session.tasks.all(), page_token=page_token)
        with notify_faults(self):
            call = self.session.list_tasks(request)
            fault = await call.finish()
            answer = call.exchange.answer
            if fault is not None:
                notify_fault(self, fault)
            elif isinstance(answer, TaskList):
                before = self._listed[0] if self._listed and page_token else 0
                token = answer.next_page_token or ""
                self._listed = (before + len(answer.tasks), answer.total_size, token if token != page_token else "")
        self.refresh_view()
        self.refresh_bindings()

    def action_filter(self) -> None:
        """Ask for a filter; if the agent supports ListTasks, list the matching tasks."""
        fields = (
            Field("context", "context", "a context ID or its beginning", self._typed.get("context", "")),
            Field("state", "state", "working, input-required, ...", self._typed.get("state", "")),
            Field("since", "since", "10min, 2h, 1d, or 2026-01-31T12:00:00Z", self._typed.get("since", "")),
        )
        ask(self, FormScreen("FILTER TASKS", fields, check=_filter_problem), self._use_filter)

    def _use_filter(self, values: Mapping[str, str]) -> None:
        self._typed = values
        self._filter = _read_filter(values) or None
        self._listed = None
        self.refresh_view()
        if self.session.connection is not None and not self.unavailable_reason("list_tasks"):
            self.action_list_tasks()

    def action_poll(self) -> None:
        """Poll the task until it ends, or stop polling it."""
        task = self.selected
        if task is None:
            return
        if self._polls.get(task.id) is not None:
            self._polls.stop(task.id)
        else:
            self._poll(task.id)

    @work(group="calls")
    async def _poll(self, task_id: str) -> None:
        with notify_faults(self):
            reason = await self._polls.run(task_id, self._interval)
            if reason != "it was stopped":
                notify(self, f"Polling of task {task_id[:SHORT_ID]} stopped: {reason}.")
            self.refresh_view()

    def action_poll_interval(self) -> None:
        """Ask for the interval of polls that are started later."""
        field = Field("seconds", "seconds", f"{POLL_SECONDS:g}", f"{self._interval:g}")
        ask(self, FormScreen("POLL INTERVAL", [field], check=_interval_problem), self._use_interval)

    def _use_interval(self, values: Mapping[str, str]) -> None:
        self._interval = float(values["seconds"])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable actions that are not possible for the task under the cursor."""
        if action == "next_page":
            return True if self._listed is not None and self._listed[2] else None
        if action not in ("call", "poll"):
            return super().check_action(action, parameters)
        task = self.selected
        if task is None:
            return None
        polled = action == "poll" and self._polls.get(task.id) is not None
        return True if polled or parameters == ("GET",) or not is_terminal(task.now.state) else None

    def selected_text(self) -> str:
        """Return the id of the task."""
        return self.call_task


def _read_filter(values: Mapping[str, str]) -> TaskFilter:
    return read_filter(values["context"], values["state"], values["since"], time.time())


def _filter_problem(values: Mapping[str, str]) -> str:
    try:
        _read_filter(values)
    except ValueError as error:
        return str(error)
    return ""


def _interval_problem(values: Mapping[str, str]) -> str:
    try:
        seconds = float(values["seconds"])
    except ValueError:
        seconds = 0.0
    return "" if 0 < seconds <= _MAX_INTERVAL else "Enter a number of seconds, more than 0 and at most 3600."
