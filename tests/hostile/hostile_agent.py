"""An agent that sends any bytes, for tests with hostile content."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

CARD_PATH = "/.well-known/agent-card.json"
STREAM = "text/event-stream"
_SECONDS = 20


@dataclass(frozen=True)
class ReceivedRequest:
    """A received request: its path and its JSON-RPC body, empty for a GET."""

    path: str
    rpc: Any

    @property
    def method(self) -> str:
        return str(self.rpc.get("method", ""))

    @property
    def text(self) -> str:
        """The text of the message in the request."""
        return str(self.rpc["params"]["message"]["parts"][0]["text"])

    @property
    def webhook(self) -> Any:
        """The webhook in the request, None if there is none."""
        return self.rpc["params"].get("configuration", {}).get("taskPushNotificationConfig")

    def result(self, value: Any) -> bytes:
        return dump({"jsonrpc": "2.0", "id": self.rpc["id"], "result": value})

    def error(self, code: int, message: str, data: Any = None) -> bytes:
        return dump({"jsonrpc": "2.0", "id": self.rpc["id"], "error": {"code": code, "message": message, "data": data}})

    def frame(self, value: Any, *, head: bytes = b"") -> bytes:
        """Return an SSE event; `head` are lines before its data."""
        return head + b"data: " + self.result(value) + b"\n\n"


def dump(value: Any) -> bytes:
    """Write JSON without escapes, except for C0 controls, so that the UTF-8 decoder is tested."""
    return json.dumps(value, ensure_ascii=False).translate(_CONTROLS).encode("utf-8", "surrogatepass")


# JSON requires escapes for C0 controls only.
_CONTROLS = {code: f"\\u{code:04x}" for code in range(0x20)}


def answer(body: bytes, *headers: bytes, content_type: str = "application/json", status: str = "200 OK") -> bytes:
    """Return a complete response with raw headers."""
    lines = [f"HTTP/1.1 {status}".encode(), f"Content-Type: {content_type}".encode(), *headers]
    return b"\r\n".join([*lines, f"Content-Length: {len(body)}".encode(), b"Connection: close", b"", body])


def stream(*chunks: bytes, headers: Sequence[bytes] = ()) -> list[bytes]:
    """Return a response in chunks that ends when the connection closes."""
    return [b"\r\n".join([b"HTTP/1.1 200 OK", b"Content-Type: text/event-stream", *headers, b"", b""]), *chunks]


Respond = Callable[["HostileAgent", ReceivedRequest], bytes | list[bytes]]


@dataclass
class HostileAgent:
    """Serve a card and respond to calls with `respond`; after a message with a webhook, send it `pushes`."""

    card: dict[str, Any]
    respond: Respond
    url: str = ""
    usable: bool = True
    """Whether the card contains the interface of the agent."""
    pushes: Callable[[ReceivedRequest], list[tuple[bytes, bytes]]] = field(default=lambda request: [])
    """Returns the pushes: lines of the head and the body of each."""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await _read(reader)
            response = answer(self.card_bytes()) if request.path == CARD_PATH else self._answer(request)
            for chunk in [response] if isinstance(response, bytes) else response:
                writer.write(chunk)
                await writer.drain()
                await asyncio.sleep(0.001)  # so that the chunks arrive separately
            writer.close()
            if request.rpc and "message" in request.rpc.get("params", {}) and request.webhook:
                for head, body in self.pushes(request):
                    await post(request.webhook, head, body)
        except ConnectionError:
            return  # the client has disconnected

    def card_bytes(self) -> bytes:
        interface = {"url": f"{self.url}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        others = self.card.get("supportedInterfaces", [])
        return dump({**self.card, "supportedInterfaces": [*([interface] if self.usable else []), *others]})

    def _answer(self, request: ReceivedRequest) -> bytes | list[bytes]:
        return self.respond(self, request) if request.rpc else answer(b"", status="404 Not Found")


async def _read(reader: asyncio.StreamReader) -> ReceivedRequest:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = next(
        (int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length")), 0
    )
    body = await reader.readexactly(length)
    return ReceivedRequest(head.split(" ")[1], json.loads(body) if body else {})


async def post(webhook: dict[str, str], head: bytes, body: bytes) -> bytes:
    """Post to a webhook with raw header lines; return the status line of the response."""
    url = urlsplit(webhook["url"])
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    lines = [
        f"POST {url.path} HTTP/1.1\r\nHost: {url.netloc}\r\nConnection: close".encode(),
        f"X-A2A-Notification-Token: {webhook['token']}\r\nContent-Type: application/json".encode(),
        *([head] if head else []),
        f"Content-Length: {len(body)}".encode(),
    ]
    writer.write(b"\r\n".join([*lines, b"", body]))
    status = await reader.readline()
    writer.close()
    return status


class ServerThread:
    """An event loop in a thread, which runs the agents while a test waits for a terminal."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hostile-agents", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(_SECONDS)

    @contextmanager
    def serving(self, hostile_agent: HostileAgent) -> Iterator[HostileAgent]:
        server = self.run(asyncio.start_server(hostile_agent.handle, "127.0.0.1", 0))
        hostile_agent.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield hostile_agent
        finally:
            self._loop.call_soon_threadsafe(server.close)

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_SECONDS)
        self._loop.close()
