"""The Chat view: the timeline, the artifact, the detail of the selected record, and the composer."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message

from inspector.protocol.assemble import AssembledTask
from inspector.protocol.lifecycle import INTERRUPTED, State, is_terminal, short
from inspector.protocol.model import Message as MessageOfAgent
from inspector.protocol.operations import Operation
from inspector.session.call import Call
from inspector.session.compose.draft import text_draft
from inspector.session.session import Session
from inspector.session.tasks import TrackedTask
from inspector.tui import lazy_loading
from inspector.tui.keys import bind
from inspector.tui.notify import notify
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.row_sources import TaskRows
from inspector.tui.render.rows import SHORT_ID
from inspector.tui.render.task_diff import compared
from inspector.tui.render.text_lines import Paragraph
from inspector.tui.screens.text_dialog import TextDialog
from inspector.tui.views.records import BookmarkView
from inspector.tui.widgets.artifact_pane import ArtifactPane
from inspector.tui.widgets.chat_composer import ChatComposer
from inspector.tui.widgets.composer import Aim
from inspector.tui.widgets.feed import Column, Feed
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.timeline_pane import TimelinePane, belongs
from inspector.tui.widgets.travel_line import TravelLine

TASK_COLUMNS = (
    Column("state", 16),
    Column("id", 8),
    Column("context", 8, min_total_width=999),
    Column("age", 6, "right", min_total_width=999),
    Column("last", 6, "right"),
    Column("artifacts", 2, "right", min_total_width=999),
    Column("message"),
)
"""The columns of the Tasks view; most of them are hidden, because the list is narrow."""


class ChatView(BookmarkView):
    """Shows the conversation with the agent."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("write", "compose"),
        bind("cancel", "call('CANCEL')", show=False),
        bind("subscribe", "reconnect", "reconnect", "Reconnect the stream"),
        bind("representation", "next_view", "view", "Show decoded, raw, hex, head or diff"),
        bind("fold", "fold", show=False),
        bind("back", "back", "", "Go back to the timeline"),
        bind("subscribe", "call('SUBSCRIBE')", show=False),
        bind("travel", "travel"),
        bind("filter", "filter", "", "Filter the timeline"),
        bind("compare", "compare", "", "Compare stream, push and GetTask"),
        bind("statistics", "statistics", "", "Show stream statistics"),
        bind("reconnect", "auto_reconnect", "auto-reconnect", "Turn automatic reconnecting on or off"),
    ]

    CALLS: ClassVar[dict[str, Operation]] = {"reconnect": Operation.SUBSCRIBE, "compare": Operation.GET}
    NEEDS_AGENT = frozenset({"compose"})

    class ShowWanted(Message):
        """The Chat view has to be shown."""

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:  # noqa: A002 - as every widget calls it
        super().__init__(session, glyphs, id=id)
        self.lists = belongs
        self._travel = TravelLine(session, glyphs)
        self._timeline = TimelinePane(session, glyphs, id="timeline-pane")
        self.stream = self._timeline.stream
        self._artifact = ArtifactPane(glyphs, id="artifact")
        self._tasks = TaskRows(session.tasks.all, glyphs)
        self._task_feed = Feed(TASK_COLUMNS, self._tasks, id="task-column", follow=False, empty="No tasks yet.")
        self.composer = ChatComposer(session, id="composer")
        self._task_id = ""
        self._seen = ("", "")
        self._reply: MessageOfAgent | None = None
        self._calls = 0

    def compose(self) -> ComposeResult:
        """Make the panes and the composer."""
        yield self._travel
        with Horizontal(id="panes"):
            yield self._timeline
            with Vertical(id="right-pane"):
                yield self._artifact
                yield self.detail
            with Pane("Tasks", id="tasks-pane"):
                yield self._task_feed
        yield self.composer

    def refresh_view(self) -> None:
        """Show new rows, the state of the task and its artifact; address the composer to a task that requires input."""
        self._timeline.refresh_rows()
        if self._travel.travelling:
            self._travel.read_on()
        else:
            feed = self._timeline.feed
            if feed.following:
                self._show_record(feed.cursor)  # the row may be a growing run of chunks
            self._artifact.show(self.shown_task, self._reply)
        self._tasks.refresh()
        self._task_feed.refresh_rows()
        self.show_title()
        self.composer.push_on = self.session.push.on
        self._update_aim()

    @property
    def shown_task(self) -> TrackedTask | None:
        """The task that is shown, if any."""
        return self.session.tasks.get(self._task_id)

    @property
    def call_task(self) -> str:
        """The id of the task that is shown."""
        return self.shown_task.id if self.shown_task is not None else ""

    def follow_task(self, task_id: str) -> None:
        """Show another task, and address the composer to it."""
        if task_id:
            self._task_id, self._reply = task_id, None
        self.aim_at_task()
        self.refresh_view()

    def aim_at_task(self) -> None:
        """Address the composer to the task if it requires input or authentication, else to its context."""
        task = self.shown_task
        if task is None:
            return
        account = task.now
        if account.state in INTERRUPTED:
            question = _status_text(account) or f"({short(account.state)}, without a message)"
            question = (
                f"authenticate outside a2a-inspect: {question}" if account.state == State.AUTH_REQUIRED else question
            )
            self.composer.aim = Aim(task.id, account.context_id, question)
        else:
            self.composer.aim = Aim("", account.context_id)

    def _update_aim(self) -> None:
        """Address the composer again when the task starts or stops requiring input."""
        task = self.shown_task
        seen, self._seen = self._seen, (task.now.state, _status_text(task.now)) if task else ("", "")
        interrupted = self._seen[0] in INTERRUPTED
        if task is not None and seen != self._seen and (interrupted or self.composer.aim.task_id == task.id):
            self.aim_at_task()

    def show_title(self) -> None:
        """Show the task, its state and its age."""
        self._timeline.show_title(self.shown_task, self._travel.past, self.selected_record())

    def show_seq(self, seq: int) -> None:
        """Select the row of a record."""
        self.remove_class("-second")
        self._timeline.show_seq(seq)

    def focus_first(self) -> None:
        """Focus the composer."""
        self.action_compose()

    def on_feed_highlighted(self, event: Feed.Highlighted) -> None:
        """Show the selected record, or the selected task."""
        if event.feed.id != "timeline":
            return
        self._show_record(event.index)
        travel, record = self._travel, self._timeline.record(event.index)
        chosen = travel.travelling and event.feed.has_focus  # otherwise the time travel has moved the cursor
        if chosen and record is not None and not self._timeline.holds(event.index, travel.seq):
            travel.go_to(record.seq)

    def _show_record(self, index: int) -> None:
        record = self._timeline.record(index)
        if record is not None:
            self.detail.show(record)

    def on_feed_opened(self, event: Feed.Opened) -> None:
        """Focus the detail of the selected row, or show the selected task."""
        if event.feed.id == "timeline":
            self.open_detail()
        else:
            self.follow_task(self._tasks.tasks[event.index].id)

    def on_composer_left(self) -> None:
        """Focus the timeline."""
        self.screen.set_focus(self._timeline.feed)

    def action_back(self) -> None:
        """Go back to the timeline; from there end the time travel, or clear the filter."""
        timeline = self._timeline.feed
        if self.has_class("-second") or not timeline.has_focus:
            self.remove_class("-second")
            self.screen.set_focus(timeline)
        elif self._travel.travelling:
            self._travel.action_leave()
        else:
            self._timeline.filter.action_clear()

    def action_compose(self) -> None:
        """Focus the composer."""
        self.remove_class("-second")
        self.composer.focus_text()

    def action_fold(self) -> None:
        """Fold the runs of chunks, or unfold them."""
        self._timeline.fold()

    def action_filter(self) -> None:
        """Open the filter."""
        self.remove_class("-second")
        self._timeline.filter.open()

    def action_compare(self) -> None:
        """Ask the agent for the task, and compare the response with the stream and the pushes."""
        task_id = self._task_of_row()
        if task_id:
            title = f"STREAM, PUSH AND GETTASK   task {task_id[:SHORT_ID]}"
            dialog = TextDialog(title, lambda: self._compare(task_id, dialog.width))
            self.app.push_screen(dialog)

    async def _compare(self, task_id: str, width: int) -> list[Paragraph]:
        comparison, problem = await lazy_loading.ask_and_compare(self.session, task_id)
        return compared(comparison, problem, self.glyphs, width)

    def _task_of_row(self) -> str:
        """Return the task id of the selected row, by default of the task that is shown; `""` if there is none."""
        record = self.selected_record()
        return record.task if record is not None and record.task in self.session.tasks else self.call_task

    # Time travel

    def action_travel(self) -> None:
        """Show the task at the selected row, or at the last record if the row belongs to another task."""
        record, task_id = self.selected_record(), self._task_of_row()
        if task_id:
            seq = record.seq if record is not None and record.task == task_id else len(self.session.journal.capture)
            self._travel.enter(task_id, seq)
        else:
            notify(self, "There is no task yet. Send a message first.")

    def on_travel_line_moved(self, event: TravelLine.Moved) -> None:
        """Show the task as it was at a record."""
        self.add_class("-past")
        self._artifact.show(event.task)
        if not self._timeline.feed.has_focus:
            self._timeline.show_seq(event.seq)
            self.detail.show(self.session.journal.capture.get(event.seq))
        self.show_title()

    def on_travel_line_left(self) -> None:
        """Show the task as it is now."""
        self.remove_class("-past")
        self.screen.set_focus(self._timeline.feed)
        self.refresh_view()

    # The stream

    def action_statistics(self) -> None:
        """Show the statistics of the stream."""

        async def write() -> list[Paragraph]:
            return self.stream.in_full()

        self.app.push_screen(TextDialog("STREAM STATISTICS", write, live=True))

    def on_stream_line_clicked(self) -> None:
        """Show the statistics of the stream."""
        self.action_statistics()

    def action_auto_reconnect(self) -> None:
        """Turn automatic reconnecting on or off."""
        self.stream.automatic = not self.stream.automatic
        how = "automatically" if self.stream.automatic else "when you press s"
        notify(self, f"A disconnected stream is reconnected {how}.")
        self.refresh_view()

    # Calls

    @property
    def is_busy(self) -> bool:
        """Whether a call is running."""
        return self._calls > 0

    def send_text(self, text: str, *, stream: bool, answer: bool) -> None:
        """Send a text as a new message, or as an `answer` to the task that requires input."""
        if answer:
            self.aim_at_task()
        aim = self.composer.aim if answer else Aim()
        call = self.composer.prepare(text_draft(text, task_id=aim.task_id, context_id=aim.context_id), stream=stream)
        if call is not None:
            self.drive(call)

    def on_chat_composer_prepared(self, event: ChatComposer.Prepared) -> None:
        """Send a message."""
        if event.elsewhere:
            self.post_message(self.ShowWanted())
        self.drive(event.call)

    def drive(self, call: Call) -> None:
        """Run a call in a worker, and show its task."""
        self._calls += 1
        self.run_worker(self._drive(call), group="calls")

    async def _drive(self, call: Call) -> None:
        try:
            await self.follow(call)
        finally:
            self._calls -= 1

    async def follow(self, call: Call) -> None:
        """Run a call to its end, and show its task."""
        self.composer.problem = ""
        self.composer.show_upload(call)
        known = ""
        async for _ in call:
            if call.exchange.task_id != known:
                known = call.exchange.task_id
                self.follow_task(known)
        answer = call.exchange.answer
        if isinstance(answer, MessageOfAgent) and not answer.task_id:
            self._task_id, self._reply = "", answer
            self.composer.aim = Aim("", answer.context_id or "")
            self.refresh_view()
        else:
            self.follow_task(known)
        self.composer.problem = call.fault.sentence() if call.fault else ""
        self.screen.refresh_bindings()

    def action_reconnect(self) -> None:
        """Subscribe again to the task whose stream was disconnected."""
        if self.shown_task is not None:
            self.action_call("SUBSCRIBE")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable actions that are not possible in the state of the task."""
        lost = self.stream.lost
        if action == "reconnect":
            return lost
        if parameters == ("SUBSCRIBE",) and lost:
            return False
        if action == "call" and not self.session.recorded:
            running = self.shown_task is not None and not is_terminal(self.shown_task.now.state)
            return True if running else None
        if action == "compare":
            return True if self._task_of_row() else None
        if action == "back":
            return self.has_class("-second") or self._travel.travelling or self._timeline.filtering
        return super().check_action(action, parameters)

    def selected_text(self) -> str:
        """Return the text of the artifact if it is focused, else the selected payload or value."""
        return self._artifact.selected_text() if self._artifact.has_focus_within else super().selected_text()


def _status_text(account: AssembledTask) -> str:
    """Return the text of the status message of a task."""
    message = account.status.message
    return " ".join(part.text for part in message.parts if part.text) if message else ""
