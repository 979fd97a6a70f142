"""Rules about JSON-RPC: the envelope and the media type of the response."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.findings.examples import TEXT_PART, answer, message, response
from inspector.findings.rule_set import ERROR, HINT, SINCE_0_2, WARNING, Rule, RuleSet, Violation
from inspector.findings.transport.payload import FAILED, Payload, no_stream, wrong_media_type
from inspector.protocol.bindings import jsonrpc, rest
from inspector.protocol.jsonvalue import brief_or_missing
from inspector.protocol.model import Json, Unreadable

_ENVELOPE: dict[str, Json] = {"jsonrpc": "2.0", "id": "the-id"}
_ANSWER = answer(message(TEXT_PART))
RULES: list[Rule] = []
ENVELOPE, MEDIA_TYPE, BODY, RESPONSE, RESULT = (RuleSet[Payload](RULES, passing=_ANSWER) for _ in range(5))
_BEFORE_THE_ID = (-32700, -32600)
"""Parse error and invalid request, after which the agent may not know the id of the request."""


def is_valid_result(value: Json, request_id: str | int | float | None) -> bool:
    """Whether a payload is an envelope with a valid result, so that the rules about envelopes can be skipped."""
    return (
        isinstance(value, dict)
        and "result" in value
        and "error" not in value
        and value.get("jsonrpc") == "2.0"
        and value.get("id") == request_id
    )


def _is_response(value: Json) -> bool:
    """Whether the value has a result or an error; RPC-002 reports any other value."""
    return isinstance(value, dict) and not value.keys().isdisjoint(("result", "error"))


@ENVELOPE.rule(
    "RPC-001",
    ERROR,
    "The id of the response is not that of the request",
    section="JSON-RPC 2.0 §5; 1.0 §9.1",
    requirement="The id of the response MUST be the id of the request.",
    remedy="Copy the id of the request; clients drop a response that they cannot match.",
    failing=response({**_ENVELOPE, "id": "another", "result": message(TEXT_PART)}),
)
def other_id(payload: Payload) -> Iterator[Violation]:
    value = payload.value
    if not _is_response(value):
        return
    found, error = value.get("id"), value.get("error")
    if found is None and error is not None:
        # An error without an id is valid if the request was rejected before its id was read.
        code = error.get("code") if isinstance(error, dict) else None
        if payload.status >= FAILED or code in _BEFORE_THE_ID or type(code) is not int:
            return
    if found != payload.request_id:
        yield Violation("/id", f"id is {_quote(found)}, expected {payload.request_id!r}")


@ENVELOPE.rule(
    "RPC-002",
    ERROR,
    "The response is not a JSON-RPC response",
    section="1.0 §3.3.2, §9.1",
    requirement="Responses follow JSON-RPC 2.0.",
    remedy="Compare the response with JSON-RPC 2.0 §5. Check that this is the URL of the JSON-RPC interface.",
    failing=response({**_ENVELOPE}),
)
def no_response(payload: Payload) -> Iterator[Violation]:
    value = payload.value
    if not _is_response(value):
        return
    if value.get("jsonrpc") != "2.0":
        yield Violation("/jsonrpc", f"jsonrpc is {_quote(value.get('jsonrpc'))}, expected '2.0'")
    if value.get("error") is not None and value.get("result") is not None:
        yield Violation("/error", "the response has both result and error")


@ENVELOPE.rule(
    "RPC-006",
    HINT,
    "A response has both result and error, and one is null",
    section="JSON-RPC 2.0 §5; 0.3 §6.11",
    requirement="result MUST NOT exist if there was an error, and error MUST NOT exist if there was none.",
    remedy="Remove the member that is null: some clients only check whether the member exists.",
    versions=SINCE_0_2,
    failing=response({**_ENVELOPE, "result": message(TEXT_PART), "error": None}),
)
def null_member(payload: Payload) -> Iterator[Violation]:
    value = payload.value
    if isinstance(value, dict) and "result" in value and "error" in value and None in (value["result"], value["error"]):
        null_name, other = ("error", "a result") if value["error"] is None else ("result", "an error")
        yield Violation(f"/{null_name}", f"{null_name} is null, the response also has {other}")


@ENVELOPE.add_check("RPC-002")
def no_error_code(payload: Payload) -> Iterator[Violation]:
    error = payload.value.get("error") if isinstance(payload.value, dict) else None
    if isinstance(error, dict) and type(error.get("code")) is not int:
        yield Violation("/error/code", f"code is {_quote(error.get('code'))}, expected an integer")


@RESPONSE.add_check("RPC-002")
def unreadable_response(payload: Payload) -> Iterator[Violation]:
    if _is_http_error(payload):
        return
    if isinstance(payload.answer, Unreadable) and (payload.has_error or not (payload.framed or _has_result(payload))):
        yield Violation("/error" if payload.has_error else "", payload.answer.why)


@RESULT.rule(
    "RPC-003",
    ERROR,
    "The result cannot be read",
    section="1.0 §3.1",
    requirement="The result has the type that the operation defines.",
    remedy="Compare the raw bytes with the section of the requirement; the finding contains the reason.",
    failing=response({**_ENVELOPE, "result": None}),
)
def unreadable_result(payload: Payload) -> Iterator[Violation]:
    if payload.framed or not isinstance(payload.answer, Unreadable):
        return
    reported = payload.binding == jsonrpc.BINDING.name and (payload.has_error or not _has_result(payload))
    if not reported:
        yield Violation("/result" if _has_result(payload) else "", payload.answer.why)


BODY.rule(
    "RPC-004",
    WARNING,
    "The response to a streaming call is not a stream",
    section="1.0 §3.1.2, §9.4.2",
    requirement="The response to a streaming call is text/event-stream.",
    remedy="Respond with text/event-stream, or set streaming to false on the card.",
    failing=answer(message(TEXT_PART), "SendStreamingMessage"),
)(no_stream)


MEDIA_TYPE.rule(
    "RPC-005",
    WARNING,
    "The response has the wrong content type",
    section="1.0 §9.1",
    requirement="JSON-RPC responses are application/json, and streams are text/event-stream.",
    remedy="Set Content-Type to application/json, or to text/event-stream for a stream. Use no charset but UTF-8.",
    failing=answer(message(TEXT_PART), type="text/plain"),
)(wrong_media_type)


@BODY.add_check("RPC-005")
def wrong_content_type_of_json(payload: Payload) -> Iterator[Violation]:
    if payload.framed or isinstance(payload.value, Unreadable) or payload.lacks_stream or _is_http_error(payload):
        return
    if "json" not in payload.content_type or payload.content_type == rest.A2A_JSON:
        yield Violation("", f"Content-Type is {payload.content_type or 'missing'}")


@BODY.add_check("RPC-005")
def events_without_a_stream(payload: Payload) -> Iterator[Violation]:
    if unframed := payload.unframed:
        yield Violation("", unframed)


def _is_http_error(payload: Payload) -> bool:
    """Whether this is the body of an HTTP error, which may be any text, because a proxy or web server may send it."""
    return payload.status >= FAILED and not _is_response(payload.value)


def _has_result(payload: Payload) -> bool:
    return isinstance(payload.value, dict) and "result" in payload.value


def _quote(value: Json) -> str:
    return repr(value) if type(value) in (int, float) else brief_or_missing(value)
