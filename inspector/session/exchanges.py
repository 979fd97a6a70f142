"""Summaries of exchanges: request, response, duration, and when the events of a stream arrived."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from enum import Enum
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from inspector.capture.records import FRAME, HTTP_ERROR, REQUEST, Kind, Record, is_login
from inspector.findings.finding import Severity, worst_of
from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import INVALID_RESPONSE, Whose
from inspector.protocol.http_fields import header
from inspector.protocol.http_status import DENYING
from inspector.wire.client.observations import Ending
from inspector.wire.endpoint import endpoint_of

SLICES = 32
"""The largest number of time slices."""

_NARROWEST = 0.001
"""The first width of a slice, in seconds."""


_REMOTE = frozenset({Whose.AGENT.value, Whose.NETWORK.value})
"""Who is responsible for a broken exchange that shows something about the host."""
_SUCCESS = range(200, 300)
DENIED = DENYING | {16, 7}
"""The HTTP and gRPC statuses for missing or wrong credentials: UNAUTHENTICATED is 16, PERMISSION_DENIED 7."""


@dataclass(slots=True)
class ArrivalHistogram:
    """When the events of one stream arrived: first, last, longest gap, and the number in each slice of time.

    The number of slices is fixed: when a stream outlasts them, they are merged in pairs, and become twice as long.
    `began` is the time of the request.
    """

    began: float
    first: float = 0.0
    last: float = 0.0
    gap: float = 0.0
    gap_ended: float = 0.0
    width: float = _NARROWEST
    slices: list[int] = field(default_factory=lambda: [0] * SLICES)
    _place: int = 0

    def add(self, at: float, count: int = 1) -> None:
        """Count events that arrived at the same time."""
        if at != self.last:
            self._move_to(at)
        self.slices[self._place] += count

    def _move_to(self, at: float) -> None:
        if not self.first:
            self.first = at
        elif at - self.last > self.gap:
            self.gap, self.gap_ended = at - self.last, at
        self.last = at
        self._place = int((at - self.began) / self.width)
        if self._place >= SLICES:
            self.slices, self.width = self._wide_enough(at)
            self._place = int((at - self.began) / self.width)

    def _wide_enough(self, at: float) -> tuple[list[int], float]:
        slices, width = self.slices, self.width
        while (at - self.began) / width >= SLICES:
            pairs = zip(slices[::2], slices[1::2], strict=True)
            slices, width = [first + second for first, second in pairs] + [0] * (SLICES // 2), width * 2
        return slices, width

    def until(self, at: float) -> list[int]:
        """Return the slices up to a time, including empty slices after the last event."""
        if not self.first:
            return []
        slices, width = self._wide_enough(at)
        return slices[: int((at - self.began) / width) + 1]


@dataclass(slots=True)
class ExchangeSummary:
    """The summary of one exchange so far; until the end, `seconds` is None and `how` is `""`.

    `status` is the HTTP status, or the status of a failed gRPC call. `headed` is the time of the response head, 0 until
    then. `pulse` is None unless there is a stream. `last_seq` is the number of the newest record of the exchange,
    `stream_task` the task of the first streamed event. `worst` is the severity of the most severe finding. `error` is
    the A2A error that the agent returned, in words, which JSON-RPC sends with the status 200, or the text of an HTTP
    error; `refused` is whether there was no event before it. `login` is whether it is a step of a login, whose server
    may be on the host of the agent.
    """

    number: int
    at: float
    operation: str
    method: str
    url: str
    task: str = ""
    stream_task: str = ""
    status: int = 0
    content_type: str = ""
    events: int = 0
    keepalives: int = 0
    sent: int = 0
    received: int = 0
    seconds: float | None = None
    how: str = ""
    findings: int = 0
    worst: Severity | None = None
    error: str = ""
    refused: bool = False
    last_at: float = 0.0
    last_seq: int = 0
    headed: float = 0.0
    pulse: ArrivalHistogram | None = None
    login: bool = False


class Reachability(Enum):
    """What the last exchange with a host showed."""

    RESPONDING = "responding"
    UNREACHABLE = "unreachable"
    CREDENTIALS_NEEDED = "credentials needed"


class HostState(NamedTuple):
    """The state of a host, since when (the time of the first of several equal results), and when it was last seen."""

    state: Reachability
    since: float
    last: float


class Exchanges:
    """Folds records into summaries, by the number of their exchange, and into the state of each host."""

    def __init__(self) -> None:
        self._by_number: dict[int, ExchangeSummary] = {}
        self._hosts: dict[str, HostState] = {}
        self._succeeded: set[str] = set()
        self._open = 0
        self.recorded = False
        """Whether this is an opened capture, in which exchanges without a recorded end are not running, either."""

    def __len__(self) -> int:
        return len(self._by_number)

    @property
    def open(self) -> int:
        """Return the number of running exchanges."""
        return 0 if self.recorded else self._open

    def get(self, number: int) -> ExchangeSummary | None:
        """Return the summary of an exchange, or None if there is none."""
        return self._by_number.get(number)

    def host_state(self, *urls: str) -> HostState | None:
        """Return the newest state of the hosts of some URLs, None without an ended exchange."""
        states = (self._hosts.get(_host(url)) for url in urls if url)
        return max((state for state in states if state is not None), key=attrgetter("last"), default=None)

    def last_denied(self, url: str) -> ExchangeSummary | None:
        """Return the last exchange with the host of a URL that was answered with 401 or 403, None without one."""
        host = _host(url)
        newest_first = (each for each in reversed(self._by_number.values()) if not each.login)
        return next((each for each in newest_first if each.status in DENYING and _host(each.url) == host), None)

    def has_succeeded(self, url: str) -> bool:
        """Return whether the host of a URL has answered an exchange with a success status."""
        return _host(url) in self._succeeded

    def forget_denied(self, *urls: str) -> None:
        """Forget that the hosts of some URLs demanded credentials, because others are sent to them from now on."""
        for host in map(_host, filter(None, urls)):
            state = self._hosts.get(host)
            if state is not None and state.state is Reachability.CREDENTIALS_NEEDED:
                del self._hosts[host]

    def stream_of(self, task_id: str) -> ExchangeSummary | None:
        """Return the last stream about a task, None if there is none."""
        newest_first = reversed(self._by_number.values())
        return next(
            (summary for summary in newest_first if summary.task == task_id and summary.pulse is not None), None
        )

    def offer(self, records: Sequence[Record]) -> None:
        """Add the next records, which are alike (see `Subscriber`), to the summary of their exchange."""
        first, last, count = records[0], records[-1], len(records)
        if first.kind is REQUEST and first.exchange == first.seq:
            self._add_request(first)
        summary = self._by_number.get(first.exchange)
        if summary is None:
            return
        summary.last_at, summary.last_seq = last.at, last.seq
        if first.findings:
            summary.findings += len(first.findings) * count
            summary.worst = worst_of([summary.worst, *(finding.severity for finding in first.findings)])
        if first.event in ("error", HTTP_ERROR):
            summary.error, summary.refused = first.label or first.event, not summary.events
        if not summary.task:
            summary.task = first.task
        if first.kind is FRAME:
            if not summary.stream_task:
                summary.stream_task = first.task
            summary.events += count
            summary.received += sum([record.size for record in records]) if count > 1 else first.size
            _add_arrivals(summary, records)
        else:
            self._add_other(summary, first, count)

    def _add_request(self, request: Record) -> None:
        self._by_number[request.seq] = ExchangeSummary(
            request.seq,
            request.at,
            request.operation,
            str(request.meta["method"]),
            str(request.meta["url"]),
            request.task,
            sent=request.size,
            login=is_login(request),
        )
        self._open += 1

    def _add_other(self, summary: ExchangeSummary, first: Record, count: int) -> None:
        match first.kind:
            case Kind.BODY:
                summary.events += count
                summary.received += first.size
            case Kind.KEEPALIVE:
                summary.keepalives += count
                summary.received += first.size
            case Kind.RESPONSE:
                summary.headed = first.at
                if first.meta.get("streamed"):
                    summary.pulse = ArrivalHistogram(summary.at)
                summary.status = first.meta["status"]
                summary.content_type = header(first.meta["headers"], "content-type")
            case Kind.TRAILERS if first.meta["code"]:
                summary.status = first.meta["code"]
            case Kind.END:
                self._open -= summary.seconds is None
                summary.seconds = first.meta["seconds"]
                summary.how = first.meta["how"]
                self._note_host(summary, first)
            case _:
                pass

    def _note_host(self, summary: ExchangeSummary, end: Record) -> None:
        """Note whether the host responded, also if the response then broke off.

        A request that could not be sent, or was stopped before, shows nothing. Neither does a step of a login.
        """
        if summary.login:
            return
        broken = summary.how == Ending.BROKEN
        if broken and end.meta.get("whose") not in _REMOTE:
            return
        if broken and not summary.headed and end.meta.get("code") != INVALID_RESPONSE:
            state = Reachability.UNREACHABLE
        elif not summary.status and not summary.received and not broken:
            return
        else:
            denied = summary.status in DENIED
            state = Reachability.CREDENTIALS_NEEDED if denied else Reachability.RESPONDING
        host = _host(summary.url)
        if summary.status in _SUCCESS:
            self._succeeded.add(host)
        before = self._hosts.get(host)
        since = before.since if before is not None and before.state is state else end.at
        self._hosts[host] = HostState(state, since, end.at)


def _host(url: str) -> str:
    """Return the host and the port of a URL."""
    endpoint = endpoint_of(url)
    return f"{endpoint.host}:{endpoint.port}" if endpoint is not None else url  # a card can contain an invalid URL


def _add_arrivals(summary: ExchangeSummary, records: Sequence[Record]) -> None:
    if summary.pulse is None:
        summary.pulse = ArrivalHistogram(summary.at)
    began, first = summary.at, records[0].at
    if first == records[-1].at:
        summary.pulse.add(first if first > began else began, len(records))
        return
    for at, together in groupby(records, attrgetter("at")):
        summary.pulse.add(max(at, began), len(list(together)))  # in a capture of another program, times may decrease
