"""The agent's card: pure 1.0, or as 0.3 shapes it for those who ask for that."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import datetime

from aiohttp import web

from inspector.protocol.card import AgentCapabilities, AgentCard, AgentInterface, AgentProvider, AgentSkill
from inspector.protocol.jsonvalue import dump

from .extension import EXTENSION
from .generations import LISTED, V0_3, V1_0, VERSION_HEADER, Generation, generation_of
from .jsonrpc import asked_version

NAME = "Mock Agent"
VERSION = "1.0.0"
CARD_PATH = "/.well-known/agent-card.json"
OLD_CARD_PATH = "/.well-known/agent.json"
_MAX_AGE = 300


def build_card(generation: Generation, base: str, skills: Sequence[AgentSkill]) -> AgentCard:
    """Return the card for a generation, of an agent that is reached at `base`, an origin without a slash at its end."""
    return AgentCard(
        name=NAME,
        description=(
            "A small agent for trying things out. Begin a message with the name of a skill; anything else is echoed."
        ),
        supported_interfaces=[
            AgentInterface(url=f"{base}{one.path}", protocol_binding="JSONRPC", protocol_version=version)
            for one, version in LISTED[generation.name]
        ],
        provider=AgentProvider(organization="a2a-inspect", url="https://a2a-inspect.example"),
        version=VERSION,
        documentation_url="https://a2a-protocol.org/latest/specification/",
        capabilities=AgentCapabilities(
            streaming=True, push_notifications=True, extended_agent_card=False, extensions=[EXTENSION]
        ),
        security_schemes={
            "bearer": {
                "httpAuthSecurityScheme": {
                    "scheme": "Bearer",
                    "description": "Not asked for: the mock agent serves everybody.",
                }
            }
        },
        default_input_modes=["text/plain", "application/json", "*/*"],
        default_output_modes=["text/plain", "application/json"],
        skills=list(skills),
    )


class CardServer:
    """Answers GETs of the card, with validators for caches (1.0 section 8.6)."""

    def __init__(
        self,
        base: Callable[[web.Request], str],
        skills: Sequence[AgentSkill],
        changed: datetime,
        log: Callable[[str], None],
    ) -> None:
        self._base = base
        self._skills = skills
        self._changed = changed.replace(microsecond=0)
        self._log = log

    async def current(self, request: web.Request) -> web.Response:
        """Answer with the 1.0 card, or with that of another generation where the request names it."""
        asked = asked_version(request)
        return self._answer(request, (generation_of(asked) if asked else None) or V1_0)

    async def old(self, request: web.Request) -> web.Response:
        """Answer with the 0.3 card."""
        return self._answer(request, V0_3)

    def _answer(self, request: web.Request, generation: Generation) -> web.Response:
        body = dump(generation.dialect.encode_card(build_card(generation, self._base(request), self._skills)))
        etag = hashlib.sha256(body).hexdigest()[:32]
        response = web.Response(body=body, content_type="application/json")
        if self._unchanged(request, etag):
            response = web.Response(status=304)
        response.etag = etag
        response.last_modified = self._changed
        response.headers["Cache-Control"] = f"public, max-age={_MAX_AGE}"
        response.headers["Vary"] = VERSION_HEADER
        self._log(f"{generation.name} card: {response.status}")
        return response

    def _unchanged(self, request: web.Request, etag: str) -> bool:
        known = request.if_none_match
        if known is not None:
            return any(one.value in (etag, "*") for one in known)
        since = request.if_modified_since
        return since is not None and self._changed <= since
