"""What the tests of the mock agent share: a client over real sockets in either generation, a webhook, and waiting."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiohttp import web

from inspector.protocol.bindings.base import Answer, Item
from inspector.protocol.bindings.jsonrpc import BINDING
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import DIALECTS
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import (
    Event,
    Message,
    Part,
    PushConfig,
    Request,
    SendConfiguration,
    SendRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskRequest,
    TaskStatusUpdateEvent,
)
from inspector.protocol.operations import Operation

PATIENCE = 10.0


async def eventually(condition: Callable[[], Any]) -> Any:
    """Wait until a condition holds, and return what it gave."""
    async with asyncio.timeout(PATIENCE):
        while not (outcome := condition()):
            await asyncio.sleep(0.005)
    return outcome


def say(text: str, *, configuration: SendConfiguration | None = None, **members: Any) -> SendRequest:
    """Return the request that sends a text."""
    message = Message(message_id="m-1", role="ROLE_USER", parts=[Part(text=text)], **members)
    if configuration is None:
        return SendRequest(message=message)
    return SendRequest(message=message, configuration=configuration)


def now_please(**members: Any) -> SendConfiguration:
    """Return the configuration of a client that does not want to wait."""
    return SendConfiguration(return_immediately=True, **members)


def state_of(event: Event) -> str:
    """Return the state that an event speaks of, in short."""
    if isinstance(event, Task | TaskStatusUpdateEvent):
        return event.status.state.removeprefix("TASK_STATE_").lower()
    return "artifact" if isinstance(event, TaskArtifactUpdateEvent) else "message"


def text_of(parts: list[Part]) -> str:
    """Return the text of parts, joined."""
    return "".join(part.text or "" for part in parts)


@dataclass
class Peer:
    """A client of one generation, made of the product's own dialect and binding."""

    session: aiohttp.ClientSession
    base: str
    dialect: Dialect
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Return where the agent serves the generation."""
        return self.base + {"1.0": "/", "0.3": "/v0.3"}[self.dialect.generation]

    async def call(self, operation: Operation, request: Request) -> Answer:
        """Call an operation that is answered once."""
        call = BINDING.encode(self.url, self.dialect, operation, request, "1")
        async with self.session.post(call.url, data=call.body, headers=dict(call.headers) | self.headers) as response:
            assert response.status == 200
            return BINDING.decode_answer(self.dialect, operation, 200, parse(await response.read()))

    async def send(self, text: str, **members: Any) -> Any:
        """Send a text and return the answer."""
        return await self.call(Operation.SEND, say(text, **members))

    async def task(self, task_id: str, history_length: int | None = None) -> Any:
        """Get a task."""
        wanted = {} if history_length is None else {"history_length": history_length}
        return await self.call(Operation.GET, TaskRequest(id=task_id, **wanted))

    async def stream(self, operation: Operation, request: Request) -> AsyncIterator[Item]:
        """Call an operation that is answered with a stream."""
        call = BINDING.encode(self.url, self.dialect, operation, request, "1")
        async with self.session.post(call.url, data=call.body, headers=dict(call.headers) | self.headers) as response:
            if response.content_type != "text/event-stream":
                yield BINDING.decode_item(self.dialect, parse(await response.read()))
                return
            async for line in response.content:
                if line.startswith(b"data: "):
                    yield BINDING.decode_item(self.dialect, parse(line.removeprefix(b"data: ")))

    async def events(self, text: str, **members: Any) -> list[Any]:
        """Send a text and return the whole stream."""
        async with asyncio.timeout(PATIENCE):
            return [item async for item in self.stream(Operation.STREAM, say(text, **members))]

    async def subscribe(self, task_id: str, into: list[Any]) -> None:
        """Collect the events of a subscription until it is over."""
        async for item in self.stream(Operation.SUBSCRIBE, TaskRequest(id=task_id)):
            into.append(item)  # noqa: PERF401 - others watch the list grow


def peer_for(session: aiohttp.ClientSession, base: str, generation: str) -> Peer:
    """Return a client of a generation."""
    return Peer(session, base, DIALECTS[generation])


@dataclass
class Webhook:
    """A receiver of pushes: answers with `status`, keeps what came."""

    url: str = ""
    status: int = 200
    bodies: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.Response:
        """Take a delivery."""
        self.headers.append(dict(request.headers))
        self.bodies.append(json.loads(await request.read()))
        return web.Response(status=self.status)

    def config(self, **members: Any) -> PushConfig:
        """Return a configuration that names this webhook."""
        return PushConfig(url=self.url, **members)
