"""Checks of a delivery: each declares what its result depends on, and results are reused only as far as that allows.

`REQUEST` and `BODY` (`verdict.py`) hold the checks of the receiver, `EVENT` (`session/push/judge.py`) those of the
session. To add a check, decorate a function in one of these modules with `@STAGE.check(name, scope)`. Its position in
the module is its position in the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from enum import StrEnum
from itertools import count
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from inspector.findings.finding import Finding

Subject = TypeVar("Subject")
Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_PRECEDENCE = (421, 403, 404, 405, 415, 401)
"""If several checks refuse a delivery, the first of these statuses is the answer."""
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
    """One line of a verdict; `good` is None where there was nothing to compare.

    `said` is a fragment for one line: it may quote the sender (hostile text), but never a token or a credential.
    """

    name: str
    good: bool | None
    said: str


class Result(NamedTuple):
    """The result of a check: a line for the verdict, unless `said` is empty, and findings."""

    good: bool | None = None
    said: str = ""
    findings: tuple[Finding, ...] = ()


class Report(NamedTuple):
    """The results of a stage: lines of the verdict, findings, and the status and words of a refusal (204, `""`)."""

    checks: tuple[Check, ...]
    findings: tuple[Finding, ...] = ()
    status: int = _ACCEPTED
    refused: str = ""


Results: TypeAlias = dict[int, Check | None]
"""Lines that can be reused, by the number of their check; a check without an entry runs."""


class DeclaredCheck(NamedTuple, Generic[Subject]):
    """A check with its scope, and the status with which it refuses a delivery, 0 if it does not.

    The function returns None if the check does not apply to a delivery.
    """

    number: int
    name: str
    scope: Scope
    status: int
    function: Callable[[Subject], Result | None]


_numbers = count()


class Stage(Generic[Subject]):
    """The checks that run at one stage of a delivery, in the order of the verdict."""

    def __init__(self) -> None:
        self.checks: list[DeclaredCheck[Subject]] = []

    def check(
        self, name: str, scope: Scope, *, status: int = 0
    ) -> Callable[[Callable[[Subject], Result | None]], Callable[[Subject], Result | None]]:
        """Declare a check; if `status` is given, a bad result refuses the delivery with it."""

        def declare(function: Callable[[Subject], Result | None]) -> Callable[[Subject], Result | None]:
            self.checks.append(DeclaredCheck(next(_numbers), name, scope, status, function))
            return function

        return declare

    def run(self, subject: Subject, known: Mapping[Scope, Results]) -> Report:
        """Run the checks, except those whose result is `known` for their scope; keep results without findings there."""
        lines: list[Check] = []
        findings: tuple[Finding, ...] = ()
        refusals: list[tuple[int, str]] = []
        for number, name, scope, status, function in self.checks:
            results = known.get(scope)
            if results is not None and number in results:
                line = results[number]
            else:
                result = function(subject)
                line = Check(name, result.good, result.said) if result is not None and result.said else None
                if result is not None and result.findings:
                    findings += result.findings
                elif results is not None:  # one with findings is not kept: they may quote what the scope leaves out
                    results[number] = line
            if line is not None:
                lines.append(line)
                if line.good is False and status:
                    refusals.append((status, line.said))
        if not refusals:
            return Report(tuple(lines), findings)
        return Report(tuple(lines), findings, *min(refusals, key=lambda refusal: _rank(refusal[0])))


def _rank(status: int) -> int:
    return _PRECEDENCE.index(status) if status in _PRECEDENCE else len(_PRECEDENCE)


class VerifiedCache(Generic[Key, Value]):
    """The last `most` heads, or body shapes, that were verified, each with its reusable results."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[Key, Value] = {}

    def get(self, key: Key) -> Value | None:
        """Return what is known under a key."""
        return self._known.get(key)

    def keep(self, key: Key, value: Value) -> None:
        """Remember a value; the oldest is forgotten if there are too many."""
        if key not in self._known and len(self._known) >= self._most:
            del self._known[next(iter(self._known))]
        self._known[key] = value

    def clear(self) -> None:
        """Forget all values."""
        self._known.clear()
