"""Hostile agents over gRPC: damaged messages are recorded and printed as JSON, and the program ends in order."""

from __future__ import annotations

import json
import random
from base64 import b64encode
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import http2
import pytest
from hostile_agent import ServerThread
from http2 import OK, Pair, Step, data, head, message, trailers
from test_hostile_headless import run

from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.protocol.bindings import protobuf
from inspector.text.sanitise import clean

EVIL = "\x1b]52;c;aGk=\x07\u202e"
MESSAGES = 150
STATUS = {"state": "TASK_STATE_WORKING", "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": EVIL}]}}
VALID: tuple[dict[str, Any], ...] = (
    {"task": {"id": "t", "contextId": "c", "status": STATUS}},
    {"statusUpdate": {"taskId": "t", "contextId": "c", "status": STATUS, "metadata": {"a": [1, {"b": None}]}}},
    {
        "artifactUpdate": {
            "taskId": "t",
            "contextId": "c",
            "artifact": {"artifactId": "a", "name": EVIL, "parts": [{"data": {"k": [1.5, True]}}, {"raw": "AAAA"}]},
            "append": True,
        }
    },
)
DONE = {"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}}


def written(event: dict[str, Any]) -> bytes:
    return protobuf.write("v1_0", "StreamResponse", event)


def damaged(seed: int) -> list[bytes]:
    """Return valid messages with bytes that were changed, inserted, removed or repeated."""
    randomness = random.Random(seed)
    messages = []
    for _ in range(MESSAGES):
        raw = bytearray(written(randomness.choice(VALID)))
        for _ in range(randomness.randint(1, 4)):
            at = randomness.randrange(len(raw))
            match randomness.randrange(4):
                case 0:
                    raw[at] = randomness.randrange(256)
                case 1:
                    raw[at:at] = randomness.randbytes(randomness.randint(1, 6))
                case 2 if len(raw) > 10:
                    del raw[at : at + randomness.randint(1, 8)]
                case _:
                    raw += raw[at:]
        messages.append(bytes(raw))
    return messages


@contextmanager
def agent(server_thread: ServerThread, folder: Path, answer: http2.Answer) -> Iterator[str]:
    """Serve an agent over gRPC, and give the path of its card."""
    stack = AsyncExitStack()
    target = server_thread.run(stack.enter_async_context(http2.serving(answer)))
    interface = {"url": target, "protocolBinding": "GRPC", "protocolVersion": "1.0"}
    card = {"name": "a", "description": "d", "version": "1", "skills": [], "supportedInterfaces": [interface]}
    path = folder / "card.json"
    path.write_text(json.dumps({**card, "capabilities": {"streaming": True}}))
    try:
        yield str(path)
    finally:
        server_thread.run(stack.aclose())


def strict(line: str) -> Any:
    """Read JSON without the numbers that only Python reads."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    return json.loads(line, parse_constant=refuse)


@pytest.mark.parametrize("seed", range(3))
def test_damaged_messages_are_recorded_and_printed(home: Path, server_thread: ServerThread, tmp_path: Path, seed: int):
    messages = [*damaged(seed), written(DONE)]

    def answer(stream: int, body: bytes) -> list[Step]:
        return [head(stream), *(data(stream, message(raw)) for raw in messages), trailers(stream, OK)]

    capture = tmp_path / "all.a2a"
    with agent(server_thread, tmp_path, answer) as card:
        words = ["-a", card, "--text", "hi", "--stream", "--findings", "--timeout", "20s"]
        code, output = run(home, "send", *words, "-o", "json", "--capture", str(capture))
        assert code in (0, 1), output
        lines = [strict(line) for line in output.splitlines() if line.startswith("{")]
        assert len(lines) > MESSAGES / 4
        assert "Traceback" not in output
        assert run(home, "send", *words)[0] in (0, 1)
    code, output = run(home, "show", str(capture), "kind:frame", "-o", "json")
    assert code == 0
    frames = [strict(line) for line in output.splitlines()]
    with Capture.open(capture) as opened:
        recorded = [record.raw for record in opened.select(kinds=(Kind.FRAME,))]
    assert len(frames) == len(recorded)
    # An event with the end of the task, or a message, can end the call before the last frame.
    assert recorded == messages[: len(recorded)]


_INFO = {"reason": EVIL, "domain": EVIL, "metadata": {EVIL: EVIL}}
_DETAILS = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", **_INFO}]
_STATUS = protobuf.write("status", "Status", {"code": 9, "message": EVIL, "details": _DETAILS})
STATUSES: dict[str, tuple[Pair, ...]] = {
    "words": ((b"grpc-status", b"13"), (b"grpc-message", b"%1b]52;c;aGk=%07%e2%80%ae")),
    "reason": ((b"grpc-status", b"9"), (b"grpc-status-details-bin", b64encode(_STATUS))),
    "header": (OK, (b"x-evil", EVIL.encode()), (b"x-c1", b"\x9b2J")),
}


@pytest.mark.parametrize("what", STATUSES)
def test_hostile_text_in_a_status_is_visible(home: Path, server_thread: ServerThread, tmp_path: Path, what: str):
    def answer(stream: int, body: bytes) -> list[Step]:
        return [head(stream), trailers(stream, *STATUSES[what])]

    with agent(server_thread, tmp_path, answer) as card:
        for more in ((), ("-o", "json"), ("--debug",)):
            code, output = run(home, "send", "-a", card, "--text", "hi", *more)
            assert code == 1
            if more != ("--debug",) and what != "header":
                assert clean(EVIL) in output or r"\u001b]52;c;aGk=\u0007\u202e" in output, output
