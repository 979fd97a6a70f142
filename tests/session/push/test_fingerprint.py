"""Two bodies have the same fingerprint only if no rule about objects can tell them apart."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.findings.payload.judge import OBJECT_RULES, judge_push
from inspector.protocol.jsonvalue import dump, parse
from inspector.session.push.reading import Fingerprint

SHAPES = ("1.0", "0.3", "0.2", "0.1", "opvs")
TIME, OTHER_TIME = "2026-01-01T12:00:00Z", "2026-01-01T12:00:01Z"
STATUS = {
    "taskId": "t-1",
    "contextId": "c-1",
    "status": {
        "state": "TASK_STATE_WORKING",
        "timestamp": "2026-01-01T12:00:00.5Z",
        "message": {"messageId": "m-1", "role": "ROLE_AGENT", "parts": [{"text": "step 1"}]},
    },
}


def body(*, indent: int | None = None, **status: Any) -> bytes:
    return json.dumps({"statusUpdate": {**STATUS, "status": {**STATUS["status"], **status}}}, indent=indent).encode()


def said(text: Any, message_id: Any = "m-1") -> dict[str, Any]:
    return {"messageId": message_id, "role": "ROLE_AGENT", "parts": [{"text": text}]}


def constant(value: bytes) -> bytes:
    return Fingerprint.of(value).constant


@pytest.mark.parametrize(
    "other",
    [
        body(timestamp="2031-12-28T23:59:59Z"),
        body(timestamp="2026-01-01T12:00:00.123456Z"),
        body(message=said('something else, with "quotes", \\ and a\nnew line')),
        body(message=said("Grüße 👋")),
        body(message=said("step 1", "5f0c7e0e-2f9c-4a53-8a3e-1c2d3e4f5a6b")),
    ],
)
def test_another_time_another_text_and_another_message_id_are_the_same_push(other):
    assert constant(other) == constant(body())
    assert judge_push(parse(other), "1.0") == ()


@pytest.mark.parametrize(
    "other",
    [
        body(timestamp="2026-02-30T12:00:00Z"),
        body(timestamp="2026-01-01T12:00:00"),
        body(timestamp="2026-01-01T12:00:00+01:00"),
        body(timestamp="yesterday"),
        body(timestamp=""),
        body(message=said("")),
        body(message=said("  \t ")),
        body(message=said("\u3000")),
        body(message=said(7)),
        body(message=said("step 1", "")),
        body(message=said("step 1", None)),
        body(message={**said("step 1"), "taskId": "t-2"}),
        body(message={**said("step 1"), "role": "ROLE_USER"}),
        body(state="TASK_STATE_PONDERING"),
        body(state="TASK_STATE_COMPLETED"),
        body(mood="cheerful"),
        body().replace(b'"t-1"', b'"t-2"'),
    ],
)
def test_anything_else_is_judged_again(other):
    assert constant(other) != constant(body())


def test_a_member_that_only_looks_like_a_time_is_the_same_member_still():
    inside = {"timestamp": '"timestamp":"2026-01-01T12:00:00Z"', '"text': "a"}
    changed = {"timestamp": '"timestamp":"2026-01-01T12:00:01Z"', '"text': "b"}
    bare = json.dumps(inside).encode().replace(b'"a"', b"").replace(b'"text": ', b'"te')
    assert Fingerprint.of(json.dumps(inside).encode()) == (bare, (b'"text": "a"',))
    assert Fingerprint.of(json.dumps(inside).encode()).constant != Fingerprint.of(json.dumps(changed).encode()).constant


def test_a_text_where_a_timestamp_was_is_not_the_same():
    other = body().replace(b'"timestamp": "2026-01-01T12:00:00.5Z"', b'"text": "x"')
    assert constant(other) != constant(body())


@pytest.mark.parametrize("filling", [b"a", b" ", b"a \\u00e9", b'\\"', b'a","text":"'], ids=repr)
def test_a_text_without_an_end_is_read_once(filling):
    body = b'{"text":"' + filling * (65_000 // len(filling))
    assert len(Fingerprint.of(body).varying) == body.count(b'"text":"') - 1  # it took two minutes when it went back


def test_long_bodies_and_long_constants_have_no_fingerprint():
    for other in (body(message=said("x" * 100_000)), body(state="x" * 3000)):
        assert constant(other) == b""


EXAMPLES = [example for one in OBJECT_RULES for example in (one.rule.failing, one.rule.passing)]


_TIMES = st.sampled_from(["2026-01-31T12:00:00.123Z", "2026-01-31T12:00:00", "yesterday", "", 5, None])
_WORDS = st.one_of(st.text(max_size=8), st.sampled_from(["", " ", "x", 1, None]))


@given(st.sampled_from(EXAMPLES), st.sampled_from(SHAPES), st.data())
def test_of_two_bodies_with_the_same_fingerprint_both_break_a_rule_or_neither(example, shape, data):
    one, other = (_with(example, data.draw(_TIMES), data.draw(_WORDS)) for _ in range(2))
    alike = Fingerprint.of(dump(one)).constant == Fingerprint.of(dump(other)).constant
    assert not alike or bool(judge_push(one, shape)) == bool(judge_push(other, shape))


def _with(value: Any, time: Any, word: Any) -> Any:
    """Return a value with another time, another text and another message id wherever there is one."""
    if isinstance(value, list):
        return [_with(item, time, word) for item in value]
    if not isinstance(value, dict):
        return value
    new = {"timestamp": time, "text": word, "messageId": word}
    return {name: new[name] if name in new else _with(item, time, word) for name, item in value.items()}
