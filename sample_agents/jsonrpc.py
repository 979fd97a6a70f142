"""Serve JSON-RPC: each version at its own path, which also accepts the methods of the other versions."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from aiohttp import web

from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings.jsonrpc import EVENT_STREAM, JSON, RequestId, decode_call, encode_answer, request_id_of
from inspector.protocol.errors import BY_CODE, ProtocolError
from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Json, Unreadable
from inspector.protocol.operations import STREAMING, Operation

from .access import MissingScopeError
from .checks import check_version
from .errors import CallError, bad_params, encode_error, internal_error
from .faults.fault import Head
from .http_messages import (
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
from .profile import Endpoint
from .proto_names import camel_case
from .service import Call, Service
from .versions import Version

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Method:
    """An operation and the versions of the agent that have the method, the version of the endpoint first."""

    operation: Operation
    versions: tuple[Version, ...]


class JsonRpc:
    """Handle POSTs to one endpoint of the agent; `log` receives one or two lines for each call."""

    def __init__(
        self,
        own: Endpoint,
        endpoints: Sequence[Endpoint],
        service: Service,
        streams: EventStreams,
        log: Callable[[str], None],
    ) -> None:
        self._service = service
        self._streams = streams
        self._log = log
        ordered = [own, *(endpoint for endpoint in endpoints if endpoint is not own)]
        versions = (endpoint.version_for("JSONRPC") for endpoint in ordered)
        self._versions = [version for version in versions if version is not None]
        self._methods: dict[str, _Method] = {}
        for version in self._versions:
            for operation, name in version.dialect.methods.items():
                known = self._methods.get(name, _Method(operation, ()))
                self._methods[name] = _Method(operation, (*known.versions, version))

    async def handle(self, request: web.Request, base: str) -> web.StreamResponse:
        """Return the response to an HTTP request; `base` is the origin under which the client reaches the agent."""
        # Errors are encoded for the version that the request names, until its method is known.
        version = self._requested(request, self._versions) or self._versions[0]
        request_id: RequestId = None
        try:
            value = await read_json(request)
            request_id = request_id_of(value)  # the error for an invalid request contains the id, too
            method = self._method_of(value)
            if method is not None:
                version = self._requested(request, method.versions) or method.versions[0]
            call = self._open(request, value, method, version, base)
            self._service.check_scopes(call)
            streams, fault_plan = call.operation in STREAMING, self._service.fault_plan(call)
            head = fault_plan.head(Head(EVENT_STREAM if streams else JSON, headers=extension_headers(call)))
            if (other := replacement_response(head)) is not None:
                return other
            if streams:
                return await self._stream(request, call, head, request_id)
            result = await self._service.answer(call)
            self._log(f"{version.name} {call.operation}")
            written = encode_answer(request_id, version.dialect.encode_result(call.operation, result))
            return await send_json(request, head, written, fault_plan)
        except CallError as refused:
            error = refused
        except MissingScopeError:
            raise
        except Exception:
            _logger.exception("a call failed")
            error = internal_error()
        self._log(f"{version.name} refused: {error.kind.name}")
        failure = dump(encode_answer(request_id, encode_error(error, version)))
        return web.Response(body=failure, content_type=JSON, status=error.status or 200)

    def _requested(self, request: web.Request, versions: Sequence[Version]) -> Version | None:
        """Return the first version that accepts the version header of a request, None if there is none."""
        return next((item for item in versions if item.accepts(requested_version(request, item.version_header))), None)

    def _method_of(self, value: Json) -> _Method | None:
        name = value.get("method") if isinstance(value, dict) else None
        return self._methods.get(name) if isinstance(name, str) else None

    def _open(self, request: web.Request, value: Json, method: _Method | None, version: Version, base: str) -> Call:
        """Read a call; raises `CallError`."""
        call = decode_call(value)
        if isinstance(call, ProtocolError):
            kind = BY_CODE[call.code or -32600]
            raise CallError(kind.name, "The body is not a JSON-RPC 2.0 request.")
        if method is None:
            raise CallError("MethodNotFoundError", f"Method {call.method[:80]!r} does not exist.")
        check_version(version, requested_version(request, version.version_header))
        params = camel_case(call.params) if version.snake_case else call.params
        read = version.dialect.decode_request(method.operation, params)
        if isinstance(read, Unreadable):
            raise bad_params(read.why)
        return Call(method.operation, read, version, base, requested_extensions(request, version), access_of(request))

    async def _stream(self, request: web.Request, call: Call, head: Head, request_id: RequestId) -> web.StreamResponse:
        subscription, version = await self._service.open(call), call.version
        encoder = StreamEncoder(
            lambda event: encode_answer(request_id, version.dialect.encode_event(event)),
            lambda error: encode_answer(request_id, encode_error(error, version)),
        )
        return await self._streams.send(request, subscription, call, head, encoder)
