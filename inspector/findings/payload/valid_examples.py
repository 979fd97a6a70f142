"""Sound events of 1.0, and pieces of them: what the rules' examples are made from."""

from __future__ import annotations

from inspector.protocol.model import Json

STATUS: dict[str, Json] = {"taskId": "t-1", "contextId": "c-1", "status": {"state": "TASK_STATE_WORKING"}}


def update(**changes: Json) -> Json:
    """Return a sound status update with some members changed."""
    return {"statusUpdate": {name: one for name, one in {**STATUS, **changes}.items() if one is not None}}


def message(*parts: Json, **changes: Json) -> Json:
    whole: dict[str, Json] = {"messageId": "m-1", "role": "ROLE_AGENT", "parts": [*parts], **changes}
    return {"message": {name: one for name, one in whole.items() if one is not None}}


def task(**members: Json) -> Json:
    return {"task": {"id": "t-1", "contextId": "c-1", "status": {"state": "TASK_STATE_WORKING"}} | members}


TEXT_PART = {"text": "hello"}


def chunk(**members: Json) -> Json:
    """Return a sound chunk that begins an artifact, with some members changed; `artifact` changes those of that."""
    artifact = {"artifactId": "a-1", "parts": [TEXT_PART], **members.pop("artifact", {})}
    return {"artifactUpdate": {"taskId": "t-1", "contextId": "c-1", "artifact": artifact} | members}


def status(state: str, timestamp: str | None = None) -> Json:
    """Return a sound status update to a state of 1.0."""
    said = {"state": f"TASK_STATE_{state}"} | ({"timestamp": timestamp} if timestamp else {})
    return update(status=said)


def old_update(timestamp: str) -> Json:
    """Return a sound status update of 0.3 with this timestamp."""
    status = {"state": "working", "timestamp": timestamp}
    return {"kind": "status-update", "taskId": "t-1", "contextId": "c-1", "status": status, "final": False}
