"""Recorded calls of official SDKs, which follow the specification, cause no error findings."""

from __future__ import annotations

import json
import re
import sys
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "protocol"))

from recordings import Exchange as HttpExchange
from recordings import GrpcCall, dialect_of, exchanges, grpc_calls, name_of, recordings

from inspector.capture.redaction import Redactor
from inspector.capture.store import Capture
from inspector.findings.finding import Severity
from inspector.protocol.bindings.grpc import DETAILS, STATUSES
from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.model import PushConfig, SendRequest, TaskRequest, Unreadable
from inspector.protocol.operations import STREAMING
from inspector.protocol.sse import Decoder, Frame
from inspector.session.exchange import CallContext, Exchange
from inspector.session.journal import Journal
from inspector.session.tasks import TaskFold
from inspector.wire.client.observations import Body, Ended, Ending, Frames, Head, Observation, Sent, Trailers

GRPC, JSONRPC = BINDINGS["GRPC"], BINDINGS["JSONRPC"]
WITHOUT_CALLS = {"10/grpc/errors_matrix", "opvs/grpc/paths"}
VIOLATIONS = {
    # SDK 0.2 changes a completed task to canceled.
    "02/jsonrpc/task_ops_nonblocking_get_pushcfg_cancelterminal_unknown": {"STREAM-003"},
}
"""The rules that the recorded agents violate."""
Play = tuple[CallContext, Sequence[Observation]]
"""A call, and what the client observes of it."""


def played_grpc(path: Path) -> list[Play]:
    dialect = dialect_of(path)
    return [of_grpc(call, dialect) for call in grpc_calls(path)]


def of_grpc(call: GrpcCall, dialect: Dialect) -> Play:
    operation = call.operation(dialect)
    value = GRPC.read(dialect, operation, call.sent, True)
    request = dialect.decode_request(operation, value)
    code = int(call.trailers["grpc-status"])
    details = ((DETAILS, b64encode(call.details).decode()),) if call.details else ()
    streamed = operation in STREAMING
    seen: list[Observation] = [
        Sent(call.began, "POST", f"http://x{call.path}", tuple(call.sent_headers.items()), call.sent),
        Head(call.began, 200, "OK", "HTTP/2", tuple(call.headers.items()), streamed),
        *(Frames(at, [Frame(raw, raw)]) if streamed else Body(at, raw) for at, raw in call.messages),
        Trailers(call.ended, code, STATUSES[code], call.trailers.get("grpc-message", ""), details),
        Ended(call.ended, Ending.COMPLETE, call.ended - call.began, len(call.messages), 1),
    ]
    return CallContext(operation, dialect, GRPC, "id", *ids_of(request), request), seen


def played_jsonrpc(path: Path) -> list[Play]:
    dialect = dialect_of(path)
    calls = [call for call in exchanges(path) if call.request.start.startswith("POST")]
    return [of_jsonrpc(call, dialect) for call in calls if call.operation(dialect)]


def of_jsonrpc(call: HttpExchange, dialect: Dialect) -> Play:
    operation, asked, response = call.operation(dialect), json.loads(call.request.body), call.response
    assert operation
    request = dialect.decode_request(operation, asked.get("params", {}))
    assert not isinstance(request, Unreadable)
    streamed, status = response.is_stream, int(response.start.split()[1])
    ending = Ending.COMPLETE if response.complete else Ending.STOPPED
    seen: list[Observation] = [
        Sent(1.0, "POST", "http://x/", tuple(call.request.headers.items()), call.request.body),
        Head(1.0, status, "", "HTTP/1.1", tuple(response.headers.items()), streamed),
        Frames(2.0, Decoder().feed(response.body)) if streamed else Body(2.0, response.body),
        Ended(3.0, ending, 2.0, 1, len(response.body)),
    ]
    return CallContext(operation, dialect, JSONRPC, asked.get("id"), *ids_of(request), request), seen


def ids_of(request: Any) -> tuple[str, str]:
    """Return the task and the context of a request."""
    match request:
        case SendRequest():
            return request.message.task_id or "", request.message.context_id or ""
        case TaskRequest():
            return request.id, ""
        case PushConfig():
            return request.task_id or "", ""
        case _:
            return "", ""


def errors_in(plays: list[Play], folder: Path) -> set[tuple[str, str, str]]:
    """Record calls one after the other, and return their error findings."""
    with Capture.create(folder / "capture") as capture:
        journal = Journal(capture, Redactor())
        tasks = TaskFold(journal.exchanges)
        for context, observations in plays:
            exchange = Exchange(journal, context.operation.value, context, tasks)
            for seen in observations:
                exchange.take(seen)
        found = [finding for record in capture.slice(1, 10_000) for finding in record.findings]
    return {(item.rule, item.pointer, item.seen) for item in found if item.severity is Severity.ERROR}


def has_one_connection(path: Path) -> bool:
    """Return whether the calls of a recording do not overlap."""
    return len(set(re.findall(rb"^>>> (\[\d+\])", path.read_bytes(), re.MULTILINE))) == 1


OVER_GRPC = [path for path in recordings("grpc") if name_of(path) not in WITHOUT_CALLS]
OVER_JSONRPC = [path for path in recordings("jsonrpc") if has_one_connection(path)]


@pytest.mark.parametrize("path", OVER_GRPC, ids=name_of)
def test_recorded_grpc_calls_have_no_error_findings(path: Path, tmp_path: Path):
    plays = played_grpc(path)
    assert plays
    assert errors_in(plays, tmp_path) == set()


@pytest.mark.parametrize("path", OVER_JSONRPC, ids=name_of)
def test_recorded_jsonrpc_calls_have_only_the_error_findings_that_are_known(path: Path, tmp_path: Path):
    errors = errors_in(played_jsonrpc(path), tmp_path)
    assert {rule for rule, _, _ in errors} == VIOLATIONS.get(name_of(path), set()), errors


def test_the_recordings_are_read_completely():
    calls = [call for path in OVER_GRPC for call in grpc_calls(path)]
    assert len(calls) == 113
    assert sum(len(call.messages) for call in calls) == 147
    assert sum(bool(call.details) for call in calls) == 10
    assert sum(len(played_jsonrpc(path)) for path in OVER_JSONRPC) > 100
