"""Examples of exchanges and of valid events: they explain and test the rules about streams, responses and transports.

The example of an exchange is an object with these members:

- `events`: the results of a stream, each in an event of its own; an error is the only member `error` of its result
- `result`: the result of a call without a stream; `payload`: a body without the envelope of the binding
- `text`: a body as it is; `sse`: text that is sent as it is, after the events
- `operation` (SendStreamingMessage), `binding` (JSONRPC, id "the-id"), `asked`: members of the request, as in 1.0
- `status` (200) and `type` (the media type that is expected) of the response
- `end`: "cut" if the connection broke, or the number of seconds after which the client stopped an open stream
"""

from __future__ import annotations

from inspector.protocol.model import Json


def stream(*events: Json, **more: Json) -> Json:
    """Return a stream of these results."""
    return {"events": [*events], **more}


def answer(result: Json, operation: str = "SendMessage", **more: Json) -> Json:
    """Return the response to a call, which has one result."""
    return {"operation": operation, "result": result, **more}


def response(payload: Json, **more: Json) -> Json:
    """Return a response with this body, to which no envelope is added."""
    return {"operation": "SendMessage", "payload": payload, **more}


STATUS: dict[str, Json] = {"taskId": "t-1", "contextId": "c-1", "status": {"state": "TASK_STATE_WORKING"}}


def update(**changes: Json) -> Json:
    """Return a status update, with some members changed; None removes one."""
    return {"statusUpdate": {name: one for name, one in {**STATUS, **changes}.items() if one is not None}}


def message(*parts: Json, **changes: Json) -> Json:
    """Return a message of the agent, with some members changed; None removes one."""
    whole: dict[str, Json] = {"messageId": "m-1", "role": "ROLE_AGENT", "parts": [*parts], **changes}
    return {"message": {name: one for name, one in whole.items() if one is not None}}


def task(**members: Json) -> Json:
    """Return a task, with some members changed."""
    return {"task": {"id": "t-1", "contextId": "c-1", "status": {"state": "TASK_STATE_WORKING"}} | members}


TEXT_PART = {"text": "hello"}


def chunk(**members: Json) -> Json:
    """Return an artifact update, with some members changed; `artifact` changes members of its artifact."""
    artifact = {"artifactId": "a-1", "parts": [TEXT_PART], **members.pop("artifact", {})}
    return {"artifactUpdate": {"taskId": "t-1", "contextId": "c-1", "artifact": artifact} | members}


def status(state: str, timestamp: str | None = None) -> Json:
    """Return a status update to a state of 1.0."""
    said = {"state": f"TASK_STATE_{state}"} | ({"timestamp": timestamp} if timestamp else {})
    return update(status=said)


def old_update(timestamp: str) -> Json:
    """Return a status update of 0.3."""
    status = {"state": "working", "timestamp": timestamp}
    return {"kind": "status-update", "taskId": "t-1", "contextId": "c-1", "status": status, "final": False}
