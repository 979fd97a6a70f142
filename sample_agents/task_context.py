"""What a behaviour holds while it works on a task: the words it was given, and the ways to say something."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from inspector.protocol.lifecycle import State
from inspector.protocol.model import (
    Artifact,
    Message,
    Part,
    TaskArtifactUpdateEvent,
    TaskStatus,
    TaskStatusUpdateEvent,
)

from .faults.fault import Spoiler
from .task_store import TaskRecord, new_id, now, timestamp


class Desk(Protocol):
    """Where the work of a task goes."""

    def publish(self, record: TaskRecord, event: TaskStatusUpdateEvent | TaskArtifactUpdateEvent) -> None:
        """Change a task by an event and tell its readers and webhooks."""

    def push(self, record: TaskRecord) -> None:
        """Tell a task's webhooks how it stands."""

    def note(self, record: TaskRecord, line: str) -> None:
        """Tell the person who runs the agent something about a task."""


def text_of(message: Message) -> str:
    """Return the first text of a message, or nothing."""
    return next((part.text for part in message.parts if part.text is not None), "")


def first_word(message: Message) -> str:
    """Return the first word of a message in lower case, or nothing."""
    return next(iter(text_of(message).lower().split(maxsplit=1)), "")


def after_first_word(text: str) -> str:
    """Return what follows the first word of a text."""
    return "".join(text.strip().split(maxsplit=1)[1:])


def agent_message(record: TaskRecord, said: str | list[Part]) -> Message:
    """Return a message of the agent about a task, of a text or of parts."""
    return Message(
        message_id=new_id(),
        role="ROLE_AGENT",
        task_id=record.task_id,
        context_id=record.context_id,
        parts=[Part(text=said)] if isinstance(said, str) else said,
    )


def status_update(record: TaskRecord, state: State, said: str | list[Part] | None = None) -> TaskStatusUpdateEvent:
    """Return the event of a task that comes into a state now, with the agent's words about it."""
    moment = timestamp(now())
    if said is None:
        status = TaskStatus(state=state, timestamp=moment)
    else:
        status = TaskStatus(state=state, message=agent_message(record, said), timestamp=moment)
    return TaskStatusUpdateEvent(task_id=record.task_id, context_id=record.context_id, status=status)


class Work:
    """One turn of a task: the client's message, and how the behaviour answers it.

    `turn` is 1 for the message that started the task. Every way to say something also gives the other tasks a turn,
    and waits for a reader that is too far behind.
    """

    def __init__(self, record: TaskRecord, message: Message, desk: Desk, pace: float) -> None:
        self._record = record
        self._desk = desk
        self._pace = pace
        self.message = message
        self.turn = record.turns
        record.begun.append(message)

    @property
    def text(self) -> str:
        """Return the first text of the client's message."""
        return text_of(self.message)

    @property
    def messages(self) -> Sequence[Message]:
        """Return the client's messages that began the task's turns, this one last."""
        return self._record.begun

    async def status(self, state: State, said: str | list[Part] | None = None) -> None:
        """Bring the task into a state, with words about it or parts."""
        self._desk.publish(self._record, status_update(self._record, state, said))
        await self._record.room()

    async def artifact(self, artifact: Artifact, *, append: bool = False, last_chunk: bool = True) -> None:
        """Give an artifact, or a chunk of one."""
        self._desk.publish(
            self._record,
            TaskArtifactUpdateEvent(
                task_id=self._record.task_id,
                context_id=self._record.context_id,
                artifact=artifact,
                append=append,
                last_chunk=last_chunk,
            ),
        )
        await self._record.room()

    def push(self) -> None:
        """Send the task as it stands to its webhooks, and to no stream."""
        self._desk.push(self._record)

    def note(self, line: str) -> None:
        """Tell the person who runs the agent something."""
        self._desk.note(self._record, line)

    def spoil(self, spoiler: Spoiler) -> None:
        """Let something go wrong with what is said from here on."""
        self._record.spoil(spoiler)

    async def pause(self, seconds: float) -> None:
        """Take the time that real work would take, times the agent's pace."""
        await asyncio.sleep(seconds * self._pace)
