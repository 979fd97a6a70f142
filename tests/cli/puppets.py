"""The result of a command, and agents whose responses a test defines, in the event loop of another thread."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

SECONDS = 20
CARD_PATH = "/.well-known/agent-card.json"
RPC_PATH = "/rpc"
CACHING = {"Cache-Control": "max-age=60", "ETag": '"1"'}
CARD = {
    "name": "Puppet",
    "description": "Answers as a test wants",
    "version": "1.0.0",
    "capabilities": {"streaming": True},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "any", "name": "Any", "description": "Anything", "tags": ["test"], "examples": ["do it"]}],
}


@dataclass(frozen=True)
class CliResult:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def error(self) -> dict[str, Any]:
        """Return the error of a command with `-o json`, which is the only line on stderr."""
        [line] = self.err.splitlines()
        return json.loads(line)["error"]


RunCli = Callable[..., CliResult]


class ServerThread:
    """An event loop in another thread, for servers while the program runs in the main thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(SECONDS)

    def end(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(SECONDS)
        self.loop.close()

    @contextmanager
    def serve(
        self,
        handle: Callable[[web.BaseRequest], Coroutine[Any, Any, web.StreamResponse]],
        tls: ssl.SSLContext | None = None,
    ) -> Iterator[str]:
        async def start() -> tuple[web.ServerRunner, str]:
            runner = web.ServerRunner(
                web.Server(handle, access_log=None, handler_cancellation=True), shutdown_timeout=0.1
            )
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
            return runner, f"http{'s' if tls else ''}://127.0.0.1:{runner.addresses[0][1]}"

        runner, url = self.do(start())
        try:
            yield url
        finally:
            self.do(runner.cleanup())

    @contextmanager
    def serve_bytes(self, answer: bytes) -> Iterator[str]:
        """Answer every connection with these bytes and close it."""

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(answer)
            await writer.drain()
            writer.close()

        server = self.do(asyncio.start_server(handle, "127.0.0.1", 0))
        try:
            yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            self.loop.call_soon_threadsafe(server.close)


@dataclass
class Call:
    """A request to a puppet; `rpc` is its body as JSON."""

    request: web.BaseRequest
    body: bytes

    @property
    def rpc(self) -> Any:
        return json.loads(self.body) if self.body else None

    def result(self, value: Any, **more: Any) -> web.Response:
        return web.json_response({"jsonrpc": "2.0", "id": self.rpc["id"], "result": value}, **more)

    def raw(self, body: bytes) -> web.Response:
        return web.Response(body=body, content_type="application/json")

    def error(self, code: int, message: str) -> web.Response:
        return web.json_response({"jsonrpc": "2.0", "id": self.rpc["id"], "error": {"code": code, "message": message}})

    def frame(self, value: Any) -> bytes:
        return b"data: " + json.dumps({"jsonrpc": "2.0", "id": self.rpc["id"], "result": value}).encode() + b"\n\n"

    async def stream(self, *values: Any, breaks_off: bool = False) -> web.StreamResponse:
        """Respond with events; bytes are sent unchanged."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(self.request)
        for value in values:
            await response.write(value if isinstance(value, bytes) else self.frame(value))
        if breaks_off:
            assert self.request.transport is not None
            self.request.transport.abort()
        return response


Answer = Callable[[Call], Coroutine[Any, Any, web.StreamResponse]]


@dataclass
class Puppet:
    """An agent that responds with `answer`; `calls` contains every request."""

    answer: Answer
    card: Any
    url: str = ""
    calls: list[Call] = field(default_factory=list)

    @property
    def methods(self) -> list[str]:
        return [call.rpc["method"] for call in self.calls if call.body]

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        call = Call(request, await request.read())
        self.calls.append(call)
        if request.path == CARD_PATH:
            card = self.card(request) if callable(self.card) else self.card
            if isinstance(card, web.Response):  # each can be sent once
                return web.Response(status=card.status, headers=card.headers, body=card.body)
            return web.json_response(self.whole_card(card), headers=CACHING)
        return await self.answer(call) if request.path == RPC_PATH else web.Response(status=404)

    def whole_card(self, card: Any = None) -> Any:
        interface = {"url": f"{self.url}{RPC_PATH}", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        return {**CARD, "supportedInterfaces": [interface], **(self.card if card is None else card)}


async def silence(call: Call) -> web.StreamResponse:
    await asyncio.sleep(3 * SECONDS)  # longer than each test waits
    return call.error(-32603, "no test should wait for this")


MakeAgent = Callable[..., Puppet]


def task(state: str, **members: Any) -> dict[str, Any]:
    return {"id": "task-1", "contextId": "context-1", "status": {"state": f"TASK_STATE_{state}"}} | members


def status(state: str, text: str = "", *, task: str = "task-1") -> dict[str, Any]:
    message = {"message": {"messageId": f"m-{text}", "role": "ROLE_AGENT", "parts": [{"text": text}]}} if text else {}
    return {
        "statusUpdate": {
            "taskId": task,
            "contextId": "context-1",
            "status": {"state": f"TASK_STATE_{state}"} | message,
        }
    }


def chunk(text: str, **members: Any) -> dict[str, Any]:
    artifact = {"artifactId": "a", "name": "notes", "parts": [{"text": text}]}
    return {"artifactUpdate": {"taskId": "task-1", "contextId": "context-1", "artifact": artifact} | members}


@pytest.fixture(scope="session")
def server_thread() -> Iterator[ServerThread]:
    thread = ServerThread()
    yield thread
    thread.end()


@pytest.fixture
def make_agent(server_thread: ServerThread) -> Iterator[MakeAgent]:
    """Return a function that starts an agent: `answer` handles calls, `card` has members for the standard card."""
    serving = []

    def make(answer: Answer = silence, card: Any = None) -> Puppet:
        made = Puppet(answer, {} if card is None else card)
        context = server_thread.serve(made.handle)
        made.url = context.__enter__()
        serving.append(context)
        return made

    yield make
    for context in serving:
        context.__exit__(None, None, None)


def check_that_sends(variable: str) -> str:
    """Return a check file with a test that sends an environment variable."""
    return _CHECK.replace("VARIABLE", variable)


_CHECK = """\
acts_version: "1.0"
spec_version: "1.0"
suites:
  - id: s
    name: S
    tests:
      - id: T-1
        name: Sends a variable
        level: must
        steps:
          - id: send
            operation: send_message
            params: {message: {parts: [{text: "{{env.VARIABLE}}"}]}}
            expect: {status: 200}
"""


async def done(call: Call) -> web.StreamResponse:
    """Answer a message with a task that has ended."""
    return call.result({"task": task("COMPLETED")})


def header(agent: Puppet, name: str) -> str | None:
    """Return a header of the last call."""
    return agent.calls[-1].request.headers.get(name)
