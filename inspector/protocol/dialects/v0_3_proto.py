"""A2A 0.3 in ProtoJSON, over HTTP+JSON and gRPC: oneof members, `content`, resource names, `TASK_STATE_CANCELLED`.

Members that the proto does not have are left out: a tenant, the name of a text part, data that is not an object.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects import v0_3, v0_3_card, v1_0
from inspector.protocol.dialects.base import Dialect, GrpcService, Result, Route, grpc_methods
from inspector.protocol.dialects.legacy import (
    export_push,
    flatten_file,
    import_configuration,
    import_push,
    is_final,
    kind_of,
    nest_file,
)
from inspector.protocol.dialects.rewriting import (
    Change,
    each,
    inverse,
    map_string,
    members,
    read_deleted,
    read_oneof,
    renamed,
    request_reader,
    result_reader,
    without,
)
from inspector.protocol.dialects.traits import V0_3, in_proto_json
from inspector.protocol.jsonvalue import read
from inspector.protocol.lenient_read import read_lenient
from inspector.protocol.lifecycle import State
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
    TaskRequest,
    TaskStatusUpdateEvent,
    Unreadable,
)
from inspector.protocol.operations import Operation

_STATES: Mapping[str, str] = {"TASK_STATE_CANCELLED": State.CANCELED}
_FILE = {"fileWithBytes": "raw", "fileWithUri": "url", "name": "filename", "mimeType": "mediaType"}
_TASK, _CONFIG = "tasks/", "/pushNotificationConfigs/"


# ── import: ProtoJSON of 0.3 to canonical JSON ──


def _import_part(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    part = flatten_file(value, _FILE)
    inner = part.get("data")
    if isinstance(inner, dict) and inner.keys() <= {"data"}:
        data = inner.get("data")
        part = part | {"data": {} if data is None else data}
    return part


def _import_config(value: Json) -> Json:
    """Convert `{name, pushNotificationConfig}`; the name contains the ids of the task and the configuration."""
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return import_push(value)
    config = import_push(without(value, "name"))
    return config | {name: part for name, part in _named(value["name"]).items() if not config.get(name)}


def _import_set_push(value: Json) -> Json:
    """Convert `{parent, configId, config: {...}}`; `parent` is in the path, or (from some clients) in the body only."""
    if not isinstance(value, dict):
        return value
    if not isinstance(value.get("config"), dict):  # over HTTP+JSON, the configuration is the body
        value = {name: value[name] for name in ("parent", "configId") if name in value} | {
            "config": without(value, "parent", "configId")
        }
    flat = _import_config(value["config"]) | without(value, "parent", "configId", "config")
    if isinstance(value.get("parent"), str):
        flat["taskId"] = value["parent"].removeprefix(_TASK)
    return {"id": value["configId"]} | flat if value.get("configId") else flat


def _import_task_name(value: Json) -> Json:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return value
    return {"id": value["name"].removeprefix(_TASK)} | without(value, "name")


def _import_push_query(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("name"), str):
        return _named(value["name"]) | without(value, "name")
    if isinstance(value.get("parent"), str):
        return {"taskId": value["parent"].removeprefix(_TASK)} | without(value, "parent")
    return value


def _named(name: str) -> dict[str, Json]:
    """Return the task id and the configuration id in the name of a push configuration."""
    task, found, config = name.removeprefix(_TASK).rpartition(_CONFIG)
    return {"taskId": task, "id": config} if found else {"taskId": config}


_import_message = renamed({"content": "parts"}, parts=each(_import_part))
_import_status = renamed({"update": "message"}, state=map_string(_STATES), message=_import_message)
_import_artifact = members(parts=each(_import_part))
_import_task = members(status=_import_status, artifacts=each(_import_artifact), history=each(_import_message))

_EVENT_IMPORTS: Mapping[str, tuple[type[Event], Change]] = {
    "task": (Task, _import_task),
    "message": (Message, _import_message),
    "msg": (Message, _import_message),
    "statusUpdate": (TaskStatusUpdateEvent, members(status=_import_status)),
    "artifactUpdate": (TaskArtifactUpdateEvent, members(artifact=_import_artifact)),
}
decode_request = request_reader(
    {
        SendRequest: renamed(
            {"request": "message"}, message=_import_message, configuration=import_configuration("pushNotification")
        ),
        TaskRequest: _import_task_name,
        PushConfig: _import_set_push,
        PushConfigRequest: _import_push_query,
    }
)


def decode_event(value: Json) -> Event | Unreadable:
    """Read a StreamResponse or SendMessageResponse; a message is the member `message`, or `msg` before 0.2.6."""
    return read_oneof(value, _EVENT_IMPORTS, "0.3")


def _page(value: Json, name: str) -> Json:
    return {name: value} if isinstance(value, list) else value


decode_result = result_reader(
    {
        Operation.GET: partial(read_lenient, Task, change=_import_task),
        Operation.CANCEL: partial(read_lenient, Task, change=_import_task),
        Operation.LIST: partial(
            read_lenient, TaskList, change=lambda page: members(tasks=each(_import_task))(_page(page, "tasks"))
        ),
        Operation.SET_PUSH: partial(read, PushConfig, change=_import_config),
        Operation.GET_PUSH: partial(read, PushConfig, change=_import_config),
        Operation.LIST_PUSH: partial(
            read, PushConfigList, change=lambda page: members(configs=each(_import_config))(_page(page, "configs"))
        ),
        Operation.DELETE_PUSH: read_deleted,
        Operation.EXTENDED_CARD: partial(read, AgentCard, change=v0_3_card.import_card),
    },
    decode_event,
)


# ── export: canonical JSON to ProtoJSON of 0.3 ──


def _export_part(value: Json) -> Json:
    if kind_of(value) == "file":
        return nest_file(value, _FILE)
    part = without(value, "filename", "mediaType")
    if "data" in part:
        part["data"] = {"data": part["data"] if isinstance(part["data"], dict) else {}}
    return part


def _export_message(value: Json) -> Json:
    return _content(without(value, "referenceTaskIds")) if isinstance(value, dict) else value


def _export_configuration(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    configuration = without(value, "returnImmediately", "taskPushNotificationConfig")
    push, immediately = value.get("taskPushNotificationConfig"), value.get("returnImmediately")
    if isinstance(push, dict):
        configuration["pushNotification"] = without(export_push(push), "taskId")
    return configuration if immediately is None else configuration | {"blocking": not immediately}


def _export_config(value: dict[str, Json]) -> dict[str, Json]:
    """Convert to `{name, pushNotificationConfig}`; the default id of a configuration is the task id, as in SDKs."""
    task, inner = value.get("taskId", ""), without(export_push(value), "taskId")
    return {"name": f"{_TASK}{task}{_CONFIG}{value.get('id') or task}", "pushNotificationConfig": inner}


_content = renamed({"parts": "content"}, content=each(_export_part))
_export_status = members(state=map_string(inverse(_STATES)), message=_export_message)
_export_artifact = members(parts=each(_export_part))
_export_task = members(status=_export_status, artifacts=each(_export_artifact), history=each(_export_message))
_export_send = members(message=_export_message, configuration=_export_configuration)
_EVENT_EXPORTS: Mapping[type[Event], tuple[str, Change]] = {
    Task: ("task", _export_task),
    Message: ("message", _export_message),
    TaskStatusUpdateEvent: ("statusUpdate", members(status=_export_status)),
    TaskArtifactUpdateEvent: ("artifactUpdate", members(artifact=_export_artifact)),
}


def encode_event(event: Event) -> Json:
    """Write an event in its wrapper; a status update that ends the stream has `final`."""
    wrapper, change = _EVENT_EXPORTS[type(event)]
    value = change(event.to_json())
    if isinstance(event, TaskStatusUpdateEvent) and is_final(event):
        value = {"final": True} | value
    return {wrapper: value}


def encode_request(operation: Operation, request: Request) -> Json:
    """Write the parameters of an operation."""
    value = without(request.to_json(), "tenant")
    match request:
        case SendRequest():
            return _export_send(value)
        case TaskRequest():
            omitted = ("id", "name", "metadata", *(() if operation is Operation.GET else ("historyLength",)))
            return {"name": _TASK + request.id} | without(value, *omitted)
        case PushConfig():
            config = _export_config(value)
            return {
                "parent": _TASK + (request.task_id or ""),
                "configId": request.id or request.task_id or "",
                "config": config,
            }
        case PushConfigRequest() if operation is Operation.LIST_PUSH:
            return {"parent": _TASK + request.task_id} | without(value, "parent", "taskId", "id")
        case PushConfigRequest():
            name = f"{_TASK}{request.task_id}{_CONFIG}{request.id or request.task_id}"
            return {"name": name} | without(value, "name", "taskId", "id", "pageSize", "pageToken")
        case _:
            return value


def encode_result(operation: Operation, result: Result) -> Json:
    """Write the result of an operation."""
    match result:
        case Task() if operation in (Operation.GET, Operation.CANCEL):
            return _export_task(result.to_json())
        case TaskList():
            return members(tasks=each(_export_task))(result.to_json())
        case PushConfig():
            return _export_config(result.to_json())
        case PushConfigList():
            return members(configs=each(_export_config))(result.to_json())
        case Deleted():
            return result.to_json()
        case AgentCard():
            return v0_3_card.encode_proto_card(result)
        case _:
            return encode_event(result)


# ── routes and gRPC service ──

ROUTES: Mapping[Operation, Route] = {
    Operation.SEND: Route("POST", "/v1/message:send"),
    Operation.STREAM: Route("POST", "/v1/message:stream"),
    Operation.GET: Route("GET", "/v1/{name=tasks/*}"),
    Operation.LIST: Route("GET", "/v1/tasks"),
    Operation.CANCEL: Route("POST", "/v1/{name=tasks/*}:cancel"),
    # POST in the table of section 3.5.6, GET in the proto; the official Python SDK supports GET only.
    Operation.SUBSCRIBE: Route("GET", "/v1/{name=tasks/*}:subscribe"),
    # The official Python SDK reads the whole request from the body instead, with `parent`: see `with_whole_body`.
    Operation.SET_PUSH: Route("POST", "/v1/{parent=tasks/*}/pushNotificationConfigs", body="config"),
    Operation.GET_PUSH: Route("GET", "/v1/{name=tasks/*/pushNotificationConfigs/*}"),
    Operation.LIST_PUSH: Route("GET", "/v1/{parent=tasks/*}/pushNotificationConfigs"),
    Operation.DELETE_PUSH: Route("DELETE", "/v1/{name=tasks/*/pushNotificationConfigs/*}"),
    Operation.EXTENDED_CARD: Route("GET", "/v1/card"),
}

_RESPONSES: Mapping[Operation, str] = {
    operation: name for operation, name in v1_0.RESPONSES.items() if operation is not Operation.LIST
}

SERVICE = GrpcService(
    "a2a.v1.A2AService",
    "v0_3",
    grpc_methods(
        {**_RESPONSES, Operation.LIST_PUSH: "ListTaskPushNotificationConfigResponse"},
        {Operation.STREAM: "SendMessageRequest"},
        {
            Operation.SUBSCRIBE: "TaskSubscription",
            Operation.LIST_PUSH: "ListTaskPushNotificationConfig",
            Operation.EXTENDED_CARD: "GetAgentCard",
        },
    ),
)
"""The service since 0.2.5. It is also used for agents before 0.2.5, because their cards do not declare a version."""

DIALECT = Dialect(
    traits=in_proto_json(V0_3),
    methods={},
    headers={},
    extensions_header="X-A2A-Extensions",
    encode_request=encode_request,
    decode_request=decode_request,
    encode_result=encode_result,
    decode_result=decode_result,
    encode_event=encode_event,
    decode_event=decode_event,
    encode_push=v0_3.encode_event,  # over every binding, SDKs send the JSON of the JSON-RPC binding
    decode_push=v0_3.decode_push,
    encode_card=v0_3_card.encode_card,
    import_card=v0_3_card.import_card,
    routes=ROUTES,
    service=SERVICE,
)
