"""Chunks whose rules are not checked again: the findings are the same as if every event were checked."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judging import Judging
from properties import examples

from inspector.findings.stream import judge, routine
from inspector.findings.stream.routine import Routine

_STATES = st.sampled_from(["SUBMITTED", "WORKING", "WORKING", "COMPLETED"])
_TASKS = st.sampled_from(["t", "t", "t", "t", "u"])
_CONTEXTS = st.sampled_from([{"contextId": "c"}, {"contextId": "c"}, {"contextId": "d"}, {}])


_PARTS: list[Any] = [{"text": "x"}]
_CHUNK = {"taskId": "t", "contextId": "c", "artifact": {"artifactId": "a", "parts": _PARTS}, "append": True}
_CHANGES: list[dict[str, Any]] = [
    {"taskId": "u"},
    {"contextId": "d"},
    {"contextId": None},
    {"append": False},
    {"lastChunk": True},
    {"artifact": {"artifactId": "b", "parts": _PARTS}},
    {"artifact": {"artifactId": "c", "name": "n", "parts": _PARTS}},
    {"generation": "3"},
    {"generation": "4"},
]


@st.composite
def chunks(draw: st.DrawFn) -> list[dict[str, Any]]:
    """One update several times, because only repeated updates can be routine."""
    update: dict[str, Any] = dict(_CHUNK)
    for change in draw(st.lists(st.sampled_from(_CHANGES), max_size=2)):
        update |= change
    return [{"artifactUpdate": update}] * draw(st.integers(1, 3))


@st.composite
def others(draw: st.DrawFn) -> list[dict[str, Any]]:
    status = {"state": f"TASK_STATE_{draw(_STATES)}"}
    message = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "x"}]}
    return [
        draw(
            st.sampled_from(
                [
                    {"task": {"id": "t", **draw(_CONTEXTS), "status": status}},
                    {"statusUpdate": {"taskId": draw(_TASKS), **draw(_CONTEXTS), "status": status}},
                    {"message": message},
                    {},
                ]
            )
        )
    ]


_START: list[dict[str, Any]] = [
    {"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}},
    {"artifactUpdate": _CHUNK | {"append": False}},
]
_EVENTS = st.lists(st.one_of(chunks(), chunks(), others()), max_size=12).map(lambda lists: list(chain(*lists)))


def findings(events: list[dict[str, Any]], version: str, **members: Any) -> list[Any]:
    judging = Judging(version, **members)
    found = [judging.event(event, float(at)) if event else judging.error() for at, event in enumerate(events, 1)]
    return [*found, judging.end(99.0)]


@given(
    st.sampled_from([_START, []]),
    _EVENTS,
    st.sampled_from(["1.0", "1.1"]),
    st.sampled_from([{}, {"task_id": "t"}, {"context_id": "c"}]),
)
@settings(max_examples=examples(300))
def test_the_findings_are_those_of_checking_every_event(
    start: list[dict[str, Any]], events: list[dict[str, Any]], version: str, members: dict[str, str]
):
    events = start + events
    quick = findings(events, version, **members)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(routine, "_COVERED_RULES", frozenset())
        assert findings(events, version, **members) == quick


def test_most_chunks_of_a_long_stream_are_routine(monkeypatch: pytest.MonkeyPatch):
    checked: list[Any] = []
    monkeypatch.setattr(judge.StreamJudge, "_check_event", checking(judge.StreamJudge._check_event, checked))
    status = {"state": "TASK_STATE_WORKING"}
    task = {"task": {"id": "t", "contextId": "c", "status": status}}
    update, parts = {"taskId": "t", "contextId": "c"}, [{"text": "x"}]
    chunk = [
        {"artifactUpdate": {**update, "artifact": {"artifactId": name, "parts": parts}, "append": number > 0}}
        for number in range(100)
        for name in "abc"
    ]
    assert findings([task, *chunk], "1.0")[:-1] == [()] * 301
    assert len(checked) < 10


def checking(check: Any, checked: list[Any]) -> Any:
    def counted(self: Any, *args: Any, **members: Any) -> Any:
        checked.append(args)
        return check(self, *args, **members)

    return counted


def test_with_another_rule_about_chunks_every_chunk_is_checked(monkeypatch: pytest.MonkeyPatch):
    judging = Judging()
    checks = judging.judge._event_checks[judge.TaskArtifactUpdateEvent]
    monkeypatch.setattr(routine, "_COVERED_RULES", routine._COVERED_RULES - {"STREAM-020"})
    found = Routine(checks)
    found.learn("facts", "facts")
    assert "facts" not in found
