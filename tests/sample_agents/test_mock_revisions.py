"""A2A 1.1 (draft): events have a revision, GetTask waits for a revision, a message requires a revision."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.server import MockAgent
from inspector.sample_agents.task_file import TaskFile
from inspector.sample_agents.task_store import Store
from inspector.sample_agents.versions import V1_1
from mock_peer import TIMEOUT_SECONDS, Peer, Webhook, eventually, immediately, say, state_of

from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.dialects import v1_0
from inspector.protocol.dialects.v1_1 import DIALECT, revision_of
from inspector.protocol.errors import ProtocolError
from inspector.protocol.model import SendConfiguration, Task, TaskRequest
from inspector.protocol.operations import Operation


@pytest.fixture
async def agent() -> AsyncIterator[MockAgent]:
    agent = MockAgent(Profile(versions=("1.0", "1.1")), pace=0, push_pause=0)
    await agent.start()
    yield agent
    await agent.stop()


@pytest.fixture(params=BINDINGS)
async def peer(agent: MockAgent, request: pytest.FixtureRequest) -> AsyncIterator[Peer]:
    async with aiohttp.ClientSession() as session:
        yield Peer(session, agent, DIALECT, BINDINGS[request.param])


def required(revision: int | str) -> SendConfiguration:
    return SendConfiguration.model_validate({"ifGenerationMatch": revision, "returnImmediately": True})


def awaiting(task_id: str, revision: int) -> TaskRequest:
    return TaskRequest.model_validate({"id": task_id, "currentGeneration": revision})


async def test_every_event_of_a_stream_has_the_next_revision(peer: Peer):
    events = await peer.events("report 3")
    assert [revision_of(event) for event in events] == list(range(1, len(events) + 1))
    task = await peer.task(events[0].id)
    assert (state_of(task), revision_of(task)) == ("completed", len(events))
    listed: Any = await peer.call(Operation.LIST, v1_0.DIALECT.decode_request(Operation.LIST, {}))
    assert [revision_of(item) for item in listed.tasks] == [len(events)]


async def test_clients_of_1_0_get_no_revision(peer: Peer):
    old = Peer(peer.session, peer.agent, v1_0.DIALECT, peer.binding)
    events = await old.events("report 2")
    assert {revision_of(event) for event in events} == {0}


async def test_get_task_waits_for_a_later_revision(peer: Peer):
    asked = await peer.send("ask", configuration=immediately())
    assert isinstance(asked, Task)
    at_rest = await eventually_waiting(peer, asked.id)
    waiting = asyncio.create_task(peer.call(Operation.GET, awaiting(asked.id, revision_of(at_rest))))
    await asyncio.sleep(0.1)
    assert not waiting.done()
    await peer.send("18:00", task_id=asked.id, configuration=required(revision_of(at_rest)))
    async with asyncio.timeout(TIMEOUT_SECONDS):
        changed: Any = await waiting
    assert revision_of(changed) > revision_of(at_rest)
    at_once: Any = await peer.call(Operation.GET, awaiting(asked.id, revision_of(at_rest)))
    assert revision_of(at_once) >= revision_of(changed)


async def eventually_waiting(peer: Peer, task_id: str) -> Any:
    while state_of(task := await peer.task(task_id)) != "input_required":
        await asyncio.sleep(0.01)
    return task


async def test_get_task_does_not_wait_for_an_ended_task(peer: Peer):
    events = await peer.events("report 2")
    async with asyncio.timeout(TIMEOUT_SECONDS):
        task: Any = await peer.call(Operation.GET, awaiting(events[0].id, 1000))
    assert state_of(task) == "completed"


async def test_a_message_for_another_revision_is_rejected(peer: Peer):
    asked = await peer.send("ask", configuration=required(9))
    assert isinstance(asked, Task)  # a task that begins has no revision to match
    at_rest = await eventually_waiting(peer, asked.id)
    refused = await peer.send("18:00", task_id=asked.id, configuration=required(1))
    assert isinstance(refused, ProtocolError)
    assert (refused.name, refused.code) == ("TaskGenerationMismatchError", -32010)
    assert revision_of(await peer.task(asked.id)) == revision_of(at_rest)
    taken = await peer.send("18:00", task_id=asked.id, configuration=required(str(revision_of(at_rest))))
    assert isinstance(taken, Task)


async def test_the_error_is_a_conflict_over_http(agent: MockAgent):
    async with aiohttp.ClientSession() as session:
        peer = Peer(session, agent, DIALECT, BINDINGS["HTTP+JSON"])
        asked = await peer.send("ask", configuration=immediately())
        assert isinstance(asked, Task)
        await eventually_waiting(peer, asked.id)
        body = DIALECT.encode_request(Operation.SEND, say("18:00", task_id=asked.id, configuration=required(1)))
        async with session.post(f"{agent.url}/v1.1/message:send", json=body, headers=dict(DIALECT.headers)) as answer:
            error = (await answer.json())["error"]
    assert (answer.status, error["code"], error["status"]) == (409, 409, "ABORTED")
    assert error["details"][0]["reason"] == "TASK_GENERATION_MISMATCH"


async def test_pushes_have_the_revisions_of_the_stream(agent: MockAgent, webhook: Webhook):
    async with aiohttp.ClientSession() as session:
        peer = Peer(session, agent, DIALECT)
        await peer.events("report 2", configuration=SendConfiguration(task_push_notification_config=webhook.config()))
        await eventually(lambda: len(webhook.bodies) >= 5)
    pushed = [DIALECT.decode_push(body) for body in webhook.bodies]
    assert [revision_of(item) for item in pushed] == list(range(1, len(pushed) + 1))  # type: ignore[arg-type]


def test_a_stored_task_keeps_its_revision(tmp_path: Path):
    storage = TaskFile(tmp_path / "tasks", {"1.1": V1_1})
    store = Store()
    store.use_storage(storage)
    record = store.create("c", "echo")
    record.changes = 7
    store.save(record)
    assert [item.changes for item in TaskFile(tmp_path / "tasks", {}).records(Store()._content_size)] == [7]
