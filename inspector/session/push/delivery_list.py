"""Lists of deliveries for views: runs of chunks and of equal pushes share a row."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from inspector.capture.records import Kind, Record
from inspector.session.record_list import RecordList


def is_delivery(record: Record) -> bool:
    """Return whether a record is a request to the webhook receiver."""
    return record.kind is Kind.DELIVERY


class DeliveryList(RecordList):
    """The deliveries as rows; if `folded`, consecutive pushes that show the same texts and results share a row."""

    def __init__(self, *, folded: bool) -> None:
        super().__init__(is_delivery, folded=folded)
        self._last: Hashable = None

    def offer(self, records: Sequence[Record]) -> None:
        """Add the next records, which are alike (see `Subscriber`), if they are deliveries."""
        if not records or not is_delivery(records[0]):
            return
        if not self.folded:
            super().offer(records)
            return
        shown, before = _shown(records[0]), self._last
        self._last = shown
        if shown == before and self._run_of(records[0]) is None:
            self._lasts[-1] = records[-1].seq
            self._counts[-1] += len(records)
            self._sizes[-1] += sum(record.size for record in records)
        else:
            super().offer(records)

    def _run_of(self, record: Record) -> Hashable | None:
        return _shown(record) if record.event == "artifact" or record.meta.get("refused") else None


def _shown(record: Record) -> Hashable:
    """Return what a row shows about a delivery, except for its time and latency."""
    meta = record.meta
    checks = tuple((name, good) for name, good, _ in meta.get("checks", ()))
    refused = meta.get("refused")
    attempt = 0 if refused else meta.get("attempt")  # the row of a rejected delivery does not show its attempt
    answer = meta.get("status"), refused, meta.get("dialled"), attempt
    update = ("", "") if refused else (record.event, record.state)  # nor does it show the rejected update
    words = update, record.task, record.label, meta.get("registration"), meta.get("target")
    return words, answer, checks, record.findings
