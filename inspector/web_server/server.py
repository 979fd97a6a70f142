"""The web server: the page, the web socket of each visitor, and downloads; only for this machine and with a token.

The token in the URL keeps out other users and programs of this machine. The check of the Host header keeps out web
pages whose name was bound to the loopback address (DNS rebinding), that of the Origin header other web pages that open
the web socket. There is no cookie: a browser would send it to every port of this machine.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

import textual_serve
from aiohttp import WSMsgType, web
from textual_serve.download_manager import DownloadManager

from inspector.web_server.visitor import LaunchArguments, Visitor, bounded

LOOPBACK = "127.0.0.1"
_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
"""The names of this machine in a Host header; the port may be that of a tunnel (`ssh -L`)."""
_HERE = Path(__file__).parent
_SHARED = Path(textual_serve.__file__).parent / "static"
"""The terminal of the page (xterm.js) and its font, from textual-serve."""
_LARGEST_MESSAGE = 4 * 2**20
"""The largest message of a page in bytes: a paste."""
_HEARTBEAT_SECONDS = 15.0
_HEADERS: Final = {
    # The page loads nothing from elsewhere; xterm.js adds style sheets.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "font-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_UNKNOWN = "This page needs the token that a2a-inspect web printed: open the URL with ?token=...\n"
_OTHER_HOST = "This server answers only requests for localhost and 127.0.0.1.\n"
_OTHER_ORIGIN = "This web socket is only for the page of this server.\n"
_FULL = "The limit of visitors ({}) is reached. Close a tab, or restart a2a-inspect web with a higher --visitors.\n"


class WebServer:
    """Serves the app to at most `most_visitors` visitors, each with a process of its own that gets `arguments`."""

    def __init__(self, arguments: LaunchArguments, token: str, most_visitors: int) -> None:
        self._arguments = arguments
        self._token = token
        self._most_visitors = most_visitors
        self._visits: dict[web.WebSocketResponse, Visitor] = {}
        self._downloads = DownloadManager()

    def application(self) -> web.Application:
        """Return the routes of the server."""
        application = web.Application(middlewares=[_guard])
        application.add_routes(
            [
                web.get("/", self._page),
                web.get("/ws/{token}", self._visit),
                web.get("/download/{key}", self._download),
                web.get("/{file:page\\.(?:css|js)}", _own_file),
                web.static("/static", _SHARED),
            ]
        )
        application.on_shutdown.append(self._close_sockets)
        return application

    def _is_known(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode())

    @property
    def _is_full(self) -> bool:
        return sum(not visitor.has_ended for visitor in self._visits.values()) >= self._most_visitors

    async def _page(self, request: web.Request) -> web.StreamResponse:
        """Answer with the page, which opens the web socket."""
        if not self._is_known(request.query.get("token", "")):
            return web.Response(status=403, text=_UNKNOWN)
        if self._is_full:
            return web.Response(status=503, text=_FULL.format(self._most_visitors), headers={"Retry-After": "5"})
        return web.FileResponse(_HERE / "page.html", headers={"Cache-Control": "no-store"})

    async def _visit(self, request: web.Request) -> web.StreamResponse:
        """Run the app for a visitor until the visitor leaves or quits."""
        if not self._is_known(request.match_info["token"]):
            return web.Response(status=403, text=_UNKNOWN)
        if request.headers.get("Origin") != f"http://{request.host}":
            return web.Response(status=403, text=_OTHER_ORIGIN)
        if self._is_full:
            return web.Response(status=503, text=_FULL.format(self._most_visitors))
        page = web.WebSocketResponse(heartbeat=_HEARTBEAT_SECONDS, max_msg_size=_LARGEST_MESSAGE, compress=False)
        visitor = Visitor(self._arguments, page, self._downloads)
        self._visits[page] = visitor  # before anything is awaited, so that the limit is never exceeded
        try:
            await page.prepare(request)
            await visitor.start(_size(request, "width", 80), _size(request, "height", 24))
            async for message in page:
                if message.type is WSMsgType.TEXT:
                    await visitor.receive(_json(message.data))
        finally:
            # A visitor counts until its process has ended, also if this handler is cancelled.
            await asyncio.shield(self._end(visitor, page))
        return page

    async def _end(self, visitor: Visitor, page: web.WebSocketResponse) -> None:
        try:
            await visitor.stop()
        finally:
            del self._visits[page]

    async def _download(self, request: web.Request) -> web.StreamResponse:
        """Send a file that the app delivers, such as a screenshot; its key is random and known to one page only."""
        try:
            found = await self._downloads.get_download_metadata(request.match_info["key"])
        except KeyError:
            return web.Response(status=404, text="This file is not available.\n")
        response = web.StreamResponse()
        # Never shown in the browser: a picture of the screen could contain what an agent wrote.
        response.content_type = "application/octet-stream"
        response.headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(found.file_name, safe='')}"
        await response.prepare(request)
        async for chunk in self._downloads.download(found.delivery_key):
            await response.write(chunk)
        await response.write_eof()
        return response

    async def _close_sockets(self, _: web.Application) -> None:
        """Close the web sockets, which ends the processes, when the server is stopped."""
        await asyncio.gather(*(page.close() for page in tuple(self._visits)))


async def serve(server: WebServer, port: int, on_start: Callable[[str], object]) -> None:
    """Serve visitors on the loopback address until the task is cancelled; `on_start` gets the origin of the server."""
    with socket.create_server((LOOPBACK, port)) as listening:
        runner = web.AppRunner(server.application(), access_log=None, handler_cancellation=True, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.SockSite(runner, listening).start()
            on_start(f"http://{LOOPBACK}:{listening.getsockname()[1]}")
            await asyncio.Event().wait()
        finally:
            await runner.cleanup()


@web.middleware
async def _guard(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Refuse requests for another host, and add headers that keep the page to itself."""
    if _name(request.host) not in _HOSTS:
        response: web.StreamResponse = web.Response(status=403, text=_OTHER_HOST)
    else:
        try:
            response = await handler(request)
        except web.HTTPException as error:
            response = web.Response(status=error.status, text=f"{error.reason}\n")
    if not response.prepared:
        response.headers.update(_HEADERS)
    return response


def _name(host: str) -> str:
    """Return the name in a Host header, `""` if it is invalid."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


async def _own_file(request: web.Request) -> web.FileResponse:
    """Answer with the style sheet or the script of the page."""
    return web.FileResponse(_HERE / request.match_info["file"])


def _size(request: web.Request, dimension: str, default: int) -> int:
    text = request.query.get(dimension, "")
    return bounded(int(text), dimension) if text.isascii() and text.isdigit() and len(text) < 8 else default


def _json(text: str) -> object:
    """Return a JSON value, None if the text is not JSON."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value
