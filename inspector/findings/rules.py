"""The rules: what each one demands, on what ground, and what to do about a breach."""

from __future__ import annotations

from inspector.findings import push
from inspector.findings.card import document
from inspector.findings.finding import Finding, Severity
from inspector.findings.lint import CARD_RULES
from inspector.findings.payload.told import ERROR_RULES, OBJECT_RULES
from inspector.findings.rule import LEGACY, V1, Rule

_ERROR, _WARNING, _HINT = Severity.ERROR, Severity.WARNING, Severity.HINT

_CARD = (
    Rule(
        "CARD-005",
        _HINT,
        "No interface that this inspector speaks",
        "1.0 §8.3.2",
        "Clients MUST select the first supported transport of supportedInterfaces.",
        "Nothing to mend if this is meant; else check protocolBinding and protocolVersion.",
        passing={},
        failing={
            "supportedInterfaces": [
                {"url": "https://a.example/", "protocolBinding": "https://a.example/own/v1", "protocolVersion": "1.0"}
            ]
        },
        generations=V1,
    ),
    *document.RULES,
    *(one.rule for one in CARD_RULES),
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
        "STREAM-011",
        _ERROR,
        "A stream does not begin with the task",
        "1.0 §3.1.2",
        "The stream MUST begin with the Task object, or be one Message.",
        "Send the task first, then its updates: clients learn its ids and history from it.",
        V1,
    ),
    Rule(
        "STREAM-013",
        _WARNING,
        "A stream about a known task does not begin with it",
        "1.0 §3.1.2, §3.1.6",
        "The operation MUST return a Task object as the first event in the stream.",
        "Send the task as it is now first: it closes the gap between GetTask and the subscription.",
        V1,
    ),
    Rule(
        "STREAM-014",
        _ERROR,
        "An update came after the final one",
        "0.3 §7.2.2",
        "final: true says that this is the final event of the interaction.",
        "Say final on the last update alone; clients stop reading there.",
        LEGACY,
    ),
    Rule(
        "STREAM-015",
        _ERROR,
        "The task is over, and the update is not final",
        "0.3 §7.2.2, 0.1 §7.2",
        "The server sets final: true on the update that ends the stream.",
        "Set final: true on the last update: clients wait for it.",
        LEGACY,
    ),
    Rule(
        "STREAM-016",
        _WARNING,
        "An update is final, and the task goes on",
        "0.3 §7.2.2",
        "final: true says that this is the final event of the interaction.",
        "Say final when the task is over or waits for the user.",
        LEGACY,
    ),
    Rule(
        "STREAM-017",
        _ERROR,
        "The answer is in another context than the request",
        "1.0 §3.4.1",
        "An agent that cannot accept the contextId MUST reject it, and MUST NOT generate a new one.",
        "Keep the context of the request, or answer with an error.",
    ),
    Rule(
        "STREAM-018",
        _WARNING,
        "Timestamps run backwards",
        "1.0 §3.5.2",
        "Events MUST be delivered in the order in which they were generated.",
        "Send the events in order, and take the times of one clock.",
    ),
    Rule(
        "STREAM-019",
        _WARNING,
        "A status update came twice",
        "1.0 §3.5.2",
        "Each stream MUST receive the same events in the same order.",
        "Send each event once: clients act on every one.",
    ),
    Rule(
        "STREAM-020",
        _WARNING,
        "Every chunk has an artifactId of its own",
        "1.0 §4.2.2",
        "append: true adds to the artifact with the same id.",
        "Keep the artifactId of the first chunk, and set append on the others.",
    ),
    Rule(
        "STREAM-021",
        _WARNING,
        "The official Python client reads this part of the stream otherwise",
        "HTML Living Standard §9.2.6",
        "A leading byte order mark is ignored, and a block without data is no event.",
        "Send no byte order mark, and an id only with data: httpx-sse loses the one and makes an event of the other.",
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

_OBJECT = (*(one.rule for one in OBJECT_RULES), *(one.rule for one in ERROR_RULES))

_EXCHANGE = (
    Rule(
        "DATA-023",
        _ERROR,
        "A member is there twice",
        "RFC 8259 §4",
        "The names within an object SHOULD be unique.",
        "Take one away: readers differ in which of them they see.",
    ),
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

_RESULT = (
    Rule(
        "RESULT-001",
        _ERROR,
        "A call that waits came back before the task was at rest",
        "1.0 §3.2.2",
        "Blocking: the operation MUST wait until the task reaches a terminal or an interrupted state.",
        "Answer when the task is at rest, unless returnImmediately is true.",
        V1,
    ),
    Rule(
        "RESULT-002",
        _ERROR,
        "More history than was asked for",
        "1.0 §3.2.4",
        "The server MUST NOT return more messages than the provided value.",
        "Cut the history to its last messages; 0 asks for none.",
        V1,
    ),
    Rule(
        "RESULT-003",
        _ERROR,
        "A page with more tasks than were asked for",
        "1.0 §3.1.4",
        "pageSize: the maximum number of tasks to return, 50 where unspecified, 100 at most.",
        "Cut the page and give a nextPageToken.",
        V1,
    ),
    Rule(
        "RESULT-004",
        _ERROR,
        "Artifacts in a list that were not asked for",
        "1.0 §3.1.4",
        "When includeArtifacts is false, the artifacts field MUST be omitted entirely from each Task.",
        "Leave the member out.",
        V1,
    ),
    Rule(
        "RESULT-005",
        _ERROR,
        "A listed task that the filter leaves out",
        "1.0 §3.1.4",
        "Filter tasks by context and by the current status state.",
        "Apply contextId and status to the tasks that are listed.",
        V1,
    ),
    Rule(
        "RESULT-006",
        _ERROR,
        "A list that is not sorted",
        "1.0 §3.1.4",
        "Implementations MUST return tasks sorted by their status timestamp time in descending order.",
        "Sort the tasks, the newest status first.",
        V1,
    ),
)

_GRPC = (
    Rule(
        "GRPC-001",
        _WARNING,
        "The status is not that of the error",
        "1.0 §5.4, §10.6",
        "Each error of A2A has a gRPC status of its own.",
        "Compare with the table; two releases of 1.0 differ, and either one is taken here.",
        V1,
    ),
    Rule(
        "GRPC-002",
        _WARNING,
        "An error of A2A does not name itself",
        "1.0 §10.6",
        "Implementations MUST include a google.rpc.ErrorInfo message in the status details.",
        "Send grpc-status-details-bin with an ErrorInfo whose reason is the error's name.",
        V1,
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
        "HTTP-007",
        _ERROR,
        "A result came with a status of failure",
        "1.0 §9.1, §11.1; RFC 9110 §15",
        "A successful answer has a status of success.",
        "Answer results with 200: clients and proxies take this one for an error.",
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

RULES: dict[str, Rule] = {
    rule.id: rule for rule in (*_CARD, *_STREAM, *_OBJECT, *_EXCHANGE, *_RESULT, *_HTTP, *_GRPC, *push.RULES)
}
"""Every rule by its id."""


def broken(rule: str, seen: str, pointer: str = "") -> Finding:
    """Make the finding that says that a rule is broken, with the rule's own severity."""
    return Finding(rule, RULES[rule].severity, pointer, seen)
