"""The doctor with agents of the official SDKs: it confirms their cards and detects a wrong card."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trials
from sdk_agent import Agent

from inspector.protocol.dialects import v1_0
from inspector.session.doctor.doctor import Doctor
from inspector.session.doctor.steps import Report
from inspector.session.session import Session

pytestmark = pytest.mark.interop


@asynccontextmanager
async def new_session(capture: Path) -> AsyncIterator[Session]:
    session = Session(capture)
    try:
        yield session
    finally:
        await session.close()


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    async with new_session(tmp_path / "capture") as item:
        yield item


async def examine(session: Session, reference: str, message: str = "") -> Report:
    doctor = Doctor(session, reference, message)
    async for _ in doctor.examine():
        pass
    return doctor.report


async def test_every_interface_has_the_declared_version(agent: Agent, session: Session):
    report = await examine(session, agent.url)
    assert [step for step in report.steps if step.passed is False] == []
    assert report.proposals == []
    interfaces = report.interfaces
    transports = agent.sdk.transports
    assert [row.observed for row in interfaces] == [f"{agent.version} over {transport}" for transport in transports]
    assert [row.matches for row in interfaces] == [True] * len(transports)


async def test_streaming_and_push_work_as_declared(agent: Agent, session: Session):
    report = await examine(session, agent.url, "push")
    assert [step for step in report.steps if step.passed is False] == []
    assert [
        (row.feature, row.matches) for row in report.comparisons if row.feature in ("streaming", "push notifications")
    ] == [
        ("streaming", True),
        ("push notifications", True),
    ]


@pytest.mark.parametrize("agent", ["v0_2"], indirect=True)
async def test_a_wrong_version_on_the_card_gets_a_working_proposal(agent: Agent, session: Session, tmp_path: Path):
    await session.connect(agent.url)
    card = session.connection.card
    claims = [item.model_copy(update={"protocol_version": "1.0"}) for item in card.supported_interfaces]
    wrong = tmp_path / "card.json"
    wrong.write_text(json.dumps(v1_0.DIALECT.encode_card(card.model_copy(update={"supported_interfaces": claims}))))
    report = await examine(session, str(wrong))
    assert not report.passed
    assert [row.matches for row in report.interfaces] == [False, False]
    assert [item.choice.binding.name for item in report.proposals] == ["JSONRPC", "GRPC"]
    for proposal in report.proposals:
        # GetTask is the same in 0.2 and 0.3, so either may be proposed; calls must work with the proposed version.
        assert proposal.choice.dialect.version in ("0.2", "0.3")
        async with new_session(tmp_path / proposal.choice.binding.name) as other:
            await other.connect(str(wrong))
            other.use(proposal.choice)
            await trials.send(other)
            await trials.stream(other)
            await trials.get(other)
            await trials.cancel(other)
