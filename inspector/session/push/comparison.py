"""A task by three accounts: as its streams told it, as the pushes did, and as the agent has it when asked.

Where `reconcile` asks when each update came by which way, this asks what they come to, and what the agent's own answer
says to that: missing, told again, in another order, different.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from inspector.protocol.assemble import AssembledArtifact, AssembledTask
from inspector.protocol.errors import FaultError
from inspector.protocol.jsonvalue import dump
from inspector.protocol.lifecycle import short
from inspector.protocol.model import Task, TaskStatusUpdateEvent
from inspector.protocol.operations import Operation
from inspector.session.push.reconcile import Reconciler, Reconciliation, Sighting, Way, sightings
from inspector.session.replay.task_diff import DiffLine, line_difference
from inspector.session.tasks import text_of
from inspector.text.units import size

if TYPE_CHECKING:
    from inspector.session.session import Session


class Verdict(StrEnum):
    """How the accounts of one thing stand to each other."""

    SAME = "same"
    DIFFERS = "differs"
    MISSING = "missing"
    """One account that should have it does not."""
    LATE = "not yet"
    """The account ended before the others went on."""


@dataclass(frozen=True, slots=True)
class Aspect:
    """One thing about the task as each way has it, `""` where a way says nothing of it.

    `lines` is how the text of one way differs from that of another, which are the two of `between`.
    """

    name: str
    told: Mapping[Way, str]
    verdict: Verdict
    lines: tuple[DiffLine, ...] = ()
    between: tuple[Way, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came of comparing: each thing by its accounts, sentences about how updates came, and when they came.

    `ways` are those by which anything was told, in the order of `Way`.
    """

    ways: tuple[Way, ...]
    aspects: tuple[Aspect, ...]
    words: tuple[str, ...]
    updates: Reconciliation

    @property
    def agree(self) -> bool:
        """Say whether all accounts come to the same."""
        return all(one.verdict in (Verdict.SAME, Verdict.LATE) for one in self.aspects)


class Comparer:
    """Folds what was told of one task, each way into an account of its own.

    An answer that has the whole task takes the place of all that was answered before it.
    """

    def __init__(self, task_id: str) -> None:
        self.task_id = task_id
        self._accounts: dict[Way, AssembledTask] = {}
        self._orders: dict[Way, list[tuple[str, str]]] = {}
        self._updates = Reconciler(task_id)

    def take(self, sighting: Sighting) -> None:
        """Take in one event, of this task or of another."""
        self._updates.take(sighting)
        event, way = sighting.event, sighting.way
        told = event.id if isinstance(event, Task) else event.task_id
        if told != self.task_id:
            return
        if way is Way.GET and isinstance(event, Task):
            self._accounts[way] = AssembledTask(self.task_id)
        self._accounts.setdefault(way, AssembledTask(self.task_id)).apply(event, sighting.at)
        if isinstance(event, TaskStatusUpdateEvent):
            key = (event.status.state, text_of(event.status.message))
            self._orders.setdefault(way, []).append(key)

    def result(self) -> Comparison:
        """Return how the accounts compare by now."""
        ways = tuple(way for way in Way if way in self._accounts)
        accounts = {way: self._accounts[way] for way in ways}
        updates = self._updates.result()
        aspects = [_state(accounts), _context(accounts), *_artifacts(accounts)]
        return Comparison(ways, tuple(aspects), (*_missing(aspects), *self._reordered(), *updates.words), updates)

    def _reordered(self) -> Iterable[str]:
        """Name the first update that came in another order by push than by stream."""
        stream, push = self._orders.get(Way.STREAM, []), self._orders.get(Way.PUSH, [])
        both = set(stream) & set(push)
        by_stream = [key for key in dict.fromkeys(stream) if key in both]
        by_push = [key for key in dict.fromkeys(push) if key in both]
        for one, other in zip(by_stream, by_push, strict=True):
            if one != other:
                yield f"{_named(other)} came by push before {_named(one)}, by stream after it"
                return


def _missing(aspects: Iterable[Aspect]) -> Iterable[str]:
    """Name what some ways tell and others do not, and what the agent's answer cannot have yet."""
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
        whole = {way: _content(one) if one is not None else "" for way, one in found.items()}
        verdict = _verdict(whole, accounts)
        name = next(one.name or artifact_id for one in found.values() if one is not None)
        lines, between = _difference(whole) if verdict is Verdict.DIFFERS else ((), ())
        yield Aspect(f"artifact {name}", told, verdict, lines, between)


def _verdict(told: Mapping[Way, str], accounts: Mapping[Way, AssembledTask]) -> Verdict:
    """Compare what the ways say; what was told before another way went on is not wrong, but early."""
    if len(set(told.values())) <= 1:
        return Verdict.SAME
    last = max(accounts[way].updated for way in told)
    asked = accounts.get(Way.GET)
    others = {text for way, text in told.items() if way is not Way.GET}
    if asked is not None and asked.updated < last and len(others) == 1:
        return Verdict.LATE
    return Verdict.DIFFERS if all(told.values()) else Verdict.MISSING


def _difference(whole: Mapping[Way, str]) -> tuple[tuple[DiffLine, ...], tuple[Way, ...]]:
    """Return how the agent's own account of a text differs from the stream's, or the pushes' where no other does."""
    first, *others = [way for way in (Way.STREAM, Way.PUSH, Way.GET) if way in whole]
    other = next((way for way in reversed(others) if whole[way] != whole[first]), first)
    return tuple(line_difference(whole[first], whole[other])), (first, other)


def _content(artifact: AssembledArtifact) -> str:
    others = [dump(part.to_json()).decode("utf-8", "replace") for part in artifact.other_parts]
    return "\n".join([str(artifact.text), *others])


def _brief(artifact: AssembledArtifact) -> str:
    parts = len(artifact.parts)
    return f"{size(artifact.size)}, {parts:,} part{'' if parts == 1 else 's'}"


async def compare(session: Session, task_id: str) -> Comparison:
    """Compare what was recorded of a task by each way."""
    fold = Comparer(task_id)
    async for page in sightings(session, task_id):
        for sighting in page:
            fold.take(sighting)
    return fold.result()


async def ask_and_compare(session: Session, task_id: str) -> tuple[Comparison, str]:
    """Ask the agent for a task, then compare; the second says why it did not answer, `""` where it did."""
    why = session.why_not(Operation.GET)
    if not why:
        try:
            fault = await session.get(task_id).finish()
        except FaultError as error:
            fault = error.fault
        why = fault.sentence() if fault else ""
    return await compare(session, task_id), why
