"""The supported dialects, and functions to find the dialect of a version, an interface or a card."""

from __future__ import annotations

from functools import cache

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects import opvs, v0_1, v0_2, v0_3, v0_3_proto, v1_0, v1_1
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.detect import card_shape
from inspector.protocol.dialects.traits import VERSIONS, Traits, major_minor
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
"""Every released dialect: newest version first, JSON-RPC before ProtoJSON, OPVS last."""

EXPERIMENTAL: tuple[Dialect, ...] = (v1_1.DIALECT,)
"""The dialects of draft versions, which are used only if the user requests their version."""

DIALECTS: dict[str, Dialect] = {}
"""The first dialect of each version, newest version first."""

for _dialect in ALL:
    DIALECTS.setdefault(_dialect.version, _dialect)


def version_of(declared: str) -> str:
    """Return the supported version for a declared version (`1.0`, `0.3.0`, `opvs`), `""` if it is not supported.

    Patch versions are ignored, and so are the minor versions of 1.x (1.0 section 3.6).
    """
    name = major_minor(declared).lower()
    version = "1.0" if name.partition(".")[0] == "1" else name
    return version if version in DIALECTS else ""


def for_version(declared: str) -> Dialect | None:
    """Return the first dialect of a declared version, or None if it is not supported."""
    return DIALECTS.get(version_of(declared))


def for_interface(declared: str, binding: str) -> Dialect | None:
    """Return the dialect of an interface with this version and binding, or None if they are not supported."""
    version = version_of(declared)
    return next((dialect for dialect in ALL if dialect.version == version and supports_binding(dialect, binding)), None)


def for_request(version: str, binding: str) -> Dialect | None:
    """Return the dialect of a version that the user requests (drafts included), or None if it is not supported.

    Unlike the version on a card, 1.2 is not served by 1.0: the request has exactly the version that the user wants.
    """
    name = major_minor(version).lower()
    drafts = (dialect for dialect in EXPERIMENTAL if dialect.version == name and supports_binding(dialect, binding))
    return next(drafts, None) or (
        for_interface(version, binding) if version_of(version) in (name, f"{name}.0") else None
    )


@cache
def traits_of(version: str, binding: str = "JSONRPC") -> Traits:
    """Return the `Traits` of a version over a binding, or its general `Traits` if it does not support the binding."""
    known = (*ALL, *EXPERIMENTAL)
    fitting = (item for item in known if item.traits.version == version and supports_binding(item, binding))
    dialect = next(fitting, None)
    return VERSIONS[version] if dialect is None else dialect.traits


def readers(version: str) -> tuple[Dialect, ...]:
    """Return the dialects that can read the pushes of a webhook registered in a version, in the order to try them."""
    return (*(dialect for dialect in EXPERIMENTAL if dialect.traits.version == version), *ALL)


def supports_binding(dialect: Dialect, binding: str) -> bool:
    """Return whether a dialect supports a binding."""
    operations = {"JSONRPC": dialect.methods, "HTTP+JSON": dialect.routes, "GRPC": dialect.service}
    return bool(operations.get(binding.upper()))


def read_card(value: Json) -> tuple[AgentCard | Unreadable, Dialect]:
    """Read a card in the version whose format it has, and return it with the dialect of this version.

    A card with the members of two versions, or of none, is read as 1.0.
    """
    dialect = DIALECTS[card_shape(value)] if isinstance(value, dict) else v1_0.DIALECT
    return dialect.decode_card(value), dialect
