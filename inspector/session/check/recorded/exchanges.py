"""Read the exchanges of a capture: the request, the answer and the events of each, in the format of A2A 1.0."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from inspector.capture.query import Query
from inspector.capture.records import LOGIN, PROBE, Kind, Record
from inspector.capture.store import Capture
from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings.grpc import OK
from inspector.protocol.errors import ProtocolError
from inspector.protocol.model import (
    Event,
    Message,
    SendRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
    Wire,
)
from inspector.protocol.operations import STREAMING, Operation
from inspector.session.check.calls import with_return
from inspector.session.check.expectations import severe_rules
from inspector.session.compose.raw_request import RAW_REQUEST
from inspector.session.payload import OPERATIONS, error_of, interface_of
from inspector.session.replay.translate import canonical, decoded
from inspector.wire.client.observations import Ending

_UNREADABLE = "unreadable"
_FILE = "{{file:"
"""The beginning of what is recorded in place of the content of a large file."""
_EVENTS = (Task, Message, TaskStatusUpdateEvent, TaskArtifactUpdateEvent)


@dataclass(slots=True)
class RecordedExchange:
    """One exchange: `answer` is its last answer, None if there was none; `events` are those of a stream.

    `ids` has the ids of its tasks and contexts, `rules` the rules of its findings above hints. `ended` is the time of
    its end, `status` the HTTP status of its response. `how` is the ending of its response, `problem` why the response
    is not complete. With `names_tasks`, the client chooses the ids of tasks.
    """

    number: int
    operation: Operation
    request: Wire
    at: float
    ended: float = 0.0
    status: int = 0
    answer: Wire | ProtocolError | None = None
    events: list[Event] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    rules: set[str] = field(default_factory=set)
    how: str = ""
    problem: str = ""
    names_tasks: bool = False

    @property
    def is_left(self) -> bool:
        """Return whether the client left the stream."""
        return self.streamed and self.how == Ending.STOPPED

    @property
    def streamed(self) -> bool:
        """Return whether the operation has a stream."""
        return self.operation in STREAMING

    @property
    def states(self) -> list[str]:
        """Return the task states in the stream, in order."""
        return [
            event.status.state
            for event in self.events
            if isinstance(event, Task | TaskStatusUpdateEvent) and event.status.state
        ]


@dataclass(frozen=True, slots=True)
class RecordedPush:
    """A delivery that the receiver accepted: its task and the task's state (`""` if it has none)."""

    task: str
    state: str
    rules: frozenset[str]


def numbers_of(capture: Capture, query: Query | None) -> list[int]:
    """Return the numbers of the exchanges that have a record which matches a filter, in order; None matches all."""
    if query is None:
        return [record.seq for record in capture.select(kinds={Kind.REQUEST})]
    found = (capture.get(seq).exchange for page in capture.search(query) for seq in page.hits)
    return sorted({number for number in found if number})


def read_exchanges(capture: Capture, numbers: Iterable[int]) -> tuple[list[RecordedExchange], list[str]]:
    """Return the exchanges that a check can repeat, and notes about those that are left out or not complete."""
    exchanges: list[RecordedExchange] = []
    notes: list[str] = []
    known: set[str] = set()
    for number in numbers:
        request = capture.get(number)
        if request.meta.get(PROBE) or request.meta.get(LOGIN) or request.operation not in OPERATIONS:
            continue
        exchange = _read(capture, request)
        reason = exchange if isinstance(exchange, str) else _not_repeatable(exchange, known)
        if isinstance(exchange, str) or reason:
            notes.append(f"#{number} is left out: {reason}")
            continue
        exchanges.append(exchange)
        known |= exchange.ids
        if exchange.problem:
            notes.append(f"#{number}: {exchange.problem}; its test fails until the agent sends a valid response")
    return exchanges, notes


def _not_repeatable(exchange: RecordedExchange, known: set[str]) -> str:
    """Return why the same request cannot get the same response again, `""` if it can."""
    request = exchange.request
    if not isinstance(request, SendRequest):
        return ""
    task = request.message.task_id
    if task and task not in known and not exchange.names_tasks and not isinstance(exchange.answer, ProtocolError):
        return "it continues a task whose first message is not among the exchanges"
    if any((part.raw or "").startswith(_FILE) for part in request.message.parts):
        return "the capture does not contain a large file in its message"
    return ""


def read_pushes(capture: Capture) -> list[RecordedPush]:
    """Return the deliveries that the receiver accepted."""
    return [
        RecordedPush(record.task, record.state, frozenset(severe_rules([record])))
        for record in capture.select(kinds={Kind.DELIVERY})
        if record.meta.get("taken") and not record.meta.get("challenge")
    ]


def _read(capture: Capture, request: Record) -> RecordedExchange | str:
    if RAW_REQUEST in (request.meta.get("deliberate") or ()):
        return "a raw request"
    sent = canonical(request, request)
    if sent is None:
        return "the request cannot be read"
    _, dialect = interface_of(request)
    exchange = RecordedExchange(request.seq, Operation(request.operation), sent, request.at)
    if dialect is not None:
        exchange.names_tasks = dialect.traits.names_tasks
        if isinstance(sent, SendRequest) and exchange.operation is Operation.SEND and not dialect.traits.waits:
            exchange.request = with_return(sent, immediately=True)
    for record in capture.select(exchange=request.seq, after=request.seq - 1):
        exchange.ids |= {record.task, record.context} - {""}
        exchange.rules |= severe_rules([record])
        _add(exchange, record, request)
    return exchange if exchange.answer is not None or exchange.status else "there was no response"


def _add(exchange: RecordedExchange, record: Record, request: Record) -> None:
    """Add the content of a record to its exchange."""
    match record.kind:
        case Kind.RESPONSE:
            exchange.status = int(record.meta["status"])
        case Kind.BODY | Kind.FRAME:
            answer = decoded(record, request, exchange.status)
            if isinstance(answer, Wire | ProtocolError):
                exchange.answer = answer
            if isinstance(answer, _EVENTS):
                exchange.events.append(answer)
            if record.event == _UNREADABLE:
                exchange.problem = "the response cannot be read"
        case Kind.TRAILERS if record.meta["code"] != OK:
            exchange.answer = _grpc_error(record, request)
        case Kind.END:
            exchange.ended, exchange.how = record.at, str(record.meta["how"])
            if exchange.how in (Ending.BROKEN, Ending.LIMIT):
                exchange.problem = "the response is not complete"


def _grpc_error(record: Record, request: Record) -> ProtocolError:
    _, dialect = interface_of(request)
    return error_of(record, dialect, Operation(request.operation))
