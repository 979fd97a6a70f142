"""What a rule is: one demand of a specification, the ground it rests on, and an example of either side."""

from __future__ import annotations

from dataclasses import dataclass, field

from inspector.findings.finding import Severity
from inspector.protocol.dialects.traits import STABLE, VERSIONS
from inspector.protocol.model import Json

EVERY = STABLE
"""The released protocol versions, the oldest first."""
LEGACY = tuple(name for name in EVERY if VERSIONS[name].outdated)
V1 = tuple(name for name in EVERY if name not in LEGACY)
NEWEST_FIRST = (*V1, *reversed(LEGACY))
SINCE_0_2 = NEWEST_FIRST[:-1]
"""The versions that a rule holds for, that of its example first. It also holds for versions that extend these."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that is checked.

    `section` is the ground it rests on, and `demand` says what that asks for, in its own key words (MUST, SHOULD) where
    it has any. `passing` and `failing` are examples, in the shape that the family of the rule defines: for a card, a
    merge patch (RFC 7386) on a sound one of the first of `generations`.
    """

    id: str
    severity: Severity
    title: str
    section: str
    demand: str
    remedy: str
    generations: tuple[str, ...] = EVERY
    passing: Json = None
    failing: Json = None

    versions: frozenset[str] = field(init=False, repr=False)
    """Every version that the rule holds for: `generations`, and those that extend one of them."""

    def __post_init__(self) -> None:
        extending = (name for name, traits in VERSIONS.items() if traits.extends in self.generations)
        object.__setattr__(self, "versions", frozenset((*self.generations, *extending)))
