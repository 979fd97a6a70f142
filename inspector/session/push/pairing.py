"""Which push told what the stream told too, record by record, so that a row can say so without reading anything again.

`reconcile.py` reads every event of one task and lays the ways side by side. This follows the journal instead and knows
records by their words alone, as rows do: the n-th time that a status is told by one way is the n-th time that it is
told by the other, and so is the n-th chunk of an artifact. A whole task that tells the status that it has again is no
new one.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple, TypeAlias

from inspector.capture.records import Kind, Record

_STATUS = frozenset({"task", "status"})

_MOST = 20_000
"""So many different things are remembered of each way, the last ones."""

_Said: TypeAlias = tuple[str, str, str, str]
"""What a record says: the task, of what, the state, the words."""


class Standing(Enum):
    """What a push is to the stream, or an event of the stream to the pushes."""

    BOTH = auto()
    """The other way told it too."""
    WAITING = auto()
    """The other way may yet tell it."""
    ALONE = auto()
    """The other way has told what came after it, or is over."""


class Counterpart(NamedTuple):
    """What a record is to the other way; `seq` is the record there that says the same, 0 for none."""

    standing: Standing
    seq: int = 0


@dataclass(slots=True)
class _Told:
    """What one way told: the records that said something, in order; and by task the status now, and how far both are.

    `reached` has the last record of this way that the other way told too, 0 for none.
    """

    said: dict[_Said, array[int]] = field(default_factory=dict)
    status: dict[str, _Said] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)
    full: bool = False

    def times(self, said: _Said) -> array[int]:
        """Return the records that said a thing, to be added to; the thing that was said first is forgotten for it."""
        known = self.said.get(said)
        if known is None:
            if len(self.said) >= _MOST:
                self.full = True
                del self.said[next(iter(self.said))]
            known = self.said[said] = array("q")
        return known


class Pairing:
    """Follows a journal and keeps 8 bytes an event beside what was said last.

    `streaming` says whether a stream tells of a task now.
    """

    def __init__(self, streaming: Callable[[str], bool]) -> None:
        self._streaming = streaming
        self._stream, self._push = _Told(), _Told()

    def of(self, record: Record) -> Counterpart | None:
        """Return what a record is to the other way; None for one of no way, or whose task came by one way alone."""
        ways = self._ways(record)
        if ways is None:
            return None
        way, other = ways
        task = record.task
        if task not in way.reached or task not in other.reached:
            return None
        said = _said_by(record)
        here, there = way.said.get(said, ()), other.said.get(said, ())
        number = bisect_right(here, record.seq) - 1
        if 0 <= number < len(there):
            return Counterpart(Standing.BOTH, there[number])
        if not here or (other.full and not there):
            return None  # it is forgotten, or may be
        over = way.reached[task] > record.seq or (way is self._push and not self._streaming(task))
        return Counterpart(Standing.ALONE if over else Standing.WAITING)

    def offer(self, records: Sequence[Record]) -> None:
        """Take in the next records, if they are events of a task that came by a stream or by push."""
        ways = self._ways(records[0]) if records else None
        if ways is None:
            return
        way, other = ways
        first = records[0]
        way.reached.setdefault(first.task, 0)
        if first.event in _STATUS or first.task in other.reached:
            for record in records:
                self._match(record, way, other)
        else:
            way.times(_said_by(first)).extend(record.seq for record in records)

    def _match(self, record: Record, way: _Told, other: _Told) -> None:
        said, task = _said_by(record), record.task
        if record.event in _STATUS:
            if record.event == "task" and way.status.get(task) == said:
                return
            way.status[task] = said
        here = way.times(said)
        here.append(record.seq)
        there = other.said.get(said)
        if there is not None and len(here) <= len(there):
            way.reached[task] = record.seq
            other.reached[task] = max(other.reached[task], there[len(here) - 1])

    def _ways(self, record: Record) -> tuple[_Told, _Told] | None:
        """Return the way by which a record came, and the other one; None for what tells of no task."""
        if not record.task:
            return None
        if record.kind is Kind.FRAME:
            return self._stream, self._push
        return (self._push, self._stream) if record.kind is Kind.DELIVERY and record.meta.get("taken") else None


def _said_by(record: Record) -> _Said:
    return record.task, "status" if record.event in _STATUS else record.event, record.state, record.label
