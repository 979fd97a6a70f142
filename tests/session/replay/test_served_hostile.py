"""`mock --capture`: a capture can come from an untrusted source, and can be damaged."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import time
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from inspector.sample_agents.replay.recording import RecordingError, read_recording
from inspector.sample_agents.server import MockAgent
from scripted import CARD_PATH, OpenSession, eventually, records
from serving import closed, send, served

from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.session.replay.validation import validated


@pytest.fixture
async def path(mock: MockAgent, open_session: OpenSession, tmp_path: Path) -> Path:
    """Return a copy of a capture with a stream and a message, in a single file."""
    session = await open_session(mock.url)
    await send(session, "report 3", stream=True)
    await send(session, "echo hello")
    copy = tmp_path / "copy.a2a"
    shutil.copy(await closed(session), copy)
    return copy


def change(path: Path, statement: str, *values: Any) -> None:
    with sqlite3.connect(path) as file:
        assert file.execute(statement, values).rowcount
    file.close()


def with_meta(path: Path, kind: Kind, **members: Any) -> None:
    """Change members of the meta of all records of a kind."""
    for name, value in members.items():
        change(
            path,
            f"UPDATE record SET meta = json_set(meta, '$.{name}', json(?)) WHERE kind = ?",
            json.dumps(value),
            kind.value,
        )


async def post(url: str, text: str, method: str = "SendMessage") -> tuple[int, bytes]:
    message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}]}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}
    async with aiohttp.ClientSession() as client, client.post(url, json=body) as response:
        return response.status, await response.read()


async def test_headers_that_http_does_not_allow_are_left_out(path: Path):
    hostile = [["X-A", "a\r\nX-Injected: b"], ["Bad Name", "x"], ["X-Good", "yes"], ["Content-Length", "7"]]
    with_meta(path, Kind.RESPONSE, headers=hostile, reason="OK\r\nX-Injected: c")
    async with served(path) as agent, aiohttp.ClientSession() as client:
        status, body = await post(agent.url, "echo hello")
        assert (status, json.loads(body)["id"]) == (200, 1)
        async with client.get(agent.url + CARD_PATH) as response:
            assert "X-Injected" not in response.headers
            assert response.headers["X-Good"] == "yes"


@pytest.mark.parametrize("status", [0, 100, 1000, 2**62])
async def test_a_status_that_http_does_not_allow_is_not_served(path: Path, status: int):
    with_meta(path, Kind.RESPONSE, status=status)
    with (
        Capture.open(path, validated) as capture,
        pytest.raises(RecordingError, match="Requests without a valid response: 2"),
    ):
        read_recording(capture)


async def test_times_that_go_back_or_far_ahead_do_not_stop_the_server(path: Path):
    change(path, "UPDATE record SET at = 0 WHERE kind = 'frame'")
    change(path, "UPDATE record SET at = 253402300000 WHERE kind = 'body'")
    async with served(path, pace=1) as agent:
        async with asyncio.timeout(5):
            _, stream = await post(agent.url, "report 3", "SendStreamingMessage")
        assert stream.count(b"data: ") == 6
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await post(agent.url, "echo hello")


async def test_a_server_stops_although_responses_are_open(path: Path):
    with_meta(path, Kind.END, how="stopped")
    async with served(path) as agent:
        waiting = asyncio.create_task(post(agent.url, "report 3", "SendStreamingMessage"))
        await eventually(lambda: agent.counts[2] == 1)
        started = time.monotonic()
    assert time.monotonic() - started < 5
    with pytest.raises(aiohttp.ClientError):
        await waiting


async def test_a_capture_without_its_last_records_is_served(path: Path):
    change(path, "DELETE FROM record WHERE seq = (SELECT max(seq) FROM record)")
    async with served(path) as agent:
        assert (await post(agent.url, "echo hello"))[0] == 200
    change(path, "DELETE FROM record WHERE seq > (SELECT min(seq) + 2 FROM record WHERE kind = 'frame')")
    lines: list[str] = []
    async with served(path, lines=lines) as agent:
        waiting = asyncio.create_task(post(agent.url, "report 3", "SendStreamingMessage"))
        await eventually(lambda: "".join(lines).endswith("recorded bytes sent; waiting for the client to disconnect"))
        assert not waiting.done()
        waiting.cancel()
        await eventually(lambda: "".join(lines).endswith("client disconnected"))


async def test_records_with_invalid_members_are_skipped(path: Path, mock: MockAgent, open_session: OpenSession):
    change(path, "UPDATE record SET meta = '{}' WHERE kind = 'request' AND operation = 'SendMessage'")
    with Capture.open(path, validated) as capture:
        recording = read_recording(capture)
        assert (len(recording.exchanges), recording.skipped) == (1, 1)
    async with served(path) as agent:
        again = await open_session(agent.url)
        await send(again, "report 3", stream=True)
        assert len(records(again, Kind.FRAME)) == 6


async def test_random_bytes_in_payloads_are_served_as_they_are(path: Path):
    change(path, "UPDATE record SET raw = ? WHERE kind IN ('body', 'frame', 'keepalive')", bytes(range(256)) * 40)
    async with served(path) as agent:
        _, body = await post(agent.url, "echo hello")
        assert body == bytes(range(256)) * 40
        _, stream = await post(agent.url, "report 3", "SendStreamingMessage")
        assert stream == bytes(range(256)) * 240
