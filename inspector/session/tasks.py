"""Folds events into tasks, separately for responses of the agent and for push notifications."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inspector.capture.records import DELIVERY, END, FRAME, Record
from inspector.lazy_dataclass import dataclass
from inspector.protocol.assemble import AssembledTask, TextAppended
from inspector.protocol.content import EVENT_TYPES
from inspector.protocol.lifecycle import is_terminal
from inspector.protocol.model import Event, Task, TaskList, TaskStatusUpdateEvent
from inspector.session.exchanges import Exchanges
from inspector.session.listed_pages import ListedPages

EVENT_CLASSES = (TextAppended, *EVENT_TYPES)
"""The classes of events, the most frequent first."""


@dataclass(slots=True)
class TrackedTask:
    """One task as responses (`answered`) and push notifications (`pushed`) report it; both may contain the same events.

    `stream` is the exchange whose stream reports on the task now, 0 for none. `artifacts_known` is false for a task
    that was only listed without its artifacts, which ListTasks leaves out by default (1.0 section 3.1.4).
    """

    id: str
    number: int
    first_seen: float
    answered: AssembledTask
    pushed: AssembledTask
    stream: int = 0
    artifacts_known: bool = False

    @property
    def now(self) -> AssembledTask:
        """Return `answered`, unless only `pushed` is up to date."""
        answered, pushed = self.answered, self.pushed
        if not answered.events or (not is_terminal(answered.state) and pushed.updated > answered.updated):
            return pushed if pushed.events else answered
        return answered


class TaskFold:
    """Folds recorded events into tasks, for live sessions, opened captures and time travel.

    `exchanges` has the summaries of the records so far.
    """

    def __init__(self, exchanges: Exchanges) -> None:
        self._exchanges = exchanges
        self._by_id: dict[str, TrackedTask] = {}
        self.pages = ListedPages()
        """The pages of the lists of tasks that the agent sent."""

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, task_id: object) -> bool:
        return task_id in self._by_id

    def get(self, task_id: str) -> TrackedTask | None:
        """Return a task, or None before its first event."""
        return self._by_id.get(task_id)

    def all(self) -> list[TrackedTask]:
        """Return the tasks, the newest first."""
        return list(reversed(self._by_id.values()))

    def adopt(self, task: TrackedTask) -> None:
        """Start from a copy of a task at an earlier moment."""
        self._by_id[task.id] = task

    def forget(self, task_ids: Iterable[str]) -> None:
        """Remove tasks that are not needed any more; their records stay."""
        for task_id in task_ids:
            self._by_id.pop(task_id, None)

    def take(self, records: Sequence[Record], answer: object) -> None:
        """Fold the event in a record; a `TextAppended` is in several records, one for each text.

        `answer` is the event or the list of tasks; anything else is ignored, as are rejected deliveries.
        """
        first = records[0]
        if first.kind is END:
            self._end_stream(first.exchange)
        elif first.kind is DELIVERY and not first.meta.get("taken"):
            return
        elif isinstance(answer, EVENT_CLASSES):
            self._apply(records, answer)
        elif isinstance(answer, TaskList):
            for task in answer.tasks:
                self._apply(records, task, has_artifacts=task.artifacts is not None)

    def _apply(self, records: Sequence[Record], event: Event | TextAppended, *, has_artifacts: bool = True) -> None:
        """Apply an event; to avoid duplicates, other responses may only end a task while a stream reports on it."""
        first, at, task_id = records[0], records[-1].at, task_of(event)
        tracked = self._by_id.get(task_id)
        if tracked is None:
            if not task_id:
                return
            number = len(self._by_id) + 1
            tracked = TrackedTask(task_id, number, first.at, AssembledTask(task_id), AssembledTask(task_id))
            self._by_id[task_id] = tracked
        tracked.artifacts_known |= has_artifacts
        if first.kind is DELIVERY:
            tracked.pushed.apply(event, at)
            return
        stream = self._stream_of(first, tracked)
        if tracked.stream in (0, stream):
            tracked.stream = stream
            tracked.answered.apply(event, at)
        elif isinstance(event, Task | TaskStatusUpdateEvent):
            tracked.answered.conclude(event.status, at)

    def _stream_of(self, record: Record, tracked: TrackedTask) -> int:
        """Return the exchange of a record if it is a stream that reports on a task, else 0."""
        if record.kind is not FRAME:
            return 0
        if record.exchange == tracked.stream:
            return record.exchange
        summary = self._exchanges.get(record.exchange)
        return record.exchange if summary is not None and summary.stream_task == tracked.id else 0

    def _end_stream(self, exchange: int) -> None:
        summary = self._exchanges.get(exchange)
        tracked = self._by_id.get(summary.stream_task) if summary is not None else None
        if tracked is not None and tracked.stream == exchange:
            tracked.stream = 0


def task_of(event: Event | TextAppended) -> str:
    """Return the id of the task of an event, `""` for a message outside of any task."""
    return event.task_id or ""
