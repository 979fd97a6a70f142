"""Read the exchanges, documents and deliveries of a capture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from inspector.capture.records import Kind, Record, is_login
from inspector.lazy_dataclass import dataclass
from inspector.protocol.card import CARD_PATHS
from inspector.protocol.model import Json
from inspector.protocol.operations import Operation

from .call_content import SENDING, CallContent, RawRequest, read_call, version_for
from .exchange import Exchange, RecordedPush

if TYPE_CHECKING:
    from inspector.capture.store import Capture

PAGE = 200
"""How many records of a stream are read at once."""

_STATUSES = range(200, 1000)
"""The statuses of final responses; HTTP allows three digits."""
_CHANGES_TASK = SENDING | {Operation.CANCEL, Operation.SET_PUSH}
"""The operations after which an agent sends pushes."""


class RecordingError(Exception):
    """Raised if a capture has nothing that can be served; the message has the reason."""


@dataclass(frozen=True, slots=True)
class Document:
    """A recorded GET without an A2A operation: the head of the response and its body."""

    head: Record
    body: Record
    is_card: bool


@dataclass
class Recording:
    """What a capture contains: the exchanges in order, and the newest document of each path.

    `skipped` counts the requests that cannot be served: without a valid response, or in an unknown protocol version.
    """

    capture: Capture
    exchanges: list[Exchange] = field(default_factory=list)
    documents: dict[str, Document] = field(default_factory=dict)
    card_file: Record | None = None
    skipped: int = 0

    @property
    def has_grpc(self) -> bool:
        """Return whether there are exchanges over gRPC."""
        return any(exchange.call.binding == "GRPC" for exchange in self.exchanges)

    def records(self, exchange: Exchange) -> Iterator[Record]:
        """Yield the records of the response to a request."""
        after = exchange.number
        while page := self.capture.select(exchange=exchange.number, after=after, limit=PAGE):
            yield from page
            after = page[-1].seq

    @property
    def cards(self) -> list[Record]:
        """Return the newest card of each path, and the card that was read from a file."""
        cards = [document.body for document in self.documents.values() if document.is_card]
        return cards if self.card_file is None else [*cards, self.card_file]

    def card(self, path: str) -> Record | None:
        """Return the card for a path: the card that was read there, or the newest card at a well-known path."""
        document = self.documents.get(path)
        if document is not None:
            return document.body if document.is_card else None
        if path not in CARD_PATHS:
            return None
        return max(self.cards, key=lambda record: record.seq, default=None)


def read_recording(capture: Capture) -> Recording:
    """Read a capture; raises `RecordingError` if it has no exchange that can be served."""
    recording = Recording(capture)
    after = 0
    while requests := capture.select(kinds=(Kind.REQUEST,), after=after, limit=PAGE):
        for request in requests:
            _add(recording, request)
        after = requests[-1].seq
    if not recording.exchanges:
        skipped = f" Requests without a valid response: {recording.skipped:,}." if recording.skipped else ""
        raise RecordingError(f"{capture.path} contains no exchange with an agent that can be served.{skipped}")
    notes = capture.select(kinds=(Kind.NOTE,))
    recording.card_file = next((note for note in reversed(notes) if note.event == "card" and note.raw), None)
    _mark_chosen_ids(recording.exchanges)
    _add_pushes(recording)
    return recording


def raw_request(request: Record) -> RawRequest:
    """Return a recorded request as it is compared with received requests."""
    url = urlsplit(str(request.meta["url"]))
    headers = {str(name).lower(): str(value) for name, value in request.meta["headers"]}
    return RawRequest(str(request.meta["method"]), url.path or "/", url.query, headers, request.raw)


def _add(recording: Recording, request: Record) -> None:
    """Add the exchange or the document of a request."""
    if is_login(request):
        return
    if request.kind is not Kind.REQUEST:  # a member of the record is missing or invalid
        recording.skipped += 1
        return
    binding = str(request.meta.get("binding", ""))
    head, body, end = (
        _first(recording.capture, request, *kinds) for kinds in ((Kind.RESPONSE,), (Kind.BODY, Kind.FRAME), (Kind.END,))
    )
    if not binding:
        if head is not None and body is not None and _is_document(request, head.meta):
            path = urlsplit(str(request.meta["url"])).path or "/"
            recording.documents[path] = Document(head, body, body.event == "card")
        return
    version = version_for(str(request.meta.get("dialect", "")), binding)
    if head is None or head.meta["status"] not in _STATUSES or version is None:
        recording.skipped += 1
        return
    call = read_call(raw_request(request), binding, version)
    task = next((record.task for record in (body, end) if record and record.task), "")
    recording.exchanges.append(Exchange(request.seq, request.at, call, task, body.context if body else ""))


def _first(capture: Capture, request: Record, *kinds: Kind) -> Record | None:
    """Return the first valid record of some kinds in the exchange of a request."""
    found = capture.select(exchange=request.seq, kinds=kinds, limit=1)
    return next((record for record in found if record.kind in kinds), None)


def _is_document(request: Record, head: Mapping[str, Json]) -> bool:
    return request.meta["method"] == "GET" and 200 <= int(head["status"]) < 300 and not head.get("streamed")


def _mark_chosen_ids(exchanges: list[Exchange]) -> None:
    """Mark the ids that a client has chosen: those that no response before the request contains."""
    known: set[tuple[str, str]] = set()
    for exchange in exchanges:
        call = exchange.call
        chosen = {name for name, value in _choices(call) if value and (name, value) not in known}
        exchange.chosen = frozenset(chosen)
        known |= {("task", exchange.task), ("context", exchange.context)}
        known |= {(name, value) for name, value in _choices(call) if value}


def _choices(call: CallContent) -> Iterator[tuple[str, str]]:
    """Yield the ids of a request that the client may choose."""
    if call.sends_message:
        yield "context", call.context
        if call.version.traits.names_tasks:
            yield "task", call.task
    if call.webhook is not None:
        yield "config", call.config


def _add_pushes(recording: Recording) -> None:
    """Add each delivery to the last exchange before it that changed its task."""
    by_task: dict[str, list[Exchange]] = {}
    for exchange in recording.exchanges:
        if exchange.task and exchange.call.operation in _CHANGES_TASK:
            by_task.setdefault(exchange.task, []).append(exchange)
    after = 0
    while deliveries := recording.capture.select(kinds=(Kind.DELIVERY,), after=after, limit=PAGE):
        for delivery in deliveries:
            before = [item for item in by_task.get(delivery.task, ()) if item.number < delivery.seq]
            if before and delivery.meta.get("registration") and not delivery.meta.get("challenge"):
                before[-1].pushes.append(RecordedPush(delivery.seq, max(0.0, delivery.at - before[-1].at)))
        after = deliveries[-1].seq
