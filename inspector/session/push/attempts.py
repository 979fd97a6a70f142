"""Retries: which delivery is another attempt at an earlier one, and how an agent goes about them."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from inspector.capture.records import Record
from inspector.wire.receiver.delivery import Delivery

_Key: TypeAlias = tuple[int, str, int]
"""What a delivery is recognised by: registration, method, and the hash of the body (64 bits, salted)."""
_ASKED = re.compile(r"retry after ([0-9]+) s")
_SLACK = 0.1
"""So many seconds earlier is no slip: clocks round."""
_MOST_REMEMBERED = 20_000
"""Of how many deliveries it is known when they come again."""


class Attempt(NamedTuple):
    """What a delivery is: the how-manieth attempt, at which record, and how long after the one before (seconds).

    `first` is 0 for the first attempt. `again` is the record that brought the same bytes and was accepted, 0 for none.
    `key` is what the delivery is known by.
    """

    key: _Key
    number: int = 1
    first: int = 0
    gap: float = 0.0
    again: int = 0

    @property
    def fresh(self) -> bool:
        """Tell whether these bytes came for the first time."""
        return self.number == 1 and not self.again


@dataclass(slots=True)
class _Known:
    first: int
    number: int
    at: float
    taken: bool


class Attempts:
    """Knows deliveries again by their bytes, within one registration."""

    def __init__(self) -> None:
        self._known: OrderedDict[_Key, _Known] = OrderedDict()

    def place(self, delivery: Delivery) -> Attempt:
        """Say what a delivery is, before it is recorded."""
        key = _key(delivery)
        known = self._known.get(key) if delivery.registration else None  # strangers do not try again
        if known is None:
            return Attempt(key)
        if known.taken:
            return Attempt(key, again=known.first)
        return Attempt(key, known.number + 1, known.first, max(0.0, delivery.at - known.at))

    def note(self, delivery: Delivery, attempt: Attempt, seq: int) -> None:
        """Remember a delivery under the number of its record."""
        first = attempt.first or attempt.again or seq
        taken = delivery.taken or bool(attempt.again)
        key = attempt.key
        self._known[key] = _Known(first, attempt.number, delivery.at, taken)
        self._known.move_to_end(key)
        if len(self._known) > _MOST_REMEMBERED:
            self._known.popitem(last=False)


def _key(delivery: Delivery) -> _Key:
    number = delivery.registration.number if delivery.registration else 0
    return number, delivery.method, hash(delivery.body)


class Try(NamedTuple):
    """One attempt at a delivery: its record, when it came, what it was answered and how long the answer was held.

    `dialled` says that the answer was what the user dialled in, `taken` that the delivery was accepted.
    """

    seq: int
    at: float
    answer: str
    delay: float
    dialled: bool
    taken: bool


@dataclass(frozen=True, slots=True)
class Chain:
    """The attempts at one delivery that was not accepted at first, with the task and what was reported."""

    task: str
    label: str
    tries: tuple[Try, ...]

    @property
    def settled(self) -> bool:
        """Tell whether the last attempt was accepted."""
        return self.tries[-1].taken

    @property
    def gaps(self) -> tuple[float, ...]:
        """Return the seconds between one attempt and the next."""
        return tuple(after.at - before.at for before, after in zip(self.tries, self.tries[1:], strict=False))

    @property
    def early(self) -> str:
        """Say that it was tried again before the time that an answer asked for, `""` where that was kept."""
        asked = [_ASKED.search(one.answer) for one in self.tries]
        early = (int(one[1]) for one, gap in zip(asked, self.gaps, strict=False) if one and gap < int(one[1]) - _SLACK)
        return next((f", though asked to wait {seconds} s" for seconds in early), "")

    def words(self, now: float) -> str:
        """Say what the agent did: how often it tried again, after how long, and how it ended."""
        waits = ", ".join(f"{gap:.1f} s" for gap in self.gaps) + self.early
        times = len(self.tries) - 1
        if not times:
            return f"not tried again for {now - self.tries[-1].at:.0f} s"
        how = f"tried again {times} time{'' if times == 1 else 's'}, after {waits}"
        if self.settled:
            return f"{how}: accepted"
        return f"{how}; nothing more for {now - self.tries[-1].at:.0f} s"


def chains(deliveries: Iterable[Record]) -> list[Chain]:
    """Gather the attempts at every delivery that was not accepted at first, in the order of the first ones."""
    found: dict[int, list[Record]] = {}
    for record in deliveries:
        first = record.meta.get("first") or record.seq
        if first in found:
            found[first].append(record)
        elif not record.meta.get("taken") and record.meta.get("registration") and not record.meta.get("challenge"):
            found[first] = [record]
    return [
        Chain(tries[-1].task, tries[0].meta.get("what") or tries[0].label, tuple(map(_try, tries)))
        for tries in found.values()
    ]


def _try(record: Record) -> Try:
    meta = record.meta
    answer = str(meta["dialled"] or meta["status"] or "none")
    return Try(record.seq, record.at, answer, float(meta["delay"]), bool(meta["dialled"]), bool(meta["taken"]))


def held_up(chain: Chain, heard: Iterable[Record]) -> bool | None:
    """Say whether the task stood still while an answer was held back; None where none was, or nothing else tells.

    `heard` are the records of the task that came by other ways than push.
    """
    waits = [(one.at, one.at + one.delay) for one in chain.tries if one.delay]
    times = [record.at for record in heard]
    if not waits or not times or max(times) < waits[0][0]:
        return None
    return not any(began < at < ended for began, ended in waits for at in times)
