"""Bookmarks and remarks on records; each change is recorded as a note."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

from inspector.capture.records import Kind, Record
from inspector.session.journal import LABEL_LENGTH, Journal

NOTE_EVENTS = frozenset({"bookmark", "unbookmark", "remark", "unremark"})
"""The events of notes that mark a record; `about` in their `meta` is the number of that record."""
LONGEST = LABEL_LENGTH
"""The largest length of a remark in characters."""


class Bookmarks:
    """The bookmarks and remarks of a capture, by the number of the record."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._bookmarked: set[int] = set()
        self._remarks: dict[int, str] = {}
        self._marked: list[int] = []
        journal.subscribe(self.offer, replay=True)

    def __len__(self) -> int:
        return len(self._marked)

    def bookmarked(self, seq: int) -> bool:
        """Return whether a record has a bookmark."""
        return seq in self._bookmarked

    def remark_on(self, seq: int) -> str:
        """Return the remark on a record, `""` if it has none."""
        return self._remarks.get(seq, "")

    def within(self, first: int, last: int) -> Sequence[int]:
        """Return the records from `first` to `last` that have a bookmark or a remark."""
        return self._marked[bisect_left(self._marked, first) : bisect_right(self._marked, last)]

    def toggle(self, seq: int) -> None:
        """Add a bookmark to a record, or remove it."""
        self._note(seq, "unbookmark" if seq in self._bookmarked else "bookmark", "")

    def remark(self, seq: int, text: str) -> None:
        """Set the remark on a record, of at most `LONGEST` characters; `""` removes it."""
        if text != self.remark_on(seq):
            self._note(seq, "remark" if text else "unremark", text)

    def _note(self, seq: int, event: str, text: str) -> None:
        about = self._journal.capture.get(seq)
        self._journal.append(
            Kind.NOTE, time.time(), event=event, task=about.task, label=text or f"{event} #{seq}", meta={"about": seq}
        )
        self._journal.notify()

    def offer(self, records: Sequence[Record]) -> None:
        """Apply the bookmarks and remarks among the next records."""
        for record in records:
            if record.kind is Kind.NOTE and record.event in NOTE_EVENTS:
                about = record.meta.get("about")
                if type(about) is int and 0 < about < record.seq:  # the capture may be from an untrusted source
                    self._apply(about, record)

    def _apply(self, about: int, record: Record) -> None:
        match record.event:
            case "bookmark":
                self._bookmarked.add(about)
            case "unbookmark":
                self._bookmarked.discard(about)
            case "remark":
                self._remarks[about] = record.label
            case _:
                self._remarks.pop(about, None)
        listed = bool(self.within(about, about))
        marked = about in self._bookmarked or about in self._remarks
        if marked and not listed:
            insort(self._marked, about)
        elif listed and not marked:
            self._marked.remove(about)
