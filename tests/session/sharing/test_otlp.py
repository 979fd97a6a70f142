"""OTLP JSON: spans have the attributes of the OpenTelemetry draft for A2A."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recorded_sessions import WAYS, Record

from inspector.capture.records import Common, Kind
from inspector.capture.store import Capture
from inspector.findings.rules import finding
from inspector.protocol.lifecycle import State
from inspector.protocol.model import Message, Part, SendRequest
from inspector.protocol.operations import Operation
from inspector.session.exporters import otlp
from inspector.session.exporters.selection import Selection
from inspector.session.replay.validation import validated


def written(path: Path) -> dict[str, Any]:
    warnings: list[str] = []
    with Capture.open(path, validated) as capture:
        text = "".join(otlp.write_capture(Selection(capture), warnings.append))
    assert text.count("\n") == 1
    assert not warnings
    return dict(json.loads(text))


def spans(path: Path) -> list[dict[str, Any]]:
    [resource] = written(path)["resourceSpans"]
    [scope] = resource["scopeSpans"]
    return list(scope["spans"])


def attributes(owner: dict[str, Any]) -> dict[str, Any]:
    def value(item: dict[str, Any]) -> Any:
        [(kind, content)] = item.items()
        match kind:
            case "intValue":
                return int(content)
            case "arrayValue":
                return [value(each) for each in content["values"]]
            case _:
                return content

    return {item["key"]: value(item["value"]) for item in owner["attributes"]}


@pytest.mark.parametrize(("version", "binding"), WAYS)
async def test_every_call_is_a_client_span(record: Record, version: str, binding: str):
    path = await record(version, binding)
    with Capture.open(path, validated) as capture:
        records = capture.select()
    requests = [item for item in records if item.kind is Kind.REQUEST and item.operation in set(Operation)]
    found = spans(path)
    assert [span["name"] for span in found] == [item.operation for item in requests]
    assert {span["kind"] for span in found} == {3}
    for span, request in zip(found, requests, strict=True):
        known = attributes(span)
        own = [item for item in records if item.exchange == request.seq]
        assert known["a2a.method.name"] == request.operation
        assert known["a2a.protocol.version"] == version
        assert (known["server.address"], known["gen_ai.agent.name"]) == ("127.0.0.1", "Mock Agent")
        assert isinstance(known["server.port"], int)
        start, end = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
        assert start == pytest.approx(request.at * 1e9, abs=2000)
        assert end == pytest.approx(own[-1].at * 1e9, abs=2000)
        frames = [item for item in own if item.kind is Kind.FRAME]
        times = [int(event["timeUnixNano"]) for event in span["events"] if event["name"] == "a2a_inspect.frame"]
        assert times == [pytest.approx(frame.at * 1e9, abs=2000) for frame in frames]
    stream, message, failed, unknown, _ = map(attributes, found)
    assert stream["a2a.task.state"] == State.COMPLETED
    assert {"a2a.message.id", "a2a.task.id", "gen_ai.conversation.id"} <= stream.keys()
    assert "a2a.task.id" not in message
    assert "error.type" not in stream
    assert failed["a2a.task.state"] == State.FAILED
    assert "error.type" not in failed  # the call succeeded, the task failed
    assert unknown["a2a.task.id"] == "unknown"
    assert unknown["error.type"] == {"JSONRPC": "-32001", "HTTP+JSON": "404", "GRPC": "NOT_FOUND"}[binding]
    assert [span["status"].get("code") for span in found] == [None, None, None, 2, None]


async def test_ids_are_the_same_in_every_export(record: Record):
    path = await record("1.0", "JSONRPC")
    found = spans(path)
    assert found == spans(path)
    assert all(len(span["traceId"]) == 32 and len(span["spanId"]) == 16 for span in found)
    assert len({span["traceId"] for span in found}) == len(found)


async def test_the_trace_of_the_request_is_kept(record: Record, tmp_path: Path):
    path = await record("1.0", "JSONRPC")
    trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    with Capture.open(path, validated) as capture, Capture.create(tmp_path / "traced.a2a") as copy:
        for item in capture.select():
            meta = dict(item.meta)
            if item.kind is Kind.REQUEST:
                meta["headers"] = [*meta["headers"], ("Traceparent", f"00-{trace}-{span}-01")]
            copy.add(Common(*item[2:10]), item.at, [(item.size, item.raw)], meta)
    found = spans(tmp_path / "traced.a2a")
    assert {item["traceId"] for item in found} == {trace}
    assert found[0]["spanId"] == span
    assert len({item["spanId"] for item in found}) == len(found) > 1, "each call is a span of its own"


async def test_the_agent_is_known_from_an_interface_over_grpc_without_a_port(tmp_path: Path):
    interface = {"url": "agent.example", "protocolBinding": "GRPC", "protocolVersion": "1.0"}
    card = json.dumps({"name": "Mock Agent", "supportedInterfaces": [interface]}).encode()
    meta = {"method": "POST", "url": "http://agent.example:80/x", "headers": [], "dialect": "1.0", "binding": "GRPC"}
    with Capture.create(tmp_path / "one.a2a") as capture:
        capture.append(Kind.NOTE, 1.0, event="card", payloads=[(len(card), card)])
        capture.append(Kind.REQUEST, 1.0, operation="GetTask", meta=meta)
    [span] = spans(tmp_path / "one.a2a")
    assert attributes(span)["gen_ai.agent.name"] == "Mock Agent"


async def test_references_and_the_tenant_are_attributes(tmp_path: Path):
    message = Message(message_id="m", role="ROLE_USER", parts=[Part(text="hi")], reference_task_ids=["a", "b"])
    request = SendRequest(message=message, tenant="billing").to_json()
    raw = json.dumps({"jsonrpc": "2.0", "id": "1", "method": "SendMessage", "params": request}).encode()
    meta = {"method": "POST", "url": "https://agent.example/x", "headers": [], "dialect": "1.0", "binding": "JSONRPC"}
    end = {"how": "broken", "events": 0, "bytes": 0, "seconds": 1.0, "code": "A2ACLI_ERR_UNREACHABLE"}
    with Capture.create(tmp_path / "one.a2a") as capture:
        [first] = capture.append(Kind.REQUEST, 1.0, operation="SendMessage", payloads=[(len(raw), raw)], meta=meta)
        capture.append(
            Kind.END,
            2.0,
            exchange=first.seq,
            operation="SendMessage",
            meta=end,
            label="refused",
            findings=[finding("STREAM-003", "x")],
        )
    [span] = spans(tmp_path / "one.a2a")
    known = attributes(span)
    assert known["a2a.message.reference_task_ids"] == ["a", "b"]
    assert known["a2a.tenant"] == "billing"
    assert (known["server.address"], known["server.port"]) == ("agent.example", 443)
    assert known["error.type"] == "A2ACLI_ERR_UNREACHABLE"
    assert span["status"] == {"code": 2, "message": "refused"}
    [event] = span["events"]
    assert attributes(event)["a2a_inspect.rule"] == "STREAM-003"


async def test_the_content_of_messages_is_not_part_of_spans(record: Record):
    path = await record("1.0", "JSONRPC")
    assert "report 3" not in json.dumps(written(path))


async def test_events_beyond_the_limit_are_counted(record: Record, monkeypatch: pytest.MonkeyPatch):
    path = await record("1.0", "JSONRPC")
    total = len(spans(path)[0]["events"])
    monkeypatch.setattr(otlp, "MOST_EVENTS", 2)
    first = spans(path)[0]
    assert (len(first["events"]), first["droppedEventsCount"]) == (2, total - 2)
