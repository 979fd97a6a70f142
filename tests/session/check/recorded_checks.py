"""Record exchanges with a mock agent, make check files of them, and run these."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from inspector.sample_agents.faults.names import parse_fault
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.scenario.catalog import Scenarios
from inspector.sample_agents.server import MockAgent
from scripted import eventually, records

from inspector.capture.query import Query, parse
from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.protocol.lifecycle import State
from inspector.protocol.model import Message, Part, SendRequest
from inspector.protocol.operations import Operation
from inspector.session.check.document.enumerations import Transport
from inspector.session.check.plan import Selection, plan
from inspector.session.check.reading import CheckFile, parse_document
from inspector.session.check.recorded.making import ALLOWED, make_check
from inspector.session.check.recorded.yaml_text import write_yaml
from inspector.session.check.result import RunResult
from inspector.session.check.runner import Runner, choices
from inspector.session.compose.draft import Draft, DraftPart, PartKind
from inspector.session.session import Session
from inspector.session.settings import Settings

Use = Callable[[Session], Awaitable[None]]


def draft(text: str) -> Draft:
    return Draft((DraftPart(PartKind.TEXT, text),))


@asynccontextmanager
async def agent(*faults: str, pace: float = 0.0, scenarios: Scenarios | None = None, version: str = "") -> Any:
    """Run a mock agent; by default it has 1.0 and 0.3."""
    options = {"behaviours": scenarios} if scenarios else {}
    profile = Profile(versions=(version,)) if version else Profile()
    mock = MockAgent(profile, pace=pace, push_pause=0, faults=tuple(map(parse_fault, faults)), **options)
    await mock.start()
    try:
        yield mock.url
    finally:
        await mock.stop()


async def record(path: Path, url: str, use: Use, transport: Transport = Transport.JSONRPC) -> None:
    session = Session(path, Settings(transports=(transport.binding,), outdated=True))
    await session.connect(url)
    await use(session)
    await session.close()


def made(path: Path, query: str = "", *others: Path, complete: bool = False) -> dict[str, Any]:
    """Make a check of a capture; with `complete`, it must have every exchange."""
    parsed = parse(query) if query else None
    assert parsed is None or isinstance(parsed, Query)
    captures = [Capture.open(each) for each in (path, *others)]
    try:
        check = make_check(captures[0], parsed, others=captures[1:])
        assert not (complete and [note for note in check.notes if not note.startswith(ALLOWED)])
        return check.document
    finally:
        for capture in captures:
            capture.close()


async def run(
    document: dict[str, Any],
    url: str,
    path: Path,
    *,
    trials: int = 1,
    transports: tuple[Transport, ...] = (),
    seconds: float = 6,
) -> RunResult:
    """Write a document as YAML, read it back, and run it."""
    parsed = parse_document(write_yaml(document, ["made by a test"]), "made.acts.yaml")
    planned = plan([CheckFile(Path("made.acts.yaml"), parsed, parsed.variables)], Selection())
    session = Session(path, Settings(outdated=True))
    try:
        await session.connect(url)
        result = RunResult("1.0", "", "", 0.0)
        runner = Runner(session, choices(session, transports), planned, result, trials=trials, jobs=2, seconds=seconds)
        async for _ in runner.results():
            pass
        return result
    finally:
        await session.close()


def assert_passed(result: RunResult) -> None:
    assert result.results
    failures = [failure for each in result.results for failure in each.failures]
    assert result.passed, "\n".join(str(failure) for failure in failures)


def steps_of(document: dict[str, Any], test: int = 0) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = document["suites"][0]["tests"][test]["steps"]
    return steps


async def stream_report(session: Session) -> None:
    await session.send(draft("report 3"), stream=True).finish()


async def send_mixed(session: Session) -> None:
    await session.send(draft("mixed"), stream=False).finish()


async def converse_with_pushes(session: Session) -> None:
    await session.push.turn_on()
    call = session.send(draft("ask"), stream=False)
    await call.finish()
    task = call.exchange.task_id
    answer = Message(message_id="reply", role="ROLE_USER", task_id=task, parts=[Part(text="at eight")])
    await session.call(Operation.SEND, SendRequest(message=answer), task_id=task).finish()
    await session.get(task).finish()
    await eventually(lambda: any(record.state == State.COMPLETED for record in records(session, Kind.DELIVERY)))
    session.push.turn_off()


async def cancel_while_streaming(session: Session) -> None:
    call = session.send(draft("long 30"), stream=True)
    streaming = asyncio.create_task(call.finish())
    while not call.exchange.task_id:
        await asyncio.sleep(0.01)
    await session.cancel(call.exchange.task_id).finish()
    await streaming


async def fail_to_get(session: Session) -> None:
    await session.get("there-is-no-such-task").finish()
    await session.list_tasks().finish()
