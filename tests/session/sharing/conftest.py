"""Fixtures: captures of sessions against the mock agent, over each binding, with a webhook."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.server import MockAgent
from recorded_sessions import Record
from scripted import OpenSession

from inspector.capture.records import Kind
from inspector.session.compose.draft import text_draft


@pytest.fixture
async def record(open_session: OpenSession) -> AsyncIterator[Record]:
    """Return a function that records a stream, messages, errors, a webhook with deliveries, and notes."""

    running: list[MockAgent] = []

    async def run(version: str, binding: str) -> Path:
        mock = MockAgent(Profile(("1.0", "0.3")), pace=0, push_pause=0)
        await mock.start()
        running.append(mock)
        session = await open_session(mock.url, transports=(binding,), version=version)
        for text, stream in (("report 3", True), ("echo hello", False), ("fail", True)):
            await session.send(text_draft(text), stream=stream).finish()
        await session.get("unknown").finish()
        await session.push.turn_on()
        call = session.send(text_draft("report 2"), stream=True)
        await call.finish()
        async with asyncio.timeout(10):
            while not session.journal.capture.select(kinds={Kind.DELIVERY}):
                await asyncio.sleep(0.02)
        session.bookmarks.toggle(7)
        session.bookmarks.remark(8, "look \ud800 here")
        session.note("the end")
        await session.close()
        return session.journal.capture.path

    yield run
    for mock in running:
        await mock.stop()
