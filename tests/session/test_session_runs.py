"""Runs of chunks: cheap to read, with the same results as reading every event in full."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples

from inspector.capture.redaction import Redactor
from inspector.capture.store import Capture
from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import DIALECTS
from inspector.protocol.extensions.known import TIMESTAMP
from inspector.protocol.model import Event, Json, TaskArtifactUpdateEvent, Unreadable
from inspector.protocol.operations import Operation
from inspector.protocol.sse import Frame
from inspector.session.exchange import CallContext, Exchange
from inspector.session.journal import Journal
from inspector.session.tasks import TaskFold
from inspector.wire.client.observations import Ended, Ending, Frames, Head, Sent

Way = tuple[str, str]
"""A protocol version and a binding."""

WAYS: Sequence[Way] = (("1.0", "JSONRPC"), ("1.0", "HTTP+JSON"), ("0.3", "JSONRPC"))
_WITH_KIND = ("0.3", "0.2")
"""The versions in which an object names its type in `kind`."""
SUBSCRIBED = "other stream"
LEARNED = "secret"


class Stream:
    """A call with several streams, with its own capture."""

    def __init__(self, capture: Capture, way: Way, *, in_full: bool, in_steps: bool = False) -> None:
        self.journal = Journal(capture, Redactor())
        self.tasks = TaskFold(self.journal.exchanges)
        self.in_full = in_full
        self.decoded = self.parsed = 0
        dialect, binding = DIALECTS[way[0]], BINDINGS[way[1]]
        decode = dialect.decode_event

        def counting(value: Json) -> Event | Unreadable:
            self.decoded += 1
            return decode(value)

        def counting_bytes(dialect: Dialect, raw: bytes) -> Event | None:
            event = None if in_steps else binding.read_event(dialect, raw)
            self.decoded += event is not None
            return event

        def counting_parses(dialect: Dialect, operation: Operation, raw: bytes) -> Json | Unreadable:
            self.parsed += 1
            return binding.read(dialect, operation, raw)

        dialect = replace(dialect, decode_event=counting)
        wire = replace(binding, read=counting_parses, read_event=counting_bytes)
        call = CallContext(Operation.STREAM, dialect, wire, "the-id", "")
        self.exchanges = [self.begun(call), self.begun(replace(call, operation=Operation.SUBSCRIBE))]

    def begun(self, call: CallContext) -> Exchange:
        exchange = Exchange(self.journal, call.operation.value, call, self.tasks)
        exchange.take(Sent(1.0, "POST", "http://x/", (), b""))
        exchange.take(Head(1.0, 200, "OK", "HTTP/1.1", (("Content-Type", "text/event-stream"),), True))
        return exchange

    def take(self, *frames: Frame, number: int = 0) -> None:
        """Add frames that arrived together."""
        # A frame with a comment does not continue a run.
        taken = [
            record._replace(comments=("x",)) if self.in_full and record.data is not None else record
            for record in frames
        ]
        self.exchanges[number].take(Frames(2.0, taken))

    def end(self) -> None:
        for exchange in self.exchanges:
            exchange.take(Ended(3.0, Ending.COMPLETE, 1.0, 1, 1))

    def results(self) -> list[Any]:
        """Return the records, the findings, the summaries and the tasks."""
        said = [exchange.answer for exchange in self.exchanges]
        summaries = [self.journal.exchanges.get(exchange.number) for exchange in self.exchanges]
        orders = [exchange._judge._state.order for exchange in self.exchanges]
        accounts = [tracked.answered for tracked in self.tasks.all()]
        results: list[Any] = [self.journal.capture.slice(1, 10_000), self.journal.found, said, summaries, orders]
        for account in accounts:
            artifacts = [
                (*astuple(replace(artifact, text=str(artifact.text))),) for artifact in account.artifacts.values()
            ]  # type: ignore[arg-type]
            results += [artifacts, astuple(replace(account, artifacts={}))]
        return results


@contextmanager
def stream(way: Way, *, in_full: bool, in_steps: bool = False) -> Iterator[Stream]:
    with (
        tempfile.TemporaryDirectory() as folder,
        Capture.create(Path(folder) / "capture") as capture,
    ):
        yield Stream(capture, way, in_full=in_full, in_steps=in_steps)


def wrapped(way: Way, name: str, event: dict[str, Json]) -> Json:
    """Return an event in the format of a version, in the envelope of the binding."""
    kinds = {"artifactUpdate": "artifact-update", "statusUpdate": "status-update"}
    value: Json = {"kind": kinds[name], **event} if way[0] in _WITH_KIND else {name: event}
    return {"jsonrpc": "2.0", "id": "the-id", "result": value} if way[1] == "JSONRPC" else value


def chunk(way: Way, text: Json, **members: Json) -> Json:
    part = {"kind": "text", "text": text} if way[0] in _WITH_KIND else {"text": text}
    part |= members.pop("part", {})
    artifact = {"artifactId": members.pop("id", "a"), "parts": [part, *members.pop("more", [])]}
    artifact |= members.pop("artifact", {})
    return wrapped(way, "artifactUpdate", {"taskId": "t", "contextId": "c", "artifact": artifact} | members)


def status(way: Way, state: str) -> Json:
    spelled = state.lower() if way[0] in _WITH_KIND else f"TASK_STATE_{state}"
    return wrapped(way, "statusUpdate", {"taskId": "t", "contextId": "c", "status": {"state": spelled}})


def framed(value: Json | bytes, end: bytes = b"\n", **members: str | None) -> Frame:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Frame(b"data: " + data + end * 2, data, **members)


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_the_chunks_of_a_run_are_not_read_in_full(way: Way, ascii_only: bool):
    with stream(way, in_full=False) as one:
        one.take(framed(chunk(way, "the beginning")))
        for number in range(50):
            value = chunk(way, f" ünd {number}", append=True)
            one.take(framed(json.dumps(value, ensure_ascii=ascii_only).encode()))
        [exchange, _] = one.exchanges
        assert one.decoded == 3
        [tracked] = one.tasks.all()
        assert str(tracked.answered.artifacts["a"].text).startswith("the beginning ünd 0 ünd 1 ünd 2")
        assert (tracked.answered.events, len(one.journal.capture)) == (51, 55)
        assert isinstance(exchange.answer, TaskArtifactUpdateEvent)
        assert exchange.answer.artifact.parts[0].text == " ünd 49"


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
@pytest.mark.parametrize(
    ("odd", "rule"),
    [({"mood": "cheerful"}, "DATA-014"), ({"artifact": {"name": 5}}, "DATA-002")],
    ids=["unknown", "mistyped"],
)
def test_chunks_with_equal_findings_are_a_run(way: Way, odd: dict[str, Any], rule: str):
    with stream(way, in_full=False) as one:
        one.take(framed(chunk(way, "begin", **odd)))
        for number in range(50):
            one.take(framed(chunk(way, f" {number}", append=True, **odd)))
        assert one.decoded == 3
        assert one.journal.found[rule] == list(range(5, 56))
        assert one.journal.capture.get(55).findings == one.journal.capture.get(6).findings
        one.take(framed(chunk(way, " plain", append=True)))
        assert one.journal.found[rule] == list(range(5, 56))
        [tracked] = one.tasks.all()
        assert str(tracked.answered.artifacts["a"].text).endswith(" 48 49 plain")


def test_the_ids_of_a_run_are_known_after_it():
    way = ("0.2", "JSONRPC")
    with stream(way, in_full=False) as one:
        one.take(framed(chunk(way, "begin")))
        for number in range(50):
            one.take(framed(chunk(way, f" {number}", append=True), id=str(number) if number == 40 else None))
        assert one.decoded == 3
        one.take(Frame(b": ping\n\n", None, comments=("ping",)))
        assert "STREAM-025" in one.journal.found


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
def test_the_event_after_a_run_is_judged_like_any_event(way: Way):
    with stream(way, in_full=False) as one:
        one.take(framed(chunk(way, "x")))
        for number in range(5):
            one.take(framed(chunk(way, f"{number}", append=True)))
        one.take(framed(chunk(way, "last", append=True, lastChunk=True)))
        one.take(framed(chunk(way, "late", append=True)))
        one.take(framed(status(way, "COMPLETED")))
        one.take(framed(chunk(way, "later", append=True)))
        found = {rule: [seq - 4 for seq in records] for rule, records in one.journal.found.items()}
        assert found["STREAM-005"][0] == 8
        assert found["STREAM-003"] == [10]


@pytest.mark.parametrize(
    ("text", "end", "rule"),
    [("one\u2028two", b"\n", "CLIENT-001"), ("three", b"\r", "CLIENT-002")],
    ids=["text", "end"],
)
@pytest.mark.parametrize("together", [False, True])
def test_a_run_hides_no_bytes_that_break_a_client(text: str, end: bytes, rule: str, together: bool):
    way = WAYS[0]

    def framed_text(text: str, end: bytes = b"\n", *, begins: bool = False) -> Frame:
        return framed(json.dumps(chunk(way, text, append=not begins), ensure_ascii=False).encode(), end)

    frames = [framed_text("x", begins=True), *(framed_text(f"ü {number}") for number in range(10))]
    frames.append(framed_text(text, end))
    frames += [framed_text(f"ü {number}") for number in range(10)]
    with stream(way, in_full=False) as one:
        for some in [frames] if together else [[frame] for frame in frames]:
            one.take(*some)
        assert one.journal.found[rule] == [4 + 12]
        assert one.decoded < 10


@pytest.mark.parametrize("way", WAYS[:2], ids=" ".join)
def test_the_json_of_valid_chunks_is_not_parsed(way: Way):
    with stream(way, in_full=False) as one:
        for number in range(60):
            ids = {"id": f"a{number % 3}", "metadata": {"number": number}}
            one.take(framed(chunk(way, f"text {number}", append=number > 5, **ids)))
        assert one.decoded == 60
        assert one.parsed < 20
        before = one.parsed
        one.take(framed(chunk(way, "text", append=True, metadata={f"{TIMESTAMP}/timestamp": "2026-01-31T12:00:00Z"})))
        assert one.parsed == before + 1
        assert one.journal.found["RESULT-018"] == [65]
        assert one.journal.capture.get(65).meta == {"extensions": ["Timestamps"]}


def test_a_text_that_occurs_twice_is_located_correctly():
    with stream(WAYS[0], in_full=False) as one:
        one.take(framed(chunk(WAYS[0], "x")))
        for text in ("c", "c", "t", "a", "the-id", "t", "2.0", "c"):
            one.take(framed(chunk(WAYS[0], text, append=True)))
        [tracked] = one.tasks.all()
        assert str(tracked.answered.artifacts["a"].text) == "xcctathe-idt2.0c"


def test_a_changed_member_in_the_position_of_the_text_is_noticed():
    with stream(WAYS[0], in_full=False) as one:
        one.take(framed(chunk(WAYS[0], "x")))
        for context in ("c", "c", "d"):
            one.take(framed(chunk(WAYS[0], "c", append=True, contextId=context)))
        assert one.journal.found == {"STREAM-011": [5], "STREAM-006": [8]}


def test_a_secret_added_during_a_run_is_masked_afterwards():
    with stream(WAYS[0], in_full=False) as one:
        for text in ("x", "one", "two", "three"):
            one.take(framed(chunk(WAYS[0], text, append=text != "x", artifact={"name": "s3cr3t"})))
        one.journal.redactor.add("s3cr3t")
        one.take(framed(chunk(WAYS[0], "four", append=True, artifact={"name": "s3cr3t"})))
        assert [record.label for record in one.journal.capture.slice(7, 9)] == ["s3cr3t", "s3cr3t", "****"]


@pytest.mark.parametrize("brackets", [199_000, 199_998, 700_000])
def test_limits_apply_to_a_large_chunk(brackets: int):
    with stream(WAYS[0], in_full=False) as one:
        for text in ("x", "one", "two", "three", "[" * brackets, "four"):
            one.take(framed(chunk(WAYS[0], text, append=text != "x")))
        unreadable = [record.seq - 4 for record in one.journal.capture.slice(1, 20) if record.event == "unreadable"]
        assert unreadable == ([] if brackets == 199_000 else [5])


TEXTS = st.text(max_size=6) | st.sampled_from(
    [",", ":", "a", "t", "c", "the-id", '","', "\\", "\u2028", "token", "s3cr3t"]
)
TEMPLATES: Sequence[dict[str, Json]] = (
    {"append": True},
    {"append": True},
    {"append": True},
    {"append": True, "artifact": {"name": "s3cr3t"}},
    {"append": True, "lastChunk": True},
    {"append": 1},
    {},
    {"append": True, "id": "b"},
    {"append": True, "more": [{"text": "more"}]},
    {"append": True, "part": {"metadata": {"text": "a"}}},
    {"append": True, "part": {"vendor": "a"}},
    {"append": True, "metadata": {"text": "a"}},
    {"append": True, "mood": "cheerful"},
    {"append": True, "artifact": {"name": 5}},
    {"append": True, "taskId": "u"},
    {"append": True, "contextId": "d"},
)
Step = tuple[str, Any]


@st.composite
def steps(draw: st.DrawFn, way: Way) -> list[Step]:
    """Make streams that are mostly runs: a template, some texts for it, and other events."""
    made: list[Step] = [("frame", framed(chunk(way, "begin")))]
    for _ in range(draw(st.integers(1, 4))):
        members = draw(st.sampled_from(TEMPLATES))
        spelling = draw(st.sampled_from([{}, {"ensure_ascii": False}, {"separators": (",", ":")}, {"indent": 1}]))
        for text in draw(st.lists(TEXTS, max_size=6)):
            data = json.dumps(chunk(way, text, **members), **spelling).encode("utf-8", "surrogatepass")
            name = draw(st.sampled_from(["", "", "", "", "message", "error"]))
            end = draw(st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"\r"]))
            made.append(("frame", framed(data, end, event=name)))
            made += draw(st.sampled_from([[], [], [], [(LEARNED, "s3cr3t")], [("frame", Frame(b": x\n\n", None))]]))
        between = st.sampled_from([status(way, "WORKING"), status(way, "COMPLETED"), status(way, "ODD")])
        odd = mutations(json.dumps(chunk(way, "x", **members)).encode())
        other = st.sampled_from([status(way, "COMPLETED"), chunk(way, "y", append=True)])
        made += draw(
            st.just([])
            | st.tuples(st.just("frame"), (between | odd).map(framed)).map(lambda step: [step])
            | st.tuples(st.just(SUBSCRIBED), other.map(framed)).map(lambda step: [step])
        )
    return made


@st.composite
def mutations(draw: st.DrawFn, data: bytes) -> bytes:
    """Replace a part of the bytes."""
    at = draw(st.integers(0, len(data)))
    cut = draw(st.integers(0, 3))
    return (
        data[:at]
        + draw(st.binary(max_size=3) | st.sampled_from([b'"', b'\\"', b",", b'","', b"\xff"]))
        + data[at + cut :]
    )


def results(
    way: Way, plan: Sequence[Step], *, in_full: bool, in_steps: bool = False, together: bool = False
) -> list[Any]:
    """Return the results of a plan.

    With `together`, consecutive frames of a stream arrive at once. With `in_steps`, the JSON of each event is parsed.
    """
    with stream(way, in_full=in_full, in_steps=in_steps) as one:
        for step, group in groupby(plan, key=itemgetter(0)):
            values = [value for _, value in group]
            if step == LEARNED:
                one.journal.redactor.add(values[0])
                continue
            for some in [values] if together else [[value] for value in values]:
                one.take(*some, number=int(step == SUBSCRIBED))
        one.end()
        return one.results()


@settings(max_examples=examples(60))
@given(st.sampled_from(WAYS).flatmap(lambda way: st.tuples(st.just(way), steps(way))))
def test_runs_never_change_records_findings_or_tasks(plan: tuple[Way, list[Step]]):
    in_full = results(*plan, in_full=True)
    assert results(*plan, in_full=True, in_steps=True) == in_full
    assert results(*plan, in_full=False) == in_full
    assert results(*plan, in_full=False, together=True) == in_full
