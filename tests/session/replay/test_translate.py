"""Translation: the payload of every record can be read in every dialect."""

from __future__ import annotations

from pathlib import Path

import pytest
from inspector.sample_agents.server import MockAgent

from inspector.capture.records import Kind, Record
from inspector.protocol.dialects.registry import ALL
from inspector.protocol.errors import FaultError
from inspector.protocol.model import SendRequest, TaskArtifactUpdateEvent
from inspector.session.compose.draft import text_draft
from inspector.session.replay.translate import canonical, dialect_name, sent_message, translations
from inspector.session.session import Session
from inspector.session.settings import Settings


async def recorded(tmp_path: Path, version: str) -> tuple[Session, list[Record]]:
    agent = MockAgent(pace=0)
    url = await agent.start()
    session = Session(tmp_path / "lens.a2a", Settings(version=version))
    await session.connect(url)
    await session.push.turn_on()
    call = session.send(text_draft("report 3"), stream=True)
    assert await call.finish() is None
    await agent.stop()
    return session, session.journal.capture.select()


@pytest.mark.parametrize("version", ["1.0", "0.3"])
async def test_payloads_are_translated_to_every_dialect_their_own_first(tmp_path: Path, version: str):
    session, records = await recorded(tmp_path, version)
    seen = [
        record for record in records if record.kind in (Kind.FRAME, Kind.REQUEST) and record.operation != "GetAgentCard"
    ]
    assert len(seen) >= 6
    for record in seen:
        spelled = translations(record, session.journal.capture.request_of(record))
        assert len(spelled) == len(ALL)
        assert spelled[0].name.startswith(version)
        assert spelled[0].losses == ()
    await session.close()


async def test_a_chunk_is_the_same_object_in_every_version(tmp_path: Path):
    session, records = await recorded(tmp_path, "0.3")
    chunk = next(record for record in records if record.event == "artifact" and record.kind is Kind.FRAME)
    value = canonical(chunk, session.journal.capture.request_of(chunk))
    assert isinstance(value, TaskArtifactUpdateEvent)
    ours = {
        translation.name: translation.value
        for translation in translations(chunk, session.journal.capture.request_of(chunk))
    }
    assert ours["0.3 JSON-RPC"]["kind"] == "artifact-update"
    assert ours["1.0"]["artifactUpdate"]["artifact"]["name"] == "report.md"
    await session.close()


async def test_heads_and_ends_have_no_translations(tmp_path: Path):
    session, records = await recorded(tmp_path, "1.0")
    for record in records:
        if record.kind in (Kind.RESPONSE, Kind.END, Kind.NOTE):
            assert translations(record, session.journal.capture.request_of(record)) == []
    await session.close()


async def test_a_message_is_sent_again_without_its_webhook(tmp_path: Path):
    session, records = await recorded(tmp_path, "1.0")
    request = next(record for record in records if record.operation == "SendStreamingMessage")
    again = sent_message(request)
    assert isinstance(again, SendRequest)
    assert again.message.parts[0].text == "report 3"
    assert again.configuration is not None
    assert again.configuration.task_push_notification_config is None
    await session.close()


async def test_records_without_a_message_cannot_be_sent_again(tmp_path: Path):
    session, records = await recorded(tmp_path, "1.0")
    card = next(record for record in records if record.operation == "GetAgentCard")
    with pytest.raises(FaultError, match="does not contain a message"):
        session.send_again(card.seq, session.choice)
    await session.close()


def test_dialect_names_are_unique():
    assert len({dialect_name(dialect) for dialect in ALL}) == len(ALL)
