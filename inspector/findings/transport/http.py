"""Rules about HTTP: statuses, media types and error bodies of HTTP+JSON, and the statuses of gRPC."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from inspector.findings.examples import TEXT_PART, answer, message, response
from inspector.findings.rule_set import ERROR, SINCE_0_2, V1, WARNING, Rule, RuleSet, Violation
from inspector.findings.transport.payload import FAILED, Payload, no_stream, wrong_media_type
from inspector.protocol.bindings import jsonrpc, rest
from inspector.protocol.dialects.traits import VERSIONS
from inspector.protocol.errors import BY_NAME, ErrorKind, ProtocolError
from inspector.protocol.jsonvalue import brief, brief_or_missing
from inspector.protocol.model import Json, Unreadable

_PROBLEM = "application/problem+json"
_SUCCESS_TYPES = frozenset({jsonrpc.JSON, rest.A2A_JSON})
_ERROR_TYPES = _SUCCESS_TYPES | {_PROBLEM}
_UNAUTHORIZED = 401
_WITHOUT_DETAILS = frozenset({429})
"""Statuses that need no details and belong to no A2A error."""

_OF_PROXIES = frozenset({408, 413, 414, 429, 431, 502, 503, 504})
"""Statuses that web servers and proxies send before the agent gets the request, or while it does not respond."""


class ResponseHead(NamedTuple):
    """The head of a response: `content_type` and `challenge` (WWW-Authenticate) are the header fields."""

    version: str
    binding: str
    status: int
    content_type: str
    challenge: str


class ResponseEnd(NamedTuple):
    """The end of a response without a stream: whether it was interrupted, and the cause if it is known."""

    version: str
    broken: bool
    why: str


class HttpError(NamedTuple):
    """An error over HTTP+JSON, its payload, and its A2A error (`kind`, None if it is unknown).

    `inner` is the member `error` of the body, which should be an object.
    """

    version: str
    payload: Payload
    error: ProtocolError
    kind: ErrorKind | None
    inner: Json

    @property
    def place(self) -> str:
        """Return the JSON pointer to the error in the body."""
        return "/error" if isinstance(self.payload.value, dict) and "error" in self.payload.value else ""


class GrpcStatus(NamedTuple):
    """The status of a gRPC call that failed with an A2A error; `word` is the name of the status."""

    version: str
    word: str
    error: ProtocolError
    kind: ErrorKind


class GrpcWord(NamedTuple):
    """The status of any gRPC call that failed; `word` is the name of the status."""

    version: str
    word: str
    error: ProtocolError


_HTTP = rest.BINDING.name
_VALID_RESULT = answer(message(TEXT_PART), binding=_HTTP)
_NOT_FOUND = BY_NAME["TaskNotFoundError"]


def _error_example(**changes: Json) -> Json:
    """Return a valid error over HTTP with some members changed."""
    whole = {"code": 404, "status": "NOT_FOUND", "message": "There is no such task.", "details": [_NOT_FOUND.info()]}
    return response(
        {"error": {**whole, **changes}}, binding=_HTTP, status=404, operation="GetTask", asked={"id": "t-1"}
    )


_VALID_ERROR = _error_example()
_STATUS: dict[str, Json] = response(
    {"code": _NOT_FOUND.code, "message": "TaskNotFoundError: no such task", "data": [_NOT_FOUND.info()]},
    binding="GRPC",
    status="NOT_FOUND",
    operation="GetTask",
    asked={"id": "t-1"},
)
"""A valid error over gRPC: the name of its status, and the error in the format of JSON-RPC."""

_UNIDENTIFIED: dict[str, Json] = response({"message": "Exception in the handler"}, binding="GRPC")
"""A gRPC status that does not identify an A2A error."""

RULES: list[Rule] = []
STATUS, MEDIA_TYPE, ENVELOPE, BODY = (RuleSet[Payload](RULES, passing=_VALID_RESULT) for _ in range(4))
# Versions before 1.0 define no error format for HTTP, so only the first of these sets applies to them.
ERROR_AS_RESULT, ERROR_BODY, ERROR_STATUS, ERROR_DETAILS = (
    RuleSet[HttpError](RULES, passing=_VALID_ERROR) for _ in range(4)
)
HEAD, END = RuleSet[ResponseHead](RULES, passing=_VALID_RESULT), RuleSet[ResponseEnd](RULES, passing=_VALID_RESULT)
GRPC, GRPC_WORDS = RuleSet[GrpcStatus](RULES, V1, _STATUS), RuleSet[GrpcWord](RULES, V1, _STATUS)


@MEDIA_TYPE.rule(
    "HTTP-001",
    WARNING,
    "The response has the wrong media type",
    section="1.0 §11.1",
    requirement="HTTP+JSON responses are application/a2a+json or application/json, and streams are text/event-stream.",
    remedy="Set Content-Type to application/a2a+json (up to 0.3: application/json), or to text/event-stream for a "
    "stream. Use no charset but UTF-8.",
    failing=answer(message(TEXT_PART), binding=_HTTP, type="text/plain"),
)
def wrong_type(payload: Payload) -> Iterator[Violation]:
    yield from wrong_media_type(payload)
    if unframed := payload.unframed:
        yield Violation("", unframed)


@ERROR_DETAILS.rule(
    "HTTP-002",
    WARNING,
    "An error has no ErrorInfo",
    section="1.0 §11.6",
    requirement="The details of an error contain an ErrorInfo whose reason identifies the error.",
    remedy="Add the ErrorInfo; clients distinguish errors of the same status only by its reason.",
    failing=_error_example(details=[]),
)
def unnamed_error(facts: HttpError) -> Iterator[Violation]:
    error = facts.error
    if _lacks_wrapper(facts):
        return
    if error.status not in _WITHOUT_DETAILS and error.status < 500 and not _identifies_itself(facts.payload.value):
        member = "/details" if isinstance(facts.inner, dict) else ""
        yield Violation(facts.place + member, f"{error.name}: {error.message}")


@ERROR_STATUS.rule(
    "HTTP-003",
    WARNING,
    "The status does not match the error",
    section="1.0 §3.3.2, §5.4, §11.6",
    requirement="Each error has a specific HTTP status and gRPC status, and the body repeats them.",
    remedy="Use the status in the table of errors; two releases of 1.0 differ, and the status of either is accepted.",
    failing=_error_example(status="INTERNAL"),
)
def other_status(facts: HttpError) -> Iterator[Violation]:
    payload, error, inner, kind = facts.payload, facts.error, facts.inner, facts.kind
    if not isinstance(inner, dict):
        return
    code, word = inner.get("code"), inner.get("status")
    if not payload.framed and payload.status >= 300 and code != payload.status:
        yield Violation("/error/code", f"code is {_quote(code)}, the HTTP status is {payload.status}")
    if payload.framed and code is not None and type(code) is not int:
        yield Violation("/error/code", f"code is {_quote(code)}, expected an integer")
    if kind is None:
        return
    status = error.status or (code if type(code) is int else 0)
    if status >= 300 and status not in kind.http_statuses:
        yield Violation("", f"status is {status}, expected {kind.http} for {error.name}")
    if word not in kind.grpc_statuses:
        yield Violation("/error/status", f"status is {_quote(word)}, expected {kind.grpc} for {error.name}")


@ERROR_AS_RESULT.rule(
    "HTTP-004",
    ERROR,
    "An error has a success status",
    section="1.0 §3.3.2, §11.6",
    requirement="Errors have a status of 400 or above.",
    remedy="Send the status of the error; caches and clients read a success status as a result.",
    failing={**_VALID_ERROR, "status": 200},
)
def error_as_success(facts: HttpError) -> Iterator[Violation]:
    if not facts.payload.framed and facts.payload.status < 300:
        yield Violation(facts.place, f"status is {facts.payload.status}, the error is {facts.error.name}")


@BODY.rule(
    "HTTP-005",
    ERROR,
    "The response cannot be read",
    section="1.0 §3.1.1, §3.3.2, §11.3, §11.6",
    requirement="The body is the object that the operation defines, or an error according to AIP-193.",
    remedy="Check that this is the URL of the HTTP+JSON interface. The reason is shown with the response.",
    failing={"operation": "SendMessage", "binding": _HTTP, "text": "<html>"},
)
def unreadable_body(payload: Payload) -> Iterator[Violation]:
    if payload.status >= FAILED and not _is_error_of_agent(payload):
        return
    if not payload.framed and isinstance(payload.answer, Unreadable):
        yield Violation("", payload.answer.why)


@ERROR_BODY.add_check("HTTP-005")
def unreadable_error(facts: HttpError) -> Iterator[Violation]:
    if facts.inner is not None and not isinstance(facts.inner, dict):
        yield Violation("/error", f"expected an object, found {brief(facts.inner)}")


@STATUS.rule(
    "HTTP-007",
    ERROR,
    "A result has an error status",
    section="1.0 §3.3.2, §9.1, §11.1; RFC 9110 §15",
    requirement="A successful response has a success status.",
    remedy="Send results with status 200: clients and proxies read an error status as an error.",
    failing=answer(message(TEXT_PART), status=503),
)
def result_as_failure(payload: Payload) -> Iterator[Violation]:
    if payload.status >= FAILED and not isinstance(payload.answer, ProtocolError | Unreadable):
        yield Violation("", f"status is {payload.status}, the body is a result")


@HEAD.rule(
    "HTTP-008",
    WARNING,
    "A 401 response has no WWW-Authenticate",
    section="RFC 9110 §15.5.2; 1.0 §3.3.2; 0.3 §4.4",
    requirement="A 401 response MUST include a WWW-Authenticate header with at least one challenge.",
    remedy="Send WWW-Authenticate with the scheme, such as Bearer.",
    failing=response({}, binding=_HTTP, status=401),
)
def no_challenge(head: ResponseHead) -> Iterator[Violation]:
    if head.status == _UNAUTHORIZED and not head.challenge:
        yield Violation("", "WWW-Authenticate is missing")


@END.rule(
    "HTTP-009",
    ERROR,
    "The response is incomplete",
    section="RFC 9112 §8; 1.0 §11.1",
    requirement="The body has the length and the content coding that the header declares.",
    remedy="Send the complete body, in the content coding that the header declares.",
    failing=answer(message(TEXT_PART), binding=_HTTP, end="cut"),
)
def broken_off(end: ResponseEnd) -> Iterator[Violation]:
    if end.broken:
        yield Violation("", end.why)


@ERROR_DETAILS.rule(
    "HTTP-010",
    WARNING,
    "An error is not in the member error",
    section="1.0 §11.6",
    requirement='The body of an error is {"error": {...}}, according to AIP-193.',
    remedy="Move the error into the member error; clients look for it there.",
    versions=V1,
    failing={**_VALID_ERROR, "payload": _VALID_ERROR["payload"]["error"]},
)
def unwrapped_error(facts: HttpError) -> Iterator[Violation]:
    if _lacks_wrapper(facts):
        yield Violation("", f"{facts.error.name}: {facts.error.message}")


@ENVELOPE.rule(
    "HTTP-011",
    ERROR,
    "An HTTP+JSON response has a JSON-RPC envelope",
    section="1.0 §11.3, §11.6; 0.3 §3.2.3",
    requirement="The body is the object that the operation defines, or an error, without an envelope.",
    remedy="Send the result without the envelope, or declare the URL as a JSON-RPC interface.",
    versions=SINCE_0_2,
    failing=response(
        {"jsonrpc": "2.0", "id": "the-id", "error": {"code": -32603, "message": "x"}}, binding=_HTTP, status=500
    ),
)
def enveloped(payload: Payload) -> Iterator[Violation]:
    if payload.enveloped:
        yield Violation("/jsonrpc", "the body has the member jsonrpc")


BODY.rule(
    "HTTP-006",
    WARNING,
    "The response to a streaming call is not a stream",
    section="1.0 §3.1.2, §11.7",
    requirement="The response to a streaming call is text/event-stream.",
    remedy="Respond with text/event-stream, or set streaming to false on the card.",
    failing=answer(message(TEXT_PART), "SendStreamingMessage", binding=_HTTP),
)(no_stream)


@BODY.add_check("HTTP-001")
def wrong_type_of_json(payload: Payload) -> Iterator[Violation]:
    if payload.framed or isinstance(payload.answer, Unreadable) or payload.lacks_stream:
        return
    allowed = _ERROR_TYPES if isinstance(payload.answer, ProtocolError) else _SUCCESS_TYPES
    if payload.value is not None and payload.content_type not in allowed:
        yield Violation("", f"Content-Type is {payload.content_type or 'missing'}")


@GRPC.rule(
    "GRPC-001",
    WARNING,
    "The gRPC status does not match the error",
    section="1.0 §3.3.2, §5.4, §10.6",
    requirement="Each A2A error has a specific gRPC status.",
    remedy="Use the status in the table of errors; two releases of 1.0 differ, and the status of either is accepted.",
    failing={**_STATUS, "status": "INTERNAL"},
)
def other_grpc_status(status: GrpcStatus) -> Iterator[Violation]:
    if status.word not in status.kind.grpc_statuses:
        yield Violation("", f"status is {status.word}, expected {status.kind.grpc} for {status.error.name}")


@GRPC.rule(
    "GRPC-002",
    WARNING,
    "An A2A error has no ErrorInfo",
    section="1.0 §10.6",
    requirement="The status details MUST include a google.rpc.ErrorInfo message.",
    remedy="Send grpc-status-details-bin with an ErrorInfo whose reason is the name of the error.",
    failing={**_STATUS, "payload": {**_STATUS["payload"], "data": []}},
)
def no_error_info(status: GrpcStatus) -> Iterator[Violation]:
    details = status.error.data or ()
    if not any(isinstance(detail, dict) and detail.get("reason") == status.kind.reason for detail in details):
        yield Violation("", f"{status.error.name} has no ErrorInfo")


@GRPC_WORDS.rule(
    "GRPC-003",
    WARNING,
    "The gRPC status does not name a cause",
    section="1.0 §3.3.2, §5.4, §10.6",
    requirement="Errors have the gRPC status of their cause; an internal error is INTERNAL.",
    remedy="Catch exceptions in the server, and respond with a status of the table of errors. Servers send UNKNOWN for "
    "an exception that is not caught.",
    failing={**_UNIDENTIFIED, "status": "UNKNOWN"},
    passing={**_UNIDENTIFIED, "status": "INTERNAL"},
)
def unknown_grpc_status(status: GrpcWord) -> Iterator[Violation]:
    if status.word == "UNKNOWN" and status.error.code is None:
        yield Violation("", status.error.message[:120] or "without a message")


def _is_error_of_agent(payload: Payload) -> bool:
    """Whether the body has to be an A2A error: the version defines it, and the status is not one that proxies send."""
    return VERSIONS[payload.version].details_errors and payload.status not in _OF_PROXIES


def _lacks_wrapper(facts: HttpError) -> bool:
    value = facts.payload.value
    problem = facts.payload.content_type == _PROBLEM or isinstance(value.get("type"), str)
    return facts.inner is None and not problem


def _identifies_itself(value: dict[str, Json]) -> bool:
    """Whether an error identifies itself by the reason of an ErrorInfo or by the type of a problem.

    Only A2A errors have an ErrorInfo; details of other types belong to other errors.
    """
    inner = value.get("error")
    if not isinstance(inner, dict):
        return "error" not in value and isinstance(value.get("type"), str)
    details = inner.get("details")
    return isinstance(details, list) and any(
        isinstance(detail, dict) and ("reason" in detail or isinstance(detail.get("@type"), str)) for detail in details
    )


def _quote(value: Json) -> str:
    return str(value) if type(value) is int else brief_or_missing(value)
