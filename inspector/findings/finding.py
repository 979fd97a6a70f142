"""A finding: a violation of a rule by an agent."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from inspector.lazy_dataclass import dataclass


class Severity(StrEnum):
    """The severity of a finding."""

    ERROR = "error"
    """A MUST of the specification is violated."""
    WARNING = "warning"
    """A SHOULD is violated, or clients are known to fail."""
    HINT = "hint"
    """Information; a change may not be necessary."""

    @property
    def rank(self) -> int:
        """Return the position among the severities, 0 for the most severe."""
        return _MOST_SEVERE_FIRST.index(self)


_MOST_SEVERE_FIRST = tuple(Severity)


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation of one rule at one place.

    `rule` is the id of the rule (`STREAM-003`). `pointer` is a JSON pointer into the payload of the record, `""` for
    the whole payload. `seen` describes in one line what was found; it may quote the agent, so it is untrusted text.
    """

    rule: str
    severity: Severity
    pointer: str
    seen: str


def worst_of(severities: Iterable[Severity | None]) -> Severity | None:
    """Return the most severe of these severities, None if there is none."""
    return min(filter(None, severities), key=lambda severity: severity.rank, default=None)


def most_severe_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in the order of their severity."""
    return tuple(sorted(findings, key=lambda finding: finding.severity.rank))
