"""The rules: what each one demands, on what ground, and what to do about a breach."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.findings.finding import Finding, Severity


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that is checked; `section` is the ground it rests on, `demand` says what that asks for."""

    id: str
    severity: Severity
    title: str
    section: str
    demand: str
    remedy: str


_ERROR, _WARNING, _HINT = Severity.ERROR, Severity.WARNING, Severity.HINT

_CARD = (
    Rule(
        "CARD-001",
        _ERROR,
        "A required member of the card is missing",
        "1.0 §4.4.1, 0.3 §5.5",
        "The members marked required MUST be present.",
        "Add the member; clients that check the card refuse it otherwise.",
    ),
    Rule(
        "CARD-002",
        _ERROR,
        "A member of the card has the wrong type",
        "1.0 §4.4",
        "Members MUST have the type that the specification gives them.",
        "Correct the member; typed clients cannot read the card.",
    ),
    Rule(
        "CARD-003",
        _WARNING,
        "The card is not served as JSON",
        "1.0 §8.2",
        "The card is served as application/json.",
        "Set Content-Type: application/json.",
    ),
    Rule(
        "CARD-004",
        _WARNING,
        "An interface is at an address that only means something on the agent's own machine",
        "1.0 §4.4.6",
        "The url of an interface MUST be one at which clients reach the agent.",
        "Advertise the public host name instead of a wildcard or loopback address.",
    ),
    Rule(
        "CARD-005",
        _WARNING,
        "No interface that this inspector speaks",
        "1.0 §8.3",
        "A client selects an interface whose binding and generation it supports.",
        "Nothing to mend if this is meant; else check protocolBinding and protocolVersion.",
    ),
)

_STREAM = (
    Rule(
        "STREAM-001",
        _ERROR,
        "The stream ended before the task did",
        "1.0 §3.1.2",
        "The stream MUST stay open until the task is in a terminal or interrupted state.",
        "Send the final status update before closing, or check what cut the connection.",
    ),
    Rule(
        "STREAM-002",
        _ERROR,
        "The task moved to a state that cannot follow the one before",
        "1.0 §4.1.3",
        "Task states follow the lifecycle of a task.",
        "Check the agent's state handling; submitted is only ever the first state.",
    ),
    Rule(
        "STREAM-003",
        _ERROR,
        "An update came after the task had ended",
        "1.0 §3.1.2",
        "A task in a terminal state MUST NOT change any more.",
        "Send every artifact before the terminal status.",
    ),
    Rule(
        "STREAM-004",
        _ERROR,
        "A chunk was appended to an artifact that was never begun",
        "1.0 §4.2.2",
        "append: true adds to an artifact with the same id that was sent before.",
        "Send the first chunk without append.",
    ),
    Rule(
        "STREAM-005",
        _ERROR,
        "A chunk was appended after the last one",
        "1.0 §4.2.2",
        "lastChunk: true says that this is the final chunk of the artifact.",
        "Set lastChunk on the final chunk only.",
    ),
    Rule(
        "STREAM-006",
        _ERROR,
        "An event belongs to another task or context than the stream",
        "1.0 §4.2",
        "The taskId and contextId of an event name the task that it is about.",
        "Do not make new ids within one task.",
    ),
    Rule(
        "STREAM-007",
        _ERROR,
        "An event cannot be read",
        "1.0 §3.2.3",
        "Each event holds exactly one of task, message, statusUpdate and artifactUpdate.",
        "Compare the raw bytes with the section; the reason stands beside the event.",
    ),
    Rule(
        "STREAM-008",
        _ERROR,
        "The stream broke off",
        "1.0 §3.1.2",
        "A stream ends by closing the response in order.",
        "Look at the agent's log at this time; SubscribeToTask may pick the task up again.",
    ),
    Rule(
        "STREAM-009",
        _WARNING,
        "A task state that no specification names",
        "1.0 §4.1.3",
        "The states are those of TaskState.",
        "Use one of the named states; clients wait for ever on one that they do not know.",
    ),
    Rule(
        "STREAM-010",
        _ERROR,
        "A message came in one stream with other events",
        "1.0 §3.1.2",
        "A stream is one message and nothing else, or a task and its updates.",
        "Say it in the message of a status update, or answer with the message alone.",
    ),
)

_EXCHANGE = (
    Rule(
        "RPC-001",
        _ERROR,
        "The response's id is not that of the request",
        "JSON-RPC 2.0 §5",
        "id MUST be the same as the value of the id member in the request.",
        "Copy the id of the request; clients drop an answer that they cannot match.",
    ),
    Rule(
        "RPC-002",
        _ERROR,
        "The answer is not a JSON-RPC response",
        "1.0 §9.1",
        "Responses follow JSON-RPC 2.0.",
        "Is this the url of the JSON-RPC interface?",
    ),
    Rule(
        "RPC-003",
        _ERROR,
        "The result cannot be read",
        "1.0 §3.1",
        "The result has the type that the operation names.",
        "Compare the raw bytes with the section; the reason stands beside the result.",
    ),
    Rule(
        "RPC-004",
        _WARNING,
        "A streaming call was answered without a stream",
        "1.0 §9.4.2",
        "The response to a streaming call is text/event-stream.",
        "Answer with text/event-stream, or declare streaming: false.",
    ),
    Rule(
        "RPC-005",
        _WARNING,
        "The answer has the wrong content type",
        "1.0 §9.1",
        "JSON-RPC answers are application/json.",
        "Set Content-Type: application/json.",
    ),
)

_HTTP = (
    Rule(
        "HTTP-001",
        _WARNING,
        "The answer has the wrong media type",
        "1.0 §11.1",
        "HTTP+JSON answers are application/a2a+json or application/json.",
        "Set Content-Type: application/a2a+json, until 0.3 application/json.",
    ),
    Rule(
        "HTTP-002",
        _WARNING,
        "An error does not say which one it is",
        "1.0 §11.6",
        "The details of an error hold an ErrorInfo whose reason names it.",
        "Add the ErrorInfo; clients can tell errors of one status apart by its reason alone.",
    ),
    Rule(
        "HTTP-003",
        _WARNING,
        "The status is not that of the error",
        "1.0 §5.4, §11.6",
        "Each error has an HTTP status and a gRPC status of its own, and the body repeats them.",
        "Compare with the table; two releases of 1.0 differ, and either one is taken here.",
    ),
    Rule(
        "HTTP-004",
        _ERROR,
        "An error came with a status of success",
        "1.0 §11.6",
        "Errors are answered with a status of 400 and above.",
        "Answer with the status of the error; caches and clients take this one for a result.",
    ),
    Rule(
        "HTTP-005",
        _ERROR,
        "The answer cannot be read",
        "1.0 §11.3, §11.6",
        "The body is the object that the operation names, or an error of AIP-193.",
        "Is this the url of the HTTP+JSON interface? The reason stands beside the answer.",
    ),
    Rule(
        "HTTP-006",
        _WARNING,
        "A streaming call was answered without a stream",
        "1.0 §11.7",
        "The response to a streaming call is text/event-stream.",
        "Answer with text/event-stream, or declare streaming: false.",
    ),
)

_PUSH = (
    Rule(
        "PUSH-001",
        _ERROR,
        "A push notification was refused",
        "1.0 §4.3.3",
        "The agent MUST authenticate itself as the configuration asks.",
        "The verdict says what was missing; compare with the registration.",
    ),
    Rule(
        "PUSH-002",
        _WARNING,
        "A push notification is about a task that this registration is not for",
        "1.0 §4.3.3",
        "Updates go to the webhooks that were registered for their task.",
        "Check that the agent keeps push configurations per task.",
    ),
    Rule(
        "PUSH-003",
        _ERROR,
        "The body of a push notification cannot be read",
        "1.0 §4.3.3",
        "The body is a StreamResponse (1.0), or a Task (0.2 and 0.3).",
        "Compare the raw bytes with the section; the reason stands in the verdict.",
    ),
)

RULES: dict[str, Rule] = {rule.id: rule for rule in _CARD + _STREAM + _EXCHANGE + _HTTP + _PUSH}
"""Every rule by its id."""


def broken(rule: str, seen: str, pointer: str = "") -> Finding:
    """Make the finding that says that a rule is broken, with the rule's own severity."""
    return Finding(rule, RULES[rule].severity, pointer, seen)
