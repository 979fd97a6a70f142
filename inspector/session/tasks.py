"""The tasks that a session has heard of, each as the stream and as the webhook tell it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from inspector.protocol.assemble import AssembledTask, Misfit
from inspector.protocol.lifecycle import is_terminal
from inspector.protocol.model import Event, Message, Task, TaskStatusUpdateEvent


class Source(StrEnum):
    """By which way an event came."""

    ANSWER = "answer"
    PUSH = "push"


@dataclass(slots=True)
class TrackedTask:
    """One task, assembled apart for each way in, so that a chunk which came by both is not there twice.

    `teller` is the exchange whose stream tells the task now, 0 for none: what other exchanges answer in the meantime
    is told by that stream too.
    """

    id: str
    number: int
    first_seen: float
    answered: AssembledTask
    pushed: AssembledTask
    teller: int = 0

    @property
    def now(self) -> AssembledTask:
        """Return the account to believe: what the agent answered, unless only pushes went on."""
        answered, pushed = self.answered, self.pushed
        if not answered.events or (not is_terminal(answered.state) and pushed.updated > answered.updated):
            return pushed if pushed.events else answered
        return answered


class Tasks:
    """Every task of a session in the order in which they were first seen."""

    def __init__(self) -> None:
        self._by_id: dict[str, TrackedTask] = {}

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, task_id: object) -> bool:
        return task_id in self._by_id

    def get(self, task_id: str) -> TrackedTask | None:
        """Return a task, or None where it was never heard of."""
        return self._by_id.get(task_id)

    def all(self) -> list[TrackedTask]:
        """Return the tasks, the one first seen last at the front."""
        return list(reversed(self._by_id.values()))

    def adopt(self, task: TrackedTask) -> None:
        """Go on from a task as it was told so far."""
        self._by_id[task.id] = task

    def take(self, event: Event, at: float, source: Source, *, stream: int = 0) -> tuple[Misfit, ...]:
        """Fold an event into its task and say what about it does not fit; an event of no task is passed over.

        `stream` is the exchange where the event came by a stream. While one stream tells the task, others are believed
        about its end alone: what else they say comes by that one too, and would be there twice.
        """
        task_id = task_of(event)
        if not task_id:
            return ()
        tracked = self._by_id.get(task_id)
        if tracked is None:
            tracked = TrackedTask(task_id, len(self._by_id) + 1, at, AssembledTask(task_id), AssembledTask(task_id))
            self._by_id[task_id] = tracked
        if source is Source.PUSH:
            return tracked.pushed.apply(event, at)
        if tracked.teller not in (0, stream):
            tracked.answered.conclude(event, at)
            return ()
        tracked.teller = stream
        return tracked.answered.apply(event, at)

    def go_on(self, task_id: str, artifact_id: str, text: str, at: float) -> None:
        """Take in a chunk of a task that its stream alone tells, which differs from the last event in its text."""
        self._by_id[task_id].answered.go_on(artifact_id, text, at)

    def told_by(self, stream: int, task_id: str) -> AssembledTask | None:
        """Return the account of a task that a stream tells alone, None where it does not."""
        tracked = self._by_id.get(task_id)
        return tracked.answered if tracked is not None and tracked.teller == stream else None

    def let_go(self, task_id: str, stream: int) -> None:
        """Note that a stream is over: the next one that speaks of the task tells it."""
        tracked = self._by_id.get(task_id)
        if tracked is not None and tracked.teller == stream:
            tracked.teller = 0


def task_of(event: Event) -> str:
    """Return the id of the task that an event is about, `""` for a message outside of any."""
    return event.id if isinstance(event, Task) else event.task_id or ""


def context_of(event: Event) -> str:
    """Return the id of the context that an event is in."""
    return event.context_id or ""


def state_of(event: Event) -> str:
    """Return the state that an event tells, `""` for one that tells none."""
    return event.status.state if isinstance(event, (Task, TaskStatusUpdateEvent)) else ""


def text_of(message: Message | None) -> str:
    """Return the text of a message: its text parts, one beside the other."""
    return " ".join(part.text for part in message.parts if part.text) if message else ""
