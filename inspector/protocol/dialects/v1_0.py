"""A2A 1.0 in JSON: the canonical shape itself, with one-member wrappers around what can be several things."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects.base import Dialect, Result
from inspector.protocol.jsonvalue import brief, read, type_name
from inspector.protocol.model import (
    Deleted,
    Event,
    Json,
    Message,
    PushConfig,
    PushConfigList,
    Request,
    Task,
    TaskArtifactUpdateEvent,
    TaskList,
    TaskStatusUpdateEvent,
    Unreadable,
)
from inspector.protocol.operations import REQUESTS, Operation

_EVENTS: Mapping[str, type[Event]] = {
    "artifactUpdate": TaskArtifactUpdateEvent,
    "statusUpdate": TaskStatusUpdateEvent,
    "task": Task,
    "message": Message,
}
_WRAPPERS = {model: name for name, model in _EVENTS.items()}

_RESULTS: Mapping[Operation, type[Task | TaskList | PushConfig | PushConfigList | AgentCard]] = {
    Operation.GET: Task,
    Operation.CANCEL: Task,
    Operation.LIST: TaskList,
    Operation.SET_PUSH: PushConfig,
    Operation.GET_PUSH: PushConfig,
    Operation.LIST_PUSH: PushConfigList,
    Operation.EXTENDED_CARD: AgentCard,
}


def decode_event(value: Json) -> Event | Unreadable:
    """Read a StreamResponse, which is also a SendMessageResponse and a webhook's body (section 3.2.3)."""
    if not isinstance(value, dict):
        return Unreadable(value, f"an event is an object, this is {type_name(value)}")
    wrappers = [name for name in _EVENTS if value.get(name) is not None]
    match wrappers:
        case [name]:
            event = read(_EVENTS[name], value[name])
            return Unreadable(value, event.why) if isinstance(event, Unreadable) else event
        case []:
            said = f", but the 0.3 member kind: {brief(value['kind'])}" if "kind" in value else ""
            return Unreadable(value, f"none of {', '.join(sorted(_EVENTS))}{said}")
        case _:
            return Unreadable(value, f"more than one member of a one-of: {', '.join(sorted(wrappers))}")


def encode_event(event: Event) -> Json:
    """Write an event in its wrapper."""
    return {_WRAPPERS[type(event)]: event.to_json()}


def encode_request(operation: Operation, request: Request) -> Json:
    """Write the parameters of an operation."""
    return request.to_json()


def decode_request(operation: Operation, value: Json) -> Request | Unreadable:
    """Read the parameters of an operation."""
    return read(REQUESTS[operation], {} if value is None else value)


def encode_result(operation: Operation, result: Result) -> Json:
    """Write the result of an operation; what can be one of several things is wrapped."""
    match result:
        case Deleted():
            return result.to_json() or None
        case Task() | Message() | TaskStatusUpdateEvent() | TaskArtifactUpdateEvent() if operation not in _RESULTS:
            return encode_event(result)
        case _:
            return result.to_json()


def decode_result(operation: Operation, value: Json) -> Result | Unreadable:
    """Read the result of an operation."""
    if operation is Operation.DELETE_PUSH:
        return Deleted() if value is None else read(Deleted, value)
    if operation not in _RESULTS:
        return decode_event(value)
    if _RESULTS[operation] is Task and isinstance(value, dict) and "task" in value and "id" not in value:
        return Unreadable(value, "a bare task is due here, this one is wrapped in 'task'")
    return read(_RESULTS[operation], value)


def decode_card(value: Json) -> AgentCard | Unreadable:
    """Read a card."""
    return read(AgentCard, value)


DIALECT = Dialect(
    generation="1.0",
    methods={operation: operation.value for operation in Operation},
    headers={"A2A-Version": "1.0"},
    extensions_header="A2A-Extensions",
    encode_request=encode_request,
    decode_request=decode_request,
    encode_result=encode_result,
    decode_result=decode_result,
    encode_event=encode_event,
    decode_event=decode_event,
    encode_push=encode_event,
    decode_push=decode_event,
    encode_card=AgentCard.to_json,
    decode_card=decode_card,
)
