"""When clients leave a stream that stays open although no more events are expected, with a real server."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Any

import pytest
from scripted import Agent, OpenSession, artifact, message, status, streaming, task

from inspector.protocol.model import Message, Part, SendRequest
from inspector.protocol.operations import Operation
from inspector.session.session import Session
from inspector.session.stream_deadline import INTERRUPTED_GRACE, TERMINAL_GRACE, StreamDeadline

WORKING, ASKING, DONE = ({"task": task(state)} for state in ("WORKING", "INPUT_REQUIRED", "COMPLETED"))


def error() -> bytes:
    """Return an event with an error of JSON-RPC."""
    value = {"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": "broken"}}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


async def read(session: Session, task_id: str | None) -> StreamDeadline:
    """Send a message, and show each event of the stream to a `StreamDeadline`."""
    sent = Message(message_id="m", role="ROLE_USER", task_id=task_id, parts=[Part(text="hi")])
    call = session.call(Operation.STREAM, SendRequest(message=sent), task_id=task_id or "")
    deadline, ends = StreamDeadline(call), []
    async with aclosing(aiter(call)) as answers:
        async for together in answers:
            ends += [deadline.take([answer]) for answer in together]
    assert deadline.leaves_at == ends[-1]
    assert len({moment for moment in ends if moment is not None}) <= 1, "an event has postponed the end"
    return deadline


@pytest.mark.parametrize(
    ("events", "grace"),
    [
        ([WORKING], None),
        ([WORKING, status("COMPLETED")], TERMINAL_GRACE),
        ([DONE, artifact("late"), status("COMPLETED"), artifact("later")], TERMINAL_GRACE),
        ([WORKING, status("COMPLETED", id="another")], None),
        ([ASKING], INTERRUPTED_GRACE),
        ([WORKING, status("AUTH_REQUIRED"), artifact("more")], INTERRUPTED_GRACE),
        ([WORKING, status("INPUT_REQUIRED"), status("WORKING")], None),
        ([{"message": message("hello")}], TERMINAL_GRACE),
        ([WORKING, error()], TERMINAL_GRACE),
        ([WORKING, error(), status("WORKING")], None),
    ],
)
async def test_the_end_of_a_stream_is_expected(agent: Agent, open_session: OpenSession, events: Any, grace: Any):
    agent.serve_card()
    agent.answer(streaming(*events))
    deadline = await read(await open_session(agent.url), None)
    assert deadline.leaves_at == (None if grace is None else deadline.since + grace)


@pytest.mark.parametrize(
    ("events", "grace"),
    [
        ([ASKING], None),
        ([ASKING, artifact("part"), ASKING], None),
        ([ASKING, status("INPUT_REQUIRED")], INTERRUPTED_GRACE),
        ([ASKING, status("WORKING"), ASKING], INTERRUPTED_GRACE),
        ([ASKING, status("COMPLETED")], TERMINAL_GRACE),
        ([DONE], TERMINAL_GRACE),
    ],
)
async def test_the_old_state_of_a_continued_task_is_not_an_end(
    agent: Agent, open_session: OpenSession, events: Any, grace: Any
):
    agent.serve_card()
    agent.answer(streaming(*events))
    deadline = await read(await open_session(agent.url), "t")
    assert deadline.leaves_at == (None if grace is None else deadline.since + grace)
