"""The line about the stream: how it flows, and when it was lost, how to listen again and what was missed."""

from __future__ import annotations

import time

from textual import events
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from inspector.capture.records import Record
from inspector.protocol.lifecycle import is_terminal, short
from inspector.protocol.operations import Operation
from inspector.session import reconnect
from inspector.session.exchanges import ExchangeSummary
from inspector.session.reconnect import LostStream, NextStep
from inspector.session.replay.task_diff import TaskDiff
from inspector.session.session import Session
from inspector.session.stream_health import StreamHealth, dated_span, health, looks_buffered
from inspector.session.tasks import TrackedTask
from inspector.text.sanitise import clean_line
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.health import health_in_full, health_line
from inspector.tui.render.rows import SHORT_ID
from inspector.tui.render.text_lines import Paragraph, Piece
from inspector.tui.views.base import CallWanted
from inspector.tui.widgets.state_line import LOW


class StreamLine(Static):
    """Shows how one stream flows, and watches over the stream of the task that is shown; hidden where there is none.

    With `automatic`, it asks by itself to listen again to a task whose stream was lost.
    """

    DEFAULT_CSS = """
    StreamLine {
        height: 1;
        display: none;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """

    class Clicked(Message):
        """The line was clicked, to see more of it."""

    def __init__(self, session: Session, glyphs: Glyphs) -> None:
        super().__init__()
        self._session = session
        self._glyphs = glyphs
        self.automatic = False
        self._watched: TrackedTask | None = None
        self._stream: ExchangeSummary | None = None
        self._spans: dict[int, float | None] = {}
        self._drop: LostStream | None = None
        self._heard = False
        self._missed: TaskDiff | None = None
        self._tries = 0
        self._waiting: Timer | None = None
        self._drawn: tuple[Piece, ...] = ()

    @property
    def lost(self) -> bool:
        """Say whether the task goes on without a stream that tells of it."""
        return self._drop is not None and not self._heard and not self._over

    @property
    def _over(self) -> bool:
        return self._watched is None or is_terminal(self._watched.now.state)

    def show(self, task: TrackedTask | None, record: Record | None) -> None:
        """Show the stream that a record belongs to, or the last one of a task, and watch over that task."""
        exchanges = self._session.journal.exchanges
        if task is not self._watched:
            self._forget_drop()
            self._watched = task
        told = exchanges.stream_of(task.id) if task is not None else None
        if task is not None and told is not None:
            self._watch(task, told)
        selected = exchanges.get(record.exchange) if record is not None else None
        self._stream = selected if selected is not None and selected.pulse is not None else told
        self._draw()

    # Watching

    def _watch(self, task: TrackedTask, stream: ExchangeSummary) -> None:
        drop = self._drop
        if stream.seconds is not None and (drop is None or drop.exchange < stream.number):
            found = reconnect.lost_stream(task, stream)
            if found is not None:
                went_on = drop is None or stream.events > 1
                self._drop, self._heard, self._missed = found, False, None
                self._tries = 0 if went_on else self._tries
        if self._drop is not None and not self._heard:
            self._heard = reconnect.has_news(self._session.journal.capture, self._drop)
            self._missed = reconnect.missed_changes(self._session.journal.capture, self._drop) if self._heard else None
        if self.lost and self.automatic and self._waiting is None and not self._asking(task.id):
            self._listen_again(self._drop)

    def _asking(self, task_id: str) -> bool:
        """Say whether the agent is being asked about the task at this moment."""
        journal = self._session.journal
        running = (journal.exchanges.get(number) for number in journal.running)
        return any(one is not None and one.task == task_id for one in running)

    def _listen_again(self, drop: LostStream | None) -> None:
        if drop is None:
            return
        match reconnect.next_step(self._session.journal.capture, drop, self._tries):
            case NextStep.SUBSCRIBE:
                self._waiting = self.set_timer(reconnect.DELAYS[self._tries], lambda: self._ask(Operation.SUBSCRIBE))
            case NextStep.ASK:
                self._waiting = self.set_timer(reconnect.DELAYS[0], lambda: self._ask(Operation.GET))
            case NextStep.NOTHING:
                pass

    def _ask(self, operation: Operation) -> None:
        self._waiting = None
        self._tries += 1
        if self.lost and self._watched is not None:
            self.post_message(CallWanted(operation, self._watched.id))

    def _forget_drop(self) -> None:
        if self._waiting is not None:
            self._waiting.stop()
        self._drop, self._heard, self._missed, self._tries, self._waiting = None, False, None, 0, None

    # What is to be seen

    def health(self) -> StreamHealth | None:
        """Return how the stream that is shown stands, None where there is none."""
        stream, session = self._stream, self._session
        if stream is None:
            return None
        if stream.number not in self._spans and looks_buffered(stream):
            self._spans[stream.number] = dated_span(session.journal.capture, stream)
        over = session.journal.exchanges.over
        return health(stream, time.time(), self._spans.get(stream.number), recorded=over)

    def in_full(self) -> list[Paragraph]:
        """Return everything that is known of the stream."""
        found = self.health()
        if found is None:
            return [Paragraph(("", "line--soft"), "No stream has told of this yet.", "line--soft")]
        return health_in_full(found, self._glyphs)

    def _draw(self) -> None:
        found = self.health()
        room = self.app.size.height >= LOW or self.lost
        self.display = found is not None and room
        if found is None:
            return
        well = self._drop is None or self._drop.exchange != found.number
        drawn = (*self._whose(), *self._notice(found), *health_line(found, self._glyphs, well=well))
        if drawn != self._drawn:
            self._drawn = drawn
            self.update(Content.assemble(*drawn), layout=False)

    def _whose(self) -> list[Piece]:
        """Say of which task a stream tells, where that is not the one that is shown."""
        task = self._stream.task if self._stream is not None else ""
        other = bool(task) and self._watched is not None and task != self._watched.id
        return [(f"of {clean_line(task[:SHORT_ID], SHORT_ID)}   ", "bold $state-warning")] if other else []

    def _notice(self, found: StreamHealth) -> list[Piece]:
        """Return what is to be said of the stream before its numbers: that it was lost, or what was missed."""
        drop, task = self._drop, self._watched
        if drop is None or task is None or found.number < drop.exchange:
            return []
        if self.lost:
            state = short(task.now.state)
            said = "s listens again" if self._waiting is None else "listening again in a moment"
            if self.automatic and self._tries and self._waiting is None:
                said = f"tried {self._tries} times, s tries again"
            told = "" if drop.broken else f"{self._glyphs.cross} ended while the task is {state}   "
            return [(told, "bold $state-bad"), (f"{said}   ", "bold $state-warning")]
        if self._missed is not None:
            return [(f"while away: {self._missed.words}   ", "$wire-pushed")]
        if self._heard:
            return [("what came while away is not known: the agent told no snapshot   ", "$state-warning")]
        return []

    def on_click(self, event: events.Click) -> None:
        """Show more."""
        event.stop()
        self.post_message(self.Clicked())
