"""A2A 1.0: the canonical JSON; events are wrapped in an object whose only member is named after their kind."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects.base import Dialect, GrpcService, Result, Route, grpc_methods
from inspector.protocol.dialects.rewriting import read_deleted, read_oneof, request_reader
from inspector.protocol.dialects.traits import V1_0
from inspector.protocol.jsonvalue import read
from inspector.protocol.lenient_read import read_lenient
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
from inspector.protocol.operations import Operation

_EVENTS: Mapping[str, type[Event]] = {
    "artifactUpdate": TaskArtifactUpdateEvent,
    "statusUpdate": TaskStatusUpdateEvent,
    "task": Task,
    "message": Message,
}
_ONE_OF = {name: (model, None) for name, model in _EVENTS.items()}
_WRAPPERS = {model: name for name, model in _EVENTS.items()}
_BEGINNINGS = {model: b'{"%b":' % name.encode() for model, name in _WRAPPERS.items()}

_LENIENT_RESULTS: Mapping[Operation, type[Task | TaskList]] = {
    Operation.GET: Task,
    Operation.CANCEL: Task,
    Operation.LIST: TaskList,
}
_RESULTS: Mapping[Operation, type[Task | TaskList | PushConfig | PushConfigList | AgentCard]] = {
    **_LENIENT_RESULTS,
    Operation.SET_PUSH: PushConfig,
    Operation.GET_PUSH: PushConfig,
    Operation.LIST_PUSH: PushConfigList,
    Operation.EXTENDED_CARD: AgentCard,
}


def decode_event(value: Json) -> Event | Unreadable:
    """Read a StreamResponse, a SendMessageResponse or the body of a push notification (section 3.2.3)."""
    return read_oneof(value, _ONE_OF, "1.0")


def encode_event(event: Event) -> Json:
    """Write an event in its wrapper."""
    return {_WRAPPERS[type(event)]: event.to_json()}


def dump_event(event: Event) -> bytes:
    """Write an event in its wrapper as JSON text, like `encode_event`; infinity is `Infinity`; raises `ValueError`."""
    return b"%b%b}" % (_BEGINNINGS[type(event)], event.dump_json())


def encode_request(operation: Operation, request: Request) -> Json:
    """Write the parameters of an operation."""
    return request.to_json()


def encode_result(operation: Operation, result: Result) -> Json:
    """Write the result of an operation; an event is wrapped if the operation returns several kinds of events."""
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
        return read_deleted(value)
    if operation not in _RESULTS:
        return decode_event(value)
    if _RESULTS[operation] is Task and isinstance(value, dict) and "task" in value and "id" not in value:
        return Unreadable(value, "expected a task without a wrapper, found a task in the wrapper 'task'")
    if operation in _LENIENT_RESULTS:
        return read_lenient(_LENIENT_RESULTS[operation], value)
    return read(_RESULTS[operation], value)


_CONFIGS = "/tasks/{taskId}/pushNotificationConfigs"

ROUTES: Mapping[Operation, Route] = {
    Operation.SEND: Route("POST", "/message:send"),
    Operation.STREAM: Route("POST", "/message:stream"),
    Operation.GET: Route("GET", "/tasks/{id}"),
    Operation.LIST: Route("GET", "/tasks"),
    Operation.CANCEL: Route("POST", "/tasks/{id}:cancel"),
    # POST in sections 5.3 and 11.3, GET in the proto; the official SDKs send POST and accept both.
    Operation.SUBSCRIBE: Route("POST", "/tasks/{id}:subscribe"),
    Operation.SET_PUSH: Route("POST", _CONFIGS),
    Operation.GET_PUSH: Route("GET", _CONFIGS + "/{id}"),
    Operation.LIST_PUSH: Route("GET", _CONFIGS),
    Operation.DELETE_PUSH: Route("DELETE", _CONFIGS + "/{id}"),
    Operation.EXTENDED_CARD: Route("GET", "/extendedAgentCard"),
}
"""The routes of section 11.3; a tenant may precede each path."""

RESPONSES: Mapping[Operation, str] = {
    Operation.SEND: "SendMessageResponse",
    Operation.STREAM: "StreamResponse",
    Operation.GET: "Task",
    Operation.LIST: "ListTasksResponse",
    Operation.CANCEL: "Task",
    Operation.SUBSCRIBE: "StreamResponse",
    Operation.SET_PUSH: "TaskPushNotificationConfig",
    Operation.GET_PUSH: "TaskPushNotificationConfig",
    Operation.LIST_PUSH: "ListTaskPushNotificationConfigsResponse",
    Operation.DELETE_PUSH: "google.protobuf.Empty",
    Operation.EXTENDED_CARD: "AgentCard",
}
"""The message types of the responses."""

_REQUESTS = {Operation.STREAM: "SendMessageRequest", Operation.SET_PUSH: "TaskPushNotificationConfig"}

SERVICE = GrpcService("lf.a2a.v1.A2AService", "v1_0", grpc_methods(RESPONSES, _REQUESTS))

DIALECT = Dialect(
    traits=V1_0,
    methods={operation: operation.value for operation in Operation},
    headers={"A2A-Version": "1.0"},
    extensions_header="A2A-Extensions",
    encode_request=encode_request,
    decode_request=request_reader({}),
    encode_result=encode_result,
    decode_result=decode_result,
    encode_event=encode_event,
    decode_event=decode_event,
    encode_push=encode_event,
    decode_push=decode_event,
    encode_card=AgentCard.to_json,
    import_card=lambda value: value,
    routes=ROUTES,
    service=SERVICE,
    reads_directly=True,
)
