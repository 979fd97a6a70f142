"""The doctor at agents of the official SDKs: what they declare is what it hears, and a wrong card is seen through."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import environments
import pytest
from conftest import Agent

from inspector.session.diagnosis import Report
from inspector.session.doctor import Doctor
from inspector.session.session import Session

pytestmark = pytest.mark.interop


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    one = Session(tmp_path / "capture")
    yield one
    await one.close()


async def examined(session: Session, reference: str, message: str = "") -> Report:
    doctor = Doctor(session, reference, message)
    async for _ in doctor.examine():
        pass
    return doctor.report


async def test_every_interface_speaks_what_the_card_declares(agent: Agent, session: Session):
    report = await examined(session, agent.url)
    assert [step for step in report.steps if step.good is False] == []
    assert report.proposals == []
    interfaces = [row for row in report.table if row.thing.startswith("interface")]
    transports = environments.SDKS[agent.name].transports
    assert [row.observed for row in interfaces] == [f"{agent.generation} over {one}" for one in transports]
    assert [row.agree for row in interfaces] == [True] * len(transports)


async def test_a_message_shows_that_streaming_and_push_are_as_declared(agent: Agent, session: Session):
    report = await examined(session, agent.url, "push")
    assert [step for step in report.steps if step.good is False] == []
    assert [(row.thing, row.agree) for row in report.table if row.thing in ("streaming", "push notifications")] == [
        ("streaming", True),
        ("push notifications", True),
    ]


@pytest.mark.parametrize("agent", ["v0_2"], indirect=True)
async def test_a_card_that_claims_another_generation_is_seen_through(agent: Agent, session: Session, tmp_path: Path):
    await session.connect(agent.url)
    card = json.loads(session.connection.card.model_dump_json(by_alias=True, exclude_none=True))
    for interface in card["supportedInterfaces"]:
        interface["protocolVersion"] = "1.0"
    file = tmp_path / "card.json"
    file.write_text(json.dumps(card))
    report = await examined(session, str(file))
    print(report)
    assert not report.sound
