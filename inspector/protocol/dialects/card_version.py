"""As which generation a card is to be judged, told by its shape."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.protocol.dialects.registry import read_card
from inspector.protocol.model import Json

_SINCE_0_2 = (
    "protocolVersion",
    "preferredTransport",
    "additionalInterfaces",
    "securitySchemes",
    "security",
    "supportsAuthenticatedExtendedCard",
    "iconUrl",
)


def generation_of_card(card: Mapping[str, Json]) -> str:
    """Return the generation whose shape a card has, also where one of its members is missing or broken.

    A hybrid is judged as 1.0. What came with 0.3 makes a card one of 0.3, also where it says 0.2, as the sample of 0.3
    itself does. Before 0.2.5 a card does not say its version: one without anything that came with 0.2 is judged as 0.1.
    """
    if "supportedInterfaces" not in card and "url" not in card and _is_old(card):
        return generation_of_card({**card, "url": ""})
    generation = read_card(dict(card))[1].generation
    if generation not in ("0.1", "0.2"):
        return generation
    if _has_signs_of_0_3(card):
        return "0.3"
    return generation if "protocolVersion" in card else _before_0_2_5(card)


def _is_old(card: Mapping[str, Json]) -> bool:
    """Tell a card that does not say where the agent is by its other members."""
    capabilities = card.get("capabilities")
    said = capabilities if isinstance(capabilities, dict) else {}
    if "securityRequirements" in card or "extendedAgentCard" in said or _has_scheme(card, "SecurityScheme"):
        return False
    old = ("protocolVersion", "preferredTransport", "additionalInterfaces", "supportsAuthenticatedExtendedCard")
    return (
        any(name in card for name in (*old, "authentication"))
        or "stateTransitionHistory" in said
        or _has_scheme(card, "type")
    )


def _has_signs_of_0_3(card: Mapping[str, Json]) -> bool:
    skills = _listed(card.get("skills"))
    signed = "signatures" in card or any(isinstance(one, dict) and "security" in one for one in skills)
    schemes = card.get("securitySchemes")
    listed = schemes.values() if isinstance(schemes, dict) else ()
    return signed or any(isinstance(one, dict) and one.get("type") == "mutualTLS" for one in listed)


def _has_scheme(card: Mapping[str, Json], ending: str) -> bool:
    """Say whether a security scheme has a member whose name ends so."""
    schemes = card.get("securitySchemes")
    listed = schemes.values() if isinstance(schemes, dict) else ()
    return any(isinstance(one, dict) and any(name.endswith(ending) for name in one) for one in listed)


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _before_0_2_5(card: Mapping[str, Json]) -> str:
    capabilities = card.get("capabilities")
    newer = isinstance(capabilities, dict) and "extensions" in capabilities
    return "0.2" if newer or any(name in card for name in _SINCE_0_2) else "0.1"
