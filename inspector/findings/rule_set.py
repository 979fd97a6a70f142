"""Rules, and sets of rules that are declared together with the functions that check them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from inspector.findings.finding import Finding, Severity
from inspector.protocol.dialects.traits import STABLE, VERSIONS
from inspector.protocol.model import Json

_MOST_OF_ONE = 100
"""How many places one rule reports of one object."""
ERROR, WARNING, HINT = Severity.ERROR, Severity.WARNING, Severity.HINT

EVERY = STABLE
"""The released protocol versions, the oldest first."""
LEGACY = tuple(name for name in EVERY if VERSIONS[name].outdated)
V1 = tuple(name for name in EVERY if name not in LEGACY)
NEWEST_FIRST = (*V1, *reversed(LEGACY))
SINCE_0_2 = NEWEST_FIRST[:-1]
"""The versions that a rule holds for, that of its example first. It also holds for versions that extend these."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A requirement that is checked.

    `section` names the section of the specification, `requirement` paraphrases it with its key word (MUST, SHOULD).
    The family of the rule defines the form of the examples `passing` and `failing`: for a card, a merge patch
    (RFC 7386) on a valid card of the first of `versions`.
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

    holds_for: frozenset[str] = field(init=False, repr=False)
    """Every version that the rule holds for: `versions`, and those that extend one of them."""

    def __post_init__(self) -> None:
        extending = (name for name, traits in VERSIONS.items() if traits.extends in self.versions)
        object.__setattr__(self, "holds_for", frozenset((*self.versions, *extending)))


class Judged(Protocol):
    """The facts that a check gets: something of one protocol version."""

    @property
    def version(self) -> str:
        """Return the protocol version that it is judged as."""


FactsT = TypeVar("FactsT", bound=Judged)


class Violation(NamedTuple):
    """A place where a rule is broken, and what was there."""

    pointer: str
    seen: str


Check: TypeAlias = Callable[[FactsT], Iterable[Violation]]
"""Returns where the rule is broken. Checks of every event return `()` early: to start a generator takes longer."""


@dataclass(frozen=True, slots=True)
class Checked(Generic[FactsT]):
    """A rule with a function that finds where it is broken."""

    rule: Rule
    check: Check[FactsT]

    def judge(self, facts: FactsT) -> Iterator[Finding]:
        """Return a finding for every place that breaks the rule, if the rule holds for the protocol version."""
        if facts.version in self.rule.holds_for:
            for pointer, seen in self.check(facts):
                yield Finding(self.rule.id, self.rule.severity, pointer, seen)


class RuleSet(Generic[FactsT]):
    """Rules that are checked together on one kind of facts, in the order in which their checks were declared.

    `declared` collects the rules of several sets in the order of their declaration, which is that of the documentation.
    `versions` and `passing` are those of every rule that does not name its own.
    """

    def __init__(
        self, declared: list[Rule] | None = None, versions: Sequence[str] = NEWEST_FIRST, passing: Json = None
    ) -> None:
        self.rules: list[Checked[FactsT]] = []
        self._versions, self._passing = tuple(versions), passing or {}
        self._declared: list[Rule] = [] if declared is None else declared
        self._of_version: dict[str, list[tuple[Rule, Check[FactsT]]]] = {}

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
        """Declare a rule and the function that checks it; without `passing` a valid example passes."""
        held, valid = tuple(versions) or self._versions, passing or self._passing
        rule = Rule(name, severity, title, section, requirement, remedy, held, valid, failing)
        self._declared.append(rule)
        return self._check(rule)

    def also(self, name: str) -> Callable[[Check[FactsT]], Check[FactsT]]:
        """Declare a further function that checks a rule: at another place in the order, or on other facts."""
        return self._check(next(rule for rule in self._declared if rule.id == name))

    def judge(self, facts: FactsT) -> list[Finding]:
        """Check every rule that holds for the protocol version; each one reports at most a hundred places."""
        found: list[Finding] = []
        version = facts.version
        asked = self._of_version.get(version)
        if asked is None:
            holding = (checked for checked in self.rules if version in checked.rule.holds_for)
            asked = self._of_version[version] = [(checked.rule, checked.check) for checked in holding]
        for rule, check in asked:
            if violations := check(facts):
                places = islice(violations, _MOST_OF_ONE)
                found += [Finding(rule.id, rule.severity, pointer, seen) for pointer, seen in places]
        return found

    def _check(self, rule: Rule) -> Callable[[Check[FactsT]], Check[FactsT]]:
        def add(check: Check[FactsT]) -> Check[FactsT]:
            self.rules.append(Checked(rule, check))
            self._of_version.clear()
            return check

        return add
