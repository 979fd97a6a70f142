"""A finding: a place where an agent breaks a rule."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    """A MUST of the specification is broken."""
    WARNING = "warning"
    """A SHOULD is broken, or clients are known to fail because of it."""
    HINT = "hint"
    """Worth knowing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule at one place.

    `rule` is the id of the rule (`STREAM-003`). `pointer` points into the payload of the record, `""` to the
    whole payload. `seen` describes in one line what was found; it may quote the agent, so it is hostile text.
    """

    rule: str
    severity: Severity
    pointer: str
    seen: str
