"""The dialect lens: what a canonical object would look like in a generation, and what of it would be lost."""

from __future__ import annotations

from typing import NamedTuple

from inspector.protocol.dialects.base import Dialect
from inspector.protocol.model import Json, Wire


class Respelled(NamedTuple):
    """An object as it stands in a dialect, and JSON pointers to what of the canonical object is lost there."""

    value: Json
    losses: tuple[str, ...]


def respell(value: Wire, dialect: Dialect) -> Respelled:
    """Write an event, a request, a list or a card as another dialect has it; it need not have the operation at all."""
    return Respelled(dialect.spell(value), dialect.cannot_carry(value))
