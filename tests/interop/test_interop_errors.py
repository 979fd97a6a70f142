"""The errors of agents of the official SDKs have the names of the protocol over every transport."""

from __future__ import annotations

from pathlib import Path

import environments
import pytest
import trials
from sdk_agent import Agent

from inspector.protocol.lifecycle import State
from inspector.protocol.model import Task
from inspector.session.call import Call
from inspector.session.compose.draft import text_draft
from inspector.session.session import Session
from inspector.session.settings import Settings

pytestmark = pytest.mark.interop

INTERFACES = [(name, transport) for name, sdk in environments.ALL.items() for transport in sdk.transports]


async def error_of(call: Call) -> str:
    fault = await call.finish()
    assert fault is not None
    return fault.code


@pytest.mark.parametrize(("agent", "transport"), INTERFACES, indirect=["agent"])
async def test_errors_are_those_of_the_protocol(agent: Agent, transport: str, tmp_path: Path):
    session = Session(tmp_path / "capture", Settings(transports=(transport,)))
    try:
        await session.connect(agent.url)
        assert await error_of(session.get("nope")) == "TaskNotFoundError"
        assert await error_of(session.cancel("nope")) == "TaskNotFoundError"
        if not agent.sdk.waits:  # these agents cancel ended tasks
            task = await trials.answer(session.send(text_draft("stream 1", blocking=True), stream=False))
            assert isinstance(task, Task)
            assert task.status.state == State.COMPLETED
            assert await error_of(session.cancel(task.id)) == "TaskNotCancelableError"
    finally:
        await session.close()
