"""A session that the inspector has recorded, served to the official clients: they differ in all volatile values."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import environments
import pytest
from inspector.sample_agents.profile import ALL, Profile
from inspector.sample_agents.replay.agent import ReplayAgent
from inspector.sample_agents.replay.recording import read_recording
from inspector.sample_agents.server import MockAgent
from test_interop_mock import EXPECTED, PATHS, SECONDS

from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.protocol.model import (
    ListTasksRequest,
    Message,
    Part,
    PushConfig,
    Request,
    SendConfiguration,
    SendRequest,
    Task,
)
from inspector.protocol.operations import Operation
from inspector.session.compose.draft import text_draft
from inspector.session.replay.validation import validated
from inspector.session.session import Session
from inspector.session.settings import Settings

pytestmark = pytest.mark.interop

WAYS = [(name, binding) for name in ("v1", "v0_3") for binding in environments.SDKS[name].transports]


async def send(session: Session, text: str, *, stream: bool = False, **members: Any) -> Any:
    call = session.send(replace(text_draft(text), **members), stream=stream)
    await call.finish()
    return call.exchange.answer


async def call(session: Session, operation: Operation, request: Request) -> Any:
    made = session.call(operation, request)
    await made.finish()
    return made.exchange.answer


async def record(session: Session) -> None:
    """Do what the official clients do, in another order and with other ids."""
    asked = await send(session, "ask")
    assert isinstance(asked, Task)
    await send(session, "18:00", task_id=asked.id)
    message = Message(message_id="own", role="ROLE_USER", parts=[Part(text="long 60")])
    configuration = SendConfiguration(return_immediately=True)
    long = await call(session, Operation.SEND, SendRequest(message=message, configuration=configuration))
    await session.set_push(
        PushConfig(task_id=long.id, id="own", url="http://127.0.0.1:9/own", token="own-token")
    ).finish()
    await session.get_push(long.id, "own").finish()
    await session.list_push(long.id).finish()
    await session.delete_push(long.id, "own").finish()
    await session.list_push(long.id).finish()
    if session.choice.binding.offers(session.choice.dialect, Operation.LIST):
        await session.list_tasks(ListTasksRequest(context_id=asked.context_id)).finish()
    subscribing = session.subscribe(long.id)
    subscription = asyncio.create_task(subscribing.finish())
    async with asyncio.timeout(SECONDS):
        while not session.journal.capture.select(kinds=(Kind.FRAME,), exchange=subscribing.exchange.number):
            await asyncio.sleep(0.01)
    await session.cancel(long.id).finish()
    await subscription
    await session.get("nope").finish()
    await session.get(asked.id).finish()
    await session.extended_card().finish()
    await send(session, "report 3", stream=True)
    await send(session, "echo hello")


@pytest.mark.parametrize(("name", "binding"), WAYS, ids=[" ".join(way) for way in WAYS])
async def test_the_official_clients_can_use_a_recording(tmp_path: Path, name: str, binding: str):
    mock = MockAgent(Profile(versions=("1.0", "0.3"), capabilities=ALL), pace=0.3)
    await mock.start()
    version = environments.SDKS[name].version
    session = Session(tmp_path / "session.a2a", Settings(transports=(binding,), version=version))
    try:
        await session.connect(mock.url + PATHS[name])
        assert (session.choice.dialect.version, session.choice.binding.name) == (version, binding)
        await record(session)
    finally:
        await session.close()
        await mock.stop()
    log: list[str] = []
    with Capture.open(tmp_path / "session.a2a", validated) as capture:
        agent = ReplayAgent(read_recording(capture), log=log.append)
        await agent.start()
        try:
            script = Path(__file__).parent / "clients" / f"client_{name}.py"
            ran = await asyncio.create_subprocess_exec(
                environments.python(name), script, agent.url + PATHS[name], binding, stdout=-1, stderr=-1
            )
            async with asyncio.timeout(SECONDS):
                out, err = await ran.communicate()
        finally:
            await agent.stop()
    assert ran.returncode == 0, [log, err.decode()]
    result = json.loads(out)
    assert result.pop("unknown task") != "no error"
    assert result == EXPECTED[name]
