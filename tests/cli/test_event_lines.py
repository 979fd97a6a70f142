from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from inspector.cli.event_lines import event_lines
from inspector.protocol.assemble import TextAppended
from inspector.protocol.dialects.v1_0 import decode_event, encode_event
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Artifact, Event, TaskArtifactUpdateEvent, Unreadable
from inspector.text.safe_json import dump

HOSTILE = '\x00\x08\x1b\x7f\x85\u2028\u202e\ufeff"\\/\n\r\té漢😀'
texts = st.deferred(lambda: st.text(letters, max_size=12))
letters = st.sampled_from(HOSTILE) | st.characters(exclude_categories=["Cs"])
numbers = (
    st.floats(allow_nan=False)
    | st.integers()
    | st.floats(-1, 1)
    | st.integers(-330, 308).map(lambda power: 10.0**power)
)
scalars = st.none() | st.booleans() | numbers | texts
values = scalars | st.lists(scalars, max_size=3) | st.dictionaries(texts, st.lists(scalars, max_size=2), max_size=3)
anything = st.deferred(lambda: values)


def members(**known: SearchStrategy[Any]) -> SearchStrategy[dict[str, Any]]:
    """Build an object with some of its members, and with an unknown member."""
    optional = {
        **known,
        "metadata": st.deferred(lambda: st.dictionaries(texts, values, max_size=3)),
        "vendor": anything,
    }
    return st.fixed_dictionaries({}, optional=optional)


parts = st.lists(members(text=texts, filename=texts, data=anything), max_size=2)
messages = members(messageId=texts, role=texts, parts=parts, extensions=st.lists(texts, max_size=2))
statuses = members(state=texts, timestamp=texts, message=messages)
artifacts = members(artifactId=texts, name=texts, parts=parts)
artifact_updates = members(taskId=texts, artifact=artifacts, append=st.booleans(), lastChunk=st.booleans())
wrapped = {
    "artifactUpdate": artifact_updates,
    "statusUpdate": members(taskId=texts, status=statuses),
    "task": members(id=texts, status=statuses, artifacts=st.lists(artifacts, max_size=2)),
    "message": messages,
}


def read(value: Any) -> Event:
    event = decode_event(value)
    assert not isinstance(event, Unreadable)
    return event


def appended(update: dict[str, Any], part: dict[str, Any], others: list[str]) -> TextAppended:
    artifact = update.get("artifact", {}) | {"parts": [part | {"text": "first"}]}
    like = read({"artifactUpdate": update | {"artifact": artifact, "append": True}})
    assert isinstance(like, TaskArtifactUpdateEvent)
    return TextAppended(like, tuple(others))


events = st.one_of([strategy.map(lambda value, name=name: read({name: value})) for name, strategy in wrapped.items()])
runs = st.builds(appended, artifact_updates, members(mediaType=texts), st.lists(texts, min_size=1, max_size=4))


def one_by_one(stream: list[Event | TextAppended]) -> str:
    """Write each event on its own, with the encoder of all other JSON documents."""
    lines = []
    for event in stream:
        updates = event.updates() if isinstance(event, TextAppended) else [event]
        lines += [f"{dump(encode_event(update))}\n" for update in updates]
    return "".join(lines)


@given(st.lists(events | runs, min_size=1, max_size=4))
@example([TaskArtifactUpdateEvent(metadata={"numbers": [1e-7, 0.00001, math.inf, -math.inf, 1e16, -0.0, 10**30]})])
@example([TaskArtifactUpdateEvent(metadata={"half of a pair": "\ud800"})])
@example([TaskArtifactUpdateEvent(artifact=Artifact(name="e-1, Infinity NaN 0.0000"))])
def test_lines_are_the_same_as_those_of_single_events(stream: list[Event | TextAppended]):
    lines = event_lines(stream)
    assert lines == one_by_one(stream)
    for line in lines.split("\n")[:-1]:
        assert line.isprintable()
        json.loads(line, parse_constant=pytest.fail)


@given(numbers)
def test_a_number_is_spelled_as_in_other_documents(number: float):
    update = TaskArtifactUpdateEvent(metadata={"number": number, "numbers": [number, number]})
    assert event_lines([update]) == one_by_one([update])


@pytest.mark.parametrize("levels", [100, 190])
def test_nested_values_are_written(levels: int):
    nested = parse(b"[" * levels + b"]" * levels)
    event = TaskArtifactUpdateEvent(metadata={"nested": nested})
    assert event_lines([event]) == one_by_one([event])
    assert json.loads(event_lines([event]))["artifactUpdate"]["metadata"]["nested"] == nested


def test_no_events_are_no_lines():
    assert event_lines([]) == ""
