"""Which generation shaped a value, told by signs: for events, messages, parts, requests and cards."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.protocol.model import Json

_PARTS = ("text", "file", "data")
_KINDS = frozenset({"task", "message", "status-update", "artifact-update", *_PARTS})
_WRAPPERS = ("task", "message", "statusUpdate", "artifactUpdate")
_INNER = (*_WRAPPERS, "msg", "update", "status", "artifact", "parts", "content", "artifacts", "history", "params")
"""The members in which more of the protocol's own objects stand; what a user put into data or metadata says nothing."""
_LEGACY_CARD = ("preferredTransport", "additionalInterfaces", "supportsAuthenticatedExtendedCard")
_MOST = 1000
"""How many objects are looked at: enough for any that is not made to keep us busy."""


def looks_like(value: Json) -> str:
    """Name the generation whose shape a value has: `0.1`, `0.2` (cards alone), `0.3`, `1.0`, or `""` where none shows.

    0.2 and 0.3 spell everything but cards alike, and are called 0.3 here; so is the ProtoJSON of 0.3.
    """
    newest = ""
    for looked, one in enumerate(_objects(value)):
        if sign := _sign_of_old(one):
            return sign
        newest = newest or _sign_of_1_0(one)
        if looked >= _MOST:
            break
    return newest


def _objects(value: Json) -> Iterator[dict[str, Json]]:
    """List an object and those in it, outer ones first."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one[:_MOST][::-1]
        elif isinstance(one, dict):
            yield one
            waiting += [one[name] for name in reversed(_INNER) if isinstance(one.get(name), dict | list)]


def _sign_of_old(value: dict[str, Json]) -> str:
    if "supportedInterfaces" in value:
        return ""
    if "skills" in value or "protocolVersion" in value or any(name in value for name in _LEGACY_CARD):
        return _sign_of_card(value)
    kind, mark, file = value.get("kind"), value.get("type"), value.get("file")
    if isinstance(kind, str) and kind in _KINDS:
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


def _sign_of_card(value: dict[str, Json]) -> str:
    version = value.get("protocolVersion")
    if isinstance(version, str):
        return "0.2" if version.startswith("0.2") else "0.1" if version.startswith("0.1") else "0.3"
    if any(name in value for name in _LEGACY_CARD):
        return "0.2"
    return "0.1" if "authentication" in value and "securitySchemes" not in value else ""


def _sign_of_1_0(value: dict[str, Json]) -> str:
    state, role = value.get("state"), value.get("role")
    named = any(isinstance(word, str) and word.startswith(("TASK_STATE_", "ROLE_")) for word in (state, role))
    wrapped = len(value) == 1 and any(isinstance(value.get(name), dict) for name in _WRAPPERS)
    content = any(isinstance(value.get(name), str) for name in ("text", "raw")) and "kind" not in value
    return "1.0" if named or wrapped or content or "supportedInterfaces" in value else ""
