"""Proxies between a client and an agent, each with one fault or habit that is seen in practice, and ports to confuse.

python tests/parts/proxies.py cut=1 http://127.0.0.1:9000      prints the URL of the proxy
"""

from __future__ import annotations

import asyncio
import ssl
import sys
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, web
from stream_servers import serving_bytes

_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "host", "date", "server"})
_PAGE = "<html><head><title>404 Not Found</title></head><body>nginx</body></html>"
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_SETTINGS = b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
_GOAWAY = b"\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"


@dataclass(frozen=True)
class Habits:
    """What a proxy does; the default is a correct proxy, with the URL of the proxy on the card of the agent.

    - `cut`: close streams after this many seconds, with a correct end of the response; 0 for never.
    - `cut_at`: close a stream in the same way after this text.
    - `buffer`: send a stream when it has ended.
    - `gzip`: compress all bodies.
    - `media_type`: replaces `text/event-stream`.
    - `prefix`: the path below which the agent is reached; all other paths are 404 with an HTML page.
    - `card_url`: the URL of the agent on the card, with `{netloc}` for the host and port of the proxy; None for the URL
      of the proxy, "" to keep the card.
    - `drops`: the names of request headers that are not forwarded.
    - `missing`: the ends of paths, and the methods of JSON-RPC, that are answered with 404 and a JSON body.
    - `broken`: like `missing`, but answered with 500 and this text.
    - `tls`: serve https.
    """

    cut: float = 0.0
    cut_at: str = ""
    buffer: bool = False
    gzip: bool = False
    media_type: str = ""
    prefix: str = ""
    card_url: str | None = None
    drops: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    broken: dict[str, str] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None


@asynccontextmanager
async def proxy(upstream: str, habits: Habits) -> AsyncIterator[str]:
    """Serve a proxy for the agent at `upstream`, and yield its URL."""
    async with AsyncExitStack() as ends:
        timeout = ClientTimeout(total=None)
        client = await ends.enter_async_context(
            ClientSession(timeout=timeout, cookie_jar=DummyCookieJar(), auto_decompress=False)
        )
        handler = _Proxy(upstream.rstrip("/"), habits, client)
        server = web.Server(handler.handle, access_log=None, handler_cancellation=True)
        runner = web.ServerRunner(server, shutdown_timeout=0.1)
        await runner.setup()
        ends.push_async_callback(runner.cleanup)
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=habits.tls).start()
        handler.url = f"{'https' if habits.tls else 'http'}://127.0.0.1:{runner.addresses[0][1]}{habits.prefix}"
        yield handler.url


class _Proxy:
    def __init__(self, upstream: str, habits: Habits, client: ClientSession) -> None:
        self.url = ""
        self._upstream = upstream
        self._habits = habits
        self._client = client

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        habits = self._habits
        if not request.path.startswith(f"{habits.prefix}/"):
            return web.Response(status=404, text=_PAGE, content_type="text/html")
        body = await request.read()
        called = request.path, _rpc_method(body)
        if any(call.endswith(end) for end in habits.missing for call in called if call):
            return web.json_response({"detail": "Not Found"}, status=404)
        for end, text in habits.broken.items():
            if any(call.endswith(end) for call in called if call):
                return web.Response(status=500, text=text)
        dropped = _HOP | {name.lower() for name in habits.drops}
        headers = {name: value for name, value in request.headers.items() if name.lower() not in dropped}
        target = f"{self._upstream}{request.path_qs.removeprefix(habits.prefix)}"
        async with self._client.request(request.method, target, data=body or None, headers=headers) as answer:
            return await self._pass_on(request, answer)

    async def _pass_on(self, request: web.BaseRequest, answer: Any) -> web.StreamResponse:
        habits = self._habits
        headers = {name: value for name, value in answer.headers.items() if name.lower() not in _HOP}
        streamed = answer.content_type == "text/event-stream"
        if streamed and habits.media_type:
            headers = {"Content-Type": habits.media_type}
        if habits.gzip:
            headers["Content-Encoding"] = "gzip"
        response = web.StreamResponse(status=answer.status, headers=headers)
        await response.prepare(request)
        packer = zlib.compressobj(wbits=31) if habits.gzip else None
        if not streamed or habits.buffer:
            body = await answer.read()
            netloc = urlsplit(self.url).netloc
            own = self.url if habits.card_url is None else habits.card_url.format(netloc=netloc)
            if "/.well-known/" in request.path and own:
                body = body.replace(self._upstream.encode(), own.encode())
            await response.write(packer.compress(body) + packer.flush() if packer else body)
            return response
        began, seen = time.monotonic(), b""
        try:
            async with asyncio.timeout(habits.cut or None):
                async for chunk in answer.content.iter_any():
                    flushed = packer.compress(chunk) + packer.flush(zlib.Z_SYNC_FLUSH) if packer else chunk
                    await response.write(flushed)
                    seen += chunk
                    if habits.cut_at and habits.cut_at.encode() in seen:
                        break
            await response.write(packer.flush() if packer else b"")
        except TimeoutError:
            assert habits.cut, f"no time limit, but it expired after {time.monotonic() - began} s"
        return response


def _rpc_method(body: bytes) -> str:
    """Return the method of a JSON-RPC request, "" for other bodies."""
    _, found, rest = body.partition(b'"method"')
    return rest.split(b'"', 2)[1].decode() if found else ""


@asynccontextmanager
async def http2_only(tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Serve a port that reads only HTTP/2, and yield its URL; another request is answered with SETTINGS and GOAWAY."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):  # the client may close first
            await talk(reader, writer)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received = b""
        while len(received) < len(_PREFACE) and _PREFACE.startswith(received):
            more = await reader.read(len(_PREFACE) - len(received))
            if not more:
                break
            received += more
        writer.write(_SETTINGS if received == _PREFACE else _SETTINGS + _GOAWAY)
        if received == _PREFACE:
            await reader.read()
        writer.close()

    async with serving_bytes(connected, ssl=tls) as place:
        yield f"{'https' if tls else 'http'}://{place}"


async def _main(*arguments: str) -> None:
    *given, upstream = arguments
    pairs = dict(item.split("=", 1) for item in given)
    kinds: dict[str, Any] = {"cut": float, "buffer": bool, "gzip": bool}
    lists = {"drops", "missing"}
    habits = {
        name: kinds.get(name, str)(text) if name not in lists else tuple(text.split(","))
        for name, text in pairs.items()
    }
    async with proxy(upstream, Habits(**habits)) as url:
        print(url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
