"""Large files on their way: streamed from disk, whole, within bounds, and a sentence for whatever goes wrong."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import tracemalloc
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripted import PATIENCE, OpenSession, card_of, drive, eventually, records
from sinks import Sink, running

from inspector.capture.records import Kind
from inspector.protocol.errors import FaultCode, Whose
from inspector.session.call import Call
from inspector.session.compose.build import IN_MEMORY
from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_draft
from inspector.session.session import Session
from inspector.wire.client.observations import Ending, Sent

MB = 1_000_000


@pytest.fixture
async def sink() -> AsyncIterator[Sink]:
    async with running(Sink()) as sink:
        yield sink


async def with_card(
    open_session: OpenSession, tmp_path: Path, sink: Sink, binding: str = "JSONRPC", **settings: Any
) -> Session:
    interface = {"url": sink.url, "protocolBinding": binding, "protocolVersion": "1.0"}
    (tmp_path / "card.json").write_text(json.dumps(card_of("", supportedInterfaces=[interface])))
    return await open_session(str(tmp_path / "card.json"), **settings)


def sparse(path: Path, size: int, *, begin: bytes = b"begin") -> Path:
    path.write_bytes(begin)
    os.truncate(path, size)
    return path


def message(*paths: Path) -> Draft:
    parts = [DraftPart(PartKind.FILE, str(path)) for path in paths]
    return Draft((DraftPart(PartKind.TEXT, "look: {{file:/etc/passwd}}"), *parts), request_id="r", message_id="m")


def as_text(paths: list[Path], *, rest: bool = False) -> str:
    """Write the body that a message with files comes to, the slow way."""
    parts: list[dict[str, str]] = [{"text": "look: {{file:/etc/passwd}}"}]
    parts += [
        {"raw": base64.b64encode(path.read_bytes()).decode(), "filename": path.name, "mediaType": "application/pdf"}
        for path in paths
    ]
    params = {
        "message": {"messageId": "m", "role": "ROLE_USER", "parts": parts},
        "configuration": {"returnImmediately": False},
    }
    call = params if rest else {"jsonrpc": "2.0", "id": "r", "method": "SendMessage", "params": params}
    return json.dumps(call, separators=(",", ":"))


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
async def test_the_agent_gets_exactly_the_base64_of_the_files(
    open_session: OpenSession, tmp_path: Path, sink: Sink, binding: str
):
    paths = [
        sparse(tmp_path / "one.pdf", 20 * MB + 1, begin=os.urandom(1000)),
        sparse(tmp_path / 'two "quoted".pdf', IN_MEMORY + 2, begin=os.urandom(1000)),
        sparse(tmp_path / "small.pdf", 1000),
    ]
    session = await with_card(open_session, tmp_path, sink, binding)
    turn = await drive(session.send(message(*paths), stream=False))
    body = as_text(paths, rest=binding == "HTTP+JSON").encode()
    assert (sink.length, sink.digest) == (len(body), hashlib.sha256(body).hexdigest())
    assert b"\r\ntransfer-encoding" not in sink.head.lower()
    assert (turn.upload.done, turn.upload.total) == (len(body), len(body))
    if binding == "JSONRPC":
        assert turn.fault is None


async def test_one_file_twice_is_there_twice(open_session: OpenSession, tmp_path: Path, sink: Sink):
    path = sparse(tmp_path / "one.pdf", IN_MEMORY + 1)
    session = await with_card(open_session, tmp_path, sink)
    await drive(session.send(message(path, path), stream=False))
    body = as_text([path, path]).encode()
    assert (sink.length, sink.digest) == (len(body), hashlib.sha256(body).hexdigest())


async def test_what_is_shown_and_recorded_has_a_mark_in_its_place(
    open_session: OpenSession, tmp_path: Path, sink: Sink
):
    path = sparse(tmp_path / 'a "quoted".pdf', 9 * MB)
    session = await with_card(open_session, tmp_path, sink)
    turn = session.send(message(path), stream=False)
    shown = turn.preview()
    assert isinstance(shown, Sent)
    await drive(turn)
    [request] = records(session, Kind.REQUEST)
    assert request.raw == shown.body
    assert json.loads(shown.body)["params"]["message"]["parts"][1]["raw"] == f"{{{{file:{path}}}}}"
    assert dict(shown.headers)["Content-Length"] == str(sink.length)
    assert [tuple(pair) for pair in request.meta["headers"]] == list(shown.headers)


async def test_memory_stays_bounded(open_session: OpenSession, tmp_path: Path, sink: Sink):
    path = sparse(tmp_path / "large.bin", 100 * MB)
    session = await with_card(open_session, tmp_path, sink)
    tracemalloc.start()
    try:
        async with asyncio.timeout(60):
            assert await session.send(message(path), stream=False).finish() is None
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sink.length > 133 * MB
    assert peak < 12 * MB, f"{peak:,} bytes"


async def test_how_far_it_is_can_be_watched(open_session: OpenSession, tmp_path: Path, sink: Sink):
    path = sparse(tmp_path / "large.bin", 20 * MB)
    session = await with_card(open_session, tmp_path, sink)
    turn = session.send(message(path), stream=False)
    assert turn.upload.done == 0
    seen: list[int] = []
    sink.on_piece = lambda _: seen.append(turn.upload.done)
    await drive(turn)
    assert turn.upload.done == turn.upload.total == sink.length
    assert len(set(seen)) > 5
    assert seen == sorted(seen)


def _shorter(path: Path) -> None:
    os.truncate(path, 1 * MB)


def _gone(path: Path) -> None:
    path.unlink()


def _a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _a_device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_shorter, "became shorter while it was sent"),
        (_gone, "could not be read: No such file or directory"),
        (_a_folder, "is not a regular file any more"),
        (_a_pipe, "is not a regular file any more"),
        (_a_device, "is not a regular file any more"),
    ],
)
async def test_what_happens_to_a_file_meanwhile_ends_the_call_with_a_sentence(
    open_session: OpenSession, tmp_path: Path, sink: Sink, change: Callable[[Path], None], words: str
):
    path = sparse(tmp_path / "large.bin", 9 * MB)
    session = await with_card(open_session, tmp_path, sink)
    turn: Call = session.send(message(path), stream=False)
    change(path)
    fault = (await drive(turn)).fault
    assert fault is not None
    assert (fault.whose, fault.code) == (Whose.YOURS, FaultCode.USAGE)
    assert words in fault.seen
    assert str(path) in fault.seen
    assert turn.exchange.ending is Ending.BROKEN
    assert [record.kind for record in records(session)][-2:] == [Kind.REQUEST, Kind.END]
    sink.on_piece = None
    assert (await drive(session.send(text_draft("still here", request_id="r"), stream=False))).fault is None


async def test_a_file_that_grows_is_sent_as_long_as_it_was(open_session: OpenSession, tmp_path: Path, sink: Sink):
    path = sparse(tmp_path / "one.pdf", 9 * MB)
    session = await with_card(open_session, tmp_path, sink)
    turn = session.send(message(path), stream=False)
    body = as_text([path]).encode()
    os.truncate(path, 10 * MB)
    await drive(turn)
    assert (sink.length, sink.digest) == (len(body), hashlib.sha256(body).hexdigest())


async def test_an_agent_that_refuses_early_is_heard(open_session: OpenSession, tmp_path: Path, sink: Sink):
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 413 Payload Too Large\r\nContent-Length: 8\r\nConnection: close\r\n\r\ntoo much")
        await writer.drain()
        writer.write_eof()
        # Closing with unread input would reset the connection and take the answer with it.
        async with asyncio.timeout(PATIENCE):
            while await reader.read(65536):
                pass

    sink.answer = refuse
    path = sparse(tmp_path / "large.bin", 20 * MB)
    session = await with_card(open_session, tmp_path, sink)
    turn = await drive(session.send(message(path), stream=False))
    assert turn.exchange.head is not None
    assert turn.exchange.head.status == 413
    assert [record.raw for record in records(session, Kind.BODY)] == [b"too much"]
    assert turn.fault is not None


async def test_an_agent_that_closes_in_the_middle_is_a_fault_and_no_hang(
    open_session: OpenSession, tmp_path: Path, sink: Sink
):
    async def leave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(100_000)
        writer.write(b"HTTP/1.1 413 Payload Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        writer.transport.abort()

    sink.answer = leave
    path = sparse(tmp_path / "large.bin", 20 * MB)
    session = await with_card(open_session, tmp_path, sink)
    turn = await drive(session.send(message(path), stream=False))
    assert turn.fault is not None
    assert turn.fault.whose in (Whose.NETWORK, Whose.AGENT)


async def test_leaving_early_closes_the_file_and_the_connection(open_session: OpenSession, tmp_path: Path, sink: Sink):
    stuck = asyncio.Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        stuck.set()
        await asyncio.sleep(0.05)
        async with asyncio.timeout(PATIENCE):
            while await reader.read(65536):
                pass

    sink.answer = wait
    path = sparse(tmp_path / "large.bin", 20 * MB)
    session = await with_card(open_session, tmp_path, sink)
    turn = session.send(message(path), stream=False)
    sending = asyncio.create_task(turn.finish())
    async with asyncio.timeout(PATIENCE):
        await stuck.wait()
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    assert turn.exchange.ending is Ending.STOPPED
    await eventually(lambda: not [fd for fd in Path("/proc/self/fd").iterdir() if fd.resolve() == path.resolve()])


@pytest.mark.parametrize("version", ["0.1", "0.2", "0.3", "1.0", "opvs"])
async def test_every_version_has_its_place_for_it(open_session: OpenSession, tmp_path: Path, sink: Sink, version: str):
    path = sparse(tmp_path / "large.bin", 9 * MB)
    sink.keeps = True
    session = await with_card(open_session, tmp_path, sink, version=version)
    turn = await drive(session.send(message(path), stream=False))
    [request] = records(session, Kind.REQUEST)
    mark = f"{{{{file:{path}}}}}".encode()
    assert request.raw.count(mark) == 1
    assert sink.body == request.raw.replace(mark, base64.b64encode(path.read_bytes()))
    assert turn.upload.done == len(sink.body)


async def test_a_length_that_is_given_stands_above_ours_and_has_to_fit(
    open_session: OpenSession, tmp_path: Path, sink: Sink
):
    path = sparse(tmp_path / "large.bin", 9 * MB)
    session = await with_card(open_session, tmp_path, sink)
    turn = session.send(replace(message(path), svc_params=(("content-length", "5"),)), stream=False)
    shown = turn.preview()
    assert isinstance(shown, Sent)
    assert [value for name, value in shown.headers if name.lower() == "content-length"] == ["5"]
    fault = (await drive(turn)).fault
    assert fault is not None
    assert fault.whose is Whose.YOURS
    chunked = session.send(
        replace(message(path), svc_params=(("Transfer-Encoding", "chunked"),)), stream=False
    ).preview()
    assert isinstance(chunked, Sent)
    assert "content-length" not in {name.lower() for name, _ in chunked.headers}
