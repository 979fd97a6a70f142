"""Polling: repeated GetTask, several tasks at once, until the task ends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiohttp import web
from scripted import Agent, Heard, OpenSession, answering, giving, task

from inspector.capture.records import Kind, Record
from inspector.protocol.errors import FaultError
from inspector.session.polling import FASTEST, Polls
from inspector.session.session import Session
from inspector.session.task_filter import TaskFilter, read_filter


def gradually(states: dict[str, list[str]]):
    """Answer GetTask with the states of each task in order; the last state is repeated."""

    async def handle(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        wanted = heard.json["params"]["id"]
        left = states[wanted]
        state = left.pop(0) if len(left) > 1 else left[0]
        return await answering(task(state, id=wanted))(request, heard)

    return handle


async def connected(agent: Agent, open_session: OpenSession, handle: Any) -> Session:
    agent.answer(handle)
    return await open_session(agent.url)


async def test_a_task_is_polled_until_it_ends(agent: Agent, open_session: OpenSession):
    session = await connected(agent, open_session, gradually({"t": ["WORKING", "WORKING", "COMPLETED"]}))
    polls = Polls(session)
    assert await polls.run("t", FASTEST) == "the task ended as completed"
    assert len(agent.calls) == 3
    assert len(polls) == 0
    notes = [record.label for record in session.journal.capture.select(task="") if record.event == "poll"]
    assert notes == ["polling task t every 0.1 s", "polled task t 3 times: the task ended as completed"]


async def test_several_tasks_are_polled_each_with_its_own_interval(agent: Agent, open_session: OpenSession):
    states = {f"t{n}": ["WORKING"] * (n + 1) + ["COMPLETED"] for n in range(5)}
    session = await connected(agent, open_session, gradually(states))
    polls = Polls(session)
    under_way = asyncio.gather(*(polls.run(f"t{n}", FASTEST) for n in range(5)))
    await asyncio.sleep(FASTEST / 2)
    assert len(polls) == 5
    assert polls.get("t3") is not None
    assert set(await under_way) == {"the task ended as completed"}
    asked = [call.json["params"]["id"] for call in agent.calls]
    assert [asked.count(f"t{n}") for n in range(5)] == [2, 3, 4, 5, 6]
    assert all(session.tasks.get(f"t{n}").now.state.endswith("COMPLETED") for n in range(5))


async def test_polling_can_be_stopped_and_started_again(agent: Agent, open_session: OpenSession):
    session = await connected(agent, open_session, gradually({"t": ["WORKING"]}))
    polls = Polls(session)
    for _ in range(2):
        running = asyncio.ensure_future(polls.run("t", 60))
        while (poll := polls.get("t")) is None or not poll.times:
            await asyncio.sleep(0.01)
        assert await polls.run("t", 60) == "it is already being polled"
        polls.stop("t")
        assert await running == "it was stopped"
    polls.stop("t")
    assert len(agent.calls) == 2


async def test_polling_stops_for_an_unknown_task(agent: Agent, open_session: OpenSession):
    unknown = answering(error={"code": -32001, "message": "no such task"})
    session = await connected(agent, open_session, unknown)
    assert await Polls(session).run("t", FASTEST) == "the agent does not know the task"
    assert len(agent.calls) == 1


async def test_polling_stops_after_several_failures(agent: Agent, open_session: OpenSession):
    session = await connected(agent, open_session, giving(b"", status=503))
    why = await Polls(session).run("t", FASTEST)
    assert why.startswith("5 polls in a row failed, the last: ")
    assert len(agent.calls) == 5


async def test_interrupted_polling_is_recorded(agent: Agent, open_session: OpenSession):
    session = await connected(agent, open_session, gradually({"t": ["WORKING"]}))
    polls = Polls(session)
    running = asyncio.ensure_future(polls.run("t", 60))
    while not agent.calls:
        await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    last = [record.label for record in session.journal.capture.select() if record.event == "poll"][-1]
    assert last.endswith(": it was interrupted")


async def test_polling_without_an_agent_raises_a_fault(open_session: OpenSession):
    polls = Polls(await open_session())
    with pytest.raises(FaultError):
        await polls.run("t", 1)
    assert len(polls) == 0


# Filters


async def test_a_task_filter_keeps_the_matching_tasks(open_session: OpenSession):
    from inspector.protocol.model import Task

    session = await open_session()
    for number, state in enumerate(("WORKING", "COMPLETED", "WORKING")):
        stamp = f"2026-01-0{number + 1}T00:00:00Z"
        status = {"state": f"TASK_STATE_{state}", "timestamp": stamp}
        event = Task.model_validate({"id": f"t{number}", "contextId": f"c{number}-long", "status": status})
        session.tasks.take([Record(1, 1.0, Kind.BODY)], event)

    def left(*typed: str) -> list[str]:
        wanted = read_filter(*typed, now=1767400000.0)
        return sorted(task.id for task in session.tasks.all() if wanted.matches(task))

    assert left("", "", "") == ["t0", "t1", "t2"]
    assert left("c1", "", "") == ["t1"]
    assert left("", "working", "") == ["t0", "t2"]
    assert left("", "TASK_STATE_WORKING", "2026-01-02T00:00:00+00:00") == ["t2"]
    assert left("", "", "2 d") == ["t1", "t2"]


async def test_a_task_filter_becomes_a_request_to_the_agent(open_session: OpenSession):
    from inspector.protocol.model import Task

    session = await open_session()
    task = Task.model_validate({"id": "t", "contextId": "context-in-full"})
    session.tasks.take([Record(1, 1.0, Kind.BODY)], task)
    wanted = read_filter("context", "input-required", "2026-01-31T12:00:00+01:00", now=0.0)
    request = wanted.request(session.tasks.all(), page_token="next", page_size=5)
    assert request.to_json() == {
        "contextId": "context-in-full",
        "status": "TASK_STATE_INPUT_REQUIRED",
        "statusTimestampAfter": "2026-01-31T11:00:00.000Z",
        "pageToken": "next",
        "pageSize": 5,
    }
    assert TaskFilter().request([]).to_json() == {}


@pytest.mark.parametrize(
    ("state", "since"), [("dreaming", ""), ("", "yesterday"), ("", "2026-01-31"), ("", "5 weeks"), ("", "-1h")]
)
def test_an_invalid_task_filter_is_reported(state: str, since: str):
    with pytest.raises(ValueError, match=r"\.$"):
        read_filter("", state, since, now=0.0)
