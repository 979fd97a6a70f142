"""Rules, and sets of rules that are declared together with the functions that check them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from itertools import islice
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from inspector.findings.finding import Finding, Severity
from inspector.lazy_dataclass import dataclass
from inspector.protocol.dialects.traits import STABLE, VERSIONS
from inspector.protocol.model import Json

_MAX_VIOLATIONS = 100
"""The maximum number of violations of one rule that are reported for one object."""
ERROR, WARNING, HINT = Severity.ERROR, Severity.WARNING, Severity.HINT

EVERY = STABLE
"""The released protocol versions, the oldest first."""
LEGACY = tuple(name for name in EVERY if VERSIONS[name].outdated)
V1 = tuple(name for name in EVERY if name not in LEGACY)
NEWEST_FIRST = (*V1, *reversed(LEGACY))
SINCE_0_2 = NEWEST_FIRST[:-1]
"""Values for `versions` of a rule. The examples of a rule are written in the first of its versions. The rule also
applies to every version that extends one of its versions."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A requirement of the specification that a function checks.

    `section` names the section of the specification, `requirement` paraphrases it with its key word (MUST, SHOULD).
    The form of the examples `passing` and `failing` depends on what the rule checks: for a card, it is a merge patch
    (RFC 7386) on a valid card of the first version in `versions`.
    """

    id: str
    severity: Severity
    title: str
    section: str
    requirement: str
    remedy: str
    versions: tuple[str, ...] = EVERY
    passing: Json = None
    failing: Json = None

    applies_to: frozenset[str] = field(init=False, repr=False)
    """Every version that the rule applies to: `versions`, and the versions that extend them."""

    def __post_init__(self) -> None:
        extending = (name for name, traits in VERSIONS.items() if traits.extends in self.versions)
        object.__setattr__(self, "applies_to", frozenset((*self.versions, *extending)))


class Judged(Protocol):
    """The argument of a check: facts about an object of one protocol version."""

    @property
    def version(self) -> str:
        """Return the protocol version whose rules apply."""


FactsT = TypeVar("FactsT", bound=Judged)


class Violation(NamedTuple):
    """A place that violates a rule, as a JSON pointer, and a description of what was found there."""

    pointer: str
    seen: str


_MORE = Violation("", f"more than {_MAX_VIOLATIONS} violations; the others are not listed")
"""Takes the place of the violations that are not reported."""

Check: TypeAlias = Callable[[FactsT], Iterable[Violation]]
"""Returns the violations of a rule. A check that runs for every event may return `()` instead of a generator,
which is slower."""


class CheckedRule(NamedTuple, Generic[FactsT]):
    """A rule with the function that finds its violations."""

    rule: Rule
    check: Check[FactsT]


Checks: TypeAlias = tuple[tuple[Rule, Check[FactsT]], ...]
"""The rules that apply to one protocol version, as plain tuples: they are unpacked for every event."""


def judge_with(checks: Iterable[tuple[Rule, Check[FactsT]]], facts: FactsT) -> list[Finding]:
    """Check every rule; each rule reports at most 100 violations, and then that there are more."""
    found: list[Finding] = []
    for rule, check in checks:
        if violations := check(facts):
            reported = list(islice(violations, _MAX_VIOLATIONS + 1))
            if len(reported) > _MAX_VIOLATIONS:
                reported[-1] = _MORE
            found += [Finding(rule.id, rule.severity, pointer, seen) for pointer, seen in reported]
    return found


class RuleSet(Generic[FactsT]):
    """Rules that are checked on the same type of facts, in the order in which their checks were declared.

    `declared` collects the rules of several sets in the order of declaration, which the documentation uses.
    `versions` and `passing` are the defaults for rules that do not define them.
    """

    def __init__(
        self, declared: list[Rule] | None = None, versions: Sequence[str] = NEWEST_FIRST, passing: Json = None
    ) -> None:
        self.rules: list[CheckedRule[FactsT]] = []
        self._versions, self._passing = tuple(versions), passing or {}
        self._declared: list[Rule] = [] if declared is None else declared
        self._of_version: dict[str, Checks[FactsT]] = {}

    def rule(
        self,
        name: str,
        severity: Severity,
        title: str,
        *,
        section: str,
        requirement: str,
        remedy: str,
        failing: Json,
        passing: Json = None,
        versions: Sequence[str] = (),
    ) -> Callable[[Check[FactsT]], Check[FactsT]]:
        """Declare a rule and the function that checks it."""
        applies_to, valid = tuple(versions) or self._versions, passing or self._passing
        rule = Rule(name, severity, title, section, requirement, remedy, applies_to, valid, failing)
        self._declared.append(rule)
        return self._check(rule)

    def add_check(self, name: str) -> Callable[[Check[FactsT]], Check[FactsT]]:
        """Declare another function that checks a declared rule, for other facts or at another position in the order."""
        return self._check(next(rule for rule in self._declared if rule.id == name))

    def judge(self, facts: FactsT) -> list[Finding]:
        """Check every rule that applies to the protocol version."""
        return judge_with(self.checks_of(facts.version), facts)

    def checks_of(self, version: str) -> Checks[FactsT]:
        """Return the rules that apply to a protocol version, for `judge_with`."""
        checks = self._of_version.get(version)
        if checks is None:
            checks = tuple((rule, check) for rule, check in self.rules if version in rule.applies_to)
            self._of_version[version] = checks
        return checks

    def _check(self, rule: Rule) -> Callable[[Check[FactsT]], Check[FactsT]]:
        def add(check: Check[FactsT]) -> Check[FactsT]:
            self.rules.append(CheckedRule(rule, check))
            self._of_version.clear()
            return check

        return add
