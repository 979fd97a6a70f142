"""Serve a recording over HTTP: JSON-RPC, HTTP+JSON and the documents of the agent."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Callable

from aiohttp import web

from inspector.capture.records import Kind, Record
from inspector.protocol.bindings.jsonrpc import EVENT_STREAM, JSON, encode_answer
from inspector.protocol.card import CARD_PATHS
from inspector.protocol.jsonvalue import dump
from inspector.protocol.operations import STREAMING

from ..errors import CallError, encode_error, encode_http_error
from ..listening import cut_connection, origin_of
from .call_content import RawRequest, is_json_rpc
from .http_headers import sendable
from .playback import Miss, Playback, Player, stays_open
from .rewriting import Addresses, rewrite_card

_ETAG = "etag"

_logger = logging.getLogger(__name__)


class HttpReplay:
    """Handle every HTTP request; `addresses` returns where this server is reached, given the origin of a request."""

    def __init__(
        self,
        player: Player,
        addresses: Callable[[str], Addresses],
        log: Callable[[str], None],
        write_timeout: float,
    ) -> None:
        self.streams = 0
        self._player = player
        self._addresses = addresses
        self._log = log
        self._write_timeout = write_timeout

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Return the response to an HTTP request."""
        path = "/" + request.rel_url.raw_path.lstrip("/")
        if request.method in ("GET", "HEAD") and (document := self._document(request, path)) is not None:
            return document
        headers = {name.lower(): value for name, value in request.headers.items()}
        raw = RawRequest(request.method, path, request.rel_url.raw_query_string, headers, await request.read())
        bindings = ("JSONRPC", "HTTP+JSON") if is_json_rpc(raw) else ("HTTP+JSON", "JSONRPC")
        found = self._player.find(raw, bindings)
        if isinstance(found, Miss):
            return _refusal(found)
        self.streams += 1
        try:
            return await self._play(request, found)
        finally:
            self.streams -= 1

    def _document(self, request: web.Request, path: str) -> web.Response | None:
        """Return a recorded card or another document, None if there is none at this path."""
        recording = self._player.recording
        addresses = self._addresses(origin_of(request))
        card, document = recording.card(path), recording.documents.get(path)
        headers = list(sendable(document.head.meta["headers"])) if document is not None else [("Content-Type", JSON)]
        if card is not None:
            self._log(f"card: {path}")
            return _card(request, rewrite_card(card.raw, addresses), headers)
        if document is not None:
            self._log(f"document: {path}")
            return web.Response(body=document.body.raw, headers=headers)
        if path in CARD_PATHS:
            return web.Response(status=404, text="The recording contains no Agent Card.")
        return None

    async def _play(self, request: web.Request, playback: Playback) -> web.StreamResponse:
        """Send a recorded response; after a recorded failure the connection is closed, too."""
        response = web.StreamResponse()
        last: Record | None = None
        addresses = self._addresses(origin_of(request))
        title = f"#{playback.exchange.number}"
        try:
            async for record in playback.records():
                if record.kind is Kind.RESPONSE:
                    response = _head(record)
                    response.content_length = playback.content_length(record, addresses)
                    await response.prepare(request)
                last = record
                await self._write(response, playback.payload(record, addresses))
            if last is not None and stays_open(last):
                self._log(f"{title}: recorded bytes sent; waiting for the client to disconnect")
                await asyncio.Event().wait()
            if last is not None and last.kind is Kind.END and last.meta["how"] != "complete":
                cut_connection(request)
            else:
                await response.write_eof()
        except asyncio.CancelledError:
            self._log(f"{title}: client disconnected")
            raise
        except ConnectionError:
            self._log(f"{title}: client disconnected")
        except TimeoutError:
            cut_connection(request)
            self._log(f"{title}: client stopped reading")
        return response

    async def _write(self, response: web.StreamResponse, chunk: bytes) -> None:
        if chunk:
            async with asyncio.timeout(self._write_timeout):
                await response.write(chunk)


def _head(record: Record) -> web.StreamResponse:
    """Return the response with a recorded head."""
    reason = str(record.meta["reason"])
    return web.StreamResponse(
        status=int(record.meta["status"]),
        reason=reason if reason.isascii() and reason.isprintable() else None,
        headers=list(sendable(record.meta["headers"])),
    )


def _card(request: web.Request, body: bytes, headers: list[tuple[str, str]]) -> web.Response:
    """Return a card with the recorded headers; an ETag is that of the rewritten bytes."""
    others = [(name, value) for name, value in headers if name.lower() != _ETAG]
    if len(others) == len(headers):
        return web.Response(body=body, headers=others)
    etag = hashlib.sha256(body).hexdigest()[:32]
    known = request.if_none_match or ()
    unchanged = any(tag.value in (etag, "*") for tag in known)
    response = web.Response(status=304, headers=others) if unchanged else web.Response(body=body, headers=others)
    response.etag = etag
    return response


def _refusal(miss: Miss) -> web.Response:
    """Return the error for a request that was not recorded, in the format of its binding."""
    version = miss.call.version
    error = CallError("UnsupportedOperationError", miss.message)
    if miss.call.binding == "JSONRPC":
        body = dump(encode_answer(miss.call.request_id, encode_error(error, version)))
        if miss.call.operation in STREAMING:  # some clients ignore an error outside of a stream
            return web.Response(body=b"data: " + body + b"\n\n", content_type=EVENT_STREAM)
        return web.Response(body=body, content_type=JSON)
    status, value = encode_http_error(error, version)
    return web.Response(body=dump(value), content_type=JSON, status=status)
