"""The Tasks view: a table of all tasks of the session, and the states and texts of the selected task."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from inspector.lazy_dataclass import dataclass
from inspector.protocol.lifecycle import is_terminal, short
from inspector.protocol.model import TaskList
from inspector.protocol.operations import Operation
from inspector.session.polling import STOPPED, Polls
from inspector.session.session import Session
from inspector.session.task_filter import TaskFilter, read_filter
from inspector.session.task_requests import TaskRequests
from inspector.session.tasks import TrackedTask
from inspector.text.short_id import short_id
from inspector.text.units import duration
from inspector.tui.check_dialogs import ask_for_check
from inspector.tui.keys import bind, key_of
from inspector.tui.notify import notify, notify_fault, notify_faults
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.rows import state_colour
from inspector.tui.render.task_table import FIELDS, ListedPages, TaskFacts, TaskTable
from inspector.tui.render.text_lines import Paragraphs
from inspector.tui.screens.dialog import ask
from inspector.tui.screens.form import Field, FormScreen
from inspector.tui.views.base import View, why_not_running
from inspector.tui.widgets.fact_view import FactView
from inspector.tui.widgets.feed import GAP, Column, Feed, Headings
from inspector.tui.widgets.pane import Chip, Pane
from inspector.tui.widgets.word_filter import WordFilter

REQUEST = "REQUEST"
_HEADING = len(REQUEST) + 1
"""The least cells for the requests: the heading and the mark of the order."""

COLUMNS = (
    Column("STATE", 18),
    Column("ID", 8),
    Column("CONTEXT", 8, min_total_width=110),
    Column("AGE", 6, "right", min_total_width=90),
    Column("UPDATED", 8, "right", min_total_width=90),
    Column("ARTIFACTS", 10, "right", min_total_width=110),
    Column(REQUEST, _HEADING),
    Column("LAST MESSAGE"),
)

POLL_SECONDS = 2.0
"""The default poll interval."""

_MAX_INTERVAL = 3600.0
_CLOCK = 1.0
"""How often the ages are drawn again, in seconds."""
_OF_TASK = frozenset({"refresh", "cancel", "subscribe", "poll"})
"""The commands that need a task."""


class TasksView(View):
    """Shows a row for each task, and below the table the facts about the selected task."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("refresh", "call('GET')", "get", "Get the task (GetTask)"),
        bind("cancel", "cancel", "", "Cancel the task (CancelTask)"),
        bind("subscribe", "call('SUBSCRIBE')", "", "Subscribe (SubscribeToTask)", show=False),
        bind("poll", "poll", "", "Start or stop polling the task", show=False),
        bind("list", "list_tasks", "", "List the tasks of the agent (ListTasks)"),
        bind("list", "next_page", "next page", "List the next page of tasks"),
        bind("filter", "filter", "", "Show only the tasks that contain some words"),
        bind("sort", "sort", "", "Sort by the next column"),
        bind("reverse-sort", "reverse", "", "Reverse the order of the tasks", show=False),
        bind("filter-form", "filter_form", show=False),
        bind("poll-interval", "poll_interval", "interval", "Set the poll interval"),
        bind("back", "clear_filter", "clear filter", "Remove the filter", show=False),
        bind("make-check", "make_check", show=False),
    ]

    CALLS: ClassVar[dict[str, Operation]] = {
        "cancel": Operation.CANCEL,
        "poll": Operation.GET,
        "next_page": Operation.LIST,
        "list_tasks": Operation.LIST,
    }

    @dataclass
    class Opened(Message):
        """The user wants to open a task in the Chat view."""

        task_id: str

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:
        super().__init__(session, glyphs, id=id)
        self._polls = Polls(session)
        self._filter: TaskFilter | None = None
        self._typed: Mapping[str, str] = {}
        self._listed: ListedPages | None = None
        self._interval = POLL_SECONDS
        self._requests = TaskRequests(session.journal)
        self._rows = TaskTable(self._tasks_of_conditions, self._requests, self._polls, glyphs)
        self._selected_id = self._moved_to = ""
        self._pane = Pane("Tasks", id="tasks-table-pane")
        self._words = WordFilter(f"words, or one of {', '.join(FIELDS)} with a word, such as state:failed")
        self._feed = Feed(COLUMNS, self._rows, enter_hint="open in Chat", id="task-table", follow=False)
        self._facts_pane = Pane("Task", id="task-facts-pane")
        self._facts = FactView(id="task-facts", empty="Select a task to see its states here.")

    def compose(self) -> ComposeResult:
        """Make the table and the facts."""
        with self._pane:
            yield self._words
            yield Headings(self._feed)
            yield self._feed
        with self._facts_pane:
            yield self._facts

    def on_mount(self) -> None:
        """Draw the ages every second."""
        self.set_interval(_CLOCK, self._draw_ages)

    def on_resize(self) -> None:
        """Share the free width between the requests and the messages, after the table has its new size."""
        self.call_after_refresh(self._fit_columns)

    def _fit_columns(self) -> None:
        """Make the column of the requests as wide as the longest request, if the messages keep enough width."""
        others = [column.width for column in COLUMNS if column.name != REQUEST and self._feed.shows(column)]
        free = self._feed.line_width - sum(width or 0 for width in others) - GAP * len(others)
        self._feed.set_width(REQUEST, max(_HEADING, self._rows.request_width(free)))

    def _draw_ages(self) -> None:
        if self.display and len(self._rows) and not self.session.recorded:
            self._feed.refresh_rows()
            self._show_facts()

    def _tasks_of_conditions(self) -> list[TrackedTask]:
        """Return the tasks that meet the conditions of the form."""
        tasks = self.session.tasks.all()
        return [task for task in tasks if self._filter.matches(task)] if self._filter else tasks

    def refresh_view(self) -> None:
        """Show the current state of the tasks; the cursor stays on its task."""
        self._selected_id = self.call_task or self._selected_id
        self._rows.refresh()
        self._fit_columns()
        self._feed.empty = self._empty
        self._feed.refresh_rows()
        index = self._rows.index_of(self._selected_id)
        if index is not None:
            self._feed.cursor = index
        self._show_facts()
        self._show_title()

    @property
    def _empty(self) -> str:
        if self._words.value or self._filter:
            return f"No task matches the filter. Press {key_of('back')} to show all tasks."
        if self.session.recorded:
            return "The capture contains no tasks."
        return f"No tasks yet. Send a message in Chat, or press {key_of('list')} to list the tasks of the agent."

    def _show_title(self) -> None:
        shown, known = len(self._rows), len(self.session.tasks)
        chips = [Chip(f"{shown:,}" if shown == known else f"{shown:,} of {known:,}", "$text-soft")]
        if self._words.value:
            chips.append(Chip(f"filter {self._words.value}", "$bar"))
        if self._filter:
            chips.append(Chip(self._filter.words, "$bar"))
        mark = self.glyphs.up if self._rows.reverse else self.glyphs.open
        self._feed.mark_sorted(self._rows.column, mark)
        sorted_otherwise = not self._rows.is_default_order
        note = [Chip(f"sorted by {self._rows.column.lower()} {mark}" if sorted_otherwise else "", "$text-soft")]
        if self._listed is not None:
            count, total = self._listed.listed, self._listed.total
            note.append(Chip(f"{count:,}{f' of {total:,}' if total is not None else ''} listed by the agent"))
            note.append(Chip(f"{key_of('list')}: next page" if self._listed.has_more else "", "$bar"))
        self._pane.set_title(*chips, note=note)

    @property
    def selected(self) -> TrackedTask | None:
        """The task under the cursor."""
        return self._feed.item_of(self._rows.tasks)

    def select_task(self, task_id: str) -> None:
        """Move the cursor to a task, unless the filter hides it; this is not a choice of the user."""
        index = self._rows.index_of(task_id)
        if index is not None:
            self._selected_id, self._moved_to = task_id, ""
            self._feed.cursor = index

    @property
    def call_task(self) -> str:
        """The id of the task under the cursor."""
        return self.selected.id if self.selected else ""

    @property
    def chosen_task(self) -> str:
        """The id of the task under the cursor if the user moved it there, else `""`: it begins on the first task."""
        return self.call_task if self.call_task == self._moved_to else ""

    @property
    def selection_title(self) -> str:
        """The name of the selected task."""
        return f"Task {short_id(self.call_task)}" if self.call_task else "Actions"

    def _show_facts(self) -> None:
        task = self.selected
        if task is None:
            self._facts_pane.set_title()
            self._facts.show(Paragraphs([]))
            return
        account = task.now
        now = account.updated if self.session.recorded else time.time()
        chips = [Chip(short_id(task.id))]
        if account.moves:
            state = f"{self.glyphs.state_glyph(account.state)} {short(account.state)}"
            took = duration(account.seconds(now))
            chips += [Chip(state, state_colour(account.state)), Chip(took, "$text-soft")]
        self._facts_pane.set_title(*chips)
        facts = TaskFacts(task, self._requests.of(task), self._polls.get(task.id), self.glyphs, now)
        self._facts.show_again(facts)

    def on_feed_highlighted(self) -> None:
        """Show the facts about the task under the cursor."""
        if self._selected_id not in ("", self.call_task):
            self._moved_to = self.call_task
        self._selected_id = self.call_task
        self._show_facts()

    def on_feed_opened(self) -> None:
        """Open the task in the Chat view."""
        if self.selected is not None:
            self.post_message(self.Opened(self.selected.id))

    def focus_first(self) -> None:
        """Focus the table."""
        self.screen.set_focus(self._feed)

    # The order

    def action_sort(self) -> None:
        """Sort by the next column."""
        columns = self._rows.columns
        self._sort(columns[(columns.index(self._rows.column) + 1) % len(columns)])

    def action_reverse(self) -> None:
        """Reverse the order."""
        self._sort(self._rows.column)

    def on_headings_clicked(self, event: Headings.Clicked) -> None:
        """Sort by the column whose heading was clicked; a second click reverses the order."""
        self._sort(event.column)

    def _sort(self, column: str) -> None:
        self._rows.reverse = column == self._rows.column and not self._rows.reverse
        self._rows.column = column
        self.refresh_view()

    # Filters

    def action_filter(self) -> None:
        """Open the filter."""
        self._words.open()

    def on_word_filter_typed(self, event: WordFilter.Typed) -> None:
        """Show the tasks that contain the words."""
        self._rows.words = event.words
        self.refresh_view()
        self.refresh_bindings()

    def on_word_filter_left(self) -> None:
        """Focus the table."""
        self.focus_first()

    def action_clear_filter(self) -> None:
        """Remove the filter."""
        self._filter, self._typed = None, {}
        self._words.action_clear()
        self.refresh_view()

    def action_cancel(self) -> None:
        """Ask whether to cancel the task, and cancel it."""
        task_id = self.call_task
        if task_id:
            question = f"Cancel task {short_id(task_id)}? The agent stops working on it, which cannot be undone."
            self.confirm_call("Cancel the task", question, Operation.CANCEL, task_id)

    def action_list_tasks(self) -> None:
        """List the tasks of the agent that match the filter, and add them to the table."""
        self._listed = None
        self._list("")

    def action_next_page(self) -> None:
        """List the next page of tasks."""
        if self._listed is not None and self._listed.has_more:
            self._listed = self._listed._replace(loading=True)
            self._list(self._listed.next_page_token)

    @work(group="calls")
    async def _list(self, page_token: str) -> None:
        used = self._filter
        request = (used or TaskFilter()).request(self.session.tasks.all(), page_token=page_token)
        answer = None
        with notify_faults(self):
            call = self.session.list_tasks(request)
            fault = await call.finish()
            answer = call.exchange.answer if fault is None else None
            if fault is not None:
                notify_fault(self, fault)
        if self._filter is used:
            before = self._listed if page_token else None
            if isinstance(answer, TaskList):
                count, token = before.listed if before else 0, answer.next_page_token or ""
                token = token if token != page_token else ""
                self._listed = ListedPages(count + len(answer.tasks), answer.total_size, token)
            elif before:
                self._listed = before._replace(loading=False)  # to request the page again
        self.refresh_view()
        self.refresh_bindings()

    def action_filter_form(self) -> None:
        """Ask for conditions; if the agent supports ListTasks, list the matching tasks."""
        fields = (
            Field("context", "context", "a context ID, or its beginning or end", self._typed.get("context", "")),
            Field("state", "state", "working, input-required, ...", self._typed.get("state", "")),
            Field("since", "since", "10min, 2h, 1d, or 2026-01-31T12:00:00Z", self._typed.get("since", "")),
        )
        ask(self, FormScreen("Filter tasks", fields, check=_filter_problem), self._use_filter)

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
        if self._polls.get(task_id) is not None:
            return  # the key was pressed twice
        with notify_faults(self):
            reason = await self._polls.run(task_id, self._interval)
            if reason != STOPPED:
                notify(self, f"Polling of task {short_id(task_id)} stopped: {reason}.")
            self.refresh_view()

    def action_poll_interval(self) -> None:
        """Ask for the interval of polls that are started later."""
        field = Field("seconds", "seconds", f"{POLL_SECONDS:g}", f"{self._interval:g}")
        ask(self, FormScreen("Poll interval", [field], check=_interval_problem), self._use_interval)

    def _use_interval(self, values: Mapping[str, str]) -> None:
        self._interval = float(values["seconds"])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable actions that are not possible for the task under the cursor."""
        if action in ("next_page", "list_tasks") and not self.session.recorded:
            has_more = self._listed is not None and self._listed.has_more
            return has_more is (action == "next_page")
        if action == "clear_filter":
            return bool(self._words.value or self._filter)
        if action not in ("call", "cancel", "poll") or self.session.recorded:
            return super().check_action(action, parameters)
        task = self.selected
        if task is None:
            return None
        polled = action == "poll" and self._polls.get(task.id) is not None
        return True if polled or parameters == ("GET",) or not is_terminal(task.now.state) else None

    def disabled_reason(self, command: str) -> str:
        """Return why a command cannot be used for the task under the cursor."""
        reason = super().disabled_reason(command)
        return reason or (why_not_running(self.selected) if command in _OF_TASK else "")

    def action_make_check(self) -> None:
        """Ask for the exchanges of a check file, and write it."""
        task = self.selected
        ask_for_check(self, self.session, 0, task.id if task is not None else "")

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
    allowed = f"more than 0 and at most {_MAX_INTERVAL:g}"
    return "" if 0 < seconds <= _MAX_INTERVAL else f"Enter a number of seconds, {allowed}."
