"""The gRPC client with servers that violate gRPC or HTTP/2: what happened, whose fault it is, and never a crash."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Sequence
from contextlib import aclosing

import http2
import pytest
from http2 import OK, Step, data, goaway, head, headers, message, trailers

from inspector.protocol.bindings.base import GrpcRequest
from inspector.protocol.errors import INVALID_RESPONSE, FaultCode
from inspector.wire.client.faults import is_local_status
from inspector.wire.client.grpc import GrpcClient
from inspector.wire.client.observations import Ended, Ending, Frames, Observation, Trailers

SERVICE = "lf.a2a.v1.A2AService"
ONE = message(b"\x0a\x01t")
BOMB = message(gzip.compress(bytes(50_000_000)), compressed=1)
INVALID = f"{INVALID_RESPONSE}: The response of TARGET is not valid gRPC: "
NO_STATUS = f"{INVALID_RESPONSE}: The response of TARGET ended without a gRPC status."
CLOSED = f"{FaultCode.UNREACHABLE}: TARGET closed the connection: "
RESET = f"{FaultCode.UNREACHABLE}: TARGET reset the call: "
LONG = f"{INVALID_RESPONSE}: Stopped reading: the metadata has "
APACHE = 70_007
"""The code that Apache sends in GOAWAY after a timeout; HTTP/2 does not define it. grpcio 1.84 aborts the process."""

VIOLATIONS: dict[str, tuple[list[Step], str]] = {
    "no trailers": ([head(1), data(1, b"", http2.END_STREAM)], NO_STATUS),
    "trailers without a status": ([head(1), trailers(1, (b"x", b"y"))], NO_STATUS),
    "a status that is not a number": ([head(1), trailers(1, (b"grpc-status", b"abc"))], INVALID),
    "an invalid header": ([head(1, (b"X-Upper", b"x"))], INVALID),
    "an invalid header block": ([http2.frame(http2.HEADERS, http2.END_HEADERS, 1, b"\xff" * 40)], INVALID),
    "HTTP/1.1": ([b"HTTP/1.1 200 OK\r\n\r\nhello world and more"], INVALID),
    "details that are not base64": (
        [head(1), trailers(1, (b"grpc-status", b"9"), (b"grpc-status-details-bin", b"!!"))],
        INVALID,
    ),
    "a compressed message": ([head(1, (b"grpc-encoding", b"gzip")), data(1, BOMB), trailers(1, OK)], INVALID),
    "an unknown compression": ([head(1, (b"grpc-encoding", b"br\x1b[2J")), data(1, ONE), trailers(1, OK)], INVALID),
    "long metadata": ([head(1, (b"x-long", b"h" * 17_000))], LONG),
    "long trailers": ([head(1), trailers(1, OK, (b"x-long", b"h" * 17_000))], LONG),
    "a reset": ([http2.frame(http2.RESET, 0, 1, bytes([0, 0, 0, 8]))], RESET),
    "a closed connection": ([None], CLOSED),
    "a goodbye": ([goaway(2, b"\x1b]52;c;aGk=\x07"), None], CLOSED),
    "a goodbye with an undefined code": ([goaway(APACHE, b"timeout"), None], CLOSED),
    "a length of 4 GiB": (
        [head(1), data(1, message(b"x", length=0xFFFFFFFF))],
        f"{INVALID_RESPONSE}: Stopped reading: a message has 4,294,967,295 bytes",
    ),
}


async def observe(steps: Sequence[Step], *, streaming: bool) -> tuple[str, list[Observation]]:
    async with (
        http2.serving(lambda stream, body: steps) as target,
        aclosing(GrpcClient()) as client,
        asyncio.timeout(20),
    ):
        call = GrpcRequest(target, f"/{SERVICE}/Any", {}, b"", streaming, tls=False)
        return target, [seen async for seen in client.exchange(call)]


def last(seen: list[Observation]) -> Ended:
    assert isinstance(seen[-1], Ended)
    return seen[-1]


@pytest.mark.parametrize("streaming", [False, True], ids=["unary", "streaming"])
@pytest.mark.parametrize("what", VIOLATIONS)
async def test_a_violation_is_named_as_one(what: str, streaming: bool):
    steps, expected = VIOLATIONS[what]
    target, seen = await observe(steps, streaming=streaming)
    fault = last(seen).fault
    assert fault is not None
    assert f"{fault.code}: {fault.seen}".startswith(expected.replace("TARGET", target))
    assert fault.hint
    assert last(seen).how is (Ending.LIMIT if "Stopped reading" in expected else Ending.BROKEN)
    assert not any(isinstance(observation, Trailers) for observation in seen)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([trailers(1, (b"x", b"y"))], "ended without a gRPC status"),
        ([goaway(APACHE), None], "closed the connection"),
        ([None], "closed the connection"),
    ],
)
async def test_a_violation_after_an_event_keeps_the_event(steps: list[Step], expected: str):
    _, seen = await observe([head(1), data(1, ONE), 0.1, *steps], streaming=True)
    assert [frame.raw for observation in seen if isinstance(observation, Frames) for frame in observation.frames]
    fault = last(seen).fault
    assert fault is not None
    assert fault.seen.startswith("The stream broke off after 1 event. ")
    assert expected in fault.seen


@pytest.mark.parametrize("steps", [[head(1), trailers(1, OK)], [trailers(1, OK)]], ids=["head", "trailers alone"])
async def test_the_status_ok_without_a_message_is_a_violation_unless_the_call_streams(steps: list[Step]):
    target, seen = await observe(steps, streaming=False)
    fault = last(seen).fault
    assert fault is not None
    assert fault.seen == f"The response of {target} is not valid gRPC: the status is OK, but there is no message."
    _, seen = await observe(steps, streaming=True)
    assert (last(seen).how, last(seen).events, last(seen).fault) == (Ending.COMPLETE, 0, None)


@pytest.mark.parametrize("words", ["Compression algorithm 'gzip' is disabled.", "Stream removed (Compression ...)"])
def test_the_library_has_two_spellings_for_a_response_that_it_ended(words: str):
    """Which it uses depends on how fast the rest of the response arrives."""
    assert is_local_status("UNIMPLEMENTED", words, connected=True)
    assert not is_local_status("UNIMPLEMENTED", "Method not found", connected=True)


async def test_a_graceful_goodbye_lets_the_stream_end():
    """The server announces the end of the connection, also with a code that is not defined, and completes the call."""
    for code in (0, APACHE):
        _, seen = await observe(
            [head(1), data(1, ONE), 0.05, goaway(code, last=1), data(1, ONE), trailers(1, OK)], streaming=True
        )
        assert (last(seen).how, last(seen).events, last(seen).fault) == (Ending.COMPLETE, 2, None)


@pytest.mark.parametrize(
    "words", [b"\xff\xfe", b"%ff%fe%ed%a0%80", b"%zz%1%", b"%1b]52;c;aGk=%07", "é\u202e".encode()], ids=repr
)
async def test_any_words_of_a_status_are_read(words: bytes):
    _, seen = await observe([head(1), trailers(1, (b"grpc-status", b"13"), (b"grpc-message", words))], streaming=False)
    [status] = [observation for observation in seen if isinstance(observation, Trailers)]
    assert (status.name, last(seen).fault) == ("INTERNAL", None)
    assert status.message


async def test_a_web_page_over_http_2_is_not_a_status():
    page = headers(1, (b":status", b"503"), (b"content-type", b"text/html")) + data(1, b"<html>", http2.END_STREAM)
    target, seen = await observe([page], streaming=False)
    fault = last(seen).fault
    assert fault is not None
    assert fault.seen == f"{target} answered with HTTP 503, without a gRPC status."
