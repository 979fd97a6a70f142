"""Compare a task as its streams, its pushes and the agent itself (GetTask) report it.

The matcher shows when each update came by which source; this shows what is missing, repeated, reordered or different.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from inspector.capture.store import Capture
from inspector.protocol.assemble import AssembledArtifact, AssembledTask
from inspector.protocol.errors import Fault, FaultError
from inspector.protocol.lifecycle import short
from inspector.session.push.matching import Reconciliation, TaskMatcher, Way, content_of, match
from inspector.session.replay.task_diff import DiffLine, line_difference
from inspector.text.units import size


class Verdict(StrEnum):
    """Whether the sources agree about one thing."""

    SAME = "same"
    DIFFERS = "differs"
    MISSING = "missing"
    """A source that should report it does not."""
    LATE = "not yet"
    """The response came before the others continued."""


@dataclass(frozen=True, slots=True)
class Aspect:
    """One thing about the task as each source has it, `""` if a source does not report it.

    `lines` is how the text of one source differs from that of another, which are the two of `between`.
    """

    name: str
    told: Mapping[Way, str]
    verdict: Verdict
    lines: tuple[DiffLine, ...] = ()
    between: tuple[Way, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """The results: each thing by source, sentences about the updates, and when they came.

    `ways` are the sources that reported anything, in the order of `Way`.
    """

    ways: tuple[Way, ...]
    aspects: tuple[Aspect, ...]
    words: tuple[str, ...]
    updates: Reconciliation

    @property
    def agree(self) -> bool:
        """Return whether all sources agree."""
        return all(one.verdict in (Verdict.SAME, Verdict.LATE) for one in self.aspects)


def compare(matcher: TaskMatcher) -> Comparison:
    """Compare what the sources reported so far."""
    accounts = {way: matcher.accounts[way] for way in Way if way in matcher.accounts}
    if matcher.response is not None:
        accounts[Way.GET] = matcher.response
    updates = matcher.result()
    aspects = [_state(accounts), _context(accounts), *_artifacts(accounts)]
    words = (*_missing(aspects), *_reordered(matcher.orders), *updates.words)
    return Comparison(tuple(accounts), tuple(aspects), words, updates)


async def ask_and_compare(
    capture: Capture, task_id: str, reason: str, ask: Callable[[], Awaitable[Fault | None]]
) -> tuple[Comparison, str]:
    """Ask the agent for a task, then compare what was recorded of it.

    With a `reason` the agent is not asked. The second value is the reason for a missing response, `""` if there is one.
    """
    why = reason
    if not why:
        try:
            fault = await ask()
        except FaultError as error:
            fault = error.fault
        why = fault.sentence() if fault else ""
    return compare(await match(capture, task_id)), why


def _reordered(orders: Mapping[Way, Sequence[tuple[str, str]]]) -> Iterable[str]:
    """Name the first update that came in another order by push than by stream."""
    stream, push = orders.get(Way.STREAM, ()), orders.get(Way.PUSH, ())
    both = set(stream) & set(push)
    by_stream = [key for key in dict.fromkeys(stream) if key in both]
    by_push = [key for key in dict.fromkeys(push) if key in both]
    for one, other in zip(by_stream, by_push, strict=True):
        if one != other:
            yield f"{_named(other)} came by push before {_named(one)}, by stream after it"
            return


def _missing(aspects: Iterable[Aspect]) -> Iterable[str]:
    """Name what some sources do not report, and what the response of the agent cannot have yet."""
    for one in aspects:
        without = " and ".join(way for way, text in one.told.items() if not text)
        if one.verdict is Verdict.MISSING:
            yield f"{one.name} is missing by {without}"
        elif one.verdict is Verdict.LATE:
            yield f"{one.name} went on after the answer"


def _named(key: tuple[str, str]) -> str:
    state, said = key
    return f'{short(state)} "{said}"' if said else short(state)


def _state(accounts: Mapping[Way, AssembledTask]) -> Aspect:
    told = {way: short(account.state) for way, account in accounts.items()}
    return Aspect("state", told, _verdict(told, accounts))


def _context(accounts: Mapping[Way, AssembledTask]) -> Aspect:
    told = {way: account.context_id for way, account in accounts.items()}
    known = {one for one in told.values() if one}
    return Aspect("context", told, Verdict.DIFFERS if len(known) > 1 else Verdict.SAME)


def _artifacts(accounts: Mapping[Way, AssembledTask]) -> Iterable[Aspect]:
    names = dict.fromkeys(name for account in accounts.values() for name in account.artifacts)
    # Pushes need not carry artifacts; who pushes none at all misses none.
    carry = [way for way, account in accounts.items() if account.artifacts or way is not Way.PUSH]
    for artifact_id in names:
        found = {way: accounts[way].artifacts.get(artifact_id) for way in carry}
        told = {way: _brief(one) if one is not None else "" for way, one in found.items()}
        whole = {way: content_of(one) if one is not None else "" for way, one in found.items()}
        verdict = _verdict(whole, accounts)
        name = next(one.name or artifact_id for one in found.values() if one is not None)
        lines, between = _difference(whole) if verdict is Verdict.DIFFERS else ((), ())
        yield Aspect(f"artifact {name}", told, verdict, lines, between)


def _verdict(told: Mapping[Way, str], accounts: Mapping[Way, AssembledTask]) -> Verdict:
    """Compare the sources; a response from before another source continued is not wrong, but early."""
    if len(set(told.values())) <= 1:
        return Verdict.SAME
    last = max(accounts[way].updated for way in told)
    asked = accounts.get(Way.GET)
    others = {text for way, text in told.items() if way is not Way.GET}
    if asked is not None and asked.updated < last and len(others) == 1:
        return Verdict.LATE
    return Verdict.DIFFERS if all(told.values()) else Verdict.MISSING


def _difference(whole: Mapping[Way, str]) -> tuple[tuple[DiffLine, ...], tuple[Way, ...]]:
    """Return how the response, or if it is equal the pushes, differs from the stream."""
    first, *others = [way for way in (Way.STREAM, Way.PUSH, Way.GET) if way in whole]
    other = next((way for way in reversed(others) if whole[way] != whole[first]), first)
    return tuple(line_difference(whole[first], whole[other])), (first, other)


def _brief(artifact: AssembledArtifact) -> str:
    parts = len(artifact.parts)
    return f"{size(artifact.size)}, {parts:,} part{'' if parts == 1 else 's'}"
