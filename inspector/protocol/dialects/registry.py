"""The supported dialects, and which of them an interface or a card needs."""

from __future__ import annotations

from functools import cache

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects import opvs, v0_1, v0_2, v0_3, v0_3_proto, v1_0, v1_1
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.detect import card_shape
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
"""The dialects of drafts, which are used only if the user asks for their version."""

DIALECTS: dict[str, Dialect] = {}
"""The first dialect of every version, the newest version first."""

for _dialect in ALL:
    DIALECTS.setdefault(_dialect.version, _dialect)


def version_of(declared: str) -> str:
    """Return the supported version that a declared one (`1.0`, `0.3.0`, `opvs`) means, `""` if there is none.

    Patch versions have the same JSON, and so have the minor versions of 1.x (1.0 section 3.6).
    """
    numbers = declared.strip().lower().split(".")
    version = "1.0" if numbers[0] == "1" else ".".join(numbers[:2])
    return version if version in DIALECTS else ""


def for_version(declared: str) -> Dialect | None:
    """Return the first dialect of a declared version, or None if it is not supported."""
    return DIALECTS.get(version_of(declared))


def for_interface(declared: str, binding: str) -> Dialect | None:
    """Return the dialect of an interface with this version and binding, or None if they are not supported."""
    version = version_of(declared)
    return next((one for one in ALL if one.version == version and travels_over(one, binding)), None)


def for_request(version: str, binding: str) -> Dialect | None:
    """Return the dialect of a version that the user asks for, or None if the binding does not support it."""
    drafts = (one for one in EXPERIMENTAL if one.version == version and travels_over(one, binding))
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
    """Return whether a binding carries the JSON of a dialect."""
    ways = {"JSONRPC": dialect.methods, "HTTP+JSON": dialect.routes, "GRPC": dialect.service}
    return bool(ways.get(binding.upper()))


def read_card(value: Json) -> tuple[AgentCard | Unreadable, Dialect]:
    """Read a card in the version whose shape it has, and return it with the dialect of that version.

    A card with the members of two versions is read as 1.0, and so is a card with those of neither version.
    """
    dialect = DIALECTS[card_shape(value)] if isinstance(value, dict) else v1_0.DIALECT
    return dialect.decode_card(value), dialect
