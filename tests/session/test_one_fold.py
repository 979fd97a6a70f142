"""A task is the same in a live session, in its opened capture, and at its last moment of time travel."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from properties import examples

from inspector.protocol.assemble import AssembledTask
from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.dialects.registry import for_interface
from inspector.protocol.model import Json
from inspector.protocol.operations import Operation
from inspector.protocol.sse import Frame
from inspector.session.exchange import CallContext, Exchange
from inspector.session.replay.moments import Moments
from inspector.session.replay.recording import Recording
from inspector.session.session import Session
from inspector.session.tasks import TrackedTask
from inspector.wire.client.observations import Body, Ended, Ending, Frames, Head, Sent
from inspector.wire.receiver.checks import Check
from inspector.wire.receiver.delivery import Delivery

TASKS = st.sampled_from(["t", "t", "t", "u"])
STATES = st.sampled_from(["SUBMITTED", "WORKING", "INPUT_REQUIRED", "COMPLETED", "FAILED", "odd"])
TEXTS = st.text('ab é\n"\\', min_size=0, max_size=4)
STREAMS = st.integers(0, 2)
CHECKS = (Check("content-type", True, ""), Check("authorization", None, ""))


@st.composite
def chunks(draw: st.DrawFn) -> list[Json]:
    """Updates of one artifact, which differ mostly in their text."""
    artifact = {"artifactId": draw(st.sampled_from(["a", "b"]))} | draw(st.sampled_from([{}, {"name": "r.md"}]))
    common: dict[str, Any] = {"taskId": draw(TASKS)} | draw(
        st.sampled_from([{}, {"contextId": "c"}, {"lastChunk": True}])
    )
    append = draw(st.booleans())
    return [
        {"artifactUpdate": {**common, "artifact": {**artifact, "parts": [{"text": text}]}, "append": append}}
        for text in draw(st.lists(TEXTS, min_size=1, max_size=12))
    ]


@st.composite
def others(draw: st.DrawFn) -> list[Json]:
    """One event of another type, readable or not."""
    task, state = draw(TASKS), {"state": f"TASK_STATE_{draw(STATES)}"}
    message = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": draw(TEXTS)}]}
    artifacts = [{"artifactId": "a", "parts": [{"text": draw(TEXTS)}]}]
    return [
        draw(
            st.sampled_from(
                [
                    {"statusUpdate": {"taskId": task, "contextId": "c", "status": {**state, "message": message}}},
                    {"task": {"id": task, "contextId": "c", "status": state, "artifacts": artifacts}},
                    {"message": {**message, "taskId": task}},
                    {"message": message},
                    {"statusUpdate": 5},
                ]
            )
        )
    ]


@dataclass(frozen=True)
class Step:
    """The next step: events of a stream, its end, a response, a list of tasks, or push notifications."""

    what: str
    stream: int
    events: list[Json]
    status: int
    at: float
    together: bool


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(["frames", "frames", "frames", "end", "answer", "list", "push", "push"]),
        STREAMS,
        st.one_of(chunks(), chunks(), others()),
        st.sampled_from([200, 200, 200, 500]),
        st.floats(1.0, 9.0),
        st.booleans(),
    ),
    max_size=25,
)


class Traffic:
    """A session that gets observations and deliveries like those from the wire."""

    def __init__(self, session: Session, binding: str) -> None:
        self.session = session
        self.binding = binding
        self._streams: dict[int, Exchange] = {}

    def step(self, step: Step) -> None:
        match step.what:
            case "frames":
                self._frames(self._stream(step.stream), step)
            case "end" if step.stream in self._streams:
                self._streams.pop(step.stream).take(Ended(step.at, Ending.COMPLETE, 1.0, 1, 1))
            case "answer" | "list":
                self._answer(step)
            case "push":
                for event in step.events:
                    self.session.push.take(self._delivery(event, step.at))
            case _:
                pass

    def _opened(self, operation: Operation, status: int, *, streamed: bool) -> Exchange:
        dialect = for_interface("1.0", self.binding)
        assert dialect is not None
        call = CallContext(operation, dialect, BINDINGS[self.binding], "1")
        exchange = Exchange(self.session.journal, operation.value, call, self.session.tasks)
        exchange.take(Sent(1.0, "POST", "http://x/", (), b"{}"))
        kind = "text/event-stream" if streamed else "application/json"
        exchange.take(Head(1.0, status, "OK", "HTTP/1.1", (("Content-Type", kind),), streamed))
        return exchange

    def _stream(self, number: int) -> Exchange:
        if number not in self._streams:
            self._streams[number] = self._opened(Operation.STREAM, 200, streamed=True)
        return self._streams[number]

    def _enveloped(self, value: Json) -> bytes:
        wrapped = {"jsonrpc": "2.0", "id": "1", "result": value} if self.binding == "JSONRPC" else value
        return json.dumps(wrapped).encode()

    def _frames(self, exchange: Exchange, step: Step) -> None:
        datas = [self._enveloped(event) for event in step.events]
        frames = [Frame(b"data: " + data + b"\n\n", data) for data in datas]
        for batch in [frames] if step.together else [[frame] for frame in frames]:
            exchange.take(Frames(step.at, batch))

    def _answer(self, step: Step) -> None:
        operation, [event, *_] = Operation.STREAM, step.events
        if step.what == "list":
            operation = Operation.LIST
            event = {"tasks": [{"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}, {"id": "u"}]}
        exchange = self._opened(operation, step.status, streamed=False)
        exchange.take(Body(step.at, self._enveloped(event)))
        exchange.take(Ended(step.at, Ending.COMPLETE, 1.0, 1, 1))

    def _delivery(self, event: Json, at: float) -> Delivery:
        body = json.dumps(event).encode()
        return Delivery(
            at=at,
            registration=None,
            peer="127.0.0.1",
            method="POST",
            target="/",
            headers=(),
            body=body,
            value=event,
            checks=CHECKS,
            refused="",
            status=204,
            seconds=0.0,
            accepted=True,
        )


def state_of(tracked: TrackedTask | None) -> Any:
    """Return the state of a task as comparable values."""
    assert tracked is not None
    return (tracked.id, *map(account_of, (tracked.answered, tracked.pushed)))


def account_of(account: AssembledTask) -> dict[str, Any]:
    return {
        "context": account.context_id,
        "status": account.status,
        "moves": list(account.moves),
        "messages": list(account.messages),
        "history": list(account.history),
        "counts": (account.events, account.updated),
        "artifacts": {
            artifact.artifact_id: (
                artifact.name,
                str(artifact.text),
                list(artifact.cuts),
                list(artifact.parts),
                artifact.chunks,
                artifact.size,
                artifact.closed,
            )
            for artifact in account.artifacts.values()
        },
    }


def last_moment(session: Session, task_id: str) -> Any:
    moments = Moments(session.journal, task_id)
    while moments.read():
        pass
    return state_of(moments.at(-1))


@given(steps=STEPS, binding=st.sampled_from(["JSONRPC", "HTTP+JSON"]))
@settings(max_examples=examples(150))
def test_live_session_opened_capture_and_time_travel_agree(steps: list[Step], binding: str):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "capture.a2a"
        session = Session(path)
        traffic = Traffic(session, binding)
        for step in steps:
            traffic.step(step)
        live = {task.id: (task.number, task.stream, state_of(task)) for task in session.tasks.all()}
        for task_id, (_, _, state) in live.items():
            assert last_moment(session, task_id) == state
        session.journal.capture.close()
        recording = Recording(path)
        for _ in recording.read():
            pass
        assert {task.id: (task.number, task.stream, state_of(task)) for task in recording.tasks.all()} == live
        recording.journal.capture.close()
