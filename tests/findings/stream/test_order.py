"""The rules about the order of events: streams that violate each rule, and valid streams."""

from __future__ import annotations

from typing import Any

import pytest
from judging import Judging

from inspector.findings.rules import RULES
from inspector.protocol.model import Message, SendRequest
from inspector.protocol.operations import Operation

STREAM, SEND, SUBSCRIBE = Operation.STREAM, Operation.SEND, Operation.SUBSCRIBE
TASK: dict[str, Any] = {"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_SUBMITTED"}}}
ERROR = object()
OF_ORDER = {f"STREAM-{number:03}" for number in (11, 13, 14, 15, 16, 17, 18, 19, 20, 23, 24, 26, 27, 28, 30)}
UNNAMED: dict[str, Any] = {"task": {"id": "t", "status": {"state": "TASK_STATE_SUBMITTED"}}}
MESSAGE: dict[str, Any] = {
    "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "x"}], "contextId": "c"}
}


def status(state: str = "TASK_STATE_WORKING", time: str | None = None, **more: Any) -> dict[str, Any]:
    members = {"state": state} | ({"timestamp": time} if time else {}) | more
    return {"statusUpdate": {"taskId": "t", "contextId": "c", "status": members}}


def message(text: str, own: str = "m", role: str = "ROLE_AGENT") -> dict[str, Any]:
    return {"messageId": own, "role": role, "parts": [{"text": text}]}


def chunk(artifact: str = "a", **members: Any) -> dict[str, Any]:
    whole = {"artifactId": artifact, "name": "report", "parts": [{"text": "x"}]}
    return {"artifactUpdate": {"taskId": "t", "contextId": "c", "artifact": whole} | members}


def old(state: str, **members: Any) -> dict[str, Any]:
    return {"kind": "status-update", "taskId": "t", "contextId": "c", "status": {"state": state}} | members


def violations(
    version: str, operation: Operation, *values: Any, task: str = "", context: str = "", asked: str = ""
) -> list[tuple[int, str]]:
    """Return the violated rules about the order of events, each with the index of its event."""
    request = SendRequest(message=Message(message_id=asked)) if asked else None
    judging = Judging(version, operation, task_id=task, context_id=context, request=request)
    found = []
    for number, value in enumerate(values):
        for finding in judging.error() if value is ERROR else judging.event(value):
            assert finding.severity is RULES[finding.rule].severity
            if finding.rule in OF_ORDER:
                found.append((number, finding.rule))
    return found


def counted(event: dict[str, Any], revision: Any) -> dict[str, Any]:
    [(name, value)] = event.items()
    return {name: value | {"generation": revision}}


RUNNING, ENDED = old("working", final=False), old("completed", final=True)
ENDED_IN_0_1 = {"id": "t", "status": {"state": "completed"}}
NOON, LATER = "2026-01-31T12:00:00Z", "2026-01-31T12:00:01Z"
FAILED = "TASK_STATE_FAILED"
WHOLE = [TASK, status(), chunk(), chunk(append=True, lastChunk=True), status("TASK_STATE_COMPLETED")]

VIOLATIONS = {
    "a revision is missing": (
        "1.1",
        STREAM,
        [counted(TASK, "1"), counted(status(), 2), counted(chunk(), "5"), counted(chunk(append=True), 6)],
        {},
        [(2, "STREAM-030")],
    ),
    "a revision twice": ("1.1", STREAM, [counted(TASK, 1), counted(chunk(), 1)], {}, [(1, "STREAM-030")]),
    "an earlier revision": ("1.1", SUBSCRIBE, [counted(TASK, 9), counted(chunk(), 8)], {}, [(1, "STREAM-030")]),
    "an update before the task": ("1.0", STREAM, [status()], {}, [(0, "STREAM-011")]),
    "a chunk before the task": ("1.0", STREAM, [chunk(), TASK], {}, [(0, "STREAM-011")]),
    "a follow-up without the task": ("1.0", STREAM, [status()], {"task": "t"}, [(0, "STREAM-013")]),
    "a subscription without the task": ("1.0", SUBSCRIBE, [status()], {"task": "t"}, [(0, "STREAM-013")]),
    "after final": (
        "0.3",
        STREAM,
        [RUNNING, old("input-required", final=True), ENDED],
        {},
        [(2, "STREAM-014")],
    ),
    "ended, not final": ("0.3", STREAM, [old("completed", final=False)], {}, [(0, "STREAM-015")]),
    "ended, not final in 0.1": (
        "0.1",
        STREAM,
        [ENDED_IN_0_1 | {"final": False}],
        {},
        [(0, "STREAM-015")],
    ),
    "final too early": ("0.3", STREAM, [old("working", final=True)], {}, [(0, "STREAM-016")]),
    "another context": ("1.0", SEND, [MESSAGE], {"context": "d"}, [(0, "STREAM-017")]),
    "backwards": (
        "1.0",
        STREAM,
        [TASK, status(time=LATER), status(FAILED, NOON)],
        {},
        [(2, "STREAM-018")],
    ),
    "the context only later": ("1.0", STREAM, [UNNAMED, status(), status(FAILED)], {}, [(1, "STREAM-023")]),
    "another context is reported once": ("1.0", STREAM, [TASK, status()], {"context": "d"}, [(0, "STREAM-017")]),
    "final too early, once": (
        "0.3",
        STREAM,
        [old("working", final=True), old("completed", final=True)],
        {},
        [(0, "STREAM-016")],
    ),
    "after an error": ("1.0", STREAM, [TASK, ERROR, status(), status(FAILED)], {}, [(2, "STREAM-024")]),
    "twice": ("1.0", STREAM, [TASK, status(time=NOON), status(time=NOON)], {}, [(2, "STREAM-019")]),
    "an update without change": ("1.0", STREAM, [TASK, status(), status()], {}, [(2, "STREAM-026")]),
    "two messages, one id": (
        "1.0",
        STREAM,
        [TASK, status(message=message("one")), status(message=message("two")), status(FAILED)],
        {},
        [(2, "STREAM-027")],
    ),
    "two messages of a history, one id": (
        "1.0",
        SEND,
        [{"task": TASK["task"] | {"history": [message("one"), message("two")]}}],
        {},
        [(0, "STREAM-027")],
    ),
    "the id of the request": ("1.0", SEND, [MESSAGE], {"asked": "m"}, [(0, "STREAM-028")]),
    "fresh ids": ("1.0", STREAM, [TASK, chunk("a"), chunk("b"), chunk("c"), chunk("d")], {}, [(3, "STREAM-020")]),
}


@pytest.mark.parametrize("name", VIOLATIONS)
def test_a_violation_is_found_at_its_event(name: str):
    version, operation, values, asked, expected = VIOLATIONS[name]
    assert violations(version, operation, *values, **asked) == expected


VALID = {
    "every revision": ("1.1", STREAM, [counted(event, number) for number, event in enumerate(WHOLE, 1)], {}),
    "revisions of a task that is known": ("1.1", SUBSCRIBE, [counted(TASK, 7), counted(status(), "8")], {"task": "t"}),
    "no revisions": ("1.1", STREAM, WHOLE, {}),
    "revision 0 is none": ("1.1", STREAM, [counted(event, 0) for event in WHOLE], {}),
    "the task again": (
        "1.1",
        STREAM,
        [counted(TASK, 1), counted(chunk(), 2), counted(TASK, 2), counted(chunk(), 3)],
        {},
    ),
    "another version has no revisions": ("1.0", STREAM, [counted(TASK, 1), counted(chunk(), 7)], {}),
    "a whole stream": (
        "1.0",
        STREAM,
        [TASK, status(), chunk(), chunk(append=True, lastChunk=True), status("TASK_STATE_COMPLETED")],
        {},
    ),
    "one message": ("1.0", STREAM, [MESSAGE], {}),
    "an answer": ("1.0", SEND, [TASK], {"context": "c"}),
    "repeated chunks": ("1.0", STREAM, [TASK, chunk(), chunk(append=True), chunk(append=True)], {}),
    "several artifacts": ("1.0", STREAM, [TASK, *(chunk(name, lastChunk=True) for name in "abcd")], {}),
    "a repeated message": (
        "1.0",
        STREAM,
        [
            TASK,
            status(message=message("one")),
            {"task": TASK["task"] | {"history": [message("hi", "q", "ROLE_USER"), message("one")]}},
        ],
        {"asked": "q"},
    ),
    "messages without ids, which another rule reports": (
        "1.0",
        STREAM,
        [TASK, status(message=message("one", "")), status(message=message("two", ""))],
        {},
    ),
    "the same time": (
        "1.0",
        STREAM,
        [TASK, status(time=NOON), status(FAILED, NOON)],
        {},
    ),
    "times that cannot be compared": (
        "1.0",
        STREAM,
        [TASK, status(time=NOON), status(FAILED, "2026-01-31T11:00:00")],
        {},
    ),
    "a stream of 0.3": ("0.3", STREAM, [RUNNING, ENDED], {}),
    "the user is asked": ("0.3", STREAM, [old("input-required", final=True)], {}),
    "after the end, which another rule reports": ("0.3", STREAM, [RUNNING, ENDED, RUNNING], {}),
    "missing final, which another rule reports": ("0.3", STREAM, [old("completed")], {}),
    "a subscription of 0.3": ("0.3", SUBSCRIBE, [old("working", final=False)], {"task": "t"}),
}


@pytest.mark.parametrize("name", VALID)
def test_valid_streams_have_no_findings(name: str):
    version, operation, values, asked = VALID[name]
    assert violations(version, operation, *values, **asked) == []


def test_every_rule_about_the_order_has_an_example_here():
    assert {rule for *_, expected in VIOLATIONS.values() for _, rule in expected} == OF_ORDER
