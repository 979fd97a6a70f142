"""What follows a journal: it is told of every record, one by one or in runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from inspector.capture.records import Record


class Follower(Protocol):
    """Keeps something about all records; `rebuild` starts it again from those that there are."""

    def offer(self, record: Record) -> None:
        """Take in the next record."""
        ...

    def offer_run(self, records: Sequence[Record]) -> None:
        """Take in the next records, one at least, that differ in their numbers, times and bytes alone."""
        ...

    def rebuild(self, records: Iterable[Record]) -> None:
        """Start again from all records."""
        ...
