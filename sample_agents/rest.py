"""Serve HTTP+JSON: methods and paths below an endpoint (1.0 section 11, 0.3 section 3.2.3)."""

from __future__ import annotations

import logging
from collections.abc import Callable

from aiohttp import web

from inspector.protocol.bindings.jsonrpc import EVENT_STREAM, JSON
from inspector.protocol.bindings.rest import Found, find, read_query
from inspector.protocol.jsonvalue import dump, type_name
from inspector.protocol.model import Json, Unreadable
from inspector.protocol.operations import STREAMING

from .access import MissingScopeError
from .checks import check_version
from .errors import CallError, bad_params, encode_http_error, internal_error
from .faults.fault import Head
from .http_messages import (
    A2A_JSON,
    EventStreams,
    StreamEncoder,
    access_of,
    extension_headers,
    read_json,
    replacement_response,
    requested_extensions,
    requested_version,
    send_json,
)
from .proto_names import camel_case
from .service import Call, Service
from .versions import Version

_logger = logging.getLogger(__name__)


class Rest:
    """Handle requests of one version; `log` receives one or two lines for each call."""

    def __init__(self, version: Version, service: Service, streams: EventStreams, log: Callable[[str], None]) -> None:
        self._version = version
        self._service = service
        self._streams = streams
        self._log = log

    async def handle(self, request: web.Request, path: str, base: str) -> web.StreamResponse:
        """Return the response to a request to a path below the endpoint; `base` is the origin that the client used."""
        dialect = self._version.dialect
        headers: dict[str, str] = {}
        try:
            found = find(dialect, request.method, path)
            if not isinstance(found, Found):
                headers = {"Allow": ", ".join(sorted(found))} if found else {}
                raise CallError("MethodNotFoundError", _no_such(request.method, path), status=405 if found else 0)
            call = await self._open(request, found, base)
            self._service.check_scopes(call)
            streams, fault_plan = call.operation in STREAMING, self._service.fault_plan(call)
            media_type = EVENT_STREAM if streams else _media_type(request)
            head = fault_plan.head(Head(media_type, headers=extension_headers(call)))
            if (other := replacement_response(head)) is not None:
                return other
            if streams:
                encoder = StreamEncoder(
                    dialect.encode_event, lambda refused: encode_http_error(refused, self._version)[1]
                )
                return await self._streams.send(request, await self._service.open(call), call, head, encoder)
            result = dialect.encode_result(call.operation, await self._service.answer(call))
            self._log(f"{self._version.name} {call.operation}")
            # An empty result is sent as {}: the official Python client 1.x cannot read a response without a body.
            return await send_json(request, head, {} if result is None else result, fault_plan)
        except CallError as refused:
            error = refused
        except MissingScopeError:
            raise
        except Exception:
            _logger.exception("a call failed")
            error = internal_error()
        self._log(f"{self._version.name} refused: {error.kind.name}")
        status, body = encode_http_error(error, self._version)
        return web.Response(body=dump(body), content_type=JSON, status=status, headers=headers)

    async def _open(self, request: web.Request, found: Found, base: str) -> Call:
        """Read a call; raises `CallError`."""
        version = self._version
        check_version(version, requested_version(request, version.version_header))
        members = await self._body(request) if request.body_exists else {}
        parameters = {name: text for name, text in request.query.items() if name != version.version_header}
        query = camel_case(parameters) if version.snake_case else parameters
        members = members | read_query(found.operation, query) | found.members
        read = version.dialect.decode_request(found.operation, members)
        if isinstance(read, Unreadable):
            raise bad_params(read.why)
        return Call(found.operation, read, version, base, requested_extensions(request, version), access_of(request))

    async def _body(self, request: web.Request) -> dict[str, Json]:
        value = await read_json(request)
        if not isinstance(value, dict):
            raise bad_params(f"The request body is {type_name(value)}; a JSON object is required.")
        renamed: dict[str, Json] = camel_case(value) if self._version.snake_case else value
        return renamed


def _no_such(verb: str, path: str) -> str:
    return f"{verb[:20]} {path[:80]} does not exist."


def _media_type(request: web.Request) -> str:
    """Return the media type for a response: that of A2A if the client sends or accepts it."""
    return A2A_JSON if any(A2A_JSON in request.headers.get(name, "") for name in ("Content-Type", "Accept")) else JSON
