"""The configuration of an agent: protocol versions, capabilities, required extension, card."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from functools import cached_property

from inspector.lazy_dataclass import dataclass
from inspector.protocol.dialects.registry import supports_binding

from .versions import RELEASES, VERSIONS, Version


class Capability(StrEnum):
    """An optional capability of an agent (1.0 section 4.4.3)."""

    STREAMING = "streaming"
    PUSH = "push"
    EXTENDED_CARD = "extended-card"


ALL = frozenset(Capability)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A path of the agent, `""` or for example `/v0.3`, and the protocol version that it serves.

    `versions` has several entries if the version differs between bindings.
    """

    path: str
    versions: tuple[Version, ...]

    @property
    def name(self) -> str:
        """Return the name of the version, for example `0.3`."""
        return self.versions[0].name

    @property
    def lists_others(self) -> bool:
        """Return whether its card lists the interfaces of other versions, too.

        Cards before 1.0 have a single version.
        """
        traits = self.versions[0].traits
        return not traits.card.main_url and not traits.declared

    def version_for(self, binding: str) -> Version | None:
        """Return the version for a binding, None if the version does not have this binding."""
        return next((version for version in self.versions if supports_binding(version.dialect, binding)), None)


@dataclass(frozen=True)
class Profile:
    """The configuration of an agent.

    The first of the `versions` is served at the root, the others below their own paths. `release` is the release of
    1.0 that defines the statuses of errors. `required` is the URI of the required extension, `""` for none. `card` is
    served unchanged in place of the generated card.
    """

    versions: tuple[str, ...] = ("1.0", "0.3")
    release: str = RELEASES[-1]
    capabilities: frozenset[Capability] = frozenset({Capability.STREAMING, Capability.PUSH})
    required: str = ""
    card: bytes | None = None

    @cached_property
    def endpoints(self) -> tuple[Endpoint, ...]:
        """Return the endpoint of each version, the main version first."""
        return tuple(self._endpoints())

    def _endpoints(self) -> Iterator[Endpoint]:
        for index, name in enumerate(self.versions):
            spellings = VERSIONS[name]
            released = (replace(item, release=self.release) if item.releases else item for item in spellings)
            yield Endpoint(spellings[0].path if index else "", tuple(released))

    @property
    def listing_endpoint(self) -> Endpoint | None:
        """Return the first endpoint whose card lists the interfaces of other versions, None if there is none."""
        return next((endpoint for endpoint in self.endpoints if endpoint.lists_others), None)


DEFAULT = Profile()
