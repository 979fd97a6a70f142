"""Retries of webhook deliveries: recognise repeated attempts, and describe how an agent retries."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from inspector.capture.records import Record
from inspector.lazy_dataclass import dataclass
from inspector.text.units import duration
from inspector.wire.receiver.delivery import Delivery

_Key: TypeAlias = tuple[int, str, int]
"""The key of a delivery: registration, method, and the hash of the body (64 bits, salted)."""
_RETRY_AFTER = re.compile(r"retry after ([0-9]+) s")
_TOLERANCE = 0.1
"""By how many seconds a retry may precede Retry-After without being early, because times are rounded."""
_MOST_REMEMBERED = 20_000
"""How many deliveries are remembered."""


class Attempt(NamedTuple):
    """The position of a delivery in a series of retries: its number from 1, and the seconds since the previous one.

    `first` is the record of the first attempt, 0 if this is the first. `again` is the record of an accepted delivery
    with the same bytes, 0 for none.
    """

    key: _Key
    number: int = 1
    first: int = 0
    gap: float = 0.0
    again: int = 0


@dataclass(slots=True)
class _Known:
    """The last delivery with some bytes; `accepted` is the record that was accepted, 0 for none.

    `answered` is the expected time of the response, in seconds since 1970: an override can delay it.
    """

    first: int
    number: int
    at: float
    accepted: int
    answered: float


class Attempts:
    """Recognises repeated deliveries to a registration by their bytes."""

    def __init__(self) -> None:
        self._known: OrderedDict[_Key, _Known] = OrderedDict()

    def identify(self, delivery: Delivery) -> Attempt:
        """Return which attempt a delivery is; call `remember` once it is recorded."""
        number = delivery.registration.number if delivery.registration else 0
        key = number, delivery.method, hash(delivery.body)
        known = self._known.get(key) if _may_be_retried(delivery) else None
        if known is None:
            return Attempt(key)
        if known.accepted and delivery.at >= known.answered:  # earlier, the sender did not wait for the response
            return Attempt(key, again=known.accepted)
        return Attempt(key, known.number + 1, known.first, max(0.0, delivery.at - known.at))

    def remember(self, delivery: Delivery, attempt: Attempt, seq: int) -> None:
        """Remember a delivery with the number of its record, to recognise retries of it."""
        if not _may_be_retried(delivery):
            return
        first = attempt.first or seq
        accepted = attempt.again or (seq if delivery.accepted else 0)
        if not (delivery.accepted or delivery.refused):
            accepted = 0  # answered with an override, so that the next delivery with these bytes is a retry
        answered = delivery.at + delivery.delay
        self._known[attempt.key] = _Known(first, attempt.number, delivery.at, accepted, answered)
        self._known.move_to_end(attempt.key)
        if len(self._known) > _MOST_REMEMBERED:
            self._known.popitem(last=False)


def _may_be_retried(delivery: Delivery) -> bool:
    """Return whether the same bytes are another attempt at a delivery.

    Senders without a registration do not retry; requests without a body may be about different tasks.
    """
    return delivery.registration is not None and bool(delivery.body)


class RecordedAttempt(NamedTuple):
    """One recorded attempt at a delivery: its record, its time in seconds since 1970, the response and its delay.

    `overridden` is whether the response was an override, `accepted` whether the delivery was accepted.
    """

    seq: int
    at: float
    answer: str
    delay: float
    overridden: bool
    accepted: bool


@dataclass(frozen=True, slots=True)
class Chain:
    """The attempts at a delivery, with its task and its label.

    The first attempt was not accepted, or the sender did not wait for its response.
    """

    task: str
    label: str
    attempts: tuple[RecordedAttempt, ...]

    @property
    def accepted(self) -> bool:
        """Return whether the last attempt was accepted."""
        return self.attempts[-1].accepted

    @property
    def gaps(self) -> tuple[float, ...]:
        """Return the seconds between one attempt and the next."""
        return tuple(after.at - before.at for before, after in zip(self.attempts, self.attempts[1:], strict=False))

    @property
    def early(self) -> str:
        """Describe a retry that came before the Retry-After of the response allowed it, `""` for none."""
        found = [_RETRY_AFTER.search(attempt.answer) for attempt in self.attempts]
        seconds = [int(match[1]) if match else 0 for match in found]
        early = (least for least, gap in zip(seconds, self.gaps, strict=False) if least and gap < least - _TOLERANCE)
        return next((f", although Retry-After was {least} s" for least in early), "")

    def words(self, now: float) -> str:
        """Describe the retries in one line: how many, after how long, and the result."""
        waits = ", ".join(duration(gap) for gap in self.gaps) + self.early
        retries = len(self.attempts) - 1
        if not retries:
            return f"no retry for {duration(now - self.attempts[-1].at)}"
        summary = f"{retries} retr{'y' if retries == 1 else 'ies'}, after {waits}"
        if self.accepted:
            return f"{summary}: accepted"
        return f"{summary}; none since {duration(now - self.attempts[-1].at)}"


def chains(deliveries: Iterable[Record]) -> list[Chain]:
    """Group the attempts at each delivery that was not accepted, or repeated before its response, in their order.

    Challenges and deliveries to unknown paths are left out.
    """
    found: dict[int, list[Record]] = {}
    for record in deliveries:
        first = record.meta.get("first") or record.seq
        if first in found:
            found[first].append(record)
        elif (
            (not record.meta.get("taken") or record.meta.get("delay"))
            and record.meta.get("registration")
            and not record.meta.get("challenge")
        ):
            found[first] = [record]
    return [
        Chain(attempts[-1].task, attempts[0].meta.get("what") or attempts[0].label, tuple(map(_attempt, attempts)))
        for attempts in found.values()
        if len(attempts) > 1 or not attempts[0].meta.get("taken")
    ]


def _attempt(record: Record) -> RecordedAttempt:
    meta = record.meta
    answer = str(meta["dialled"] or meta["status"] or "none")
    return RecordedAttempt(
        record.seq, record.at, answer, float(meta["delay"]), bool(meta["dialled"]), bool(meta["taken"])
    )


def was_stalled(chain: Chain, records: Iterable[Record]) -> bool | None:
    """Return whether the task made no progress while a response was delayed; None without a delay or records.

    `records` are those of the task from other sources than push.
    """
    waits = [(attempt.at, attempt.at + attempt.delay) for attempt in chain.attempts if attempt.delay]
    times = [record.at for record in records]
    if not waits or not times or max(times) < waits[0][0]:
        return None
    return not any(began < at < ended for began, ended in waits for at in times)
