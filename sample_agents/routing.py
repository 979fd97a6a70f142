"""Route HTTP requests to the card, JSON-RPC, HTTP+JSON or the authorization server."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from aiohttp import web

from inspector.lazy_dataclass import dataclass
from inspector.protocol.ai_catalog import WELL_KNOWN as CATALOG_PATH
from inspector.protocol.bindings.jsonrpc import JSON
from inspector.protocol.card import CARD_PATHS
from inspector.protocol.model import ExtendedCardRequest
from inspector.protocol.operations import Operation

from .access import MissingScopeError
from .authentication import Authenticator, credentials_of
from .card import KEYS_PATH, Cards, CardServer
from .errors import CallError
from .faults.fault import Head
from .http_messages import ACCESS, EventStreams, access_of, replacement_response, response_of, send_json
from .jsonrpc import JsonRpc
from .listening import origin_of
from .profile import Endpoint, Profile
from .rest import Rest
from .service import Call, Service
from .task_store import now
from .versions import Version

if TYPE_CHECKING:
    from .signing import Signer


@dataclass(frozen=True, slots=True)
class _Handlers:
    """The handlers of an endpoint: JSON-RPC at its path, HTTP+JSON below it."""

    endpoint: Endpoint
    rpc: JsonRpc
    rest: Rest | None


class Router:
    """Handle every HTTP request to the agent; `url` returns its base URL.

    With an `authenticator`, calls need credentials; with a `signer`, the cards are signed and its key is published.
    """

    def __init__(
        self,
        profile: Profile,
        cards: Cards,
        service: Service,
        streams: EventStreams,
        url: Callable[[], str],
        log: Callable[[str], None],
        authenticator: Authenticator | None,
        signer: Signer | None,
    ) -> None:
        self._url = url
        self._log = log
        self._authenticator = authenticator
        self._signer = signer
        self._service = service
        versions = (endpoint.versions[0] for endpoint in profile.endpoints)
        self._extended_card_version = next((item for item in versions if item.dialect.extended_card_path), None)
        self._cards = CardServer(profile, cards, now(), log, signer)
        self._handlers: dict[str, _Handlers] = {}
        for endpoint in profile.endpoints:
            version = endpoint.version_for("HTTP+JSON")
            rest = None if version is None else Rest(version, service, streams, log)
            self._handlers[endpoint.path] = _Handlers(
                endpoint, JsonRpc(endpoint, profile.endpoints, service, streams, log), rest
            )

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Return the response to an HTTP request."""
        full_path = "/" + request.rel_url.raw_path.lstrip("/")  # some clients send //
        first = full_path.split("/", 2)[1]
        endpoint_path = f"/{first}" if f"/{first}" in self._handlers else ""
        handlers, path = self._handlers[endpoint_path], "/" + full_path.removeprefix(endpoint_path).lstrip("/")
        base = origin_of(request) or self._url()
        if path in CARD_PATHS and request.method in ("GET", "HEAD"):
            return self._cards.answer(request, handlers.endpoint, path, base)
        if full_path == CATALOG_PATH and request.method in ("GET", "HEAD"):
            return self._cards.catalog(base)
        if self._signer is not None and full_path == KEYS_PATH:
            return web.Response(body=self._signer.keys, content_type=JSON)
        if self._authenticator is not None:
            server = self._authenticator.server
            if server is not None and (answer := await server.handle(request, base)) is not None:
                return answer
            credentials = credentials_of(request)
            access = self._authenticator.check(credentials)
            if access.problem:
                self._log(f"{handlers.endpoint.name} refused: 401")
                return response_of(self._authenticator.refusal(credentials, access.problem, base))
            request[ACCESS] = access
        try:
            return await self._call(request, handlers, path, base)
        except MissingScopeError as error:
            if self._authenticator is None:
                raise
            self._log(f"{handlers.endpoint.name} refused: 403")
            return response_of(self._authenticator.forbidden(error.scopes, base))

    async def _call(self, request: web.Request, handlers: _Handlers, path: str, base: str) -> web.StreamResponse:
        """Return the response to an authenticated call; raises `MissingScopeError`."""
        if path == "/":
            if request.method != "POST":
                raise web.HTTPMethodNotAllowed(request.method, ["POST"])
            return await handlers.rpc.handle(request, base)
        version = self._extended_card_version
        if version is not None and not handlers.endpoint.path and path == f"/{version.dialect.extended_card_path}":
            return await self._extended_card(request, version, base)
        if handlers.rest is None:
            raise web.HTTPNotFound
        return await handlers.rest.handle(request, path, base)

    async def _extended_card(self, request: web.Request, version: Version, base: str) -> web.StreamResponse:
        """Return the extended card of a version in which it has a path; raises `MissingScopeError`."""
        call = Call(Operation.EXTENDED_CARD, ExtendedCardRequest(), version, base, access=access_of(request))
        self._service.check_scopes(call)
        fault_plan = self._service.fault_plan(call)
        head = fault_plan.head(Head(JSON))
        if (other := replacement_response(head)) is not None:
            return other
        try:
            card = await self._service.answer(call)
        except CallError as refused:
            return web.Response(status=404, text=refused.message)
        return await send_json(request, head, version.dialect.encode_result(call.operation, card), fault_plan)
