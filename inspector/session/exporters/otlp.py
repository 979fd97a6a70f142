"""The calls of a capture as client spans in OTLP JSON, after the OpenTelemetry draft for A2A (`otlp_names`).

A span covers a call from its request to the end of its response or stream. It contains ids, states, times and sizes,
but not the content of messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from inspector import PROGRAM, __version__
from inspector.capture.query import Condition, Query
from inspector.capture.records import HTTP_ERROR, Kind, Record
from inspector.protocol.bindings.grpc import OK
from inspector.protocol.bindings.rest import BINDING as HTTP_JSON
from inspector.protocol.dialects.registry import read_card
from inspector.protocol.errors import INVALID_RESPONSE, ProtocolError
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Json, SendRequest, Unreadable
from inspector.session.exporters import otlp_names as names
from inspector.session.exporters.selection import Selection
from inspector.session.payload import OPERATIONS
from inspector.session.replay.translate import canonical, decoded
from inspector.text.safe_json import dump
from inspector.wire.client.observations import Ending
from inspector.wire.endpoint import endpoint_of

_CLIENT = 3
"""The kind of a client span."""
_ERROR = 2
"""The status code of a failed span."""
MOST_EVENTS = 1_000
"""The most events of a span; further events are counted."""
_LOWEST_ERROR = 400
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?")
_CARDS = Query((Condition("kind", ":", "card"),))

Value = str | int | Sequence[str]


class _Card(NamedTuple):
    """The card of an agent: the record that has it, the hosts that it names, and the attributes of its agent."""

    seq: int
    hosts: frozenset[tuple[str, int]]
    attributes: Mapping[str, Value]


def write_capture(selection: Selection, warn: Callable[[str], None]) -> Iterator[str]:
    """Write the spans of the chosen calls as one request of OTLP, on one line."""
    first = True
    before, after = _envelope()
    yield before
    for span in spans(selection):
        yield dump(span) if first else f",{dump(span)}"
        first = False
    yield f"{after}\n"
    if first:
        warn("no call of A2A was chosen, so there are no spans")


def request_of(found: Sequence[Json]) -> str:
    """Return a request of OTLP with some spans."""
    before, after = _envelope()
    return f"{before}{','.join(map(dump, found))}{after}"


def _envelope() -> tuple[str, str]:
    """Return the JSON before and after the spans."""
    scope = {"name": PROGRAM, "version": __version__}
    resource = {"attributes": _attributes({"service.name": PROGRAM, "service.version": __version__})}
    whole = dump({"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": []}]}]})
    before, _, after = whole.partition('"spans":[')
    return f'{before}"spans":[', after


def spans(selection: Selection) -> Iterator[Json]:
    """Return the span of each chosen call."""
    cards = list(_cards(selection))
    used: set[str] = set()
    for number in selection.requests:
        request = selection.capture.get(number)
        if request.operation in OPERATIONS:
            yield _span(selection, selection.exchange(number), cards, _ids(request, used))


def _span(selection: Selection, records: list[Record], cards: Sequence[_Card], ids: tuple[str, str]) -> Json:
    request, end = records[0], records[-1]
    attributes: dict[str, Value] = {
        **_of_request(request),
        **_of_records(records),
        **_agent(request, cards),
        names.RECORD: request.seq,
    }
    failure = _failure(records, request)
    if failure is not None:
        attributes[names.ERROR_TYPE] = failure[0]
    trace, span = ids
    events = [event for record in records[1:] for event in _events(selection, record)]
    return {
        "traceId": trace,
        "spanId": span,
        "name": request.operation,
        "kind": _CLIENT,
        "startTimeUnixNano": _nanoseconds(selection.at(request)),
        "endTimeUnixNano": _nanoseconds(selection.at(end)),
        "attributes": _attributes(attributes),
        "events": events[:MOST_EVENTS],
        **({"droppedEventsCount": len(events) - MOST_EVENTS} if len(events) > MOST_EVENTS else {}),
        "status": {"code": _ERROR, "message": failure[1]} if failure else {},
    }


def _of_request(request: Record) -> dict[str, Value]:
    """Return the attributes that the request has."""
    found: dict[str, Value] = {names.METHOD: request.operation}
    value = canonical(request, request)
    if isinstance(value, SendRequest):
        found[names.MESSAGE_ID] = value.message.message_id
        if value.message.reference_task_ids:
            found[names.REFERENCES] = list(value.message.reference_task_ids)
    tenant = getattr(value, "tenant", None)
    if tenant:
        found[names.TENANT] = str(tenant)
    if request.meta.get("dialect"):
        found[names.PROTOCOL_VERSION] = str(request.meta["dialect"])
    host, port = _host(str(request.meta["url"]))
    if host:
        found |= {names.SERVER_ADDRESS: host, names.SERVER_PORT: port}
    return found


def _of_records(records: Sequence[Record]) -> dict[str, Value]:
    """Return the last task id, context id and task state in the records of a call."""
    found: dict[str, Value] = {}
    for record in records:
        if record.task:
            found[names.TASK_ID] = record.task
        if record.context:
            found[names.CONVERSATION] = record.context
        if record.state and record.kind in (Kind.BODY, Kind.FRAME):
            found[names.TASK_STATE] = record.state
    return found


def _failure(records: Sequence[Record], request: Record) -> tuple[str, str] | None:
    """Return the type and the description of the error of a call; None if it succeeded, or if the user stopped it."""
    status, invalid = 0, ""
    for record in records:
        match record.kind:
            case Kind.RESPONSE:
                status = int(record.meta["status"])
            case Kind.BODY | Kind.FRAME if record.event == "error":
                return _error_type(record, request, status), record.label
            case Kind.BODY if record.event in ("unreadable", HTTP_ERROR):
                invalid = record.label
            case Kind.TRAILERS if record.meta["code"] != OK:
                return str(record.meta["name"] or record.meta["code"]), record.label
            case Kind.END if record.meta["how"] in (Ending.BROKEN, Ending.LIMIT):
                return str(record.meta.get("code") or record.meta["how"]), record.label
    if status >= _LOWEST_ERROR:
        return str(status), invalid or f"HTTP status {status}"
    return (INVALID_RESPONSE, invalid) if invalid else None


def _error_type(record: Record, request: Record, status: int) -> str:
    answer = decoded(record, request, status)
    if request.meta.get("binding") == HTTP_JSON.name and status >= _LOWEST_ERROR:
        return str(status)
    code = answer.code if isinstance(answer, ProtocolError) else None
    return "_OTHER" if code is None else str(code)


def _events(selection: Selection, record: Record) -> Iterator[Json]:
    """Return an event for a frame, and for each finding about a record."""
    at = _nanoseconds(selection.at(record))
    if record.kind is Kind.FRAME:
        members: dict[str, Value] = {names.PAYLOAD: record.event, names.SIZE: record.size, names.RECORD: record.seq}
        if record.state:
            members[names.TASK_STATE] = record.state
        yield {"timeUnixNano": at, "name": names.FRAME_EVENT, "attributes": _attributes(members)}
    for finding in record.findings:
        members = {names.RULE: finding.rule, names.SEVERITY: finding.severity.value, names.RECORD: record.seq}
        yield {"timeUnixNano": at, "name": names.FINDING_EVENT, "attributes": _attributes(members)}


def _cards(selection: Selection) -> Iterator[_Card]:
    """Return the cards of the capture in order, also those that were not chosen."""
    capture = selection.capture
    found = (seq for page in capture.search(_CARDS) for seq in page.hits)
    for record in map(capture.get, found):
        value = parse(record.raw)
        card = read_card(value)[0] if isinstance(value, dict) else None
        if card is None or isinstance(card, Unreadable):
            continue
        members = {
            names.AGENT_NAME: card.name,
            names.AGENT_DESCRIPTION: card.description,
            names.AGENT_VERSION: card.version,
        }
        urls = [interface.url or "" for interface in card.supported_interfaces]
        if record.exchange:
            urls.append(str(capture.get(record.exchange).meta.get("url", "")))
        yield _Card(record.seq, frozenset(map(_host, urls)), {name: text for name, text in members.items() if text})


def _agent(request: Record, cards: Sequence[_Card]) -> Mapping[str, Value]:
    """Return the attributes of the agent: from the last card before the request that names its host."""
    host = _host(str(request.meta["url"]))
    return next((card.attributes for card in reversed(cards) if card.seq < request.seq and host in card.hosts), {})


def _host(url: str) -> tuple[str, int]:
    """Return the host and the port of a URL, an empty host if it has none."""
    endpoint = endpoint_of(url)
    return (endpoint.host, endpoint.port) if endpoint is not None else ("", 0)


def _ids(request: Record, used: set[str]) -> tuple[str, str]:
    """Return the ids of the trace and the span: those in the request, or else ids that depend on the request only.

    Several requests can have the same header, but not the same span: the ids of the spans before are `used`.
    """
    content = f"{request.at!r} {request.meta['url']} ".encode("utf-8", "surrogatepass") + request.raw
    digest = sha256(content).hexdigest()
    trace, span = digest[:32], digest[32:48]
    for name, value in request.meta["headers"]:
        if name.lower() == "traceparent" and (sent := _TRACEPARENT.fullmatch(value.strip())):
            trace, span = sent[1], span if sent[2] in used else sent[2]
            break
    used.add(span)
    return trace, span


def _nanoseconds(at: float) -> str:
    return str(round(at * 1_000_000) * 1_000)


def _attributes(members: Mapping[str, Value]) -> list[Json]:
    return [{"key": name, "value": _value(value)} for name, value in members.items()]


def _value(value: Value) -> Json:
    match value:
        case str():
            return {"stringValue": value}
        case int():
            return {"intValue": str(value)}
        case _:
            return {"arrayValue": {"values": [{"stringValue": item} for item in value]}}
