"""The findings of a judge in a stream: conflicting events, mixtures, and the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from judging import Judging

from inspector.findings.rule_set import HINT, RuleSet, Violation
from inspector.findings.stream import order
from inspector.findings.stream.facts import EventFacts
from inspector.findings.stream.observer import StreamEnding
from inspector.protocol.lifecycle import State
from inspector.protocol.model import Event
from inspector.protocol.operations import Operation


def status(state: str, context: str = "c", task: str = "t") -> dict[str, Any]:
    return {"statusUpdate": {"taskId": task, "contextId": context, "status": {"state": state}}}


def chunk(**members: Any) -> dict[str, Any]:
    artifact = {"artifactId": "a", "parts": [{"text": "x"}]}
    return {"artifactUpdate": {"taskId": "t", "contextId": "c", "artifact": artifact} | members}


TASK: dict[str, Any] = {"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_SUBMITTED"}}}
MESSAGE: dict[str, Any] = {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "x"}]}}


def found(*values: dict[str, Any]) -> list[tuple[str, str]]:
    judging = Judging()
    return [(finding.rule, finding.pointer) for value in values for finding in judging.event(value)]


@pytest.mark.parametrize(
    ("values", "rule", "place"),
    [
        ([TASK, status(State.WORKING), status(State.SUBMITTED)], "STREAM-002", "/result/statusUpdate/status/state"),
        ([TASK, status(State.COMPLETED), status(State.WORKING)], "STREAM-003", "/result/statusUpdate"),
        ([TASK, chunk(append=True)], "STREAM-004", "/result/artifactUpdate/append"),
        ([TASK, chunk(lastChunk=True), chunk(append=True)], "STREAM-005", "/result/artifactUpdate/append"),
        ([TASK, status(State.WORKING, "d")], "STREAM-006", "/result/statusUpdate/contextId"),
        ([TASK, status(State.WORKING, task="u")], "STREAM-006", "/result/statusUpdate/taskId"),
        ([TASK, MESSAGE], "STREAM-010", "/result/message"),
        ([MESSAGE, TASK], "STREAM-010", "/result/task"),
        ([TASK, MESSAGE, status(State.WORKING)], "STREAM-010", "/result/message"),
    ],
)
def test_a_conflicting_event_has_a_finding_at_its_member(values: list[dict[str, Any]], rule: str, place: str):
    assert found(*values) == [(rule, place)]


def test_a_valid_stream_has_no_findings():
    events = [TASK, status(State.WORKING), chunk(), chunk(append=True), status(State.COMPLETED)]
    assert found(*events) == []
    assert found(MESSAGE) == []


def test_findings_in_0_1_point_to_the_members_of_0_1():
    judging = Judging("0.1")
    own = {"id": "t", "sessionId": "c"}
    judging.event(own | {"status": {"state": "working"}, "final": False})
    [finding] = judging.event(
        {"id": "t", "artifact": {"index": 0, "append": True, "parts": [{"type": "text", "text": ""}]}}
    )
    assert (finding.rule, finding.pointer) == ("STREAM-004", "/result/artifact/append")


@pytest.mark.parametrize(
    ("values", "how", "expected"),
    [
        ([TASK, status(State.WORKING)], {}, ["STREAM-001"]),
        ([], {}, ["STREAM-001"]),
        ([TASK, status(State.COMPLETED)], {}, []),
        ([TASK, status(State.INPUT_REQUIRED)], {}, []),
        ([MESSAGE], {}, []),
        ([TASK, status(State.COMPLETED)], {"how": StreamEnding.INTERRUPTED}, ["STREAM-008"]),
        ([TASK, status(State.WORKING)], {"how": StreamEnding.STOPPED}, []),
        ([TASK, status(State.COMPLETED)], {"how": StreamEnding.STOPPED, "at": 9.0}, ["STREAM-022"]),
        ([TASK, status(State.COMPLETED)], {"at": 9.0}, ["STREAM-022"]),
        ([TASK, status(State.COMPLETED)], {"at": 2.0}, []),
    ],
)
def test_the_end_of_a_stream_is_judged_by_the_state_of_the_task(
    values: list[dict[str, Any]], how: dict[str, Any], expected: list[str]
):
    judging = Judging()
    for value in values:
        judging.event(value)
    assert judging.end(**how) == expected


def test_the_end_is_not_judged_after_an_error():
    judging = Judging()
    judging.event(TASK)
    judging.error()
    assert judging.end() == []


def test_a_rule_that_is_declared_later_is_checked_in_the_next_exchange(monkeypatch: pytest.MonkeyPatch):
    rules = RuleSet[EventFacts[Event]]([])
    rules.rules = [*order.EVENTS.rules]
    monkeypatch.setattr("inspector.findings.stream.judge.EVENTS", rules)
    assert Judging().event(TASK) == ()

    @rules.rule("STREAM-999", HINT, "An event", section="1.0 §1", requirement="x", remedy="x", failing=None)
    def any_event(facts: EventFacts[Event]) -> Iterator[Violation]:
        yield Violation("", facts.stream.version)

    assert [(finding.rule, finding.seen) for finding in Judging().event(TASK)] == [("STREAM-999", "1.0")]


@pytest.mark.parametrize("operation", [Operation.SUBSCRIBE, Operation.STREAM])
def test_a_client_can_join_in_the_middle_of_an_artifact_before_1_0(operation: Operation):
    """The stream of another client had the first chunks: before 1.0, a stream need not begin with the task."""
    artifact = {"artifactId": "a", "parts": [{"kind": "text", "text": "x"}]}
    update = {"kind": "artifact-update", "taskId": "t", "contextId": "c", "append": True, "artifact": artifact}
    assert Judging("0.3", operation, task_id="t").event(update) == ()
    [finding] = Judging("0.3", operation).event(update)
    assert finding.rule == "STREAM-004"


@pytest.mark.parametrize("version", ["0.2", "0.3"])
def test_a_message_beside_a_task_is_allowed_before_1_0(version: str):
    judging = Judging(version, Operation.STREAM)
    judging.event({"kind": "task", "id": "t", "contextId": "c", "status": {"state": "working"}})
    message = {"kind": "message", "messageId": "m", "role": "agent", "parts": [{"kind": "text", "text": "hi"}]}
    assert "STREAM-010" not in {finding.rule for finding in judging.event(message)}
