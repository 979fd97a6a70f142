"""Receive the redirect of an authorization server at a loopback address (RFC 8252 section 7.3)."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from types import TracebackType
from urllib.parse import parse_qsl, quote, urlsplit

from inspector.protocol.errors import usage_error

HOST = "127.0.0.1"
PATH = "/callback"
_LARGEST_HEAD = 16 * 1024
_SECONDS = 10.0
_MOST_CONNECTIONS = 20
_MOST_PARAMETERS = 30
_URL_CHARACTERS = ":/?#[]@!$&'()*+,;=%-._~"

_PAGE = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>a2a-inspect</title>"
    "<p>{text} You can close this page and return to a2a-inspect."
)
_HEADERS = (
    "Content-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
    "Content-Security-Policy: default-src 'none'\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n"
)


def redirect_uri(port: int) -> str:
    """Return the redirect URI to register for the client."""
    return f"http://{HOST}:{port}{PATH}"


class RedirectListener:
    """Listens on the loopback address until the redirect arrives; an asynchronous context manager.

    `is_ours` gets the parameters of a redirect and returns whether it belongs to this login, which the page reports.
    The first redirect ends the wait, also if it is not ours; requests of a browser for a part of another page are
    refused. `short_url` leads to the page of the login.
    """

    def __init__(self, port: int, is_ours: Callable[[Mapping[str, str]], bool]) -> None:
        self.port = port
        self._is_ours = is_ours
        self._server: asyncio.Server | None = None
        self._received: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()
        self._connections = 0
        self._short_path = f"/{secrets.token_urlsafe(6)}"
        self._page = ""

    @property
    def uri(self) -> str:
        """Return the redirect URI."""
        return redirect_uri(self.port)

    def short_url(self, page: str) -> str:
        """Return a short URL at the loopback address, which redirects to the page of the login from now on."""
        self._page = quote(page, safe=_URL_CHARACTERS)
        return f"http://{HOST}:{self.port}{self._short_path}"

    async def __aenter__(self) -> RedirectListener:
        """Start to listen; raises `FaultError` if the port is in use."""
        try:
            self._server = await asyncio.start_server(self._serve, HOST, self.port, limit=_LARGEST_HEAD)
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else str(error)  # asyncio adds the address to the text
            seen = f"The redirect of the login cannot be received on port {self.port}: {why}."
            hint = "Another login may be running. Choose another port (--redirect-port), and register its redirect URI."
            raise usage_error(seen, hint) from error
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop to listen."""
        if self._server is not None:
            self._server.close()

    async def redirect(self) -> Mapping[str, str]:
        """Wait for the redirect and return its parameters."""
        return await self._received

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        try:
            if self._connections <= _MOST_CONNECTIONS:
                async with asyncio.timeout(_SECONDS):
                    status, text, parameters = self._answer(await reader.readuntil(b"\r\n\r\n"))
                    body = _PAGE.format(text=text)
                    more = f"{_HEADERS}Location: {self._page}\r\n" if status == HTTPStatus.FOUND else _HEADERS
                    head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{more}Content-Length: {len(body)}\r\n\r\n"
                    writer.write((head + body).encode("ascii"))
                    await writer.drain()
                    if parameters is not None and not self._received.done():
                        self._received.set_result(parameters)
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            pass  # not a browser with a redirect: whoever connects gets no answer
        finally:
            self._connections -= 1
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def _answer(self, head: bytes) -> tuple[int, str, Mapping[str, str] | None]:
        """Return the status and the text of the page, and the parameters of a redirect, None for other requests."""
        lines = head.decode("latin-1").split("\r\n")
        method, _, rest = lines[0].partition(" ")
        target, _, version = rest.rpartition(" ")
        hosts, destinations = _values(lines, "host"), _values(lines, "sec-fetch-dest")
        if hosts not in ([f"{HOST}:{self.port}"], [f"localhost:{self.port}"]):  # DNS rebinding
            return 421, "This address receives the redirect of a login only.", None
        if not version.startswith("HTTP/1.") or method != "GET":
            return 405, "This address receives the redirect of a login only.", None
        if destinations not in ([], ["document"]):  # an image, a frame or a script of another page, which would end it
            return 403, "This address receives the redirect of a login only.", None
        try:
            parts = urlsplit(target)
            pairs = parse_qsl(parts.query, keep_blank_values=True, max_num_fields=_MOST_PARAMETERS)
        except ValueError:
            return 400, "The redirect is not valid.", None
        if self._page and parts.path == self._short_path:
            return 302, "The page of the login is at another URL.", None
        if parts.path != PATH:
            return 404, "This address receives the redirect of a login only.", None
        parameters = dict(pairs)
        if len(parameters) != len(pairs):  # RFC 6749 section 3.1
            return 400, "The redirect repeats a parameter.", None
        if not self._is_ours(parameters):
            return 400, "This redirect does not belong to the running login.", parameters
        if "error" in parameters:
            return 200, "The login was refused.", parameters
        return 200, "The login is complete.", parameters


def _values(lines: list[str], name: str) -> list[str]:
    """Return the values of a header, whose name is in lower case, in the lines of a head."""
    return [line.partition(":")[2].strip() for line in lines[1:] if line.lower().startswith(f"{name}:")]
