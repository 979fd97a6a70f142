"""A session of the inspector with agents of the official SDKs: responses, streams and pushes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import environments
import pytest
from sdk_agent import Agent
from trials import CHUNKS, until

from inspector.capture.records import Kind, Record
from inspector.findings.finding import Severity
from inspector.protocol.lifecycle import State, is_terminal
from inspector.session.compose.draft import text_draft
from inspector.session.session import Session

pytestmark = pytest.mark.interop


@pytest.fixture
async def session(agent: Agent, tmp_path: Path) -> AsyncIterator[Session]:
    session = Session(tmp_path / "capture")
    try:
        await session.connect(agent.url)
        yield session
    finally:
        await session.close()


def deliveries(session: Session) -> list[Record]:
    return [record for record in session.journal.capture.select() if record.kind is Kind.DELIVERY]


async def test_the_session_uses_the_version_of_the_agent(agent: Agent, session: Session):
    assert session.choice.dialect.version == agent.version
    assert session.choice.binding.name == "JSONRPC"


async def test_the_events_of_a_stream_build_its_task(session: Session):
    call = session.send(text_draft("stream 5"), stream=True)
    assert await call.finish() is None
    [task] = session.tasks.all()
    assert task.answered.state == State.COMPLETED
    assert str(task.answered.artifacts["chunks"].text) == CHUNKS


async def test_the_official_agents_cause_no_findings_of_severity_error(session: Session):
    for text in ("echo hello", "stream 3", "input", "fail"):
        for stream in (False, True):
            assert await session.send(text_draft(text), stream=stream).finish() is None
    records = list(session.journal.capture.select())
    assert sum(record.kind is Kind.END for record in records) > 8  # the card's and those of all sends
    found = [finding for record in records for finding in record.findings]
    assert [finding for finding in found if finding.severity is Severity.ERROR] == []


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "blocking"])
async def test_pushes_are_accepted_and_match_the_response(session: Session, stream: bool):
    await session.push.turn_on()
    assert await session.send(text_draft("push"), stream=stream).finish() is None
    [task] = session.tasks.all()
    await until(session, lambda: is_terminal(task.pushed.state))
    assert (task.pushed.state, task.answered.state) == (State.COMPLETED, State.COMPLETED)
    assert str(task.pushed.artifacts["chunks"].text) == str(task.answered.artifacts["chunks"].text) == CHUNKS
    [registration] = session.push.registrations
    assert registration.task_id == task.id
    assert registration.refused == 0
    assert registration.accepted == len(deliveries(session))


@pytest.mark.parametrize("agent", [name for name, sdk in environments.SDKS.items() if not sdk.waits], indirect=True)
async def test_pushes_continue_after_a_send_that_returns_immediately(session: Session):
    await session.push.turn_on()
    assert await session.send(text_draft("push", blocking=False), stream=False).finish() is None
    [task] = session.tasks.all()
    assert not is_terminal(task.answered.state)
    await until(session, lambda: is_terminal(task.pushed.state))
    assert len(deliveries(session)) > 5
    assert task.now is task.pushed
    assert str(task.now.artifacts["chunks"].text) == CHUNKS
