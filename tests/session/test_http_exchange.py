"""The HTTP text of a recorded exchange, and the summary of its findings and errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.capture.records import Kind, Record
from inspector.capture.redaction import Redactor
from inspector.capture.store import Capture
from inspector.findings.finding import Finding, Severity
from inspector.session.exporters.http_exchange import MOST_EVENTS, HttpExchange
from inspector.session.journal import Journal
from inspector.session.replay.validation import validated

REQUEST = Record(
    1,
    0.0,
    Kind.REQUEST,
    1,
    raw=b'{"a": 1}',
    meta={"method": "POST", "url": "http://agent/rpc", "headers": [["Accept", "text/event-stream"]]},
)


def response(content_type: str) -> Record:
    meta = {"status": 200, "http": "HTTP/1.1", "headers": [["Content-Type", content_type]]}
    return Record(2, 0.1, Kind.RESPONSE, 1, label="200 OK", meta=meta)


def raw(record: Record) -> bytes:
    return record.raw


def test_the_request_is_http_text():
    text = 'POST http://agent/rpc\nAccept: text/event-stream\n\n{"a": 1}'
    assert HttpExchange.of([REQUEST]).request_text(raw) == text


def test_the_reason_replaces_a_request_that_cannot_be_read():
    note = validated(REQUEST._replace(meta={}))
    exchange = HttpExchange.of([note, response("application/json")])
    assert exchange.request_text(raw).startswith("This record of the capture file cannot be read: its method")


def test_without_a_response_there_is_no_text():
    exchange = HttpExchange.of([REQUEST])
    assert (exchange.response_text(raw), exchange.newest) == ("", REQUEST)


def test_a_body_follows_the_headers_of_its_response():
    body = Record(3, 0.2, Kind.BODY, 1, raw=b'{"b": 2}')
    exchange = HttpExchange.of([REQUEST, response("application/json"), body])
    assert exchange.response_text(raw) == 'HTTP/1.1 200 OK\nContent-Type: application/json\n\n{"b": 2}'
    assert exchange.newest == body
    assert not exchange.streamed


def test_the_body_of_a_stream_has_its_first_events():
    frames = [Record(3 + n, 0.2, Kind.FRAME, 1, raw=f"data: {n}\n\n".encode()) for n in range(MOST_EVENTS + 2)]
    exchange = HttpExchange.of([REQUEST, response("text/event-stream"), *frames])
    assert exchange.streamed
    assert exchange.response_body(lambda _: b"decoded").startswith(b"data: 0\n\ndata: 1\n\n")
    assert (len(exchange.bodies), exchange.omitted) == (MOST_EVENTS, True)


def test_the_messages_of_a_grpc_stream_are_shown_decoded():
    frames = [Record(3 + n, 0.2, Kind.FRAME, 1, raw=b"\0") for n in range(2)]
    exchange = HttpExchange.of([REQUEST, response("application/grpc"), *frames])
    assert exchange.response_body(lambda record: f"message {record.seq}".encode()) == b"message 3\nmessage 4"


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Capture.create(tmp_path / "new.a2a") as capture:
        yield Journal(capture, Redactor())


def finding(severity: Severity, pointer: str = "") -> Finding:
    return Finding("CARD-001", severity, pointer, "seen")


def test_the_worst_severity_and_the_error_of_an_exchange_are_known(journal: Journal):
    meta = {"method": "POST", "url": "http://agent/", "headers": []}
    [request] = journal.append(Kind.REQUEST, 1.0, operation="SendMessage", meta=meta)
    number = request.seq
    journal.append(Kind.RESPONSE, 1.1, exchange=number, meta={"status": 200, "headers": []}, label="200 OK")
    summary = journal.exchanges.get(number)
    assert summary is not None
    assert (summary.worst, summary.error, journal.worst) == (None, "", None)
    found = [finding(Severity.HINT), finding(Severity.WARNING)]
    journal.append(Kind.BODY, 1.2, exchange=number, event="error", label="-32001 TaskNotFoundError", findings=found)
    assert (summary.worst, summary.error) == (Severity.WARNING, "-32001 TaskNotFoundError")
    assert journal.worst is Severity.WARNING


def test_a_card_that_is_fetched_again_is_counted_once(journal: Journal):
    found = [finding(Severity.ERROR, "/a"), finding(Severity.ERROR, "/b")]
    for findings in (found, found, found[:1], found):
        journal.append(Kind.NOTE, 1.0, event="card", findings=findings)
    assert journal.found == {"CARD-001": [1, 1, 3, 4, 4]}


def test_a_long_exchange_is_read_from_a_capture_in_part(tmp_path: Path):
    with Capture.create(tmp_path / "one.a2a") as capture:
        [request] = capture.append(Kind.REQUEST, 1.0, meta=REQUEST.meta)
        capture.append(Kind.RESPONSE, 2.0, exchange=request.seq, meta=response("text/event-stream").meta)
        for number in range(MOST_EVENTS + 2):
            capture.append(Kind.FRAME, 3.0, exchange=request.seq, payloads=[(1, b"%d" % number)])
        capture.append(Kind.END, 4.0, exchange=request.seq)
        exchange = HttpExchange.read(capture, request.seq)
        whole = HttpExchange.of(capture.select(exchange=request.seq))
    assert exchange == whole
    assert (len(exchange.bodies), exchange.omitted, exchange.end is not None) == (MOST_EVENTS, True, True)
