"""Agents with scripted responses, and functions that return the records of a session."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from aiohttp import web

from inspector.capture.records import Kind, Record
from inspector.findings.rules import RULES
from inspector.protocol.errors import Fault, FaultError, Whose
from inspector.session.call import Call
from inspector.session.compose.draft import text_draft
from inspector.session.session import Session

OpenSession = Callable[..., Awaitable[Session]]
"""The type of the fixture `open_session`."""

PATIENCE = 10.0
CARD_PATH = "/.well-known/agent-card.json"
OLD_CARD_PATH = "/.well-known/agent.json"
KEPT = {"Cache-Control": "max-age=60", "ETag": '"1"'}
"""The headers of a card that 1.0 recommends."""


@dataclass(frozen=True)
class Heard:
    """One request as the agent received it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """Return the body as JSON."""
        return json.loads(self.body)


Handle = Callable[[web.BaseRequest, Heard], Awaitable[web.StreamResponse]]


@dataclass
class Agent:
    """A server with a handler for each path; every request is stored in `heard`."""

    url: str = ""
    routes: dict[str, Handle] = field(default_factory=dict)
    heard: list[Heard] = field(default_factory=list)
    open: int = 0

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Pass a request to the handler of its path."""
        heard = Heard(request.method, request.path_qs, dict(request.headers), await request.read())
        self.heard.append(heard)
        self.open += 1
        try:
            handle = self.routes.get(request.path, not_found)
            return await handle(request, heard)
        finally:
            self.open -= 1

    @property
    def calls(self) -> list[Heard]:
        """Return the requests that did not fetch a card."""
        return [request for request in self.heard if request.method == "POST"]

    def serve_card(self, path: str = CARD_PATH, **members: Any) -> None:
        """Serve a card with this agent's interface, changed by `members`."""
        self.routes[path] = giving(card_of(f"{self.url}/rpc", **members), headers=KEPT)

    def answer(self, handle: Handle) -> None:
        """Answer calls with this handler, and serve a card that leads to them."""
        self.routes["/rpc"] = handle
        self.serve_card()


@asynccontextmanager
async def scripted() -> AsyncIterator[Agent]:
    """Run an agent without any route while the context lasts."""
    agent = Agent()
    server = web.Server(agent.handle, handler_cancellation=True, access_log=None)
    runner = web.ServerRunner(server, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    agent.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield agent
    finally:
        await runner.cleanup()


def card_of(place: str, /, **members: Any) -> dict[str, Any]:
    """Return a card without findings, changed by `members`; a member that is None is left out."""
    interface = {"url": place, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    card: dict[str, Any] = {
        "name": "Scripted",
        "description": "Answers as a test wants",
        "supportedInterfaces": [interface],
        "version": "1.0.0",
        "capabilities": {"streaming": True, "pushNotifications": True},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "any", "name": "Any", "description": "Anything", "tags": ["test"]}],
    }
    return {name: member for name, member in (card | members).items() if member is not None}


def old_card_of(url: str, **members: Any) -> dict[str, Any]:
    """Return a 0.3 card without findings."""
    old = {"url": url, "protocolVersion": "0.3.0", "preferredTransport": "JSONRPC"}
    return card_of("", supportedInterfaces=None, **(old | members))


def giving(value: Any, **members: Any) -> Handle:
    """Return a handler that answers with JSON, or with these bytes."""

    async def handle(_: web.BaseRequest, __: Heard) -> web.StreamResponse:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        return web.Response(body=body, **({"content_type": "application/json"} | members))

    return handle


async def refused(open_session: OpenSession, url: str, **settings: Any) -> Any:
    """Connect to a URL that cannot be connected to, and return the fault."""
    with pytest.raises(FaultError) as raised:
        await open_session(url, **settings)
    fault = raised.value.fault
    assert fault.seen
    assert fault.hint
    return fault


async def not_found(_: web.BaseRequest, __: Heard) -> web.StreamResponse:
    """Answer with 404."""
    return web.Response(status=404, text="nothing here")


def redirecting(location: str, status: int = 302) -> Handle:
    """Return a handler that redirects the client."""

    async def handle(_: web.BaseRequest, __: Heard) -> web.StreamResponse:
        return web.Response(status=status, headers={"Location": location})

    return handle


def answering(result: Any = None, /, **members: Any) -> Handle:
    """Return a handler that answers a call with a result, or with other members of the envelope."""

    async def handle(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        envelope = {"jsonrpc": "2.0", "id": heard.json["id"]} | ({} if result is None else {"result": result}) | members
        envelope = {name: member for name, member in envelope.items() if member is not ...}
        return await giving(envelope)(request, heard)

    return handle


def streaming(*events: Any, then: Callable[[], Awaitable[None]] | None = None, cut: bool = False) -> Handle:
    """Return a handler that streams events, bytes unchanged; `then` keeps the stream open, `cut` disconnects it."""

    async def handle(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        for event in events:
            await response.write(event if isinstance(event, bytes) else frame(event, heard.json["id"]))
        if then is not None:
            await then()
        if cut and request.transport is not None:
            request.transport.abort()
        return response

    return handle


def frame(result: Any, identity: Any, **members: Any) -> bytes:
    """Return one event of a stream in its envelope."""
    envelope = {"jsonrpc": "2.0", "id": identity, "result": result} | members
    return b"data: " + json.dumps({k: v for k, v in envelope.items() if v is not ...}).encode() + b"\n\n"


def checked(fault: Fault | None) -> Fault:
    """Return a fault, after checking that it names whose it is, the cause and the next step."""
    assert fault is not None
    assert isinstance(fault.whose, Whose)
    assert fault.seen.endswith(".")
    assert fault.hint.endswith((".", "?"))
    return fault


# 1.0 events


def task(state: str, *artifacts: Any, id: str = "t", context: str = "c") -> dict[str, Any]:  # noqa: A002
    """Return a task."""
    whole: dict[str, Any] = {"id": id, "contextId": context, "status": {"state": f"TASK_STATE_{state}"}}
    return whole | ({"artifacts": list(artifacts)} if artifacts else {})


def status(state: str, said: str = "", id: str = "t", context: str = "c") -> dict[str, Any]:  # noqa: A002
    """Return a status update in its wrapper."""
    about: dict[str, Any] = {"state": f"TASK_STATE_{state}" if state.isupper() else state}
    if said:
        about["message"] = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": said}]}
    return {"statusUpdate": {"taskId": id, "contextId": context, "status": about}}


def artifact(text: str, id: str = "t", name: str = "a", **members: Any) -> dict[str, Any]:  # noqa: A002
    """Return an artifact update in its wrapper."""
    whole = {"artifactId": name, "parts": [{"text": text}]}
    return {"artifactUpdate": {"taskId": id, "contextId": "c", "artifact": whole} | members}


def message(text: str, **members: Any) -> dict[str, Any]:
    """Return a message in its wrapper."""
    return {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]} | members}


# Calls and records of a session


async def drive(call: Call) -> Call:
    """Run a call to its end."""
    async with asyncio.timeout(PATIENCE):
        await call.finish()
    return call


async def say(session: Session, text: str = "hello", *, stream: bool = True, **aim: Any) -> Call:
    """Send a text and wait for the end."""
    return await drive(session.send(text_draft(text, **aim), stream=stream))


def records(session: Session, *kinds: Kind) -> list[Record]:
    """Return the records, or those of these kinds."""
    capture = session.journal.capture
    return [record for record in capture.slice(1, len(capture)) if not kinds or record.kind in kinds]


def rules(session: Session) -> set[str]:
    """Return the rules that were broken."""
    return set(session.journal.found)


def events(found: Iterable[Record]) -> list[tuple[str, str, str]]:
    """Return kind, event and short state of records."""
    return [(record.kind.value, record.event, record.state.removeprefix("TASK_STATE_").lower()) for record in found]


def hurry(session: Session, seconds: float) -> None:
    """Limit the silence of the agent from now on; a busy machine may need longer for the card before."""
    for client in session.client._clients.values():
        client.timeout = httpx.Timeout(seconds, connect=PATIENCE)


async def eventually(condition: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.005)


def new_id() -> str:
    """Return a random id."""
    return str(uuid.uuid4())


WORKING = {"task": task("WORKING")}
DONE = status("COMPLETED")
OLD_TASK = {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "working"}}
"""A task in the shape of 0.3."""


def finding_of(session: Any, rule: str) -> tuple[str, str]:
    """Return the pointer and the text of the first finding of a rule."""
    record = session.journal.capture.get(session.journal.found[rule][0])
    [found] = [finding for finding in record.findings if finding.rule == rule][:1]
    assert found.severity is RULES[rule].severity
    return found.pointer, found.seen
