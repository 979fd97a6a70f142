"""Read a request into its content, which identifies it, and its volatile values, which differ from call to call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from functools import cache
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings.grpc import read as read_grpc
from inspector.protocol.bindings.jsonrpc import RequestId, request_id_of
from inspector.protocol.bindings.rest import Found, find, read_query
from inspector.protocol.circumstances import sent_extensions, sent_version, version_header
from inspector.protocol.dialects.registry import for_request
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import (
    ExtendedCardRequest,
    Json,
    ListTasksRequest,
    PushConfig,
    PushConfigRequest,
    Request,
    SendRequest,
    TaskRequest,
    Unreadable,
)
from inspector.protocol.operations import Operation

from ..proto_names import camel_case
from ..versions import VERSIONS, Version

SENDING = frozenset({Operation.SEND, Operation.STREAM})
"""The operations that send a message."""

_UUID = re.compile(r"(?:urn:uuid:)?[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_TRACE = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")
_VOLATILE = ((_UUID, "<uuid>"), (_TIME, "<time>"), (_TRACE, "<trace>"))
"""Texts in metadata that differ from call to call, and what replaces them for a comparison."""

_FREE_FORM = "data"
"""The member whose content is not part of the protocol: nothing in it is left out."""

JsonT = TypeVar("JsonT")


@dataclass(frozen=True, slots=True)
class RawRequest:
    """A request as it was received or recorded: the names of `headers` are in lower case; gRPC has no `query`."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class CallContent:
    """What a request demands.

    - `binding`, `version`: the binding, and the version in whose format the request was read.
    - `endpoint`: the path of the interface; `""` for gRPC.
    - `operation`: its 1.0 name, or how the request names it if it is unknown.
    - `content`: what has to be equal in a recorded request, as the JSON of 1.0.
    - `preferences`: what may differ; of several requests, the most similar is used.
    - `task`, `context`, `config`: the ids of a task, a context and a push configuration.
    - `references`: the ids of the tasks that a message refers to.
    - `message_id`, `request_id`: ids that the client creates for each call; `request_id` is None without an id.
    - `webhook`: the push configuration in the request.
    """

    binding: str
    version: Version
    endpoint: str
    operation: str
    content: Json
    preferences: Mapping[str, Json] = field(default_factory=dict)
    task: str = ""
    context: str = ""
    config: str = ""
    references: tuple[str, ...] = ()
    message_id: str = ""
    request_id: RequestId = None
    webhook: PushConfig | None = None

    @property
    def sends_message(self) -> bool:
        """Return whether the request sends a message."""
        return self.operation in SENDING

    @property
    def title(self) -> str:
        """Return the operation with its protocol version and binding."""
        return f"{self.operation or 'request'} ({self.version.name} {self.binding})"


@cache
def version_for(name: str, binding: str) -> Version | None:
    """Return a version over a binding, with the newest error statuses; None if it is not supported."""
    dialect = for_request(name, binding)
    known = (version for versions in VERSIONS.values() for version in versions)
    found = next((version for version in known if version.dialect is dialect), None)
    return replace(found, release=found.releases[-1]) if found and found.releases else found


def read_call(raw: RawRequest, binding: str, version: Version) -> CallContent:
    """Read a request; if it is not a valid call of this binding, its content is the request itself."""
    match binding:
        case "JSONRPC":
            call = _read_json_rpc(raw, version)
        case "GRPC":
            call = _read_grpc(raw, version)
        case _:
            call = _read_rest(raw, version)
    return replace(call, preferences={**call.preferences, **_header_preferences(raw, version)})


def is_json_rpc(raw: RawRequest) -> bool:
    """Return whether a request is meant as a JSON-RPC call."""
    value = parse(raw.body) if raw.method == "POST" and raw.body else None
    return isinstance(value, dict) and ("jsonrpc" in value or "method" in value)


def _read_json_rpc(raw: RawRequest, version: Version) -> CallContent:
    dialect, endpoint = version.dialect, raw.path.rstrip("/")
    card_path = dialect.extended_card_path
    if raw.method == "GET" and card_path and raw.path.endswith(f"/{card_path}"):
        return CallContent("JSONRPC", version, endpoint, Operation.EXTENDED_CARD, {})
    value = parse(raw.body)
    if not isinstance(value, dict) or not isinstance(method := value.get("method"), str):
        body = value.value if isinstance(value, Unreadable) else value
        return CallContent("JSONRPC", version, endpoint, "", {"method": raw.method, "body": body})
    operation = next((known for known, name in dialect.methods.items() if name == method), None)
    request_id, params = request_id_of(value), value.get("params")
    call = CallContent("JSONRPC", version, endpoint, operation or method, {}, request_id=request_id)
    if operation is None:
        return replace(call, content={"params": params})
    return _with_parameters(call, operation, params)


def _read_grpc(raw: RawRequest, version: Version) -> CallContent:
    service = version.dialect.service
    methods = service.methods.items() if service is not None else ()
    paths = {f"/{service.name}/{method.name}": operation for operation, method in methods} if service else {}
    operation = paths.get(raw.path)
    if operation is None:
        return CallContent("GRPC", version, "", raw.path, {"body": raw.body.hex()})
    call = CallContent("GRPC", version, "", operation, {})
    value = read_grpc(version.dialect, operation, raw.body, is_request=True)
    if isinstance(value, Unreadable):
        # The message has a masked secret that is not a valid value; then its JSON was recorded.
        value = parse(raw.body)
    if isinstance(value, Unreadable):
        return replace(call, content={"body": raw.body.hex()})
    return _with_parameters(call, operation, value)


def _read_rest(raw: RawRequest, version: Version) -> CallContent:
    located = _locate(raw, version)
    members = parse(raw.body) if raw.body else {}
    query = {name: text for name, text in parse_qsl(raw.query, True) if name != version_header(version.dialect)}
    if located is None or not isinstance(members, dict):
        body = members.value if isinstance(members, Unreadable) else members
        content = {"body": body, "query": query}
        return CallContent("HTTP+JSON", version, "", f"{raw.method} {raw.path}", _pruned(content))
    endpoint, found = located
    if version.snake_case:
        members, query = camel_case(members), camel_case(query)
    call = CallContent("HTTP+JSON", version, endpoint, found.operation, {})
    return _with_parameters(call, found.operation, members | read_query(found.operation, query) | found.members)


def _locate(raw: RawRequest, version: Version) -> tuple[str, Found] | None:
    """Return the path of the interface and the operation of a request, with the shortest possible path."""
    starts = (at for at, letter in enumerate(raw.path) if letter == "/")
    for at in starts:
        found = find(version.dialect, raw.method, raw.path[at:])
        if isinstance(found, Found):
            return raw.path[:at], found
    return None


def _with_parameters(call: CallContent, operation: Operation, params: Json) -> CallContent:
    """Add the parameters of an operation to a call."""
    params = camel_case(params) if call.version.snake_case else params
    read = call.version.dialect.decode_request(operation, params)
    if isinstance(read, Unreadable):
        return replace(call, content={"params": params})
    content, members = _divided(read)
    return replace(call, content=_pruned(content), **members)


def _divided(request: Request) -> tuple[dict[str, Json], dict[str, Any]]:
    """Return the content of the parameters, and the other members of `CallContent`."""
    content = _without_volatile(request.to_json())
    match request:
        case SendRequest():
            return _divided_message(request, content)
        case TaskRequest(id=task):
            preferences = _taken_out(content, "historyLength")
            content.pop("id", None)
            return content, {"task": task, "preferences": preferences}
        case ListTasksRequest(context_id=context):
            preferences = _taken_out(content, "historyLength", "pageSize")
            content.pop("contextId", None)
            return content, {"context": context or "", "preferences": preferences}
        case PushConfig(task_id=task, id=config):
            members = {"task": task or "", "config": config or "", "webhook": request}
            return {"tenant": request.tenant}, members
        case PushConfigRequest(task_id=task, id=config):
            preferences = _taken_out(content, "pageSize")
            for name in ("taskId", "id"):
                content.pop(name, None)
            return content, {"task": task, "config": config or "", "preferences": preferences}
        case ExtendedCardRequest():
            return content, {}


def _divided_message(request: SendRequest, content: dict[str, Json]) -> tuple[dict[str, Json], dict[str, Any]]:
    message, sent = content.get("message", {}), request.message
    for name in ("messageId", "taskId", "contextId", "referenceTaskIds"):
        message.pop(name, None)
    preferences = _taken_out(message, "extensions")
    configuration = content.pop("configuration", None) or {}
    # A webhook belongs to the client: pushes are sent to the webhook of the request.
    configuration.pop("taskPushNotificationConfig", None)
    preferences |= {f"configuration.{name}": value for name, value in configuration.items() if value not in (False, [])}
    webhook = request.configuration.task_push_notification_config if request.configuration else None
    return content, {
        "preferences": preferences,
        "task": sent.task_id or "",
        "context": sent.context_id or "",
        "references": tuple(sent.reference_task_ids or ()),
        "message_id": sent.message_id,
        "webhook": webhook,
        "config": (webhook.id or "") if webhook else "",
    }


def _taken_out(members: dict[str, Json], *names: str) -> dict[str, Json]:
    """Remove members that are set, and return them."""
    return {name: value for name in names if (value := members.pop(name, None)) not in (None, [])}


def _header_preferences(raw: RawRequest, version: Version) -> dict[str, Json]:
    """Return the preferences in the headers: version, extensions, and whether there are credentials."""
    headers = tuple(raw.headers.items())
    named = sent_version(version.dialect, headers)
    extensions = sorted(sent_extensions(version.dialect, headers))
    credentials = any(name == "authorization" or "api-key" in name for name in raw.headers)
    found = {"version header": named, "extensions header": extensions, "credentials": credentials}
    return {name: value for name, value in found.items() if value}


def _without_volatile(value: Json, *, inside: bool = False) -> Json:
    """Replace the volatile texts in metadata, and the time in a filter; `inside` is whether this is metadata."""
    match value:
        case dict():
            return {
                name: _without_volatile(member, inside=inside or name in ("metadata", "statusTimestampAfter"))
                if name != _FREE_FORM
                else member
                for name, member in value.items()
            }
        case list():
            return [_without_volatile(item, inside=inside) for item in value]
        case str() if inside:
            return next((mark for pattern, mark in _VOLATILE if pattern.fullmatch(value)), value)
        case _:
            return value


def _pruned(value: Json) -> Json:
    """Leave out members without a value, which some clients write and others do not."""
    if isinstance(value, list):
        return [_pruned(item) for item in value]
    if not isinstance(value, dict):
        return value
    members = {name: member if name == _FREE_FORM else _pruned(member) for name, member in value.items()}
    return {name: member for name, member in members.items() if name == _FREE_FORM or member not in (None, {}, [], "")}
