"""Every exchange of a session in one line: what was asked, how it was answered, how long it took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from inspector.capture.records import Kind, Record
from inspector.session.stream_health import Pulse


@dataclass(slots=True)
class ExchangeSummary:
    """One exchange as far as it has come; `seconds` and `how` are None and `""` until it is over.

    `status` is that of HTTP, or that of a gRPC call which failed; `headed` is when the response's head came, 0 before;
    `pulse` says when the events of a stream came, None where there is no stream; `last_seq` is its newest record.
    """

    number: int
    at: float
    operation: str
    method: str
    url: str
    task: str = ""
    status: int = 0
    content_type: str = ""
    events: int = 0
    keepalives: int = 0
    sent: int = 0
    received: int = 0
    seconds: float | None = None
    how: str = ""
    findings: int = 0
    last_at: float = 0.0
    last_seq: int = 0
    headed: float = 0.0
    pulse: Pulse | None = None


class Exchanges:
    """Folds records into summaries, by the number of their exchange."""

    def __init__(self) -> None:
        self._by_number: dict[int, ExchangeSummary] = {}
        self._open = 0
        self.over = False
        """Whether nothing goes on any more, whatever has no end: a recording."""

    def __len__(self) -> int:
        return len(self._by_number)

    @property
    def open(self) -> int:
        """Return how many exchanges are under way."""
        return 0 if self.over else self._open

    def get(self, number: int) -> ExchangeSummary | None:
        """Return the summary of an exchange, or None where there is none."""
        return self._by_number.get(number)

    def take_run(self, records: Sequence[Record]) -> None:
        """Fold records, one at least, that differ in their numbers, times and bytes alone: frames of one exchange."""
        first, *others = records
        self.take(first)
        summary = self._by_number.get(first.exchange)
        if summary is not None and others:
            summary.last_at, summary.last_seq = others[-1].at, others[-1].seq
            if summary.pulse is not None:
                for at, together in groupby(record.at for record in others):
                    summary.pulse.beat(max(at, summary.at), len(list(together)))
            summary.events += len(others)
            summary.received += sum(record.size for record in others)
            summary.findings += len(first.findings) * len(others)

    def stream_of(self, task_id: str) -> ExchangeSummary | None:
        """Return the stream that told of a task last, None where none did."""
        newest_first = reversed(self._by_number.values())
        return next((one for one in newest_first if one.task == task_id and one.pulse is not None), None)

    def take(self, record: Record) -> None:
        """Fold a record into the summary of its exchange; a record outside of any is passed over."""
        if record.exchange == record.seq and record.kind is Kind.REQUEST:
            self._by_number[record.seq] = ExchangeSummary(
                record.seq,
                record.at,
                record.operation,
                str(record.meta["method"]),
                str(record.meta["url"]),
                record.task,
                sent=record.size,
            )
            self._open += 1
        summary = self._by_number.get(record.exchange)
        if summary is None:
            return
        summary.last_at, summary.last_seq = record.at, record.seq
        summary.findings += len(record.findings)
        summary.task = summary.task or record.task
        match record.kind:
            case Kind.FRAME:
                summary.events += 1
                summary.received += record.size
                if summary.pulse is None:
                    summary.pulse = Pulse(summary.at)
                summary.pulse.beat(max(record.at, summary.at))  # in a capture from elsewhere time may run backwards
            case Kind.BODY:
                summary.events += 1
                summary.received += record.size
            case Kind.KEEPALIVE:
                summary.keepalives += 1
                summary.received += record.size
            case Kind.RESPONSE:
                summary.headed = record.at
                if record.meta.get("streamed"):
                    summary.pulse = Pulse(summary.at)
                summary.status = record.meta["status"]
                types = (value for name, value in record.meta["headers"] if name.lower() == "content-type")
                summary.content_type = next(types, "")
            case Kind.TRAILERS if record.meta["code"]:
                summary.status = record.meta["code"]
            case Kind.END:
                self._open -= summary.seconds is None
                summary.seconds = record.meta["seconds"]
                summary.how = record.meta["how"]
            case _:
                pass
