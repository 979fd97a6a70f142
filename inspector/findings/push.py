"""The rules about push notifications.

An example is a registration (its task and protocol version) and a delivery to it. In a header, `{token}` is replaced by
the token of the registration. Besides these headers, only the usual ones of HTTP are sent.
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
        "A push notification was refused",
        "1.0 §4.3.3",
        "The agent MUST authenticate itself as the configuration asks.",
        "The verdict says what was missing; compare with the registration.",
        passing=_example(),
        failing=_example({**_HEADERS, "Authorization": "Bearer guessed"}),
    ),
    Rule(
        "PUSH-002",
        Severity.WARNING,
        "A push notification is about a task that this registration is not for",
        "1.0 §3.1.7, §4.3.3",
        "Updates go to the webhooks that were registered for their task.",
        "Check that the agent keeps push configurations per task.",
        passing=_example(),
        failing=_example(body={"statusUpdate": {**_STATUS, "taskId": "u"}}),
    ),
    Rule(
        "PUSH-003",
        Severity.ERROR,
        "The body of a push notification cannot be read",
        "1.0 §4.3.3",
        "The body is a StreamResponse (1.0), or a Task (0.2 and 0.3).",
        "Compare the raw bytes with the section; the reason stands in the verdict.",
        passing=_example(),
        failing=_example(body={"done": True}),
    ),
    Rule(
        "PUSH-004",
        Severity.ERROR,
        "A push notification lacks the Authorization that was asked for",
        "1.0 §4.3.3",
        "The agent MUST send the credentials of the configuration as Authorization: {scheme} {credentials}.",
        "Send it beside the token header, or in its place: since 1.0.1 there is no token header any more.",
        passing=_example(),
        failing=_example({"Content-Type": "application/json", "X-A2A-Notification-Token": "{token}"}),
    ),
    Rule(
        "PUSH-005",
        Severity.WARNING,
        "A push notification has the wrong content type",
        "1.0 §4.3.3, §11.1",
        "The body is sent as application/a2a+json or application/json.",
        "Set Content-Type; receivers choose by it how they read the body.",
        passing=_example({**_HEADERS, "Content-Type": "application/a2a+json"}),
        failing=_example({**_HEADERS, "Content-Type": "text/plain"}),
    ),
    Rule(
        "PUSH-006",
        Severity.WARNING,
        "A push notification is shaped like another protocol version",
        "1.0 §4.3.3",
        "The body is a StreamResponse: one of task, message, statusUpdate and artifactUpdate.",
        "Send the shape of the interface that the webhook was registered at; a bare Task is that of 0.2 and 0.3.",
        passing=_example(body=_TASK, version="0.3"),
        failing=_example(body=_TASK),
    ),
)
