"""The one writer: appends facts to the capture and tells those who show them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inspector.capture.records import Kind, Record
from inspector.capture.redaction import Redactor
from inspector.capture.store import Capture
from inspector.session.lists import RecordList

LABEL_LENGTH = 200
"""How many characters of a payload a record's label quotes."""


class Journal:
    """A capture with those who follow it; everything is masked here or before, and nothing is appended elsewhere.

    `found` holds, for every rule that was broken, the records in which it was.
    """

    def __init__(self, capture: Capture, redactor: Redactor) -> None:
        self.capture = capture
        self.redactor = redactor
        self.found: dict[str, list[int]] = {}
        self._lists: list[RecordList] = []
        self._listeners: list[Callable[[], None]] = []

    def append(self, kind: Kind, at: float, *, label: str = "", **members: Any) -> Record:
        """Append one fact and hand it to every list that follows; `members` are those of `Record`."""
        label = self.redactor.text(label[:LABEL_LENGTH])
        record = self.capture.append(kind, at, label=label, **members)
        for follower in self._lists:
            follower.offer(record)
        for finding in record.findings:
            self.found.setdefault(finding.rule, []).append(record.seq)
        return record

    def follow(self, followed: RecordList) -> None:
        """Fill a list with what is recorded so far and keep it filled."""
        followed.rebuild(self.capture.select(), folded=followed.folded)
        self._lists.append(followed)

    def refold(self, followed: RecordList, *, folded: bool) -> None:
        """Fold or unfold the runs of a list."""
        followed.rebuild(self.capture.select(), folded=folded)

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
