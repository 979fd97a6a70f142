"""The main scenarios, over real sockets, in every version and binding."""

from __future__ import annotations

import base64
import re
import struct
import tomllib
import zlib
from datetime import datetime

import pytest
from inspector.sample_agents.scenario.catalog import BUILT_IN_FOLDER
from inspector.sample_agents.scenario.running import split_text
from mock_peer import Peer, say, state_of, text_of

from inspector.protocol.model import Message, Part, SendRequest, Task, TaskArtifactUpdateEvent
from inspector.protocol.operations import Operation

_STEPS = tomllib.loads((BUILT_IN_FOLDER / "report.toml").read_text("utf-8"))["steps"]
REPORT = next(step["text"] for step in _STEPS if "text" in step)


def pieces(chunks: int) -> list[Part]:
    return split_text(Part(text=REPORT), chunks)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("echo Hello,  agent!", "Hello,  agent!"),
        ("ECHO loud", "loud"),
        ("echo", ""),
        ("something else", "something else"),
        ("", ""),
        ("echoes stay whole", "echoes stay whole"),
        ("echo \u202e\x1b[31m\u2028é漢🙂", "\u202e\x1b[31m\u2028é漢🙂"),
    ],
)
async def test_echo_responds_with_a_message_without_a_task(peer: Peer, text: str, expected: str) -> None:
    answer = await peer.send(text, context_id="c-1")
    assert isinstance(answer, Message)
    assert (answer.role, answer.context_id, answer.task_id) == ("ROLE_AGENT", "c-1", None)
    assert text_of(answer.parts) == expected
    assert answer.message_id


async def test_echo_streams_one_message(peer: Peer) -> None:
    events = await peer.events("echo hi")
    assert [state_of(event) for event in events] == ["message"]
    assert text_of(events[0].parts) == "hi"


async def test_echo_returns_parts_of_every_kind(peer: Peer) -> None:
    parts = [
        Part(data={"n": [1, None, {"x": 1.5}]}),
        Part(raw=base64.b64encode(b"\x00\xff").decode(), filename="a.bin", media_type="application/x-thing"),
        Part(url="https://example.com/x", media_type="text/html"),
        Part(text="echo text"),
    ]
    request = SendRequest(message=Message(message_id="m", role="ROLE_USER", parts=parts))
    answer = await peer.call(Operation.SEND, request)
    assert isinstance(answer, Message)
    assert answer.parts == [*parts[:3], Part(text="text")]


@pytest.mark.parametrize("chunks", [1, 20, 500])
async def test_report_streams_the_requested_number_of_chunks(peer: Peer, chunks: int) -> None:
    events = await peer.events(f"report {chunks}")
    updates = [event for event in events if isinstance(event, TaskArtifactUpdateEvent)]
    assert [state_of(event) for event in events] == ["submitted", "working", *["artifact"] * chunks, "completed"]
    assert [bool(update.append) for update in updates] == [False] + [True] * (chunks - 1)
    assert [bool(update.last_chunk) for update in updates] == [False] * (chunks - 1) + [True]
    assert {(update.artifact.artifact_id, update.artifact.name) for update in updates} == {
        (updates[0].artifact.artifact_id, "report.md")
    }
    assert "".join(text_of(update.artifact.parts) for update in updates) == REPORT
    task = await peer.task(events[0].id)
    assert text_of(task.artifacts[0].parts) == REPORT


@pytest.mark.parametrize("chunks", [1000, pytest.param(5000, marks=pytest.mark.slow)])
async def test_a_report_with_many_chunks_is_complete(peer: Peer, chunks: int) -> None:
    events = await peer.events(f"report {chunks}")
    updates = [event for event in events if isinstance(event, TaskArtifactUpdateEvent)]
    assert [text_of(update.artifact.parts) for update in updates] == [part.text for part in pieces(chunks)]
    assert state_of(events[-1]) == "completed"


@pytest.mark.parametrize(
    ("words", "chunks"), [("report", 20), ("report x", 20), ("report -3", 20), ("report 0", 1), ("report 7 please", 7)]
)
async def test_the_number_of_chunks_is_read_from_the_text(peer: Peer, words: str, chunks: int) -> None:
    events = await peer.events(words)
    assert sum(isinstance(event, TaskArtifactUpdateEvent) for event in events) == chunks


def test_more_than_500_chunks_are_whole_lines() -> None:
    assert len(pieces(501)) == 501
    assert all(part.text for part in pieces(500))


async def test_file_sends_a_picture_data_and_a_caption(peer: Peer) -> None:
    task = await peer.send("file")
    assert isinstance(task, Task)
    picture, facts, caption = task.artifacts[0].parts
    assert (picture.filename, picture.media_type) == ("sunrise.png", "image/png")
    png = base64.b64decode(picture.raw, validate=True)
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert facts.data == {"format": "PNG", "width": 64, "height": 64, "bytes": len(png), "colours": ["violet", "gold"]}
    assert caption.text
    assert state_of(task) == "completed"


def test_the_picture_is_a_valid_png() -> None:
    png, chunks, at = (BUILT_IN_FOLDER / "sunrise.png").read_bytes(), [], 8
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        name, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", png, at + 8 + length) == (zlib.crc32(name + body),)
        chunks.append((name, body))
        at += 12 + length
    assert [name for name, _ in chunks] == [b"IHDR", b"IDAT", b"IEND"]
    assert len(zlib.decompress(chunks[1][1])) == 64 * (1 + 3 * 64)


async def test_ask_waits_for_a_reply_and_continues(peer: Peer) -> None:
    first = await peer.events("ask")
    assert [state_of(event) for event in first] == ["submitted", "working", "input_required"]
    task_id, context_id = first[0].id, first[0].context_id
    second = await peer.events("20:30, please", task_id=task_id)
    assert [state_of(event) for event in second] == ["working", "working", "artifact", "completed"]
    assert isinstance(second[0], Task)
    assert (second[0].id, second[0].context_id) == (task_id, context_id)
    assert "20:30, please" in text_of(second[2].artifact.parts)


async def test_ask_asks_once_and_the_history_is_in_order(peer: Peer) -> None:
    asked = await peer.send("ask", context_id="mine")
    assert (state_of(asked), asked.context_id) == ("input_required", "mine")
    done = await peer.send("18:00", task_id=asked.id)
    assert (state_of(done), done.context_id) == ("completed", "mine")
    turns = [(message.role, text_of(message.parts)) for message in done.history]
    assert turns == [
        ("ROLE_USER", "ask"),
        ("ROLE_AGENT", "Looking for a table."),
        ("ROLE_AGENT", text_of(asked.status.message.parts)),
        ("ROLE_USER", "18:00"),
        ("ROLE_AGENT", "Booking the table: 18:00"),
    ]
    assert {(message.task_id, message.context_id) for message in done.history} == {(done.id, "mine")}


async def test_a_reply_continues_its_task_whatever_its_first_word(peer: Peer) -> None:
    asked = await peer.send("ask")
    done = await peer.send("fail", task_id=asked.id, context_id=asked.context_id)
    assert state_of(done) == "completed"


async def test_fail_fails_with_a_message(peer: Peer) -> None:
    events = await peer.events("fail")
    assert [state_of(event) for event in events] == ["submitted", "working", "failed"]
    assert "damaged" in text_of(events[-1].status.message.parts)


async def test_long_reports_its_progress(peer: Peer) -> None:
    events = await peer.events("long 3")
    assert [state_of(event) for event in events] == ["submitted", "working", "working", "working", "completed"]
    assert text_of(events[2].status.message.parts) == "1 of 3 seconds done."


async def test_push_has_several_updates_and_an_artifact(peer: Peer) -> None:
    events = await peer.events("push")
    assert [state_of(event) for event in events] == ["submitted", *["working"] * 4, "artifact", "completed"]


async def test_every_timestamp_is_utc_with_milliseconds(peer: Peer) -> None:
    events = await peer.events("push")
    stamps = [event.status.timestamp for event in events if not isinstance(event, TaskArtifactUpdateEvent)]
    # Protobuf has no milliseconds: its JSON form leaves out those of a full second (a thousandth of all timestamps).
    fraction = r"(\.\d{3})?" if peer.binding.name == "GRPC" else r"\.\d{3}"
    assert all(re.fullmatch(rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d{fraction}Z", stamp) for stamp in stamps)
    times = [datetime.fromisoformat(stamp) for stamp in stamps]
    assert times == sorted(times)


async def test_the_same_message_id_twice_creates_two_tasks(peer: Peer) -> None:
    request = say("fail")
    first, second = await peer.call(Operation.SEND, request), await peer.call(Operation.SEND, request)
    assert isinstance(first, Task)
    assert isinstance(second, Task)
    assert first.id != second.id
