"""Faults in the events of a stream: missing, repeated, wrong or in the wrong order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

from inspector.protocol.lifecycle import State, is_terminal
from inspector.protocol.model import (
    Artifact,
    Event,
    Message,
    Part,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
    Wire,
)

from ..errors import CallError
from .fault import FaultRegistry, Level

EVENTS = FaultRegistry(Level.EVENTS)
REGISTRIES = (EVENTS,)

WireT = TypeVar("WireT", bound=Wire)

_Events = AsyncIterator[Event]
_OTHER = "00000000-0000-4000-8000-000000000000"
_HOSTILE = (
    "\x1b]0;owned\x07\x1b[2J\x1b[31m[/][@click=app.quit]\u202egnp.exe\u200b\x9b31m\x07 <script>alert(1)</script> "
)


def _each(change: Callable[[Event], Event]) -> Callable[[_Events], _Events]:
    """Return the fault function that changes each event."""

    async def changed(events: _Events) -> _Events:
        async for event in events:
            yield change(event)

    return changed


def _with(value: WireT, **members: Any) -> WireT:
    return value.model_copy(update=members)


@EVENTS.fault("duplicate", "sends every event twice", "STREAM-019")
async def duplicate(events: _Events) -> _Events:
    async for event in events:
        yield event
        yield event


@EVENTS.fault("reorder", "swaps the last two events", "STREAM-003")
async def reorder(events: _Events) -> _Events:
    held: list[Event] = []
    async for event in events:
        held.append(event)
        if len(held) > 2:
            yield held.pop(0)
    for event in reversed(held):
        yield event


@EVENTS.fault("drop", "omits an event", "STREAM-011", number="its number in the stream", default=1)
async def drop(events: _Events, which: float) -> _Events:
    number = 0
    async for event in events:
        number += 1
        if number != int(which):
            yield event


@EVENTS.fault("drop-last", "omits the update that ends the task", "STREAM-001")
async def drop_last(events: _Events) -> _Events:
    async for event in events:
        if not _ends(event):
            yield event


@EVENTS.fault("wrong-task", "names another task in its updates", "STREAM-006")
@_each
def wrong_task(event: Event) -> Event:
    return event if isinstance(event, Task | Message) else _with(event, task_id=_OTHER)


@EVENTS.fault("wrong-context", "names another context in its updates", "STREAM-006")
@_each
def wrong_context(event: Event) -> Event:
    return event if isinstance(event, Task | Message) else _with(event, context_id=_OTHER)


@EVENTS.fault("wrong-state", "reports a working task as submitted", "STREAM-002")
async def wrong_state(events: _Events) -> _Events:
    working = False
    async for event in events:
        if working and isinstance(event, TaskStatusUpdateEvent):
            yield _in_state(event, State.SUBMITTED)
        yield event
        working = isinstance(event, TaskStatusUpdateEvent)


@EVENTS.fault("unknown-state", "sends a state that no protocol version defines", "STREAM-009")
@_each
def unknown_state(event: Event) -> Event:
    if isinstance(event, TaskStatusUpdateEvent) and not _ends(event):
        return _in_state(event, "TASK_STATE_PONDERING")
    return event


@EVENTS.fault("fresh-artifacts", "sends every chunk with another artifactId", "STREAM-020")
async def fresh_artifacts(events: _Events) -> _Events:
    number = 0
    async for event in events:
        number += 1
        if isinstance(event, TaskArtifactUpdateEvent):
            fresh = _with(event.artifact, artifact_id=f"{event.artifact.artifact_id}-{number}")
            yield _with(event, artifact=fresh, append=False, last_chunk=False)
        else:
            yield event


@EVENTS.fault("append-first", "appends to an artifact that does not exist", "STREAM-004")
@_each
def append_first(event: Event) -> Event:
    return _with(event, append=True) if isinstance(event, TaskArtifactUpdateEvent) else event


@EVENTS.fault("chunk-after-last", "appends to an artifact after its last chunk", "STREAM-005")
async def chunk_after_last(events: _Events) -> _Events:
    async for event in events:
        yield event
        if isinstance(event, TaskArtifactUpdateEvent) and event.last_chunk:
            yield _with(event, append=True)


@EVENTS.fault("after-terminal", "sends an artifact after the end of the task", "STREAM-003")
async def after_terminal(events: _Events) -> _Events:
    async for event in events:
        yield event
        if isinstance(event, TaskStatusUpdateEvent) and _ends(event):
            late = Artifact(artifact_id="late", name="late.txt", parts=[Part(text="Sent after the end of the task.")])
            yield TaskArtifactUpdateEvent(
                task_id=event.task_id, context_id=event.context_id, artifact=late, append=False, last_chunk=True
            )


@EVENTS.fault("message-in-stream", "sends a message among the updates of a task", "STREAM-010")
async def message_in_stream(events: _Events) -> _Events:
    async for event in events:
        yield event
        if isinstance(event, Task):
            parts = [Part(text="A message among the updates.")]
            yield Message(message_id="by-the-way", role="ROLE_AGENT", context_id=event.context_id, parts=parts)


@EVENTS.fault("error-in-stream", "ends a stream with an error", "InternalError", number="events before it", default=2)
async def error_in_stream(events: _Events, after: float) -> _Events:
    left = int(after)
    async for event in events:
        if left == 0:
            break
        left -= 1
        yield event
    raise CallError("InternalError", "Fault error-in-stream: the stream ends with an error.")


@EVENTS.fault("error-after", "sends an error after the end of the task", "InternalError")
async def error_after(events: _Events) -> _Events:
    async for event in events:
        yield event
    raise CallError("InternalError", "Fault error-after: an error after the end of the task.")


@EVENTS.fault("hostile-text", "sends escape sequences, markup and bidirectional control characters", "")
@_each
def hostile_text(event: Event) -> Event:
    match event:
        case Message():
            return _hostile_message(event)
        case TaskArtifactUpdateEvent():
            artifact = event.artifact
            name = _HOSTILE + (artifact.name or "")
            return _with(event, artifact=_with(artifact, name=name, parts=_hostile_parts(artifact.parts)))
        case TaskStatusUpdateEvent() if event.status.message is not None:
            return _with(event, status=_with(event.status, message=_hostile_message(event.status.message)))
        case _:
            return event


def _hostile_message(message: Message) -> Message:
    return _with(message, parts=_hostile_parts(message.parts))


def _hostile_parts(parts: list[Part]) -> list[Part]:
    return [part if part.text is None else _with(part, text=_HOSTILE + part.text) for part in parts]


def _ends(event: Event) -> bool:
    return isinstance(event, TaskStatusUpdateEvent) and is_terminal(event.status.state)


def _in_state(event: TaskStatusUpdateEvent, state: str) -> TaskStatusUpdateEvent:
    return _with(event, status=_with(event.status, state=state))
