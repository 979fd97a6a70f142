"""The rules about how a transport carries answers: envelopes, statuses, media types, what an error says of itself."""

from __future__ import annotations

from inspector.findings.examples import answer, response
from inspector.findings.finding import Severity
from inspector.findings.payload.valid_examples import TEXT_PART, message
from inspector.findings.rule import NEWEST_FIRST, SINCE_0_2, V1, Rule
from inspector.protocol.errors import BY_NAME
from inspector.protocol.model import Json

_ERROR, _WARNING = Severity.ERROR, Severity.WARNING
_HTTP = "HTTP+JSON"
_ENVELOPE: dict[str, Json] = {"jsonrpc": "2.0", "id": "the-id"}
_ANSWER = answer(message(TEXT_PART))
_PLAIN = answer(message(TEXT_PART), binding=_HTTP)
_NOT_FOUND = BY_NAME["TaskNotFoundError"]


def _refused(**changes: Json) -> Json:
    """Return the example of a sound error over HTTP, with some of its members changed."""
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
"""The example of a sound error over gRPC: the name of its status, and the error in the words of JSON-RPC."""

RULES = (
    Rule(
        "DATA-023",
        _ERROR,
        "A member is there twice",
        "RFC 8259 §4",
        "The names within an object SHOULD be unique.",
        "Take one away: readers differ in which of them they see.",
        NEWEST_FIRST,
        passing=answer(message(TEXT_PART)),
        failing={
            "operation": "SendMessage",
            "text": '{"jsonrpc": "2.0", "id": "the-id", "result": {"message": {"messageId": "m", "messageId": "n", '
            '"role": "ROLE_AGENT", "parts": [{"text": "hello"}]}}}',
        },
    ),
    Rule(
        "RPC-001",
        _ERROR,
        "The response's id is not that of the request",
        "JSON-RPC 2.0 §5; 1.0 §9.1",
        "id MUST be the same as the value of the id member in the request.",
        "Copy the id of the request; clients drop an answer that they cannot match.",
        NEWEST_FIRST,
        passing=_ANSWER,
        failing=response({**_ENVELOPE, "id": "another", "result": message(TEXT_PART)}),
    ),
    Rule(
        "RPC-002",
        _ERROR,
        "The answer is not a JSON-RPC response",
        "1.0 §3.3.2, §9.1",
        "Responses follow JSON-RPC 2.0.",
        "Compare it with JSON-RPC 2.0 §5; is this the url of the JSON-RPC interface?",
        NEWEST_FIRST,
        passing=_ANSWER,
        failing=response({**_ENVELOPE}),
    ),
    Rule(
        "RPC-006",
        Severity.HINT,
        "A response has both result and error, one of them null",
        "JSON-RPC 2.0 §5; 0.3 §6.11",
        "result MUST NOT exist if there was an error, and error MUST NOT exist if there was none.",
        "Leave out the one that does not hold: some clients look whether the member is there.",
        SINCE_0_2,
        passing=_ANSWER,
        failing=response({**_ENVELOPE, "result": message(TEXT_PART), "error": None}),
    ),
    Rule(
        "RPC-003",
        _ERROR,
        "The result cannot be read",
        "1.0 §3.1",
        "The result has the type that the operation names.",
        "Compare the raw bytes with the section; the reason stands beside the result.",
        NEWEST_FIRST,
        passing=_ANSWER,
        failing=response({**_ENVELOPE, "result": None}),
    ),
    Rule(
        "RPC-004",
        _WARNING,
        "A streaming call was answered without a stream",
        "1.0 §3.1.2, §9.4.2",
        "The response to a streaming call is text/event-stream.",
        "Answer with text/event-stream, or declare streaming: false.",
        NEWEST_FIRST,
        passing=_ANSWER,
        failing=answer(message(TEXT_PART), "SendStreamingMessage"),
    ),
    Rule(
        "RPC-005",
        _WARNING,
        "The answer has the wrong content type",
        "1.0 §9.1",
        "JSON-RPC answers are application/json, and streams text/event-stream.",
        "Set Content-Type: application/json, for a stream text/event-stream, and no charset but UTF-8.",
        NEWEST_FIRST,
        passing=_ANSWER,
        failing=answer(message(TEXT_PART), type="text/plain"),
    ),
    Rule(
        "HTTP-001",
        _WARNING,
        "The answer has the wrong media type",
        "1.0 §11.1",
        "HTTP+JSON answers are application/a2a+json or application/json, and streams text/event-stream.",
        "Set Content-Type: application/a2a+json, until 0.3 application/json, for a stream text/event-stream, and no "
        "charset but UTF-8.",
        NEWEST_FIRST,
        passing=_PLAIN,
        failing=answer(message(TEXT_PART), binding=_HTTP, type="text/plain"),
    ),
    Rule(
        "HTTP-002",
        _WARNING,
        "An error does not say which one it is",
        "1.0 §11.6",
        "The details of an error hold an ErrorInfo whose reason names it.",
        "Add the ErrorInfo; clients can tell errors of one status apart by its reason alone.",
        NEWEST_FIRST,
        passing=_REFUSED,
        failing=_refused(details=[]),
    ),
    Rule(
        "HTTP-003",
        _WARNING,
        "The status is not that of the error",
        "1.0 §3.3.2, §5.4, §11.6",
        "Each error has an HTTP status and a gRPC status of its own, and the body repeats them.",
        "Compare with the table; two releases of 1.0 differ, and either one is taken here.",
        NEWEST_FIRST,
        passing=_REFUSED,
        failing=_refused(status="INTERNAL"),
    ),
    Rule(
        "HTTP-004",
        _ERROR,
        "An error came with a status of success",
        "1.0 §3.3.2, §11.6",
        "Errors are answered with a status of 400 and above.",
        "Answer with the status of the error; caches and clients take this one for a result.",
        NEWEST_FIRST,
        passing=_REFUSED,
        failing={**_REFUSED, "status": 200},
    ),
    Rule(
        "HTTP-005",
        _ERROR,
        "The answer cannot be read",
        "1.0 §3.1.1, §3.3.2, §11.3, §11.6",
        "The body is the object that the operation names, or an error of AIP-193.",
        "Is this the url of the HTTP+JSON interface? The reason stands beside the answer.",
        NEWEST_FIRST,
        passing=_PLAIN,
        failing={"operation": "SendMessage", "binding": _HTTP, "text": "<html>"},
    ),
    Rule(
        "HTTP-007",
        _ERROR,
        "A result came with a status of failure",
        "1.0 §3.3.2, §9.1, §11.1; RFC 9110 §15",
        "A successful answer has a status of success.",
        "Answer results with 200: clients and proxies take this one for an error.",
        NEWEST_FIRST,
        passing=_PLAIN,
        failing=answer(message(TEXT_PART), status=503),
    ),
    Rule(
        "HTTP-008",
        _WARNING,
        "A 401 does not say how to authenticate",
        "RFC 9110 §15.5.2; 1.0 §3.3.2; 0.3 §4.4",
        "A 401 MUST have a WWW-Authenticate header field with at least one challenge.",
        "Send WWW-Authenticate with the scheme, such as Bearer.",
        NEWEST_FIRST,
        passing=_PLAIN,
        failing=response({}, binding=_HTTP, status=401),
    ),
    Rule(
        "HTTP-009",
        _ERROR,
        "The answer broke off",
        "RFC 9112 §8; 1.0 §11.1",
        "An answer is as long as its head says.",
        "Send all of the body that the head announces, in the coding that it names.",
        NEWEST_FIRST,
        passing=_PLAIN,
        failing=answer(message(TEXT_PART), binding=_HTTP, end="cut"),
    ),
    Rule(
        "HTTP-010",
        _WARNING,
        "An error without its wrapper",
        "1.0 §11.6",
        'The body of an error is {"error": {...}}, by AIP-193.',
        "Put the error into the member error; clients look for it there.",
        V1,
        passing=_REFUSED,
        failing={**_REFUSED, "payload": _REFUSED["payload"]["error"]},
    ),
    Rule(
        "HTTP-011",
        _ERROR,
        "A response of JSON-RPC, where HTTP+JSON is spoken",
        "1.0 §11.3, §11.6; 0.3 §3.2.3",
        "The body is the object that the operation names, or an error, without an envelope.",
        "Send the result itself; or declare the url as an interface of JSON-RPC.",
        SINCE_0_2,
        passing=_PLAIN,
        failing=response({**_ENVELOPE, "error": {"code": -32603, "message": "x"}}, binding=_HTTP, status=500),
    ),
    Rule(
        "HTTP-006",
        _WARNING,
        "A streaming call was answered without a stream",
        "1.0 §3.1.2, §11.7",
        "The response to a streaming call is text/event-stream.",
        "Answer with text/event-stream, or declare streaming: false.",
        NEWEST_FIRST,
        passing=_PLAIN,
        failing=answer(message(TEXT_PART), "SendStreamingMessage", binding=_HTTP),
    ),
    Rule(
        "GRPC-001",
        _WARNING,
        "The status is not that of the error",
        "1.0 §3.3.2, §5.4, §10.6",
        "Each error of A2A has a gRPC status of its own.",
        "Compare with the table; two releases of 1.0 differ, and either one is taken here.",
        V1,
        passing=_STATUS,
        failing={**_STATUS, "status": "INTERNAL"},
    ),
    Rule(
        "GRPC-002",
        _WARNING,
        "An error of A2A does not name itself",
        "1.0 §10.6",
        "Implementations MUST include a google.rpc.ErrorInfo message in the status details.",
        "Send grpc-status-details-bin with an ErrorInfo whose reason is the error's name.",
        V1,
        passing=_STATUS,
        failing={**_STATUS, "payload": {**_STATUS["payload"], "data": []}},
    ),
)
