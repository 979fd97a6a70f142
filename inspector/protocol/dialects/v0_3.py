"""A2A 0.3 over JSON-RPC: `kind` discriminators, lowercase states, nested push configurations, `final`.

Both directions work on JSON: 0.3 is rewritten into the canonical shape and read, or the canonical object is written
and rewritten. Members that 0.3 does not name pass through unchanged either way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects import v0_3_card
from inspector.protocol.dialects.base import Dialect, Result
from inspector.protocol.jsonvalue import read
from inspector.protocol.lifecycle import State, is_interrupted, is_terminal
from inspector.protocol.model import (
    Deleted,
    Event,
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
_ROLES_BACK = {canonical: spelled for spelled, canonical in _ROLES.items()}

_STATES: dict[str, str] = {
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
_STATES_BACK = {str(canonical): spelled for spelled, canonical in _STATES.items()}


# ── reading: 0.3 JSON into canonical JSON. A value of the wrong type is left for the model to refuse. ──


def _each(value: Json, change: Callable[[Json], Json]) -> Json:
    return [change(item) for item in value] if isinstance(value, list) else value


def _named(names: Mapping[str, str], value: Json) -> Json:
    return names.get(value, value) if isinstance(value, str) else value


def _up_part(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    part = {name: member for name, member in value.items() if name != "kind"}
    file = part.get("file")
    if isinstance(file, dict):
        names = {"bytes": "raw", "uri": "url", "name": "filename", "mimeType": "mediaType"}
        known = {names[name]: member for name, member in file.items() if name in names and member is not None}
        rest = {name: member for name, member in file.items() if name not in names}
        del part["file"]
        part |= known | ({"file": rest} if rest else {})
    return part


def _up_message(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    message = {name: member for name, member in value.items() if name != "kind"}
    if "role" in message:
        message["role"] = _named(_ROLES, message["role"])
    if "parts" in message:
        message["parts"] = _each(message["parts"], _up_part)
    return message


def _up_status(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    status = dict(value)
    if "state" in status:
        status["state"] = _named(_STATES, status["state"])
    if "message" in status:
        status["message"] = _up_message(status["message"])
    return status


def _up_artifact(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    return value | {"parts": _each(value["parts"], _up_part)} if "parts" in value else value


def _up_event(value: dict[str, Json]) -> dict[str, Json]:
    event = {name: member for name, member in value.items() if name != "kind"}
    for name, change in (
        ("status", _up_status),
        ("artifact", _up_artifact),
        ("artifacts", lambda items: _each(items, _up_artifact)),
        ("history", lambda items: _each(items, _up_message)),
    ):
        if name in event:
            event[name] = change(event[name])
    return event


def _up_push(value: Json) -> Json:
    """Read `{taskId, pushNotificationConfig: {...}}`, or the inner object alone, as the flat form of 1.0."""
    if not isinstance(value, dict):
        return value
    nested = value.get("pushNotificationConfig")
    flat = {name: member for name, member in value.items() if name != "pushNotificationConfig"}
    flat |= nested if isinstance(nested, dict) else {}
    authentication = flat.get("authentication")
    if isinstance(authentication, dict) and isinstance(authentication.get("schemes"), list):
        schemes = authentication["schemes"]
        flat["authentication"] = {name: member for name, member in authentication.items() if name != "schemes"}
        flat["authentication"] |= {"scheme": schemes[0]} if schemes else {}
        flat["authentication"] |= {"schemes": schemes} if len(schemes) > 1 else {}
    return flat


def _up_send(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    request = dict(value)
    if "message" in request:
        request["message"] = _up_message(request["message"])
    if isinstance(request.get("configuration"), dict):
        configuration = dict(request["configuration"])
        if isinstance(configuration.get("blocking"), bool):
            configuration["returnImmediately"] = not configuration.pop("blocking")
        if "pushNotificationConfig" in configuration:
            configuration["taskPushNotificationConfig"] = _up_push(configuration.pop("pushNotificationConfig"))
        request["configuration"] = configuration
    return request


_KINDS: Mapping[str, tuple[type[Event], Callable[[dict[str, Json]], Json]]] = {
    "task": (Task, _up_event),
    "message": (Message, _up_message),
    "status-update": (TaskStatusUpdateEvent, _up_event),
    "artifact-update": (TaskArtifactUpdateEvent, _up_event),
}


def decode_event(value: Json) -> Event | Unreadable:
    """Read a stream item or the result of a send, told apart by `kind` (section 7.2.1)."""
    if not isinstance(value, dict):
        return Unreadable(value, f"an event is a JSON object, this is {type(value).__name__}")
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        wrapped = [name for name in ("task", "message", "statusUpdate", "artifactUpdate") if name in value]
        said = f", but the 1.0 wrapper {wrapped[0]!r}" if wrapped and kind is None else f" {kind!r}"
        return Unreadable(value, f"no known kind{said if wrapped or kind is not None else ''}")
    model, change = _KINDS[kind]
    return read(model, change(value))


def decode_request(operation: Operation, value: Json) -> Request | Unreadable:
    """Read the parameters of an operation."""
    value = {} if value is None else value
    if operation in (Operation.SEND, Operation.STREAM):
        return read(SendRequest, _up_send(value))
    if operation is Operation.SET_PUSH:
        return read(PushConfig, _up_push(value))
    if operation in (Operation.GET_PUSH, Operation.LIST_PUSH, Operation.DELETE_PUSH) and isinstance(value, dict):
        names = {"id": "taskId", "pushNotificationConfigId": "id"}
        return read(PushConfigRequest, {names.get(name, name): member for name, member in value.items()})
    return read(REQUESTS[operation], value)


def decode_result(operation: Operation, value: Json) -> Result | Unreadable:
    """Read the result of an operation."""
    match operation:
        case Operation.GET | Operation.CANCEL:
            return read(Task, _up_event(value) if isinstance(value, dict) else value)
        case Operation.SET_PUSH | Operation.GET_PUSH:
            return read(PushConfig, _up_push(value))
        case Operation.LIST_PUSH:
            return read(PushConfigList, {"configs": _each(value, _up_push)})
        case Operation.DELETE_PUSH:
            return Deleted()
        case Operation.EXTENDED_CARD:
            return v0_3_card.decode_card(value)
        case Operation.LIST:
            return Unreadable(value, "0.3 has no list over JSON-RPC")
        case _:
            return decode_event(value)


def decode_push(value: Json) -> Event | Unreadable:
    """Read a webhook's body: a bare Task from the SDKs of this generation, which mark it with `kind` or not."""
    if isinstance(value, dict) and "kind" not in value and "status" in value and "id" in value:
        return read(Task, _up_event(value))
    return decode_event(value)


# ── writing: canonical JSON into 0.3 JSON ──


def _down_part(value: dict[str, Json]) -> Json:
    part = dict(value)
    extra = part.pop("file", None)
    rest = extra if isinstance(extra, dict) else {}
    names = {"raw": "bytes", "url": "uri", "filename": "name", "mediaType": "mimeType"}
    if "raw" in part or "url" in part:
        file = {spelled: part.pop(name) for name, spelled in names.items() if name in part}
        return {"kind": "file", "file": file | rest} | part
    return {"kind": "data" if "data" in part else "text"} | part


def _down_message(value: dict[str, Json]) -> Json:
    message: dict[str, Json] = {"kind": "message"} | value
    if "role" in message:
        message["role"] = _named(_ROLES_BACK, message["role"])
    if "parts" in message:
        message["parts"] = [_down_part(part) for part in message["parts"]]
    return message


def _down_status(value: dict[str, Json]) -> Json:
    status = dict(value)
    if "state" in status:
        status["state"] = _named(_STATES_BACK, status["state"])
    if status.get("message") is not None:
        status["message"] = _down_message(status["message"])
    return status


def _down_artifact(value: dict[str, Json]) -> Json:
    return value | {"parts": [_down_part(part) for part in value.get("parts") or ()]}


def _down_push(value: dict[str, Json]) -> Json:
    config = {name: member for name, member in value.items() if name not in ("taskId", "tenant")}
    authentication = config.get("authentication")
    if isinstance(authentication, dict):
        rest = {name: member for name, member in authentication.items() if name not in ("scheme", "schemes")}
        first = [authentication["scheme"]] if authentication.get("scheme") else []
        config["authentication"] = {"schemes": authentication.get("schemes", first)} | rest
    return config


def _down_event(kind: str, value: dict[str, Json]) -> dict[str, Json]:
    event: dict[str, Json] = {"kind": kind} | value
    for name, change in (
        ("status", _down_status),
        ("artifact", _down_artifact),
        ("artifacts", lambda items: [_down_artifact(item) for item in items]),
        ("history", lambda items: [_down_message(item) for item in items]),
    ):
        if event.get(name) is not None:
            event[name] = change(event[name])
    return event


def encode_event(event: Event) -> Json:
    """Write an event under its kind; a status update says whether it is the last one of the stream (section 7.2.2)."""
    match event:
        case Task():
            return _down_event("task", event.to_json())
        case Message():
            return _down_message(event.to_json())
        case TaskStatusUpdateEvent():
            state = event.status.state
            return {"final": is_terminal(state) or is_interrupted(state)} | _down_event(
                "status-update", event.to_json()
            )
        case TaskArtifactUpdateEvent():
            return _down_event("artifact-update", event.to_json())


def encode_request(operation: Operation, request: Request) -> Json:
    """Write the parameters of an operation; a tenant, which 0.3 does not have, is left out."""
    value = {name: member for name, member in request.to_json().items() if name != "tenant"}
    match request:
        case SendRequest():
            value["message"] = _down_message(value["message"])
            if "configuration" in value:
                value["configuration"] = _down_configuration(value["configuration"])
        case PushConfig():
            return {"taskId": request.task_id, "pushNotificationConfig": _down_push(value)}
        case PushConfigRequest():
            chosen = {} if request.id is None else {"pushNotificationConfigId": request.id}
            return {"id": request.task_id} | chosen
        case _ if operation is Operation.EXTENDED_CARD:
            return None
        case _:
            pass
    return value


def _down_configuration(value: dict[str, Json]) -> Json:
    configuration = dict(value)
    if "returnImmediately" in configuration:
        configuration["blocking"] = not configuration.pop("returnImmediately")
    if "taskPushNotificationConfig" in configuration:
        configuration["pushNotificationConfig"] = _down_push(configuration.pop("taskPushNotificationConfig"))
    return configuration


def encode_result(operation: Operation, result: Result) -> Json:
    """Write the result of an operation."""
    match result:
        case PushConfig():
            return {"taskId": result.task_id, "pushNotificationConfig": _down_push(result.to_json())}
        case PushConfigList():
            return [encode_result(operation, config) for config in result.configs]
        case Deleted():
            return None
        case AgentCard():
            return v0_3_card.encode_card(result)
        case TaskList():
            return {"tasks": [encode_event(task) for task in result.tasks]}
        case _:
            return encode_event(result)


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
