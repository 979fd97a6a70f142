"""The one writer: appends facts to the capture and tells those who show them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from inspector.capture.records import Kind, Record
from inspector.capture.redaction import Redactor
from inspector.capture.store import Capture
from inspector.findings.finding import Finding
from inspector.protocol.operations import Operation
from inspector.session.exchanges import Exchanges
from inspector.session.lists import RecordList

_PAGE = 1000
_TURNS = frozenset({Operation.SEND.value, Operation.STREAM.value, Operation.SUBSCRIBE.value})

LABEL_LENGTH = 200
"""How many characters of a payload a record's label quotes, and its findings."""


class Journal:
    """A capture with those who follow it; everything is masked here or before, and nothing is appended elsewhere.

    `found` holds, for every rule that was broken, the records in which it was; `exchanges` sums up each exchange;
    `running` ends, at a time, those that are under way; `turns` holds when each send began, by sequence number, so that
    times can be shown relative to it.
    """

    def __init__(self, capture: Capture, redactor: Redactor) -> None:
        self.capture = capture
        self.redactor = redactor
        self.found: dict[str, list[int]] = {}
        self.exchanges = Exchanges()
        self.running: dict[int, Callable[[float], None]] = {}
        self.turns: list[tuple[int, float]] = []
        self._lists: list[RecordList] = []
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
        if kind is Kind.REQUEST and record.operation in _TURNS:
            self.turns.append((record.seq, record.at))
        for finding in record.findings:
            self.found.setdefault(finding.rule, []).append(record.seq)
        return self._tell(record)

    def append_like(self, record: Record, at: float, size: int, raw: bytes) -> Record:
        """Append a fact that differs from an earlier one, which had no findings, in time, bytes and size alone."""
        return self._tell(self.capture.append_like(record, at, size, raw))

    def _tell(self, record: Record) -> Record:
        self.exchanges.take(record)
        for follower in self._lists:
            follower.offer(record)
        return record

    def _masked(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        if not findings:
            return ()
        return tuple(replace(one, seen=self.redactor.text(one.seen)[:LABEL_LENGTH]) for one in findings)

    def turn_of(self, seq: int) -> float | None:
        """Return when the last send before this record began, or None where there was none."""
        index = bisect_right(self.turns, seq, key=lambda turn: turn[0]) - 1
        return self.turns[index][1] if index >= 0 else None

    def follow(self, followed: RecordList) -> None:
        """Fill a list with what is recorded so far and keep it filled."""
        followed.rebuild(self._all(), folded=followed.folded)
        self._lists.append(followed)

    def refold(self, followed: RecordList, *, folded: bool) -> None:
        """Fold or unfold the runs of a list."""
        followed.rebuild(self._all(), folded=folded)

    def _all(self) -> Iterator[Record]:
        """Read every record by pages, so that a long capture is never in memory as a whole."""
        for first in range(1, len(self.capture) + 1, _PAGE):
            yield from self.capture.slice(first, first + _PAGE - 1)

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
