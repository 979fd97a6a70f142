"""A2A 1.1 (draft): the rows of a stream show the revision of the task."""

from __future__ import annotations

from inspector.sample_agents.profile import Profile
from inspector.sample_agents.server import MockAgent
from scripted import OpenSession

from inspector.capture.records import Kind
from inspector.session.compose.draft import text_draft


async def test_each_event_shows_its_revision(open_session: OpenSession):
    agent = MockAgent(Profile(versions=("1.0", "1.1")), pace=0)
    await agent.start()
    try:
        session = await open_session(agent.url, version="1.1")
        await session.send(text_draft("report 2"), stream=True).finish()
        labels = [record.label for record in session.journal.capture.select(kinds=[Kind.FRAME])]
        assert [label.rpartition("revision ")[2] for label in labels] == [str(at + 1) for at in range(len(labels))]
        assert "report.md · revision 3" in labels
    finally:
        await agent.stop()
