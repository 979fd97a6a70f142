"""Opened captures: they equal the session, cannot be continued, and may have invalid content."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import pytest
from inspector.sample_agents.server import MockAgent
from scripted import OpenSession

from inspector.capture.private_files import CaptureError
from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture
from inspector.protocol.errors import FaultError
from inspector.protocol.operations import Operation
from inspector.session.compose.draft import text_draft
from inspector.session.extension_use import results_in
from inspector.session.record_list import RecordList
from inspector.session.replay.recording import Recording
from inspector.session.replay.resend import message_to_resend
from inspector.session.session import Session
from inspector.session.tasks import TrackedTask


def values_of(task: TrackedTask) -> list[Any]:
    """Return a task as comparable values."""
    known: list[Any] = [task.id, task.number, task.first_seen, task.stream]
    for account in (task.answered, task.pushed):
        artifacts = [astuple(replace(artifact, text=str(artifact.text))) for artifact in account.artifacts.values()]  # type: ignore[arg-type]
        known += [artifacts, astuple(replace(account, artifacts={}))]
    return known


class Rows:
    """Two lists that follow a session, and its state at the end."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.lists = RecordList(lambda _: True, folded=True), RecordList(lambda record: record.kind is Kind.REQUEST)
        for followed in self.lists:
            session.journal.subscribe(followed.offer, replay=True)

    @property
    def known(self) -> list[Any]:
        rows: list[Any] = [row for followed in self.lists for row in followed]  # type: ignore[attr-defined]
        journal = self.session.journal
        exchanges = [journal.exchanges.get(row.first) for row in rows]
        return [*map(values_of, self.session.tasks.all()), journal.found, journal.sends, *rows, *exchanges]


async def recorded(open_session: OpenSession, mock: MockAgent, tmp_path: Path) -> tuple[Path, list[Any]]:
    """Send a message with push on, and return a copy of the capture and the state of the session."""
    session = await open_session()
    rows = Rows(session)
    await session.connect(mock.url)
    await session.push.turn_on()
    for text in ("report 300", "push", "careless", "echo", "ask back"):
        await session.send(text_draft(text), stream=True).finish()
    await session.send(text_draft("report 3"), stream=False).finish()
    await session.list_tasks().finish()
    assert any(record.kind is Kind.DELIVERY for record in session.journal.capture.slice(1, 10_000))
    await session.close()
    return Path(shutil.copy(session.journal.capture.path, tmp_path / "copy.a2a")), rows.known


async def test_a_recording_has_the_state_of_the_session(open_session: OpenSession, mock: MockAgent, tmp_path: Path):
    path, known = await recorded(open_session, mock, tmp_path)
    recording = Recording(path)
    rows = Rows(recording)
    assert (len(recording.tasks), recording.part_read, len(rows.lists[0])) == (0, 0.0, 0)
    for _ in recording.read():
        assert 0 < recording.part_read <= 1
    assert recording.part_read == 1
    again = rows.known
    assert len(again) == len(known)
    for ours, theirs in zip(again, known, strict=True):
        assert ours == theirs
    await recording.close()


async def test_subscribers_from_before_reading_get_every_record(
    open_session: OpenSession, mock: MockAgent, tmp_path: Path
):
    path, _ = await recorded(open_session, mock, tmp_path)
    recording = Recording(path)
    early = RecordList(lambda _: True, folded=True)
    recording.journal.subscribe(early.offer, replay=True)
    touched = 0

    def take(news: Sequence[Record]) -> None:
        nonlocal touched
        touched += not news

    recording.journal.subscribe(take)
    slices = sum(1 for _ in recording.read())
    assert touched == slices + 1
    late = RecordList(lambda _: True, folded=True)
    recording.journal.subscribe(late.offer, replay=True)
    assert [*early] == [*late]  # type: ignore[misc]
    await recording.close()


async def test_a_long_recording_is_read_step_by_step(tmp_path: Path):
    with Capture.create(tmp_path / "long.a2a") as capture:
        for number in range(20_000):
            capture.append(Kind.FRAME, 1.0, exchange=1, payloads=[(0, b"%d" % number)])
    recording = Recording(tmp_path / "long.a2a")
    parts = [recording.part_read for _ in recording.read()]
    assert len(parts) > 3
    assert parts == sorted(set(parts))
    await recording.close()


async def test_a_recording_sends_nothing_and_is_not_changed(open_session: OpenSession, mock: MockAgent, tmp_path: Path):
    path, _ = await recorded(open_session, mock, tmp_path)
    before = path.read_bytes()
    recording = Recording(path)
    [*_] = recording.read()
    asked = (
        lambda: recording.send(text_draft("hello"), stream=True),
        lambda: recording.get("t"),
        recording.list_tasks,
        lambda: recording.note("x"),
    )
    for ask in asked:
        with pytest.raises(FaultError, match="opened capture"):
            ask()
    for wanted in (recording.connect(mock.url), recording.refresh(), recording.push.turn_on()):
        with pytest.raises(FaultError, match="opened capture"):
            await wanted
    assert recording.unavailable_reason(Operation.SEND)
    assert not recording.push.receiver.running
    await recording.close()
    assert path.read_bytes() == before


async def test_open_exchanges_of_a_killed_session_are_not_running(tmp_path: Path):
    script = (
        "import os, signal, sys; from pathlib import Path\n"
        "from inspector.capture.store import Capture; from inspector.capture.records import Kind\n"
        "capture = Capture.create(Path(sys.argv[1]))\n"
        "meta = {'method': 'POST', 'url': 'x', 'headers': []}\n"
        "capture.append(Kind.REQUEST, 1.0, operation='SendMessage', meta=meta)\n"
        "capture.flush(10); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path / "left.a2a"], check=False, timeout=20)
    assert (tmp_path / "left.a2a-wal").exists()
    recording = Recording(tmp_path / "left.a2a")
    [*_] = recording.read()
    assert (len(recording.journal.exchanges), recording.journal.exchanges.open) == (1, 0)
    await recording.close()


GOOD: dict[Kind, dict[str, Any]] = {
    Kind.REQUEST: {
        "method": "POST",
        "url": "http://x/",
        "headers": [["a", "b"]],
        "binding": "JSONRPC",
        "dialect": "1.0",
    },
    Kind.RESPONSE: {"status": 200, "reason": "OK", "http": "HTTP/1.1", "headers": [], "streamed": True},
    Kind.TRAILERS: {"code": 5, "name": "NOT_FOUND", "message": "no", "headers": []},
    Kind.END: {"how": "complete", "events": 1, "bytes": 2, "seconds": 0.5},
}
BAD: list[Any] = [None, "text", -1, 1e300, float("nan"), True, [], [[1, 2]], [["a"]], {"a": 1}]


@pytest.mark.parametrize("kind", list(GOOD))
async def test_an_invalid_record_becomes_a_note_with_the_reason(tmp_path: Path, kind: Kind):
    metas = [GOOD[kind]]
    metas += [GOOD[kind] | {name: bad} for name in GOOD[kind] for bad in BAD]
    metas += [{name: value for name, value in GOOD[kind].items() if name != left_out} for left_out in GOOD[kind]]
    with Capture.create(tmp_path / "odd.a2a") as capture:
        for meta in metas:
            capture.append(kind, 1.0, operation="SendMessage", exchange=1, meta=meta, payloads=[(0, b"{}")])
    recording = Recording(tmp_path / "odd.a2a")
    [*_] = recording.read()
    records = recording.journal.capture.slice(1, len(metas))
    assert records[0].kind is kind
    notes = [record for record in records if record.kind is Kind.NOTE]
    assert notes
    assert all("cannot be read: its " in note.label for note in notes)
    for record in records:
        recording.payload(record)
    await recording.close()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("at = 9e99", "time"),
        ("at = -1", "time"),
        ("exchange = 99", "exchange"),
        ("exchange = -3", "exchange"),
        ("size = -1", "size"),
    ],
)
async def test_invalid_numbers_are_recognised(tmp_path: Path, change: str, said: str):
    path = tmp_path / "odd.a2a"
    with Capture.create(path) as capture:
        for _ in range(3):
            capture.append(Kind.FRAME, 1.0, exchange=1, payloads=[(0, b"x")])
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE record SET {change} WHERE seq = 2")
    connection.close()
    recording = Recording(path)
    [*_] = recording.read()
    first, second, third = recording.journal.capture.slice(1, 3)
    assert (first.kind, third.kind) == (Kind.FRAME, Kind.FRAME)
    assert second.kind is Kind.NOTE
    assert said in second.label
    await recording.close()


ODD: dict[str, list[Any]] = {
    "headers": [True, "text", [["a"]]],
    "lag": ["text", 1e300],
    "whose": [[], 1],
    "seen": [{}],
    "extensions": [True, 5, [1]],
    "verified": [True, [1], {"a": 1}, {"a": [1]}, {"a": [["name"]]}],
}
"""Values that members of `meta` cannot have which only some records have."""


@pytest.mark.parametrize("kind", [Kind.REQUEST, Kind.FRAME, Kind.BODY, Kind.END, Kind.NOTE])
async def test_a_record_with_an_invalid_optional_member_becomes_a_note(tmp_path: Path, kind: Kind):
    known = GOOD.get(kind, {})
    metas = [known | {name: bad} for name, values in ODD.items() for bad in values]
    with Capture.create(tmp_path / "odd.a2a") as capture:
        capture.append(Kind.REQUEST, 1.0, operation="SendMessage", meta=GOOD[Kind.REQUEST], payloads=[(0, b"{}")])
        for meta in metas:
            capture.append(kind, 1.0, operation="SendMessage", exchange=1, meta=meta, payloads=[(0, b"{}")])
    recording = Recording(tmp_path / "odd.a2a")
    [*_] = recording.read()
    for record in recording.journal.capture.slice(2, len(metas) + 1):
        assert (record.kind, record.event) == (Kind.NOTE, "unreadable")
        assert list(results_in(record)) == []
    await recording.close()


def test_a_request_whose_warnings_are_null_can_be_sent_again():
    body = b'{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER",'
    body += b'"parts":[{"text":"hello"}]}}}'
    meta = GOOD[Kind.REQUEST] | {"deliberate": None}
    request = Record(1, 1.0, Kind.REQUEST, exchange=1, operation="SendMessage", raw=body, meta=meta)
    assert message_to_resend(request).message.parts[0].text == "hello"


async def test_decreasing_times_raise_nothing(tmp_path: Path):
    path = tmp_path / "odd.a2a"
    with Capture.create(path) as capture:
        capture.append(
            Kind.REQUEST, 1e9, operation="SendStreamingMessage", meta=GOOD[Kind.REQUEST], payloads=[(0, b"{}")]
        )
        for _ in range(3):
            capture.append(
                Kind.FRAME, 1e9, exchange=1, operation="SendStreamingMessage", event="artifact", payloads=[(0, b"x")]
            )
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE record SET at = seq WHERE seq > 1")
    connection.close()
    recording = Recording(path)
    [*_] = recording.read()
    summary = recording.journal.exchanges.get(1)
    assert summary is not None
    assert summary.events == 3
    await recording.close()


async def test_an_unknown_operation_is_read_as_none(tmp_path: Path):
    path = tmp_path / "odd.a2a"
    with Capture.create(path) as capture:
        capture.append(Kind.REQUEST, 1.0, operation="Sing", meta=GOOD[Kind.REQUEST], payloads=[(0, b"{}")])
        capture.append(Kind.FRAME, 1.0, exchange=1, operation="Sing", payloads=[(0, b"data: {}\n\n")])
        capture.append(Kind.BODY, 1.0, exchange=1, operation="Sing", payloads=[(0, b'{"result": {}}')])
    recording = Recording(path)
    [*_] = recording.read()
    assert len(recording.tasks) == 0
    assert [recording.payload(record) for record in recording.journal.capture.slice(2, 3)]
    await recording.close()


def test_a_file_that_is_not_a_capture_is_refused_with_a_sentence(tmp_path: Path):
    (tmp_path / "text.a2a").write_text("no capture at all" * 100)
    for name, said in (("text.a2a", "not a capture"), ("missing.a2a", "does not exist")):
        with pytest.raises(CaptureError, match=said):
            Recording(tmp_path / name)


def test_only_equal_frames_are_in_one_batch(tmp_path: Path):
    """`replay` of many records at once must have the same result as of each record."""
    with Capture.create(tmp_path / "mixed.a2a") as capture:
        for number in range(200):
            kind = (Kind.FRAME, Kind.FRAME, Kind.FRAME, Kind.KEEPALIVE, Kind.END)[number * 7 % 5]
            meta = GOOD[Kind.END] if kind is Kind.END else None
            event = "artifact" if number % 3 else "status"
            task = f"t{number // 20 % 2}"
            capture.append(kind, 1.0 + number, exchange=1, event=event, task=task, payloads=[(number, b"")], meta=meta)
    together, alone = Recording(tmp_path / "mixed.a2a"), Recording(tmp_path / "mixed.a2a")
    told_together, told_alone = Rows(together), Rows(alone)
    records: list[Record] = together.journal.capture.slice(1, 200)
    together.journal.replay(records)
    for record in records:
        alone.journal.replay([record])
    assert told_together.known == told_alone.known
    assert together.journal.last_seq == alone.journal.last_seq == 200
    for recording in (together, alone):
        recording.journal.capture.close()
