"""What a payload says in a row, and where in its JSON an event stands."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.protocol.assemble import TextAppended
from inspector.protocol.bindings.base import Answer
from inspector.protocol.errors import ProtocolError
from inspector.protocol.model import (
    Event,
    Json,
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
    Unreadable,
)
from inspector.session.tasks import context_of, state_of, task_of, text_of

_WRAPPERS: Mapping[type[Event], str] = {
    Task: "task",
    Message: "message",
    TaskStatusUpdateEvent: "statusUpdate",
    TaskArtifactUpdateEvent: "artifactUpdate",
}


def event_pointer(value: Json, event: Event) -> str:
    """Return where in a JSON payload an event stands, under the result of an envelope and in a wrapper of its own."""
    pointer = result_pointer(value)
    value = value["result"] if pointer else value
    wrapper = _WRAPPERS[type(event)]
    return f"{pointer}/{wrapper}" if isinstance(value, dict) and wrapper in value else pointer


def result_pointer(value: Json) -> str:
    """Return where in a JSON payload stands what was asked for: under the result of an envelope, or at the top."""
    return "/result" if isinstance(value, dict) and "result" in value else ""


def describe(answer: Answer | TextAppended) -> tuple[str, str, str, str, str]:
    """Return what a row says of a payload: its event, task, context, state and a label of one line."""
    match answer:
        case TextAppended():
            return describe(answer.like)
        case TaskArtifactUpdateEvent():
            return (
                "artifact",
                answer.task_id,
                context_of(answer),
                "",
                answer.artifact.name or answer.artifact.artifact_id,
            )
        case TaskStatusUpdateEvent() | Task():
            event = "task" if isinstance(answer, Task) else "status"
            return event, task_of(answer), context_of(answer), state_of(answer), text_of(answer.status.message)
        case Message():
            return "message", task_of(answer), context_of(answer), "", text_of(answer)
        case ProtocolError():
            code = "" if answer.code is None else f"{answer.code} "
            return "error", "", "", "", f"{code}{answer.words}"
        case Unreadable():
            return "unreadable", "", "", "", answer.why
        case _:
            return "result", "", "", "", type(answer).__name__
