"""The dialects that we speak, by the version that an interface declares."""

from __future__ import annotations

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects import v0_3, v1_0
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.model import Json, Unreadable

DIALECTS: dict[str, Dialect] = {dialect.generation: dialect for dialect in (v1_0.DIALECT, v0_3.DIALECT)}
"""Every dialect by its generation, the newest first."""


_LEGACY = ("url", "preferredTransport", "additionalInterfaces", "protocolVersion")
"""What a card says at its top until 0.3; 1.0 says it of each interface."""


def for_version(version: str) -> Dialect | None:
    """Return the dialect for a declared `protocolVersion` (`1.0`, `0.3.0`), or None where we do not speak it.

    The patch number says nothing about the wire; within 1.x later minors are compatible (1.0 section 3.6).
    """
    numbers = version.strip().split(".")
    if numbers[0] == "1":
        return v1_0.DIALECT
    return DIALECTS.get(".".join(numbers[:2]))


def read_card(value: Json) -> tuple[AgentCard | Unreadable, Dialect]:
    """Read a card in whichever generation shaped it, and say which: 1.0 is known by its `supportedInterfaces`.

    A hybrid, which has both shapes, is read as 1.0; so is a card in neither, so that what it lacks can be named.
    """
    legacy = isinstance(value, dict) and not value.get("supportedInterfaces") and any(name in value for name in _LEGACY)
    dialect = v0_3.DIALECT if legacy else v1_0.DIALECT
    return dialect.decode_card(value), dialect
