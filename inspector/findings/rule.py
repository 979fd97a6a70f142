"""What a rule is: one demand of a specification, the ground it rests on, and an example of either side."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.findings.finding import Severity
from inspector.protocol.model import Json

LEGACY = ("0.1", "0.2", "0.3")
V1 = ("1.0", "opvs")
EVERY = (*LEGACY, *V1)
"""The generations, the oldest first."""
NEWEST_FIRST = (*V1, *reversed(LEGACY))
SINCE_0_2 = (*V1, "0.3", "0.2")
"""The generations that a rule holds for, that of its example first."""


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
