"""Events with members of the wrong type: which parts can be read."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from typing import Any

import pytest

from inspector.findings.payload.judge import judge_object
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import ALL, DIALECTS
from inspector.protocol.lenient_read import read_lenient
from inspector.protocol.model import (
    Artifact,
    Event,
    Message,
    Part,
    SendRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatus,
    TaskStatusUpdateEvent,
    Unreadable,
)
from inspector.protocol.operations import Operation
from inspector.protocol.pointer import pointer

V1 = DIALECTS["1.0"]
MESSAGE = Message(
    message_id="m",
    context_id="c",
    task_id="t",
    role="ROLE_AGENT",
    parts=[Part(text="hello", metadata={"a": 1})],
    metadata={},
    extensions=["https://example.com/x"],
    reference_task_ids=["u"],
)
STATUS = TaskStatus(state="TASK_STATE_WORKING", message=MESSAGE, timestamp="2026-01-31T12:00:00Z")
ARTIFACT = Artifact(artifact_id="a", name="n", description="d", parts=[Part(text="x")], metadata={}, extensions=["e"])
EVENTS: tuple[Event, ...] = (
    MESSAGE,
    Task(id="t", context_id="c", status=STATUS, artifacts=[ARTIFACT], history=[MESSAGE], metadata={}),
    TaskStatusUpdateEvent(task_id="t", context_id="c", status=STATUS, metadata={}),
    TaskArtifactUpdateEvent(
        task_id="t", context_id="c", artifact=ARTIFACT, append=True, last_chunk=False, metadata={"k": 1}
    ),
)


def read(value: Any, dialect: Dialect = V1) -> Any:
    return dialect.decode_event(value)


def update(**members: Any) -> Any:
    return {"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}} | members}


def chunk(**members: Any) -> Any:
    return {"artifactUpdate": {"taskId": "t", "contextId": "c", "artifact": ARTIFACT.to_json()} | members}


def task(**members: Any) -> Any:
    return {"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}} | members}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (update(metadata=[]), update()),
        (update(contextId=5), update(contextId=None)),
        (update(metadata=[], contextId=5, mood="x"), update(contextId=None, mood="x")),
        (
            update(status={"state": "TASK_STATE_WORKING", "message": "hello", "timestamp": 5}),
            update(status={"state": "TASK_STATE_WORKING"}),
        ),
        (
            update(status={"state": "TASK_STATE_WORKING", "message": {"parts": [{"text": 5}]}}),
            update(status={"state": "TASK_STATE_WORKING"}),
        ),
        (chunk(artifact={"artifactId": "a", "name": 5, "parts": []}), chunk(artifact={"artifactId": "a", "parts": []})),
        (chunk(lastChunk="yes"), chunk()),
        (task(artifacts={}), task()),
        (task(artifacts=[5, {"artifactId": "b"}]), task(artifacts=[{"artifactId": "b"}])),
        (task(history=[None, MESSAGE.to_json(), {"role": 5}]), task(history=[MESSAGE.to_json()])),
        (task(metadata="x", history=None), task()),
        (
            {"message": {"messageId": "m", "parts": [{"data": None, "filename": 5}], "extensions": ["e", 5]}},
            {"message": {"messageId": "m", "parts": [{"data": None}], "extensions": ["e"]}},
        ),
    ],
)
def test_an_event_is_read_without_its_optional_members_of_the_wrong_type(value: Any, expected: Any):
    before = copy.deepcopy(value)
    assert read(value) == read(expected)
    assert not isinstance(read(value), Unreadable)
    assert value == before


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (update(taskId=5), "TaskStatusUpdateEvent/taskId: expected a string"),
        (update(status="working"), "TaskStatusUpdateEvent/status: expected an object"),
        (update(status={"state": 5}), "TaskStatusUpdateEvent/status/state: expected a string"),
        (chunk(append="yes"), "TaskArtifactUpdateEvent/append: expected a boolean"),
        (chunk(artifact={"artifactId": 5}), "TaskArtifactUpdateEvent/artifact/artifactId"),
        (chunk(artifact={"artifactId": "a", "parts": [{"text": 5}]}), "TaskArtifactUpdateEvent/artifact/parts/0/text"),
        (chunk(artifact={"artifactId": "a", "parts": {}}), "TaskArtifactUpdateEvent/artifact/parts: expected an array"),
        (task(id=None) | {"task": {"id": 5}}, "Task/id"),
        ({"message": {"parts": [5]}}, "Message/parts/0"),
        ({"message": []}, "Message: expected an object"),
    ],
)
def test_an_object_without_an_essential_member_is_unreadable(value: Any, why: str):
    refused = read(value)
    assert isinstance(refused, Unreadable)
    assert refused.value == value
    assert refused.why.startswith(why)


def test_a_page_of_tasks_is_read_without_invalid_optional_members():
    page = {"tasks": [task(metadata=5)["task"]], "nextPageToken": "", "pageSize": "1"}
    read_page = V1.decode_result(Operation.LIST, page)
    assert not isinstance(read_page, Unreadable)
    assert read_page.to_json() == {"tasks": [task()["task"]], "nextPageToken": ""}


@pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: f"{dialect.version} {'/'.join(dialect.methods) and 'rpc'}")
def test_a_request_is_read_strictly(dialect: Dialect):
    sent = dialect.encode_request(Operation.SEND, SendRequest(message=MESSAGE))
    assert not isinstance(dialect.decode_request(Operation.SEND, sent), Unreadable)
    assert isinstance(dialect.decode_request(Operation.SEND, sent | {"metadata": 5}), Unreadable)


def places(value: Any, *steps: str | int) -> Iterator[tuple[str | int, ...]]:
    yield steps
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, member in inner:
        yield from places(member, *steps, step)


SPOKEN = [(version, event) for version in ("1.0", "0.3") for event in EVENTS]
SPOKEN += [("0.1", event) for event in EVENTS[2:]]  # 0.1 streams neither tasks nor messages


@pytest.mark.parametrize(
    ("version", "event"), SPOKEN, ids=lambda value: value if isinstance(value, str) else type(value).__name__
)
def test_each_omitted_member_has_a_finding(version: str, event: Event):
    dialect = DIALECTS[version]
    sound = dialect.encode_event(event)
    assert not isinstance(read(sound, dialect), Unreadable)
    for steps in places(sound):
        free = "metadata" in steps[:-1]
        if not steps or free:
            continue
        value = copy.deepcopy(sound)
        holder = value
        for step in steps[:-1]:
            holder = holder[step]
        holder[steps[-1]] = 5 if not isinstance(holder[steps[-1]], int) or isinstance(holder[steps[-1]], bool) else "5"
        found = {finding.pointer for finding in judge_object(value, None, version, "JSONRPC")}
        assert pointer(*steps) in found, steps
        assert isinstance(read(value, dialect), Event | Unreadable)


def test_a_list_of_a_million_invalid_items_is_omitted():
    started = time.process_time()
    read_task = read(task(history=[1] * 1_000_000))
    assert isinstance(read_task, Task)
    assert read_task.history is None
    assert isinstance(read({"message": {"parts": [1] * 1_000_000}}), Unreadable)
    assert len(judge_object({"message": {"parts": [1] * 1_000_000}}, None, "1.0", "JSONRPC")) < 1000
    assert time.process_time() - started < 20  # naming each of them would take a minute and a gigabyte


def test_a_list_loses_a_limited_number_of_items():
    assert read(task(history=[1] * 100 + [MESSAGE.to_json()])).history == [MESSAGE]
    assert read(task(history=[1] * 101 + [MESSAGE.to_json()])).history is None


def test_an_unreadable_object_keeps_the_original_value():
    refused = read_lenient(Task, {"id": 5}, lambda value: value | {"mood": 1})
    assert refused == Unreadable({"id": 5}, "Task/id: expected a string, found a number")
