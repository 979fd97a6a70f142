"""Examples of calls and of valid events, which document and test the rules about streams, responses and transports.

The example of a call is an object with these members (defaults in parentheses):

- `events`: the results of a stream, one for each event; an error is `{"error": ...}`
- `result`: the result of a call without a stream
- `payload`: a body, to which no envelope is added
- `text`: the text of a body
- `sse`: text that is sent unchanged after the events
- `operation` (SendStreamingMessage), `binding` (JSONRPC; the id of the request is "the-id")
- `asked`: members of the request, as in 1.0; `headers`: headers of the request
- `card`: members of the card, whose first interface is used; `before`: the state of the task before the request
- `pageBefore`: the tasks of the page whose token the request has
- `status` (200), `type` (the correct media type) and `responseHeaders` (more headers) of the response
- `end`: "cut" if the connection was interrupted, or the number of seconds until the client closed an open stream
"""

from __future__ import annotations

from inspector.protocol.model import Json


def stream(*events: Json, **more: Json) -> Json:
    """Return a stream of these results."""
    return {"events": [*events], **more}


def answer(result: Json, operation: str = "SendMessage", **more: Json) -> Json:
    """Return the response to a call without a stream."""
    return {"operation": operation, "result": result, **more}


def response(payload: Json, **more: Json) -> Json:
    """Return a response with this body, to which no envelope is added."""
    return {"operation": "SendMessage", "payload": payload, **more}


STATUS: dict[str, Json] = {"taskId": "t-1", "contextId": "c-1", "status": {"state": "TASK_STATE_WORKING"}}


def update(**changes: Json) -> Json:
    """Return a status update, with some members changed; None removes a member."""
    return {"statusUpdate": {name: value for name, value in {**STATUS, **changes}.items() if value is not None}}


def message(*parts: Json, **changes: Json) -> Json:
    """Return a message of the agent, with some members changed; None removes a member."""
    whole: dict[str, Json] = {"messageId": "m-1", "role": "ROLE_AGENT", "parts": [*parts], **changes}
    return {"message": {name: value for name, value in whole.items() if value is not None}}


def task(**members: Json) -> Json:
    """Return a task, with some members changed."""
    return {"task": {"id": "t-1", "contextId": "c-1", "status": {"state": "TASK_STATE_WORKING"}} | members}


TEXT_PART = {"text": "hello"}


def chunk(**members: Json) -> Json:
    """Return an artifact update, with some members changed; `artifact` changes members of its artifact."""
    artifact = {"artifactId": "a-1", "parts": [TEXT_PART], **members.pop("artifact", {})}
    return {"artifactUpdate": {"taskId": "t-1", "contextId": "c-1", "artifact": artifact} | members}


def status(state: str, timestamp: str | None = None) -> Json:
    """Return a status update of 1.0 with a state (`WORKING`)."""
    members = {"state": f"TASK_STATE_{state}"} | ({"timestamp": timestamp} if timestamp else {})
    return update(status=members)


def old_update(timestamp: str) -> Json:
    """Return a status update of 0.3."""
    status = {"state": "working", "timestamp": timestamp}
    return {"kind": "status-update", "taskId": "t-1", "contextId": "c-1", "status": status, "final": False}
