"""The Agent Card of A2A 1.0 (section 4.4), to which the dialects convert older cards."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from inspector.protocol.model import Items, Json, Wire

CARD_PATHS = ("/.well-known/agent-card.json", "/.well-known/agent.json")
"""The well-known paths of a card: since 0.3, and before 0.3."""


class _CardObject(Wire):
    """An object of a card whose members can be left out, except those in `essential`: the agent can be used anyway."""

    all_optional: ClassVar[bool] = True


class AgentInterface(Wire):
    """An interface of the agent: URL, protocol binding and protocol version (1.0 section 4.4.6)."""

    essential: ClassVar[frozenset[str]] = frozenset({"tenant"})

    url: str = ""
    protocol_binding: str = ""
    tenant: str | None = None
    protocol_version: str = ""


class AgentProvider(_CardObject):
    """The organization that provides the agent (1.0 section 4.4.2)."""

    organization: str = ""
    url: str | None = None


class AgentExtension(_CardObject):
    """A protocol extension that the agent supports (1.0 section 4.4.4)."""

    essential: ClassVar[frozenset[str]] = frozenset({"uri"})

    uri: str = ""
    description: str | None = None
    required: bool | None = None
    params: dict[str, Json] | None = None


class AgentCapabilities(_CardObject):
    """The optional capabilities that the agent declares (1.0 section 4.4.3)."""

    streaming: bool | None = None
    push_notifications: bool | None = None
    extended_agent_card: bool | None = None
    extensions: Items[AgentExtension] | None = None


class AgentSkill(_CardObject):
    """A skill of the agent (1.0 section 4.4.5)."""

    id: str = ""
    name: str = ""
    description: str = ""
    tags: Items[str] = []
    examples: Items[str] | None = None
    input_modes: Items[str] | None = None
    output_modes: Items[str] | None = None
    security_requirements: Items[dict[str, Json]] | None = None


def _first_error_only(value: Json) -> Json:
    for name, member in value.items() if isinstance(value, dict) else ():
        if not isinstance(member, dict):
            raise PydanticCustomError("object", "{name} is not an object", {"name": name})
    return value


class AgentCard(_CardObject):
    """The self-description of an agent: identity, interfaces, capabilities, skills, security (1.0 section 4.4.1).

    `security_schemes` maps names to objects with one member, as in 1.0: `{"httpAuthSecurityScheme": {...}}`.
    """

    essential: ClassVar[frozenset[str]] = frozenset({"supported_interfaces", "security_requirements"})

    name: str = ""
    description: str = ""
    supported_interfaces: Items[AgentInterface] = []
    provider: AgentProvider | None = None
    version: str = ""
    documentation_url: str | None = None
    icon_url: str | None = None
    capabilities: AgentCapabilities = AgentCapabilities()
    security_schemes: Annotated[dict[str, dict[str, Json]], BeforeValidator(_first_error_only)] | None = None
    security_requirements: Items[dict[str, Json]] | None = None
    default_input_modes: Items[str] = []
    default_output_modes: Items[str] = []
    skills: Items[AgentSkill] = []
    signatures: Items[dict[str, Json]] | None = None
