"""Time travel: a task at any moment equals the task of the session at that time."""

from __future__ import annotations

import asyncio
import copy
import time
from typing import Any

import pytest
from inspector.sample_agents.server import MockAgent
from scripted import (
    Agent,
    OpenSession,
    artifact,
    drive,
    eventually,
    frame,
    message,
    say,
    scripted,
    status,
    streaming,
    task,
)

from inspector.capture.records import Kind
from inspector.protocol.assemble import AssembledTask
from inspector.protocol.lifecycle import is_terminal
from inspector.session.replay.moments import EVERY, Moments
from inspector.session.session import Session
from inspector.session.tasks import TrackedTask


def read(session: Session, task_id: str) -> Moments:
    moments = Moments(session.journal, task_id)
    while moments.read():
        pass
    return moments


def values_of(account: AssembledTask) -> dict[str, Any]:
    """Return an account as comparable values."""
    return {
        "state": account.status,
        "moves": list(account.moves),
        "messages": list(account.messages),
        "history": list(account.history),
        "context": account.context_id,
        "counts": (account.events, account.updated),
        "artifacts": {
            artifact.artifact_id: (
                artifact.name,
                str(artifact.text),
                copy.deepcopy(artifact.parts),
                artifact.revision,
                artifact.chunks,
                artifact.size,
                artifact.closed,
            )
            for artifact in account.artifacts.values()
        },
    }


def both(tracked: TrackedTask | None) -> tuple[dict[str, Any], dict[str, Any]]:
    assert tracked is not None
    return values_of(tracked.answered), values_of(tracked.pushed)


@pytest.mark.parametrize("text", ["report 30", "mixed", "many", "ask", "file", "unicode", "firehose 700"])
async def test_the_last_moment_equals_the_task_of_the_session(mock: MockAgent, open_session: OpenSession, text: str):
    session = await open_session(mock.url)
    call = await say(session, text)
    moments = read(session, call.exchange.task_id)
    assert moments.complete
    assert both(moments.at(-1)) == both(session.tasks.get(call.exchange.task_id))


@pytest.mark.parametrize("transport", ["HTTP+JSON", "GRPC"])
async def test_other_transports_and_versions_are_reconstructed(
    mock: MockAgent, open_session: OpenSession, transport: str, version: str
):
    session = await open_session(mock.url, transports=(transport,), version=version)
    call = await say(session, "report 30")
    assert call.exchange.context.binding.name == transport
    moments = read(session, call.exchange.task_id)
    assert len(moments) > 30
    assert both(moments.at(-1)) == both(session.tasks.get(call.exchange.task_id))


async def test_every_moment_equals_the_task_at_that_time(agent: Agent, open_session: OpenSession):
    chunks = [artifact(f"{number},", append=number > 0) for number in range(2 * EVERY + 40)]
    replaced = [artifact("new", name="b"), artifact("er", name="b", append=True), artifact("again", name="b")]
    ends = [status("INPUT_REQUIRED", "which?"), message("by the way", taskId="t"), status("COMPLETED", "done")]
    agent.answer(streaming({"task": task("SUBMITTED")}, status("WORKING"), *chunks, *replaced, b"data: {\n\n", *ends))
    session = await open_session(agent.url)
    await say(session)
    moments = read(session, "t")
    frames = session.journal.capture.select(kinds=(Kind.FRAME,))
    readable = [record.seq for record in frames if record.event != "unreadable"]
    assert [moments.seq(index) for index in range(len(moments))] == readable
    for index in (0, 1, 2, 3, EVERY - 1, EVERY, EVERY + 1, 2 * EVERY, len(moments) - 1):
        assert moments.at(index).answered.events == index + 1
    assert str(moments.at(EVERY).now.artifacts["a"].text) == "".join(f"{number}," for number in range(EVERY - 1))
    assert "b" not in moments.at(len(chunks) + 1).now.artifacts
    texts = [str(moments.at(len(chunks) + 2 + step).now.artifacts["b"].text) for step in range(3)]
    assert texts == ["new", "newer", "again"]
    assert both(moments.at(-1)) == both(session.tasks.get("t"))


async def test_reading_a_moment_changes_no_other(agent: Agent, open_session: OpenSession):
    chunks = [artifact("x", append=number > 0) for number in range(EVERY + 10)]
    agent.answer(streaming({"task": task("WORKING")}, *chunks))
    session = await open_session(agent.url)
    await say(session)
    moments = read(session, "t")
    before = both(moments.at(EVERY + 2))
    for index in (EVERY + 8, 3, EVERY + 5, EVERY):
        moments.at(index)
    assert both(moments.at(EVERY + 2)) == before


async def test_moments_continue_while_the_task_does(agent: Agent, open_session: OpenSession):
    going = asyncio.Event()
    agent.answer(streaming({"task": task("WORKING")}, artifact("one"), then=going.wait))
    session = await open_session(agent.url)
    driving = asyncio.create_task(say(session))
    await eventually(lambda: "t" in session.tasks and session.tasks.get("t").now.artifacts)
    moments = read(session, "t")
    assert len(moments) == 2
    going.set()
    await driving
    agent.answer(streaming({"task": task("WORKING")}, status("COMPLETED")))
    await drive(session.subscribe("t"))
    assert not moments.complete
    while moments.read():
        pass
    assert len(moments) == 4
    assert both(moments.at(-1)) == both(session.tasks.get("t"))
    assert not is_terminal(moments.at(1).now.state)


async def test_pushes_lists_and_responses_are_moments(mock: MockAgent, open_session: OpenSession):
    session = await open_session(mock.url)
    await session.push.turn_on()
    call = await say(session, "push")
    task_id = call.exchange.task_id
    # One push for each event of the stream: the last state may come before a push of something earlier.
    await eventually(lambda: session.tasks.get(task_id).pushed.events == session.tasks.get(task_id).answered.events)
    await drive(session.get(task_id))
    await drive(session.list_tasks())
    moments = read(session, task_id)
    kinds = {session.journal.capture.get(moments.seq(index)).kind for index in range(len(moments))}
    assert kinds == {Kind.FRAME, Kind.BODY, Kind.DELIVERY}
    assert both(moments.at(-1)) == both(session.tasks.get(task_id))
    pushed = next(i for i in range(len(moments)) if session.journal.capture.get(moments.seq(i)).kind is Kind.DELIVERY)
    assert (moments.at(pushed).pushed.events, moments.at(pushed - 1).pushed.events) == (1, 0)


async def test_concurrent_streams_are_not_mixed(open_session: OpenSession):
    async with scripted() as agent:
        agent.answer(streaming({"task": task("WORKING")}, artifact("one"), artifact("two", append=True)))
        session = await open_session(agent.url)
        await asyncio.gather(*(say(session) for _ in range(4)))
        assert both(read(session, "t").at(-1)) == both(session.tasks.get("t"))


async def test_the_moment_of_a_record_is_the_last_one_before_it(agent: Agent, open_session: OpenSession):
    agent.answer(streaming({"task": task("WORKING")}, b": still there\n\n", status("COMPLETED")))
    session = await open_session(agent.url)
    await say(session)
    moments = read(session, "t")
    [keepalive] = [record.seq for record in session.journal.capture.select(kinds=(Kind.KEEPALIVE,))]
    assert moments.index_of(keepalive) == 0
    assert (moments.index_of(0), moments.index_of(10**9)) == (0, 1)
    nobody = read(session, "nobody")
    assert (len(nobody), nobody.index_of(3)) == (0, -1)
    with pytest.raises(IndexError):
        nobody.at(0)


async def test_the_cost_of_a_step_does_not_depend_on_the_length_of_the_stream(agent: Agent, open_session: OpenSession):
    """A step folds at most `EVERY` records again; a fold from the first event would need thirty times as long."""
    chunks = b"".join(frame(artifact(f"{number} ", append=number > 0), "1") for number in range(30 * EVERY))
    agent.answer(streaming({"task": task("WORKING")}, chunks))
    session = await open_session(agent.url)
    await say(session)
    moments = read(session, "t")

    def cost(index: int) -> float:
        took = []
        for _ in range(5):
            started = time.perf_counter()
            moments.at(index)
            took.append(time.perf_counter() - started)
        return min(took)

    assert cost(EVERY - 1) * 8 > cost(len(moments) - 2)
