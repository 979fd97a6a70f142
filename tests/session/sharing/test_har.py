"""HAR: exports are valid HAR 1.2 and are imported without loss; files of other programs are read and masked."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from recorded_sessions import WAYS, Record

from inspector.capture.query import Query, parse
from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.protocol.errors import FaultError
from inspector.session.exporters import check_file
from inspector.session.exporters.har import write_capture
from inspector.session.exporters.selection import Selection
from inspector.session.importers import har_file
from inspector.session.importers.har import Imported, import_har
from inspector.session.replay.recording import Recording
from inspector.session.replay.validation import validated


def exported(path: Path, words: str = "") -> str:
    query = parse(words) if words else None
    assert query is None or isinstance(query, Query)
    with Capture.open(path, validated) as capture:
        return "".join(write_capture(Selection(capture, query), lambda _: None))


def imported(text: str | bytes, path: Path, **options: Any) -> Imported:
    har = path.with_suffix(".har")
    har.write_bytes(text if isinstance(text, bytes) else text.encode())
    with Capture.create(path) as capture:
        return import_har(har, capture, **options)


def all_records(path: Path) -> list[Any]:
    with Capture.open(path, validated) as capture:
        return capture.select()


@pytest.mark.parametrize(("version", "binding"), WAYS)
async def test_an_export_is_imported_without_loss(record: Record, tmp_path: Path, version: str, binding: str):
    path = await record(version, binding)
    text = exported(path)
    imported(text, tmp_path / "second.a2a")
    assert exported(tmp_path / "second.a2a") == text
    assert all_records(tmp_path / "second.a2a") == all_records(path)


@pytest.mark.parametrize("words", ["op:SendStreamingMessage", "kind:delivery", "state:failed", "-kind:request"])
async def test_a_part_of_a_capture_is_imported_without_loss(record: Record, tmp_path: Path, words: str):
    path = await record("1.0", "JSONRPC")
    text = exported(path, words)
    imported(text, tmp_path / "part.a2a")
    assert exported(tmp_path / "part.a2a") == text
    records = all_records(tmp_path / "part.a2a")
    assert 0 < len(records) <= len(all_records(path))
    assert all(records[record.exchange - 1].kind is Kind.REQUEST for record in records if record.exchange)


def test_references_between_records_are_renumbered(tmp_path: Path):
    with Capture.create(tmp_path / "more.a2a") as capture:
        capture.append(Kind.NOTE, 1.0, label="another")
        [kept] = capture.append(Kind.NOTE, 2.0, label="kept")
        capture.append(Kind.NOTE, 3.0, event="bookmark", meta={"about": kept.seq}, label="kept mark")
        capture.append(Kind.NOTE, 4.0, event="forward", meta={"delivery": 1, "to": "x"}, label="kept forward")
    imported(exported(tmp_path / "more.a2a", "kept"), tmp_path / "part.a2a")
    first, mark, forward = all_records(tmp_path / "part.a2a")
    assert (first.seq, mark.meta["about"]) == (1, 1)
    assert forward.meta == {"delivery": 0, "to": "x"}


async def test_entries_have_what_har_readers_show(record: Record):
    path = await record("1.0", "JSONRPC")
    records = all_records(path)
    log = json.loads(exported(path))["log"]
    assert log["version"] == "1.2"
    assert len(log["entries"]) == sum(item.kind in (Kind.REQUEST, Kind.DELIVERY) for item in records)
    for entry in log["entries"]:
        assert {"startedDateTime", "time", "request", "response", "cache", "timings"} <= entry.keys()
        assert entry["time"] >= 0
        timings = entry["timings"]
        assert timings["send"] + timings["wait"] + timings["receive"] == pytest.approx(entry["time"], abs=0.01)
    [first, *_] = [entry for entry in log["entries"] if "_eventSourceMessages" in entry]
    request = next(item for item in records if item.operation == "SendStreamingMessage")
    frames = [item for item in records if item.kind is Kind.FRAME and item.exchange == request.seq]
    assert first["request"]["postData"]["text"].encode() == request.raw
    assert first["response"]["content"]["text"].encode() == b"".join(frame.raw for frame in frames)
    messages = first["_eventSourceMessages"]
    assert [message["time"] for message in messages] == [frame.at for frame in frames]
    assert [f"data: {message['data']}\n\n".encode() for message in messages] == [frame.raw for frame in frames]
    assert set(messages[0]) == {"type", "time", "id", "eventName", "data"}
    [delivery, *_] = [entry for entry in log["entries"] if entry.get("comment", "").startswith("a webhook")]
    assert delivery["request"]["url"].startswith("http://127.0.0.1:")
    assert delivery["response"]["status"] in (200, 204)


async def test_bytes_that_are_not_utf_8_are_base64(record: Record):
    path = await record("1.0", "GRPC")
    sent = next(item for item in all_records(path) if item.operation == "SendStreamingMessage")
    log = json.loads(exported(path))["log"]
    entry = next(entry for entry in log["entries"] if entry.get("comment") == "SendStreamingMessage")
    data, content = entry["request"]["postData"], entry["response"]["content"]
    body = b64decode(data["text"]) if "_encoding" in data else data["text"].encode()
    assert body == sent.raw
    assert content["encoding"] == "base64"
    assert len(b64decode(content["text"])) == content["size"]


async def states(path: Path) -> dict[str, str]:
    """Return the state of each task of a capture, as the app shows it."""
    recording = Recording(path)
    for _ in recording.read():
        pass
    found = {task.id: task.answered.state for task in recording.tasks.all()}
    await recording.close()
    return found


def foreign(text: str, change: Callable[[dict[str, Any]], object] = lambda _: None) -> str:
    """Return an export as another program would write it."""
    har = json.loads(text)
    har["log"]["creator"]["name"] = "a browser"
    del har["log"]["_records"]
    for entry in har["log"]["entries"]:
        del entry["_records"]
        change(entry)
    return json.dumps(har)


@pytest.mark.parametrize(("version", "binding"), [way for way in WAYS if way[1] != "GRPC"])
async def test_a_foreign_file_is_read_like_the_traffic_of_a_session(
    record: Record, tmp_path: Path, version: str, binding: str
):
    path = await record(version, binding)
    result = imported(foreign(exported(path)), tmp_path / "foreign.a2a")
    assert result.left_out == sum(item.kind is Kind.DELIVERY for item in all_records(path))

    def essence(records: list[Any]) -> list[Any]:
        wanted = (Kind.REQUEST, Kind.RESPONSE, Kind.BODY, Kind.FRAME, Kind.END)
        chosen = [item for item in records if item.kind in wanted]
        chosen.sort(key=lambda item: (item.exchange, item.seq))
        return [(item.kind, item.operation, item.event, item.task, item.state, item.label, item.raw) for item in chosen]

    own, other = essence(all_records(path)), essence(all_records(tmp_path / "foreign.a2a"))
    assert [item[:5] for item in other] == [item[:5] for item in own]
    assert [item[6] for item in other] == [item[6] for item in own]
    assert await states(tmp_path / "foreign.a2a") == await states(path)


async def test_the_times_of_events_in_a_foreign_file_are_used(record: Record, tmp_path: Path):
    path = await record("1.0", "JSONRPC")

    def later(entry: dict[str, Any]) -> None:
        for number, message in enumerate(entry.get("_eventSourceMessages", ())):
            message["time"] += 100 * number
        entry["time"] += 10_000_000
        entry["timings"]["receive"] += 10_000_000

    imported(foreign(exported(path), later), tmp_path / "times.a2a")
    records = all_records(tmp_path / "times.a2a")
    request = next(item for item in records if item.operation == "SendStreamingMessage")
    times = [item.at for item in records if item.kind is Kind.FRAME and item.exchange == request.seq]
    assert [later - earlier for earlier, later in pairwise(times)] == pytest.approx([100] * (len(times) - 1), abs=5)


async def test_a_stream_is_restored_from_its_events_if_the_file_has_no_content(record: Record, tmp_path: Path):
    path = await record("1.0", "JSONRPC")

    def without(entry: dict[str, Any]) -> None:
        if "_eventSourceMessages" in entry:
            del entry["response"]["content"]["text"]

    imported(foreign(exported(path), without), tmp_path / "events.a2a")
    frames = [
        [item.raw for item in all_records(file) if item.kind is Kind.FRAME] for file in (path, tmp_path / "events.a2a")
    ]
    assert frames[0] == frames[1]


async def test_the_secrets_of_a_foreign_file_are_masked_everywhere(record: Record, tmp_path: Path):
    path = await record("1.0", "JSONRPC")
    secret = "s3cret-t0ken-of-a-user"

    def leak(entry: dict[str, Any]) -> None:
        entry["request"]["headers"] += [
            {"name": "Authorization", "value": f"Bearer {secret}"},
            {"name": "Cookie", "value": "sid=another-secret-value"},
        ]
        content = entry["response"]["content"]
        if "text" in content:
            content["text"] = content["text"].replace("report", f"report {secret}")
        entry["request"]["url"] += f"?access_token={secret}"

    imported(foreign(exported(path), leak), tmp_path / "masked.a2a")
    for value in (secret.encode(), b"another-secret-value"):
        assert value not in (tmp_path / "masked.a2a").read_bytes()
    assert any(b"report ****" in item.raw for item in all_records(tmp_path / "masked.a2a"))


def entry(**members: Any) -> dict[str, Any]:
    """An entry of another program: a message that was answered."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": {"messageId": "m"}}}
    return {
        "startedDateTime": "2026-01-02T03:04:05.678Z",
        "time": 12.5,
        "request": {
            "method": "POST",
            "url": "http://agent.example/a2a",
            "headers": [{"name": "Content-Type", "value": "application/json"}],
            "postData": {"mimeType": "application/json", "text": json.dumps(body)},
        },
        "response": {
            "status": 200,
            "statusText": "OK",
            "httpVersion": "HTTP/2",
            "headers": [{"name": "content-type", "value": "application/json"}, {"name": ":status", "value": "200"}],
            "content": {"size": 2, "mimeType": "application/json", "text": "{}"},
        },
        "timings": {"send": 0, "wait": 10, "receive": 2.5, "blocked": -1},
        **members,
    }


def log(*entries: Any, **members: Any) -> str:
    return json.dumps({"log": {"version": "1.2", "entries": list(entries), **members}})


@pytest.mark.parametrize(
    "time", [10**400, -(10**400), 1e300, None, True, "now"], ids=["huge", "negative", "large", "null", "true", "text"]
)
def test_events_with_an_invalid_time_arrive_at_the_end(tmp_path: Path, time: Any):
    stream = entry(_eventSourceMessages=[{"time": time, "data": "{}"}])
    stream["response"]["headers"][0]["value"] = "text/event-stream"
    stream["response"]["content"]["text"] = "data: {}\n\n"
    imported(log(stream), tmp_path / "stream.a2a")
    records = all_records(tmp_path / "stream.a2a")
    [frame] = [item for item in records if item.kind is Kind.FRAME]
    assert frame.at == records[-1].at


def test_other_traffic_is_left_out_unless_it_is_wanted(tmp_path: Path):
    page = entry(request={"method": "GET", "url": "https://example.com/tasks/1", "headers": []})
    page["response"]["headers"][0]["value"] = "text/html"
    page["response"]["content"]["text"] = "<html>"
    unknown = entry()
    unknown["request"]["postData"]["text"] = '{"jsonrpc": "2.0", "id": 1, "method": "message/sned"}'
    text = log(page, entry(), unknown)
    assert imported(text, tmp_path / "calls.a2a").left_out == 1
    operations = [item.operation for item in all_records(tmp_path / "calls.a2a") if item.kind is Kind.REQUEST]
    assert operations == ["SendMessage", ""]
    assert imported(text, tmp_path / "all.a2a", others=True).left_out == 0
    assert sum(item.kind is Kind.REQUEST for item in all_records(tmp_path / "all.a2a")) == 3


@pytest.mark.parametrize("verb", ["GET", "POST"])
def test_a_subscription_is_recognised_by_either_method(tmp_path: Path, verb: str):
    update = {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}
    stream = entry(
        request={
            "method": verb,
            "url": "http://agent.example/a2a/tasks/t:subscribe",
            "headers": [{"name": "A2A-Version", "value": "1.0"}],
        }
    )
    stream["response"]["headers"][0]["value"] = "text/event-stream"
    stream["response"]["content"]["text"] = f"data: {json.dumps({'statusUpdate': update})}\n\n"
    imported(log(stream), tmp_path / "stream.a2a")
    records = all_records(tmp_path / "stream.a2a")
    assert [records[0].operation, records[0].task] == ["SubscribeToTask", "t"]
    assert [finding for record in records for finding in record.findings if finding.rule == "HTTP-001"] == []


def test_a_request_without_a_message_is_part_of_a_check_file(tmp_path: Path):
    empty = entry()
    empty["request"]["postData"]["text"] = '{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": null}'
    imported(log(empty), tmp_path / "empty.a2a")
    with Capture.open(tmp_path / "empty.a2a", validated) as capture:
        text = "".join(check_file.write_capture(Selection(capture), lambda _: None))
    assert "SendMessage" in text


def test_a_request_without_a_response_ends_broken(tmp_path: Path):
    broken = entry(response={"status": 0, "_error": "net::ERR_CONNECTION_REFUSED", "content": {"size": 0}})
    bare = entry()
    del bare["response"]["content"]["text"]
    imported(log(broken, bare), tmp_path / "broken.a2a")
    ends = [item for item in all_records(tmp_path / "broken.a2a") if item.kind is Kind.END]
    assert ["net::ERR_CONNECTION_REFUSED" in ends[0].label, ends[0].meta["how"]] == [True, "broken"]
    assert "does not contain the body" in ends[1].label


def test_the_unknown_times_and_sizes_of_playwright_are_read(tmp_path: Path):
    unknown = {"send": -1, "wait": -1, "receive": -1}
    failed = entry(
        time=-1,
        response={"status": -1, "_failureText": "net::ERR_ABORTED", "content": {"size": -1, "mimeType": "x-unknown"}},
        timings=unknown,
    )
    omitted, deleted = entry(), entry()
    for made, status in ((omitted, 200), (deleted, 204)):
        made["response"] |= {"status": status, "content": {"size": -1, "mimeType": "x-unknown"}}
    assert imported(log(failed, omitted, deleted), tmp_path / "playwright.a2a").without_body == 1
    records = all_records(tmp_path / "playwright.a2a")
    labels = {item.exchange: item.label for item in records if item.kind is Kind.END}
    first, second, third = sorted(labels)
    assert "net::ERR_ABORTED" in labels[first]
    assert "does not contain the body" in labels[second]
    assert "does not contain the body" not in labels[third]
    assert [finding for item in records if item.exchange == second for finding in item.findings] == []


def with_member(path: str, value: Any) -> dict[str, Any]:
    """Return an entry with another value of a member."""
    made: Any = entry()
    *owners, name = path.split("/")
    place = made
    for owner in owners:
        place = place[int(owner)] if isinstance(place, list) else place[owner]
    place[name] = value
    return dict(made)


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("time", -5, "its time is negative"),
        ("time", "soon", "its time is not a number"),
        ("time", 1e300, "its time is too large"),
        ("timings/wait", -20, "its wait is negative"),
        ("startedDateTime", "yesterday", "its startedDateTime is not a time"),
        ("startedDateTime", 5, "its startedDateTime is of the wrong type"),
        ("startedDateTime", "1950-01-01T00:00:00Z", "its startedDateTime is before 1970"),
        ("startedDateTime", "9999-12-31T23:59:59.999Z", "it ends after the year 9999"),
        ("startedDateTime", "9999-12-31T23:00:00-12:00", "it ends after the year 9999"),
        ("request", None, "its request is missing"),
        ("request/url", ["http://x"], "its url is of the wrong type"),
        ("request/headers", {"a": "b"}, "its headers is of the wrong type"),
        ("request/headers/0/value", 7, "its value is of the wrong type"),
        ("request/postData/text", 7, "its text is of the wrong type"),
        ("response/status", "200", "the status of its response is not valid"),
        ("response/content", "text", "its content is of the wrong type"),
        ("response/content/encoding", "base64", "a body is not base64"),
        ("_records", [], "its _records is not an array of records"),
        ("_records", [{"kind": "request"}], "the at of a record is not a number"),
        ("_records", [{"kind": "request", "at": 1, "seq": 1}], "its _records do not fit its bodies"),
        ("_records", [{"kind": "note", "at": 1, "seq": 1}], "its first record is not a request"),
        ("_records", [{"kind": "dance", "at": 1, "seq": 1}], "the kind of a record is unknown"),
        ("_records", [{"kind": "request", "at": 1, "seq": -1}], "the seq of a record is not a whole number"),
        ("_records", [{"kind": "request", "at": 1, "seq": 1, "meta": []}], "the meta of a record is not an object"),
        ("_records", [{"kind": "request", "at": 1, "seq": 1, "findings": [3]}], "the findings of a record"),
    ],
)
def test_an_invalid_entry_is_named(tmp_path: Path, path: str, value: Any, problem: str):
    with pytest.raises(FaultError) as raised:
        imported(log(entry(), with_member(path, value)), tmp_path / "bad.a2a")
    assert raised.value.fault.seen.startswith("Entry 2: ")
    assert problem in raised.value.fault.seen


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("time", "abc", "its time is not a number"),
        ("request/url", None, "its url is missing"),
        ("request/headers", {}, "its headers is of the wrong type"),
        ("response/status", "200", "the status of its response is not valid"),
    ],
)
async def test_the_members_of_an_exported_entry_are_checked_too(
    record: Record, tmp_path: Path, path: str, value: Any, problem: str
):
    har = json.loads(exported(await record("1.0", "JSONRPC")))
    owner, _, name = path.rpartition("/")
    changed = har["log"]["entries"][0]
    (changed[owner] if owner else changed)[name] = value
    with pytest.raises(FaultError) as raised:
        imported(json.dumps(har), tmp_path / "bad.a2a")
    assert raised.value.fault.seen == f"Entry 1: {problem}."


def own(**members: Any) -> str:
    """Return a file with an exported note."""
    return log(_records=[{"seq": 1, "at": 1.0, "kind": "note", **members}])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not JSON"),
        ("[" * 200_000, "nested too deeply"),
        (b"\xff\xfe{}", "not UTF-8"),
        ("[1]", "not HAR"),
        ('{"log": {"entries": {}}}', "log.entries is not an array"),
        (log(), "it has no entry"),
        (log(3), "Entry 1: it is not an object"),
        (log(entry(), _records={}), "log._records is not an array"),
        (own(raw="!"), "the raw of a record is not base64"),
        (own(at=-1), "its time is not valid"),
        (own(at=float("nan")), "its time is not valid"),
        (own(size=2**63), "the size of a record is not a whole number"),
        (own(label=3), "the label of a record is not a string"),
        (own(kind="delivery"), "its method is missing"),
    ],
)
def test_an_invalid_file_is_an_error(tmp_path: Path, text: str | bytes, problem: str):
    with pytest.raises(FaultError) as raised:
        imported(text, tmp_path / "bad.a2a")
    assert problem in raised.value.fault.seen


def test_a_file_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(har_file, "LARGEST_FILE", 4_000_000)
    with (
        pytest.raises(FaultError, match="has more than 4,000,000 bytes"),
        Capture.create(tmp_path / "a.a2a") as capture,
    ):
        import_har(Path("/dev/zero"), capture)
