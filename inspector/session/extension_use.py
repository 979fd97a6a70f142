"""Find the data of known extensions in a payload when it is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from inspector.protocol.extensions import may_have_uses
from inspector.protocol.model import Json

if TYPE_CHECKING:
    from inspector.protocol.extensions.known import Use

_MOST_TITLES = 2


class ExtensionUse(NamedTuple):
    """The names of the known extensions whose data a payload contains, and what the data means in one line."""

    names: tuple[str, ...] = ()
    title: str = ""

    def added_to(self, label: str) -> str:
        """Return the label of a record with the title after it."""
        return " · ".join(filter(None, (label, self.title)))


NO_USE = ExtensionUse()


def find_use(raw: bytes, value: Json) -> ExtensionUse:
    """Return what a payload with these bytes and this JSON contains of known extensions."""
    if not may_have_uses(raw):
        return NO_USE
    from inspector.protocol.extensions.known import uses_in  # noqa: PLC0415 - few agents use extensions

    return use_of(uses_in(value))


def use_of(uses: Sequence[Use]) -> ExtensionUse:
    """Return the names of the extensions that are used, and what their data means."""
    if not uses:
        return NO_USE
    titles = dict.fromkeys(filter(None, (use.outline.title for use in uses[:_MOST_TITLES])))
    return ExtensionUse(tuple(dict.fromkeys(use.extension.name for use in uses)), " · ".join(titles))
