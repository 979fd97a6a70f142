"""The draft of A2A 1.1 (branch `dev-1.1`, 2026-08): A2A 1.0 with a revision counter for tasks, `generation`.

- The counter starts at 1 and increases by one with every event of the task. If it is 0 or missing, the agent does not
  count (section 3.2.7).
- GetTask may wait for a revision (`currentGeneration`), and a message may require a revision (`ifGenerationMatch`).
- These members have 64 bits, which ProtoJSON writes as a string.
"""

from __future__ import annotations

import re
from dataclasses import replace

from inspector.protocol.bindings.protobuf import AddedField, ExtendedSet
from inspector.protocol.dialects import v1_0
from inspector.protocol.dialects.base import ERRORS
from inspector.protocol.dialects.traits import V1_1
from inspector.protocol.errors import BY_NAME
from inspector.protocol.model import Event, Json, SendRequest, TaskRequest

_MISMATCH = BY_NAME["TaskGenerationMismatchError"]
_ADDED = (
    AddedField("Task", "generation", 7),
    AddedField("TaskStatusUpdateEvent", "generation", 5),
    AddedField("TaskArtifactUpdateEvent", "generation", 7),
    AddedField("GetTaskRequest", "current_generation", 4, optional=True),
    AddedField("SendMessageConfiguration", "if_generation_match", 5, optional=True),
)

DIALECT = replace(
    v1_0.DIALECT,
    traits=V1_1,
    headers={"A2A-Version": "1.1"},
    service=replace(v1_0.SERVICE, descriptors=ExtendedSet("v1_0", _ADDED)),
    errors={**ERRORS, _MISMATCH.code: _MISMATCH.name},
)


def revision_of(event: Event) -> int:
    """Return the revision of a task after an event, 0 if the event does not contain it."""
    return revision_in(event.model_extra)


def revision_in(value: Json) -> int:
    """Return the revision in the JSON of an event, 0 if it does not contain one."""
    return _counter(value, "generation")


def awaited_revision(request: TaskRequest) -> int:
    """Return the revision after which GetTask responds, 0 if it does not wait."""
    return _counter(request.model_extra, "currentGeneration")


def required_revision(request: SendRequest) -> int:
    """Return the revision that a message requires of its task, 0 if it requires none."""
    return _counter(request.configuration.model_extra, "ifGenerationMatch") if request.configuration else 0


def _counter(members: Json, name: str) -> int:
    """Return a member of 64 bits, 0 if it is missing or not a number."""
    if not members or not isinstance(members, dict):
        return 0
    value = members.get(name)
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,19}", value):
        return int(value)
    return value if type(value) is int and value > 0 else 0
