"""Any JSON of an agent is recorded, judged and folded without an error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from properties import examples

from inspector.capture.records import Kind
from inspector.capture.redaction import Redactor
from inspector.capture.store import Capture
from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.dialects.registry import DIALECTS
from inspector.protocol.operations import Operation
from inspector.protocol.sse import Decoder
from inspector.session.call import fault_of
from inspector.session.card_fetch import CardFetch
from inspector.session.exchange import CallContext, Exchange
from inspector.session.journal import Journal
from inspector.session.recorder import Recorder
from inspector.session.tasks import TaskFold
from inspector.wire.client.observations import Body, Ended, Ending, Frames, Head, Sent

NAMES = st.sampled_from(
    [
        "jsonrpc",
        "id",
        "result",
        "error",
        "code",
        "message",
        "data",
        "kind",
        "task",
        "statusUpdate",
        "artifactUpdate",
        "taskId",
        "contextId",
        "status",
        "state",
        "parts",
        "text",
        "raw",
        "artifact",
        "artifactId",
        "artifacts",
        "append",
        "lastChunk",
        "history",
        "metadata",
        "name",
        "role",
        "messageId",
        "final",
        "url",
        "supportedInterfaces",
        "skills",
        "protocolBinding",
        "protocolVersion",
        "additionalInterfaces",
        "capabilities",
        "securitySchemes",
    ]
)
WORDS = st.sampled_from(
    [
        *[
            "2.0",
            "1.0",
            "0.3.0",
            "the-id",
            "t",
            "u",
            "task",
            "message",
            "status-update",
            "artifact-update",
            "JSONRPC",
            "ROLE_AGENT",
            "http://[",
        ],
        *["TASK_STATE_WORKING", "TASK_STATE_COMPLETED", "working", "completed", "pondering", "http://x/"],
        *("", "\x1b]0;x\x07", "\u202e", "x" * 5000),
    ]
)
SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=8) | WORDS
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=15,
)
BYTES = st.binary(max_size=30) | ANYTHING.map(lambda value: json.dumps(value).encode())


def events() -> st.SearchStrategy[Any]:
    """Make events that are nearly valid."""
    parts = st.lists(
        st.fixed_dictionaries({}, optional={"text": SCALARS, "raw": SCALARS, "data": ANYTHING}), max_size=2
    )
    message = st.fixed_dictionaries({}, optional={"messageId": SCALARS, "parts": parts, "taskId": WORDS})
    state = st.fixed_dictionaries({"state": WORDS}, optional={"message": message})
    artifact = st.fixed_dictionaries({"artifactId": WORDS}, optional={"parts": parts, "name": SCALARS})
    task = st.fixed_dictionaries({"id": WORDS, "status": state}, optional={"artifacts": st.lists(artifact, max_size=2)})
    about = {"taskId": WORDS, "contextId": WORDS}
    update = st.fixed_dictionaries({**about, "status": state})
    chunk = st.fixed_dictionaries({**about, "artifact": artifact}, optional={"append": SCALARS, "lastChunk": SCALARS})
    return (
        st.fixed_dictionaries({"task": task})
        | st.fixed_dictionaries({"message": message})
        | st.fixed_dictionaries({"statusUpdate": update})
        | st.fixed_dictionaries({"artifactUpdate": chunk})
        | st.tuples(st.sampled_from(["task", "message"]), task | message).map(lambda pair: {"kind": pair[0], **pair[1]})
    )


ENVELOPES = st.fixed_dictionaries(
    {"jsonrpc": WORDS, "id": SCALARS, "result": events() | ANYTHING}, optional={"error": ANYTHING}
).map(lambda value: json.dumps(value).encode())


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journal]:
    with Capture.create(Path(tmp_path_factory.mktemp("captures"), "capture")) as capture:
        yield Journal(capture, Redactor(["the-id"]))


def head(status: int, content_type: str) -> Head:
    return Head(1.0, status, "OK", "HTTP/1.1", (("Content-Type", content_type),), "event" in content_type)


def begun(exchange: Recorder, status: int, content_type: str) -> Recorder:
    exchange.take(Sent(1.0, "POST", "http://x/", (), b""))
    exchange.take(head(status, content_type))
    return exchange


def call(journal: Journal, version: str, binding: str, operation: Operation, tasks: TaskFold) -> Exchange:
    made = CallContext(operation, DIALECTS[version], BINDINGS[binding], "the-id", "t")
    return Exchange(journal, operation.value, made, tasks)


WAYS = st.tuples(st.sampled_from(["1.0", "0.3"]), st.sampled_from(["JSONRPC", "HTTP+JSON"]))
lenient = settings(max_examples=examples(120), suppress_health_check=[HealthCheck.function_scoped_fixture])


@lenient
@given(
    WAYS, st.sampled_from([Operation.SEND, Operation.GET, Operation.STREAM]), st.integers(200, 599), BYTES | ENVELOPES
)
def test_any_response_is_recorded(
    journal: Journal, way: tuple[str, str], operation: Operation, status: int, raw: bytes
):
    exchange = call(journal, *way, operation, TaskFold(journal.exchanges))
    begun(exchange, status, "application/json")
    [body] = exchange.take(Body(2.0, raw))
    [end] = exchange.take(Ended(3.0, Ending.COMPLETE, 1.0, 0, len(raw)))
    fault = fault_of(exchange)
    assert (body.kind, body.size, end.kind) == (Kind.BODY, len(raw), Kind.END)
    assert len(body.label) <= 200
    assert all(len(finding.seen) <= 200 for finding in body.findings)
    assert fault is None or (fault.seen and fault.hint)


@lenient
@given(WAYS, st.lists(BYTES | ENVELOPES, max_size=8), st.booleans())
def test_any_stream_is_recorded(journal: Journal, way: tuple[str, str], datas: list[bytes], whole: bool):
    tasks = TaskFold(journal.exchanges)
    exchange = call(journal, *way, Operation.STREAM, tasks)
    begun(exchange, 200, "text/event-stream")
    stream = b"".join(b"data: " + data.replace(b"\n", b" ").replace(b"\r", b" ") + b"\n\n" for data in datas)
    decoder = Decoder()
    frames = decoder.feed(stream)
    made = exchange.take(Frames(2.0, frames))
    how = Ending.COMPLETE if whole else Ending.BROKEN
    exchange.take(Ended(3.0, how, 1.0, len(frames), len(stream), decoder.rest))
    assert [record.kind for record in made] == [Kind.FRAME] * len(datas)
    for tracked in tasks.all():
        assert isinstance(tracked.now.state, str)
        assert all(str(artifact.text) is not None for artifact in tracked.now.artifacts.values())
    fault_of(exchange)


@lenient
@given(BYTES, st.integers(200, 599), WORDS)
def test_any_card_is_recorded(journal: Journal, raw: bytes, status: int, content_type: str):
    fetch = CardFetch(journal, "GetAgentCard", "http://x/card.json")
    begun(fetch, status, content_type or "application/json")
    [body] = fetch.take(Body(2.0, raw))
    assert (body.kind, body.size) == (Kind.BODY, len(raw))


@pytest.mark.parametrize(
    "data",
    [b"[" * 200_000, b'{"a":' * 100_000, b'"\\ud800"', b'{"id": NaN}', b"1" * 5000, b'{"id": 1e400}', b"\x00", b"\xff"],
    ids=["arrays", "objects", "surrogate", "NaN", "digits", "beyond a double", "NUL", "no UTF-8"],
)
@pytest.mark.parametrize("operation", [Operation.SEND, Operation.STREAM])
def test_json_that_breaks_parsers_is_recorded(journal: Journal, data: bytes, operation: Operation):
    exchange = call(journal, "1.0", "JSONRPC", operation, TaskFold(journal.exchanges))
    begun(exchange, 200, "application/json")
    [body] = exchange.take(Body(2.0, data))
    assert body.raw == data
    assert body.event == "unreadable"
    assert body.findings


def test_the_last_of_duplicate_members_is_read_and_all_are_recorded(journal: Journal):
    exchange = call(journal, "1.0", "JSONRPC", Operation.SEND, TaskFold(journal.exchanges))
    begun(exchange, 200, "application/json")
    said = b'{"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "x"}]}}'
    raw = b'{"jsonrpc": "2.0", "id": "x", "id": "the-id", "result": ' + said + b"}"
    [body] = exchange.take(Body(2.0, raw))
    assert (body.event, body.size) == ("message", len(raw))
    assert [(finding.rule, finding.pointer) for finding in body.findings] == [("DATA-023", "/id")]
