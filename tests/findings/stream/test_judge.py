"""What a judge finds in a whole stream: events that do not fit their task, mixtures, and how it ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from judging import Judging

from inspector.findings.rule_set import HINT, RuleSet, Violation
from inspector.findings.stream import order
from inspector.findings.stream.facts import EventFacts
from inspector.protocol.lifecycle import State
from inspector.protocol.model import Event


def status(state: str, context: str = "c", task: str = "t") -> dict[str, Any]:
    return {"statusUpdate": {"taskId": task, "contextId": context, "status": {"state": state}}}


def chunk(**members: Any) -> dict[str, Any]:
    artifact = {"artifactId": "a", "parts": [{"text": "x"}]}
    return {"artifactUpdate": {"taskId": "t", "contextId": "c", "artifact": artifact} | members}


TASK: dict[str, Any] = {"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_SUBMITTED"}}}
MESSAGE: dict[str, Any] = {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "x"}]}}


def found(*values: dict[str, Any]) -> list[tuple[str, str]]:
    judging = Judging()
    return [(one.rule, one.pointer) for value in values for one in judging.event(value)]


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
def test_an_event_that_does_not_fit_is_found_where_it_differs(values: list[dict[str, Any]], rule: str, place: str):
    assert found(*values) == [(rule, place)]


def test_a_stream_in_order_breaks_nothing():
    events = [TASK, status(State.WORKING), chunk(), chunk(append=True), status(State.COMPLETED)]
    assert found(*events) == []
    assert found(MESSAGE) == []


def test_members_of_0_1_are_named_where_0_1_has_them():
    judging = Judging("0.1")
    own = {"id": "t", "sessionId": "c"}
    judging.event(own | {"status": {"state": "working"}, "final": False})
    [one] = judging.event(
        {"id": "t", "artifact": {"index": 0, "append": True, "parts": [{"type": "text", "text": ""}]}}
    )
    assert (one.rule, one.pointer) == ("STREAM-004", "/result/artifact/append")


@pytest.mark.parametrize(
    ("values", "how", "expected"),
    [
        ([TASK, status(State.WORKING)], {}, ["STREAM-001"]),
        ([], {}, ["STREAM-001"]),
        ([TASK, status(State.COMPLETED)], {}, []),
        ([TASK, status(State.INPUT_REQUIRED)], {}, []),
        ([MESSAGE], {}, []),
        ([TASK, status(State.COMPLETED)], {"whole": False}, ["STREAM-008"]),
        ([TASK, status(State.WORKING)], {"whole": False, "stopped": True}, []),
        ([TASK, status(State.COMPLETED)], {"whole": False, "stopped": True, "at": 9.0}, ["STREAM-022"]),
        ([TASK, status(State.COMPLETED)], {"at": 9.0}, ["STREAM-022"]),
        ([TASK, status(State.COMPLETED)], {"at": 2.0}, []),
    ],
)
def test_the_end_of_a_stream_is_judged_by_how_far_the_task_is(
    values: list[dict[str, Any]], how: dict[str, Any], expected: list[str]
):
    judging = Judging()
    for value in values:
        judging.event(value)
    assert judging.end(**how) == expected


def test_after_an_error_the_end_is_not_judged():
    judging = Judging()
    judging.event(TASK)
    judging.error()
    assert judging.end() == []


def test_a_rule_is_checked_once_it_is_declared(monkeypatch: pytest.MonkeyPatch):
    rules = RuleSet[EventFacts[Event]]([])
    rules.rules = [*order.EVENTS.rules]
    monkeypatch.setattr("inspector.findings.stream.judge.EVENTS", rules)
    judging = Judging()
    assert judging.event(TASK) == ()

    @rules.rule("STREAM-999", HINT, "An event", section="1.0 §1", requirement="x", remedy="x", failing=None)
    def any_event(facts: EventFacts[Event]) -> Iterator[Violation]:
        yield Violation("", facts.stream.version)

    assert [(one.rule, one.seen) for one in judging.event(status(State.WORKING))] == [("STREAM-999", "1.0")]
