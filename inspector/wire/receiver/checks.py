"""The framework for checks of deliveries: each check declares its scope, which limits the reuse of its results.

`REQUEST` and `BODY` (`verdict.py`) contain the checks of the receiver, `EVENT` (`session/push/judge.py`) the checks of
the session. To add a check, decorate a function in one of these modules with `@STAGE.check(name, scope)`. The results
of a delivery have the order of the functions in the module.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from enum import StrEnum
from itertools import count
from typing import Generic, NamedTuple, TypeVar

from inspector.findings.finding import Finding

Subject = TypeVar("Subject")
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_RANK = {status: rank for rank, status in enumerate((421, 403, 404, 405, 415, 401))}
"""If several checks reject a delivery, the response has the status with the lowest rank."""
_ACCEPTED = 204


class Scope(StrEnum):
    """What the result of a check depends on."""

    HEAD = "head"
    """The request head and the registration only."""
    BODY_SHAPE = "body shape"
    """The body without its timestamps, texts and message ids, and the protocol version of the registration."""
    DELIVERY = "delivery"
    """Anything else (size, signature, time, earlier deliveries): the check runs for every delivery."""


class Check(NamedTuple):
    """The result of a check as it is shown and recorded; `good` is None if the check does not apply.

    `text` is a phrase for one line. It may quote the sender (untrusted text), but never a token or a credential.
    """

    name: str
    good: bool | None
    text: str


class CheckResult(NamedTuple):
    """What a check returns: the line that is shown for the delivery (none if `text` is empty), and findings."""

    good: bool | None = None
    text: str = ""
    findings: tuple[Finding, ...] = ()


_NOTHING = CheckResult()


class Report(NamedTuple):
    """The results of a stage; `status` and `refused` (the reason) are those of a rejection (204 and `""`: accepted)."""

    checks: tuple[Check, ...]
    findings: tuple[Finding, ...] = ()
    status: int = _ACCEPTED
    refused: str = ""


class DeclaredCheck(NamedTuple, Generic[Subject]):
    """A check, its scope, and the status with which it rejects a delivery (0: never).

    The check runs if `when` returns True; `when` depends on the head and the registration only. The function returns
    None if the check does not apply to a delivery.
    """

    number: int
    name: str
    scope: Scope
    status: int
    when: Callable[[Subject], bool]
    function: Callable[[Subject], CheckResult | None]


class KnownResults:
    """Results that deliveries with an identical head, or an identical body shape, can reuse.

    `lines` has the results by the number of the check, `plans` has the plan of each stage.
    """

    __slots__ = ("lines", "plans")

    def __init__(self) -> None:
        self.lines: dict[int, Check | None] = {}
        self.plans: dict[object, _Plan] = {}


class _Plan(NamedTuple):
    """The steps of a stage: each is a line to reuse, or the position of a check to run.

    A plan is valid for the same checks and the same head. `report` is the whole report if no check has to run.
    """

    checks: object
    head: KnownResults
    steps: Sequence[Check | int]
    report: Report | None


_numbers = count()


class Stage(Generic[Subject]):
    """The checks that run at one stage of a delivery, in the order in which they are shown."""

    def __init__(self) -> None:
        self.checks: tuple[DeclaredCheck[Subject], ...] = ()

    def check(
        self, name: str, scope: Scope, *, status: int = 0, when: Callable[[Subject], bool] = lambda _: True
    ) -> Callable[[Callable[[Subject], CheckResult | None]], Callable[[Subject], CheckResult | None]]:
        """Declare a check; with `status`, a failed check rejects the delivery with that status."""

        def declare(function: Callable[[Subject], CheckResult | None]) -> Callable[[Subject], CheckResult | None]:
            self.checks += (DeclaredCheck(next(_numbers), name, scope, status, when, function),)
            return function

        return declare

    def run(self, subject: Subject, head: KnownResults, shape: KnownResults | None = None) -> Report:
        """Run the checks whose results are not known for the head or for the shape of the body."""
        plan = (shape or head).plans.get(self)
        if plan is None or plan.checks is not self.checks or plan.head is not head:
            return self._run_all(subject, head, shape)
        if plan.report is not None:
            return plan.report
        lines: list[Check] = []
        findings: tuple[Finding, ...] = ()
        refusals: list[tuple[int, str]] = []
        for step in plan.steps:
            if isinstance(step, Check):
                lines.append(step)
                continue
            _, name, _, status, _, function = self.checks[step]
            result = function(subject)
            if result is not None:
                good, text, found = result
                findings += found
                if text:
                    lines.append(Check(name, good, text))
                if good is False and status:
                    refusals.append((status, text))
        return _report(lines, findings, refusals)

    def _run_all(self, subject: Subject, head: KnownResults, shape: KnownResults | None) -> Report:
        """Run every check whose result is not known, and plan what the next delivery can reuse."""
        lines: list[Check] = []
        findings: tuple[Finding, ...] = ()
        refusals: list[tuple[int, str]] = []
        steps: list[Check | int] = []
        for position, check in enumerate(self.checks):
            if not check.when(subject):
                continue
            known = {Scope.HEAD: head, Scope.BODY_SHAPE: shape}.get(check.scope)
            if known is not None and check.number in known.lines:
                line = known.lines[check.number]
            else:
                result = check.function(subject) or _NOTHING
                line = Check(check.name, result.good, result.text) if result.text else None
                findings += result.findings
                if known is not None and not result.findings:  # findings may quote values outside of the scope
                    known.lines[check.number] = line
                else:
                    known = None
            refuses = line is not None and line.good is False and check.status > 0
            if line is not None:
                lines.append(line)
                refusals += [(check.status, line.text)] if refuses else []
            if known is None or refuses:
                steps.append(position)
            elif line is not None:
                steps.append(line)
        report = _report(lines, findings, refusals)
        runs = any(isinstance(step, int) for step in steps)
        (shape or head).plans[self] = _Plan(self.checks, head, steps, None if runs else report)
        return report


def _report(lines: list[Check], findings: tuple[Finding, ...], refusals: list[tuple[int, str]]) -> Report:
    if not refusals:
        return Report(tuple(lines), findings)
    return Report(tuple(lines), findings, *min(refusals, key=lambda refusal: _RANK.get(refusal[0], len(_RANK))))


class BoundedCache(Generic[Key, Value]):
    """A cache that has at most `most` values: those whose keys came last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[Key, Value] = {}

    def __contains__(self, key: object) -> bool:
        return key in self._known

    def get(self, key: Key) -> Value | None:
        """Return the value of a key, None without one."""
        return self._known.get(key)

    def keep(self, key: Key, value: Value) -> None:
        """Store a value; the oldest is removed if there are too many."""
        if key not in self._known and len(self._known) >= self._most:
            del self._known[next(iter(self._known))]
        self._known[key] = value

    def clear(self) -> None:
        """Remove all values."""
        self._known.clear()
