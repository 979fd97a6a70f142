"""Detect the protocol version of events, messages, parts, requests and cards from their members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from inspector.protocol.dialects.traits import major_minor
from inspector.protocol.model import Json

_PARTS = ("text", "file", "data")
KINDS = frozenset({"task", "message", "status-update", "artifact-update", *_PARTS})
_WRAPPERS = ("task", "message", "statusUpdate", "artifactUpdate")
_INNER = (*_WRAPPERS, "msg", "update", "status", "artifact", "parts", "content", "artifacts", "history", "params")
"""The members that contain other objects of the protocol, unlike data and metadata."""
_LEGACY_CARD = ("preferredTransport", "additionalInterfaces", "supportsAuthenticatedExtendedCard")
_MAIN_INTERFACE = ("url", "preferredTransport", "additionalInterfaces", "protocolVersion")
"""Members at the top of a card until 0.3, which 1.0 has in each interface."""
_CARD_SINCE_0_2 = ("securitySchemes", "security", "preferredTransport", "additionalInterfaces", "iconUrl")
_MODES = ("defaultInputModes", "defaultOutputModes")
_MODE_WORDS = frozenset({"text", "file", "data"})
_MOST = 1000
"""The limit of examined objects, so that a huge value is examined quickly."""


def looks_like(value: Json) -> str:
    """Return the protocol version of the format of a value: `0.1`, `0.2` (cards only), `0.3`, `1.0`; `""` if unknown.

    Except for cards, 0.2 and the ProtoJSON of 0.3 are reported as 0.3.
    """
    newest = ""
    for examined, item in enumerate(_objects(value)):
        if older := _version_before_1_0(item):
            return older
        newest = newest or _version_1_0(item)
        if examined >= _MOST:
            break
    return newest


def _objects(value: Json) -> Iterator[dict[str, Json]]:
    """Yield an object and the objects in it, outer objects first."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting += item[:_MOST][::-1]
        elif isinstance(item, dict):
            yield item
            waiting += [item[name] for name in reversed(_INNER) if isinstance(item.get(name), dict | list)]


def _version_before_1_0(value: dict[str, Json]) -> str:
    if "supportedInterfaces" in value:
        return ""
    if "skills" in value or "protocolVersion" in value or any(name in value for name in _LEGACY_CARD):
        return _version_of_old_card(value)
    kind, mark, file = value.get("kind"), value.get("type"), value.get("file")
    if isinstance(kind, str) and kind in KINDS:
        return "0.3"
    if isinstance(file, dict) and ("fileWithBytes" in file or "fileWithUri" in file):
        return "0.3"
    if value.get("state") == "TASK_STATE_CANCELLED" or (isinstance(value.get("content"), list) and "role" in value):
        return "0.3"
    if "sessionId" in value or mark in _PARTS:
        return "0.1"
    chunk = "index" in value and "parts" in value and "artifactId" not in value
    update = "id" in value and ("artifact" in value or ("status" in value and "final" in value))
    if chunk or update:
        return "0.1"
    return "0.3" if value.get("role") in ("user", "agent") and "messageId" in value else ""


def _version_of_old_card(value: dict[str, Json]) -> str:
    version = value.get("protocolVersion")
    if isinstance(version, str):
        return "0.2" if version.startswith("0.2") else "0.1" if version.startswith("0.1") else "0.3"
    if any(name in value for name in _LEGACY_CARD):
        return "0.2"
    return "0.1" if "authentication" in value and "securitySchemes" not in value else ""


def _version_1_0(value: dict[str, Json]) -> str:
    state, role = value.get("state"), value.get("role")
    named = any(isinstance(word, str) and word.startswith(("TASK_STATE_", "ROLE_")) for word in (state, role))
    wrapped = len(value) == 1 and any(isinstance(value.get(name), dict) for name in _WRAPPERS)
    content = any(isinstance(value.get(name), str) for name in ("text", "raw")) and "kind" not in value
    return "1.0" if named or wrapped or content or "supportedInterfaces" in value else ""


def card_shape(card: Mapping[str, Json]) -> str:
    """Return the protocol version whose format is used to read a card.

    It is 1.0 if the card has `supportedInterfaces`, or no members of an older version. Older cards declare their
    version from 0.2.5 on. A card without a version is read as 0.1 if it has `authentication` or modes that are words
    ("text"), or lacks members that 0.2 requires.
    """
    if card.get("supportedInterfaces") or not any(name in card for name in _MAIN_INTERFACE):
        return "1.0"
    version = card.get("protocolVersion")
    if version is None:
        return "0.1" if _is_of_0_1(card) else "0.2"
    declared = major_minor(version) if isinstance(version, str) else ""
    return declared if declared in ("0.1", "0.2") else "0.3"


def _is_of_0_1(card: Mapping[str, Json]) -> bool:
    if any(name in card for name in _CARD_SINCE_0_2):
        return False
    modes = [mode for name in _MODES if isinstance(card.get(name), list) for mode in card[name]]
    words = any(mode in _MODE_WORDS for mode in modes if isinstance(mode, str))
    return "authentication" in card or words or any(name not in card for name in ("description", *_MODES))


def version_of_card(card: Mapping[str, Json]) -> str:
    """Return the protocol version whose rules are used to check a card, even if members are missing or wrong.

    - A card with the members of two versions is checked as 1.0.
    - A card with members that were added in 0.3 is checked as 0.3, even if it declares 0.2 (like the sample in the
      specification of 0.3).
    - A card without a version and without members that were added in 0.2 is checked as 0.1.
    """
    if "supportedInterfaces" not in card and "url" not in card and _is_old(card):
        card = {**card, "url": ""}
    shape = card_shape(card)
    if shape not in ("0.1", "0.2"):
        return shape
    skills = card.get("skills")
    signed = isinstance(skills, list) and any(isinstance(skill, dict) and "security" in skill for skill in skills)
    if signed or "signatures" in card or any(scheme.get("type") == "mutualTLS" for scheme in _schemes(card)):
        return "0.3"
    if "protocolVersion" in card:
        return shape
    newer = any(name in card for name in (*_CARD_SINCE_0_2, "supportsAuthenticatedExtendedCard"))
    return "0.2" if newer or "extensions" in _capabilities(card) else "0.1"


def _is_old(card: Mapping[str, Json]) -> bool:
    """Return whether a card without interfaces has members from before 1.0, and no members that 1.0 added."""
    capabilities = _capabilities(card)
    members = {name for scheme in _schemes(card) for name in scheme}
    wrapped = any(name.endswith("SecurityScheme") for name in members)
    if "securityRequirements" in card or "extendedAgentCard" in capabilities or wrapped:
        return False
    old = any(name in card for name in ("protocolVersion", "authentication", *_LEGACY_CARD))
    return old or "stateTransitionHistory" in capabilities or any(name.endswith("type") for name in members)


def _schemes(card: Mapping[str, Json]) -> list[dict[str, Json]]:
    schemes = card.get("securitySchemes")
    return [scheme for scheme in schemes.values() if isinstance(scheme, dict)] if isinstance(schemes, dict) else []


def _capabilities(card: Mapping[str, Json]) -> dict[str, Json]:
    capabilities = card.get("capabilities")
    return capabilities if isinstance(capabilities, dict) else {}
