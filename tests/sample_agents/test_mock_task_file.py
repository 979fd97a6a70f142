"""Tasks in a file, available after a restart."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from inspector.sample_agents.server import MockAgent
from inspector.sample_agents.task_file import StateFileError
from mock_peer import Peer, Webhook, eventually, immediately, peer_for, state_of, text_of

from inspector.protocol.model import ListTasksRequest, PushConfigRequest, TaskList
from inspector.protocol.operations import Operation


@asynccontextmanager
async def running(path: Path, session: aiohttp.ClientSession, pace: float = 0) -> AsyncIterator[Peer]:
    """A client of an agent that stores its tasks in a file."""
    agent = MockAgent(pace=pace, push_pause=0, state=path)
    await agent.start()
    try:
        yield peer_for(session, agent, "1.0")
    finally:
        await agent.stop()


async def test_tasks_are_restored_in_order_after_a_restart(session: aiohttp.ClientSession, tmp_path: Path) -> None:
    path = tmp_path / "tasks"
    async with running(path, session) as peer:
        tasks = [await peer.send(text) for text in ("push", "fail", "file")]
    async with running(path, session) as peer:
        assert [await peer.task(task.id) for task in tasks] == tasks
        listed: Any = await peer.call(Operation.LIST, ListTasksRequest())
        assert isinstance(listed, TaskList)
        assert [task.id for task in listed.tasks] == [task.id for task in reversed(tasks)]


async def test_tasks_are_restored_in_order_after_the_agent_was_killed(
    session: aiohttp.ClientSession, tmp_path: Path
) -> None:
    path, killed = tmp_path / "tasks", tmp_path / "killed"
    async with running(path, session) as peer:
        oldest = await peer.send("fail")
    with contextlib.closing(sqlite3.connect(path)) as other, other:
        other.execute("update tasks set stamp = stamp + 1000000")  # a run with many tasks
    killed.mkdir()
    async with running(path, session) as peer:
        newest = await peer.send("fail")
        for file in tmp_path.glob("tasks*"):
            shutil.copy(file, killed)
    async with running(killed / "tasks", session) as peer:
        listed: Any = await peer.call(Operation.LIST, ListTasksRequest())
    assert [task.id for task in listed.tasks] == [newest.id, oldest.id]


async def test_an_interrupted_task_continues_after_a_restart_and_is_pushed(
    session: aiohttp.ClientSession, tmp_path: Path, webhook: Webhook
) -> None:
    path = tmp_path / "tasks"
    async with running(path, session) as peer:
        asked = await peer.send("ask")
        await peer.call(Operation.SET_PUSH, webhook.config(task_id=asked.id, id="c", token="t"))
    async with running(path, session) as peer:
        done = await peer.send("18:00", task_id=asked.id)
        assert (done.id, done.context_id, state_of(done)) == (asked.id, asked.context_id, "completed")
        await eventually(lambda: len(webhook.bodies) >= 3)
        kept: Any = await peer.call(Operation.GET_PUSH, PushConfigRequest(task_id=asked.id, id="c"))
        assert kept.token == "t"
    async with running(path, session) as peer:
        assert await peer.task(asked.id) == done


async def test_a_running_task_has_failed_after_a_restart(session: aiohttp.ClientSession, tmp_path: Path) -> None:
    path = tmp_path / "tasks"
    async with running(path, session, pace=1) as peer:
        started = await peer.send("long 3600", configuration=immediately())
    async with running(path, session) as peer:
        task = await peer.task(started.id)
    assert state_of(task) == "failed"
    assert "stopped" in text_of(task.status.message.parts)


async def test_a_removed_task_is_not_restored(session: aiohttp.ClientSession, tmp_path: Path) -> None:
    path = tmp_path / "tasks"
    agent = MockAgent(pace=0, max_tasks=2, state=path)
    await agent.start()
    tasks = [await peer_for(session, agent, "1.0").send("fail") for _ in range(3)]
    await agent.stop()
    async with running(path, session) as peer:
        listed: Any = await peer.call(Operation.LIST, ListTasksRequest())
    assert [task.id for task in listed.tasks] == [task.id for task in reversed(tasks[1:])]


@pytest.mark.parametrize(
    "content", [b"no database at all, but text that is long enough to be read as a header" * 20, None]
)
async def test_an_invalid_file_is_rejected(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "tasks"
    if content is None:
        with sqlite3.connect(path) as other:
            other.execute("pragma user_version = 77")
    else:
        path.write_bytes(content)
    with pytest.raises(StateFileError):
        await MockAgent(state=path).start()


@pytest.mark.parametrize("kept", ["no JSON", "[]", "{}", '{"task": {"id": 5}}', b"\xff", None])
async def test_a_file_with_an_invalid_task_is_rejected_and_closed(
    session: aiohttp.ClientSession, tmp_path: Path, kept: object
) -> None:
    path = tmp_path / "tasks"
    async with running(path, session) as peer:
        task = await peer.send("push")
    with contextlib.closing(sqlite3.connect(path)) as other, other:
        if kept is None:  # valid JSON, but a member has the wrong type
            other.execute("update tasks set kept = json_set(kept, '$.begun', 5)")
        else:
            other.execute("update tasks set kept = ?", (kept,))
    with pytest.raises(StateFileError, match=f"has an invalid task .id {task.id}"):
        await MockAgent(state=path).start()
    assert list(tmp_path.iterdir()) == [path], "the log of SQLite is removed when the file is closed"
