"""What the two HTTP bindings share: what a request says in its headers and its body, and how a stream is sent."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from aiohttp import web

from inspector.protocol.bindings.jsonrpc import JSON
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.model import Event, Json, Unreadable

from . import extension
from .errors import CallError
from .faults.fault import BrokenOffError, Head, Level
from .faults.fault_plan import Spoiled
from .faults.segments import Segment
from .service import Call
from .task_store import Subscription
from .versions import Version

A2A_JSON = "application/a2a+json"
STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

_logger = logging.getLogger(__name__)


def asked_version(request: web.Request, header: str) -> str:
    """Return the version that a request names in a header or, failing that, in its query (1.0 section 3.6.1)."""
    return (request.headers.get(header) or request.query.get(header) or "").strip()


def asked_extensions(request: web.Request, version: Version) -> frozenset[str]:
    """Return the extensions that a request activates."""
    header = version.dialect.extensions_header
    return extension.named_in(request.headers.getall(header, ())) if header else frozenset()


async def read_json(request: web.Request) -> Json:
    """Return the JSON value in a request's body; refused is what is no JSON, does not claim to be, or is too large."""
    given = request.headers.get("Content-Type")
    if given is not None and request.content_type != JSON and not request.content_type.endswith("+json"):
        raise CallError("ContentTypeNotSupportedError", f"The agent takes {JSON} here.")
    try:
        body = await request.read()
    except web.HTTPRequestEntityTooLarge as error:
        raise CallError("InvalidRequestError", "The request is larger than the agent takes.", status=413) from error
    except web.RequestPayloadError as error:
        raise CallError("JSONParseError", "The body could not be read.") from error
    value = parse(body)
    if isinstance(value, Unreadable):
        raise CallError("JSONParseError", f"The body is not JSON: {value.why}.")
    return value


def instead(head: Head) -> web.Response | None:
    """Return what is answered in place of all that the agent has to say, if anything is."""
    if head.body is None:
        return None
    return web.Response(body=head.body, status=head.status, content_type=head.content_type, headers=head.headers)


async def answer(request: web.Request, head: Head, value: Json, spoiled: Spoiled) -> web.StreamResponse:
    """Answer with a JSON value, and with what goes wrong on its way."""
    body = spoiled.written(value)
    if not spoiled.at(Level.FRAMES):
        return web.Response(body=body, status=head.status, content_type=head.content_type, headers=head.headers)
    response = web.StreamResponse(status=head.status, headers={"Content-Type": head.content_type, **head.headers})
    await response.prepare(request)
    try:
        async with aclosing(spoiled.frames(_alone(body))) as frames:
            async for chunk in frames:
                await response.write(chunk)
    except BrokenOffError:
        _cut(request)
    return response


async def _alone(body: bytes) -> AsyncGenerator[bytes, None]:
    yield body


@dataclass(frozen=True, slots=True)
class Writing:
    """How one stream is written: `event` makes JSON of an event, `error` of what ends it instead."""

    event: Callable[[Event], Json]
    error: Callable[[CallError], Json]


class EventStreams:
    """Sends what a subscription takes as Server-Sent Events; `log` gets a line at the beginning and at the end.

    `keep_alive` is how many seconds a stream may be silent, `patience` how many a reader may take for one write.
    A stream with which something goes wrong is not kept alive.
    """

    def __init__(self, log: Callable[[str], None], keep_alive: float, patience: float) -> None:
        self._log = log
        self._keep_alive = keep_alive
        self._patience = patience

    async def send(
        self, request: web.Request, subscription: Subscription, call: Call, head: Head, writing: Writing
    ) -> web.StreamResponse:
        """Answer a call with the events of its subscription, and end the subscription."""
        title = f"{call.version.name} {call.operation}"
        headers = STREAM_HEADERS | {"Content-Type": head.content_type} | dict(head.headers)
        if call.numbers:
            headers[call.version.dialect.extensions_header] = extension.URI
        response = web.StreamResponse(status=head.status, headers=headers)
        self._log(f"{title}: the stream begins")
        try:
            await response.prepare(request)
            count = await self._send_events(response, subscription, call.written(), writing)
            await response.write_eof()
            self._log(f"{title}: the stream ends after {count} events")
        except asyncio.CancelledError:
            self._log(f"{title}: the client went away")
            raise
        except ConnectionError:
            self._log(f"{title}: the client went away")
        except TimeoutError:
            _cut(request)
            self._log(f"{title}: the client does not read any more")
        except BrokenOffError:
            _cut(request)
            self._log(f"{title}: the stream is broken off")
        except Exception:
            _logger.exception("a stream could not go on")
            _cut(request)
        finally:
            subscription.end()
        return response

    async def _send_events(
        self,
        response: web.StreamResponse,
        subscription: Subscription,
        written: Callable[[Event], Event],
        writing: Writing,
    ) -> int:
        """Write events as frames until the subscription is over, and return how many."""
        count = 0
        while True:
            try:
                async with asyncio.timeout(self._keep_alive):
                    events = await subscription.take()
            except TimeoutError:
                frames = [b": keep-alive\n\n"]
            else:
                if not events:
                    return count
                if subscription.spoiled:
                    segment = Segment(subscription, events)
                    return count + await self._send_spoiled(response, segment, written, writing)
                count += len(events)
                frames = [_frame(dump(writing.event(written(event)))) for event in events]
            await self._write(response, b"".join(frames))

    async def _send_spoiled(
        self, response: web.StreamResponse, segment: Segment, written: Callable[[Event], Event], writing: Writing
    ) -> int:
        """Write events one by one, each with what goes wrong on its way, and return how many there were."""
        count = 0
        while segment.left:
            async with aclosing(segment.spoiled.frames(_frames(segment, written, writing))) as frames:
                async for chunk in frames:
                    await self._write(response, chunk)
            count += segment.given
            segment = segment.next()
        return count

    async def _write(self, response: web.StreamResponse, chunk: bytes) -> None:
        async with asyncio.timeout(self._patience):
            await response.write(chunk)


async def _frames(segment: Segment, written: Callable[[Event], Event], writing: Writing) -> AsyncGenerator[bytes, None]:
    """Give the frames of the events with which the same things go wrong; an error ends them all."""
    try:
        async with aclosing(segment.events()) as events:
            async for event in events:
                yield _frame(segment.spoiled.written(writing.event(written(event))))
    except CallError as error:
        yield _frame(segment.spoiled.written(writing.error(error)))


def _frame(payload: bytes) -> bytes:
    return b"data: " + payload + b"\n\n"


def _cut(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
