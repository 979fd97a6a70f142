"""The rules about push notifications.

An example is a registration (with a task and a protocol version) and a delivery to it. In headers, `{token}` is
replaced by the token of the registration. The delivery has the headers of the example and the standard headers of HTTP.
"""

from __future__ import annotations

from inspector.findings.finding import Severity
from inspector.findings.rule_set import Rule
from inspector.protocol.model import Json

_HEADERS = {"Content-Type": "application/json", "Authorization": "Bearer {token}"}
_STATUS: dict[str, Json] = {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}
_TASK: dict[str, Json] = {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "working"}}


def _example(
    headers: dict[str, str] | None = None, body: Json = None, *, version: str = "1.0"
) -> dict[str, dict[str, Json]]:
    return {
        "registration": {"task": "t", "protocolVersion": version},
        "delivery": {"headers": dict(headers or _HEADERS), "body": {"statusUpdate": _STATUS} if body is None else body},
    }


RULES = (
    Rule(
        "PUSH-001",
        Severity.ERROR,
        "A push notification was rejected for its credentials",
        "1.0 §4.3.3",
        "The agent MUST authenticate itself as the configuration requires.",
        "Send the token and the credentials of the registration.",
        passing=_example(),
        failing=_example({**_HEADERS, "Authorization": "Bearer guessed"}),
    ),
    Rule(
        "PUSH-002",
        Severity.WARNING,
        "A push notification is about another task than its registration",
        "1.0 §3.1.7, §4.3.3",
        "Updates are sent to the webhooks that are registered for their task.",
        "Store push configurations per task, and send each update only to the webhooks of its task.",
        passing=_example(),
        failing=_example(body={"statusUpdate": {**_STATUS, "taskId": "u"}}),
    ),
    Rule(
        "PUSH-003",
        Severity.ERROR,
        "The body of a push notification cannot be read",
        "1.0 §4.3.3",
        "The body is a StreamResponse (1.0), or a Task (0.2 and 0.3).",
        "Compare the body with the section of the requirement; the finding contains the reason.",
        passing=_example(),
        failing=_example(body={"done": True}),
    ),
    Rule(
        "PUSH-004",
        Severity.ERROR,
        "A push notification lacks the requested Authorization",
        "1.0 §4.3.3",
        "The agent MUST send the credentials of the configuration as Authorization: {scheme} {credentials}.",
        "Send Authorization in addition to the token header or instead of it: 1.0.1 removed the token header.",
        passing=_example(),
        failing=_example({"Content-Type": "application/json", "X-A2A-Notification-Token": "{token}"}),
    ),
    Rule(
        "PUSH-005",
        Severity.WARNING,
        "A push notification has the wrong content type",
        "1.0 §4.3.3, §11.1",
        "The body is sent as application/a2a+json or application/json.",
        "Set Content-Type to application/a2a+json or application/json; receivers choose by it how to read the body.",
        passing=_example({**_HEADERS, "Content-Type": "application/a2a+json"}),
        failing=_example({**_HEADERS, "Content-Type": "text/plain"}),
    ),
    Rule(
        "PUSH-006",
        Severity.WARNING,
        "A push notification has the shape of another protocol version",
        "1.0 §4.3.3",
        "The body is a StreamResponse: one of task, message, statusUpdate and artifactUpdate.",
        "Use the shape of the interface of the registration; a bare Task is the shape of 0.2 and 0.3.",
        passing=_example(body=_TASK, version="0.3"),
        failing=_example(body=_TASK),
    ),
    Rule(
        "PUSH-007",
        Severity.WARNING,
        "A push notification was rejected for another reason than its credentials",
        "1.0 §4.3.3",
        "The agent sends an HTTP POST request with the update to the URL of the push configuration.",
        "Correct what the finding names: post the whole JSON of the update, not compressed, to the unchanged URL.",
        passing=_example(),
        failing=_example({**_HEADERS, "Content-Encoding": "gzip"}),
    ),
)
