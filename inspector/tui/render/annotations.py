"""What stands beside a record on its row: a bookmark, a remark, and what it is to the other way of its task."""

from __future__ import annotations

from typing import NamedTuple

from inspector.capture.records import Kind, Record
from inspector.session.bookmarks import Bookmarks
from inspector.session.push.matching import MatchState, RecordMatcher
from inspector.session.record_list import Row
from inspector.session.session import Session


class Annotation(NamedTuple):
    """What stands beside a record.

    `told` says whether the other way (the stream for a push, a push for a streamed event) told it too: True, False, or
    None while nobody can know; `paired` that the task came by both ways at all. `seq` is the record there that says the
    same, 0 for none, and `delay` by how many seconds the push came after the stream.
    """

    bookmarked: bool = False
    remark: str = ""
    paired: bool = False
    told: bool | None = None
    seq: int = 0
    delay: float = 0.0


NO_ANNOTATION = Annotation()


class Annotations:
    """Looks up what stands beside a record when its row is drawn, at a cost that no number of records changes."""

    def __init__(self, session: Session) -> None:
        self._told = {MatchState.BOTH: True, MatchState.WAITING: None, MatchState.ALONE: False}
        self._capture = session.journal.capture
        self._marks: Bookmarks = session.marks
        self._pairing: RecordMatcher = session.push.matcher

    def of(self, record: Record, row: Row | None = None) -> Annotation:
        """Return what stands beside a record, or beside one of those that its row folds."""
        bookmarked, remark = self._marks.bookmarked(record.seq), self._marks.remark_on(record.seq)
        if row is not None and row.records > 1:
            folded = [seq for seq in self._marks.within(row.first, row.last) if self._goes_with(seq, record)]
            bookmarked = any(map(self._marks.bookmarked, folded))
            remark = next((said for seq in folded if (said := self._marks.remark_on(seq))), "")
        return self._beside(record, Annotation(bookmarked, remark))

    def _goes_with(self, seq: int, last: Record) -> bool:
        """Tell whether a record is one of those that a run folds: others may stand between them."""
        record = self._capture.get(seq)
        return (record.kind, record.exchange, record.task, record.label) == (
            last.kind,
            last.exchange,
            last.task,
            last.label,
        )

    def _beside(self, record: Record, aside: Annotation) -> Annotation:
        other = self._pairing.of(record)
        if other is None:
            return aside
        told = self._told[other.state]
        if not told:
            return aside._replace(paired=True, told=told)
        late = record.at - self._capture.get(other.seq).at
        late = late if record.kind is Kind.DELIVERY else -late
        return aside._replace(paired=True, told=True, seq=other.seq, delay=late)
