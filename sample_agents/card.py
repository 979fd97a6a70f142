"""The agent's card: in the shape of the version that is asked for, at the root or where that one is at home."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from aiohttp import web

from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.card import (
    AgentCapabilities,
    AgentCard,
    AgentExtension,
    AgentInterface,
    AgentProvider,
    AgentSkill,
)
from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Json

from .authentication import Guard
from .exchange import asked_version
from .extension import EXTENSION
from .profile import Capability, Place, Profile
from .versions import Version

if TYPE_CHECKING:
    from .signing import Signer  # an agent that signs nothing starts without what it takes
    from .tls import Tls

NAME = "Mock Agent"
VERSION = "1.0.0"
CARD_PATHS = ("/.well-known/agent-card.json", "/.well-known/agent.json")
"""Where the card is: since 0.3, and before."""
KEYS_PATH = "/.well-known/jwks.json"
_MAX_AGE = 300
_GRPC = "GRPC"


class Cards:
    """Makes the cards of an agent: `grpc_port` says where it serves gRPC, and is 0 where it does not."""

    def __init__(
        self,
        profile: Profile,
        skills: Callable[[], Sequence[AgentSkill]],
        hidden: Sequence[AgentSkill],
        grpc_port: Callable[[], int],
        guard: Guard | None,
        tls: Tls | None = None,
    ) -> None:
        self._profile = profile
        self._guard = guard
        self._tls = tls
        self._skills = skills
        self._hidden = list(hidden)
        self._grpc_port = grpc_port

    def public(self, place: Place, base: str) -> AgentCard:
        """Return the card of the version at home in a place, of an agent that is reached at an origin."""
        declared = self._profile.capabilities
        card = AgentCard(
            name=NAME,
            description=(
                "A small agent for trying things out. "
                "Begin a message with the name of a skill; anything else is echoed."
            ),
            supported_interfaces=[
                interface
                for binding in BINDINGS
                for other in self._listed(place)
                if (interface := self._interface(other, binding, base)) is not None
            ],
            provider=AgentProvider(organization="a2a-inspect", url="https://a2a-inspect.example"),
            version=VERSION,
            documentation_url="https://a2a-protocol.org/latest/specification/",
            capabilities=AgentCapabilities(
                streaming=Capability.STREAMING in declared,
                push_notifications=Capability.PUSH in declared,
                extended_agent_card=Capability.EXTENDED_CARD in declared,
                extensions=list(self._extensions()),
            ),
            default_input_modes=["text/plain", "application/json", "*/*"],
            default_output_modes=["text/plain", "application/json"],
            skills=list(self._skills()),
        )
        if self._guard is not None:
            card = self._guard.on_card(card, base, since_1_0=not place.versions[0].unstated)
        return card if self._tls is None else self._tls.on_card(card)

    def extended(self, version: Version, base: str) -> AgentCard:
        """Return the card that has the hidden skills too."""
        place = next(place for place in self._profile.places if place.name == version.name)
        return self.public(place, base).model_copy(update={"skills": [*self._skills(), *self._hidden]})

    def _extensions(self) -> Iterator[AgentExtension]:
        """Return the extensions of the agent, the one that it demands as such."""
        required = self._profile.required
        yield EXTENSION.model_copy(update={"required": required == EXTENSION.uri})
        if required not in ("", EXTENSION.uri):
            yield AgentExtension(uri=required, required=True)

    def _listed(self, place: Place) -> list[Place]:
        """Return the places whose interfaces are on a card, its own first."""
        if not place.lists_others:
            return [place]
        others = (one for one in self._profile.places if not one.versions[0].traits.declared)
        return [place, *(one for one in others if one is not place)]

    def _interface(self, place: Place, binding: str, base: str) -> AgentInterface | None:
        version = place.over(binding)
        if version is None or (binding == _GRPC and not self._grpc_port()):
            return None
        url = base + place.path
        if binding == _GRPC:
            target = grpc_target(base, self._grpc_port())
            # Cards had nothing but urls before 1.0; after it a bare target says nothing about TLS.
            scheme = "https" if self._tls else "http"
            url = f"{scheme}://{target}" if version.unstated or self._tls else target
        elif binding == "JSONRPC" and not place.path:
            url += "/"
        return AgentInterface(url=url, protocol_binding=binding, protocol_version=version.declared)


def grpc_target(base: str, port: int) -> str:
    """Return where gRPC is served beside an origin, as `host:port`."""
    host = urlsplit(base).hostname or ""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _merged(old: Json, new: Json) -> Json:
    """Return an object with the members of two, at every depth; where both say something else, the old one's."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return old
    return new | {name: _merged(member, new[name]) if name in new else member for name, member in old.items()}


class CardServer:
    """Answers GETs of the card, with validators for caches (1.0 section 8.6)."""

    def __init__(
        self, profile: Profile, cards: Cards, changed: datetime, log: Callable[[str], None], signer: Signer | None
    ) -> None:
        self._profile = profile
        self._cards = cards
        self._changed = changed.replace(microsecond=0)
        self._log = log
        self._signer = signer

    def answer(self, request: web.Request, place: Place, path: str, base: str) -> web.Response:
        """Answer with the card of a place; at the root, with that of the version that the request names, if any.

        Who names none gets the card of the main version there, one in both shapes where that is older than 1.0 and
        1.0 is served too; at the old path, the card of the first version that knows that path.
        """
        if place.path:
            return self._send(request, self._written(self._pure(place, base), base), place.name)
        if self._profile.card is not None:
            return self._send(request, self._profile.card, "own")
        named = self._named(request)
        if named is None and path == CARD_PATHS[1]:
            named = next((one for one in self._profile.places if one.versions[0].unstated), None)
            if named is None:
                return web.Response(status=404, text="No protocol version of this agent has its card here.")
        newest = self._profile.listing
        if named is None and newest is not None and place.versions[0].unstated:
            both = _merged(self._pure(place, base), self._pure(newest, base))
            return self._send(request, self._written(both, base), f"{place.name} and {newest.name}")
        place = named or place
        return self._send(request, self._written(self._pure(place, base), base), place.name)

    def _written(self, card: Json, base: str) -> bytes:
        return dump(card if self._signer is None else self._signer.signed(card, base + KEYS_PATH))

    def _pure(self, place: Place, base: str) -> Json:
        return place.versions[0].dialect.encode_card(self._cards.public(place, base))

    def _named(self, request: web.Request) -> Place | None:
        """Return the place of the version whose version a request says."""
        for place in self._profile.places:
            version = asked_version(request, place.versions[0].version_header)
            if version and place.versions[0].takes(version):
                return place
        return None

    def _send(self, request: web.Request, body: bytes, name: str) -> web.Response:
        etag = hashlib.sha256(body).hexdigest()[:32]
        response = web.Response(body=body, content_type="application/json")
        if self._unchanged(request, etag):
            response = web.Response(status=304)
        response.etag = etag
        response.last_modified = self._changed
        response.headers["Cache-Control"] = f"public, max-age={_MAX_AGE}"
        response.headers["Vary"] = ", ".join(
            sorted({place.versions[0].version_header for place in self._profile.places})
        )
        self._log(f"{name} card: {response.status}")
        return response

    def _unchanged(self, request: web.Request, etag: str) -> bool:
        known = request.if_none_match
        if known is not None:
            return any(one.value in (etag, "*") for one in known)
        since = request.if_modified_since
        return since is not None and self._changed <= since
