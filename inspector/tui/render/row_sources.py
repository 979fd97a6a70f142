"""Row sources for feeds: they read records when a row is drawn and keep none."""

from __future__ import annotations

import time
from collections.abc import Callable

from inspector.capture.records import Record
from inspector.session.journal import Journal
from inspector.session.polling import Polls
from inspector.session.record_list import RecordList, Row
from inspector.session.tasks import TrackedTask
from inspector.tui.render import rows
from inspector.tui.render.annotations import Annotation, Annotations
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.rows import Cells

POLL_COLUMN = 5
"""Before which cell of a task's row stands how it is polled."""
_NEAR = 8
"""So many rows before one are looked at for the task that they are about."""


class TimelineRows:
    """The rows of a timeline; `annotations` knows what is shown beside the records."""

    def __init__(self, journal: Journal, records: RecordList, glyphs: Glyphs, annotations: Annotations) -> None:
        self._journal = journal
        self._records = records
        self._glyphs = glyphs
        self._annotations = annotations

    def __len__(self) -> int:
        return len(self._records)

    def row(self, index: int) -> Cells:
        """Return the cells of one row."""
        row = self._records[index]
        record = self._journal.capture.get(row.last)
        began = self._journal.send_of(record)
        return rows.timeline_row(
            record,
            row,
            began,
            self._glyphs,
            self._annotation(record, row),
            self._gap(index),
            other=self._is_other(record, index),
        )

    def _is_other(self, record: Record, index: int) -> bool:
        """Tell whether a row is about another task than the last row before it that is about one, if that is near."""
        if not record.task:
            return False
        before = (self.record(row).task for row in range(index - 1, max(-1, index - 1 - _NEAR), -1))
        return next((task for task in before if task), record.task) != record.task

    def _gap(self, index: int) -> float | None:
        """Return the seconds between the end of the row before and the beginning of this one, None for the first."""
        if not index:
            return None
        get = self._journal.capture.get
        return get(self._records[index].first).at - get(self._records[index - 1].last).at

    def _annotation(self, record: Record, row: Row | None = None) -> Annotation:
        return self._annotations.of(record, row)

    def record(self, index: int) -> Record:
        """Return the last record of a row."""
        return self._journal.capture.get(self._records[index].last)


class DeliveryRows(TimelineRows):
    """The rows of the webhook table."""

    def row(self, index: int) -> Cells:
        """Return the cells of one delivery."""
        record = self.record(index)
        return rows.delivery_row(record, self._glyphs, self._annotation(record))


class ExchangeRows:
    """One row for each exchange."""

    def __init__(self, journal: Journal, requests: RecordList, glyphs: Glyphs, annotations: Annotations) -> None:
        self._journal = journal
        self._requests = requests
        self._glyphs = glyphs
        self._annotations = annotations

    def __len__(self) -> int:
        return len(self._requests)

    def number(self, index: int) -> int:
        """Return the number of the exchange in a row."""
        return self._requests[index].first

    def row(self, index: int) -> Cells:
        """Return the cells of one exchange."""
        summary = self._journal.exchanges.get(self.number(index))
        if summary is None:
            raise LookupError(f"record {self.number(index)} opened no exchange")
        annotation = self._annotations.of(self._journal.capture.get(summary.number))
        return rows.exchange_row(summary, self._glyphs, annotation)


class ExchangeRecordRows(TimelineRows):
    """The records of one exchange, with times since its request."""

    def __init__(
        self,
        journal: Journal,
        records: RecordList,
        glyphs: Glyphs,
        began: float,
        annotations: Annotations,
    ) -> None:
        super().__init__(journal, records, glyphs, annotations)
        self._began = began

    def row(self, index: int) -> Cells:
        """Return the cells of one record."""
        record = self.record(index)
        return rows.record_row(record, self._began, self._glyphs, self._annotation(record))


class TaskRows:
    """One row for each task, as it is now; the list is asked for anew at each refresh."""

    def __init__(self, tasks: Callable[[], list[TrackedTask]], glyphs: Glyphs) -> None:
        self._ask = tasks
        self._glyphs = glyphs
        self.tasks = tasks()

    def refresh(self) -> None:
        """Take over the tasks as they are now."""
        self.tasks = self._ask()

    def __len__(self) -> int:
        return len(self.tasks)

    def row(self, index: int) -> Cells:
        """Return the cells of one task."""
        return rows.task_row(self.tasks[index], time.time(), self._glyphs)


class PolledTaskRows(TaskRows):
    """One row for each task, with the glyph of polls and the seconds between two of them where it is polled."""

    def __init__(self, tasks: Callable[[], list[TrackedTask]], glyphs: Glyphs, polls: Polls) -> None:
        super().__init__(tasks, glyphs)
        self._polls = polls

    def row(self, index: int) -> Cells:
        """Return the cells of one task."""
        cells = super().row(index)
        poll = self._polls.get(self.tasks[index].id)
        said = f"{self._glyphs.poll} {poll.every:g}s" if poll else ""
        return (*cells[:POLL_COLUMN], (said, "feed--received"), *cells[POLL_COLUMN:])
