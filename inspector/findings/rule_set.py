"""The books that rules are written into, together with the functions that find where they are broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

from inspector.findings.finding import Finding, Severity
from inspector.findings.rule import EVERY, Rule
from inspector.protocol.model import Json

ERROR, WARNING, HINT = Severity.ERROR, Severity.WARNING, Severity.HINT


class Judged(Protocol):
    """What rules are asked about: something of one generation."""

    @property
    def generation(self) -> str:
        """Return the generation that it is judged as."""


FactsT = TypeVar("FactsT", bound=Judged)


class Seen(NamedTuple):
    """A place where a rule is broken, and what was there."""

    pointer: str
    seen: str


@dataclass(frozen=True, slots=True)
class Checked(Generic[FactsT]):
    """A rule with the function that finds where it is broken."""

    rule: Rule
    check: Callable[[FactsT], Iterator[Seen]]

    def judge(self, facts: FactsT) -> Iterator[Finding]:
        """Give a finding for every place where the rule is broken; none where it does not hold for the generation."""
        if facts.generation in self.rule.generations:
            for pointer, seen in self.check(facts):
                yield Finding(self.rule.id, self.rule.severity, pointer, seen)


class Book(Generic[FactsT]):
    """Rules of one family, in the order in which they were written."""

    def __init__(self) -> None:
        self.rules: list[Checked[FactsT]] = []

    def rule(
        self,
        name: str,
        severity: Severity,
        title: str,
        *,
        section: str,
        demand: str,
        remedy: str,
        failing: Json,
        passing: Json = None,
        generations: Sequence[str] = EVERY,
    ) -> Callable[[Callable[[FactsT], Iterator[Seen]]], Callable[[FactsT], Iterator[Seen]]]:
        """Write a rule into the book with the function that it decorates; without `passing` what is sound passes."""

        def write(check: Callable[[FactsT], Iterator[Seen]]) -> Callable[[FactsT], Iterator[Seen]]:
            rule = Rule(name, severity, title, section, demand, remedy, tuple(generations), passing or {}, failing)
            self.rules.append(Checked(rule, check))
            return check

        return write
