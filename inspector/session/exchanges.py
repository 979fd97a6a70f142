"""Every exchange of a session in one line: what was asked, how it was answered, how long it took."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.capture.records import Kind, Record


@dataclass(slots=True)
class ExchangeSummary:
    """One exchange as far as it has come; `seconds` and `how` are None and `""` until it is over.

    `status` is that of HTTP, or that of a gRPC call which failed.
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


class Exchanges:
    """Folds records into summaries, by the number of their exchange."""

    def __init__(self) -> None:
        self._by_number: dict[int, ExchangeSummary] = {}

    def __len__(self) -> int:
        return len(self._by_number)

    def get(self, number: int) -> ExchangeSummary | None:
        """Return the summary of an exchange, or None where there is none."""
        return self._by_number.get(number)

    @property
    def open(self) -> int:
        """Return how many exchanges are not over."""
        return sum(one.seconds is None for one in self._by_number.values())

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
        summary = self._by_number.get(record.exchange)
        if summary is None:
            return
        summary.last_at = record.at
        summary.findings += len(record.findings)
        summary.task = summary.task or record.task
        match record.kind:
            case Kind.FRAME | Kind.BODY:
                summary.events += 1
                summary.received += record.size
            case Kind.KEEPALIVE:
                summary.keepalives += 1
                summary.received += record.size
            case Kind.RESPONSE:
                summary.status = record.meta["status"]
                types = (value for name, value in record.meta["headers"] if name.lower() == "content-type")
                summary.content_type = next(types, "")
            case Kind.TRAILERS if record.meta["code"]:
                summary.status = record.meta["code"]
            case Kind.END:
                summary.seconds = record.meta["seconds"]
                summary.how = record.meta["how"]
            case _:
                pass
