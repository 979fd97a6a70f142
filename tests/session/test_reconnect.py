"""Lost streams: a stream that ended before its task, the next step, and the missed changes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import web
from scripted import Agent, Handle, Heard, OpenSession, answering, artifact, drive, say, status, streaming, task

from inspector.session.reconnect import DELAYS, LostStream, NextStep, has_news, lost_stream, missed_changes, next_step
from inspector.session.session import Session


def by_method(**handles: Handle) -> Handle:
    async def handle(request: Any, heard: Heard) -> Any:
        return await handles[heard.json["method"]](request, heard)

    return handle


def dropped(session: Session) -> LostStream:
    found = last_drop(session)
    assert found is not None
    return found


def last_drop(session: Session) -> LostStream | None:
    tracked = session.tasks.get("t")
    assert tracked is not None
    return lost_stream(tracked, session.journal.exchanges.stream_of("t"))


def refusal(error: Any) -> bytes:
    """Return the only event of a stream that refuses a call."""
    return f"data: {json.dumps({'jsonrpc': '2.0', 'id': None, 'error': error})}\n\n".encode()


BEGUN = [{"task": task("WORKING")}, artifact("one\n"), artifact("two\n", append=True)]


async def test_a_failed_connection_is_a_lost_stream(agent: Agent, open_session: OpenSession):
    agent.answer(streaming(*BEGUN, cut=True))
    session = await open_session(agent.url)
    await say(session)
    drop = dropped(session)
    assert (drop.broken, drop.events, drop.task_id) == (True, 3, "t")
    assert next_step(session.journal.capture, drop, 0) is NextStep.SUBSCRIBE
    assert next_step(session.journal.capture, drop, len(DELAYS)) is NextStep.NOTHING
    assert not has_news(session.journal.capture, drop)
    assert missed_changes(session.journal.capture, drop) is None


async def test_a_stream_that_ends_before_its_task_is_a_lost_stream(agent: Agent, open_session: OpenSession):
    agent.answer(streaming(*BEGUN))
    session = await open_session(agent.url)
    await say(session)
    assert not dropped(session).broken


@pytest.mark.parametrize("state", ["COMPLETED", "FAILED", "INPUT_REQUIRED"])
async def test_a_stream_that_ends_with_its_task_or_for_input_is_not_lost(
    agent: Agent, open_session: OpenSession, state: str
):
    agent.answer(streaming(*BEGUN, status(state)))
    session = await open_session(agent.url)
    await say(session)
    assert last_drop(session) is None


async def test_a_task_that_waits_for_an_authorization_continues_after_its_stream(
    agent: Agent, open_session: OpenSession
):
    agent.answer(streaming(*BEGUN, status("AUTH_REQUIRED")))
    session = await open_session(agent.url)
    await say(session)
    drop = dropped(session)
    assert next_step(session.journal.capture, drop, 0) is NextStep.SUBSCRIBE


async def test_missed_changes_are_found_with_the_snapshot(agent: Agent, open_session: OpenSession):
    whole = {"artifactId": "a", "parts": [{"text": "one\ntwo\nthree\n"}]}
    file = {"artifactId": "f", "name": "plan.pdf", "parts": [{"url": "https://example.com/plan.pdf"}]}
    again = streaming({"task": task("COMPLETED", whole, file)})
    agent.answer(by_method(SendStreamingMessage=streaming(*BEGUN, cut=True), SubscribeToTask=again))
    session = await open_session(agent.url)
    await say(session)
    drop = dropped(session)
    await drive(session.subscribe("t"))
    found = missed_changes(session.journal.capture, drop)
    assert has_news(session.journal.capture, drop)
    assert found is not None
    assert found.words == ("state changed from working to completed, artifact a has 6 B more, artifact plan.pdf is new")
    assert [line.text for line in found.artifacts[0].lines][-1] == "three"
    assert str(session.tasks.get("t").now.artifacts["a"].text) == "one\ntwo\nthree\n"


async def test_an_equal_snapshot_has_no_missed_changes(agent: Agent, open_session: OpenSession):
    whole = {"artifactId": "a", "parts": [{"text": "one\ntwo\n"}]}
    again = streaming({"task": task("WORKING", whole)}, artifact("three", append=True))
    agent.answer(by_method(SendStreamingMessage=streaming(*BEGUN, cut=True), SubscribeToTask=again))
    session = await open_session(agent.url)
    await say(session)
    drop = dropped(session)
    await drive(session.subscribe("t"))
    found = missed_changes(session.journal.capture, drop)
    assert found is not None
    assert found.is_empty, "what came after the snapshot was not missed"


async def test_without_a_snapshot_the_missed_changes_are_unknown(agent: Agent, open_session: OpenSession):
    again = streaming(status("WORKING", "still"), then=None)
    agent.answer(by_method(SendStreamingMessage=streaming(*BEGUN, cut=True), SubscribeToTask=again))
    session = await open_session(agent.url)
    await say(session)
    drop = dropped(session)
    await drive(session.subscribe("t"))
    assert has_news(session.journal.capture, drop)
    assert missed_changes(session.journal.capture, drop) is None


@pytest.mark.parametrize("streamed", [False, True])
async def test_the_task_is_requested_once_if_subscribing_is_refused(
    agent: Agent, open_session: OpenSession, *, streamed: bool
):
    error = {"code": -32004, "message": "not now"}
    refuse = streaming(refusal(error)) if streamed else answering(error=error)
    asked = answering(task("COMPLETED"))
    agent.answer(by_method(SendStreamingMessage=streaming(*BEGUN, cut=True), SubscribeToTask=refuse, GetTask=asked))
    session = await open_session(agent.url)
    await say(session)
    drop = dropped(session)
    await drive(session.subscribe("t"))
    last = last_drop(session)
    assert last is None or last.exchange == drop.exchange, "a refused subscription is not a stream of the task"
    assert next_step(session.journal.capture, drop, 1) is NextStep.GET
    await drive(session.get("t"))
    assert next_step(session.journal.capture, drop, 2) is NextStep.NOTHING
    found = missed_changes(session.journal.capture, drop)
    assert found is not None
    assert found.after == "TASK_STATE_COMPLETED"


async def test_the_task_is_requested_once_also_if_the_agent_does_not_respond(agent: Agent, open_session: OpenSession):
    async def abort(request: web.BaseRequest, _: Heard) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    refuse = answering(error={"code": -32004, "message": "not now"})
    agent.answer(by_method(SendStreamingMessage=streaming(*BEGUN, cut=True), SubscribeToTask=refuse, GetTask=abort))
    session = await open_session(agent.url)
    await say(session)
    drop = dropped(session)
    await drive(session.get("t"))
    assert next_step(session.journal.capture, drop, 1) is NextStep.SUBSCRIBE, "nothing was rejected yet"
    session = await open_session(agent.url)
    await say(session)
    drop = dropped(session)
    await drive(session.subscribe("t"))
    assert next_step(session.journal.capture, drop, 1) is NextStep.GET
    assert (await drive(session.get("t"))).fault is not None
    assert next_step(session.journal.capture, drop, 2) is NextStep.NOTHING
