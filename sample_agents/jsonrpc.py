"""JSON-RPC over HTTP as the agent serves it: every generation at every path, told apart by the method's name."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import web

from inspector.protocol.bindings.jsonrpc import EVENT_STREAM, JSON, decode_call, encode_answer
from inspector.protocol.errors import BY_CODE, ProtocolError
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.model import Event, Json, Request, Unreadable
from inspector.protocol.operations import STREAMING, Operation

from . import extension
from .errors import CallError, bad_params
from .generations import METHODS, UNSTATED_VERSION, V1_0, VERSION_HEADER, Generation, generation_of
from .service import Service
from .spelling import camel_case
from .state import Subscription

ERROR_DOMAIN = "a2a-protocol.org"
STREAM_HEADERS = {"Content-Type": EVENT_STREAM, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Call:
    """A call that passed the door."""

    generation: Generation
    method: str
    operation: Operation
    request: Request
    identity: str | int | float | None


def asked_version(request: web.Request) -> str:
    """Return the version that a request names in its header or, failing that, in its query (1.0 section 3.6.1)."""
    return (request.headers.get(VERSION_HEADER) or request.query.get(VERSION_HEADER) or "").strip()


def encode_error(error: CallError, generation: Generation) -> ProtocolError:
    """Write a refusal as a generation spells it; 1.0 adds an ErrorInfo (section 9.5)."""
    if not generation.error_details:
        return ProtocolError(error.kind.code, error.message)
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": error.kind.reason, "domain": ERROR_DOMAIN}
    return ProtocolError(error.kind.code, error.message, [info])


class JsonRpc:
    """Answers POSTs; `log` gets a line or two a call.

    `keep_alive` is how many seconds a stream may be silent, `patience` how many a reader may take for one write.
    """

    def __init__(self, service: Service, log: Callable[[str], None], keep_alive: float, patience: float) -> None:
        self._service = service
        self._log = log
        self._keep_alive = keep_alive
        self._patience = patience

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one HTTP request, whatever it holds."""
        # Until the method is known, an error is written for the generation that the request names.
        form = generation_of(asked_version(request)) or V1_0
        identity: str | int | float | None = None
        status = 200
        try:
            value = await self._read(request)
            identity = _identity_of(value)
            form = _form_of(value, form)
            call = _open(value, asked_version(request))
            if call.operation in STREAMING:
                return await self._stream(request, call)
            result = await self._service.answer(call.operation, call.request, call.generation)
            answer = call.generation.dialect.encode_result(call.operation, result)
            self._log(f"{call.generation.name} {call.method}")
            return web.Response(body=dump(encode_answer(identity, answer)), content_type=JSON)
        except web.HTTPRequestEntityTooLarge:
            status = 413
            error = CallError("InvalidRequestError", "The request is larger than the agent takes.")
        except CallError as refused:
            error = refused
        except Exception:
            _logger.exception("a call could not be answered")
            error = CallError("InternalError", "The agent failed inside.")
        self._log(f"{form.name} refused: {error.kind.name}")
        failure = dump(encode_answer(identity, encode_error(error, form)))
        return web.Response(body=failure, content_type=JSON, status=status)

    async def _read(self, request: web.Request) -> Json:
        """Return the JSON value in a request's body."""
        given = request.headers.get("Content-Type")
        if given is not None and request.content_type != JSON and not request.content_type.endswith("+json"):
            raise CallError("ContentTypeNotSupportedError", f"The agent takes {JSON} here.")
        try:
            body = await request.read()
        except web.RequestPayloadError as error:
            raise CallError("JSONParseError", "The body could not be read.") from error
        value = parse(body)
        if isinstance(value, Unreadable):
            raise CallError("JSONParseError", f"The body is not JSON: {value.why}.")
        return value

    async def _stream(self, request: web.Request, call: _Call) -> web.StreamResponse:
        subscription = await self._service.open(call.operation, call.request, call.generation)
        header = call.generation.dialect.extensions_header
        numbers = extension.activated_by(",".join(request.headers.getall(header, ())))
        response = web.StreamResponse(headers=STREAM_HEADERS | ({header: extension.URI} if numbers else {}))
        self._log(f"{call.generation.name} {call.method}: the stream begins")
        try:
            await response.prepare(request)
            count = await self._send_events(response, subscription, call, numbers=numbers)
            await response.write_eof()
            self._log(f"{call.generation.name} {call.method}: the stream ends after {count} events")
        except asyncio.CancelledError:
            self._log(f"{call.generation.name} {call.method}: the client went away")
            raise
        except ConnectionError:
            self._log(f"{call.generation.name} {call.method}: the client went away")
        except TimeoutError:
            _cut(request)
            self._log(f"{call.generation.name} {call.method}: the client does not read any more")
        except Exception:
            _logger.exception("a stream could not go on")
            _cut(request)
        finally:
            subscription.end()
        return response

    async def _send_events(
        self, response: web.StreamResponse, subscription: Subscription, call: _Call, *, numbers: bool
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
                if numbers:
                    events = [extension.numbered(event, count + index) for index, event in enumerate(events, 1)]
                count += len(events)
                frames = [_frame(call, event) for event in events]
            async with asyncio.timeout(self._patience):
                await response.write(b"".join(frames))


def _cut(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


def _frame(call: _Call, event: Event) -> bytes:
    return b"data: " + dump(encode_answer(call.identity, call.generation.dialect.encode_event(event))) + b"\n\n"


def _identity_of(value: Json) -> str | int | float | None:
    """Return a request's id where it has a usable one, so that even a bad request is answered under it."""
    identity = value.get("id") if isinstance(value, dict) else None
    return identity if isinstance(identity, str | int | float) and not isinstance(identity, bool) else None


def _form_of(value: Json, otherwise: Generation) -> Generation:
    """Return the generation whose method a request names."""
    method = value.get("method") if isinstance(value, dict) else None
    return METHODS[method][0] if isinstance(method, str) and method in METHODS else otherwise


def _open(value: Json, version: str) -> _Call:
    """Read a call, or refuse it."""
    call = decode_call(value)
    if isinstance(call, ProtocolError):
        kind = BY_CODE[call.code or -32600]
        raise CallError(kind.name, "The request is not a JSON-RPC 2.0 request.")
    if call.method not in METHODS:
        raise CallError("MethodNotFoundError", f"There is no method {call.method[:80]!r}.")
    generation, operation = METHODS[call.method]
    if generation_of(version) is not generation:
        raise CallError(
            "VersionNotSupportedError",
            f"{call.method} is a method of A2A {generation.name}, and the request says "
            f"{VERSION_HEADER} {version[:20] or UNSTATED_VERSION + ' by not saying any'}.",
        )
    params = camel_case(call.params) if generation.snake_case else call.params
    request = generation.dialect.decode_request(operation, params)
    if isinstance(request, Unreadable):
        raise bad_params(request.why)
    return _Call(generation, call.method, operation, request, call.id)
