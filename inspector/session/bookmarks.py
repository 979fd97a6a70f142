"""Bookmarks and remarks on records: what a person thought of them, recorded beside them and folded from there."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

from inspector.capture.records import Kind, Record
from inspector.session.journal import LABEL_LENGTH, Journal

EVENTS = frozenset({"bookmark", "unbookmark", "remark", "unremark"})
"""The events of the notes that say so; `about` in their `meta` is the record that they are about."""
LONGEST = LABEL_LENGTH
"""How many characters a remark may have."""


class Bookmarks:
    """Which records have a bookmark, and which a remark; nothing recorded is ever changed by either.

    Each step is a note of its own, so a capture that is opened again says the same.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._bookmarked: set[int] = set()
        self._remarks: dict[int, str] = {}
        self._marked: list[int] = []
        journal.subscribe(self.offer, replay=True)

    def __len__(self) -> int:
        return len(self._marked)

    def bookmarked(self, seq: int) -> bool:
        """Tell whether a record has a bookmark."""
        return seq in self._bookmarked

    def remark_on(self, seq: int) -> str:
        """Return the remark on a record, `""` where it has none."""
        return self._remarks.get(seq, "")

    def within(self, first: int, last: int) -> Sequence[int]:
        """Return the records from `first` to `last` that have a bookmark or a remark."""
        return self._marked[bisect_left(self._marked, first) : bisect_right(self._marked, last)]

    def toggle(self, seq: int) -> None:
        """Give a record a bookmark, or take it away."""
        self._say(seq, "unbookmark" if seq in self._bookmarked else "bookmark", "")

    def remark(self, seq: int, text: str) -> None:
        """Say something about a record, in at most `LONGEST` characters; `""` takes the remark back."""
        if text != self.remark_on(seq):
            self._say(seq, "remark" if text else "unremark", text)

    def _say(self, seq: int, event: str, text: str) -> None:
        about = self._journal.capture.get(seq)
        self._journal.append(
            Kind.NOTE, time.time(), event=event, task=about.task, label=text or f"{event} #{seq}", meta={"about": seq}
        )
        self._journal.notify()

    def offer(self, records: Sequence[Record]) -> None:
        """Take in the bookmarks and remarks among the next records."""
        for record in records:
            if record.kind is Kind.NOTE and record.event in EVENTS:
                self._take(record)

    def _take(self, record: Record) -> None:
        about = record.meta.get("about")
        if type(about) is not int or not 0 < about < record.seq:
            return  # a capture from elsewhere may say anything
        match record.event:
            case "bookmark":
                self._bookmarked.add(about)
            case "unbookmark":
                self._bookmarked.discard(about)
            case "remark":
                self._remarks[about] = record.label
            case _:
                self._remarks.pop(about, None)
        self._place(about)

    def _place(self, seq: int) -> None:
        """Keep the sorted list of what has a bookmark or a remark."""
        at = bisect_left(self._marked, seq)
        there = at < len(self._marked) and self._marked[at] == seq
        wanted = seq in self._bookmarked or seq in self._remarks
        if wanted and not there:
            insort(self._marked, seq)
        elif there and not wanted:
            del self._marked[at]
