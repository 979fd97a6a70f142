"""Streams: several subscriptions, cancel, disconnected clients, clients that do not read."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from typing import Any

import aiohttp
import pytest
from inspector.sample_agents.behaviours.base import MessageBehaviour, TaskBehaviour
from inspector.sample_agents.behaviours.registry import Behaviours
from inspector.sample_agents.extension import TIMESTAMPS, TRACES, URI
from inspector.sample_agents.server import MockAgent
from inspector.sample_agents.task_context import TaskContext
from mock_peer import TIMEOUT_SECONDS, Peer, eventually, immediately, peer_for, say, state_of, text_of

from inspector.protocol.card import AgentSkill
from inspector.protocol.extensions.known import uses_in
from inspector.protocol.model import (
    Artifact,
    Part,
    Task,
    TaskArtifactUpdateEvent,
    TaskRequest,
    TaskStatusUpdateEvent,
)
from inspector.protocol.operations import Operation


def port_of(agent: MockAgent) -> int:
    return int(agent.url.rpartition(":")[2])


def raw_call(text: str) -> bytes:
    message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}]}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {"message": message}})
    headers = ("Host: x", "A2A-Version: 1.0", "Content-Type: application/json", f"Content-Length: {len(body)}")
    return "\r\n".join(("POST / HTTP/1.1", *headers, "", body)).encode()


async def test_a_stream_is_server_sent_events_only(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    body = raw_call("report 3").partition(b"\r\n\r\n")[2]
    headers = {"A2A-Version": "1.0", "Content-Type": "application/json", "Accept": "application/json"}
    async with session.post(agent.url, data=body, headers=headers) as response:
        assert response.content_type == "text/event-stream"
        assert response.headers["Cache-Control"] == "no-store"
        frames = (await response.read()).split(b"\n\n")
    assert frames[-1] == b""
    answers = [json.loads(frame.removeprefix(b"data: ")) for frame in frames[:-1]]
    assert all(frame.startswith(b"data: ") for frame in frames[:-1])
    assert {(answer["jsonrpc"], answer["id"]) for answer in answers} == {("2.0", 1)}
    assert [next(iter(answer["result"])) for answer in answers] == [
        "task",
        "statusUpdate",
        *["artifactUpdate"] * 3,
        "statusUpdate",
    ]
    assert "final" not in answers[-1]["result"]["statusUpdate"]


async def test_only_the_last_update_of_0_3_is_final(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    for text, finals in (("push", [False] * 4 + [True]), ("ask", [False, True])):
        message = {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": text}]}
        call = {"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": {"message": message}}
        async with session.post(agent.url, json=call) as response:
            results = [json.loads(line[6:])["result"] async for line in response.content if line.startswith(b"data: ")]
        assert [item["final"] for item in results if item["kind"] == "status-update"] == finals
        assert results[-1]["kind"] == "status-update"


def release(pauses: asyncio.Semaphore, count: int) -> None:
    for _ in range(count):
        pauses.release()


async def test_two_subscribers_see_the_same_events_in_the_same_order(
    slow_peer: Peer, pauses: asyncio.Semaphore
) -> None:
    started = await slow_peer.send("report 60", configuration=immediately())
    first: list[Any] = []
    second: list[Any] = []
    item = asyncio.create_task(slow_peer.subscribe(started.id, first))
    await eventually(lambda: first)
    release(pauses, 10)
    await eventually(lambda: len(first) > 3)
    two = asyncio.create_task(slow_peer.subscribe(started.id, second))
    await eventually(lambda: second)
    release(pauses, 60)
    await asyncio.wait_for(asyncio.gather(item, two), 10)
    assert isinstance(first[0], Task)
    assert isinstance(second[0], Task)
    assert len(second) > 2
    assert first[1 - len(second) :] == second[1:]
    assert state_of(second[-1]) == "completed"


async def test_a_late_subscriber_gets_the_task_and_all_later_events(slow_peer: Peer, pauses: asyncio.Semaphore) -> None:
    release(pauses, 5)
    started = await slow_peer.send("report 20", configuration=immediately())
    seen: list[Any] = []
    subscription = asyncio.create_task(slow_peer.subscribe(started.id, seen))
    await eventually(lambda: seen)
    release(pauses, 20)
    await asyncio.wait_for(subscription, 10)
    before = sum(len(artifact.parts) for artifact in seen[0].artifacts or ())
    assert before + sum(state_of(event) == "artifact" for event in seen) == 20
    assert state_of(seen[-1]) == "completed"


async def test_input_required_ends_a_subscription_in_0_3_only(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    new, old = peer_for(session, agent, "1.0"), peer_for(session, agent, "0.3")
    asked = await new.send("ask")
    both: tuple[list[Any], list[Any]] = ([], [])
    waiting = asyncio.gather(new.subscribe(asked.id, both[0]), old.subscribe(asked.id, both[1]))
    await eventually(lambda: agent.readers == 2)
    await new.send("18:00", task_id=asked.id)
    await asyncio.wait_for(waiting, 10)
    assert [state_of(event) for event in both[0]] == ["input_required", "working", "working", "artifact", "completed"]
    assert both[1] == both[0] or [state_of(event) for event in both[1]] == [state_of(event) for event in both[0]]


async def test_cancel_in_the_middle_ends_the_task_and_every_stream(slow_agent: MockAgent, slow_peer: Peer) -> None:
    stream = asyncio.create_task(slow_peer.events("long 3600"))
    record = (await eventually(lambda: list(slow_agent.store)))[0]
    subscribed: list[Any] = []
    subscription = asyncio.create_task(slow_peer.subscribe(record.task_id, subscribed))
    await eventually(lambda: slow_agent.readers == 2 and record.status.state == "TASK_STATE_WORKING")
    canceled = await slow_peer.call(Operation.CANCEL, TaskRequest(id=record.task_id))
    assert isinstance(canceled, Task)
    assert state_of(canceled) == "canceled"
    events = await asyncio.wait_for(stream, TIMEOUT_SECONDS)
    await asyncio.wait_for(subscription, TIMEOUT_SECONDS)
    assert state_of(events[-1]) == state_of(subscribed[-1]) == "canceled"
    await eventually(lambda: slow_agent.running == 0)


async def test_cancel_stops_a_fast_stream(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    peer = peer_for(session, agent, "1.0")
    seen: list[Any] = []
    async for event in peer.stream(Operation.STREAM, say("report 200000")):
        seen.append(event)
        if len(seen) == 100:
            canceled = await peer.call(Operation.CANCEL, TaskRequest(id=seen[0].id))
            assert isinstance(canceled, Task)
    assert state_of(seen[-1]) == "canceled"
    assert len(seen) < 200_000


async def test_a_task_can_be_canceled_before_its_first_step(slow_peer: Peer, slow_agent: MockAgent) -> None:
    for _ in range(20):
        started = await slow_peer.send("long 3600", configuration=immediately())
        canceled = await slow_peer.call(Operation.CANCEL, TaskRequest(id=started.id))
        assert isinstance(canceled, Task)
        assert state_of(canceled) == "canceled"
    await eventually(lambda: slow_agent.running == 0)


async def test_cancel_ends_a_waiting_send(slow_agent: MockAgent, slow_peer: Peer) -> None:
    waiting = asyncio.create_task(slow_peer.send("long 3600"))
    record = (await eventually(lambda: list(slow_agent.store)))[0]
    await slow_peer.call(Operation.CANCEL, TaskRequest(id=record.task_id))
    assert state_of(await asyncio.wait_for(waiting, TIMEOUT_SECONDS)) == "canceled"


async def test_a_disconnected_client_does_not_stop_the_task(slow_agent: MockAgent, slow_peer: Peer) -> None:
    events = slow_peer.stream(Operation.STREAM, say("push"))
    first = await anext(events)
    assert isinstance(first, Task)
    await events.aclose()  # type: ignore[attr-defined]
    await eventually(lambda: slow_agent.readers == 0)
    assert slow_agent.running == 1
    record = slow_agent.store.find(first.id)
    await eventually(lambda: record.ended)
    assert state_of(await slow_peer.task(first.id)) == "completed"


async def test_a_reset_connection_leaves_no_subscription(slow_agent: MockAgent) -> None:
    def reset(text: str) -> socket.socket:
        peer = socket.create_connection(("127.0.0.1", port_of(slow_agent)))
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        peer.sendall(raw_call(text))
        return peer

    peers = [reset("long 3600") for _ in range(20)]
    await eventually(lambda: slow_agent.readers == 20)
    for peer in peers:
        peer.close()
    await eventually(lambda: slow_agent.readers == 0)
    assert slow_agent.running == 20


async def test_a_disconnected_client_is_not_counted_although_its_task_has_no_events(
    session: aiohttp.ClientSession,
) -> None:
    agent = MockAgent(pace=1000)
    await agent.start()
    try:
        events = peer_for(session, agent, "1.0").stream(Operation.STREAM, say("long 3600"))
        await anext(events)
        assert agent.counts == (1, 1, 1)
        await events.aclose()  # type: ignore[attr-defined]
        await eventually(lambda: agent.counts == (1, 1, 0))
    finally:
        await agent.stop()


async def test_a_client_that_does_not_read_delays_the_task_until_the_timeout() -> None:
    lines: list[str] = []
    agent = MockAgent(pace=0, write_timeout=0.3, log=lines.append)
    await agent.start()
    idle = socket.create_connection(("127.0.0.1", port_of(agent)))
    try:
        idle.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        idle.sendall(raw_call("report 40000"))  # more bytes than the buffers of the sockets hold
        record = (await eventually(lambda: list(agent.store)))[0]
        await eventually(lambda: any("stopped reading" in line for line in lines))
        await eventually(lambda: record.ended)
        assert record.status.state == "TASK_STATE_COMPLETED"
        assert agent.readers == 0
    finally:
        idle.close()
        await agent.stop()


async def test_an_idle_stream_gets_keep_alive_comments(session: aiohttp.ClientSession) -> None:
    agent = MockAgent(keep_alive=0.01)
    await agent.start()
    headers = {"A2A-Version": "1.0", "Content-Type": "application/json"}
    body = raw_call("long 3600").partition(b"\r\n\r\n")[2]
    async with session.post(agent.url, data=body, headers=headers) as response:
        async with asyncio.timeout(10):
            lines = [await response.content.readline() for _ in range(12)]
    await agent.stop()
    assert lines.count(b": keep-alive\n") >= 3
    assert all(line in (b"\n", b": keep-alive\n") or line.startswith(b"data: ") for line in lines)


async def test_the_extension_numbers_the_events_of_a_stream_on_request(
    agent: MockAgent, peer: Peer, session: aiohttp.ClientSession
) -> None:
    plain = await peer.events("push")
    assert all(event.metadata is None for event in plain)
    peer.headers[peer.dialect.extensions_header] = f"urn:unknown, {URI}"
    numbered = await peer.events("push")
    assert [event.metadata[URI] for event in numbered] == list(range(1, len(numbered) + 1))
    assert (await peer.task(numbered[0].id)).metadata is None


async def test_timestamps_and_traces_are_added_on_request(peer: Peer) -> None:
    peer.headers[peer.dialect.extensions_header] = f"{TIMESTAMPS}, {TRACES}"
    events = await peer.events("report 2")
    artifacts = [event.artifact for event in events if isinstance(event, TaskArtifactUpdateEvent)]
    messages = [event.status.message for event in events if isinstance(event, TaskStatusUpdateEvent)]
    assert artifacts
    assert messages
    for holder in (*artifacts, *messages):
        assert holder is not None
        names = {use.extension.name for use in uses_in({"metadata": holder.metadata})}
        assert names == ({"Timestamps"} if holder in messages else {"Timestamps", "Traceability"})
    plain = await peer.task(events[0].id)
    assert all(artifact.metadata is None for artifact in plain.artifacts or ())


async def test_a_hundred_streams_at_once_get_every_event(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    peer = peer_for(session, agent, "1.0")
    streams = await asyncio.gather(*(peer.events("report 10") for _ in range(100)))
    expected = ["submitted", "working", *["artifact"] * 10, "completed"]
    assert all([state_of(event) for event in events] == expected for events in streams)
    assert len({events[0].id for events in streams}) == 100
    await eventually(lambda: agent.running == 0)
    assert agent.readers == 0


async def test_stopping_ends_open_streams_and_running_tasks(session: aiohttp.ClientSession) -> None:
    agent = MockAgent()
    await agent.start()
    peer = peer_for(session, agent, "1.0")
    stream = asyncio.create_task(peer.events("long 3600"))
    waiting = asyncio.create_task(peer.send("long 3600"))
    await eventually(lambda: len(agent.store) == 2 and agent.readers == 1)
    await asyncio.wait_for(agent.stop(), 5)
    assert agent.running == 0
    assert all(isinstance(event, Task | TaskStatusUpdateEvent) for event in await asyncio.wait_for(stream, 5))
    with contextlib.suppress(aiohttp.ClientError):
        await asyncio.wait_for(waiting, 5)
    await agent.stop()


async def test_an_exception_in_a_behaviour_fails_the_task_without_details(session: aiohttp.ClientSession) -> None:

    async def run(task: TaskContext) -> None:
        raise ValueError("secret of " + task.text)

    async def reply(_: Any) -> Any:
        raise ValueError("another secret")

    async def nothing(_: TaskContext) -> None:
        return

    async def unwritable(task: TaskContext) -> None:
        await task.artifact(Artifact(artifact_id="a", parts=[Part(data=object())]))

    skills = {"break": run, "quiet": nothing, "unwritable": unwritable}
    working = [TaskBehaviour(AgentSkill(id=name), code) for name, code in skills.items()]
    behaviours = Behaviours(working, default=MessageBehaviour(AgentSkill(id="mute"), reply))
    agent = MockAgent(behaviours=behaviours)
    await agent.start()
    peer = peer_for(session, agent, "1.0")
    try:
        failed = await peer.send("break it")
        assert state_of(failed) == "failed"
        assert text_of(failed.status.message.parts) == "Internal error: the behaviour of the agent failed."
        assert state_of(await peer.send("quiet")) == "completed"
        error = await peer.send("anything")
        assert (error.code, error.message) == (-32603, "Internal error: the agent failed to process the call.")
        assert (await peer.send("unwritable")).code == -32603
        with pytest.raises(aiohttp.ClientError):
            await peer.events("unwritable")
        assert state_of(await peer.send("quiet")) == "completed"
    finally:
        await agent.stop()
