"""What the agent claims to be: its versions, its capabilities, what it demands; everything else follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from inspector.protocol.dialects.registry import supports_binding

from .versions import RELEASES, VERSIONS, Version


class Capability(StrEnum):
    """What an agent may leave out (1.0 section 4.4.3)."""

    STREAMING = "streaming"
    PUSH = "push"
    EXTENDED_CARD = "extended-card"


ALL = frozenset(Capability)


@dataclass(frozen=True, slots=True)
class Place:
    """A path of the agent, `""` or one like `/v0.3`, and the version that is at home there, in its spellings."""

    path: str
    versions: tuple[Version, ...]

    @property
    def name(self) -> str:
        """Return the version as people say it."""
        return self.versions[0].name

    @property
    def lists_others(self) -> bool:
        """Return whether its card lists the interfaces of other versions.

        Before 1.0 a card has a single version, and another name for a version is declared as that version.
        """
        traits = self.versions[0].traits
        return not traits.card.main_url and not traits.declared

    def over(self, binding: str) -> Version | None:
        """Return the version as it is spelled over a binding, or None where it does not travel so."""
        return next((one for one in self.versions if supports_binding(one.dialect, binding)), None)


@dataclass(frozen=True)
class Profile:
    """What the agent claims to be.

    The first of the `versions` is at home at the root and has the card there, the others each at a path of its own;
    `release` is the one of 1.0 whose errors are used. An agent demands the extension `required`, where it is not `""`.
    `card` is served as it is in place of the agent's own.
    """

    versions: tuple[str, ...] = ("1.0", "0.3")
    release: str = RELEASES[-1]
    capabilities: frozenset[Capability] = frozenset({Capability.STREAMING, Capability.PUSH})
    required: str = ""
    card: bytes | None = None

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Return where each version is at home, the main one first."""
        return tuple(self._places())

    def _places(self) -> Iterator[Place]:
        for index, name in enumerate(self.versions):
            spellings = VERSIONS[name]
            released = (replace(one, release=self.release) if one.releases else one for one in spellings)
            yield Place(spellings[0].path if index else "", tuple(released))

    @property
    def listing(self) -> Place | None:
        """Return the first place whose card lists the interfaces of other versions, None if there is none."""
        return next((place for place in self.places if place.lists_others), None)


DEFAULT = Profile()
