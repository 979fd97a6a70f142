"""Talk: the timeline, the artifact that grows beside it, the detail of the selected record, and the composer."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from inspector.capture.records import Record
from inspector.protocol.lifecycle import INTERRUPTED, State, is_terminal, short
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.paragraphs import Paragraph
from inspector.tui.render.row_sources import TaskRows
from inspector.tui.render.rows import SHORT_ID
from inspector.tui.screens.text_dialog import PaperScreen
from inspector.tui.views.base import CallWanted
from inspector.tui.views.bookmarking import MarkingPlace
from inspector.tui.widgets.artifact_pane import ArtifactPane
from inspector.tui.widgets.composer import Aim, Composer
from inspector.tui.widgets.detail_pane import DetailPane
from inspector.tui.widgets.feed import Column, Feed
from inspector.tui.widgets.stream_line import StreamLine
from inspector.tui.widgets.timeline_pane import TimelinePane, belongs
from inspector.tui.widgets.travel_line import TravelLine

if TYPE_CHECKING:
    from inspector.protocol.assemble import AssembledTask
    from inspector.protocol.errors import Fault
    from inspector.protocol.model import Message as MessageOfAgent
    from inspector.session.session import Session
    from inspector.session.tasks import TrackedTask

TASK_COLUMNS = (
    Column("state", 16),
    Column("id", 8),
    Column("context", 8, min_total_width=999),
    Column("age", 6, "right", min_total_width=999),
    Column("last", 6, "right"),
    Column("artifacts", 2, "right", min_total_width=999),
    Column("message"),
)
"""As the table of the Tasks place, in a narrow column: what has no room there is never shown."""


class Talk(MarkingPlace):
    """The place where people live."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "compose", "write", id="talk.compose", tooltip="Write a message"),
        Binding("ctrl+k", "cancel_task", "cancel task", id="talk.cancel", tooltip="Cancel the task", priority=True),
        Binding("s", "listen_again", "listen again", id="talk.listen", tooltip="The stream was lost: listen again"),
        Binding("v", "next_view", "view", id="talk.view", tooltip="The selected record decoded, raw, hex, its head"),
        Binding("f", "fold", "fold", id="talk.fold", tooltip="Fold or unfold runs of chunks", show=False),
        Binding("escape", "back", "back", id="talk.back", tooltip="Back to the timeline"),
        Binding("s", "subscribe", "resubscribe", id="talk.subscribe", tooltip="Listen to the task again", show=False),
        Binding("t", "travel", "time travel", id="talk.travel", tooltip="The task as it was, event by event"),
        Binding("slash", "filter", "filter", id="talk.filter", tooltip="The rows that a filter leaves, alone"),
        Binding("c", "compare", "compare", id="talk.compare", tooltip="The task by stream, by push and by GetTask"),
        Binding("h", "health", "stream", id="talk.health", tooltip="How well the stream flows", show=False),
        Binding("R", "automatic", "auto", id="talk.automatic", tooltip="Listen again by itself, or not", show=False),
    ]

    CALLS: ClassVar[dict[str, str]] = {
        "cancel_task": "CancelTask",
        "subscribe": "SubscribeToTask",
        "listen_again": "SubscribeToTask",
        "compare": "GetTask",
    }
    LIVE = frozenset({"compose"})

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__("talk", glyphs)
        self._tasks: TaskRows | None = None
        self._task_id = ""
        self._seen = ("", "")
        self._reply: MessageOfAgent | None = None

    def compose(self) -> ComposeResult:
        """Make the columns and the composer."""
        yield TravelLine(self.glyphs)
        with Horizontal(id="panes"):
            yield TimelinePane(self.glyphs, id="timeline-pane")
            with Vertical(id="right-pane"):
                yield ArtifactPane(self.glyphs, id="artifact")
                yield DetailPane(self.glyphs, id="detail")
            with Vertical(id="tasks-pane"):
                yield Static(Content.styled("TASKS", "bold"), classes="pane-title")
                yield Feed(TASK_COLUMNS, id="task-column", follow=False, empty="No task yet.")
        yield Composer(id="composer")

    def attach(self, session: Session) -> None:
        """Show another session."""
        super().attach(session)
        self.query_one(TravelLine).close()
        self.query_one(TimelinePane).attach(session, automatic=self.app.options.resubscribe)  # type: ignore[attr-defined]
        self._tasks = TaskRows(session.tasks.all, self.glyphs)
        self._task_id = ""
        self._reply = None
        self.query_one("#task-column", Feed).show_rows(self._tasks)
        self.query_one(DetailPane).attach(session)
        self.query_one(DetailPane).show(None)
        self.query_one(ArtifactPane).show(None)
        composer = self.query_one(Composer)
        composer.aim, composer.problem = Aim(), ""
        composer.display = not session.recorded  # from a recording nothing can be sent

    def refresh_view(self) -> None:
        """Show what is new: rows, the task's state, the artifact; and aim at a task that waits for an answer."""
        if self.session is None or self._tasks is None:
            return
        pane, travel = self.query_one(TimelinePane), self.query_one(TravelLine)
        pane.refresh_rows()
        if travel.travelling:
            travel.read_on()
        else:
            if pane.feed.following:
                self._show_record(pane.feed.cursor)  # the row may be a run that grew
            self.query_one(ArtifactPane).show(self.shown_task, self._reply)
        self._tasks.refresh()
        self.query_one("#task-column", Feed).refresh_rows()
        self.show_title()
        self.query_one(Composer).push_on = self.session.push.on
        self._aim_where_it_moved()

    @property
    def shown_task(self) -> TrackedTask | None:
        """Return the task that is shown: the one chosen, else none."""
        return self.session.tasks.get(self._task_id) if self.session else None

    def follow_task(self, task_id: str) -> None:
        """Show another task: its artifact, its state, and aim the composer."""
        if task_id:
            self._task_id, self._reply = task_id, None
        self.aim_at_task()
        self.refresh_view()

    def show_reply(self, reply: MessageOfAgent) -> None:
        """Show a message that the agent answered with instead of a task, and stay in its context."""
        self._task_id, self._reply = "", reply
        self.query_one(Composer).aim = Aim("", reply.context_id or "")
        self.refresh_view()

    def aim_at_task(self) -> None:
        """Aim the composer: at the task where it waits for an answer, else at its context."""
        task = self.shown_task
        if task is None:
            return
        account = task.now
        composer = self.query_one(Composer)
        if account.state in INTERRUPTED:
            question = _words(account) or f"({short(account.state)}, without a word)"
            question = f"to log in elsewhere: {question}" if account.state == State.AUTH_REQUIRED else question
            composer.aim = Aim(task.id, account.context_id, question)
        else:
            composer.aim = Aim("", account.context_id)

    def _aim_where_it_moved(self) -> None:
        """Aim again when the task begins or ceases to wait for an answer, which a push alone may tell."""
        task = self.shown_task
        seen, self._seen = self._seen, (task.now.state, _words(task.now)) if task else ("", "")
        waits = self._seen[0] in INTERRUPTED
        if task is not None and seen != self._seen and (waits or self.query_one(Composer).aim.task_id == task.id):
            self.aim_at_task()

    def show_fault(self, fault: Fault | None) -> None:
        """Say above the text why the last call came to nothing, and what to do; None takes that back."""
        self.query_one(Composer).problem = fault.sentence() if fault else ""

    def show_title(self) -> None:
        """Show the task, its state and how long it has been going on."""
        past = self.query_one(TravelLine).past
        self.query_one(TimelinePane).show_title(self.shown_task, past, self.selected_record())

    def show_seq(self, seq: int) -> None:
        """Select the row of a record."""
        self.remove_class("-second")
        self.query_one(TimelinePane).show_seq(seq)

    def focus_first(self) -> None:
        """Go to the composer."""
        self.action_compose()

    def on_feed_highlighted(self, event: Feed.Highlighted) -> None:
        """Show the selected record, or the selected task."""
        if event.feed.id != "timeline":
            return
        self._show_record(event.index)
        travel, pane = self.query_one(TravelLine), self.query_one(TimelinePane)
        record = pane.record(event.index)
        chosen = travel.travelling and event.feed.has_focus  # else the cursor only goes where the traveller is
        if chosen and record is not None and not pane.holds(event.index, travel.seq):
            travel.go_to(record.seq)

    def _show_record(self, index: int) -> None:
        record = self.query_one(TimelinePane).record(index)
        if record is not None:
            self.query_one(DetailPane).show(record)

    def on_feed_opened(self, event: Feed.Opened) -> None:
        """Go to the detail of the row, or to the task."""
        if event.feed.id == "timeline":
            self.add_class("-second")
            self.query_one(DetailPane).focus_body()
        elif self._tasks is not None:
            self.follow_task(self._tasks.tasks[event.index].id)

    def on_composer_left(self) -> None:
        """Go to the timeline."""
        self.screen.set_focus(self.query_one("#timeline"))

    def action_back(self) -> None:
        """Go back to the timeline; from there to now, and then to all rows."""
        timeline = self.query_one("#timeline")
        if self.has_class("-second") or not timeline.has_focus:
            self.remove_class("-second")
            self.screen.set_focus(timeline)
        elif self.query_one(TravelLine).travelling:
            self.query_one(TravelLine).action_leave()
        else:
            self.query_one(TimelinePane).clear_filter()

    def action_compose(self) -> None:
        """Go to the composer."""
        self.remove_class("-second")
        self.screen.set_focus(self.query_one("#text"))

    def action_next_view(self) -> None:
        """Look at the selected record in another way."""
        self.query_one(DetailPane).action_next_view()

    def action_fold(self) -> None:
        """Fold the runs of chunks, or unfold them."""
        self.query_one(TimelinePane).fold()

    def action_filter(self) -> None:
        """Write a filter."""
        self.remove_class("-second")
        self.query_one(TimelinePane).filter()

    def action_compare(self) -> None:
        """Ask the agent for the task of the row, and lay what it answers beside what came by stream and by push."""
        task_id = self._task_of_row()
        if task_id:
            title = f"STREAM, PUSHES, GETTASK   task {task_id[:SHORT_ID]}"
            paper = PaperScreen(title, lambda: self._compare(task_id, paper.width))
            self.app.push_screen(paper)

    async def _compare(self, task_id: str, width: int) -> list[Paragraph]:
        from inspector.protocol.operations import Operation  # noqa: PLC0415 - loaded with the session
        from inspector.session.push.comparison import ask_and_compare  # noqa: PLC0415 - loaded when asked for
        from inspector.tui.render.comparison import compared  # noqa: PLC0415 - opened rarely

        if self.session is None:
            return []
        session = self.session
        reason = session.unavailable_reason(Operation.GET)
        capture = session.journal.capture
        comparison, asked = await ask_and_compare(capture, task_id, reason, lambda: session.get(task_id).finish())
        return compared(comparison, asked, self.glyphs, width)

    def _task_of_row(self) -> str:
        """Return the task that the selected row tells of, else the one that is shown, `""` where there is none."""
        record, shown = self.selected_record(), self.shown_task
        if self.session is not None and record is not None and record.task in self.session.tasks:
            return record.task
        return shown.id if shown is not None else ""

    # Time travel

    def action_travel(self) -> None:
        """Show the task of the selected row as it was then, or the task that is shown."""
        record, task_id = self.selected_record(), self._task_of_row()
        if self.session is None:
            return
        if task_id:
            told = record is not None and record.task == task_id
            seq = record.seq if record is not None and told else len(self.session.journal.capture)
            self.query_one(TravelLine).enter(self.session, task_id, seq)
        else:
            self.app.notify("No task was heard of yet. Send a message first.", markup=False)

    def on_travel_line_moved(self, event: TravelLine.Moved) -> None:
        """Show the task as it was, and the record that made it so."""
        self.add_class("-past")
        self.query_one(ArtifactPane).show(event.task)
        if self.session is not None and not self.query_one("#timeline").has_focus:
            self.query_one(TimelinePane).show_seq(event.seq)
            self.query_one(DetailPane).show(self.session.journal.capture.get(event.seq))
        self.show_title()

    def on_travel_line_left(self) -> None:
        """Show the task as it is now."""
        self.remove_class("-past")
        self.screen.set_focus(self.query_one("#timeline"))
        self.refresh_view()

    # The stream

    def action_health(self) -> None:
        """Show how well the stream flows."""
        line = self.query_one(StreamLine)

        async def write() -> list[Paragraph]:
            return line.in_full()

        self.app.push_screen(PaperScreen("STREAM", write, live=True))

    def on_stream_line_clicked(self) -> None:
        """Show how well the stream flows."""
        self.action_health()

    def action_automatic(self) -> None:
        """Listen again by itself where a stream is lost, or not any more."""
        line = self.query_one(StreamLine)
        line.automatic = not line.automatic
        said = "is listened to again by itself" if line.automatic else "is listened to again when you press s"
        self.app.notify(f"A task whose stream is lost {said}.", markup=False)
        self.refresh_view()

    # Calls

    def action_cancel_task(self) -> None:
        """Ask for the task to be canceled."""
        if self.shown_task is not None:
            self.post_message(CallWanted("CancelTask", self.shown_task.id))

    def action_subscribe(self) -> None:
        """Ask to listen to the task again."""
        if self.shown_task is not None:
            self.post_message(CallWanted("SubscribeToTask", self.shown_task.id))

    def action_listen_again(self) -> None:
        """Ask to listen again to the task whose stream was lost."""
        self.action_subscribe()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey what cannot be done to the task as it is now."""
        lost = self.query_one(StreamLine).lost
        if action == "listen_again" or (action == "subscribe" and lost):
            return lost and action == "listen_again"
        if action in ("cancel_task", "subscribe") and self.session is not None and not self.session.recorded:
            running = self.shown_task is not None and not is_terminal(self.shown_task.now.state)
            return True if running else None
        if action == "compare":
            return True if self._task_of_row() else None
        if action == "back":
            elsewhere = self.query_one(TravelLine).travelling or self.query_one(TimelinePane).filtering
            return self.has_class("-second") or elsewhere
        return super().check_action(action, parameters)

    def lists(self, record: Record) -> bool:
        """Tell whether a record is on the timeline."""
        return belongs(record)

    def selected_record(self) -> Record | None:
        """Return the record in the detail."""
        return self.query_one(DetailPane).record

    def selected_text(self) -> str:
        """Return the payload of the selected record, the value under the cursor, or the artifact's text."""
        if self.query_one(ArtifactPane).has_focus_within:
            return self.query_one(ArtifactPane).selected_text()
        return self.query_one(DetailPane).selected_text()


def _words(account: AssembledTask) -> str:
    """Return what the agent says of the state that a task is in."""
    message = account.status.message
    return " ".join(part.text for part in message.parts if part.text) if message else ""
