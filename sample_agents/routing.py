"""Where an HTTP request goes: to the card, to JSON-RPC or to HTTP+JSON, of the version at home below its path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiohttp import web

from inspector.protocol.bindings.jsonrpc import JSON
from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import ExtendedCardRequest
from inspector.protocol.operations import Operation

from .authentication import Guard, visitor_of
from .card import CARD_PATHS, KEYS_PATH, Cards, CardServer
from .errors import CallError
from .exchange import EventStreams
from .jsonrpc import JsonRpc
from .profile import Place, Profile
from .rest import Rest
from .service import Call, Service
from .task_store import now
from .versions import Version

if TYPE_CHECKING:
    from .signing import Signer


@dataclass(frozen=True, slots=True)
class _Doors:
    """What a place answers with: JSON-RPC at its path, HTTP+JSON below it."""

    place: Place
    rpc: JsonRpc
    rest: Rest | None


class Router:
    """Answers every HTTP request that reaches the agent; `url` says where it listens.

    The `guard` admits those who may call, and the card of the `signer` is signed, where there are such.
    """

    def __init__(
        self,
        profile: Profile,
        cards: Cards,
        service: Service,
        streams: EventStreams,
        url: Callable[[], str],
        log: Callable[[str], None],
        guard: Guard | None,
        signer: Signer | None,
    ) -> None:
        self._url = url
        self._log = log
        self._guard = guard
        self._signer = signer
        self._service = service
        spoken = (place.versions[0] for place in profile.places)
        self._asked_by_path = next((one for one in spoken if one.dialect.extended_card_path), None)
        self._cards = CardServer(profile, cards, now(), log, signer)
        self._doors: dict[str, _Doors] = {}
        for place in profile.places:
            version = place.over("HTTP+JSON")
            rest = None if version is None else Rest(version, service, streams, log)
            self._doors[place.path] = _Doors(place, JsonRpc(place, profile.places, service, streams, log), rest)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one HTTP request."""
        whole = "/" + request.rel_url.raw_path.lstrip("/")  # some clients join a url that ends with a slash and a path
        first = whole.split("/", 2)[1]
        home = f"/{first}" if f"/{first}" in self._doors else ""
        doors, path = self._doors[home], "/" + whole.removeprefix(home).lstrip("/")
        base = self._base(request)
        if path in CARD_PATHS and request.method in ("GET", "HEAD"):
            return self._cards.answer(request, doors.place, path, base)
        if self._signer is not None and whole == KEYS_PATH:
            return web.Response(body=self._signer.keys, content_type=JSON)
        if self._guard is not None:
            server = self._guard.server
            if server is not None and (answer := await server.handle(request, base)) is not None:
                return answer
            if not self._guard.admits(visitor_of(request)):
                self._log(f"{doors.place.name} refused: 401")
                return web.Response(status=401, headers=self._guard.challenge, text="The card says how to come in.")
        if path == "/":
            if request.method != "POST":
                raise web.HTTPMethodNotAllowed(request.method, ["POST"])
            return await doors.rpc.handle(request, base)
        if self._asked_by_path is not None and whole == f"/{self._asked_by_path.dialect.extended_card_path}":
            return await self._extended_card(self._asked_by_path, base)
        if doors.rest is None:
            raise web.HTTPNotFound
        return await doors.rest.handle(request, path, base)

    async def _extended_card(self, version: Version, base: str) -> web.Response:
        """Answer with the extended card of a version that has no method for it."""
        try:
            card = await self._service.answer(Call(Operation.EXTENDED_CARD, ExtendedCardRequest(), version, base))
        except CallError as refused:
            return web.Response(status=404, text=refused.message)
        return web.Response(body=dump(version.dialect.encode_result(Operation.EXTENDED_CARD, card)), content_type=JSON)

    def _base(self, request: web.Request) -> str:
        """Return the address under which the client reached the agent, which is the one that works for it."""
        try:
            return str(request.url.origin()) if request.headers.get("Host") else self._url()
        except ValueError:
            return self._url()
