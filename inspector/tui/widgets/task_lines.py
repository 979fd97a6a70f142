"""The lines above the rows of the timeline: notices about the task and about its stream."""

from __future__ import annotations

import time

from textual import events
from textual.message import Message
from textual.timer import Timer

from inspector.capture.records import Record
from inspector.capture.store import Capture
from inspector.lazy_dataclass import dataclass
from inspector.protocol.assemble import AssembledTask
from inspector.protocol.lifecycle import INTERRUPTED, State, is_terminal, short
from inspector.protocol.operations import Operation
from inspector.session import reconnect
from inspector.session.exchanges import ExchangeSummary
from inspector.session.reconnect import LostStream, NextStep
from inspector.session.replay.task_diff import TaskDiff
from inspector.session.session import Session
from inspector.session.stream_health import StreamHealth, dated_span, health, looks_buffered
from inspector.session.tasks import TrackedTask
from inspector.text.units import counted, duration
from inspector.tui.render.content import styled
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.health import awaited_words, health_in_full, health_words
from inspector.tui.render.key_hints import with_keys
from inspector.tui.render.task_notice import notice
from inspector.tui.render.text_lines import Paragraph, Piece, without_head
from inspector.tui.widgets.pane import Chip, NextChip
from inspector.tui.widgets.text_block import TextBlock

_SILENT = 10.0
"""The seconds without any byte after which an open stream is called silent."""
_MINUTE = 60
_BRIEF = 0.5
"""The seconds after which a response is called awaited: most responses arrive earlier."""


class NoticeLine(TextBlock):
    """Shows that the agent waits for the user, or an illegal transition of the task; hidden otherwise."""

    DEFAULT_CSS = """
    NoticeLine { height: 1; display: none; text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__()
        self._glyphs = glyphs
        self._drawn: tuple[Piece, ...] = ()

    def show(
        self,
        account: AssembledTask | None,
        *,
        past: bool = False,
        writing: bool = False,
        replying: bool = False,
        listening: bool = False,
    ) -> None:
        """Show the notice about a task as it is, or as it was in the `past`; see `notice` for the rest."""
        moves = account.moves if account is not None else []
        where = {"past": past, "writing": writing, "replying": replying, "listening": listening}
        drawn = tuple(notice(moves, self._glyphs, **where))
        if drawn != self._drawn:
            self._drawn = drawn
            self.display = bool(drawn)
            self.update(styled(drawn), layout=False)


@dataclass(slots=True)
class _Recovery:
    """What happened since a stream was `lost`.

    `tries` is the number of calls to continue it, `timer` runs until the next. `rejected` is whether the agent rejected
    a subscription, `resumed` whether something about the task was received again, and `missed` what changed meanwhile.
    """

    lost: LostStream
    tries: int = 0
    timer: Timer | None = None
    rejected: bool = False
    resumed: bool = False
    missed: TaskDiff | None = None

    def after(self, lost: LostStream, stream: ExchangeSummary) -> _Recovery:
        """Return the recovery of the stream that continued this one and was lost, too.

        The attempts are counted on, unless that stream had more events than the snapshot of the task.
        """
        return _Recovery(lost, 0 if stream.events > 1 else self.tries, self.timer)

    def look(self, capture: Capture) -> None:
        """Read what was recorded since then, unless the stream is resumed already."""
        if not self.resumed:
            self.rejected = reconnect.is_rejected(capture, self.lost)
            self.resumed = reconnect.has_news(capture, self.lost)
            self.missed = reconnect.missed_changes(capture, self.lost) if self.resumed else None


class StreamLine(TextBlock):
    """Shows that a stream was lost and what was missed, and watches the stream of the task that is shown.

    With `automatic`, it requests the calls that find a lost stream again, one after the other.
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

    @dataclass
    class Reconnect(Message):
        """A call has to be made to reconnect to a task; once it has ended, the task is removed from `reconnecting`."""

        operation: Operation
        task_id: str

    def __init__(self, session: Session, glyphs: Glyphs) -> None:
        super().__init__()
        self._session = session
        self._glyphs = glyphs
        self.automatic = False
        self.reconnecting: set[str] = set()
        """The ids of tasks with an automatic call that was requested and has not ended."""
        self.writing = False
        """Whether letters are text now, because the user writes a message."""
        self.awaited: ExchangeSummary | None = None
        """The running call whose response has not arrived yet, if any."""
        self._watched: TrackedTask | None = None
        self._stream: ExchangeSummary | None = None
        self._spans: dict[int, float | None] = {}
        self._recovery: _Recovery | None = None
        self._drawn: tuple[Piece, ...] = ()

    @property
    def lost(self) -> bool:
        """Whether the task continues without a stream that reports on it."""
        over = self._watched is None or is_terminal(self._watched.now.state)
        return self._recovery is not None and not self._recovery.resumed and not over

    def show(self, task: TrackedTask | None, record: Record | None) -> None:
        """Show the stream of a record, or the last stream of a task, and watch that task."""
        exchanges = self._session.journal.exchanges
        if task is not self._watched:
            if self._recovery is not None and self._recovery.timer is not None:
                self._recovery.timer.stop()
            self._recovery, self._watched = None, task
        stream = exchanges.stream_of(task.id) if task is not None else None
        if task is not None and stream is not None:
            self._watch(task, stream)
        selected = exchanges.get(record.exchange) if record is not None else None
        self._stream = selected if selected is not None and selected.pulse is not None else stream
        self._draw()

    # Watching

    def _watch(self, task: TrackedTask, stream: ExchangeSummary) -> None:
        before = self._recovery
        if stream.seconds is not None and (before is None or before.lost.exchange < stream.number):
            found = reconnect.lost_stream(task, stream)
            if found is not None:
                self._recovery = before.after(found, stream) if before is not None else _Recovery(found)
        recovery = self._recovery
        if recovery is None:
            return
        recovery.look(self._session.journal.capture)
        # An agent may end the stream of a task that waits for an authorization, and then continues without a message
        # (1.0 sections 7.6 and 11.7).
        automatic = self.automatic or task.now.state == State.AUTH_REQUIRED
        automatic = automatic and not self._session.recorded  # a capture has no agent
        planned = recovery.timer is not None or task.id in self.reconnecting
        if self.lost and automatic and not planned:
            journal = self._session.journal
            running = (journal.exchanges.get(number) for number in journal.running)
            if not any(exchange is not None and exchange.task == task.id for exchange in running):
                self._reconnect(recovery)

    def _reconnect(self, recovery: _Recovery) -> None:
        match reconnect.next_step(self._session.journal.capture, recovery.lost, recovery.tries):
            case NextStep.SUBSCRIBE:
                delay, operation = reconnect.DELAYS[recovery.tries], Operation.SUBSCRIBE
            case NextStep.GET:
                delay, operation = reconnect.DELAYS[0], Operation.GET
            case _:
                return
        recovery.timer = self.set_timer(delay, lambda: self._ask(operation))

    def _ask(self, operation: Operation) -> None:
        if self._recovery is not None:
            self._recovery.timer = None
            self._recovery.tries += 1
        if self.lost and self._watched is not None:
            self.reconnecting.add(self._watched.id)
            self.post_message(self.Reconnect(operation, self._watched.id))

    # What is shown

    def health(self) -> StreamHealth | None:
        """Return the health of the stream that is shown, None without one."""
        stream, session = self._stream, self._session
        if stream is None:
            return None
        if stream.number not in self._spans and looks_buffered(stream):
            self._spans[stream.number] = dated_span(session.journal.capture, stream)
        over = session.journal.exchanges.recorded
        return health(stream, time.time(), self._spans.get(stream.number), recorded=over)

    def in_full(self) -> list[Paragraph]:
        """Return all measures of the stream."""
        found = self.health()
        if found is None:
            return [without_head("No stream has reported this task yet.", "line--soft")]
        return health_in_full(found, self._glyphs)

    def measures(self, room: int) -> list[Chip]:
        """Return the measures of the stream in at most `room` cells, for the border of the timeline.

        While a response is awaited, return for how long.
        """
        if self._awaited_seconds >= _BRIEF:
            return [Chip(*awaited_words(self._awaited_seconds, self._glyphs))]
        found = self.health()
        if found is None:
            return []
        well = self._recovery is None or self._recovery.lost.exchange != found.number
        chips: list[Chip] = []
        for text, style in health_words(found, self._glyphs, room, well=well):
            if chips:
                chips.append(NextChip(self._glyphs.quiet, "$text-soft"))
            chips.append((NextChip if chips else Chip)(text, style, "stream"))
        return chips

    @property
    def _awaited_seconds(self) -> float:
        return max(0.0, time.time() - self.awaited.at) if self.awaited is not None else 0.0

    def _draw(self) -> None:
        found = self.health()
        drawn = tuple(self._notice(found)) if found is not None else ()
        if not drawn and self._awaited_seconds >= _SILENT:
            hint = f"{self._first}{{stop}} stop call"
            drawn = tuple(with_keys(f"{_silence(self._awaited_seconds)}   {hint}", "$state-warning"))
        self.display = bool(drawn)
        if drawn != self._drawn:
            self._drawn = drawn
            self.update(styled(drawn), layout=False)

    def _notice(self, found: StreamHealth) -> list[Piece]:
        """Return what the user has to know about the stream: that it is silent or was lost, or what was missed."""
        recovery, task = self._recovery, self._watched
        if found.silence >= _SILENT:
            return self._silent(found, task)
        if recovery is None or task is None or found.number < recovery.lost.exchange:
            return []
        if self.lost:
            return self._lost(recovery, task)
        if recovery.lost.task.restore().state == State.AUTH_REQUIRED and not recovery.lost.broken:
            return []  # the agent ended the stream in order, and nothing was expected until now
        if recovery.missed is not None:
            return [(f"while disconnected: {recovery.missed.words}", "$wire-pushed")]
        if recovery.resumed:
            return [("changes while disconnected are unknown: the agent sent no snapshot", "$state-warning")]
        return []

    def _silent(self, found: StreamHealth, task: TrackedTask | None) -> list[Piece]:
        """Return how long nothing was received, unless the agent waits for the user, and how to end that."""
        state = task.now.state if task is not None else ""
        if state in INTERRUPTED:
            return []
        is_running = bool(state) and not is_terminal(state)
        keys = "{compare} GetTask, {cancel} cancel, {stop} stop" if is_running else "{stop} stop stream"
        return with_keys(f"{_silence(found.silence)}   {self._first}{keys}", "$state-warning")

    def _lost(self, recovery: _Recovery, task: TrackedTask) -> list[Piece]:
        """Return that the stream was lost, and how to subscribe again."""
        again = f"press {self._first}{{subscribe}} to subscribe again"
        waits = task.now.state == State.AUTH_REQUIRED
        hint = again
        if recovery.timer is not None:
            hint = "reconnecting soon"
        elif task.id in self.reconnecting:
            hint = "reconnecting"
        elif recovery.rejected:
            hint = f"subscription rejected, press {self._first}{{compare}} for GetTask"
        elif (self.automatic or waits) and recovery.tries:
            hint = f"{counted(recovery.tries, 'attempt')} failed, {again}"
        ended = f"{self._glyphs.cross} ended while the task is {short(task.now.state)}   "
        problem = "" if recovery.lost.broken or waits else ended
        return [(problem, "bold $state-bad"), *with_keys(hint, "bold $state-warning")]

    @property
    def _first(self) -> str:
        """The key that is needed first where letters are text."""
        return "{back}, then " if self.writing else ""

    def on_click(self, event: events.Click) -> None:
        """Show more."""
        event.stop()
        self.post_message(self.Clicked())


def _silence(seconds: float) -> str:
    length = f"{int(seconds)} s" if seconds < _MINUTE else duration(seconds)
    return f"nothing received for {length}"
