"""The shapes of responses and events in every protocol version.

Sources: `specification/json/a2a.json` of 0.1.0, 0.2.6 and 0.3.0, `specification/grpc/a2a.proto` of 0.3.0 (its HTTP+JSON
and gRPC), `specification/a2a.proto` of 1.0.1 and of the branch `dev-1.1`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
    texts,
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
_MESSAGE_IDS = ("messageId", "contextId", "taskId")
_MESSAGE_EXTRAS: dict[str, Kind] = {"metadata": STRUCT, "extensions": _TEXTS}


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


def _task(status: Kind, artifact: Kind, message: Kind, required: tuple[str, ...], **more: Kind) -> Shape:
    lists = {"artifacts": Many(artifact), "history": Many(message)}
    return Shape("task", texts("id", "contextId", status=status, metadata=STRUCT, **lists, **more), required)


def _artifact(part: Kind, required: tuple[str, ...] = ("artifactId", "parts")) -> Shape:
    members = texts("artifactId", "name", "description", parts=Many(part), metadata=STRUCT, extensions=_TEXTS)
    return Shape("artifact", members, required)


def _status(state: Kind, message: Kind, **more: Kind) -> Shape:
    return Shape("status", {"state": state, "message": message, "timestamp": TIME, **more}, ("state",))


def _artifact_update(
    about: Mapping[str, Kind], artifact: Kind, ids: tuple[str, ...] = ("taskId", "contextId")
) -> Shape:
    members = {**about, "artifact": artifact, "append": FLAG, "lastChunk": FLAG}
    return Shape("artifact update", members, (*ids, "artifact"))


def _shapes_1_0(*, defaults: bool, **counted: Kind) -> Shapes:
    """Return the shapes of 1.0; `defaults` says that empty and zero values are written, which gRPC does not do.

    `counted` are the members that a later version adds to tasks and their updates.
    """
    content: dict[str, Kind] = {"text": TEXT, "raw": BYTES, "url": TEXT, "data": ANY}
    part = Shape("part", texts("filename", "mediaType", metadata=STRUCT, **content), one_of=tuple(content))
    message = Shape(
        "message",
        texts(*_MESSAGE_IDS, role=_ROLE_1_0, parts=Many(part), **_MESSAGE_EXTRAS, referenceTaskIds=_TEXTS),
        ("messageId", "role", "parts"),
    )
    status, artifact = _status(_STATE_1_0, message), _artifact(part)
    task = _task(status, artifact, message, ("id", "status"), **counted)
    about = texts("taskId", "contextId", metadata=STRUCT, **counted)
    update = Shape("status update", {**about, "status": status}, ("taskId", "contextId", "status"))
    wrapped: dict[str, Kind] = {"task": task, "message": message}
    every = {**wrapped, "statusUpdate": update, "artifactUpdate": _artifact_update(about, artifact)}
    page: dict[str, Kind] = {"tasks": Many(task), "nextPageToken": TEXT, "pageSize": WHOLE, "totalSize": WHOLE}
    authentication = Shape("authentication", texts("scheme", "credentials"), ("scheme",))
    config = Shape(
        "push configuration", texts("tenant", "id", "taskId", "url", "token", authentication=authentication), ("url",)
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
            Operation.LIST_PUSH: Shape("list of push configurations", texts("nextPageToken", configs=Many(config))),
        },
        event,
        event,
        _OLD_MEMBERS,
    )


def _old_part(mark: str) -> Union:
    """Return the part of JSON-RPC until 0.3, whose member `mark` names its kind."""
    # 0.1 requires neither `bytes` nor `uri` of a file; either one is enough.
    file = Shape("file", texts("name", "mimeType", "uri", bytes=PLAIN_BYTES), one_of=("bytes", "uri"))
    kind = texts(mark, metadata=STRUCT)
    # 1.0 allows these two in every part. Agents of older versions send them too, and their readers accept them.
    content = {**kind, **texts("filename", "mediaType")}
    return Union(
        "part",
        mark,
        {
            "text": Shape("text part", {**content, "text": TEXT}, ("text",)),
            "file": Shape("file part", {**kind, "file": file}, ("file",)),
            "data": Shape("data part", {**content, "data": STRUCT}, ("data",)),
        },
    )


def _old_config(owner: str, *names: str) -> Shape:
    """Return the push configuration of a task until 0.3, which names the task in the member `owner`."""
    authentication = Shape("authentication", texts("credentials", schemes=_TEXTS), ("schemes",))
    target = Shape("push configuration", texts(*names, "url", "token", authentication=authentication), ("url",))
    required = (owner, "pushNotificationConfig")
    return Shape("push configuration of a task", texts(owner, pushNotificationConfig=target), required)


def _shapes_0_3() -> Shapes:
    """Return the shapes of JSON-RPC in 0.2 and 0.3, where every object names its kind."""
    part = _old_part("kind")
    message = Shape(
        "message",
        texts(
            *_MESSAGE_IDS,
            kind=Words("kind", frozenset({"message"})),
            role=_ROLE,
            parts=Many(part),
            **_MESSAGE_EXTRAS,
            referenceTaskIds=_TEXTS,
        ),
        ("kind", "messageId", "role", "parts"),
    )
    status, artifact = _status(_STATE_0_3, message), _artifact(part)
    kind = Words("kind", frozenset({"task"}))
    task = _task(status, artifact, message, ("kind", "id", "contextId", "status"), kind=kind)
    about = texts("kind", "taskId", "contextId", metadata=STRUCT)
    update = Shape(
        "status update", {**about, "status": status, "final": FLAG}, ("taskId", "contextId", "status", "final")
    )
    config = _old_config("taskId", "id")
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
        Union(
            "event", "kind", {**direct, "status-update": update, "artifact-update": _artifact_update(about, artifact)}
        ),
        task,
        _FOREIGN_IN_0_3,
    )


def _shapes_0_3_proto() -> Shapes:
    """Return the shapes of HTTP+JSON and gRPC in 0.2 and 0.3, which leave out default values."""
    file = Shape(
        "file", texts("name", "mimeType", "fileWithUri", fileWithBytes=BYTES), one_of=("fileWithBytes", "fileWithUri")
    )
    content: dict[str, Kind] = {"text": TEXT, "file": file, "data": Shape("data", {"data": STRUCT}, ("data",))}
    part = Shape("part", {**content, "metadata": STRUCT}, one_of=tuple(content))
    message = Shape(
        "message",
        texts(*_MESSAGE_IDS, role=_ROLE_1_0, content=Many(part), **_MESSAGE_EXTRAS),
        ("messageId", "role"),
    )
    status, artifact = _status(_STATE_PROTO_0_3, message, update=message), _artifact(part, ("artifactId",))
    task = _task(status, artifact, message, ("id", "status"))
    about = texts("taskId", "contextId", metadata=STRUCT)
    update = Shape("status update", {**about, "status": status, "final": FLAG}, ("taskId", "status"))
    wrapped: dict[str, Kind] = {"task": task, "message": message, "msg": message}
    every = {**wrapped, "statusUpdate": update, "artifactUpdate": _artifact_update(about, artifact, ("taskId",))}
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
    part, meta = _old_part("type"), {"metadata": STRUCT}
    message = Shape("message", {"role": _ROLE, "parts": Many(part), **meta}, ("role", "parts"))
    status = _status(_STATE_0_1, message)
    chunk: dict[str, Kind] = {"parts": Many(part), "index": WHOLE, "append": FLAG, "lastChunk": FLAG}
    artifact = Shape("artifact", texts("name", "description", **chunk, **meta), ("parts",))
    lists = {"artifacts": Many(artifact), "history": Many(message)}
    task = Shape("task", texts("id", "sessionId", status=status, **lists, **meta), ("id", "status"))
    event = Shape(
        "event", texts("id", status=status, artifact=artifact, final=FLAG, **meta), ("id",), ("status", "artifact")
    )
    config = _old_config("id")
    answers = dict.fromkeys((Operation.SEND, Operation.GET, Operation.CANCEL), task)
    return Shapes({**answers, Operation.SET_PUSH: config, Operation.GET_PUSH: config}, event, task, _FOREIGN_IN_0_1)


_V0_3, _V0_3_PROTO = _shapes_0_3(), _shapes_0_3_proto()
_BY_BINDING = {"JSONRPC": _V0_3, "HTTP+JSON": _V0_3_PROTO, "GRPC": _V0_3_PROTO}
_V1_0 = _shapes_1_0(defaults=True)
_V1_1 = _shapes_1_0(defaults=True, generation=INT64)
_SHAPES: Mapping[str, Mapping[str, Shapes]] = {
    "0.1": {"JSONRPC": _shapes_0_1()},
    "0.2": _BY_BINDING,
    "0.3": _BY_BINDING,
    "1.0": {"JSONRPC": _V1_0, "HTTP+JSON": _V1_0, "GRPC": _shapes_1_0(defaults=False)},
    "1.1": {"JSONRPC": _V1_1, "HTTP+JSON": _V1_1, "GRPC": _shapes_1_0(defaults=False, generation=INT64)},
}


def shapes_of(version: str, binding: str) -> Shapes:
    """Return the shapes of a version over a binding; those over JSON-RPC if it does not travel over it."""
    shapes = entry_of(_SHAPES, version)
    return shapes.get(binding) or shapes["JSONRPC"]
