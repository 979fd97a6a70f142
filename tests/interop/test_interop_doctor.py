"""The doctor at agents of the official SDKs: what they declare is what it hears, and a wrong card is seen through."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trials
from conftest import Agent

from inspector.protocol.dialects import v1_0
from inspector.session.doctor.doctor import Doctor
from inspector.session.doctor.steps import Report
from inspector.session.session import Session

pytestmark = pytest.mark.interop


@asynccontextmanager
async def fresh(capture: Path) -> AsyncIterator[Session]:
    session = Session(capture)
    try:
        yield session
    finally:
        await session.close()


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    async with fresh(tmp_path / "capture") as one:
        yield one


async def examined(session: Session, reference: str, message: str = "") -> Report:
    doctor = Doctor(session, reference, message)
    async for _ in doctor.examine():
        pass
    return doctor.report


async def test_every_interface_speaks_what_the_card_declares(agent: Agent, session: Session):
    report = await examined(session, agent.url)
    assert [step for step in report.steps if step.passed is False] == []
    assert report.proposals == []
    interfaces = [row for row in report.comparisons if row.feature.startswith("interface")]
    transports = agent.sdk.transports
    assert [row.observed for row in interfaces] == [f"{agent.version} over {one}" for one in transports]
    assert [row.matches for row in interfaces] == [True] * len(transports)


async def test_a_message_shows_that_streaming_and_push_are_as_declared(agent: Agent, session: Session):
    report = await examined(session, agent.url, "push")
    assert [step for step in report.steps if step.passed is False] == []
    assert [
        (row.feature, row.matches) for row in report.comparisons if row.feature in ("streaming", "push notifications")
    ] == [
        ("streaming", True),
        ("push notifications", True),
    ]


@pytest.mark.parametrize("agent", ["v0_2"], indirect=True)
async def test_where_the_card_claims_1_0_an_older_version_is_proposed_that_works(
    agent: Agent, session: Session, tmp_path: Path
):
    await session.connect(agent.url)
    card = session.connection.card
    claims = [one.model_copy(update={"protocol_version": "1.0"}) for one in card.supported_interfaces]
    wrong = tmp_path / "card.json"
    wrong.write_text(json.dumps(v1_0.DIALECT.encode_card(card.model_copy(update={"supported_interfaces": claims}))))
    report = await examined(session, str(wrong))
    assert not report.passed
    assert [row.matches for row in report.comparisons if row.feature.startswith("interface")] == [False, False]
    assert [one.choice.binding.name for one in report.proposals] == ["JSONRPC", "GRPC"]
    for proposal in report.proposals:
        # A GetTask of 0.2 is one of 0.3, so either may be proposed: what counts is that one can talk as it says.
        assert proposal.choice.dialect.version in ("0.2", "0.3")
        async with fresh(tmp_path / proposal.choice.binding.name) as talking:
            await talking.connect(str(wrong))
            talking.use(proposal.choice)
            await trials.send(talking)
            await trials.stream(talking)
            await trials.get(talking)
            await trials.cancel(talking)
