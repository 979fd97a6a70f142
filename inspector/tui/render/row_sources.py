"""Row sources for lists: they read records when a row is drawn and keep none."""

from __future__ import annotations

from collections.abc import Callable

from rich.cells import cell_len

from inspector.capture.records import Kind, Record
from inspector.session.exchanges import ExchangeSummary
from inspector.session.journal import Journal
from inspector.session.record_list import RecordList
from inspector.session.tasks import TrackedTask
from inspector.text.short_id import short_id
from inspector.tui.render.annotations import Annotations
from inspector.tui.render.delivery_rows import delivery_row
from inspector.tui.render.exchange_rows import BarScale, exchange_row, operation_cell, path_of, record_row
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.rows import Cells, is_send, state_cell
from inspector.tui.render.task_table import last_message
from inspector.tui.render.timeline_rows import timeline_row

_NEAR = 8
"""How many rows before a row are searched for the nearest row with a task."""


class TimelineRows:
    """The rows of a timeline."""

    def __init__(self, journal: Journal, records: RecordList, glyphs: Glyphs, annotations: Annotations) -> None:
        self._journal = journal
        self._records = records
        self._glyphs = glyphs
        self._annotations = annotations

    def __len__(self) -> int:
        return len(self._records)

    def row(self, index: int) -> Cells:
        """Return the cells of one row, or the character of a rule."""
        row = self._records[index]
        if not row.records:
            return ((self._glyphs.horizontal, "feed--rule"),)
        record = self.record(index)
        began, annotation = self._journal.send_of(record), self._annotations.of(record, row)
        at = self._journal.capture.get(row.first).at if row.records > 1 else record.at
        gap = at - self.record(index - 1).at if index else None
        exchange = self._journal.exchanges.get(record.exchange) if record.kind is Kind.REQUEST else None
        return timeline_row(
            record,
            row,
            began,
            self._glyphs,
            annotation,
            gap,
            at=at,
            other=self._is_other(record, index),
            keepalives=exchange.keepalives if exchange is not None else 0,
        )

    def _is_other(self, record: Record, index: int) -> bool:
        """Return whether the task of a row differs from that of the nearest row before it that has a task."""
        if not record.task or is_send(record):
            return False
        before = (self._task(row) for row in range(index - 1, max(-1, index - 1 - _NEAR), -1))
        return next((task for task in before if task), record.task) != record.task

    def _task(self, index: int) -> str:
        """Return the task of a row; that of a request may be known from its response only."""
        record = self.record(index)
        exchange = self._journal.exchanges.get(record.exchange) if record.kind is Kind.REQUEST else None
        return exchange.task if exchange is not None else record.task

    def record(self, index: int) -> Record:
        """Return the last record of a row."""
        return self._journal.capture.get(self._records[index].last)


class DeliveryRows(TimelineRows):
    """The rows of the webhook table."""

    def row(self, index: int) -> Cells:
        """Return the cells of one delivery."""
        row, record = self._records[index], self.record(index)
        return delivery_row(record, row, self._glyphs, self._annotations.of(record, row))


class ExchangeRows(TimelineRows):
    """One row for each exchange.

    `hosts` are the hosts of the agent, which the rows do not repeat; `bars` is the scale of the timing bars, `longest`
    are the cells of the longest visible path and operation.
    """

    hosts: frozenset[str] = frozenset()
    bars = BarScale()
    longest = (0, 0)

    def number(self, index: int) -> int:
        """Return the number of the exchange in a row."""
        return self._records[index].first

    def index_of(self, number: int) -> int:
        """Return the row of an exchange."""
        return self._records.index_of(number) or 0

    def summary(self, index: int) -> ExchangeSummary:
        """Return the summary of the exchange in a row."""
        number = self.number(index)
        summary = self._journal.exchanges.get(number)
        if summary is None:
            raise LookupError(f"record {number} does not begin an exchange")
        return summary

    def scale(self, first: int, count: int, width: int) -> bool:
        """Fit bars of `width` cells to the longest visible exchange, and measure the texts; return if bars change."""
        visible = [self.summary(index) for index in range(first, min(first + count, len(self)))]
        longest = max((summary.seconds or summary.last_at - summary.at for summary in visible), default=0.0)
        paths = (cell_len(path_of(summary.url, self.hosts)) for summary in visible)
        operations = (cell_len(operation_cell(summary)[0]) for summary in visible)
        self.longest = max(paths, default=0), max(operations, default=0)
        before, self.bars = self.bars, BarScale(longest, width)
        return before != self.bars

    def row(self, index: int) -> Cells:
        """Return the cells of one exchange."""
        summary = self.summary(index)
        annotation = self._annotations.of(self._journal.capture.get(summary.number))
        return exchange_row(summary, self.bars, self.hosts, self._glyphs, annotation)


class ExchangeRecordRows(TimelineRows):
    """The records of one exchange, with times since its request (`began`)."""

    def __init__(
        self, journal: Journal, records: RecordList, glyphs: Glyphs, began: float, annotations: Annotations
    ) -> None:
        super().__init__(journal, records, glyphs, annotations)
        self._began = began

    def row(self, index: int) -> Cells:
        """Return the cells of one record."""
        record = self.record(index)
        return record_row(record, self._began, self._glyphs, self._annotations.of(record))


class TaskListRows:
    """The rows of the short list of tasks beside the timeline; the tasks are read anew at each refresh."""

    def __init__(self, tasks: Callable[[], list[TrackedTask]], glyphs: Glyphs) -> None:
        self._tasks = tasks
        self._glyphs = glyphs
        self.tasks = tasks()

    def refresh(self) -> None:
        """Read the list of tasks."""
        self.tasks = self._tasks()

    def __len__(self) -> int:
        return len(self.tasks)

    def row(self, index: int) -> Cells:
        """Return the state, the id and the last message of one task."""
        task = self.tasks[index]
        state = state_cell(task.now.state, self._glyphs)
        return state, (short_id(task.id), "feed--muted"), (last_message(task.now), "feed--text")
