"""HTTP+JSON: operations are HTTP methods and paths, responses are objects without an envelope (1.0 section 11)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from http import HTTPStatus
from typing import Any, get_args
from urllib.parse import parse_qsl, quote, unquote, urlencode

from inspector.lazy_dataclass import dataclass
from inspector.protocol import direct_read
from inspector.protocol.bindings.base import Answer, Binding, HttpRequest, Item
from inspector.protocol.bindings.jsonrpc import EVENT_STREAM, JSON
from inspector.protocol.dialects.base import Dialect, Route
from inspector.protocol.errors import (
    BY_CODE,
    BY_NAME,
    BY_REASON,
    ErrorKind,
    ProtocolError,
    kind_identified_by,
    named_in,
)
from inspector.protocol.jsonvalue import brief, dump, parse, type_name
from inspector.protocol.model import Event, Json, Request, Unreadable
from inspector.protocol.operations import REQUESTS, STREAMING, Operation

A2A_JSON = "application/a2a+json"

_MEMBER = re.compile(r"\{(\+?)(\w+)(?:=([^}]*))?\}")
"""A member in the path of a route, with three groups: `+` if the member keeps its slashes, its name, its pattern."""

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_FLAT = frozenset({"code", "message", "data", "details", "status", "error"})
_PHRASES = {status.value: status.phrase for status in HTTPStatus}

_BY_STATUS: dict[int, tuple[tuple[str, str], ...]] = {
    404: (("task", "TaskNotFoundError"), ("card", "ExtendedAgentCardNotConfiguredError")),
    409: (("", "TaskNotCancelableError"),),
    415: (("", "ContentTypeNotSupportedError"),),
    422: (("", "InvalidParamsError"),),
    500: (("", "InternalError"),),
    501: (("push", "PushNotificationNotSupportedError"), ("", "UnsupportedOperationError")),
    502: (("agent response", "InvalidAgentResponseError"),),
}
"""The errors that a status and a word of the message identify: 0.3 does not define the body of an error."""


# ── the request ──


def encode(url: str, dialect: Dialect, operation: Operation, request: Request, request_id: str) -> HttpRequest:
    """Return the HTTP request for an operation; a tenant is the first segment after the URL of the interface."""
    route = dialect.routes[operation]
    encoded = dialect.encode_request(operation, request)
    members: dict[str, Json] = dict(encoded) if isinstance(encoded, dict) else {}
    base, _, query = url.partition("#")[0].partition("?")
    tenant = members.pop("tenant", None)
    filled, rest = _fill(route.path, members)
    path = (f"/{_segment(str(tenant))}" if tenant else "") + filled
    headers = {"Accept": EVENT_STREAM if operation in STREAMING else f"{A2A_JSON}, {JSON}", **dialect.headers}
    body = b""
    if route.verb == "POST":
        headers = {"Content-Type": JSON} | headers  # the official JS SDK 0.3 responds to a2a+json with 500
        body = dump(rest.pop(route.body, {}) if route.body else members if route.whole_body else rest)
    if route.body or route.verb != "POST":
        query = "&".join(filter(None, (query, _query(rest))))
    return HttpRequest(route.verb, base.rstrip("/") + path + (f"?{query}" if query else ""), headers, body)


def _fill(path: str, members: dict[str, Json]) -> tuple[str, dict[str, Json]]:
    """Insert members into a path; return the path and the members that are not part of it."""
    used: set[str] = set()

    def insert(found: re.Match[str]) -> str:
        used.add(found[2])
        value = str(members.get(found[2], ""))
        if found[3]:
            return _in_pattern(value, found[3])
        return _segments(value) if found[1] else _segment(value)

    filled = _MEMBER.sub(insert, path)
    return filled, {name: member for name, member in members.items() if name not in used}


def _in_pattern(value: str, pattern: str) -> str:
    """Return a value with the slashes of a pattern such as `tasks/*`; one that does not match keeps all its slashes."""
    matched = re.fullmatch(re.escape(pattern).replace(r"\*", "(.+)"), value, re.DOTALL)
    if matched is None:
        return _segments(value)
    stars = map(_segment, matched.groups())
    return re.sub(r"\*", lambda _: next(stars), pattern)


def _segments(value: str) -> str:
    return "/".join(map(_segment, value.split("/")))


def operation_at(dialect: Dialect, verb: str, url: str) -> Operation | None:
    """Return the operation for an HTTP method and a URL, None if unknown; the URL of the interface is not needed."""
    path = url.partition("#")[0].partition("?")[0]
    fitting = (
        (len(route.path), operation)
        for operation, route in dialect.routes.items()
        if verb in _verbs(operation, route) and re.search(f"{_pattern(route)}$", path)
    )
    return max(fitting, default=(0, None))[1]


def _verbs(operation: Operation, route: Route) -> frozenset[str]:
    """Return the HTTP methods of an operation; for SubscribeToTask, the specification and its proto differ."""
    return frozenset({"GET", "POST"} if operation is Operation.SUBSCRIBE else {route.verb})


def decode_params(dialect: Dialect, operation: Operation, url: str, body: Json) -> dict[str, Json]:
    """Return the parameters of a request from its URL and its body, without its tenant: the inverse of `encode`."""
    members = dict(body) if isinstance(body, dict) else {}
    name = dialect.routes[operation].body
    if name and name not in members:
        members = {name: members}
    return members | members_at(dialect, operation, url)


def members_at(dialect: Dialect, operation: Operation, url: str) -> dict[str, Json]:
    """Return the parameters in the path and the query of a URL; the URL of the interface is not needed."""
    path, _, query = url.partition("#")[0].partition("?")
    found = re.search(f"{_pattern(dialect.routes[operation])}$", path)
    members = {name: unquote(text) for name, text in found.groupdict().items()} if found else {}
    return read_query(operation, dict(parse_qsl(query, keep_blank_values=True, errors="replace"))) | members


@cache
def _pattern(route: Route) -> str:
    """Return the regular expression for the path of a route, with a group for each member."""
    pattern, done = "", 0
    for found in _MEMBER.finditer(route.path):
        keeps_slashes, name, form = found.groups()
        member = re.escape(form).replace(r"\*", "[^/]+") if form else ".+" if keeps_slashes else "[^/]+"
        pattern += f"{re.escape(route.path[done : found.start()])}(?P<{name}>{member})"
        done = found.end()
    return pattern + re.escape(route.path[done:])


def _segment(text: str) -> str:
    """Return a text percent-encoded as a path segment; `.` and `..` are encoded, too."""
    return text.replace(".", "%2E") if text in (".", "..") else quote(text, safe="", errors="surrogatepass")


def _query(members: dict[str, Json]) -> str:
    pairs = {
        name: member if isinstance(member, str) else dump(member).decode()
        for name, member in members.items()
        if member is not None
    }
    return urlencode(pairs, quote_via=quote, errors="surrogatepass")


# ── the response ──


def read(dialect: Dialect, operation: Operation, raw: bytes) -> Json | Unreadable:
    """Read a payload as JSON; the response to a deletion has no body."""
    if not raw.strip():
        return None if operation is Operation.DELETE_PUSH else Unreadable("", "the body is empty")
    value = parse(raw)
    if not isinstance(value, Unreadable):
        return value
    if value.why.startswith("not JSON") and raw.lstrip()[:1] not in (b"{", b"[", b'"'):
        return replace(value, why=f"text, not JSON: {brief(str(value.value).strip())}")
    return value


def decode_answer(dialect: Dialect, operation: Operation, status: int, value: Json) -> Answer:
    """Read a response by its status; the body of an error is read as an error even if the status is a success."""
    if status >= 300 or _is_error(value):
        return _error(status, value)
    if operation in STREAMING:
        return decode_item(dialect, value)
    return _misplaced(value) or dialect.decode_result(operation, value)


def decode_item(dialect: Dialect, value: Json) -> Item:
    """Read an event of a stream: a StreamResponse, or the error that ends the stream."""
    if _is_error(value):
        return _error(0, value)
    return _misplaced(value) or dialect.decode_event(value)


def read_event(dialect: Dialect, raw: bytes) -> Event | None:
    """Read an event of a stream in one step, or return None."""
    return direct_read.read_event(raw, enveloped=False) if dialect.reads_directly else None


def _misplaced(value: Json) -> Unreadable | None:
    if isinstance(value, dict) and "jsonrpc" in value:
        return Unreadable(value, "received a JSON-RPC response, expected the object without an envelope (HTTP+JSON)")
    return None


def _is_error(value: Json) -> bool:
    """Return whether a value is an error; no result has an `error`, a `message` that is text, or a numeric `status`."""
    match value:
        case {"error": dict()}:
            return len(value) == 1 or "jsonrpc" in value
        case {"message": str()}:
            return _FLAT.issuperset(value)
        case {"status": int(), "title": str()} | {"status": int(), "type": str()}:
            return True
        case _:
            return False


def _error(status: int, value: Json) -> ProtocolError | Unreadable:
    """Read the body of an error in each of the formats that versions and libraries use."""
    match value:
        case {"error": dict() as inner}:  # AIP-193, or a JSON-RPC error
            return _from_members(status, inner)
        case {"title": str()} | {"type": str()}:
            return _from_problem(status, value)
        case {"message": str()}:  # 0.3: the official SDKs for Python, and (with a code) for JS
            return _from_members(status, value)
        case {"error": str(message)}:
            return _protocol_error(status, _kind_of_message(status, message), message)
        case {"detail": detail}:
            return Unreadable(value, f"not an A2A error: {brief(detail)} from a web framework")
        case None:
            return Unreadable(value, f"status {status} without a body")
        case _:
            return Unreadable(value, f"not an A2A error: {type_name(value)}")


def _from_members(status: int, error: dict[str, Json]) -> ProtocolError:
    """Read an error with any of the members `code`, `status`, `message` and `details`."""
    code, text = error.get("code"), error.get("message")
    message = text if isinstance(text, str) else ""
    number = code if type(code) is int else 0
    status = status or max(number, 0)
    details = error.get("details", error.get("data"))
    infos = _objects(details)
    reasons = [info["reason"] for info in infos if isinstance(info.get("reason"), str)]
    kind = next(filter(None, map(kind_identified_by, infos)), None) or BY_CODE.get(number)
    if kind is None and not reasons and "status" not in error:
        kind = _kind_of_message(status, message)
    called = next(filter(_is_word, (*reasons, error.get("status"))), "")
    return _protocol_error(status, kind or named_in(message), message, details, code=min(number, 0), called=called)


def _from_problem(status: int, problem: dict[str, Json]) -> ProtocolError:
    """Read a problem (RFC 9457), whose type ends with the name of the error: `.../errors/task-not-found`."""
    kind_of = str(problem.get("type") or "").rstrip("/").rpartition("/")[2]
    title, detail, number = problem.get("title"), problem.get("detail"), problem.get("status")
    message = next((text for text in (detail, title) if isinstance(text, str) and text), "")
    known = {"type", "title", "status", "detail"}
    rest = {name: member for name, member in problem.items() if name not in known}
    kind = BY_REASON.get(kind_of.upper().replace("-", "_")) or named_in(message)
    called = title if isinstance(title, str) and _is_word(title.replace(" ", "")) else ""
    return _protocol_error(status or (number if type(number) is int else 0), kind, message, rest or None, called=called)


def _kind_of_message(status: int, message: str) -> ErrorKind | None:
    """Return the error that the beginning of the message names, or that the status and a word of it identify."""
    lower = message.lower()
    names = (name for word, name in _BY_STATUS.get(status, ()) if word in lower)
    return named_in(message) or BY_NAME.get(next(names, ""))


def _protocol_error(
    status: int, kind: ErrorKind | None, message: str, data: Json = None, *, code: int = 0, called: str = ""
) -> ProtocolError:
    """Return the error; an unknown error has the name in the response, or the phrase of the HTTP status."""
    if kind is not None:
        return ProtocolError(kind.code, message, data, status)
    return ProtocolError(code or None, message, data, status, called or _PHRASES.get(status, ""))


def _is_word(text: Any) -> bool:
    return isinstance(text, str) and _WORD.fullmatch(text) is not None


def _objects(value: Json) -> list[dict[str, Json]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


# ── the server side ──

_TENANT = "(?:/(?P<tenant>[^/]+))?"
_TRUTH = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Found:
    """The operation of a request, and the members of its parameters that are in the path."""

    operation: Operation
    members: dict[str, Json]


def find(dialect: Dialect, verb: str, path: str) -> Found | frozenset[str]:
    """Return the operation for an HTTP method and a percent-encoded path, or the methods that the path allows.

    A tenant may be the first segment of the path.
    """
    verbs: frozenset[str] = frozenset()
    # A route that ends with a member is tried last, because the member would match the `:cancel` of another route.
    for operation, route in sorted(dialect.routes.items(), key=lambda item: item[1].path.endswith("}")):
        match = re.fullmatch(_TENANT + _pattern(route), path)
        if match is None:
            continue
        allowed = _verbs(operation, route)
        if verb in allowed:
            return Found(operation, {name: unquote(text) for name, text in match.groupdict().items() if text})
        verbs |= allowed
    return verbs


def read_query(operation: Operation, members: Mapping[str, str]) -> dict[str, Json]:
    """Convert the members of a query to the types of the parameters: numbers and booleans.

    An invalid text is not converted, so that reading the parameters rejects it.
    """
    kinds = {field.alias: get_args(field.annotation) for field in REQUESTS[operation].model_fields.values()}
    return {name: _value(text, kinds.get(name, ())) for name, text in members.items()}


def _value(text: str, kinds: tuple[object, ...]) -> Json:
    if bool in kinds:
        return _TRUTH.get(text, text)
    if int in kinds and re.fullmatch(r"-?[0-9]{1,18}", text):
        return int(text)
    return text


def encode_error(error: ErrorKind, message: str, status: int, word: str) -> Json:
    """Return the body of an error in 1.0; `status` is the HTTP status, `word` the gRPC status (section 11.6)."""
    return {"error": {"code": status, "status": word, "message": message, "details": [error.info()]}}


BINDING = Binding(
    name="HTTP+JSON",
    offers=lambda dialect, operation: operation in dialect.routes,
    encode=encode,
    read=read,
    decode_answer=decode_answer,
    decode_item=decode_item,
    read_event=read_event,
)
