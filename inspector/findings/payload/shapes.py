"""The shapes of responses and events in every protocol version.

Sources: `specification/json/a2a.json` of 0.1.0, 0.2.6 and 0.3.0, `specification/grpc/a2a.proto` of 0.3.0 (its HTTP+JSON
and gRPC), `specification/a2a.proto` of 1.0.1 and of the branch `dev-1.1`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from inspector.findings.shape import (
    ANY,
    BOOLEAN,
    BYTES,
    INT64,
    INTEGER,
    OBJECT,
    STANDARD_BYTES,
    STRING,
    TIMESTAMP,
    ArrayOf,
    EnumOf,
    Kind,
    Shape,
    Union,
    strings,
)
from inspector.lazy_dataclass import dataclass
from inspector.protocol.dialects.traits import entry_of
from inspector.protocol.operations import Operation

_STRINGS = ArrayOf(STRING)

_STATES = ("SUBMITTED", "WORKING", "COMPLETED", "FAILED", "CANCELED", "INPUT_REQUIRED", "REJECTED", "AUTH_REQUIRED")
_STATE_1_0 = EnumOf("task state", frozenset(f"TASK_STATE_{name}" for name in _STATES))
_ROLE_1_0 = EnumOf("role", frozenset({"ROLE_USER", "ROLE_AGENT"}))
_STATE_PROTO_0_3 = EnumOf("task state", _STATE_1_0.values - {"TASK_STATE_CANCELED"} | {"TASK_STATE_CANCELLED"})
_OLD_STATES = ("submitted", "working", "input-required", "completed", "canceled", "failed", "unknown")
_STATE_0_1 = EnumOf("task state", frozenset(_OLD_STATES))
_STATE_0_3 = EnumOf("task state", frozenset({*_OLD_STATES, "rejected", "auth-required"}))
_ROLE = EnumOf("role", frozenset({"user", "agent"}))
_MESSAGE_IDS = ("messageId", "contextId", "taskId")
_MESSAGE_EXTRAS: dict[str, Kind] = {"metadata": OBJECT, "extensions": _STRINGS}


@dataclass(frozen=True, slots=True)
class Shapes:
    """The shapes of one protocol version over one binding.

    `answers` has the response of each operation, `event` an event of a stream, `push` the body of a push notification.
    `foreign` has the members that only other versions have: `member`, or `object.member` if other objects of this
    version have a member of this name.
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
    lists = {"artifacts": ArrayOf(artifact), "history": ArrayOf(message)}
    return Shape("task", strings("id", "contextId", status=status, metadata=OBJECT, **lists, **more), required)


def _artifact(part: Kind, required: tuple[str, ...] = ("artifactId", "parts")) -> Shape:
    members = strings("artifactId", "name", "description", parts=ArrayOf(part), metadata=OBJECT, extensions=_STRINGS)
    return Shape("artifact", members, required)


def _status(state: Kind, message: Kind, **more: Kind) -> Shape:
    return Shape("status", {"state": state, "message": message, "timestamp": TIMESTAMP, **more}, ("state",))


def _artifact_update(
    about: Mapping[str, Kind], artifact: Kind, ids: tuple[str, ...] = ("taskId", "contextId")
) -> Shape:
    members = {**about, "artifact": artifact, "append": BOOLEAN, "lastChunk": BOOLEAN}
    return Shape("artifact update", members, (*ids, "artifact"))


def _shapes_1_0(*, defaults: bool, **counted: Kind) -> Shapes:
    """Return the shapes of 1.0.

    `defaults` is false for gRPC, which omits empty and zero values. `counted` are the members that a later
    version adds to tasks and their updates.
    """
    content: dict[str, Kind] = {"text": STRING, "raw": BYTES, "url": STRING, "data": ANY}
    part = Shape("part", strings("filename", "mediaType", metadata=OBJECT, **content), one_of=tuple(content))
    message = Shape(
        "message",
        strings(*_MESSAGE_IDS, role=_ROLE_1_0, parts=ArrayOf(part), **_MESSAGE_EXTRAS, referenceTaskIds=_STRINGS),
        ("messageId", "role", "parts"),
    )
    status, artifact = _status(_STATE_1_0, message), _artifact(part)
    task = _task(status, artifact, message, ("id", "status"), **counted)
    about = strings("taskId", "contextId", metadata=OBJECT, **counted)
    update = Shape("status update", {**about, "status": status}, ("taskId", "contextId", "status"))
    wrapped: dict[str, Kind] = {"task": task, "message": message}
    every = {**wrapped, "statusUpdate": update, "artifactUpdate": _artifact_update(about, artifact)}
    page: dict[str, Kind] = {"tasks": ArrayOf(task), "nextPageToken": STRING, "pageSize": INTEGER, "totalSize": INTEGER}
    authentication = Shape("authentication object", strings("scheme", "credentials"), ("scheme",))
    config = Shape(
        "push configuration", strings("tenant", "id", "taskId", "url", "token", authentication=authentication), ("url",)
    )
    event = Shape("event", every, one_of=tuple(every))
    return Shapes(
        {
            Operation.SEND: Shape("response to a message", wrapped, one_of=tuple(wrapped)),
            Operation.GET: task,
            Operation.CANCEL: task,
            Operation.LIST: Shape("list of tasks", page, tuple(page) if defaults else ()),
            Operation.SET_PUSH: config,
            Operation.GET_PUSH: config,
            Operation.LIST_PUSH: Shape(
                "list of push configurations", strings("nextPageToken", configs=ArrayOf(config))
            ),
        },
        event,
        event,
        _OLD_MEMBERS,
    )


def _old_part(mark: str) -> Union:
    """Return the shape of a part in JSON-RPC up to 0.3; the member named by `mark` contains the kind of the part."""
    # 0.1 does not require `bytes` or `uri`, but a file needs one of them.
    file = Shape("file", strings("name", "mimeType", "uri", bytes=STANDARD_BYTES), one_of=("bytes", "uri"))
    kind = strings(mark, metadata=OBJECT)
    # 1.0 allows these two members in every part. Agents of older versions also send them, and readers accept them.
    content = {**kind, **strings("filename", "mediaType")}
    return Union(
        "part",
        mark,
        {
            "text": Shape("text part", {**content, "text": STRING}, ("text",)),
            "file": Shape("file part", {**kind, "file": file}, ("file",)),
            "data": Shape("data part", {**content, "data": OBJECT}, ("data",)),
        },
    )


def _old_config(owner: str, *names: str) -> Shape:
    """Return the shape of a push configuration up to 0.3; the member named by `owner` contains the task id."""
    authentication = Shape("authentication object", strings("credentials", schemes=_STRINGS), ("schemes",))
    target = Shape("push configuration", strings(*names, "url", "token", authentication=authentication), ("url",))
    required = (owner, "pushNotificationConfig")
    return Shape("push configuration of a task", strings(owner, pushNotificationConfig=target), required)


def _shapes_0_3() -> Shapes:
    """Return the shapes of JSON-RPC in 0.2 and 0.3, where every object has the member `kind`."""
    part = _old_part("kind")
    message = Shape(
        "message",
        strings(
            *_MESSAGE_IDS,
            kind=EnumOf("kind", frozenset({"message"})),
            role=_ROLE,
            parts=ArrayOf(part),
            **_MESSAGE_EXTRAS,
            referenceTaskIds=_STRINGS,
        ),
        ("kind", "messageId", "role", "parts"),
    )
    status, artifact = _status(_STATE_0_3, message), _artifact(part)
    kind = EnumOf("kind", frozenset({"task"}))
    task = _task(status, artifact, message, ("kind", "id", "contextId", "status"), kind=kind)
    about = strings("kind", "taskId", "contextId", metadata=OBJECT)
    update = Shape(
        "status update", {**about, "status": status, "final": BOOLEAN}, ("taskId", "contextId", "status", "final")
    )
    config = _old_config("taskId", "id")
    direct = {"task": task, "message": message}
    return Shapes(
        {
            Operation.SEND: Union("response to a message", "kind", direct),
            Operation.GET: task,
            Operation.CANCEL: task,
            Operation.SET_PUSH: config,
            Operation.GET_PUSH: config,
            Operation.LIST_PUSH: ArrayOf(config),
        },
        Union(
            "event", "kind", {**direct, "status-update": update, "artifact-update": _artifact_update(about, artifact)}
        ),
        task,
        _FOREIGN_IN_0_3,
    )


def _shapes_0_3_proto() -> Shapes:
    """Return the shapes of HTTP+JSON and gRPC in 0.2 and 0.3, which omit default values."""
    file = Shape(
        "file", strings("name", "mimeType", "fileWithUri", fileWithBytes=BYTES), one_of=("fileWithBytes", "fileWithUri")
    )
    content: dict[str, Kind] = {"text": STRING, "file": file, "data": Shape("data", {"data": OBJECT}, ("data",))}
    part = Shape("part", {**content, "metadata": OBJECT}, one_of=tuple(content))
    message = Shape(
        "message",
        strings(*_MESSAGE_IDS, role=_ROLE_1_0, content=ArrayOf(part), **_MESSAGE_EXTRAS),
        ("messageId", "role"),
    )
    status, artifact = _status(_STATE_PROTO_0_3, message, update=message), _artifact(part, ("artifactId",))
    task = _task(status, artifact, message, ("id", "status"))
    about = strings("taskId", "contextId", metadata=OBJECT)
    update = Shape("status update", {**about, "status": status, "final": BOOLEAN}, ("taskId", "status"))
    wrapped: dict[str, Kind] = {"task": task, "message": message, "msg": message}
    every = {**wrapped, "statusUpdate": update, "artifactUpdate": _artifact_update(about, artifact, ("taskId",))}
    return Shapes(
        {
            Operation.SEND: Shape("response to a message", wrapped, one_of=tuple(wrapped)),
            Operation.GET: task,
            Operation.CANCEL: task,
        },
        Shape("event", every, one_of=tuple(every)),
        task,
        frozenset({"kind", "message.parts"}),
    )


def _shapes_0_1() -> Shapes:
    part, meta = _old_part("type"), {"metadata": OBJECT}
    message = Shape("message", {"role": _ROLE, "parts": ArrayOf(part), **meta}, ("role", "parts"))
    status = _status(_STATE_0_1, message)
    chunk: dict[str, Kind] = {"parts": ArrayOf(part), "index": INTEGER, "append": BOOLEAN, "lastChunk": BOOLEAN}
    artifact = Shape("artifact", strings("name", "description", **chunk, **meta), ("parts",))
    lists = {"artifacts": ArrayOf(artifact), "history": ArrayOf(message)}
    task = Shape("task", strings("id", "sessionId", status=status, **lists, **meta), ("id", "status"))
    event = Shape(
        "event", strings("id", status=status, artifact=artifact, final=BOOLEAN, **meta), ("id",), ("status", "artifact")
    )
    config = _old_config("id")
    answers = dict.fromkeys((Operation.SEND, Operation.GET, Operation.CANCEL), task)
    return Shapes({**answers, Operation.SET_PUSH: config, Operation.GET_PUSH: config}, event, task, _FOREIGN_IN_0_1)


_V0_3, _V0_3_PROTO = _shapes_0_3(), _shapes_0_3_proto()
_BY_BINDING = {"JSONRPC": _V0_3, "HTTP+JSON": _V0_3_PROTO, "GRPC": _V0_3_PROTO}
_V1_0 = _shapes_1_0(defaults=True)
_V1_1 = _shapes_1_0(defaults=True, generation=INT64)
_PUSH_RESULTS = (Operation.SET_PUSH, Operation.GET_PUSH, Operation.LIST_PUSH)


def _shapes_opvs(shapes: Shapes) -> Shapes:
    """Return the shapes of 1.0 without those of push configurations, which OPVS may nest as in 0.3."""
    return replace(shapes, answers={name: kind for name, kind in shapes.answers.items() if name not in _PUSH_RESULTS})


_SHAPES: Mapping[str, Mapping[str, Shapes]] = {
    "0.1": {"JSONRPC": _shapes_0_1()},
    "0.2": _BY_BINDING,
    "0.3": _BY_BINDING,
    "1.0": {"JSONRPC": _V1_0, "HTTP+JSON": _V1_0, "GRPC": _shapes_1_0(defaults=False)},
    "opvs": {
        "JSONRPC": _shapes_opvs(_V1_0),
        "HTTP+JSON": _shapes_opvs(_V1_0),
        "GRPC": _shapes_opvs(_shapes_1_0(defaults=False)),
    },
    "1.1": {"JSONRPC": _V1_1, "HTTP+JSON": _V1_1, "GRPC": _shapes_1_0(defaults=False, generation=INT64)},
}


def shapes_of(version: str, binding: str) -> Shapes:
    """Return the shapes of a version over a binding, or over JSON-RPC if the version does not define the binding."""
    shapes = entry_of(_SHAPES, version)
    return shapes.get(binding) or shapes["JSONRPC"]
