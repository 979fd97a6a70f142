"""Streams and responses of hostile agents, by the numbers of their cases: 12 to 14 and 16 to 24.

Cases 25 and 26 are in `test_saving.py`, `test_contents.py` and in `test_artifact_pane.py`.
"""

from __future__ import annotations

import asyncio
import gzip
import resource
import subprocess
import sys
import time
import zlib
from functools import cache
from typing import Any

import pytest
from aiohttp import web
from scripted import (
    DONE,
    PATIENCE,
    WORKING,
    Agent,
    Heard,
    OpenSession,
    answering,
    artifact,
    eventually,
    giving,
    records,
    rules,
    say,
    status,
    streaming,
    task,
)

from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.findings.rules import RULES
from inspector.protocol.errors import FaultCode
from inspector.session.session import Session
from inspector.session.settings import Settings
from inspector.wire.client.http import Limits


def sections(session: Session) -> list[str]:
    """Return the sections of the rules that were broken."""
    return [RULES[rule].section for rule in rules(session)]


# 12 to 14: the content

ANSWERS: dict[str, Any] = {
    "HTML": giving(b"<html>Welcome</html>", content_type="text/html"),
    "no content": giving(b"", status=204),
    "an empty body": giving(b""),
    "another id": answering(task("COMPLETED"), id="another"),
    "no id": answering(task("COMPLETED"), id=...),
    "result and error": answering(task("COMPLETED"), error={"code": -32000, "message": "no"}),
    "neither result nor error": answering(),
    "a batch": giving([{"jsonrpc": "2.0", "id": 1, "result": task("COMPLETED")}]),
    "a code that is a string": answering(error={"code": "-32001", "message": "no such task"}),
}


@pytest.mark.parametrize("what", ANSWERS)
async def test_case_12_an_invalid_response_is_recorded_with_findings(
    agent: Agent, open_session: OpenSession, what: str
):
    agent.answer(ANSWERS[what])
    session = await open_session(agent.url)
    call = await say(session, stream=False)
    [body] = [record for record in records(session, Kind.BODY) if record.operation == "SendMessage"] or [None]
    assert call.fault is not None or rules(session)
    assert rules(session), "it is a finding, and not only a failure"
    if what not in ("no content", "an empty body"):
        assert body is not None
        assert body.raw


SHAPES: dict[str, Any] = {
    "an unknown state": status("dreaming"),
    "an unknown role": {"message": {"messageId": "m", "role": "ROLE_GOD", "parts": [{"text": "hi"}]}},
    "an unknown kind of part": artifact("x", artifact={"artifactId": "a", "parts": [{"thought": "deep"}]}),
    "two members of a one-of": artifact(
        "x", artifact={"artifactId": "a", "parts": [{"text": "a", "url": "http://b/"}]}
    ),
    "the shape of 0.3": {"kind": "status-update", "taskId": "t", "contextId": "c", "status": {"state": "working"}},
}


@pytest.mark.parametrize("what", SHAPES)
async def test_case_13_an_unknown_object_is_recorded_with_a_finding(agent: Agent, open_session: OpenSession, what: str):
    agent.answer(streaming(WORKING, SHAPES[what], DONE))
    session = await open_session(agent.url)
    await say(session)
    frame = records(session, Kind.FRAME)[1]
    assert frame.findings
    if what == "the shape of 0.3":
        text = " ".join(f"{RULES[finding.rule].title} {finding.seen}" for finding in frame.findings)
        assert "An object has the shape of another protocol version" in text
    assert len(records(session, Kind.FRAME)) == 3


MISFITS: dict[str, list[Any]] = {
    "an update after the end": [WORKING, DONE, status("WORKING")],
    "an append before a create": [WORKING, artifact("x", append=True), DONE],
    "a chunk after the last": [WORKING, artifact("x", lastChunk=True), artifact("y", append=True), DONE],
    "a message after a task": [
        WORKING,
        {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "a"}]}},
    ],
    "no end": [WORKING],
    "a context that changes": [WORKING, status("WORKING", context="other"), DONE],
    "the task of somebody else": [WORKING, status("WORKING", id="other"), DONE],
}


@pytest.mark.parametrize("what", MISFITS)
async def test_case_14_an_invalid_object_is_a_finding_with_its_section(
    agent: Agent, open_session: OpenSession, what: str
):
    agent.answer(streaming(*MISFITS[what]))
    session = await open_session(agent.url)
    await say(session)
    assert rules(session)
    assert all(sections(session))


# 16 to 20: how it travels

ENDLESS = """
import asyncio, resource, sys
from inspector.session.compose.draft import text_draft
from inspector.session.session import Session
from pathlib import Path

async def main(url, folder):
    session = Session(Path(folder) / "c.a2a")
    await session.connect(url)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    call = session.send(text_draft("go"), stream=True)
    fault = await call.finish()
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    await session.close()
    print(growth, fault.code if fault else "-")

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize(("start", "piece"), [(b"data: ", b"x" * 65536), (b"", b"data:\n" * 10_000)])
async def test_case_16_an_endless_line_or_block_is_cut_at_the_limit(
    agent: Agent, tmp_path: Any, start: bytes, piece: bytes
):
    sent = 0

    async def handle(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(start)
        while sent < 400_000_000:
            await response.write(piece)
            sent += len(piece)
        return response

    agent.answer(handle)
    ran = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", ENDLESS, agent.url, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    growth, code = ran.stdout.split()
    assert code != "-", "it is a fault"
    assert sent < 400_000_000, "it was cut"
    assert int(growth) * 1024 < 2 * Limits().block + 50_000_000


@pytest.mark.parametrize("cut", [1, 2, 7, 10_000])
async def test_case_17_line_ends_encodings_and_chunk_borders_make_no_difference(
    agent: Agent, open_session: OpenSession, cut: int
):
    async def handle(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        from scripted import frame

        texts = [f"U+2028 \u2028 é \U0001f600 {end!r}" for end in ("\n", "\r", "\r\n")]
        frames = [frame(WORKING, heard.json["id"])]
        for number, (text, end) in enumerate(zip(texts, (b"\n", b"\r", b"\r\n"), strict=True)):
            made = frame(artifact(text, append=number > 0), heard.json["id"])
            literal = made.replace(b"\\u2028", "\u2028".encode()).replace(b"\\u00e9", "é".encode())
            frames.append(literal.replace(b"\n", end))
        frames.append(frame(DONE, heard.json["id"]))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        whole = b"".join(frames)
        for at in range(0, len(whole), cut):
            await response.write(whole[at : at + cut])
        return response

    agent.answer(handle)
    session = await open_session(agent.url)
    await say(session)
    tracked = session.tasks.get("t")
    assert tracked is not None
    expected = "".join(f"U+2028 \u2028 é \U0001f600 {end!r}" for end in ("\n", "\r", "\r\n"))
    assert str(tracked.now.artifacts["a"].text) == expected


@cache
def bombs() -> dict[str, tuple[str, bytes]]:
    zeros = b"\0" * 100_000_000
    packed = gzip.compress(zeros)
    return {
        "gzip": ("gzip", packed),
        "deflate": ("deflate", zlib.compress(zeros)),
        "nested": ("gzip, gzip", gzip.compress(packed)),
    }


@pytest.mark.parametrize("name", ["gzip", "deflate", "nested"])
async def test_case_18_a_compression_bomb_is_not_unpacked(agent: Agent, open_session: OpenSession, name: str):
    coding, body = bombs()[name]

    async def handle(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        return web.Response(body=body, content_type="application/json", headers={"Content-Encoding": coding})

    agent.answer(handle)
    session = await open_session(agent.url)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    call = await say(session, stream=False)
    assert call.fault is not None
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
    end = records(session, Kind.END)[-1]
    assert "seen" in end.meta


async def test_case_19_a_disconnected_stream_is_never_complete(agent: Agent, open_session: OpenSession):
    agent.answer(streaming(WORKING, artifact("x"), cut=True))
    session = await open_session(agent.url)
    call = await say(session)
    end = records(session, Kind.END)[-1]
    assert (end.meta["how"], end.meta["events"]) == ("broken", 2)
    assert call.fault is not None
    assert "2 events" in f"{call.fault.seen} {end.label}"
    tracked = session.tasks.get("t")
    assert tracked is not None
    assert tracked.now.state == "TASK_STATE_WORKING"


async def test_case_20_silence_times_out_and_keep_alives_prevent_it(agent: Agent, open_session: OpenSession):
    pauses: list[float] = []

    async def keep_alive(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        from scripted import frame

        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(frame(WORKING, heard.json["id"]))
        for _ in range(8):
            await response.write(b": still here\n\n")
            began = time.monotonic()
            await asyncio.sleep(0.2)
            pauses.append(time.monotonic() - began)
        await asyncio.sleep(60)
        return response

    agent.answer(keep_alive)
    session = await open_session(agent.url, limits=Limits(read_seconds=1.0))
    for _ in range(10):
        pauses.clear()
        began = time.monotonic()
        call = await say(session)
        took = time.monotonic() - began
        if len(pauses) == 8 and max(pauses) < 0.8:
            break  # otherwise the machine stalled for almost the limit
    assert call.fault is not None
    assert call.fault.code == FaultCode.TIMEOUT
    assert not records(session, Kind.END)[-1].findings
    assert 1.6 < took < PATIENCE
    summary = session.journal.exchanges.get(call.exchange.number)
    assert summary is not None
    assert (summary.keepalives, summary.events) == (8, 1)
    assert summary.seconds is not None
    assert summary.seconds >= 1.6


async def test_case_20_a_stream_of_single_bytes_is_read(agent: Agent, open_session: OpenSession):
    async def dripping(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        from scripted import frame

        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for byte in frame(DONE | WORKING, heard.json["id"])[:40]:
            await response.write(bytes([byte]))
            await asyncio.sleep(0.01)
        await response.write(frame(WORKING, heard.json["id"])[40:] + frame(DONE, heard.json["id"]))
        return response

    agent.answer(dripping)
    session = await open_session(agent.url, limits=Limits(read_seconds=5.0))
    await say(session)
    tracked = session.tasks.get("t")
    assert tracked is not None
    assert tracked.now.state == "TASK_STATE_COMPLETED"


# 21 to 24: how much of it


async def test_case_21_nothing_of_fifty_thousand_events_is_lost_on_disk(agent: Agent, tmp_path: Any):
    count = 50_000

    async def handle(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        from scripted import frame

        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(frame(WORKING, heard.json["id"]))
        for first in range(0, count, 500):
            chunks = (frame(artifact(f"{n} ", append=n > 0), heard.json["id"]) for n in range(first, first + 500))
            await response.write(b"".join(chunks))
        await response.write(frame(DONE, heard.json["id"]))
        return response

    agent.answer(handle)
    path = tmp_path / "long.a2acap"
    session = Session(path, Settings())
    await session.connect(agent.url)
    fault = await session.send(_draft("go"), stream=True).finish()
    assert fault is None
    tracked = session.tasks.get("t")
    assert tracked is not None
    assert str(tracked.now.artifacts["a"].text) == "".join(f"{n} " for n in range(count))
    assert len(tracked.now.artifacts["a"].cuts) == count
    await session.close()
    with Capture.open(path) as capture:
        frames = capture.select(kinds=(Kind.FRAME,))
    assert len(frames) == count + 2
    assert b'"49999 "' in frames[-2].raw


@pytest.mark.slow
async def test_case_22_memory_is_bounded_while_events_arrive(agent: Agent, tmp_path: Any):
    rounds = 3

    async def handle(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        from scripted import frame

        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(frame(WORKING, heard.json["id"]))
        many = frame(status("WORKING", "x" * 100), heard.json["id"]) * 500
        for _ in range(40):
            await response.write(many)
        await response.write(frame(DONE, heard.json["id"]))
        return response

    agent.answer(handle)
    session = Session(tmp_path / "flat.a2acap", Settings())
    await session.connect(agent.url)
    peaks = []
    for _ in range(rounds):
        assert await session.send(_draft("go"), stream=True).finish() is None
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    await session.close()
    assert (peaks[-1] - peaks[0]) * 1024 < 30_000_000, "20,000 events take no more than the 20,000 before"


async def test_case_23_a_hundred_concurrent_streams_are_not_mixed(agent: Agent, open_session: OpenSession):
    count, chunks = 100, 20
    together = asyncio.Event()
    begun = 0

    async def handle(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        from scripted import frame

        nonlocal begun
        name = heard.json["params"]["message"]["parts"][0]["text"]
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(frame({"task": task("WORKING", id=name)}, heard.json["id"]))
        begun += 1
        if begun == count:
            together.set()
        await together.wait()
        for number in range(chunks):
            event = artifact(f"{name}:{number} ", id=name, append=number > 0, lastChunk=number == chunks - 1)
            await response.write(frame(event, heard.json["id"]))
            await asyncio.sleep(0)
        await response.write(frame(status("COMPLETED", id=name), heard.json["id"]))
        return response

    agent.answer(handle)
    session = await open_session(agent.url)
    calls = await asyncio.gather(*(say(session, f"task-{n}") for n in range(count)))
    assert [call.fault for call in calls] == [None] * count
    for number, call in enumerate(calls):
        name = f"task-{number}"
        tracked = session.tasks.get(name)
        assert tracked is not None
        assert str(tracked.now.artifacts["a"].text) == "".join(f"{name}:{n} " for n in range(chunks))
        frames = session.journal.capture.select(kinds=(Kind.FRAME,), exchange=call.exchange.number)
        assert {record.task for record in frames} == {name}
        assert len(frames) == chunks + 2
    assert rules(session) == set()
    await eventually(lambda: agent.open == 0)
    assert session.journal.exchanges.open == 0


async def test_case_24_missed_and_repeated_events_result_in_one_task(agent: Agent, open_session: OpenSession):
    whole = {"artifactId": "a", "parts": [{"text": "one two three "}]}
    agent.answer(streaming(WORKING, artifact("one "), artifact("two ", append=True), cut=True))
    session = await open_session(agent.url)
    call = await say(session)
    assert call.fault is not None
    again = [{"task": task("WORKING", whole)}, artifact("four", append=True, lastChunk=True), DONE]
    agent.answer(streaming(*again))
    assert await session.subscribe("t").finish() is None
    tracked = session.tasks.get("t")
    assert tracked is not None
    assert str(tracked.now.artifacts["a"].text) == "one two three four"
    assert tracked.now.state == "TASK_STATE_COMPLETED"


def _draft(text: str) -> Any:
    from inspector.session.compose.draft import text_draft

    return text_draft(text)
