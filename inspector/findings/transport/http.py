"""Rules about HTTP: statuses, media types and error bodies of HTTP+JSON, and the statuses of gRPC."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from inspector.findings.examples import TEXT_PART, answer, message, response
from inspector.findings.rule_set import ERROR, SINCE_0_2, V1, WARNING, Rule, RuleSet, Violation
from inspector.findings.transport.payload import FAILED, Payload, no_stream, wrong_media_type
from inspector.protocol.bindings import jsonrpc, rest
from inspector.protocol.errors import BY_NAME, ErrorKind, ProtocolError
from inspector.protocol.jsonvalue import brief
from inspector.protocol.model import Json, Unreadable

_PROBLEM = "application/problem+json"
_SUCCESS_TYPES = frozenset({jsonrpc.JSON, rest.A2A_JSON})
_ERROR_TYPES = _SUCCESS_TYPES | {_PROBLEM}
_UNAUTHORIZED = 401
_WITHOUT_DETAILS = frozenset({429})
"""Statuses that are complete in themselves and belong to no error of A2A."""


class Head(NamedTuple):
    """The head of a response: `content_type` and `challenge` (WWW-Authenticate) are the header fields."""

    version: str
    status: int
    content_type: str
    challenge: str


class End(NamedTuple):
    """The end of a response that was not a stream: whether it broke off, and why if that is known."""

    version: str
    broken: bool
    why: str


class HttpError(NamedTuple):
    """An error over HTTP+JSON, the payload that it came in, and the A2A error that it is.

    `inner` is the member error of the body, which should be an object.
    """

    version: str
    payload: Payload
    error: ProtocolError
    kind: ErrorKind | None
    inner: Json

    @property
    def place(self) -> str:
        """Return where the error is in the body."""
        return "/error" if isinstance(self.payload.value, dict) and "error" in self.payload.value else ""


class GrpcStatus(NamedTuple):
    """The status with which gRPC ended a call in an error of A2A; `word` is its name."""

    version: str
    word: str
    error: ProtocolError
    kind: ErrorKind


_HTTP = rest.BINDING.name
_PLAIN = answer(message(TEXT_PART), binding=_HTTP)
_NOT_FOUND = BY_NAME["TaskNotFoundError"]


def _refused(**changes: Json) -> Json:
    """Return the example of a valid error over HTTP, with some of its members changed."""
    whole = {"code": 404, "status": "NOT_FOUND", "message": "There is no such task.", "details": [_NOT_FOUND.info()]}
    return response(
        {"error": {**whole, **changes}}, binding=_HTTP, status=404, operation="GetTask", asked={"id": "t-1"}
    )


_REFUSED = _refused()
_STATUS: dict[str, Json] = response(
    {"code": _NOT_FOUND.code, "message": "TaskNotFoundError: no such task", "data": [_NOT_FOUND.info()]},
    binding="GRPC",
    status="NOT_FOUND",
)
"""The example of a valid error over gRPC: the name of its status, and the error in the form of JSON-RPC."""

RULES: list[Rule] = []
STATUS, MEDIA_TYPE, ENVELOPE, BODY = (RuleSet[Payload](RULES, passing=_PLAIN) for _ in range(4))
# Before 1.0 an error has no form of its own: only the first of these sets is checked.
ERROR_AS_RESULT, ERROR_BODY, ERROR_STATUS, ERROR_DETAILS = (
    RuleSet[HttpError](RULES, passing=_REFUSED) for _ in range(4)
)
HEAD, END = RuleSet[Head](RULES, passing=_PLAIN), RuleSet[End](RULES, passing=_PLAIN)
GRPC = RuleSet[GrpcStatus](RULES, V1, _STATUS)


@MEDIA_TYPE.rule(
    "HTTP-001",
    WARNING,
    "The answer has the wrong media type",
    section="1.0 §11.1",
    requirement="HTTP+JSON answers are application/a2a+json or application/json, and streams text/event-stream.",
    remedy="Set Content-Type: application/a2a+json, until 0.3 application/json, for a stream text/event-stream, and no "
    "charset but UTF-8.",
    failing=answer(message(TEXT_PART), binding=_HTTP, type="text/plain"),
)
def wrong_type(payload: Payload) -> Iterator[Violation]:
    yield from wrong_media_type(payload)
    if unframed := payload.unframed:
        yield Violation("", unframed)


@ERROR_DETAILS.rule(
    "HTTP-002",
    WARNING,
    "An error does not say which one it is",
    section="1.0 §11.6",
    requirement="The details of an error hold an ErrorInfo whose reason names it.",
    remedy="Add the ErrorInfo; clients can tell errors of one status apart by its reason alone.",
    failing=_refused(details=[]),
)
def unnamed_error(facts: HttpError) -> Iterator[Violation]:
    error = facts.error
    if _lacks_wrapper(facts):
        return
    if error.status not in _WITHOUT_DETAILS and error.status < 500 and not _is_explained(facts.payload.value):
        inside = "/details" if isinstance(facts.inner, dict) else ""
        yield Violation(facts.place + inside, f"{error.name}: {error.message}")


@ERROR_STATUS.rule(
    "HTTP-003",
    WARNING,
    "The status is not that of the error",
    section="1.0 §3.3.2, §5.4, §11.6",
    requirement="Each error has an HTTP status and a gRPC status of its own, and the body repeats them.",
    remedy="Compare with the table; two releases of 1.0 differ, and either one is taken here.",
    failing=_refused(status="INTERNAL"),
)
def other_status(facts: HttpError) -> Iterator[Violation]:
    payload, error, inner, kind = facts.payload, facts.error, facts.inner, facts.kind
    if not isinstance(inner, dict):
        return
    said, word = inner.get("code"), inner.get("status")
    if not payload.framed and payload.status >= 300 and said != payload.status:
        yield Violation("/error/code", f"{_quote(said)} in the body of a {payload.status}")
    if payload.framed and said is not None and type(said) is not int:
        yield Violation("/error/code", f"code is {_quote(said)}")
    if kind is None:
        return
    status = error.status or (said if type(said) is int else 0)
    if status >= 300 and status not in kind.http_statuses:
        yield Violation("", f"{error.name} as {status} instead of {kind.http}")
    if word not in kind.grpc_statuses:
        yield Violation("/error/status", f"{error.name} as {_quote(word)} instead of {kind.grpc}")


@ERROR_AS_RESULT.rule(
    "HTTP-004",
    ERROR,
    "An error came with a status of success",
    section="1.0 §3.3.2, §11.6",
    requirement="Errors are answered with a status of 400 and above.",
    remedy="Answer with the status of the error; caches and clients take this one for a result.",
    failing={**_REFUSED, "status": 200},
)
def error_as_success(facts: HttpError) -> Iterator[Violation]:
    if not facts.payload.framed and facts.payload.status < 300:
        yield Violation(facts.place, f"{facts.payload.status} with {facts.error.name}")


@BODY.rule(
    "HTTP-005",
    ERROR,
    "The answer cannot be read",
    section="1.0 §3.1.1, §3.3.2, §11.3, §11.6",
    requirement="The body is the object that the operation names, or an error of AIP-193.",
    remedy="Is this the url of the HTTP+JSON interface? The reason stands beside the answer.",
    failing={"operation": "SendMessage", "binding": _HTTP, "text": "<html>"},
)
def unreadable_body(payload: Payload) -> Iterator[Violation]:
    if not payload.framed and isinstance(payload.answer, Unreadable):
        yield Violation("", payload.answer.why)


@ERROR_BODY.also("HTTP-005")
def unreadable_error(facts: HttpError) -> Iterator[Violation]:
    if facts.inner is not None and not isinstance(facts.inner, dict):
        yield Violation("/error", f"error: an object is due, this is {brief(facts.inner)}")


@STATUS.rule(
    "HTTP-007",
    ERROR,
    "A result came with a status of failure",
    section="1.0 §3.3.2, §9.1, §11.1; RFC 9110 §15",
    requirement="A successful answer has a status of success.",
    remedy="Answer results with 200: clients and proxies take this one for an error.",
    failing=answer(message(TEXT_PART), status=503),
)
def result_as_failure(payload: Payload) -> Iterator[Violation]:
    if payload.status >= FAILED and not isinstance(payload.answer, ProtocolError | Unreadable):
        yield Violation("", f"{payload.status} with a result")


@HEAD.rule(
    "HTTP-008",
    WARNING,
    "A 401 does not say how to authenticate",
    section="RFC 9110 §15.5.2; 1.0 §3.3.2; 0.3 §4.4",
    requirement="A 401 MUST have a WWW-Authenticate header field with at least one challenge.",
    remedy="Send WWW-Authenticate with the scheme, such as Bearer.",
    failing=response({}, binding=_HTTP, status=401),
)
def no_challenge(head: Head) -> Iterator[Violation]:
    if head.status == _UNAUTHORIZED and not head.challenge:
        yield Violation("", "no WWW-Authenticate came")


@END.rule(
    "HTTP-009",
    ERROR,
    "The answer broke off",
    section="RFC 9112 §8; 1.0 §11.1",
    requirement="An answer is as long as its head says.",
    remedy="Send all of the body that the head announces, in the coding that it names.",
    failing=answer(message(TEXT_PART), binding=_HTTP, end="cut"),
)
def broken_off(end: End) -> Iterator[Violation]:
    if end.broken:
        yield Violation("", end.why)


@ERROR_DETAILS.rule(
    "HTTP-010",
    WARNING,
    "An error without its wrapper",
    section="1.0 §11.6",
    requirement='The body of an error is {"error": {...}}, by AIP-193.',
    remedy="Put the error into the member error; clients look for it there.",
    versions=V1,
    failing={**_REFUSED, "payload": _REFUSED["payload"]["error"]},
)
def unwrapped_error(facts: HttpError) -> Iterator[Violation]:
    if _lacks_wrapper(facts):
        yield Violation("", f"{facts.error.name}: {facts.error.message}")


@ENVELOPE.rule(
    "HTTP-011",
    ERROR,
    "A response of JSON-RPC, where HTTP+JSON is spoken",
    section="1.0 §11.3, §11.6; 0.3 §3.2.3",
    requirement="The body is the object that the operation names, or an error, without an envelope.",
    remedy="Send the result itself; or declare the url as an interface of JSON-RPC.",
    versions=SINCE_0_2,
    failing=response(
        {"jsonrpc": "2.0", "id": "the-id", "error": {"code": -32603, "message": "x"}}, binding=_HTTP, status=500
    ),
)
def enveloped(payload: Payload) -> Iterator[Violation]:
    if payload.enveloped:
        yield Violation("/jsonrpc", "the envelope of JSON-RPC, where the object itself is due")


BODY.rule(
    "HTTP-006",
    WARNING,
    "A streaming call was answered without a stream",
    section="1.0 §3.1.2, §11.7",
    requirement="The response to a streaming call is text/event-stream.",
    remedy="Answer with text/event-stream, or declare streaming: false.",
    failing=answer(message(TEXT_PART), "SendStreamingMessage", binding=_HTTP),
)(no_stream)


@BODY.also("HTTP-001")
def wrong_type_of_json(payload: Payload) -> Iterator[Violation]:
    if payload.framed or isinstance(payload.answer, Unreadable) or payload.lacks_stream:
        return
    allowed = _ERROR_TYPES if isinstance(payload.answer, ProtocolError) else _SUCCESS_TYPES
    if payload.value is not None and payload.content_type not in allowed:
        yield Violation("", payload.content_type or "none")


@GRPC.rule(
    "GRPC-001",
    WARNING,
    "The status is not that of the error",
    section="1.0 §3.3.2, §5.4, §10.6",
    requirement="Each error of A2A has a gRPC status of its own.",
    remedy="Compare with the table; two releases of 1.0 differ, and either one is taken here.",
    failing={**_STATUS, "status": "INTERNAL"},
)
def other_grpc_status(status: GrpcStatus) -> Iterator[Violation]:
    if status.word not in status.kind.grpc_statuses:
        yield Violation("", f"{status.error.name} as {status.word} instead of {status.kind.grpc}")


@GRPC.rule(
    "GRPC-002",
    WARNING,
    "An error of A2A does not name itself",
    section="1.0 §10.6",
    requirement="Implementations MUST include a google.rpc.ErrorInfo message in the status details.",
    remedy="Send grpc-status-details-bin with an ErrorInfo whose reason is the error's name.",
    failing={**_STATUS, "payload": {**_STATUS["payload"], "data": []}},
)
def no_error_info(status: GrpcStatus) -> Iterator[Violation]:
    details = status.error.data or ()
    if not any(isinstance(one, dict) and one.get("reason") == status.kind.reason for one in details):
        yield Violation("", status.error.name)


def _lacks_wrapper(facts: HttpError) -> bool:
    value = facts.payload.value
    problem = facts.payload.content_type == _PROBLEM or isinstance(value.get("type"), str)
    return facts.inner is None and not problem


def _is_explained(value: dict[str, Json]) -> bool:
    """Whether an error names itself: by the reason of an ErrorInfo, or by the type of a problem.

    Only an A2A error has an ErrorInfo; an error with details of another type is not in the table of A2A.
    """
    inner = value.get("error")
    if not isinstance(inner, dict):
        return "error" not in value and isinstance(value.get("type"), str)
    details = inner.get("details")
    return isinstance(details, list) and any(
        isinstance(one, dict) and ("reason" in one or isinstance(one.get("@type"), str)) for one in details
    )


def _quote(value: Json) -> str:
    return "nothing" if value is None else str(value) if type(value) is int else brief(value)
