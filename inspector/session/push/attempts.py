"""Retries: recognise repeated attempts at a delivery, and describe how an agent retries."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from inspector.capture.records import Record
from inspector.wire.receiver.delivery import Delivery

_Key: TypeAlias = tuple[int, str, int]
"""The key of a delivery: registration, method, and the hash of the body (64 bits, salted)."""
_ASKED = re.compile(r"retry after ([0-9]+) s")
_SLACK = 0.1
"""A retry may be so many seconds early: clocks round."""
_MOST_REMEMBERED = 20_000
"""How many deliveries are remembered."""


class Attempt(NamedTuple):
    """The position of a delivery among its attempts: number, record of the first, seconds since the last.

    `first` is 0 for the first attempt. `again` is the record of an accepted delivery with the same bytes, 0 for none.
    """

    key: _Key
    number: int = 1
    first: int = 0
    gap: float = 0.0
    again: int = 0


@dataclass(slots=True)
class _Known:
    first: int
    number: int
    at: float
    taken: bool


class Attempts:
    """Recognises repeated deliveries by their bytes, within one registration."""

    def __init__(self) -> None:
        self._known: OrderedDict[_Key, _Known] = OrderedDict()

    def place(self, delivery: Delivery) -> Attempt:
        """Return the attempt that a delivery is, before it is recorded."""
        number = delivery.registration.number if delivery.registration else 0
        key = number, delivery.method, hash(delivery.body)
        known = self._known.get(key) if delivery.registration else None  # senders without a registration do not retry
        if known is None:
            return Attempt(key)
        if known.taken:
            return Attempt(key, again=known.first)
        return Attempt(key, known.number + 1, known.first, max(0.0, delivery.at - known.at))

    def note(self, delivery: Delivery, attempt: Attempt, seq: int) -> None:
        """Remember a delivery under the number of its record."""
        first = attempt.first or attempt.again or seq
        taken = delivery.accepted or bool(attempt.again)
        self._known[attempt.key] = _Known(first, attempt.number, delivery.at, taken)
        self._known.move_to_end(attempt.key)
        if len(self._known) > _MOST_REMEMBERED:
            self._known.popitem(last=False)


class Try(NamedTuple):
    """One attempt at a delivery: its record, its time, the response and its delay.

    `dialled` says that the response was an override, `taken` that the delivery was accepted.
    """

    seq: int
    at: float
    answer: str
    delay: float
    dialled: bool
    taken: bool


@dataclass(frozen=True, slots=True)
class Chain:
    """The attempts at one delivery that was not accepted at first, with its task and its label."""

    task: str
    label: str
    tries: tuple[Try, ...]

    @property
    def settled(self) -> bool:
        """Return whether the last attempt was accepted."""
        return self.tries[-1].taken

    @property
    def gaps(self) -> tuple[float, ...]:
        """Return the seconds between one attempt and the next."""
        return tuple(after.at - before.at for before, after in zip(self.tries, self.tries[1:], strict=False))

    @property
    def early(self) -> str:
        """Describe a retry earlier than the Retry-After of a response, `""` for none."""
        asked = [_ASKED.search(one.answer) for one in self.tries]
        early = (int(one[1]) for one, gap in zip(asked, self.gaps, strict=False) if one and gap < int(one[1]) - _SLACK)
        return next((f", though asked to wait {seconds} s" for seconds in early), "")

    def words(self, now: float) -> str:
        """Describe the retries: how many, after how long, and the result."""
        waits = ", ".join(f"{gap:.1f} s" for gap in self.gaps) + self.early
        times = len(self.tries) - 1
        if not times:
            return f"not tried again for {now - self.tries[-1].at:.0f} s"
        how = f"tried again {times} time{'' if times == 1 else 's'}, after {waits}"
        if self.settled:
            return f"{how}: accepted"
        return f"{how}; nothing more for {now - self.tries[-1].at:.0f} s"


def chains(deliveries: Iterable[Record]) -> list[Chain]:
    """Group the attempts at every delivery that was not accepted at first, in the order of the first ones."""
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
    """Return whether the task made no progress while a response was delayed; None without a delay or other records.

    `heard` are the records of the task from other sources than push.
    """
    waits = [(one.at, one.at + one.delay) for one in chain.tries if one.delay]
    times = [record.at for record in heard]
    if not waits or not times or max(times) < waits[0][0]:
        return None
    return not any(began < at < ended for began, ended in waits for at in times)
