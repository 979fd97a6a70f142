"""The text of the first message of each task: a request has no task id when it is recorded."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.capture.records import Record
from inspector.protocol.operations import SENDS
from inspector.session.journal import Journal
from inspector.session.message_label import label_of
from inspector.session.tasks import TrackedTask

_USER = "ROLE_USER"


class TaskRequests:
    """Follows a journal, and remembers the label of the message that created each task."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._labels: dict[str, str] = {}
        journal.subscribe(self.offer, replay=True)

    def offer(self, records: Sequence[Record]) -> None:
        """Add the next records, which are alike (see `Subscriber`)."""
        first = records[0] if records else None
        if first is None or not first.task or not first.exchange or first.task in self._labels:
            return
        exchange = self._journal.exchanges.get(first.exchange)
        if exchange is not None and exchange.operation in SENDS:
            self._labels[first.task] = self._journal.capture.get(first.exchange).label

    def of(self, task: TrackedTask) -> str:
        """Return the text of the first message of a task: as it was sent, or else from the history of the task."""
        label = self._labels.get(task.id)
        if label is not None:
            return label
        return next((label_of(message) for message in task.now.history if message.role == _USER), "")
