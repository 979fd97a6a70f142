"""Talk: the timeline, the artifact that grows beside it, the detail of the selected record, and the composer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from inspector.capture.records import Kind, Record
from inspector.protocol.lifecycle import INTERRUPTED, State, is_terminal, short
from inspector.tui.places.base import CallWanted, Place
from inspector.tui.render.content import plain
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.rows import SHORT_ID, relative
from inspector.tui.render.sources import TaskRows, TimelineRows
from inspector.tui.widgets.artifactpane import ArtifactPane
from inspector.tui.widgets.composer import Aim, Composer
from inspector.tui.widgets.detailpane import DetailPane
from inspector.tui.widgets.feed import Column, Feed

if TYPE_CHECKING:
    from inspector.protocol.assemble import AssembledTask
    from inspector.protocol.errors import Fault
    from inspector.protocol.model import Message as MessageOfAgent
    from inspector.session.lists import RecordList
    from inspector.session.session import Session
    from inspector.session.tasks import TrackedTask

COLUMNS = (
    Column("time", 8, "right"),
    Column("way", 1),
    Column("kind", 10, min_total_width=40),
    Column("what"),
    Column("note", 13, "right", min_total_width=50),
    Column("mark", 1),
)
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


PHASE = 0.25
"""How long each phase of the moving sign is shown, in seconds."""


def belongs(record: Record) -> bool:
    """Say whether a record is part of the conversation, which card fetches, the doctor and good heads are not."""
    if record.operation == "GetAgentCard" or record.event == "doctor":
        return False
    match record.kind:
        case Kind.RESPONSE:
            return bool(record.meta["status"] >= 300)
        case Kind.TRAILERS:
            return bool(record.meta["code"])
        case Kind.END:
            return record.meta["how"] != "complete" or bool(record.findings)
        case _:
            return True


class Talk(Place):
    """The place where people live."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "compose", "write", id="talk.compose", tooltip="Write a message"),
        Binding("ctrl+k", "cancel_task", "cancel task", id="talk.cancel", tooltip="Cancel the task", priority=True),
        Binding("v", "next_view", "view", id="talk.view", tooltip="The selected record decoded, raw, hex, its head"),
        Binding("f", "fold", "fold", id="talk.fold", tooltip="Fold or unfold runs of chunks", show=False),
        Binding("escape", "back", "back", id="talk.back", tooltip="Back to the timeline"),
        Binding("s", "subscribe", "resubscribe", id="talk.subscribe", tooltip="Listen to the task again", show=False),
    ]

    CALLS: ClassVar[dict[str, str]] = {"cancel_task": "CancelTask", "subscribe": "SubscribeToTask"}

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__("talk", glyphs)
        self._list: RecordList | None = None
        self._rows: TimelineRows | None = None
        self._tasks: TaskRows | None = None
        self._task_id = ""
        self._seen = ("", "")
        self._reply: MessageOfAgent | None = None

    def compose(self) -> ComposeResult:
        """Make the columns and the composer."""
        with Horizontal(id="panes"):
            with Vertical(id="timeline-pane"):
                yield Static("TIMELINE", id="timeline-title", classes="pane-title")
                yield Feed(
                    COLUMNS,
                    enter_hint="detail",
                    id="timeline",
                    empty="Nothing yet. Write a message below; enter sends it.",
                )
            with Vertical(id="right-pane"):
                yield ArtifactPane(self.glyphs, id="artifact")
                yield DetailPane(self.glyphs, id="detail")
            with Vertical(id="tasks-pane"):
                yield Static(Content.styled("TASKS", "bold"), classes="pane-title")
                yield Feed(TASK_COLUMNS, id="task-column", follow=False, empty="No task yet.")
        yield Composer(id="composer")

    def attach(self, session: Session) -> None:
        """Show another session."""
        from inspector.session.lists import RecordList  # noqa: PLC0415 - loaded with the session, after first paint

        super().attach(session)
        self._list = RecordList(belongs, folded=True)
        session.journal.follow(self._list)
        self._rows = TimelineRows(session.journal, self._list, self.glyphs)
        self._tasks = TaskRows(session.tasks.all, self.glyphs)
        self._task_id = ""
        self._reply = None
        self.query_one("#timeline", Feed).show_rows(self._rows)
        self.query_one("#task-column", Feed).show_rows(self._tasks)
        self.query_one(DetailPane).read_with(session.payload)
        self.query_one(DetailPane).show(None)
        self.query_one(ArtifactPane).show(None)
        composer = self.query_one(Composer)
        composer.aim, composer.problem = Aim(), ""

    def refresh_view(self) -> None:
        """Show what is new: rows, the task's state, the artifact; and aim at a task that waits for an answer."""
        if self.session is None or self._tasks is None:
            return
        timeline = self.query_one("#timeline", Feed)
        timeline.refresh_rows()
        if timeline.following:
            self._show_record(timeline.cursor)  # the row may be a run that grew
        self._tasks.refresh()
        self.query_one("#task-column", Feed).refresh_rows()
        self.show_title()
        self.query_one(ArtifactPane).show(self.shown_task, self._reply)
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
        title = self.query_one("#timeline-title", Static)
        pieces: list[Content | tuple[str, str]] = [("TIMELINE", "bold")]
        task = self.shown_task
        if task is not None and task.now.moves:
            account = task.now
            style = "$state-good" if account.state.endswith("COMPLETED") else "$foreground"
            style = "$state-warning" if account.state in INTERRUPTED else style
            running = self.session is not None and self.session.journal.exchanges.open > 0
            last = time.time() if running and not is_terminal(account.state) else account.updated
            seconds = last - account.moves[0].at
            pieces += [("   ", ""), plain(task.id[:SHORT_ID])]
            pieces += [(f" {self._sign(account.state, moving=running)} {short(account.state)}", style)]
            pieces += [(f"  {relative(seconds)} s", "$text-soft")]
        unseen = self.query_one("#timeline", Feed).unseen
        if unseen:
            pieces += [(f"   {unseen:,} new below, end follows", "$wire-received")]
        title.update(Content.assemble(*pieces), layout=False)

    def _sign(self, state: str, *, moving: bool) -> str:
        """Return the glyph of a state; a task at work has the only one on the screen that moves."""
        phases = self.glyphs.moving
        if state == State.WORKING and moving and self.app.animation_level != "none":
            return phases[int(time.monotonic() / PHASE) % len(phases)]
        return self.glyphs.state_glyph(state)

    def show_seq(self, seq: int) -> None:
        """Select the row of a record."""
        index = self._list.index_of(seq) if self._list else None
        if index is not None:
            self.remove_class("-second")
            self.query_one("#timeline", Feed).cursor = index

    def focus_first(self) -> None:
        """Go to the composer."""
        self.action_compose()

    def on_feed_highlighted(self, event: Feed.Highlighted) -> None:
        """Show the selected record, or the selected task."""
        if event.feed.id == "timeline":
            self._show_record(event.index)

    def _show_record(self, index: int) -> None:
        if self._rows is not None and 0 <= index < len(self._rows):
            self.query_one(DetailPane).show(self._rows.record(index))

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
        """Go back to the timeline."""
        self.remove_class("-second")
        self.screen.set_focus(self.query_one("#timeline"))

    def action_compose(self) -> None:
        """Go to the composer."""
        self.remove_class("-second")
        self.screen.set_focus(self.query_one("#text"))

    def action_next_view(self) -> None:
        """Look at the selected record in another way."""
        self.query_one(DetailPane).action_next_view()

    def action_fold(self) -> None:
        """Fold the runs of chunks, or unfold them."""
        if self.session is not None and self._list is not None:
            self.session.journal.refold(self._list, folded=not self._list.folded)
            self.query_one("#timeline", Feed).refresh_rows()

    def action_cancel_task(self) -> None:
        """Ask for the task to be canceled."""
        if self.shown_task is not None:
            self.post_message(CallWanted("CancelTask", self.shown_task.id))

    def action_subscribe(self) -> None:
        """Ask to listen to the task again."""
        if self.shown_task is not None:
            self.post_message(CallWanted("SubscribeToTask", self.shown_task.id))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey what cannot be done to the task as it is now."""
        if action in ("cancel_task", "subscribe"):
            running = self.shown_task is not None and not is_terminal(self.shown_task.now.state)
            return True if running else None
        if action == "back":
            return self.has_class("-second")
        return super().check_action(action, parameters)

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
