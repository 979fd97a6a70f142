"""A session without the rules: the same records, events and tasks, but no findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector.sample_agents.server import serve_in_thread

from inspector.session.compose.draft import text_draft
from inspector.session.session import Session
from inspector.session.settings import Settings


async def recorded(path: Path, url: str, *, check: bool) -> tuple[list[Any], list[str], int]:
    """Return the kind, the event and the state of each record, the states of the tasks, and the number of findings."""
    session = Session(path, Settings(check=check))
    try:
        await session.connect(url)
        for stream in (True, False):
            call = session.send(text_draft("report 3"), stream=stream)
            assert await call.finish() is None
            assert call.exchange.task_id
        assert await session.get(call.exchange.task_id).finish() is None
        records = session.journal.capture.select()
        kept = [(record.kind, record.operation, record.event, record.state, record.exchange) for record in records]
        states = [task.now.state for task in session.tasks.all()]
        return kept, states, sum(len(record.findings) for record in records)
    finally:
        await session.close()


async def test_without_the_rules_the_records_and_tasks_are_the_same(tmp_path: Path):
    with serve_in_thread(pace=0) as url:
        checked = await recorded(tmp_path / "checked", url, check=True)
        unchecked = await recorded(tmp_path / "unchecked", url, check=False)
    assert unchecked[:2] == checked[:2]
    assert unchecked[1] == ["TASK_STATE_COMPLETED"] * 2


async def test_without_the_rules_there_are_no_findings(tmp_path: Path):
    card = tmp_path / "card.json"
    card.write_text('{"name": "n", "supportedInterfaces": []}', "utf-8")
    for check in (True, False):
        session = Session(tmp_path / f"capture-{check}", Settings(check=check))
        try:
            found = (await session.connect(str(card))).findings
        finally:
            await session.close()
        assert bool(found) is check
