"""The lines under the title of the timeline: the states of the task, and the state of its stream."""

from __future__ import annotations

import time

from textual import events
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from inspector.capture.records import Kind, Record
from inspector.protocol.assemble import AssembledTask
from inspector.protocol.lifecycle import is_terminal, short
from inspector.protocol.operations import Operation
from inspector.session import reconnect
from inspector.session.exchanges import ExchangeSummary
from inspector.session.journal import Journal
from inspector.session.reconnect import LostStream, NextStep
from inspector.session.replay.task_diff import TaskDiff
from inspector.session.session import Session
from inspector.session.stream_health import StreamHealth, dated_span, health, looks_buffered
from inspector.session.tasks import TrackedTask
from inspector.text.sanitise import clean_line
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.health import health_in_full, health_line
from inspector.tui.render.rows import SHORT_ID
from inspector.tui.render.state_line import next_action, state_line
from inspector.tui.render.text_lines import Paragraph, Piece
from inspector.tui.views.base import CallWanted
from inspector.tui.widgets.pane import Chip

LOW = 16
"""On a screen with fewer rows, the next step and the state of a stream that was not lost are hidden."""

_SENDS = ("SendMessage", "SendStreamingMessage")


class StateLine(Static):
    """The states of a task, with the next step in a second line if there is one; hidden without a task."""

    DEFAULT_CSS = """
    StateLine {
        height: auto;
        max-height: 2;
        display: none;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """

    def __init__(self, journal: Journal, glyphs: Glyphs) -> None:
        super().__init__()
        self._journal = journal
        self._glyphs = glyphs
        self._account: AssembledTask | None = None
        self._past = False
        self._answers: list[tuple[float, str]] = []
        self._asked: tuple[str, int] = ("", -1)
        self._drawn: tuple[Piece, ...] = ()

    def show(self, account: AssembledTask | None, *, past: bool = False) -> None:
        """Show the states of a task as it is, or as it was in the `past`."""
        self._account, self._past = account, past
        asked = (account.id if account is not None else "", len(self._journal.sends))
        if account is not None and asked != self._asked:
            self._asked = asked
            sent = self._journal.capture.select(kinds=(Kind.REQUEST,), task=account.id)
            self._answers = [(record.at, record.label) for record in sent if record.operation in _SENDS]
        self._draw()

    def on_resize(self) -> None:
        """Fit the states to the new width."""
        self._draw()

    def _draw(self) -> None:
        account = self._account
        moves = account.moves if account is not None else []
        self.display = bool(moves)
        if not moves:
            return
        width = self.size.width or self.container_size.width
        states = state_line(moves, self._glyphs, width)
        low = self.app.size.height < LOW
        next_step = [] if low else next_action(moves, self._answers, self._glyphs, past=self._past)
        drawn = (*states, *([("\n", ""), *next_step] if next_step else []))
        if drawn != self._drawn:
            taller = ("\n", "") in drawn, ("\n", "") in self._drawn
            self._drawn = drawn
            self.update(Content.assemble(*drawn), layout=taller[0] != taller[1])


class StreamLine(Static):
    """Shows the state of a stream, and watches the stream of the task that is shown; hidden without a stream.

    With `automatic`, it requests a new subscription to a task whose stream was lost.
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
        """The line was clicked, to see more about the stream."""

    def __init__(self, session: Session, glyphs: Glyphs) -> None:
        super().__init__()
        self._session = session
        self._glyphs = glyphs
        self.automatic = False
        self._watched: TrackedTask | None = None
        self._stream: ExchangeSummary | None = None
        self._spans: dict[int, float | None] = {}
        self._drop: LostStream | None = None
        self._resumed = False
        self._missed: TaskDiff | None = None
        self._tries = 0
        self._waiting: Timer | None = None
        self._drawn: tuple[Piece, ...] = ()

    @property
    def lost(self) -> bool:
        """Whether the task continues without a stream that reports on it."""
        over = self._watched is None or is_terminal(self._watched.now.state)
        return self._drop is not None and not self._resumed and not over

    def show(self, task: TrackedTask | None, record: Record | None) -> None:
        """Show the stream of a record, or the last stream of a task, and watch that task."""
        exchanges = self._session.journal.exchanges
        if task is not self._watched:
            if self._waiting is not None:
                self._waiting.stop()
            self._drop, self._resumed, self._missed, self._tries, self._waiting = None, False, None, 0, None
            self._watched = task
        stream = exchanges.stream_of(task.id) if task is not None else None
        if task is not None and stream is not None:
            self._watch(task, stream)
        selected = exchanges.get(record.exchange) if record is not None else None
        self._stream = selected if selected is not None and selected.pulse is not None else stream
        self._draw()

    # Watching

    def _watch(self, task: TrackedTask, stream: ExchangeSummary) -> None:
        drop = self._drop
        if stream.seconds is not None and (drop is None or drop.exchange < stream.number):
            found = reconnect.lost_stream(task, stream)
            if found is not None:
                continued = drop is None or stream.events > 1
                self._drop, self._resumed, self._missed = found, False, None
                self._tries = 0 if continued else self._tries
        if self._drop is not None and not self._resumed:
            self._resumed = reconnect.has_news(self._session.journal.capture, self._drop)
            self._missed = (
                reconnect.missed_changes(self._session.journal.capture, self._drop) if self._resumed else None
            )
        if self._drop is not None and self.lost and self.automatic and self._waiting is None:
            journal = self._session.journal
            running = (journal.exchanges.get(number) for number in journal.running)
            if not any(exchange is not None and exchange.task == task.id for exchange in running):
                self._reconnect(self._drop)

    def _reconnect(self, drop: LostStream) -> None:
        match reconnect.next_step(self._session.journal.capture, drop, self._tries):
            case NextStep.SUBSCRIBE:
                self._waiting = self.set_timer(reconnect.DELAYS[self._tries], lambda: self._ask(Operation.SUBSCRIBE))
            case NextStep.ASK:
                self._waiting = self.set_timer(reconnect.DELAYS[0], lambda: self._ask(Operation.GET))

    def _ask(self, operation: Operation) -> None:
        self._waiting = None
        self._tries += 1
        if self.lost and self._watched is not None:
            self.post_message(CallWanted(operation, self._watched.id))

    # What is shown

    def health(self) -> StreamHealth | None:
        """Return the health of the stream that is shown, None without one."""
        stream, session = self._stream, self._session
        if stream is None:
            return None
        if stream.number not in self._spans and looks_buffered(stream):
            self._spans[stream.number] = dated_span(session.journal.capture, stream)
        over = session.journal.exchanges.over
        return health(stream, time.time(), self._spans.get(stream.number), recorded=over)

    def in_full(self) -> list[Paragraph]:
        """Return all measures of the stream."""
        found = self.health()
        if found is None:
            return [Paragraph(("", "line--soft"), "No stream has reported this task yet.", "line--soft")]
        return health_in_full(found, self._glyphs)

    def measures(self) -> list[Chip]:
        """Return the measures of the stream in a few words, for the border of the timeline."""
        found = self.health()
        if found is None:
            return []
        well = self._drop is None or self._drop.exchange != found.number
        return [Chip("".join(text for text, _ in health_line(found, self._glyphs, well=well)), "$text-soft", "stream")]

    def _draw(self) -> None:
        found = self.health()
        drawn = (*self._other_task(), *self._notice(found)) if found is not None else ()
        self.display = bool(drawn)
        if drawn != self._drawn:
            self._drawn = drawn
            self.update(Content.assemble(*drawn), layout=False)

    def _other_task(self) -> list[Piece]:
        """Name the task of the stream, if another task is shown."""
        task = self._stream.task if self._stream is not None else ""
        other = bool(task) and self._watched is not None and task != self._watched.id
        return [(f"task {clean_line(task[:SHORT_ID], SHORT_ID)}   ", "bold $state-warning")] if other else []

    def _notice(self, found: StreamHealth) -> list[Piece]:
        """Return the text before the measures: that the stream was lost, or what was missed."""
        drop, task = self._drop, self._watched
        if drop is None or task is None or found.number < drop.exchange:
            return []
        if self.lost:
            state = short(task.now.state)
            hint = "press s to subscribe again" if self._waiting is None else "reconnecting soon"
            if self.automatic and self._tries and self._waiting is None:
                hint = f"{self._tries} attempts failed, press s to subscribe again"
            problem = "" if drop.broken else f"{self._glyphs.cross} ended while the task is {state}   "
            return [(problem, "bold $state-bad"), (f"{hint}   ", "bold $state-warning")]
        if self._missed is not None:
            return [(f"while disconnected: {self._missed.words}   ", "$wire-pushed")]
        if self._resumed:
            return [("changes while disconnected are unknown: the agent sent no snapshot   ", "$state-warning")]
        return []

    def on_click(self, event: events.Click) -> None:
        """Show more."""
        event.stop()
        self.post_message(self.Clicked())
