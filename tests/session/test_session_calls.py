"""Calls to a valid agent in both versions: the records in order, and no findings."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import pytest
from inspector.sample_agents.server import MockAgent
from scripted import (
    PATIENCE,
    Agent,
    OpenSession,
    answering,
    artifact,
    drive,
    events,
    eventually,
    giving,
    hurry,
    message,
    records,
    rules,
    say,
    status,
    streaming,
    task,
)

from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture
from inspector.protocol.lifecycle import State
from inspector.protocol.model import Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent
from inspector.session.compose.draft import text_draft


def payloads(session: Any) -> list[tuple[str, str, str]]:
    return events(record for record in records(session, Kind.FRAME, Kind.BODY) if record.operation != "GetAgentCard")


# Sending


async def test_a_message_that_is_answered_with_a_message(mock: MockAgent, open_session: OpenSession, version: str):
    session = await open_session(mock.url, version=version)
    call = await say(session, "echo hello", stream=False)
    assert isinstance(call.exchange.answer, Message)
    assert call.exchange.answer.parts[0].text == "hello"
    assert (call.fault, call.exchange.task_id) == (None, "")
    assert payloads(session) == [("body", "message", "")]
    assert rules(session) == set()
    assert session.choice.dialect.version == version


async def test_a_message_that_is_answered_with_a_message_in_a_stream(
    mock: MockAgent, open_session: OpenSession, version: str
):
    session = await open_session(mock.url, version=version)
    call = await say(session, "echo hello")
    assert (call.fault, payloads(session), rules(session)) == (None, [("frame", "message", "")], set())


async def test_a_blocking_message_returns_its_finished_task(mock: MockAgent, open_session: OpenSession, version: str):
    session = await open_session(mock.url, version=version)
    call = await say(session, "report 5", stream=False)
    assert isinstance(call.exchange.answer, Task)
    [tracked] = session.tasks.all()
    assert tracked.now.state == State.COMPLETED
    assert "How a task travels" in str(next(iter(tracked.now.artifacts.values())).text)
    assert (call.fault, rules(session)) == (None, set())


async def test_a_stream_is_recorded_from_the_request_to_the_end(
    mock: MockAgent, open_session: OpenSession, version: str
):
    session = await open_session(mock.url, version=version)
    call = await say(session, "report 3")
    found = [record for record in records(session) if record.exchange == call.exchange.number]
    assert events(found) == [
        ("request", "", ""),
        ("response", "", ""),
        ("frame", "task", "submitted"),
        ("frame", "status", "working"),
        *[("frame", "artifact", "")] * 3,
        ("frame", "status", "completed"),
        ("end", "", "completed"),
    ]
    request, response, *frames, end = found
    assert (request.seq, request.label, request.size) == (request.exchange, "report 3", len(request.raw))
    sent = json.loads(request.raw)
    assert sent["method"] == session.choice.dialect.methods[call.exchange.context.operation]
    assert request.meta["id"] == sent["id"]
    assert (response.meta["status"], response.meta["streamed"], response.label) == (200, True, "200 OK")
    assert {record.task for record in [*frames, end]} == {call.exchange.task_id}
    assert len({record.context for record in frames}) == 1
    assert (end.meta["how"], end.meta["events"], end.meta["bytes"]) == (
        "complete",
        6,
        sum(record.size for record in frames),
    )
    assert (call.fault, rules(session)) == (None, set())


async def test_streamed_artifacts_equal_those_of_get_task(mock: MockAgent, open_session: OpenSession, version: str):
    session = await open_session(mock.url, version=version)
    call = await say(session, "report 40")
    tracked = session.tasks.get(call.exchange.task_id)
    assert tracked is not None
    [streamed] = [str(artifact.text) for artifact in tracked.answered.artifacts.values()]
    fetched = (await drive(session.get(call.exchange.task_id))).exchange.answer
    assert isinstance(fetched, Task)
    assert streamed == "".join(part.text or "" for part in fetched.artifacts[0].parts)
    assert str(next(iter(tracked.answered.artifacts.values())).text) == streamed
    assert rules(session) == set()


async def test_a_task_that_requires_input_continues_with_the_next_message(
    mock: MockAgent, open_session: OpenSession, version: str
):
    session = await open_session(mock.url, version=version)
    first = await say(session, "ask")
    tracked = session.tasks.get(first.exchange.task_id)
    assert tracked is not None
    assert tracked.now.state == State.INPUT_REQUIRED
    second = await say(session, "20:30", task_id=tracked.id, context_id=tracked.now.context_id)
    assert second.exchange.task_id == tracked.id
    assert tracked.now.state == State.COMPLETED
    assert "20:30" in str(next(iter(tracked.now.artifacts.values())).text)
    assert (len(session.tasks), first.fault, second.fault, rules(session)) == (1, None, None, set())


async def test_a_task_that_fails_has_no_finding(mock: MockAgent, open_session: OpenSession, version: str):
    session = await open_session(mock.url, version=version)
    call = await say(session, "fail")
    assert session.tasks.get(call.exchange.task_id).now.state == State.FAILED
    assert (call.fault, rules(session)) == (None, set())


async def test_an_artifact_with_several_parts_is_complete(mock: MockAgent, open_session: OpenSession, version: str):
    session = await open_session(mock.url, version=version)
    call = await say(session, "file")
    [made] = session.tasks.get(call.exchange.task_id).now.artifacts.values()
    assert [part.media_type for part in made.parts] == ["image/png", "application/json", "text/plain"]
    assert rules(session) == set()


# The other operations


async def test_canceling_a_task_ends_its_stream_without_a_finding(
    slow_mock: MockAgent, open_session: OpenSession, version: str
):
    session = await open_session(slow_mock.url, version=version)
    streamed = session.send(text_draft("long 600"), stream=True)
    running = asyncio.create_task(streamed.finish())
    await eventually(lambda: session.tasks.all() and session.tasks.all()[0].now.state == State.WORKING)
    canceled = await drive(session.cancel(streamed.exchange.task_id))
    async with asyncio.timeout(PATIENCE):
        assert await running is None
    assert isinstance(canceled.exchange.answer, Task)
    assert canceled.exchange.answer.status.state == State.CANCELED
    tracked = session.tasks.get(streamed.exchange.task_id)
    assert [move.state for move in tracked.now.moves][-1] == State.CANCELED
    assert (canceled.fault, rules(session)) == (None, set())


async def test_subscribing_again_to_a_task_whose_stream_was_left(
    slow_mock: MockAgent, open_session: OpenSession, version: str
):
    session = await open_session(slow_mock.url, version=version)
    call = session.send(text_draft("report 100"), stream=True)
    async with aclosing(aiter(call)) as seen:
        async for said in seen:
            if any(isinstance(event, TaskArtifactUpdateEvent) for event in said):
                break
    again = await drive(session.subscribe(call.exchange.task_id))
    whole = (await drive(session.get(call.exchange.task_id))).exchange.answer
    assert isinstance(whole, Task)
    tracked = session.tasks.get(call.exchange.task_id)
    [text] = [str(artifact.text) for artifact in tracked.answered.artifacts.values()]
    assert text == "".join(part.text or "" for part in whole.artifacts[0].parts)
    assert (again.fault, rules(session)) == (None, set())


async def test_two_streams_of_one_task_do_not_double_its_text(
    slow_mock: MockAgent, open_session: OpenSession, version: str
):
    session = await open_session(slow_mock.url, version=version)
    first = session.send(text_draft("report 100"), stream=True)
    running = asyncio.create_task(first.finish())
    await eventually(lambda: session.tasks.all() and session.tasks.all()[0].now.artifacts)
    again = session.subscribe(first.exchange.task_id)
    listening = asyncio.create_task(again.finish())
    await eventually(lambda: again.exchange.answer is not None)
    await drive(session.get(first.exchange.task_id))
    async with asyncio.timeout(PATIENCE):
        assert [await running, await listening] == [None, None]
    tracked = session.tasks.get(first.exchange.task_id)
    text = str(next(iter(tracked.answered.artifacts.values())).text)
    whole = (await drive(session.get(first.exchange.task_id))).exchange.answer
    assert isinstance(whole, Task)
    assert text == "".join(part.text or "" for part in whole.artifacts[0].parts)
    assert rules(session) == set()


async def test_two_concurrent_streams_are_not_mixed(mock: MockAgent, open_session: OpenSession, version: str):
    session = await open_session(mock.url, version=version)
    one, other = (session.send(text_draft(f"report {chunks}"), stream=True) for chunks in (200, 300))
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(one.finish(), other.finish())
    for call, chunks in ((one, 200), (other, 300)):
        found = [record for record in records(session, Kind.FRAME) if record.exchange == call.exchange.number]
        assert {record.task for record in found} == {call.exchange.task_id}
        assert sum(record.event == "artifact" for record in found) == chunks
        [made] = session.tasks.get(call.exchange.task_id).answered.artifacts.values()
        assert (made.chunks, str(made.text)[:20]) == (chunks, "# How a task travels")
    assert one.exchange.task_id != other.exchange.task_id
    assert rules(session) == set()


async def test_an_error_response_has_its_name(mock: MockAgent, open_session: OpenSession, version: str):
    session = await open_session(mock.url, version=version)
    call = await drive(session.get("no-such-task"))
    assert call.fault is not None
    assert (call.fault.code, call.fault.error.code) == ("TaskNotFoundError", -32001)
    assert call.fault.hint
    assert payloads(session) == [("body", "error", "")]
    assert rules(session) == set()


async def test_an_error_instead_of_a_stream_is_only_a_hint_about_clients(
    mock: MockAgent, open_session: OpenSession, version: str
):
    session = await open_session(mock.url, version=version)
    done = await say(session, "fail")
    for call in (session.subscribe(done.exchange.task_id), session.subscribe("no-such-task")):
        await drive(call)
        assert call.fault is not None
        assert call.fault.hint
    await drive(session.cancel(done.exchange.task_id))
    assert rules(session) == {"CLIENT-008"}


async def test_a_timeout_after_the_end_of_the_task_reports_the_open_stream(agent: Agent, open_session: OpenSession):
    agent.answer(streaming({"task": task("WORKING")}, status("COMPLETED"), then=asyncio.Event().wait))
    session = await open_session(agent.url)
    hurry(session, 0.5)  # for the events of the task
    call = await say(session)
    assert call.fault is not None
    assert call.fault.seen == "The task is completed, but the agent did not end the stream."
    assert "--timeout" not in call.fault.hint
    hurry(session, 0.1)
    agent.answer(streaming({"task": task("WORKING")}, then=asyncio.Event().wait))
    call = await say(session)
    assert call.fault is not None
    assert call.fault.hint.endswith("try again with a longer --timeout.")


async def test_the_requested_history_length_is_sent(agent: Agent, open_session: OpenSession):
    agent.answer(answering(task("COMPLETED")))
    session = await open_session(agent.url)
    await drive(session.get("t", 0))
    await drive(session.get("t"))
    assert [request.json["params"] for request in agent.calls] == [{"id": "t", "historyLength": 0}, {"id": "t"}]


async def test_the_tenant_is_in_every_call(agent: Agent, open_session: OpenSession):
    agent.answer(answering(message("hi")))
    here = {"url": f"{agent.url}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "acme"}
    agent.serve_card(supportedInterfaces=[here])
    session = await open_session(agent.url)
    await say(session, stream=False)
    await drive(session.get("t"))
    assert [request.json["params"]["tenant"] for request in agent.calls] == ["acme", "acme"]


# Ending a call ourselves


async def long_stream(session: Any) -> Any:
    call = session.send(text_draft("hello"), stream=True)
    return call, asyncio.create_task(call.finish())


@pytest.fixture
async def endless(agent: Agent) -> Agent:
    """An agent whose streams never end."""
    forever = asyncio.Event()
    agent.answer(streaming(b": ping\n\n", {"task": task("WORKING")}, then=forever.wait))
    return agent


async def test_a_call_that_is_canceled_ends_once_as_stopped(endless: Agent, open_session: OpenSession):
    session = await open_session(endless.url)
    call, running = await long_stream(session)
    await eventually(lambda: call.exchange.task_id)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await eventually(lambda: endless.open == 0)
    [end] = [record for record in records(session, Kind.END) if record.exchange == call.exchange.number]
    received = sum(record.size for record in records(session, Kind.FRAME, Kind.KEEPALIVE))
    assert (end.meta["how"], end.meta["events"], end.meta["bytes"]) == ("stopped", 1, received)
    assert end.meta["seconds"] > 0
    assert (end.label, end.state, call.fault) == ("stopped", State.WORKING, None)
    assert rules(session) == set()
    assert session.journal.exchanges.open == 0


async def test_a_call_that_is_left_early_ends_once_as_stopped(endless: Agent, open_session: OpenSession):
    session = await open_session(endless.url)
    call = session.send(text_draft("hello"), stream=True)
    async with aclosing(aiter(call)) as seen:
        async for said in seen:
            assert isinstance(said[0], Task)
            break
    await eventually(lambda: endless.open == 0)
    [end] = [record for record in records(session, Kind.END) if record.exchange == call.exchange.number]
    assert end.meta["how"] == "stopped"


async def test_breaking_out_of_a_call_ends_it_too(endless: Agent, open_session: OpenSession):
    session = await open_session(endless.url)
    async for _ in session.send(text_draft("hello"), stream=True):
        break
    await eventually(lambda: endless.open == 0)
    assert [record.meta["how"] for record in records(session, Kind.END)] == ["complete", "stopped"]


async def test_a_call_stopped_before_any_response_has_no_fault(agent: Agent, open_session: OpenSession):
    async def silent(*_: Any) -> Any:
        await asyncio.Event().wait()

    agent.answer(silent)
    session = await open_session(agent.url)
    call, running = await long_stream(session)
    await eventually(lambda: agent.calls)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert call.fault is None
    assert records(session)[-1].meta["how"] == "stopped"


async def test_closing_the_session_ends_running_calls(endless: Agent, open_session: OpenSession):
    session = await open_session(endless.url)
    calls = [await long_stream(session) for _ in range(3)]
    await eventually(lambda: all(call.exchange.task_id for call, _ in calls))
    await session.close()
    async with asyncio.timeout(PATIENCE):
        assert await asyncio.gather(*(running for _, running in calls)) == [None, None, None]
    await eventually(lambda: endless.open == 0)
    with Capture.open(session.journal.capture.path) as capture:
        ends = [record for record in capture.slice(1, len(capture)) if record.kind is Kind.END and record.exchange > 1]
    assert [end.meta["how"] for end in ends] == ["stopped"] * 3


async def test_a_hundred_streams_leave_no_open_resources(endless: Agent, open_session: OpenSession):
    session = await open_session(endless.url)
    calls = [await long_stream(session) for _ in range(100)]
    await eventually(lambda: endless.open == 100)
    for _, running in calls:
        running.cancel()
    await asyncio.gather(*(running for _, running in calls), return_exceptions=True)
    await eventually(lambda: endless.open == 0)
    assert session.journal.exchanges.open == 0
    ends = [record.exchange for record in records(session, Kind.END)]
    assert len(ends) == len(set(ends)) == 101


async def test_keep_alives_are_recorded_but_are_not_events(agent: Agent, open_session: OpenSession):
    agent.answer(streaming(b": ping 1\n: ping 2\n\n", {"task": task("COMPLETED")}, b"event: x\n\n"))
    session = await open_session(agent.url)
    call = await say(session)
    [ping, empty] = records(session, Kind.KEEPALIVE)
    assert (ping.label, ping.raw, empty.raw) == ("ping 1 ping 2", b": ping 1\n: ping 2\n\n", b"event: x\n\n")
    assert records(session, Kind.END)[-1].meta["events"] == 1
    summary = session.journal.exchanges.get(call.exchange.number)
    assert (summary.events, summary.keepalives, rules(session)) == (1, 2, set())


async def test_every_byte_of_a_stream_is_in_its_records(agent: Agent, open_session: OpenSession):
    pieces = [b"\xef\xbb\xbf: hi\r\n\r\n", b"\n\n", b"data: {}\r\r", b"id: 1\ndata: not json\n\n", b"data: left"]
    agent.answer(streaming(*pieces))
    session = await open_session(agent.url)
    call = await say(session)
    kinds = (Kind.FRAME, Kind.KEEPALIVE, Kind.END)
    found = [record for record in records(session, *kinds) if record.exchange == call.exchange.number]
    assert b"".join(record.raw for record in found) == b"".join(pieces)


async def test_a_call_yields_events_after_they_are_recorded(agent: Agent, open_session: OpenSession):
    agent.answer(streaming({"task": task("WORKING")}, artifact("x"), status("COMPLETED")))
    session = await open_session(agent.url)
    yielded = []
    async for said in session.send(text_draft("hello"), stream=True):
        yielded += map(type, said)
        assert session.tasks.get("t").answered.events >= len(yielded)
    assert yielded == [Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent]


async def test_subscribers_are_given_every_record_and_called_when_it_is_folded(agent: Agent, open_session: OpenSession):
    agent.answer(giving(b"{}"))
    session = await open_session(agent.url)
    given: list[int] = []
    empty: list[int] = []

    def take(news: Sequence[Record]) -> None:
        given.extend(record.seq for record in news)
        if not news:
            empty.append(len(session.journal.capture))

    unsubscribe = session.journal.subscribe(take)
    first = len(session.journal.capture) + 1
    await say(session)
    session.note("done")
    last = len(session.journal.capture)
    assert (given, empty[-1]) == (list(range(first, last + 1)), last)
    unsubscribe()
    session.note("after the end of the subscription")
    assert given[-1] == last


async def test_a_late_subscriber_can_be_given_what_was_recorded_before(agent: Agent, open_session: OpenSession):
    agent.answer(giving(b"{}"))
    session = await open_session(agent.url)
    await say(session)
    given: list[int] = []
    session.journal.subscribe(lambda news: given.extend(record.seq for record in news), replay=True)
    assert given == list(range(1, len(session.journal.capture) + 1))


async def test_artifacts_have_distinct_names(agent: Agent, open_session: OpenSession):
    def chunk(text: str, own: str, **named: str) -> dict[str, Any]:
        whole = {"artifactId": own, "parts": [{"text": text}], **named}
        return {"artifactUpdate": {"taskId": "t", "contextId": "c", "artifact": whole, "append": text != "begun"}}

    agent.answer(
        streaming(
            {"task": task("WORKING")},
            chunk("begun", "p", name="same.txt"),
            chunk("begun", "q", name="same.txt"),
            chunk("more", "p"),
            chunk("more", "q", name="same.txt"),
            chunk("begun", "r"),
            status("COMPLETED"),
        )
    )
    session = await open_session(agent.url)
    await say(session)
    labels = [record.label for record in records(session, Kind.FRAME) if record.event == "artifact"]
    assert labels == ["same.txt", "same.txt (q)", "same.txt", "same.txt (q)", "r"]


@pytest.mark.parametrize(
    ("last", "said"),
    [("WORKING", "closed while the task is working"), ("INPUT_REQUIRED", "complete"), ("COMPLETED", "complete")],
)
async def test_the_end_of_a_stream_reports_that_its_task_is_running(
    agent: Agent, open_session: OpenSession, last: str, said: str
):
    agent.answer(streaming({"task": task("SUBMITTED")}, status("WORKING"), status(last)))
    session = await open_session(agent.url)
    await say(session)
    [end] = [record for record in records(session, Kind.END) if record.operation == "SendStreamingMessage"]
    assert (end.label, end.meta["how"]) == (said, "complete")
