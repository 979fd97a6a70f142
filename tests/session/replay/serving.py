"""Record sessions with the mock agent, and serve their captures."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from inspector.sample_agents.replay.agent import ReplayAgent
from inspector.sample_agents.replay.recording import read_recording
from inspector.sample_agents.tls import Tls
from scripted import OpenSession, records

from inspector.capture.store import Capture
from inspector.protocol.model import Message, Part, SendConfiguration, SendRequest
from inspector.session.compose.draft import text_draft
from inspector.session.replay.validation import validated
from inspector.session.session import Session

WAYS = [
    ("1.0", "JSONRPC"),
    ("1.0", "HTTP+JSON"),
    ("1.0", "GRPC"),
    ("0.3", "JSONRPC"),
    ("0.3", "HTTP+JSON"),
    ("0.3", "GRPC"),
    ("0.2", "JSONRPC"),
    ("0.1", "JSONRPC"),
    ("opvs", "JSONRPC"),
    ("1.1", "JSONRPC"),
]


@asynccontextmanager
async def served(
    path: Path, *, pace: float = 0.0, lines: list[str] | None = None, tls: Tls | None = None
) -> AsyncIterator[ReplayAgent]:
    """Serve a capture; `lines` receives the log."""
    with Capture.open(path, validated) as capture:
        log = [] if lines is None else lines
        agent = ReplayAgent(read_recording(capture), pace=pace, log=log.append, tls=tls)
        await agent.start()
        try:
            yield agent
        finally:
            await agent.stop()


async def closed(session: Session) -> Path:
    """Close a session and return its capture."""
    await session.close()
    return session.journal.capture.path


async def send(session: Session, text: str, *, stream: bool = False, **members: Any) -> Any:
    """Send a text and return the call, which has ended."""
    call = session.send(replace(text_draft(text), **members), stream=stream)
    await call.finish()
    return call


async def connected(open_session: OpenSession, url: str, version: str, binding: str) -> Session:
    """Connect a session over a binding in a version; some versions have a card at their own path."""
    home = {"0.1": "/v0.1", "opvs": "/opvs", "0.2": "/v0.2"}.get(version, "")
    asked = "" if version in ("0.1", "0.2") else version
    return await open_session(url + home, version=asked, transports=(binding,))


def quick(text: str) -> SendRequest:
    message = Message(message_id="m-1", role="ROLE_USER", parts=[Part(text=text)])
    return SendRequest(message=message, configuration=SendConfiguration(return_immediately=True))


def outcome(session: Session, call: Any) -> list[Any]:
    """Return the records of a call without ids and times, and how it ended."""
    found = [record for record in records(session) if record.exchange == call.exchange.number]
    rows = [(record.kind, record.event, record.state, [item.rule for item in record.findings]) for record in found]
    end = found[-1].meta
    return [rows, found[1].meta["status"], found[1].label, end["how"], end["events"], end.get("code")]
