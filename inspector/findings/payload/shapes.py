"""The shapes of answers and events in every generation, as tables.

Sources: `specification/json/a2a.json` of 0.1.0, 0.2.6 and 0.3.0, `specification/grpc/a2a.proto` of 0.3.0 (its HTTP+JSON
and gRPC), `specification/a2a.proto` of 1.0.1 and of the branch `dev-1.1`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from inspector.findings.shape import (
    ANY,
    BYTES,
    FLAG,
    INT64,
    PLAIN_BYTES,
    STRUCT,
    TEXT,
    TIME,
    WHOLE,
    Kind,
    Many,
    Shape,
    Union,
    Words,
)
from inspector.protocol.dialects.traits import entry_of
from inspector.protocol.operations import Operation

_TEXTS = Many(TEXT)

_STATES = ("SUBMITTED", "WORKING", "COMPLETED", "FAILED", "CANCELED", "INPUT_REQUIRED", "REJECTED", "AUTH_REQUIRED")
_STATE_1_0 = Words("task state", frozenset(f"TASK_STATE_{name}" for name in _STATES))
_ROLE_1_0 = Words("role", frozenset({"ROLE_USER", "ROLE_AGENT"}))
_STATE_PROTO_0_3 = Words("task state", _STATE_1_0.words - {"TASK_STATE_CANCELED"} | {"TASK_STATE_CANCELLED"})
_OLD_STATES = ("submitted", "working", "input-required", "completed", "canceled", "failed", "unknown")
_STATE_0_1 = Words("task state", frozenset(_OLD_STATES))
_STATE_0_3 = Words("task state", frozenset({*_OLD_STATES, "rejected", "auth-required"}))
_ROLE = Words("role", frozenset({"user", "agent"}))


_LET_THROUGH: dict[str, Kind] = {"filename": TEXT, "mediaType": TEXT}
"""What 1.0 lets every part say, and agents of older generations say as well: their readers let it through."""


@dataclass(frozen=True, slots=True)
class Shapes:
    """The shapes of one JSON: of the response of each operation, and of one event of a stream or body of a push.

    `foreign` names members that belong to other versions, as `member`, or as `object.member` where it depends on that.
    """

    answers: Mapping[Operation, Kind]
    event: Kind
    push: Kind
    foreign: frozenset[str]


_OLD_MEMBERS = frozenset({"kind", "type", "sessionId", "file", "mimeType", "bytes", "uri", "content", "final"})
_NEW_MEMBERS = frozenset({"task", "statusUpdate", "artifactUpdate", "raw"})
_FOREIGN_IN_0_3 = _NEW_MEMBERS | {"type", "sessionId"}
_FOREIGN_IN_0_1 = _NEW_MEMBERS | {"kind", "messageId", "contextId", "taskId", "artifactId"}


def _part_1_0() -> Shape:
    content: dict[str, Kind] = {"text": TEXT, "raw": BYTES, "url": TEXT, "data": ANY}
    more: dict[str, Kind] = {"metadata": STRUCT, "filename": TEXT, "mediaType": TEXT}
    return Shape("part", {**content, **more}, one_of=("text", "raw", "url", "data"))


def _configs(config: Kind) -> Shape:
    return Shape("list of push configurations", {"configs": Many(config), "nextPageToken": TEXT})


def _shapes_1_0(*, defaults: bool, counted: Mapping[str, Kind] = MappingProxyType({})) -> Shapes:
    """Return the shapes of 1.0; `defaults` says that what is empty or zero is written, as gRPC does not.

    `counted` are the members that a later version adds to tasks and their updates.
    """
    message = Shape(
        "message",
        {
            "messageId": TEXT,
            "contextId": TEXT,
            "taskId": TEXT,
            "role": _ROLE_1_0,
            "parts": Many(_part_1_0()),
            "metadata": STRUCT,
            "extensions": _TEXTS,
            "referenceTaskIds": _TEXTS,
        },
        ("messageId", "role", "parts"),
    )
    status = Shape("status", {"state": _STATE_1_0, "message": message, "timestamp": TIME}, ("state",))
    artifact = Shape("artifact", _artifact_members(_part_1_0()), ("artifactId", "parts"))
    task = Shape("task", {**_task_members(status, artifact, message), **counted}, ("id", "status"))
    about: dict[str, Kind] = {"taskId": TEXT, "contextId": TEXT, "metadata": STRUCT, **counted}
    update = Shape("status update", {**about, "status": status}, ("taskId", "contextId", "status"))
    chunk = Shape(
        "artifact update",
        {**about, "artifact": artifact, "append": FLAG, "lastChunk": FLAG},
        ("taskId", "contextId", "artifact"),
    )
    wrapped: dict[str, Kind] = {"task": task, "message": message}
    every = {**wrapped, "statusUpdate": update, "artifactUpdate": chunk}
    page: dict[str, Kind] = {"tasks": Many(task), "nextPageToken": TEXT, "pageSize": WHOLE, "totalSize": WHOLE}
    authentication = Shape("authentication", {"scheme": TEXT, "credentials": TEXT}, ("scheme",))
    config = Shape(
        "push configuration",
        {"tenant": TEXT, "id": TEXT, "taskId": TEXT, "url": TEXT, "token": TEXT, "authentication": authentication},
        ("url",),
    )
    event = Shape("event", every, one_of=tuple(every))
    return Shapes(
        {
            Operation.SEND: Shape("answer to a message", wrapped, one_of=tuple(wrapped)),
            Operation.GET: task,
            Operation.CANCEL: task,
            Operation.LIST: Shape("list of tasks", page, tuple(page) if defaults else ()),
            Operation.SET_PUSH: config,
            Operation.GET_PUSH: config,
            Operation.LIST_PUSH: _configs(config),
        },
        event,
        event,
        _OLD_MEMBERS,
    )


def _artifact_members(part: Kind) -> dict[str, Kind]:
    return {
        "artifactId": TEXT,
        "name": TEXT,
        "description": TEXT,
        "parts": Many(part),
        "metadata": STRUCT,
        "extensions": _TEXTS,
    }


def _task_members(status: Kind, artifact: Kind, message: Kind) -> dict[str, Kind]:
    return {
        "id": TEXT,
        "contextId": TEXT,
        "status": status,
        "artifacts": Many(artifact),
        "history": Many(message),
        "metadata": STRUCT,
    }


_OLD_AUTHENTICATION = Shape("authentication", {"schemes": _TEXTS, "credentials": TEXT}, ("schemes",))


def _old_part(mark: str) -> Union:
    """Return the part of JSON-RPC until 0.3, which says its kind in the member `mark`."""
    # 0.1 marks neither content of a file as required; either one is enough.
    file = Shape("file", {"name": TEXT, "mimeType": TEXT, "bytes": PLAIN_BYTES, "uri": TEXT}, one_of=("bytes", "uri"))
    kind: dict[str, Kind] = {mark: TEXT, "metadata": STRUCT}
    content: dict[str, Kind] = {**kind, **_LET_THROUGH}
    return Union(
        "part",
        mark,
        {
            "text": Shape("text part", {**content, "text": TEXT}, ("text",)),
            "file": Shape("file part", {**kind, "file": file}, ("file",)),
            "data": Shape("data part", {**content, "data": STRUCT}, ("data",)),
        },
    )


def _shapes_0_3() -> Shapes:
    """The JSON of JSON-RPC in 0.2 and 0.3, in which every object says its kind."""
    kind: dict[str, Kind] = {"kind": TEXT, "metadata": STRUCT}
    part = _old_part("kind")
    message = Shape(
        "message",
        {
            **kind,
            "kind": Words("kind", frozenset({"message"})),
            "messageId": TEXT,
            "contextId": TEXT,
            "taskId": TEXT,
            "role": _ROLE,
            "parts": Many(part),
            "extensions": _TEXTS,
            "referenceTaskIds": _TEXTS,
        },
        ("kind", "messageId", "role", "parts"),
    )
    status = Shape("status", {"state": _STATE_0_3, "message": message, "timestamp": TIME}, ("state",))
    artifact = Shape("artifact", _artifact_members(part), ("artifactId", "parts"))
    members = _task_members(status, artifact, message)
    said = {"kind": Words("kind", frozenset({"task"}))}
    task = Shape("task", {**kind, **members, **said}, ("kind", "id", "contextId", "status"))
    about: dict[str, Kind] = {**kind, "taskId": TEXT, "contextId": TEXT}
    update = Shape(
        "status update", {**about, "status": status, "final": FLAG}, ("taskId", "contextId", "status", "final")
    )
    chunk = Shape(
        "artifact update",
        {**about, "artifact": artifact, "append": FLAG, "lastChunk": FLAG},
        ("taskId", "contextId", "artifact"),
    )
    target = Shape(
        "push configuration", {"id": TEXT, "url": TEXT, "token": TEXT, "authentication": _OLD_AUTHENTICATION}, ("url",)
    )
    config = Shape(
        "push configuration of a task",
        {"taskId": TEXT, "pushNotificationConfig": target},
        ("taskId", "pushNotificationConfig"),
    )
    direct = {"task": task, "message": message}
    return Shapes(
        {
            Operation.SEND: Union("answer to a message", "kind", direct),
            Operation.GET: task,
            Operation.CANCEL: task,
            Operation.SET_PUSH: config,
            Operation.GET_PUSH: config,
            Operation.LIST_PUSH: Many(config),
        },
        Union("event", "kind", {**direct, "status-update": update, "artifact-update": chunk}),
        task,
        _FOREIGN_IN_0_3,
    )


def _shapes_0_3_proto() -> Shapes:
    """The JSON of HTTP+JSON and gRPC in 0.2 and 0.3, which leaves out what has its default."""
    file = Shape(
        "file",
        {"name": TEXT, "mimeType": TEXT, "fileWithBytes": BYTES, "fileWithUri": TEXT},
        one_of=("fileWithBytes", "fileWithUri"),
    )
    content: dict[str, Kind] = {"text": TEXT, "file": file, "data": Shape("data", {"data": STRUCT}, ("data",))}
    part = Shape("part", {**content, "metadata": STRUCT}, one_of=tuple(content))
    message = Shape(
        "message",
        {
            "messageId": TEXT,
            "contextId": TEXT,
            "taskId": TEXT,
            "role": _ROLE_1_0,
            "content": Many(part),
            "metadata": STRUCT,
            "extensions": _TEXTS,
        },
        ("messageId", "role"),
    )
    said: dict[str, Kind] = {"message": message, "update": message}
    status = Shape("status", {"state": _STATE_PROTO_0_3, **said, "timestamp": TIME}, ("state",))
    artifact = Shape("artifact", _artifact_members(part), ("artifactId",))
    task = Shape("task", _task_members(status, artifact, message), ("id", "status"))
    about: dict[str, Kind] = {"taskId": TEXT, "contextId": TEXT, "metadata": STRUCT}
    update = Shape("status update", {**about, "status": status, "final": FLAG}, ("taskId", "status"))
    chunk = Shape(
        "artifact update", {**about, "artifact": artifact, "append": FLAG, "lastChunk": FLAG}, ("taskId", "artifact")
    )
    wrapped: dict[str, Kind] = {"task": task, "message": message, "msg": message}
    every = {**wrapped, "statusUpdate": update, "artifactUpdate": chunk}
    return Shapes(
        {
            Operation.SEND: Shape("answer to a message", wrapped, one_of=tuple(wrapped)),
            Operation.GET: task,
            Operation.CANCEL: task,
        },
        Shape("event", every, one_of=tuple(every)),
        task,
        frozenset({"kind", "message.parts"}),
    )


def _shapes_0_1() -> Shapes:
    part = _old_part("type")
    message = Shape("message", {"role": _ROLE, "parts": Many(part), "metadata": STRUCT}, ("role", "parts"))
    status = Shape("status", {"state": _STATE_0_1, "message": message, "timestamp": TIME}, ("state",))
    artifact = Shape(
        "artifact",
        {
            "name": TEXT,
            "description": TEXT,
            "parts": Many(part),
            "index": WHOLE,
            "append": FLAG,
            "lastChunk": FLAG,
            "metadata": STRUCT,
        },
        ("parts",),
    )
    task = Shape(
        "task",
        {
            "id": TEXT,
            "sessionId": TEXT,
            "status": status,
            "artifacts": Many(artifact),
            "history": Many(message),
            "metadata": STRUCT,
        },
        ("id", "status"),
    )
    event = Shape(
        "event",
        {"id": TEXT, "status": status, "artifact": artifact, "final": FLAG, "metadata": STRUCT},
        ("id",),
        ("status", "artifact"),
    )
    target = Shape("push configuration", {"url": TEXT, "token": TEXT, "authentication": _OLD_AUTHENTICATION}, ("url",))
    config = Shape(
        "push configuration of a task", {"id": TEXT, "pushNotificationConfig": target}, ("id", "pushNotificationConfig")
    )
    return Shapes(
        {
            Operation.SEND: task,
            Operation.GET: task,
            Operation.CANCEL: task,
            Operation.SET_PUSH: config,
            Operation.GET_PUSH: config,
        },
        event,
        task,
        _FOREIGN_IN_0_1,
    )


_V0_3, _V0_3_PROTO = _shapes_0_3(), _shapes_0_3_proto()
_BY_BINDING = {"JSONRPC": _V0_3, "HTTP+JSON": _V0_3_PROTO, "GRPC": _V0_3_PROTO}
_V1_0 = _shapes_1_0(defaults=True)
_COUNTED: Mapping[str, Kind] = {"generation": INT64}
_V1_1 = _shapes_1_0(defaults=True, counted=_COUNTED)
_SHAPES: Mapping[str, Mapping[str, Shapes]] = {
    "0.1": {"JSONRPC": _shapes_0_1()},
    "0.2": _BY_BINDING,
    "0.3": _BY_BINDING,
    "1.0": {"JSONRPC": _V1_0, "HTTP+JSON": _V1_0, "GRPC": _shapes_1_0(defaults=False)},
    "1.1": {"JSONRPC": _V1_1, "HTTP+JSON": _V1_1, "GRPC": _shapes_1_0(defaults=False, counted=_COUNTED)},
}


def shapes_of(version: str, binding: str) -> Shapes:
    """Return the shapes of a version over a binding; those over JSON-RPC if it does not travel over it."""
    shapes = entry_of(_SHAPES, version)
    return shapes.get(binding) or shapes["JSONRPC"]
