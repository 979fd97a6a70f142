"""Helpers for the tests of the mock agent: a client over real sockets, a webhook, and waiting."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import grpc.aio
from aiohttp import web
from inspector.sample_agents.server import MockAgent

from inspector.protocol.bindings import jsonrpc
from inspector.protocol.bindings.base import Answer, Binding, GrpcRequest, Item
from inspector.protocol.bindings.grpc import DETAILS, decode_error
from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.dialects import v0_2, v0_3_proto
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import for_interface
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

TIMEOUT_SECONDS = 30.0


async def eventually(condition: Callable[[], Any]) -> Any:
    """Wait until a condition is true and return its value."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not (outcome := condition()):
            await asyncio.sleep(0.005)
    return outcome


def say(text: str, *, configuration: SendConfiguration | None = None, **members: Any) -> SendRequest:
    """Return the request that sends a text."""
    message = Message(message_id="m-1", role="ROLE_USER", parts=[Part(text=text)], **members)
    if configuration is None:
        return SendRequest(message=message)
    return SendRequest(message=message, configuration=configuration)


def immediately(**members: Any) -> SendConfiguration:
    """Return a configuration with `returnImmediately`."""
    return SendConfiguration(return_immediately=True, **members)


def state_of(event: Event) -> str:
    """Return the short name of the state in an event, or the kind of the event."""
    if isinstance(event, Task | TaskStatusUpdateEvent):
        return event.status.state.removeprefix("TASK_STATE_").lower()
    return "artifact" if isinstance(event, TaskArtifactUpdateEvent) else "message"


def text_of(parts: list[Part]) -> str:
    """Return the text of parts, joined."""
    return "".join(part.text or "" for part in parts)


@dataclass
class Peer:
    """A client of one version over one binding; it uses the dialects and bindings of the inspector."""

    session: aiohttp.ClientSession
    agent: MockAgent
    dialect: Dialect
    binding: Binding = jsonrpc.BINDING
    headers: dict[str, str] = field(default_factory=dict)
    home: str | None = None
    """The path of the version if it is not the default path."""

    @property
    def url(self) -> str:
        """Return where the agent serves the version."""
        if self.binding.name == "GRPC":
            return self.agent.grpc_target
        version = self.dialect.version
        usual = {"1.0": "", "opvs": "/opvs"}.get(version, f"/v{version}")
        return self.agent.url + (usual if self.home is None else self.home)

    async def call(self, operation: Operation, request: Request) -> Answer:
        """Call an operation with a single response."""
        if isinstance(request, SendRequest) and self.dialect in (v0_3_proto.DIALECT, v0_2.PROTO_DIALECT):
            request = _waiting(request)
        call = self.binding.encode(self.url, self.dialect, operation, request, "1")
        if isinstance(call, GrpcRequest):
            answers = [answer async for answer in self._grpc(call, operation)]
            return answers[0]
        async with self.session.request(
            call.method, call.url, data=call.body or None, headers=dict(call.headers) | self.headers
        ) as response:
            assert self.binding.name != "JSONRPC" or response.status == 200
            value = self.binding.read(self.dialect, operation, await response.read())
            return self.binding.decode_answer(self.dialect, operation, response.status, value)

    async def _grpc(self, call: GrpcRequest, operation: Operation) -> AsyncIterator[Any]:
        """Call a gRPC method and yield its messages as responses or items, or its error."""
        metadata = tuple((call.metadata | {name.lower(): text for name, text in self.headers.items()}).items())
        async with grpc.aio.insecure_channel(call.target) as channel:
            make = channel.unary_stream if call.streaming else channel.unary_unary
            running = make(call.path)(call.body, metadata=metadata)
            try:
                if not call.streaming:
                    value = self.binding.read(self.dialect, operation, await running)
                    yield self.binding.decode_answer(self.dialect, operation, 0, value)
                    return
                async for message in running:
                    yield self.binding.decode_item(self.dialect, self.binding.read(self.dialect, operation, message))
            except grpc.aio.AioRpcError as error:
                details = dict(error.trailing_metadata() or ()).get(DETAILS, b"")
                yield decode_error(error.code().value[0], error.details() or "", details, self.dialect, operation)

    async def send(self, text: str, **members: Any) -> Any:
        """Send a text and return the response."""
        return await self.call(Operation.SEND, say(text, **members))

    async def task(self, task_id: str, history_length: int | None = None) -> Any:
        """Get a task."""
        wanted = {} if history_length is None else {"history_length": history_length}
        return await self.call(Operation.GET, TaskRequest(id=task_id, **wanted))

    async def stream(self, operation: Operation, request: Request) -> AsyncIterator[Item]:
        """Call a streaming operation."""
        call = self.binding.encode(self.url, self.dialect, operation, request, "1")
        if isinstance(call, GrpcRequest):
            async for item in self._grpc(call, operation):
                yield item
            return
        async with self.session.request(
            call.method, call.url, data=call.body or None, headers=dict(call.headers) | self.headers
        ) as response:
            if response.content_type != "text/event-stream":
                value = self.binding.read(self.dialect, operation, await response.read())
                yield self.binding.decode_answer(self.dialect, operation, response.status, value)
                return
            async for line in response.content:
                if line.startswith(b"data: "):
                    yield self.binding.decode_item(self.dialect, parse(line.removeprefix(b"data: ")))

    async def events(self, text: str, **members: Any) -> list[Any]:
        """Send a text and return the whole stream."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            return [item async for item in self.stream(Operation.STREAM, say(text, **members))]

    async def subscribe(self, task_id: str, into: list[Any]) -> None:
        """Append the events of a subscription to a list until the stream ends."""
        async for item in self.stream(Operation.SUBSCRIBE, TaskRequest(id=task_id)):
            into.append(item)  # noqa: PERF401 - tests read the list while it grows


def _waiting(request: SendRequest) -> SendRequest:
    """Return a request that waits for the task: in the protobuf of 0.3, not waiting is the default."""
    configuration = request.configuration or SendConfiguration()
    if configuration.return_immediately is not None:
        return request
    return request.model_copy(update={"configuration": configuration.model_copy(update={"return_immediately": False})})


def peer_for(session: aiohttp.ClientSession, agent: MockAgent, version: str, binding: str = "JSONRPC") -> Peer:
    """Return a client of a version over a binding."""
    dialect = for_interface(version, binding)
    assert dialect is not None
    return Peer(session, agent, dialect, BINDINGS[binding])


@dataclass
class Webhook:
    """A receiver of pushes: responds with `status` and stores the requests."""

    url: str = ""
    status: int = 200
    bodies: list[Any] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.Response:
        """Store a delivery."""
        self.headers.append(dict(request.headers))
        self.raw.append(await request.read())
        self.bodies.append(json.loads(self.raw[-1]))
        return web.Response(status=self.status)

    def config(self, **members: Any) -> PushConfig:
        """Return a push configuration for this webhook."""
        return PushConfig(url=self.url, **members)
