"""A finding: one thing that is wrong, where, on what ground, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    """A MUST of the specification is broken."""
    WARNING = "warning"
    """A SHOULD is broken, or people are known to suffer from it."""
    HINT = "hint"
    """Worth knowing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule at one place.

    `rule` is the rule's id (`STREAM-003`); `pointer` is a JSON pointer into the record's payload, `""` for all of it;
    `seen` says in one line what was there (it may quote the agent, so it is hostile text).
    """

    rule: str
    severity: Severity
    pointer: str
    seen: str
