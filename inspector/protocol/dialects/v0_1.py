"""A2A 0.1: clients choose task ids, the context is `sessionId`, artifacts have an `index`, parts a `type`.

Messages have no ids; the ids of task and context are next to the message in the request. The id of the first message is
used as the task id.
"""

from __future__ import annotations

from collections.abc import Mapping

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects.base import ERRORS, Dialect, Result
from inspector.protocol.dialects.detect import looks_like
from inspector.protocol.dialects.legacy import (
    ROLES,
    STATES,
    export_part,
    export_push,
    import_part,
    import_push,
    is_final,
)
from inspector.protocol.dialects.rewriting import (
    each,
    inverse,
    map_string,
    members,
    renamed,
    request_reader,
    unknown_event,
    without,
)
from inspector.protocol.dialects.traits import V0_1
from inspector.protocol.jsonvalue import read
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
    Operation.SEND: "tasks/send",
    Operation.STREAM: "tasks/sendSubscribe",
    Operation.GET: "tasks/get",
    Operation.CANCEL: "tasks/cancel",
    Operation.SUBSCRIBE: "tasks/resubscribe",
    Operation.SET_PUSH: "tasks/pushNotification/set",
    Operation.GET_PUSH: "tasks/pushNotification/get",
}
ERROR_NAMES = {
    -32006: "StreamingNotSupportedError",
    -32007: "AuthenticationRequiredError",
    -32008: "AuthorizationFailedError",
    -32009: "InvalidTaskStateError",
    -32010: "RateLimitExceededError",
    -32011: "ResourceUnavailableError",
}
"""The names of error codes that later versions do not use, or use for other errors (section 8.2)."""

_TASK = {"sessionId": "contextId"}
_UPDATE = {"id": "taskId", "sessionId": "contextId"}
_TASK_ONLY = frozenset({"sessionId", "artifacts", "history"})
_MESSAGE_IDS = ("messageId", "contextId", "taskId", "extensions", "referenceTaskIds")
_CHUNK = ("append", "lastChunk")
_ARTIFACT = "artifact-"


# ── reading ──


def _import_artifact(value: Json) -> Json:
    """Convert an artifact and derive its id from its index, by default 0 (section 6.7)."""
    if not isinstance(value, dict):
        return value
    artifact: dict[str, Json] = members(parts=each(import_part("type")))(value)
    index = value.get("index", 0)
    if "artifactId" in value or type(index) is not int:
        return artifact
    return {"artifactId": f"{_ARTIFACT}{index}"} | artifact


def _import_artifacts(value: Json) -> Json:
    """Convert the artifacts of a task; the default index is the position in the list."""
    if not isinstance(value, list):
        return value
    return [
        _import_artifact({"index": place} | item) if isinstance(item, dict) else item
        for place, item in enumerate(value)
    ]


def _import_artifact_update(value: Json) -> Json:
    """Convert an artifact update, in which `append` and `lastChunk` are members of the artifact."""
    artifact = value["artifact"]
    if not isinstance(artifact, dict):
        return value
    chunk = {name: artifact[name] for name in _CHUNK if name in artifact}
    return chunk | renamed(_UPDATE)(value) | {"artifact": _import_artifact(without(artifact, *_CHUNK))}


def _import_send(value: Json) -> Json:
    """Convert the flat parameters of a send to a message with ids and a configuration."""
    if not isinstance(value, dict):
        return value
    settings = {
        "acceptedOutputModes": value.get("acceptedOutputModes"),
        "historyLength": value.get("historyLength"),
        "taskPushNotificationConfig": import_push(value.get("pushNotification")),
    }
    ids = {"taskId": value.get("id"), "contextId": value.get("sessionId")}
    request = without(value, "id", "sessionId", "acceptedOutputModes", "historyLength", "pushNotification")
    message = _import_message(request.get("message", {}))
    request["message"] = _without_none(ids) | message if isinstance(message, dict) else message
    if configuration := _without_none(settings):
        request["configuration"] = configuration
    return request


def _without_none(value: dict[str, Json]) -> dict[str, Json]:
    return {name: member for name, member in value.items() if member is not None}


_import_message = members(role=map_string(ROLES), parts=each(import_part("type")))
_import_status = members(state=map_string(STATES), message=_import_message)
_import_task = renamed(_TASK, status=_import_status, artifacts=_import_artifacts, history=each(_import_message))
_import_status_update = renamed(_UPDATE, status=_import_status)


def _import_config(value: Json) -> Json:
    return import_push(renamed({"id": "taskId"})(value))


decode_request = request_reader(
    {SendRequest: _import_send, PushConfig: _import_config, PushConfigRequest: renamed({"id": "taskId"})}
)


def decode_event(value: Json) -> Event | Unreadable:
    """Read an event of a stream: `{id, artifact}` or `{id, status, final}`; some agents send a task or a message."""
    shape = looks_like(value)
    if not isinstance(value, dict) or "kind" in value or shape == "1.0":
        return unknown_event(value, "expected status or artifact, as in 0.1", "0.1")
    if value.get("artifact") is not None:
        return read_lenient(TaskArtifactUpdateEvent, value, _import_artifact_update)
    if "status" in value and value.keys() & _TASK_ONLY:
        return read_lenient(Task, value, _import_task)
    if "status" in value:
        return read_lenient(TaskStatusUpdateEvent, value, _import_status_update)
    if "role" in value and "parts" in value:
        return read_lenient(Message, value, _import_message)
    return unknown_event(value, "expected status or artifact", "0.1")


def decode_result(operation: Operation, value: Json) -> Result | Unreadable:
    """Read the result of an operation."""
    match operation:
        case Operation.SEND | Operation.GET | Operation.CANCEL:
            return _read_task(value)
        case Operation.SET_PUSH | Operation.GET_PUSH:
            return read(PushConfig, value, _import_config)
        case Operation.STREAM | Operation.SUBSCRIBE:
            return decode_event(value)
        case _:
            return Unreadable(value, f"A2A 0.1 does not have {operation.value}")


def decode_push(value: Json) -> Event | Unreadable:
    """Read the body of a push notification: a task or an event, because the specification does not define which."""
    bare = isinstance(value, dict) and "status" in value and "final" not in value
    return _read_task(value) if bare else decode_event(value)


def _read_task(value: Json) -> Task | Unreadable:
    if isinstance(value, dict) and "status" not in value and "id" not in value:
        return unknown_event(value, "expected a task with id and status", "0.1")
    if isinstance(value, dict) and value.get("kind", "task") != "task":
        return unknown_event(value, "expected a task", "0.1")
    return read_lenient(Task, value, _import_task)


# ── writing ──


def _export_message(value: Json) -> Json:
    """Convert a message; role and parts are required in 0.1."""
    if not isinstance(value, dict):
        return value
    rewrite = members(role=map_string(inverse(ROLES)), parts=each(export_part("type")))
    rewritten: dict[str, Json] = rewrite(without(value, *_MESSAGE_IDS))
    return {"role": "", "parts": []} | rewritten


def _export_artifact(value: Json, place: int | None = None) -> Json:
    """Convert an artifact; its index is part of its id, or the position in the list of the task."""
    identity = value.get("artifactId", "")
    number = identity.removeprefix(_ARTIFACT)
    rewritten = members(parts=each(export_part("type")))(without(value, "artifactId", "extensions"))
    if identity.startswith(_ARTIFACT) and number.isascii() and number.isdecimal() and len(number) < 10:
        return {"index": int(number)} | rewritten
    return rewritten if place is None else {"index": place} | rewritten


def _export_artifacts(value: list[Json] | None) -> Json:
    return value and [_export_artifact(item, place) for place, item in enumerate(value)]


_export_status = members(state=map_string(inverse(STATES)), message=_export_message)
_export_task = renamed(
    inverse(_TASK), status=_export_status, artifacts=_export_artifacts, history=each(_export_message)
)


def encode_event(event: Event) -> Json:
    """Write an event of a stream; a task gets a history, which distinguishes it from a status update."""
    value = event.to_json()
    match event:
        case Task():
            task = _write_task(event)
            return task if task.keys() & _TASK_ONLY else task | {"history": []}
        case TaskStatusUpdateEvent():
            update = renamed({"taskId": "id"}, status=_export_status)(without(value, "contextId"))
            return {"status": {}, "final": is_final(event)} | update
        case TaskArtifactUpdateEvent():
            chunk = {name: value[name] for name in _CHUNK if name in value}
            artifact = _export_artifact(value.get("artifact", {})) | chunk
            return renamed({"taskId": "id"})(without(value, "contextId", *_CHUNK)) | {"artifact": artifact}
        case _:
            return _export_message(value)


def _write_task(task: Task) -> dict[str, Json]:
    value: dict[str, Json] = _export_task(task.to_json())
    return {"id": "", "status": {}} | value


def encode_request(operation: Operation, request: Request) -> Json:
    """Write the parameters of an operation."""
    value = without(request.to_json(), "tenant")
    match request:
        case SendRequest():
            return _write_send(request, value)
        case PushConfig():
            return _nest_push(value)
        case PushConfigRequest():
            return {"id": request.task_id} | without(value, "taskId", "id", "pageSize", "pageToken")
        case ExtendedCardRequest():
            return value or None
        case _:
            return value


def _write_send(request: SendRequest, value: dict[str, Json]) -> Json:
    message, configuration = request.message, value.pop("configuration", None) or {}
    push = configuration.pop("taskPushNotificationConfig", None)
    parameters = {
        "id": message.task_id or message.message_id or None,
        "sessionId": message.context_id,
        "message": _export_message(value.pop("message", {})),
        "acceptedOutputModes": configuration.get("acceptedOutputModes"),
        "pushNotification": None if push is None else _inner_push(push),
        "historyLength": configuration.get("historyLength"),
    }
    return value | _without_none(parameters)


def _inner_push(value: dict[str, Json]) -> dict[str, Json]:
    return without(export_push(value), "id", "taskId")


def _nest_push(value: dict[str, Json]) -> Json:
    return {"id": value.get("taskId") or "", "pushNotificationConfig": _inner_push(value)}


def encode_result(operation: Operation, result: Result) -> Json:
    """Write the result of an operation; the results of operations that 0.1 does not have are not converted."""
    match result:
        case Task() if operation not in (Operation.STREAM, Operation.SUBSCRIBE):
            return _write_task(result)
        case PushConfig():
            return _nest_push(result.to_json())
        case PushConfigList():
            return [_nest_push(config.to_json()) for config in result.configs]
        case TaskList():
            return result.to_json() | {"tasks": [_write_task(task) for task in result.tasks]}
        case Deleted():
            return result.to_json() or None
        case AgentCard():
            return encode_card(result)
        case _:
            return encode_event(result)


# ── the card: one URL for JSON-RPC, and a list of HTTP authentication schemes (section 5.5) ──

_HTTP_SCHEME = "httpAuthSecurityScheme"
_CARD_SINCE_0_2 = ("supportedInterfaces", "iconUrl", "securitySchemes", "securityRequirements", "signatures")


def _import_card(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    card = without(value, "url", "protocolVersion")
    interface = {"url": value.get("url"), "protocolBinding": "JSONRPC", "protocolVersion": V0_1.version}
    card["supportedInterfaces"] = [] if value.get("url") is None else [interface]
    return _import_authentication(card)


def _import_authentication(card: dict[str, Json]) -> dict[str, Json]:
    """Convert each authentication scheme to a security scheme and a requirement; clients must meet one requirement."""
    authentication = card.get("authentication")
    schemes = authentication.get("schemes") if isinstance(authentication, dict) else None
    if not isinstance(schemes, list) or not all(isinstance(scheme, str) for scheme in schemes):
        return card
    lifted = {
        "securitySchemes": {scheme: {_HTTP_SCHEME: {"scheme": scheme}} for scheme in schemes},
        "securityRequirements": [{"schemes": {scheme: {"list": []}}} for scheme in schemes],
    }
    rest = without(authentication, "schemes") if isinstance(authentication, dict) else {}
    return lifted | without(card, "authentication") | ({"authentication": rest} if rest else {})


def encode_card(card: AgentCard) -> Json:
    """Write a card with its HTTP authentication schemes and the URL of its first interface.

    `authentication` is always written, because it distinguishes the card from a card of 0.2 without a version.
    """
    value = card.to_json()
    written = without(value, *_CARD_SINCE_0_2)
    if card.supported_interfaces:
        written["url"] = card.supported_interfaces[0].url
    written["capabilities"] = without(value.get("capabilities", {}), "extendedAgentCard", "extensions")
    if "skills" in value:
        written["skills"] = [without(skill, "securityRequirements") for skill in value["skills"]]
    http = [scheme.get(_HTTP_SCHEME) for scheme in (card.security_schemes or {}).values()]
    schemes = [str(scheme.get("scheme", "")) for scheme in http if isinstance(scheme, dict)]
    rest = written.get("authentication")
    written["authentication"] = {"schemes": schemes} | (rest if isinstance(rest, dict) else {})
    return written


DIALECT = Dialect(
    traits=V0_1,
    methods=METHODS,
    headers={},
    extensions_header="",
    encode_request=encode_request,
    decode_request=decode_request,
    encode_result=encode_result,
    decode_result=decode_result,
    encode_event=encode_event,
    decode_event=decode_event,
    encode_push=encode_event,
    decode_push=decode_push,
    encode_card=encode_card,
    import_card=_import_card,
    errors={**ERRORS, **ERROR_NAMES},
)
