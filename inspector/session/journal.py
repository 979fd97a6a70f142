"""The one writer: appends facts to the capture and tells those who show them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from inspector.capture.records import Kind, Record
from inspector.capture.redaction import Redactor
from inspector.capture.store import Capture
from inspector.findings.finding import Finding
from inspector.protocol.operations import Operation
from inspector.session.exchanges import Exchanges
from inspector.session.subscriber import Follower

_PAGE = 1000
_TURNS = frozenset({Operation.SEND.value, Operation.STREAM.value, Operation.SUBSCRIBE.value})
_TURNS_BACK = 100
"""Among so many sends before a record is looked for the one that its task came of."""

LABEL_LENGTH = 200
"""How many characters of a payload a record's label quotes, and its findings."""


class Journal:
    """A capture with those who follow it; everything is masked here or before, and nothing is appended elsewhere.

    `found` holds, for every rule that was broken, the records in which it was; `exchanges` sums up each exchange;
    `running` ends, at a time, those that are under way; `turns` holds when each send began, by sequence number, so that
    times can be shown relative to it; `told` is the number of the last record that they know of.
    """

    def __init__(self, capture: Capture, redactor: Redactor) -> None:
        self.capture = capture
        self.redactor = redactor
        self.found: dict[str, list[int]] = {}
        self.exchanges = Exchanges()
        self.running: dict[int, Callable[[float], None]] = {}
        self.turns: list[tuple[int, float]] = []
        self.told = 0
        self._lists: list[Follower] = []
        self._listeners: list[Callable[[], None]] = []

    def append(
        self,
        kind: Kind,
        at: float,
        *,
        task: str = "",
        context: str = "",
        state: str = "",
        label: str = "",
        findings: Sequence[Finding] = (),
        **members: Any,
    ) -> Record:
        """Append one fact and hand it to every list that follows; `members` are those of `Record`."""
        text = self.redactor.text
        record = self.capture.append(
            kind,
            at,
            task=text(task),
            context=text(context),
            state=text(state),
            label=text(label)[:LABEL_LENGTH],  # masked as a whole: a cut may go through a secret
            findings=self._masked(findings),
            **members,
        )
        self._tell(record)
        return record

    def append_like(self, like: Record, at: float, **members: Any) -> Record:
        """Append one fact that differs from an earlier one, which broke no rule, in its time and `members` alone."""
        record = self.capture.append_like(like, at, **members)
        self._tell(record)
        return record

    def append_run(self, like: Record, at: float, payloads: Sequence[tuple[int, bytes]]) -> list[Record]:
        """Append facts of one time that differ from an earlier one in size and bytes alone."""
        records = self.capture.append_run(like, at, payloads)
        self._tell_run(records)
        return records

    def replay(self, records: Iterable[Record]) -> None:
        """Tell of the next records that the capture has had all along."""
        for _, group in groupby(records, _run_of):
            self._tell_run(list(group))

    def _tell(self, record: Record) -> None:
        if record.kind is Kind.REQUEST and record.operation in _TURNS:
            self.turns.append((record.seq, record.at))
        for finding in record.findings:
            self.found.setdefault(finding.rule, []).append(record.seq)
        self.exchanges.take(record)
        for follower in self._lists:
            follower.offer(record)
        self.told = record.seq

    def _tell_run(self, records: Sequence[Record]) -> None:
        """Tell of records that differ in their numbers, times and bytes alone."""
        if len(records) == 1:
            self._tell(records[0])
            return
        for finding in records[0].findings:
            self.found.setdefault(finding.rule, []).extend(record.seq for record in records)
        self.exchanges.take_run(records)
        for follower in self._lists:
            follower.offer_run(records)
        self.told = records[-1].seq

    def _masked(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        if not findings:
            return ()
        return tuple(replace(one, seen=self.redactor.text(one.seen)[:LABEL_LENGTH]) for one in findings)

    def turn_of(self, record: Record) -> float | None:
        """Return when the send began that a record belongs to, or None where there was none.

        It is that of its exchange, else the last before it that told of its task, else the last before it.
        """
        own = self.exchanges.get(record.exchange)
        if own is not None and own.operation in _TURNS:
            return own.at
        last = bisect_right(self.turns, record.seq, key=lambda turn: turn[0])
        for number, at in reversed(self.turns[max(0, last - _TURNS_BACK) : last] if record.task else ()):
            turn = self.exchanges.get(number)
            if turn is not None and turn.task == record.task:
                return at
        return self.turns[last - 1][1] if last else None

    def follow(self, followed: Follower) -> None:
        """Tell a list, or another follower, of what is recorded so far, and of every record from now on."""
        followed.rebuild(self._all())
        self._lists.append(followed)

    def _all(self) -> Iterator[Record]:
        """Read every record by pages, so that a long capture is never in memory as a whole."""
        for first in range(1, self.told + 1, _PAGE):
            yield from self.capture.slice(first, min(first + _PAGE - 1, self.told))

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener` whenever something may have changed; it has to be quick and to coalesce."""
        self._listeners.append(listener)

    def unlisten(self, listener: Callable[[], None]) -> None:
        """Stop calling a listener."""
        self._listeners.remove(listener)

    def touch(self) -> None:
        """Tell the listeners that something may have changed."""
        for listener in self._listeners:
            listener()


def _run_of(record: Record) -> Hashable:
    """Return what the frames have in common that may be told of together; any other record stands alone."""
    return (record[2:10], record.findings) if record.kind is Kind.FRAME and not record.meta else record.seq
