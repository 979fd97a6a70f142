"""An agent that says whatever it likes, byte by byte, over sockets of its own."""

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
class Asked:
    """One request: its path and what its body says as JSON-RPC, empty for a GET."""

    path: str
    rpc: Any

    @property
    def method(self) -> str:
        return str(self.rpc.get("method", ""))

    @property
    def text(self) -> str:
        """The text of the message that came."""
        return str(self.rpc["params"]["message"]["parts"][0]["text"])

    @property
    def webhook(self) -> Any:
        """The webhook that came with the message, None without one."""
        return self.rpc["params"].get("configuration", {}).get("taskPushNotificationConfig")

    def result(self, value: Any) -> bytes:
        return dump({"jsonrpc": "2.0", "id": self.rpc["id"], "result": value})

    def error(self, code: int, message: str, data: Any = None) -> bytes:
        return dump({"jsonrpc": "2.0", "id": self.rpc["id"], "error": {"code": code, "message": message, "data": data}})

    def frame(self, value: Any, *, head: bytes = b"") -> bytes:
        """Return an event of a stream; `head` are lines of it that stand before its data."""
        return head + b"data: " + self.result(value) + b"\n\n"


def dump(value: Any) -> bytes:
    """Write JSON with every character as it is: escapes in JSON would be no test of what decodes UTF-8."""
    return json.dumps(value, ensure_ascii=False).translate(_CONTROLS).encode("utf-8", "surrogatepass")


# JSON forbids C0 controls as they are, and allows all others.
_CONTROLS = {code: f"\\u{code:04x}" for code in range(0x20)}


def answer(body: bytes, *headers: bytes, content_type: str = "application/json", status: str = "200 OK") -> bytes:
    """Return a whole response, its headers as raw as they are given."""
    lines = [f"HTTP/1.1 {status}".encode(), f"Content-Type: {content_type}".encode(), *headers]
    return b"\r\n".join([*lines, f"Content-Length: {len(body)}".encode(), b"Connection: close", b"", body])


def stream(*chunks: bytes, headers: Sequence[bytes] = ()) -> list[bytes]:
    """Return a response that comes in pieces and ends with the connection."""
    return [b"\r\n".join([b"HTTP/1.1 200 OK", b"Content-Type: text/event-stream", *headers, b"", b""]), *chunks]


Say = Callable[["Villain", Asked], bytes | list[bytes]]


@dataclass
class Villain:
    """Serves a card and answers calls as it is told; `pushes` are sent to a webhook, raw, once a message brings one."""

    card: dict[str, Any]
    say: Say
    url: str = ""
    usable: bool = True
    """Whether the card names the interface that it has."""
    pushes: Callable[[Asked], list[tuple[bytes, bytes]]] = field(default=lambda asked: [])
    """What to post: lines of the head and a body each."""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = await _read(reader)
            given = answer(self.card_bytes()) if asked.path == CARD_PATH else self._answer(asked)
            for piece in [given] if isinstance(given, bytes) else given:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.001)  # so that pieces arrive apart
            writer.close()
            if asked.rpc and "message" in asked.rpc.get("params", {}) and asked.webhook:
                for head, body in self.pushes(asked):
                    await post(asked.webhook, head, body)
        except ConnectionError:
            return  # the other end has gone

    def card_bytes(self) -> bytes:
        interface = {"url": f"{self.url}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        others = self.card.get("supportedInterfaces", [])
        return dump({**self.card, "supportedInterfaces": [*([interface] if self.usable else []), *others]})

    def _answer(self, asked: Asked) -> bytes | list[bytes]:
        return self.say(self, asked) if asked.rpc else answer(b"", status="404 Not Found")


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = next(
        (int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length")), 0
    )
    body = await reader.readexactly(length)
    return Asked(head.split(" ")[1], json.loads(body) if body else {})


async def post(webhook: dict[str, str], head: bytes, body: bytes) -> bytes:
    """Post to a webhook, with lines of the head as raw as they are given, and return the status line of the answer."""
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


class Lair:
    """An event loop in a thread of its own, where villains live while a test waits for a terminal."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="lair", daemon=True)
        self._thread.start()

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_SECONDS)

    @contextmanager
    def serving(self, villain: Villain) -> Iterator[Villain]:
        server = self.do(asyncio.start_server(villain.handle, "127.0.0.1", 0))
        villain.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield villain
        finally:
            self._loop.call_soon_threadsafe(server.close)

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_SECONDS)
        self._loop.close()
