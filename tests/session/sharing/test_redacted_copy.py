"""Copies of captures without secrets: what is masked, what stays readable, and what is checked afterwards."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from recorded_sessions import WAYS, Record

from inspector.capture.query import Query, parse
from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.findings.rules import finding
from inspector.protocol.errors import FaultError
from inspector.session.exporters.selection import Selection
from inspector.session.payload import payload_json
from inspector.session.replay.recording import Recording
from inspector.session.replay.validation import validated
from inspector.session.sharing.redacted_copy import BY_LOCATION, SEVERAL_EVENTS, Found, RedactedCopy, Rules

NOTHING_ELSE = Rules()


def redacted(path: Path, copy: Path, rules: Rules = NOTHING_ELSE, words: str = "") -> dict[str, Found]:
    """Write a copy, and return what each rule finds."""
    query = parse(words) if words else None
    assert query is None or isinstance(query, Query)
    with Capture.open(path, validated) as capture:
        made = RedactedCopy(Selection(capture, query), rules)
        made.write(copy)
        return {found.rule: found for found in made.found}


def patterns(*texts: str) -> Rules:
    return Rules(patterns=[re.compile(text) for text in texts])


def all_records(path: Path) -> list[Any]:
    with Capture.open(path, validated) as capture:
        return capture.select()


def decoded(path: Path) -> bytes:
    """Return everything in a capture as text: its columns, and its payloads as JSON."""
    with Capture.open(path, validated) as capture:
        return b"\n".join(
            repr(item).encode("utf-8", "surrogatepass")
            + payload_json(item, capture.get(item.exchange) if item.exchange else item)
            for item in capture.select()
        )


async def states(path: Path) -> Counter[str]:
    recording = Recording(path)
    for _ in recording.read():
        pass
    found = Counter(f"{task.answered.state} {task.pushed.state}" for task in recording.tasks.all())
    await recording.close()
    return found


def one(path: Path, raw: bytes = b"", **members: Any) -> Path:
    """Write a capture with one request of a message."""
    meta = {"method": "POST", "url": "https://agent.corp.net/a2a", "headers": [], **members.pop("meta", {})}
    with Capture.create(path) as capture:
        capture.append(Kind.REQUEST, 1.0, payloads=[(len(raw), raw)], meta=meta, **members)
    return path


@pytest.mark.parametrize(("version", "binding"), WAYS)
async def test_pseudonyms_are_consistent_in_every_record(record: Record, tmp_path: Path, version: str, binding: str):
    path, copy = await record(version, binding), tmp_path / "copy.a2a"
    before = path.read_bytes()
    redacted(path, copy, Rules(pseudonyms=True))
    assert path.read_bytes() == before
    old, new = all_records(path), all_records(copy)
    same = ("seq", "at", "kind", "exchange", "operation", "event", "state", "size")
    assert [[getattr(item, name) for name in same] for item in new] == [
        [getattr(item, name) for name in same] for item in old
    ]
    for name in ("task", "context"):
        pairs = {(getattr(first, name), getattr(second, name)) for first, second in zip(old, new, strict=True)}
        ids = {pair for pair in pairs if re.search(r"\d", pair[0])}
        assert ids
        assert len({first for first, _ in ids}) == len({second for _, second in ids}) == len(ids)
        assert all(second.startswith(f"{name}-") for _, second in ids)
        assert not any(first.encode() in decoded(copy) for first, _ in ids)
    assert await states(copy) == await states(path)
    deliveries = [item for item in new if item.kind is Kind.DELIVERY]
    assert deliveries
    assert all(item.task.encode() in item.raw for item in deliveries if item.task)


@pytest.mark.parametrize(("version", "binding"), WAYS)
async def test_a_pattern_is_masked_everywhere(record: Record, tmp_path: Path, version: str, binding: str):
    path, copy = await record(version, binding), tmp_path / "copy.a2a"
    assert b"echo hello" in decoded(path)
    found = redacted(path, copy, patterns("echo h[a-z]+", "(?:Mock )(Agent)"))
    assert b"echo hello" not in decoded(copy)
    assert b"Mock ****" in decoded(copy)
    assert {"label", "request body"} <= set(found["pattern echo h[a-z]+"].places)
    assert found["pattern (?:Mock )(Agent)"].values == {"Agent"}
    assert await states(copy) == await states(path)


def test_strings_headers_urls_and_numbers_are_masked(tmp_path: Path):
    raw = rb'{"a": "caf\u00e9-77777", "b": 77777, "c": {"caf\u00e9-77777": [1.50, "x\/y"]}, "d": "\ud800 77777"}'
    path = one(
        tmp_path / "one.a2a",
        raw,
        label="about café-77777",
        meta={"url": "https://agent.corp.net/77777?q=caf%C3%A9-77777", "headers": [("X-Id-77777", "a 77777 b")]},
        findings=[finding("STREAM-003", "saw 77777")],
    )
    redacted(path, tmp_path / "copy.a2a", patterns("café-[0-9]+", "77777"))
    [item] = all_records(tmp_path / "copy.a2a")
    assert item.raw == rb'{"a": "****", "b": "****", "c": {"****": [1.50, "x\/y"]}, "d": "\ud800 ****"}'
    assert (item.label, item.size) == ("about ****", len(raw))
    assert item.meta["url"] == "https://agent.corp.net/****?q=****"
    assert item.meta["headers"] == [["X-Id-****", "a **** b"]]
    assert item.findings[0].seen == "saw ****"


def test_hosts_and_addresses_get_pseudonyms(tmp_path: Path):
    raw = json.dumps(
        {
            "mail": "Ask jo.doe@corp.net or ann@corp.net, jo.doe@corp.net",
            "urls": ["https://Agent.Corp.net:8443/x", "http://10.1.2.3/y", "http://backend/z", "http://localhost:9/"],
            "text": "agent.corp.net is not myagent.corp.network, backend",
            "schema": "https://a2a-protocol.org/x",
        }
    ).encode()
    headers = [("Host", "agent.corp.net:8443"), ("Origin", "https://backend")]
    path = one(tmp_path / "one.a2a", raw, meta={"headers": headers})
    found = redacted(path, tmp_path / "copy.a2a", Rules(pseudonyms=True))
    [item] = all_records(tmp_path / "copy.a2a")
    first = "host-1.example"
    body = json.loads(item.raw)
    assert item.meta["url"] == f"https://{first}/a2a"
    assert item.meta["headers"][0] == ["Host", f"{first}:8443"]
    backend = item.meta["headers"][1][1].removeprefix("https://")
    assert body["mail"] == "Ask user-1@mail.example or user-2@mail.example, user-1@mail.example"
    address = body["urls"][1].split("/")[2]
    assert body["urls"] == [
        f"https://{first}:8443/x",
        f"http://{address}/y",
        f"http://{backend}/z",
        "http://localhost:9/",
    ]
    assert len({first, address, backend}) == 3
    assert body["text"] == f"{first} is not myagent.corp.network, backend"
    assert body["schema"] == "https://a2a-protocol.org/x"
    assert len(found["e-mail addresses"].values) == 2


def test_pseudonyms_are_not_names_that_the_capture_has(tmp_path: Path):
    raw = b'{"taskId": "task-1", "referenceTaskIds": ["0a5ba2a4-6c31-4b2c-9f41-1c5e9d0a7b33", "order-2026-77"]}'
    path = one(tmp_path / "one.a2a", raw, task="task-1")
    redacted(path, tmp_path / "copy.a2a", Rules(pseudonyms=True))
    [item] = all_records(tmp_path / "copy.a2a")
    assert item.raw == b'{"taskId": "task-1", "referenceTaskIds": ["task-2", "task-3"]}'


def test_secrets_by_location_are_masked_and_counted(tmp_path: Path):
    path = one(
        tmp_path / "one.a2a",
        b'{"password": "hunter22"}',
        meta={"url": "https://u:pw@agent.corp.net/?token=abc", "headers": [("Authorization", "Bearer abcdefgh1")]},
    )
    found = redacted(path, tmp_path / "copy.a2a")
    text = decoded(tmp_path / "copy.a2a")
    assert not any(secret in text for secret in (b"hunter22", b"u:pw", b"token=abc", b"abcdefgh1"))
    assert found[BY_LOCATION].places == {"header Authorization": 1, "URL": 1, "request body": 1}


def test_a_known_secret_is_masked_in_every_spelling(tmp_path: Path):
    path = one(tmp_path / "one.a2a", rb'{"x": "p\u0040ss w\/rd", "y": "p%40ss%20w%2Frd"}', label="p@ss w/rd")
    found = redacted(path, tmp_path / "copy.a2a", Rules({"secret PW": "p@ss w/rd"}))
    [item] = all_records(tmp_path / "copy.a2a")
    assert (json.loads(item.raw), item.label) == ({"x": "****", "y": "****"}, "****")
    assert found["secret PW"].places == {"label": 1, "request body": 1}


def test_the_beginning_of_a_value_at_the_end_of_a_label_is_masked(tmp_path: Path):
    label = ("x" * 188) + " CUSTOMER-77"
    path = one(tmp_path / "one.a2a", b'"for CUSTOMER-77123"', label=label)
    assert len(label) == 200
    redacted(path, tmp_path / "copy.a2a", patterns(r"CUSTOMER-\d{5}"))
    [item] = all_records(tmp_path / "copy.a2a")
    assert item.label == "x" * 188 + " ****"


@pytest.mark.parametrize("ended", [True, False])
def test_a_value_that_is_split_over_events_is_an_error(tmp_path: Path, ended: bool):
    path = tmp_path / "one.a2a"
    meta = {"method": "POST", "url": "http://localhost/", "headers": []}
    end = {"how": "complete", "events": 2, "bytes": 9, "seconds": 1.0}
    with Capture.create(path) as capture:
        [request] = capture.append(Kind.REQUEST, 1.0, meta=meta)
        for text in ("for CUST", "OMER-77 only"):
            raw = f'data: {{"text": "{text}"}}\n\n'.encode()
            capture.append(Kind.FRAME, 2.0, exchange=request.seq, payloads=[(len(raw), raw)], event="artifact")
        if ended:
            capture.append(Kind.END, 3.0, exchange=request.seq, meta=end)
    with pytest.raises(FaultError, match=SEVERAL_EVENTS):
        redacted(path, tmp_path / "copy.a2a", patterns(r"CUSTOMER-\d\d"))
    assert not (tmp_path / "copy.a2a").exists()


def test_a_copy_in_which_a_value_remains_is_deleted(tmp_path: Path):
    path = one(tmp_path / "one.a2a", b'"send it by POST"')
    with pytest.raises(FaultError, match="A masked value remains in record 1"):
        redacted(path, tmp_path / "copy.a2a", patterns("POST"))
    assert not list(tmp_path.glob("copy*"))


@pytest.mark.parametrize("pattern", [r"\b[a-z]{3}\b", "true"])
def test_a_value_that_cannot_be_masked_is_an_error(tmp_path: Path, pattern: str):
    path = one(tmp_path / "one.a2a", b'{"a": "abc true"}')
    with pytest.raises(FaultError, match="fewer than 4 characters"):
        redacted(path, tmp_path / "copy.a2a", patterns(pattern))


def test_metadata_of_grpc_in_base64_is_searched(tmp_path: Path):
    path = tmp_path / "one.a2a"
    meta = {"method": "POST", "url": "http://localhost/x", "headers": []}
    trailers = {"code": 5, "name": "NOT_FOUND", "message": "no CUSTOMER-77", "headers": []}
    trailers["headers"] = [
        ["grpc-status-details-bin", "CAUSDkNVU1RPTUVSLTc3IDo="],
        ["other-bin", "aGVsbG8="],
        ["two-bin", "AAE=,CAUSDkNVU1RPTUVSLTc3IDo="],
    ]
    with Capture.create(path) as capture:
        [request] = capture.append(Kind.REQUEST, 1.0, meta=meta)
        capture.append(Kind.TRAILERS, 2.0, exchange=request.seq, meta=trailers)
    redacted(path, tmp_path / "copy.a2a", patterns(r"CUSTOMER-\d\d"))
    _, item = all_records(tmp_path / "copy.a2a")
    assert item.meta["message"] == "no ****"
    assert item.meta["headers"] == [
        ["grpc-status-details-bin", "****"],
        ["other-bin", "aGVsbG8="],
        ["two-bin", "****"],
    ]


async def test_a_filter_chooses_the_exchanges_of_the_copy(record: Record, tmp_path: Path):
    path, copy = await record("1.0", "JSONRPC"), tmp_path / "copy.a2a"
    redacted(path, copy, words="state:failed")
    records = all_records(copy)
    assert {item.operation for item in records} == {"SendStreamingMessage"}
    assert {item.exchange for item in records} == {1}


def test_a_capture_is_not_overwritten(tmp_path: Path):
    path = one(tmp_path / "one.a2a", b"{}")
    before = path.read_bytes()
    with pytest.raises(Exception, match="exists already"):
        redacted(path, path)
    assert path.read_bytes() == before
