"""Annotations of a record in a list: its bookmark, its remark, and the matching record of the other channel."""

from __future__ import annotations

from typing import NamedTuple

from inspector.capture.records import Kind, Record, arrival
from inspector.session.push.matching import MatchState
from inspector.session.record_list import Row, run_of
from inspector.session.session import Session


class Annotation(NamedTuple):
    """The annotations of a record.

    `paired` is true if both stream and push report the task. `matched` is whether the other channel reported the same
    event, None while that is unknown. `seq` is the matching record of the other channel, 0 for none, and `delay` is the
    time from the streamed event to the push in seconds.
    """

    bookmarked: bool = False
    remark: str = ""
    paired: bool = False
    matched: bool | None = None
    seq: int = 0
    delay: float = 0.0


NO_ANNOTATION = Annotation()


class Annotations:
    """Looks up the annotations of a record when its row is drawn, in constant time."""

    def __init__(self, session: Session) -> None:
        self._matched = {MatchState.BOTH: True, MatchState.WAITING: None, MatchState.ALONE: False}
        self._capture = session.journal.capture
        self._marks = session.bookmarks
        self._matcher = session.push.matcher

    def of(self, record: Record, row: Row | None = None) -> Annotation:
        """Return the annotations of a record; a folded row has the bookmarks and remarks of all its records."""
        seqs = [record.seq]
        if row is not None and row.records > 1:
            seqs = [seq for seq in self._marks.within(row.first, row.last) if self._is_folded_with(seq, record)]
        bookmarked = any(map(self._marks.bookmarked, seqs))
        remark = next(filter(None, map(self._marks.remark_on, seqs)), "")
        other = self._matcher.of(record)
        if other is None:
            return Annotation(bookmarked, remark)
        matched = self._matched[other.state]
        if not matched:
            return Annotation(bookmarked, remark, paired=True, matched=matched)
        delay = arrival(record) - arrival(self._capture.get(other.seq))
        delay = delay if record.kind is Kind.DELIVERY else -delay
        return Annotation(bookmarked, remark, paired=True, matched=True, seq=other.seq, delay=delay)

    def _is_folded_with(self, seq: int, last: Record) -> bool:
        """Return whether a record belongs to the run that ends with `last`; other records may be between them."""
        record = self._capture.get(seq)
        return (record.kind, record.exchange, record.task, run_of(record) or record.label) == (
            last.kind,
            last.exchange,
            last.task,
            run_of(last) or last.label,
        )
