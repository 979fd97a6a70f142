"""A2A 0.3 over JSON-RPC: `kind` discriminators, lowercase states, nested push configurations, `final`.

The JSON of 0.3 is converted to the canonical JSON and then read; objects are written as canonical JSON and then
converted. Unknown members are not changed, except that a tenant is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects import v0_3_card
from inspector.protocol.dialects.base import Dialect, Result
from inspector.protocol.dialects.detect import looks_like
from inspector.protocol.dialects.legacy import (
    ROLES,
    STATES,
    export_part,
    export_push,
    import_configuration,
    import_part,
    import_push,
    is_final,
)
from inspector.protocol.dialects.rewriting import (
    Change,
    add_discriminator,
    drop_discriminator,
    each,
    inverse,
    map_string,
    members,
    read_deleted,
    renamed,
    request_reader,
    result_reader,
    unknown_event,
    without,
)
from inspector.protocol.dialects.traits import V0_3
from inspector.protocol.jsonvalue import brief, read
from inspector.protocol.lenient_read import read_lenient
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
from inspector.protocol.operations import Operation

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
_PUSH_QUERY = {"id": "taskId", "pushNotificationConfigId": "id"}


# ── import: JSON of 0.3 to canonical JSON ──


_import_message = drop_discriminator("kind", "message", role=map_string(ROLES), parts=each(import_part("kind")))
_import_status = members(state=map_string(STATES), message=_import_message)
_import_artifact = members(parts=each(import_part("kind")))
_import_task = drop_discriminator(
    "kind", "task", status=_import_status, artifacts=each(_import_artifact), history=each(_import_message)
)

_EVENT_IMPORTS: Mapping[str, tuple[type[Event], Change]] = {
    "task": (Task, _import_task),
    "message": (Message, _import_message),
    "status-update": (TaskStatusUpdateEvent, drop_discriminator("kind", "status-update", status=_import_status)),
    "artifact-update": (
        TaskArtifactUpdateEvent,
        drop_discriminator("kind", "artifact-update", artifact=_import_artifact),
    ),
}
decode_request = request_reader(
    {
        SendRequest: members(message=_import_message, configuration=import_configuration("pushNotificationConfig")),
        PushConfig: import_push,
        PushConfigRequest: renamed(_PUSH_QUERY),
    }
)


def decode_event(value: Json) -> Event | Unreadable:
    """Read an event of a stream or the result of a send, according to its `kind` (section 7.2.1)."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if isinstance(kind, str) and kind in _EVENT_IMPORTS:
        model, change = _EVENT_IMPORTS[kind]
        return read_lenient(model, value, change)
    if kind is not None:
        return Unreadable(value, f"unknown kind: {brief(kind)}")
    return unknown_event(value, "the member kind is missing", "0.3")


def decode_push(value: Json) -> Event | Unreadable:
    """Read the body of a push notification: the SDKs of this version send a task, with or without `kind`."""
    bare = isinstance(value, dict) and "kind" not in value and "status" in value and "id" in value
    return _read_task(value) if bare and looks_like(value) != "0.1" else decode_event(value)


def _read_task(value: Json) -> Task | Unreadable:
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind not in (None, "task"):
        return Unreadable(value, f"expected a task, found the kind {brief(kind)}")
    return read_lenient(Task, value, _import_task)


decode_result = result_reader(
    {
        Operation.GET: _read_task,
        Operation.CANCEL: _read_task,
        Operation.LIST: lambda value: Unreadable(value, "this protocol version does not have ListTasks over JSON-RPC"),
        Operation.SET_PUSH: partial(read, PushConfig, change=import_push),
        Operation.GET_PUSH: partial(read, PushConfig, change=import_push),
        Operation.LIST_PUSH: partial(
            read, PushConfigList, change=lambda configs: {"configs": each(import_push)(configs)}
        ),
        Operation.DELETE_PUSH: read_deleted,
        Operation.EXTENDED_CARD: partial(read, AgentCard, change=v0_3_card.import_card),
    },
    decode_event,
)


# ── export: canonical JSON to JSON of 0.3 ──


def _export_configuration(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    configuration = value.copy()
    immediately = configuration.pop("returnImmediately", None)
    if immediately is not None:
        configuration["blocking"] = not immediately
    if "taskPushNotificationConfig" in configuration:
        configuration["pushNotificationConfig"] = export_push(configuration.pop("taskPushNotificationConfig"))
    return configuration


_export_message = add_discriminator("kind", "message", role=map_string(inverse(ROLES)), parts=each(export_part("kind")))
_export_status = members(state=map_string(inverse(STATES)), message=_export_message)
_export_artifact = members(parts=each(export_part("kind")))
_export_send = members(message=_export_message, configuration=_export_configuration)

_EVENT_EXPORTS: Mapping[type[Event], Change] = {
    Task: add_discriminator(
        "kind", "task", status=_export_status, artifacts=each(_export_artifact), history=each(_export_message)
    ),
    Message: _export_message,
    TaskStatusUpdateEvent: add_discriminator("kind", "status-update", status=_export_status),
    TaskArtifactUpdateEvent: add_discriminator("kind", "artifact-update", artifact=_export_artifact),
}


def encode_event(event: Event) -> Json:
    """Write an event with its `kind`; in a status update, `final` marks the end of the stream (section 7.2.2)."""
    value = _EVENT_EXPORTS[type(event)](event.to_json())
    return {"final": is_final(event)} | value if isinstance(event, TaskStatusUpdateEvent) else value


def encode_request(operation: Operation, request: Request) -> Json:
    """Write the parameters of an operation."""
    value = without(request.to_json(), "tenant")
    match request:
        case SendRequest():
            return _export_send(value)
        case PushConfig():
            return _nest_push(value)
        case PushConfigRequest():
            if request.id is None:
                value.pop("id", None)
            return renamed(inverse(_PUSH_QUERY))(value)
        case ExtendedCardRequest():
            return value or None
        case _:
            return value


def encode_result(operation: Operation, result: Result) -> Json:
    """Write the result of an operation; a list of push configurations has no pages in 0.3."""
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
    config = export_push(value)
    task = config.pop("taskId", None)
    return ({} if task is None else {"taskId": task}) | {"pushNotificationConfig": config}


DIALECT = Dialect(
    traits=V0_3,
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
    import_card=v0_3_card.import_card,
)
