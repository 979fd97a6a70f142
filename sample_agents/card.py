"""Create the agent cards and serve them, for each protocol version that the agent supports, and a catalog of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from aiohttp import web

from inspector.protocol.ai_catalog import CARD_TYPE
from inspector.protocol.ai_catalog import MEDIA_TYPE as CATALOG_TYPE
from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.card import (
    CARD_PATHS,
    AgentCapabilities,
    AgentCard,
    AgentExtension,
    AgentInterface,
    AgentProvider,
    AgentSkill,
)
from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Json
from inspector.text.host import authority

from .authentication import Authenticator
from .extension import OFFERED
from .http_messages import requested_version
from .profile import Capability, Endpoint, Profile
from .versions import Version

if TYPE_CHECKING:
    from .signing import Signer  # loaded only if the agent signs its cards
    from .tls import Tls

NAME = "Mock Agent"
VERSION = "1.0.0"
KEYS_PATH = "/.well-known/jwks.json"
_MAX_AGE = 300
_GRPC = "GRPC"


class Cards:
    """Create the cards of an agent.

    `skills` returns the public skills, `hidden` are those of the extended card only. `grpc_port` returns the port for
    gRPC, 0 if gRPC is not served.
    """

    def __init__(
        self,
        profile: Profile,
        skills: Callable[[], Sequence[AgentSkill]],
        hidden: Sequence[AgentSkill],
        grpc_port: Callable[[], int],
        authenticator: Authenticator | None,
        tls: Tls | None = None,
    ) -> None:
        self._profile = profile
        self._authenticator = authenticator
        self._tls = tls
        self._skills = skills
        self._hidden = list(hidden)
        self._grpc_port = grpc_port

    def public(self, endpoint: Endpoint, base: str) -> AgentCard:
        """Return the public card of an endpoint; `base` is the origin under which the client reaches the agent."""
        return self._card(endpoint, base, self._skills())

    def extended(self, version: Version, base: str) -> AgentCard:
        """Return the extended card: the public card with the hidden skills."""
        endpoint = next(endpoint for endpoint in self._profile.endpoints if endpoint.name == version.name)
        return self._card(endpoint, base, [*self._skills(), *self._hidden])

    def _card(self, endpoint: Endpoint, base: str, skills: Sequence[AgentSkill]) -> AgentCard:
        declared = self._profile.capabilities
        card = AgentCard(
            name=NAME,
            description=(
                "A small agent for trying things out. Begin a message with the id of a skill; anything else is echoed."
            ),
            supported_interfaces=[
                interface
                for binding in BINDINGS
                for other in self._listed(endpoint)
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
            skills=list(skills),
        )
        if self._authenticator is not None:
            card = self._authenticator.add_to_card(card, base, since_1_0=not endpoint.versions[0].version_optional)
        return card if self._tls is None else self._tls.add_to_card(card)

    def _extensions(self) -> Iterator[AgentExtension]:
        """Return the extensions of the agent; the required extension has `required: true`."""
        required = self._profile.required
        for offered in OFFERED:
            yield offered.model_copy(update={"required": required == offered.uri})
        if required not in ("", *(offered.uri for offered in OFFERED)):
            yield AgentExtension(uri=required, required=True)

    def _listed(self, endpoint: Endpoint) -> list[Endpoint]:
        """Return the endpoints whose interfaces a card lists, its own first."""
        if not endpoint.lists_others:
            return [endpoint]
        others = (other for other in self._profile.endpoints if not other.versions[0].traits.declared)
        return [endpoint, *(other for other in others if other is not endpoint)]

    def _interface(self, endpoint: Endpoint, binding: str, base: str) -> AgentInterface | None:
        version = endpoint.version_for(binding)
        if version is None or (binding == _GRPC and not self._grpc_port()):
            return None
        url = base + endpoint.path
        if binding == _GRPC:
            target = grpc_target(base, self._grpc_port())
            # Cards before 1.0 have URLs only. Since 1.0, `host:port` is allowed, but it does not indicate TLS.
            scheme = "https" if self._tls else "http"
            url = f"{scheme}://{target}" if version.version_optional or self._tls else target
        elif binding == "JSONRPC" and not endpoint.path:
            url += "/"
        return AgentInterface(url=url, protocol_binding=binding, protocol_version=version.declared)


def grpc_target(base: str, port: int) -> str:
    """Return the gRPC target, `host:port`, for the host of an origin."""
    return authority(urlsplit(base).hostname or "", port)


def _merged(old: Json, new: Json) -> Json:
    """Merge two JSON values at every depth; if they differ, the old value is used."""
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return old
    return new | {name: _merged(member, new[name]) if name in new else member for name, member in old.items()}


class CardServer:
    """Serve the card with ETag and Last-Modified (1.0 section 8.6).

    `changed` is the time of Last-Modified. With a `signer`, the cards are signed.
    """

    def __init__(
        self, profile: Profile, cards: Cards, changed: datetime, log: Callable[[str], None], signer: Signer | None
    ) -> None:
        self._profile = profile
        self._cards = cards
        self._changed = changed.replace(microsecond=0)
        self._log = log
        self._signer = signer

    def answer(self, request: web.Request, endpoint: Endpoint, path: str, base: str) -> web.Response:
        """Return the response with the card of an endpoint.

        At the root, this is the card of the version that the request names. If it names none, it is the card of the
        main version. If that version is older than 1.0 and 1.0 is served, too, the card has the members of both. At
        the path from before 0.3, it is the card of the first version that uses this path.
        """
        if endpoint.path:
            return self._send(request, self._serialise(self._encode(endpoint, base), base), endpoint.name)
        if self._profile.card is not None:
            return self._send(request, self._profile.card, "own")
        named = self._named(request)
        if named is None and path == CARD_PATHS[1]:
            named = next((other for other in self._profile.endpoints if other.versions[0].version_optional), None)
            if named is None:
                return web.Response(status=404, text=f"The card is at {CARD_PATHS[0]}.")
        newest = self._profile.listing_endpoint
        if named is None and newest is not None and endpoint.versions[0].version_optional:
            both = _merged(self._encode(endpoint, base), self._encode(newest, base))
            return self._send(request, self._serialise(both, base), f"{endpoint.name} and {newest.name}")
        endpoint = named or endpoint
        return self._send(request, self._serialise(self._encode(endpoint, base), base), endpoint.name)

    def catalog(self, base: str) -> web.Response:
        """Return an AI Catalog with the card of each endpoint by URL, and that of the main endpoint as data."""
        entries: list[Json] = [
            {
                "identifier": f"urn:air:a2a-inspect.example:agent:mock-{endpoint.name}",
                "type": CARD_TYPE,
                "url": f"{base}{endpoint.path}{CARD_PATHS[0]}",
                "displayName": f"{NAME} {endpoint.name}",
            }
            for endpoint in self._profile.endpoints
        ]
        inline: Json = {
            "identifier": "urn:air:a2a-inspect.example:agent:mock",
            "type": CARD_TYPE,
            "data": self._signed(self._encode(self._profile.endpoints[0], base), base),
        }
        body = dump({"specVersion": "0.9", "host": {"displayName": "a2a-inspect"}, "entries": [inline, *entries]})
        return web.Response(body=body, content_type=CATALOG_TYPE)

    def _serialise(self, card: Json, base: str) -> bytes:
        return dump(self._signed(card, base))

    def _signed(self, card: Json, base: str) -> Json:
        return card if self._signer is None else self._signer.signed(card, base + KEYS_PATH)

    def _encode(self, endpoint: Endpoint, base: str) -> Json:
        return endpoint.versions[0].dialect.encode_card(self._cards.public(endpoint, base))

    def _named(self, request: web.Request) -> Endpoint | None:
        """Return the endpoint of the version that a request names, None if it names none."""
        for endpoint in self._profile.endpoints:
            version = requested_version(request, endpoint.versions[0].version_header)
            if version and endpoint.versions[0].accepts(version):
                return endpoint
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
            sorted({endpoint.versions[0].version_header for endpoint in self._profile.endpoints})
        )
        self._log(f"{name} card: {response.status}")
        return response

    def _unchanged(self, request: web.Request, etag: str) -> bool:
        known = request.if_none_match
        if known is not None:
            return any(tag.value in (etag, "*") for tag in known)
        since = request.if_modified_since
        return since is not None and self._changed <= since
