"""Turn the entries of another program's HAR file into observations, which are recorded like those of a session."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from inspector.capture.records import Kind, Record
from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings import jsonrpc, rest
from inspector.protocol.card import CARD_PATHS
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.detect import looks_like
from inspector.protocol.dialects.registry import ALL, EXPERIMENTAL
from inspector.protocol.errors import INVALID_RESPONSE, Fault, ProtocolError, Whose
from inspector.protocol.jsonvalue import is_number, parse
from inspector.protocol.model import (
    Json,
    PushConfig,
    PushConfigRequest,
    Request,
    SendRequest,
    TaskRequest,
    Unreadable,
)
from inspector.protocol.operations import Operation
from inspector.protocol.sse import Decoder, Frame
from inspector.session.card_fetch import GET_CARD, CardFetch, DocumentFetch
from inspector.session.exchange import CallContext, Exchange
from inspector.session.importers.har_file import HarEntry
from inspector.session.journal import Journal
from inspector.session.message_label import label_of
from inspector.session.recorder import Recorder
from inspector.session.tasks import TaskFold
from inspector.wire.client.observations import Body, Ended, Ending, Frames, Head, Observation, Sent

_DAY = 86_400
_PAYLOADS = ("json", "event-stream")
"""Words in the media types of responses over HTTP+JSON."""


@dataclass(slots=True)
class OtherExchange(DocumentFetch):
    """Records an exchange that is not a call of A2A."""

    def take_frames(self, seen: Frames) -> list[Record]:
        """Append the frames of a stream."""
        return self.append_payloads(Kind.FRAME, seen.at, [frame.raw for frame in seen.frames], "", "")

    def take_body(self, body: Body) -> list[Record]:
        """Append the body."""
        return self.append_payloads(Kind.BODY, body.at, [body.raw], "", self.content_type)


def recorder_for(entry: HarEntry, journal: Journal, tasks: TaskFold, *, others: bool) -> Recorder | None:
    """Return what records an entry; None if it is not a request of A2A, unless `others` are recorded, too."""
    call = _json_rpc(entry) or _rest(entry)
    if call is not None:
        return Exchange(journal, call.operation.value, call, tasks)
    path = entry.url.partition("#")[0].partition("?")[0]
    if entry.method == "GET" and path.endswith(CARD_PATHS):
        return CardFetch(journal, GET_CARD, entry.url)
    is_call = isinstance(value := parse(entry.body), dict) and "jsonrpc" in value and "method" in value
    return OtherExchange(journal, "", entry.url) if is_call or others else None


def _json_rpc(entry: HarEntry) -> CallContext | None:
    """Return the context of a JSON-RPC call with a method of A2A."""
    call = jsonrpc.decode_call(parse(entry.body)) if entry.body.lstrip().startswith(b"{") else None
    if call is None or isinstance(call, ProtocolError):
        return None
    found = [
        (dialect, operation)
        for dialect in (*ALL, *EXPERIMENTAL)
        for operation, method in dialect.methods.items()
        if method == call.method
    ]
    if not found:
        return None
    dialect, operation = _fitting(entry, found, call.params)
    request = dialect.decode_request(operation, call.params)
    return _context(operation, dialect, "JSONRPC", call.id, request)


def _rest(entry: HarEntry) -> CallContext | None:
    """Return the context of a call over HTTP+JSON, recognised by its method and path."""
    if entry.status and not any(word in entry.media_type for word in _PAYLOADS):
        return None
    found = [
        (dialect, operation)
        for dialect in (*ALL, *EXPERIMENTAL)
        if (operation := rest.operation_at(dialect, entry.method, entry.url))
    ]
    if not found:
        return None
    # The path of an older version can end like that of a newer version, but has another beginning.
    longest = max(len(dialect.routes[operation].path) for dialect, operation in found)
    found = [item for item in found if len(item[0].routes[item[1]].path) == longest]
    body = parse(entry.body) if entry.body else {}
    dialect, operation = _fitting(entry, found, body)
    request = dialect.decode_request(operation, rest.decode_params(dialect, operation, entry.url, body))
    return _context(operation, dialect, "HTTP+JSON", None, request)


def _fitting(entry: HarEntry, found: list[tuple[Dialect, Operation]], value: Json) -> tuple[Dialect, Operation]:
    """Return the dialect whose headers the request has, or else whose format its body has, or else the first."""
    for item in found:
        headers = item[0].headers
        if headers and all(entry.header(name.lower()) == expected for name, expected in headers.items()):
            return item
    shape = looks_like(value)
    return next((item for item in found if item[0].version == shape), found[0])


def _context(
    operation: Operation,
    dialect: Dialect,
    binding: str,
    request_id: str | float | None,
    request: Request | Unreadable,
) -> CallContext:
    known = None if isinstance(request, Unreadable) else request
    task, context, label = "", "", ""
    match known:
        case SendRequest():
            task, context = known.message.task_id or "", known.message.context_id or ""
            label = label_of(known.message)
        case TaskRequest():
            task = known.id
        case PushConfig() | PushConfigRequest():
            task = known.task_id or ""
    interface = {"JSONRPC": jsonrpc.BINDING, "HTTP+JSON": rest.BINDING}[binding]
    return CallContext(operation, dialect, interface, request_id, task, context, known, label=label)


def observations(entry: HarEntry) -> Iterator[Observation]:
    """Yield what was seen on the wire, with the times in the file."""
    yield Sent(entry.at, entry.method, entry.url, entry.headers, entry.body)
    answered, ended = entry.at + entry.wait, entry.at + entry.wait + entry.receive
    seconds = entry.wait + entry.receive
    if not entry.status:
        seen = f"The HAR file has no response: {entry.error or 'no reason is recorded'}."
        yield Ended(ended, Ending.BROKEN, seconds, 0, 0, fault=Fault(Whose.NETWORK, INVALID_RESPONSE, seen))
        return
    streamed = entry.media_type == jsonrpc.EVENT_STREAM
    yield Head(answered, entry.status, entry.reason, entry.version, entry.response_headers, streamed)
    content = entry.content or (_stream_of(entry) if entry.messages else b"")
    if entry.lacks_body:
        # Not broken: the response was complete, so that no rule about its end may accuse the agent.
        seen = "The HAR file does not contain the body of the response."
        yield Ended(ended, Ending.STOPPED, seconds, 0, 0, fault=Fault(Whose.YOURS, INVALID_RESPONSE, seen))
    elif streamed:
        decoder = Decoder(len(content) + 1)
        frames = decoder.feed(content)
        for frame, at in zip(frames, _arrivals(entry, frames, ended), strict=True):
            yield Frames(at, [frame])
        events = sum(frame.data is not None for frame in frames)
        yield Ended(ended, Ending.COMPLETE, seconds, events, len(content), decoder.rest)
    else:
        yield Body(ended, content)
        yield Ended(ended, Ending.COMPLETE, seconds, 0, len(content))


def _arrivals(entry: HarEntry, frames: list[Frame], ended: float) -> list[float]:
    """Return when each frame arrived: as recorded for its event, or else at the end of the response."""
    recorded = [_time(message.get("time"), entry.at) for message in entry.messages]
    if len(recorded) != sum(frame.data is not None for frame in frames) or not all(recorded):
        return [ended] * len(frames)
    times = chain(recorded)
    arrivals, last = list[float](), entry.at + entry.wait
    for frame in frames:
        last = max(last, min(next(times), ended)) if frame.data is not None else last
        arrivals.append(last)
    return arrivals


def _time(value: Json, began: float) -> float:
    """Return the time of an event, 0 if it is missing or of another clock."""
    return float(value) if is_number(value) and began - _DAY < value < began + _DAY else 0.0


def _stream_of(entry: HarEntry) -> bytes:
    """Return the stream with the recorded events, for a file that has only these."""
    blocks: list[str] = []
    for message in entry.messages:
        name, identity = message.get("eventName"), message.get("id") or message.get("eventId")
        lines = [f"event: {name}"] if name and name != "message" else []
        lines += [f"id: {identity}"] if identity else []
        lines += [f"data: {line}" for line in str(message.get("data", "")).split("\n")]
        blocks.append("\n".join(lines) + "\n\n")
    return "".join(blocks).encode("utf-8", "surrogatepass")
