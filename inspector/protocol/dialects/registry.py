"""The dialects that we speak, by what an interface declares."""

from __future__ import annotations

from functools import cache

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects import opvs, v0_1, v0_2, v0_3, v0_3_proto, v1_0, v1_1
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.traits import VERSIONS, Traits
from inspector.protocol.model import Json, Unreadable

ALL: tuple[Dialect, ...] = (
    v1_0.DIALECT,
    v0_3.DIALECT,
    v0_3_proto.DIALECT,
    v0_2.DIALECT,
    v0_2.PROTO_DIALECT,
    v0_1.DIALECT,
    opvs.DIALECT,
)
"""Every dialect, the newest version first; within a version that of JSON-RPC first; other names last."""

EXPERIMENTAL: tuple[Dialect, ...] = (v1_1.DIALECT,)
"""The dialects of drafts, which are spoken only if the user asks for their version."""

DIALECTS: dict[str, Dialect] = {}
"""The first dialect of every version, the newest version first."""

for _dialect in ALL:
    DIALECTS.setdefault(_dialect.generation, _dialect)

_LEGACY = ("url", "preferredTransport", "additionalInterfaces", "protocolVersion")
"""Members at the top of a card until 0.3, which 1.0 has in each interface."""


def generation_of(version: str) -> str:
    """Return the generation of a declared version (`1.0`, `0.3.0`, `opvs`), `""` where we do not speak it.

    The patch number says nothing about the wire; within 1.x later minors are compatible (1.0 section 3.6).
    """
    numbers = version.strip().lower().split(".")
    generation = "1.0" if numbers[0] == "1" else ".".join(numbers[:2])
    return generation if generation in DIALECTS else ""


def for_version(version: str) -> Dialect | None:
    """Return the first dialect of a declared version, or None where we do not speak it."""
    return DIALECTS.get(generation_of(version))


def for_interface(version: str, binding: str) -> Dialect | None:
    """Return the dialect that an interface of this version speaks over this binding, or None where we speak none."""
    generation = generation_of(version)
    return next((one for one in ALL if one.generation == generation and travels_over(one, binding)), None)


def for_request(version: str, binding: str) -> Dialect | None:
    """Return the dialect of a version that the user asks for, or None if we speak none over this binding."""
    drafts = (one for one in EXPERIMENTAL if one.traits.version == version and travels_over(one, binding))
    return next(drafts, None) or for_interface(version, binding)


@cache
def traits_of(version: str, binding: str = "JSONRPC") -> Traits:
    """Return the traits of a version over a binding; those of the version if it does not travel over it."""
    dialects = (one for one in (*ALL, *EXPERIMENTAL) if one.traits.version == version and travels_over(one, binding))
    dialect = next(dialects, None)
    return VERSIONS[version] if dialect is None else dialect.traits


def readers(version: str) -> tuple[Dialect, ...]:
    """Return the dialects to read a push notification with, in order, if its webhook was registered in a version."""
    return (*(one for one in EXPERIMENTAL if one.traits.version == version), *ALL)


def travels_over(dialect: Dialect, binding: str) -> bool:
    """Say whether a dialect's JSON is what goes over a binding."""
    ways = {"JSONRPC": dialect.methods, "HTTP+JSON": dialect.routes, "GRPC": dialect.service}
    return bool(ways.get(binding.upper()))


def read_card(value: Json) -> tuple[AgentCard | Unreadable, Dialect]:
    """Read a card in whichever generation shaped it, and say which: 1.0 is known by its `supportedInterfaces`.

    A hybrid, which has both shapes, is read as 1.0; so is a card in neither, so that what it lacks can be named.
    Older cards say their version from 0.2.5 on. Before that 0.1 is told by `authentication`, by modes that are words
    ("text"), and by the absence of what 0.2 requires.
    """
    dialect = _shape(value) if isinstance(value, dict) else v1_0.DIALECT
    return dialect.decode_card(value), dialect


def _shape(card: dict[str, Json]) -> Dialect:
    if card.get("supportedInterfaces") or not any(name in card for name in _LEGACY):
        return v1_0.DIALECT
    version = card.get("protocolVersion")
    if version is None:
        return v0_1.DIALECT if _is_of_0_1(card) else v0_2.DIALECT
    legacy = (v0_3.DIALECT, v0_2.DIALECT, v0_1.DIALECT)
    declared = generation_of(version) if isinstance(version, str) else ""
    return next((one for one in legacy if one.generation == declared), v0_3.DIALECT)


def _is_of_0_1(card: dict[str, Json]) -> bool:
    if any(name in card for name in _SINCE_0_2):
        return False
    modes = [card.get(name) for name in _MODES]
    words = any(isinstance(one, list) and any(word in _WORDS for word in one if isinstance(word, str)) for one in modes)
    return "authentication" in card or words or any(name not in card for name in ("description", *_MODES))


_SINCE_0_2 = ("securitySchemes", "security", "preferredTransport", "additionalInterfaces", "iconUrl")
_MODES = ("defaultInputModes", "defaultOutputModes")
_WORDS = frozenset({"text", "file", "data"})
