"""A2A 0.3 over JSON-RPC: `kind` discriminators, lowercase states, nested push configurations, `final`.

Both directions work on JSON: 0.3 is rewritten into the canonical shape and read, or the canonical object is written
and rewritten. Members that 0.3 does not name pass through unchanged either way, all but a tenant, which is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects import v0_3_card
from inspector.protocol.dialects.base import Dialect, Result
from inspector.protocol.jsonvalue import brief, read, type_name
from inspector.protocol.lifecycle import State, is_interrupted, is_terminal
from inspector.protocol.model import (
    Deleted,
    Event,
    ExtendedCardRequest,
    Json,
    Message,
    PushConfig,
    PushConfigList,
    PushConfigRequest,
    Request,
    SendRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskList,
    TaskStatusUpdateEvent,
    Unreadable,
)
from inspector.protocol.operations import REQUESTS, Operation

METHODS: Mapping[Operation, str] = {
    Operation.SEND: "message/send",
    Operation.STREAM: "message/stream",
    Operation.GET: "tasks/get",
    Operation.CANCEL: "tasks/cancel",
    Operation.SUBSCRIBE: "tasks/resubscribe",
    Operation.SET_PUSH: "tasks/pushNotificationConfig/set",
    Operation.GET_PUSH: "tasks/pushNotificationConfig/get",
    Operation.LIST_PUSH: "tasks/pushNotificationConfig/list",
    Operation.DELETE_PUSH: "tasks/pushNotificationConfig/delete",
    Operation.EXTENDED_CARD: "agent/getAuthenticatedExtendedCard",
}

_ROLES = {"user": "ROLE_USER", "agent": "ROLE_AGENT"}
_STATES: Mapping[str, str] = {
    "submitted": State.SUBMITTED,
    "working": State.WORKING,
    "input-required": State.INPUT_REQUIRED,
    "auth-required": State.AUTH_REQUIRED,
    "completed": State.COMPLETED,
    "failed": State.FAILED,
    "canceled": State.CANCELED,
    "rejected": State.REJECTED,
    "unknown": State.UNSPECIFIED,
}
_FILE = {"bytes": "raw", "uri": "url", "name": "filename", "mimeType": "mediaType"}
_PUSH_QUERY = {"id": "taskId", "pushNotificationConfigId": "id"}

Change: TypeAlias = Callable[[Json], Json]
"""Rewrites a value; one of the wrong type comes back as it is, for the model to refuse."""


def _inverse(names: Mapping[str, str]) -> dict[str, str]:
    return {str(canonical): spelled for spelled, canonical in names.items()}


def _word(names: Mapping[str, str]) -> Change:
    return lambda value: names.get(value, value) if isinstance(value, str) else value


def _each(change: Change) -> Change:
    return lambda value: [change(item) for item in value] if isinstance(value, list) else value


def _renamed(names: Mapping[str, str]) -> Change:
    def rewrite(value: Json) -> Json:
        if not isinstance(value, dict):
            return value
        return {names.get(name, name): member for name, member in value.items()}

    return rewrite


def _up(kind: str = "", /, **changes: Change) -> Change:
    """Rewrite the named members of an object, and drop its kind where it is the expected one."""

    def rewrite(value: Json) -> Json:
        if not isinstance(value, dict):
            return value
        lifted = value.copy()
        if kind and lifted.get("kind") == kind:
            del lifted["kind"]
        for name, change in changes.items():
            if name in lifted:
                lifted[name] = change(lifted[name])
        return lifted

    return rewrite


def _down(kind: str = "", /, **changes: Change) -> Change:
    """Rewrite the named members of an object, and say its kind unless it says one itself."""
    rewrite = _up("", **changes)
    return lambda value: {"kind": kind} | rewrite(value) if kind and isinstance(value, dict) else rewrite(value)


def _kind_of(part: dict[str, Json]) -> str:
    """Tell the kind of a part in canonical shape from its content."""
    if part.get("raw") is not None or part.get("url") is not None:
        return "file"
    return "data" if "data" in part and part.get("text") is None else "text"


# ── reading: 0.3 JSON into canonical JSON ──


def _up_part(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    part = value.copy()
    if isinstance(part.get("file"), dict):
        file = part.pop("file")
        part |= {_FILE[name]: member for name, member in file.items() if name in _FILE and member is not None}
        if unknown := {name: member for name, member in file.items() if name not in _FILE}:
            part["file"] = unknown
    if part.get("kind") == _kind_of(part):
        del part["kind"]
    return part


def _up_push(value: Json) -> Json:
    """Read `{taskId, pushNotificationConfig: {...}}`, or the inner object alone, as the flat form of 1.0."""
    if not isinstance(value, dict):
        return value
    flat = value.copy()
    if isinstance(flat.get("pushNotificationConfig"), dict):
        outer_id = {"taskId": flat["taskId"]} if "taskId" in flat else {}
        flat |= flat.pop("pushNotificationConfig") | outer_id
    authentication = flat.get("authentication")
    if isinstance(authentication, dict) and isinstance(authentication.get("schemes"), list):
        authentication = authentication.copy()
        first, *others = authentication["schemes"] or [""]
        if not others:
            del authentication["schemes"]
        flat["authentication"] = authentication | {"scheme": first}
    return flat


def _up_configuration(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    configuration = value.copy()
    blocking = configuration.pop("blocking", None)
    if blocking is not None:
        configuration["returnImmediately"] = not blocking if isinstance(blocking, bool) else blocking
    if "pushNotificationConfig" in configuration:
        configuration["taskPushNotificationConfig"] = _up_push(configuration.pop("pushNotificationConfig"))
    return configuration


_up_message = _up("message", role=_word(_ROLES), parts=_each(_up_part))
_up_status = _up(state=_word(_STATES), message=_up_message)
_up_artifact = _up(parts=_each(_up_part))
_up_task = _up("task", status=_up_status, artifacts=_each(_up_artifact), history=_each(_up_message))
_up_send = _up(message=_up_message, configuration=_up_configuration)

_UP_EVENTS: Mapping[str, tuple[type[Event], Change]] = {
    "task": (Task, _up_task),
    "message": (Message, _up_message),
    "status-update": (TaskStatusUpdateEvent, _up("status-update", status=_up_status)),
    "artifact-update": (TaskArtifactUpdateEvent, _up("artifact-update", artifact=_up_artifact)),
}
_UP_REQUESTS: Mapping[Operation, Change] = {
    Operation.SEND: _up_send,
    Operation.STREAM: _up_send,
    Operation.SET_PUSH: _up_push,
    Operation.GET_PUSH: _renamed(_PUSH_QUERY),
    Operation.LIST_PUSH: _renamed(_PUSH_QUERY),
    Operation.DELETE_PUSH: _renamed(_PUSH_QUERY),
}


def decode_event(value: Json) -> Event | Unreadable:
    """Read a stream item or the result of a send, told apart by `kind` (section 7.2.1)."""
    if not isinstance(value, dict):
        return Unreadable(value, f"an event is an object, this is {type_name(value)}")
    kind = value.get("kind")
    if isinstance(kind, str) and kind in _UP_EVENTS:
        model, change = _UP_EVENTS[kind]
        return read(model, value, change)
    if kind is not None:
        return Unreadable(value, f"no known kind: {brief(kind)}")
    wrapped = [name for name in ("task", "message", "statusUpdate", "artifactUpdate") if name in value]
    return Unreadable(value, "no kind" + (f", but the 1.0 wrapper {wrapped[0]!r}" if wrapped else ""))


def decode_request(operation: Operation, value: Json) -> Request | Unreadable:
    """Read the parameters of an operation."""
    return read(REQUESTS[operation], {} if value is None else value, _UP_REQUESTS.get(operation))


def decode_result(operation: Operation, value: Json) -> Result | Unreadable:
    """Read the result of an operation."""
    match operation:
        case Operation.GET | Operation.CANCEL:
            return _read_task(value)
        case Operation.SET_PUSH | Operation.GET_PUSH:
            return read(PushConfig, value, _up_push)
        case Operation.LIST_PUSH:
            return read(PushConfigList, value, lambda configs: {"configs": _each(_up_push)(configs)})
        case Operation.DELETE_PUSH:
            return Deleted() if value is None else read(Deleted, value)
        case Operation.EXTENDED_CARD:
            return v0_3_card.decode_card(value)
        case Operation.LIST:
            return Unreadable(value, "0.3 has no list over JSON-RPC")
        case _:
            return decode_event(value)


def decode_push(value: Json) -> Event | Unreadable:
    """Read a webhook's body: a bare Task from the SDKs of this generation, which mark it with `kind` or not."""
    bare = isinstance(value, dict) and "kind" not in value and "status" in value and "id" in value
    return _read_task(value) if bare else decode_event(value)


def _read_task(value: Json) -> Task | Unreadable:
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind not in (None, "task"):
        return Unreadable(value, f"a task is due here, this is of kind {brief(kind)}")
    return read(Task, value, _up_task)


# ── writing: canonical JSON into 0.3 JSON ──


def _down_part(value: Json) -> Json:
    part = {"kind": _kind_of(value)} | value
    unknown = part.get("file", {})
    if "file" in (part["kind"], _kind_of(value)) and isinstance(unknown, dict):
        part["file"] = {spelled: part.pop(name) for spelled, name in _FILE.items() if name in part} | unknown
    return part


def _down_push(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    config = {name: member for name, member in value.items() if name != "tenant"}
    if isinstance(config.get("authentication"), dict):
        authentication = config["authentication"].copy()
        scheme, schemes = authentication.pop("scheme", ""), authentication.get("schemes", [])
        if scheme and not (isinstance(schemes, list) and schemes[:1] == [scheme]):
            schemes = [scheme]
        config["authentication"] = authentication | {"schemes": schemes}
    return config


def _down_configuration(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    configuration = value.copy()
    immediately = configuration.pop("returnImmediately", None)
    if immediately is not None:
        configuration["blocking"] = not immediately
    if "taskPushNotificationConfig" in configuration:
        configuration["pushNotificationConfig"] = _down_push(configuration.pop("taskPushNotificationConfig"))
    return configuration


_down_message = _down("message", role=_word(_inverse(_ROLES)), parts=_each(_down_part))
_down_status = _down(state=_word(_inverse(_STATES)), message=_down_message)
_down_artifact = _down(parts=_each(_down_part))
_down_send = _down(message=_down_message, configuration=_down_configuration)

_DOWN_EVENTS: Mapping[type[Event], Change] = {
    Task: _down("task", status=_down_status, artifacts=_each(_down_artifact), history=_each(_down_message)),
    Message: _down_message,
    TaskStatusUpdateEvent: _down("status-update", status=_down_status),
    TaskArtifactUpdateEvent: _down("artifact-update", artifact=_down_artifact),
}


def encode_event(event: Event) -> Json:
    """Write an event under its kind; a status update says whether it is the last one of the stream (section 7.2.2)."""
    value = _DOWN_EVENTS[type(event)](event.to_json())
    if isinstance(event, TaskStatusUpdateEvent):
        state = event.status.state
        value = {"final": is_terminal(state) or is_interrupted(state)} | value
    return value


def encode_request(operation: Operation, request: Request) -> Json:
    """Write the parameters of an operation."""
    value = {name: member for name, member in request.to_json().items() if name != "tenant"}
    match request:
        case SendRequest():
            return _down_send(value)
        case PushConfig():
            return _nest_push(value)
        case PushConfigRequest():
            if request.id is None:
                value.pop("id", None)
            return _renamed(_inverse(_PUSH_QUERY))(value)
        case ExtendedCardRequest():
            return value or None
        case _:
            return value


def encode_result(operation: Operation, result: Result) -> Json:
    """Write the result of an operation; the pages of a list of push configurations are not known to 0.3."""
    match result:
        case PushConfig():
            return _nest_push(result.to_json())
        case PushConfigList():
            return [_nest_push(config.to_json()) for config in result.configs]
        case Deleted():
            return result.to_json() or None
        case AgentCard():
            return v0_3_card.encode_card(result)
        case TaskList():
            return result.to_json() | {"tasks": [encode_event(task) for task in result.tasks]}
        case _:
            return encode_event(result)


def _nest_push(value: dict[str, Json]) -> Json:
    config = _down_push(value)
    task = config.pop("taskId", None)
    return ({} if task is None else {"taskId": task}) | {"pushNotificationConfig": config}


DIALECT = Dialect(
    generation="0.3",
    methods=METHODS,
    headers={},
    extensions_header="X-A2A-Extensions",
    encode_request=encode_request,
    decode_request=decode_request,
    encode_result=encode_result,
    decode_result=decode_result,
    encode_event=encode_event,
    decode_event=decode_event,
    encode_push=encode_event,
    decode_push=decode_push,
    encode_card=v0_3_card.encode_card,
    decode_card=v0_3_card.decode_card,
)
