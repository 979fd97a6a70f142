"""JSON-RPC over HTTP as the agent serves it: each version at its path, the others there too where names differ."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aiohttp import web

from inspector.protocol.bindings.jsonrpc import EVENT_STREAM, JSON, decode_call, encode_answer
from inspector.protocol.errors import BY_CODE, ProtocolError
from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Json, Unreadable
from inspector.protocol.operations import STREAMING, Operation

from .checks import check_version
from .errors import CallError, bad_params, encode_error, failed
from .exchange import EventStreams, Writing, answer, asked_extensions, asked_version, instead, read_json
from .faults.fault import Head
from .profile import Place
from .proto_names import camel_case
from .service import Call, Service
from .versions import Version

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Method:
    """A method by its name, and the versions of the agent that have it, the one at home first."""

    operation: Operation
    versions: tuple[Version, ...]


class JsonRpc:
    """Answers POSTs to one place of the agent; `log` gets a line or two a call."""

    def __init__(
        self, home: Place, places: Sequence[Place], service: Service, streams: EventStreams, log: Callable[[str], None]
    ) -> None:
        self._service = service
        self._streams = streams
        self._log = log
        here = [home, *(place for place in places if place is not home)]
        self._versions = [one for place in here if (one := place.over("JSONRPC")) is not None]
        self._methods: dict[str, _Method] = {}
        for version in self._versions:
            for operation, name in version.dialect.methods.items():
                known = self._methods.get(name, _Method(operation, ()))
                self._methods[name] = _Method(operation, (*known.versions, version))

    async def handle(self, request: web.Request, base: str) -> web.StreamResponse:
        """Answer one HTTP request, whatever it holds; `base` is the origin under which it reached the agent."""
        # Until the method is known, an error is written for the version that the request names.
        form = self._spoken_by(request, self._versions) or self._versions[0]
        identity: str | int | float | None = None
        try:
            value = await read_json(request)
            identity = _identity_of(value)
            method = self._method_of(value)
            if method is not None:
                form = self._spoken_by(request, method.versions) or method.versions[0]
            call = self._open(request, value, method, form, base)
            streams, spoiled = call.operation in STREAMING, self._service.spoiled(call)
            head = spoiled.head(Head(EVENT_STREAM if streams else JSON))
            if (other := instead(head)) is not None:
                return other
            if streams:
                return await self._stream(request, call, head, identity)
            result = await self._service.answer(call)
            self._log(f"{form.name} {call.operation}")
            written = encode_answer(identity, form.dialect.encode_result(call.operation, result))
            return await answer(request, head, written, spoiled)
        except CallError as refused:
            error = refused
        except Exception:
            _logger.exception("a call could not be answered")
            error = failed()
        self._log(f"{form.name} refused: {error.kind.name}")
        failure = dump(encode_answer(identity, encode_error(error, form)))
        return web.Response(body=failure, content_type=JSON, status=error.status or 200)

    def _spoken_by(self, request: web.Request, versions: Sequence[Version]) -> Version | None:
        """Return the first of some versions that takes the version which a request says, or says by its silence."""
        return next((one for one in versions if one.takes(asked_version(request, one.version_header))), None)

    def _method_of(self, value: Json) -> _Method | None:
        name = value.get("method") if isinstance(value, dict) else None
        return self._methods.get(name) if isinstance(name, str) else None

    def _open(self, request: web.Request, value: Json, method: _Method | None, form: Version, base: str) -> Call:
        """Read a call of a version, or refuse it."""
        call = decode_call(value)
        if isinstance(call, ProtocolError):
            kind = BY_CODE[call.code or -32600]
            raise CallError(kind.name, "The request is not a JSON-RPC 2.0 request.")
        if method is None:
            raise CallError("MethodNotFoundError", f"There is no method {call.method[:80]!r}.")
        check_version(form, asked_version(request, form.version_header))
        params = camel_case(call.params) if form.snake_case else call.params
        read = form.dialect.decode_request(method.operation, params)
        if isinstance(read, Unreadable):
            raise bad_params(read.why)
        return Call(method.operation, read, form, base, asked_extensions(request, form))

    async def _stream(
        self, request: web.Request, call: Call, head: Head, identity: str | int | float | None
    ) -> web.StreamResponse:
        subscription, version = await self._service.open(call), call.version
        writing = Writing(
            lambda event: encode_answer(identity, version.dialect.encode_event(event)),
            lambda error: encode_answer(identity, encode_error(error, version)),
        )
        return await self._streams.send(request, subscription, call, head, writing)


def _identity_of(value: Json) -> str | int | float | None:
    """Return a request's id where it has a usable one, so that even a bad request is answered under it."""
    identity = value.get("id") if isinstance(value, dict) else None
    return identity if isinstance(identity, str | int | float) and not isinstance(identity, bool) else None
