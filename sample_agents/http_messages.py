"""Read requests and send responses and streams, for the two HTTP bindings."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

from aiohttp import web

from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings.jsonrpc import JSON
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.model import Event, Json, Unreadable

from . import extension
from .access import ANYTHING, Access
from .errors import CallError
from .faults.fault import AbortConnectionError, Head, Level
from .faults.fault_plan import FaultPlan
from .faults.segments import Segment
from .listening import cut_connection
from .service import Call
from .task_store import Subscription
from .versions import Version

A2A_JSON = "application/a2a+json"
ACCESS = web.RequestKey("access", Access)
"""The key of a request under which the router stores what its credentials allow."""
STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}

_logger = logging.getLogger(__name__)


def requested_version(request: web.Request, header: str) -> str:
    """Return the version in a header of a request or else in its query, `""` if neither (1.0 section 3.6.1)."""
    return (request.headers.get(header) or request.query.get(header) or "").strip()


def access_of(request: web.Request) -> Access:
    """Return what the credentials of a request allow; without authentication everything is allowed."""
    access: Access = request.get(ACCESS, ANYTHING)
    return access


def requested_extensions(request: web.Request, version: Version) -> frozenset[str]:
    """Return the URIs of the extensions that a request activates."""
    header = version.dialect.extensions_header
    return extension.named_in(request.headers.getall(header, ())) if header else frozenset()


async def read_json(request: web.Request) -> Json:
    """Return the JSON value of a body; raises `CallError` for another media type, invalid JSON and large bodies."""
    content_type = request.headers.get("Content-Type")
    if content_type is not None and request.content_type != JSON and not request.content_type.endswith("+json"):
        raise CallError("ContentTypeNotSupportedError", f"The Content-Type must be {JSON}.")
    try:
        body = await request.read()
    except web.HTTPRequestEntityTooLarge as error:
        raise CallError("InvalidRequestError", "The request body is too large.", status=413) from error
    except web.RequestPayloadError as error:
        raise CallError("JSONParseError", "The request body could not be read.") from error
    value = parse(body)
    if isinstance(value, Unreadable):
        raise CallError("JSONParseError", f"The request body is not valid JSON: {value.why}.")
    return value


def replacement_response(head: Head) -> web.Response | None:
    """Return the response that a fault sends in place of the agent's own, None if there is none."""
    return None if head.body is None else response_of(head)


def response_of(head: Head) -> web.Response:
    """Return the response with a head and its body."""
    return web.Response(body=head.body, status=head.status, content_type=head.content_type, headers=head.headers)


async def send_json(request: web.Request, head: Head, value: Json, fault_plan: FaultPlan) -> web.StreamResponse:
    """Send a JSON value, changed by the faults of the call."""
    body = fault_plan.encode(value)
    if not fault_plan.at(Level.FRAMES):
        return response_of(replace(head, body=body))
    response = web.StreamResponse(status=head.status, headers={"Content-Type": head.content_type, **head.headers})
    await response.prepare(request)
    try:
        async with aclosing(fault_plan.frames(_single_frame(body))) as frames:
            async for chunk in frames:
                await response.write(chunk)
    except AbortConnectionError:
        cut_connection(request)
    return response


async def _single_frame(body: bytes) -> AsyncGenerator[bytes, None]:
    yield body


def extension_headers(call: Call) -> dict[str, str]:
    """Return the header of a response with the extensions that its call activated, nothing without any."""
    header, activated = call.version.dialect.extensions_header, call.activated
    return {header: ", ".join(activated)} if header and activated else {}


@dataclass(frozen=True, slots=True)
class StreamEncoder:
    """Encode one stream: `event` encodes an event as JSON, `error` an error that ends the stream."""

    event: Callable[[Event], Json]
    error: Callable[[CallError], Json]


class EventStreams:
    """Send the events of subscriptions as Server-Sent Events; `log` receives a line at the start and at the end.

    A comment is sent after `keep_alive` seconds without events, unless faults apply to the stream. The connection is
    closed if the client does not read for `write_timeout` seconds.
    """

    def __init__(self, log: Callable[[str], None], keep_alive: float, write_timeout: float) -> None:
        self._log = log
        self._keep_alive = keep_alive
        self._write_timeout = write_timeout

    async def send(
        self, request: web.Request, subscription: Subscription, call: Call, head: Head, encoder: StreamEncoder
    ) -> web.StreamResponse:
        """Send the events of a subscription as the response to a call, then end the subscription."""
        title = f"{call.version.name} {call.operation}"
        headers = STREAM_HEADERS | {"Content-Type": head.content_type} | dict(head.headers)
        response = web.StreamResponse(status=head.status, headers=headers)
        self._log(f"{title}: stream started")
        try:
            await response.prepare(request)
            count = await self._send_events(response, subscription, call.event_rewriter(), encoder)
            await response.write_eof()
            self._log(f"{title}: stream ended after {count} events")
        except asyncio.CancelledError:
            self._log(f"{title}: client disconnected")
            raise
        except ConnectionError:
            self._log(f"{title}: client disconnected")
        except TimeoutError:
            cut_connection(request)
            self._log(f"{title}: client stopped reading")
        except AbortConnectionError:
            cut_connection(request)
            self._log(f"{title}: connection closed by a fault")
        except Exception:
            _logger.exception("a stream failed")
            cut_connection(request)
        finally:
            subscription.end()
        return response

    async def _send_events(
        self,
        response: web.StreamResponse,
        subscription: Subscription,
        rewrite: Callable[[Event], Event],
        encoder: StreamEncoder,
    ) -> int:
        """Write events as frames until the subscription has ended; return the number of events."""
        count = 0
        while True:
            try:
                async with asyncio.timeout(self._keep_alive):
                    events = await subscription.next_events()
            except TimeoutError:
                frames = [b": keep-alive\n\n"]
            else:
                if not events:
                    return count
                if subscription.fault_plan:
                    segment = Segment(subscription, events)
                    return count + await self._send_with_faults(response, segment, rewrite, encoder)
                count += len(events)
                frames = [_frame(dump(encoder.event(rewrite(event)))) for event in events]
            await self._write(response, b"".join(frames))

    async def _send_with_faults(
        self, response: web.StreamResponse, segment: Segment, rewrite: Callable[[Event], Event], encoder: StreamEncoder
    ) -> int:
        """Write events with their faults, one frame at a time; return the number of events."""
        count = 0
        while segment.remaining:
            async with aclosing(segment.fault_plan.frames(_frames(segment, rewrite, encoder))) as frames:
                async for chunk in frames:
                    await self._write(response, chunk)
            count += segment.sent_count
            segment = segment.next()
        return count

    async def _write(self, response: web.StreamResponse, chunk: bytes) -> None:
        async with asyncio.timeout(self._write_timeout):
            await response.write(chunk)


async def _frames(
    segment: Segment, rewrite: Callable[[Event], Event], encoder: StreamEncoder
) -> AsyncGenerator[bytes, None]:
    """Yield the frames of a segment; an error is the last frame."""
    try:
        async with aclosing(segment.events()) as events:
            async for event in events:
                yield _frame(segment.fault_plan.encode(encoder.event(rewrite(event))))
    except CallError as error:
        yield _frame(segment.fault_plan.encode(encoder.error(error)))


def _frame(payload: bytes) -> bytes:
    return b"data: " + payload + b"\n\n"
