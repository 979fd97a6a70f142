"""The interface between a behaviour and its task: the messages of the client, and methods to publish events."""

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

from .faults.fault import ActiveFault
from .task_store import TaskRecord, new_id, now, timestamp


class TaskPublisher(Protocol):
    """Takes the events of a task and publishes them to subscribers and webhooks."""

    def publish(
        self, record: TaskRecord, event: TaskStatusUpdateEvent | TaskArtifactUpdateEvent, *, resumes: bool = False
    ) -> None:
        """Apply an event to its task and send it to subscribers and webhooks."""

    def push(self, record: TaskRecord) -> None:
        """Send the current task to its webhooks."""

    def log_task(self, record: TaskRecord, line: str) -> None:
        """Write a line about a task to the log of the agent."""


def text_of(message: Message) -> str:
    """Return the first text of a message, `""` if it has none."""
    return next((part.text for part in message.parts if part.text is not None), "")


def first_word(message: Message) -> str:
    """Return the first word of a message in lower case, `""` if it has no text."""
    return next(iter(text_of(message).lower().split(maxsplit=1)), "")


def after_first_word(text: str) -> str:
    """Return a text without its first word."""
    return "".join(text.strip().split(maxsplit=1)[1:])


def agent_message(record: TaskRecord, content: str | list[Part]) -> Message:
    """Return a message of the agent about a task, from a text or from parts."""
    return Message(
        message_id=new_id(),
        role="ROLE_AGENT",
        task_id=record.task_id,
        context_id=record.context_id,
        parts=[Part(text=content)] if isinstance(content, str) else content,
    )


def status_update(record: TaskRecord, state: State, content: str | list[Part] | None = None) -> TaskStatusUpdateEvent:
    """Return a status update with the current time, and with a message if `content` is not None."""
    moment = timestamp(now())
    if content is None:
        status = TaskStatus(state=state, timestamp=moment)
    else:
        status = TaskStatus(state=state, message=agent_message(record, content), timestamp=moment)
    return TaskStatusUpdateEvent(task_id=record.task_id, context_id=record.context_id, status=status)


class TaskContext:
    """A task while a behaviour works on it: the message of the client and the methods to respond.

    `status` and `artifact` also let other asyncio tasks run, and wait for slow subscribers.
    """

    def __init__(self, record: TaskRecord, message: Message, publisher: TaskPublisher, pace: float) -> None:
        self._record = record
        self._publisher = publisher
        self._pace = pace
        self.message = message
        record.turn_messages.append(message)

    @property
    def text(self) -> str:
        """Return the first text of the message."""
        return text_of(self.message)

    @property
    def messages(self) -> Sequence[Message]:
        """Return the messages that the behaviour was run for, the current message last."""
        return self._record.turn_messages

    async def status(self, state: State, content: str | list[Part] | None = None, *, resumes: bool = False) -> None:
        """Publish a status update, with a message if `content` is not None.

        After an interrupted state that `resumes`, the behaviour continues without a message of the client.
        """
        self._publisher.publish(self._record, status_update(self._record, state, content), resumes=resumes)
        await self._record.wait_for_readers()

    async def artifact(self, artifact: Artifact, *, append: bool = False, last_chunk: bool = True) -> None:
        """Publish an artifact or a chunk of one."""
        self._publisher.publish(
            self._record,
            TaskArtifactUpdateEvent(
                task_id=self._record.task_id,
                context_id=self._record.context_id,
                artifact=artifact,
                append=append,
                last_chunk=last_chunk,
            ),
        )
        await self._record.wait_for_readers()

    def push(self) -> None:
        """Send the current task to its webhooks, but not to streams."""
        self._publisher.push(self._record)

    def log(self, line: str) -> None:
        """Write a line to the log of the agent."""
        self._publisher.log_task(self._record, line)

    def add_fault(self, active: ActiveFault) -> None:
        """Apply a fault to the following events."""
        self._record.add_fault(active)

    async def pause(self, seconds: float) -> None:
        """Wait for some seconds, multiplied by the pace of the agent."""
        await asyncio.sleep(seconds * self._pace)
