"""What a behaviour holds while it works on a task: the words it was given, and the ways to say something."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from inspector.protocol.lifecycle import State
from inspector.protocol.model import (
    Artifact,
    Message,
    Part,
    TaskArtifactUpdateEvent,
    TaskStatus,
    TaskStatusUpdateEvent,
)

from .state import TaskRecord, new_id, now, timestamp

Publish = Callable[[TaskRecord, TaskStatusUpdateEvent | TaskArtifactUpdateEvent], None]


def text_of(message: Message) -> str:
    """Return the first text of a message, or nothing."""
    return next((part.text for part in message.parts if part.text is not None), "")


def first_word(message: Message) -> str:
    """Return the first word of a message in lower case, or nothing."""
    return next(iter(text_of(message).lower().split(maxsplit=1)), "")


def after_first_word(text: str) -> str:
    """Return what follows the first word of a text."""
    return "".join(text.strip().split(maxsplit=1)[1:])


def agent_message(record: TaskRecord, text: str) -> Message:
    """Return a message of the agent about a task."""
    return Message(
        message_id=new_id(),
        role="ROLE_AGENT",
        task_id=record.task_id,
        context_id=record.context_id,
        parts=[Part(text=text)],
    )


def status_update(record: TaskRecord, state: State, text: str | None = None) -> TaskStatusUpdateEvent:
    """Return the event of a task that comes into a state now, with the agent's words about it."""
    moment = timestamp(now())
    if text is None:
        status = TaskStatus(state=state, timestamp=moment)
    else:
        status = TaskStatus(state=state, message=agent_message(record, text), timestamp=moment)
    return TaskStatusUpdateEvent(task_id=record.task_id, context_id=record.context_id, status=status)


class Work:
    """One turn of a task: the client's message, and how the behaviour answers it.

    `turn` is 1 for the message that started the task. Every way to say something also gives the other tasks a turn,
    and waits for a reader that is too far behind.
    """

    def __init__(self, record: TaskRecord, message: Message, publish: Publish, pace: float) -> None:
        self._record = record
        self._publish = publish
        self._pace = pace
        self.message = message
        self.turn = record.turns

    @property
    def text(self) -> str:
        """Return the first text of the client's message."""
        return text_of(self.message)

    @property
    def words(self) -> str:
        """Return what follows the first word of the client's message."""
        return after_first_word(self.text)

    def number(self, default: int, most: int) -> int:
        """Return the number that follows the first word, held between 1 and `most`; the default where none does."""
        digits = next(iter(self.words.split()), "")
        return min(max(int(digits[:20]), 1), most) if digits.isascii() and digits.isdigit() else default

    async def status(self, state: State, text: str | None = None) -> None:
        """Bring the task into a state."""
        self._publish(self._record, status_update(self._record, state, text))
        await self._record.room()

    async def artifact(self, artifact: Artifact, *, append: bool = False, last_chunk: bool = True) -> None:
        """Give an artifact, or a chunk of one."""
        self._publish(
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

    async def pause(self, seconds: float) -> None:
        """Take the time that real work would take, times the agent's pace."""
        await asyncio.sleep(seconds * self._pace)
