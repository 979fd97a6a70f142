"""The HTTP client: what it observes of servers that respond, disconnect, or exceed the limits."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import zlib
from collections.abc import AsyncIterator
from contextlib import aclosing
from functools import cache
from typing import Any

import httpx
import pytest
import trustme
from raw_server import PATIENCE, Peer, RawServer, answering, chunk, eventually, response, serve, stream_head

from inspector.protocol.bindings.base import HttpRequest
from inspector.protocol.errors import INVALID_RESPONSE, Fault, FaultCode, Whose
from inspector.wire.client.http import Client, Limits
from inspector.wire.client.observations import Body, Ended, Ending, Frames, Head, Observation, Sent

JSON = "Content-Type: application/json"
EVENTS = "Content-Type: text/event-stream"


@pytest.fixture(params=["own", "httpx"])
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    """Return a client over the transport without a proxy, and over the one of httpx that is used with a proxy."""
    transport = httpx.AsyncHTTPTransport() if request.param == "httpx" else None
    async with aclosing(Client(transport=transport)) as client:
        yield client


async def observe(client: Client, url: str, **members: Any) -> list[Observation]:
    request = HttpRequest(members.pop("method", "GET"), url, members.pop("headers", {}), members.pop("body", b""))
    async with asyncio.timeout(PATIENCE), aclosing(client.exchange(request)) as seen:
        return [observation async for observation in seen]


def end_of(seen: list[Observation]) -> Ended:
    ended = seen[-1]
    assert isinstance(ended, Ended)
    return ended


def fault_of(seen: list[Observation], how: Ending = Ending.BROKEN) -> Fault:
    """Return the fault at the end of an exchange; it has a text and a hint."""
    ended = end_of(seen)
    assert ended.how is how
    fault = ended.fault
    assert fault is not None
    assert isinstance(fault.whose, Whose)
    assert fault.seen.endswith(".")
    assert fault.hint
    assert "Traceback" not in fault.seen
    return fault


def body_of(seen: list[Observation]) -> bytes:
    [body] = [observation.raw for observation in seen if isinstance(observation, Body)]
    return body


def data_of(seen: list[Observation]) -> list[bytes | None]:
    return [frame.data for observation in seen if isinstance(observation, Frames) for frame in observation.frames]


# Answers that end in order


async def test_an_answer_is_observed_from_the_request_to_the_end(client: Client):
    async with serve(answering(response(b'{"a": 1}', JSON, "X-Twice: 1", "x-twice: 2"))) as server:
        seen = await observe(client, f"{server.url}/rpc?x=1", method="POST", headers={"X-A": "b"}, body=b'{"q": 1}')
    sent, head, body, ended = seen
    assert isinstance(sent, Sent)
    assert (sent.method, sent.url, sent.body) == ("POST", f"{server.url}/rpc?x=1", b'{"q": 1}')
    assert ("X-A", "b") in sent.headers
    assert isinstance(head, Head)
    assert (head.status, head.reason, head.http_version, head.streamed) == (200, "OK", "HTTP/1.1", False)
    assert head.headers[1:] == (("Content-Type", "application/json"), ("X-Twice", "1"), ("x-twice", "2"))
    assert head.header("x-TWICE") == "1"
    assert head.header("absent") == ""
    assert isinstance(body, Body)
    assert body.raw == b'{"a": 1}'
    assert isinstance(ended, Ended)
    assert (ended.how, ended.fault, ended.events, ended.size, ended.rest) == (Ending.COMPLETE, None, 0, 8, b"")
    assert server.heard[0].startswith(b"POST /rpc?x=1 HTTP/1.1\r\n")
    assert server.heard[0].endswith(b'\r\n\r\n{"q": 1}')


async def test_the_headers_that_were_sent_are_those_that_were_observed(client: Client):
    async with serve(answering(response())) as server:
        seen = await observe(client, server.url, headers={"X-One": "1"})
    assert isinstance(seen[0], Sent)
    lines = server.heard[0].decode().split("\r\n")[1:-2]
    assert lines == [f"{name}: {value}" for name, value in seen[0].headers]


async def test_a_stream_is_observed_frame_by_frame(client: Client):
    events = b": hi\n\ndata: 1\r\n\r\nevent: x\ndata: 2\n\nid: 1\n\ndata: left"
    script = answering(stream_head() + chunk(events[:20]) + chunk(events[20:]) + chunk(b""))
    async with serve(script) as server:
        seen = await observe(client, server.url)
    assert data_of(seen) == [None, b"1", b"2", None]
    ended = end_of(seen)
    assert (ended.how, ended.events, ended.size, ended.rest) == (Ending.COMPLETE, 2, len(events), b"data: left")


async def test_a_stream_that_arrives_byte_by_byte_has_the_same_frames(client: Client):
    async def trickle(peer: Peer) -> None:
        await peer.request()
        for byte in stream_head() + chunk(b"data: caf\xc3\xa9\r\n\r\n") + chunk(b""):
            await peer.send(bytes([byte]))

    async with serve(trickle) as server:
        seen = await observe(client, server.url)
    assert data_of(seen) == ["café".encode()]
    assert end_of(seen).how is Ending.COMPLETE


async def test_http_1_0_ends_with_the_connection(client: Client):
    async with serve(answering(b"HTTP/1.0 200 Fine\r\nContent-Type: application/json\r\n\r\n{}")) as server:
        seen = await observe(client, server.url)
    assert isinstance(seen[1], Head)
    assert (seen[1].http_version, seen[1].reason) == ("HTTP/1.0", "Fine")
    assert body_of(seen) == b"{}"
    assert end_of(seen).how is Ending.COMPLETE


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified", "404 Not Found", "500 Oh", "599 "])
async def test_any_status_is_a_response(client: Client, status: str):
    async with serve(answering(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())) as server:
        seen = await observe(client, server.url)
    assert isinstance(seen[1], Head)
    assert f"{seen[1].status} {seen[1].reason}" == status
    assert (body_of(seen), end_of(seen).how) == (b"", Ending.COMPLETE)


async def test_header_values_are_read_as_utf_8_or_else_as_latin_1(client: Client):
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Latin: caf\xe9\r\nX-Utf: caf\xc3\xa9\r\n\r\n"
    async with serve(answering(head)) as server:
        seen = await observe(client, server.url, headers={"X-Ours": "née"})
    assert isinstance(seen[1], Head)
    assert (seen[1].header("x-latin"), seen[1].header("x-utf")) == ("café", "café")
    assert isinstance(seen[0], Sent)
    assert ("X-Ours", "née") in seen[0].headers
    assert "X-Ours: née\r\n".encode() in server.heard[0]


# What a client of ours does not do


async def test_no_redirect_is_followed(client: Client):
    async with serve(answering(response(b"", "Location: /elsewhere", status="302 Found"))) as server:
        seen = await observe(client, server.url)
    assert isinstance(seen[1], Head)
    assert (seen[1].status, len(server.heard)) == (302, 1)


async def test_no_cookie_is_kept(client: Client):
    answer = response(b"", "Set-Cookie: session=1; Path=/")
    async with serve(answering(answer, answer)) as server:
        await observe(client, server.url)
        await observe(client, server.url)
    assert len(server.heard) == 2
    assert b"cookie" not in server.heard[1].lower()


async def test_userinfo_of_a_url_is_observed_as_a_header(client: Client):
    async with serve(answering(response())) as server:
        seen = await observe(client, server.url.replace("://", "://us%20er:p%40ss@"))
    assert isinstance(seen[0], Sent)
    assert ("Authorization", "Basic dXMgZXI6cEBzcw==") in seen[0].headers
    assert server.heard[0].lower().count(b"authorization: basic dxmgzxi6cebzcw==") == 1


async def test_our_header_has_priority_over_userinfo_of_the_url(client: Client):
    async with serve(answering(response())) as server:
        await observe(client, server.url.replace("://", "://u:p@"), headers={"authorization": "Bearer x"})
    assert server.heard[0].lower().count(b"authorization") == 1
    assert b"Bearer x" in server.heard[0]


# Connections that break off


async def broken_after(client: Client, data: bytes, *, reset: bool = False) -> list[Observation]:
    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(data)
        if reset:
            await peer.reader.read(0)
            peer.reset()

    async with serve(script) as server:
        return await observe(client, server.url)


async def test_a_body_shorter_than_its_content_length_is_incomplete(client: Client):
    seen = await broken_after(client, response(b"half", JSON, length=100))
    assert body_of(seen) == b"half"
    fault = fault_of(seen)
    assert (fault.whose, fault.code) == (Whose.AGENT, FaultCode.UNREACHABLE)
    assert "closed the connection" in fault.seen


async def test_a_stream_without_its_last_chunk_is_incomplete(client: Client):
    seen = await broken_after(client, stream_head() + chunk(b"data: 1\n\ndata: 2\n\ndata: 3"))
    assert data_of(seen) == [b"1", b"2"]
    assert "broke off after 2 events" in fault_of(seen).seen
    assert end_of(seen).rest == b"data: 3"


async def test_a_stream_that_ends_within_a_chunk_is_incomplete(client: Client):
    seen = await broken_after(client, stream_head() + chunk(b"data: 1\n\n") + b"400\r\ndata: 2")
    assert "broke off after 1 event." in fault_of(seen).seen


async def test_a_stream_that_is_reset_is_incomplete(client: Client):
    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(stream_head() + chunk(b"data: 1\n\n"))
        await reset.wait()
        peer.reset()

    reset = asyncio.Event()
    async with serve(script) as server, asyncio.timeout(PATIENCE):
        seen: list[Observation] = []
        async with aclosing(client.exchange(HttpRequest("GET", server.url, {}))) as observed:
            async for observation in observed:
                seen.append(observation)
                if isinstance(observation, Frames):
                    reset.set()
    fault = fault_of(seen)
    assert "broke off after 1 event." in fault.seen
    assert fault.whose is Whose.NETWORK


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\x15\x03\x03\x00\x02\x02\x46",
        b"HTTP/9.9 yes\r\n\r\n",
    ],
    ids=["nothing", "half a head", "another protocol", "binary", "no such version"],
)
async def test_invalid_http_is_a_fault_of_the_agent(client: Client, data: bytes):
    seen = await broken_after(client, data)
    assert [type(observation) for observation in seen] == [Sent, Ended]
    assert fault_of(seen).whose is Whose.AGENT


@pytest.mark.parametrize(
    "framing", ["Content-Length: many", "Content-Length: 1\r\nContent-Length: 2", "Transfer-Encoding: wishful"]
)
async def test_invalid_framing_is_a_fault_of_the_agent(client: Client, framing: str):
    seen = await broken_after(client, f"HTTP/1.1 200 OK\r\n{framing}\r\n\r\nxx".encode())
    assert fault_of(seen).whose is Whose.AGENT


async def test_a_broken_chunk_size_is_the_fault_of_the_agent(client: Client):
    seen = await broken_after(client, stream_head() + chunk(b"data: 1\n\n") + b"zz\r\n")
    assert "broke off after 1 event." in fault_of(seen).seen


async def test_a_head_without_end_is_cut(client: Client):
    seen = await broken_after(client, b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"x" * 300_000)
    fault = fault_of(seen)
    assert (fault.whose, fault.code) == (Whose.AGENT, INVALID_RESPONSE)
    assert fault.seen == "Stopped reading: the head of the response of 127.0.0.1 is too large."


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PRI * HTTP/2.0\r\n\r\n", "is not valid HTTP: illegal status line: PRI * HTTP/2.0."),
        (b"HTTP/1.1 101 Go\r\nUpgrade: x\r\n\r\n", "(101), which the request did not ask for."),
    ],
)
async def test_an_error_does_not_contain_names_of_libraries(client: Client, data: bytes, said: str):
    seen = await broken_after(client, data)
    assert fault_of(seen).seen.endswith(said)


async def test_the_beginning_of_an_unfinished_head_is_quoted():
    seen = await broken_after(Client(), b"hello there")
    assert "within the head of the response, after b'hello there'" in fault_of(seen).seen


async def test_endless_informational_responses_are_refused():
    """They would keep the program busy, and every one of them would restart the timer."""
    seen = await broken_after(Client(), b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 101)
    assert "more than 100 responses with a status of 1xx" in fault_of(seen).seen
    seen = await broken_after(Client(), b"HTTP/1.1 100 Continue\r\n\r\n" * 100 + b"HTTP/1.1 204 OK\r\n\r\n")
    assert end_of(seen).fault is None


async def test_a_silent_agent_causes_a_timeout():
    async def silent(peer: Peer) -> None:
        await peer.request()
        await peer.until_gone()

    async with serve(silent) as server, aclosing(Client(Limits(read_seconds=0.05))) as client:
        fault = fault_of(await observe(client, server.url))
    assert (fault.whose, fault.code) == (Whose.AGENT, FaultCode.TIMEOUT)
    assert "did not respond" in fault.seen


# Content codings


@pytest.mark.parametrize(
    ("coding", "encode"), [("gzip", gzip.compress), ("x-gzip", gzip.compress), ("DEFLATE", zlib.compress)]
)
async def test_a_body_with_a_content_coding_that_was_not_requested_is_read(client: Client, coding: str, encode: Any):
    plain = b'{"text": "' + b"lorem ipsum " * 500 + b'"}'
    encoded = encode(plain)
    async with serve(answering(response(encoded, JSON, f"Content-Encoding: {coding}"))) as server:
        seen = await observe(client, server.url)
    assert body_of(seen) == plain
    assert (end_of(seen).how, end_of(seen).size) == (Ending.COMPLETE, len(encoded))
    assert b"accept-encoding: identity" in server.heard[0].lower()


async def test_a_stream_in_gzip_is_read_event_by_event(client: Client):
    packer = zlib.compressobj(wbits=31)
    pieces = [packer.compress(b"data: %d\n\n" % number) + packer.flush(zlib.Z_SYNC_FLUSH) for number in range(3)]
    pieces.append(packer.flush())
    script = answering(stream_head("Content-Encoding: gzip") + b"".join(map(chunk, pieces)) + chunk(b""))
    async with serve(script) as server:
        seen = await observe(client, server.url)
    assert data_of(seen) == [b"0", b"1", b"2"]
    assert end_of(seen).how is Ending.COMPLETE


@pytest.mark.parametrize("size", [256 * 1024, 256 * 1024 + 1, 512 * 1024, 1_000_000])
async def test_a_chunk_that_fills_the_buffer_exactly_is_complete(client: Client, size: int):
    plain = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    async with serve(answering(response(zlib.compress(plain, 1), JSON, "Content-Encoding: deflate"))) as server:
        assert body_of(await observe(client, server.url)) == plain


ENCODED = gzip.compress(b'{"a": "' + bytes(range(97, 123)) * 40 + b'"}')


@pytest.mark.parametrize(
    ("body", "coding", "said"),
    [
        (ENCODED[:-9], "gzip", "breaks off"),
        (ENCODED + b"more", "gzip", "continues after its end"),
        (ENCODED[:-8] + b"\0" * 8, "gzip", "is not"),
        (b'{"a": 1}', "gzip", "is not"),
        (b'{"a": 1}', "deflate", "is not"),
        (b"\x0b\x02\x80{}\x03", "br", "'br'"),
        (gzip.compress(ENCODED), "gzip, gzip", "'gzip, gzip'"),
    ],
    ids=["cut", "goes on", "wrong checksum", "not gzip", "not deflate", "unknown", "nested"],
)
async def test_a_wrong_or_unknown_content_coding_is_reported(client: Client, body: bytes, coding: str, said: str):
    async with serve(answering(response(body, JSON, f"Content-Encoding: {coding}"))) as server:
        seen = await observe(client, server.url)
    fault = fault_of(seen)
    assert (fault.whose, fault.code) == (Whose.AGENT, INVALID_RESPONSE)
    assert said in fault.seen


async def test_a_body_with_an_unknown_content_coding_is_unchanged(client: Client):
    async with serve(answering(response(b"\x0b\x02\x80{}\x03", JSON, "Content-Encoding: br"))) as server:
        assert body_of(await observe(client, server.url)) == b"\x0b\x02\x80{}\x03"


async def test_an_empty_body_needs_no_coding(client: Client):
    async with serve(answering(response(b"", "Content-Encoding: gzip"))) as server:
        assert end_of(await observe(client, server.url)).how is Ending.COMPLETE


@cache
def bomb(coding: str) -> bytes:
    """Return 60 MB, compressed."""
    packer = zlib.compressobj(9, wbits=31 if coding == "gzip" else 15)
    return b"".join(packer.compress(b" " * 2**20) for _ in range(60)) + packer.flush()


@pytest.mark.parametrize("kind", [JSON, EVENTS])
@pytest.mark.parametrize("coding", ["gzip", "deflate"])
async def test_a_decompression_bomb_is_not_decoded(client: Client, kind: str, coding: str):
    async with serve(answering(response(bomb(coding), kind, f"Content-Encoding: {coding}"))) as server:
        seen = await observe(client, server.url)
    assert "100 times" in fault_of(seen, Ending.LIMIT).seen


# Limits


def endless(head: bytes, data: bytes, server_saw: list[str]) -> Any:
    """Return a script that sends without end and notes that the client has gone."""

    async def script(peer: Peer) -> None:
        await peer.request()
        try:
            await peer.send(head)
            while True:
                await peer.send(data)
        except ConnectionError:
            server_saw.append("gone")

    return script


async def test_a_body_is_read_up_to_its_limit():
    saw: list[str] = []
    script = endless(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", b"x" * 10_000, saw)
    async with serve(script) as server, aclosing(Client(Limits(body=100_000))) as client:
        seen = await observe(client, server.url)
        await eventually(lambda: saw)
    assert len(body_of(seen)) == 64 * 1024
    assert "100,000 bytes" in fault_of(seen, Ending.LIMIT).seen


@pytest.mark.parametrize("block", [b": x\n\n", b"data:\n\n", b"retry: 1\n\n"])
async def test_blocks_without_data_are_read_up_to_their_limit(block: bytes):
    saw: list[str] = []
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n"
    async with serve(endless(head, block * 100, saw)) as server, aclosing(Client(Limits(empty_blocks=1000))) as client:
        seen = await observe(client, server.url)
        await eventually(lambda: saw)
    assert "events in a row are without data" in fault_of(seen, Ending.LIMIT).seen
    assert 1000 < sum(len(frames.frames) for frames in seen if isinstance(frames, Frames)) < 1200


async def test_data_between_blocks_without_data_resets_their_limit():
    blocks = (b": x\n\n" * 900 + b"data: 1\n\n") * 3

    async def script(peer: Peer) -> None:
        await peer.request()
        await peer.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + blocks)

    async with serve(script) as server, aclosing(Client(Limits(empty_blocks=1000))) as client:
        seen = await observe(client, server.url)
    assert (end_of(seen).how, end_of(seen).events) == (Ending.COMPLETE, 3)


async def test_an_event_is_read_up_to_its_limit_and_its_beginning_is_kept():
    saw: list[str] = []
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\ndata: "
    async with serve(endless(head, b"x" * 10_000, saw)) as server, aclosing(Client(Limits(block=200_000))) as client:
        seen = await observe(client, server.url)
        await eventually(lambda: saw)
    assert data_of(seen) == [b"1"]
    assert "200,000 bytes" in fault_of(seen, Ending.LIMIT).seen
    assert end_of(seen).rest == b"data: " + b"x" * (64 * 1024 - 6)


# Ending it ourselves


async def long_stream(peer: Peer) -> None:
    await peer.request()
    await peer.send(stream_head() + chunk(b"data: 1\n\n"))
    await peer.until_gone()


async def test_closing_the_iterator_closes_the_connection_and_leaves_no_task(client: Client):
    async with serve(long_stream) as server:
        before = asyncio.all_tasks()
        async with aclosing(client.exchange(HttpRequest("GET", server.url, {}))) as seen:
            async for observation in seen:
                if isinstance(observation, Frames):
                    break
        await eventually(lambda: server.open == 0)
        # The script of the connection is a task as well, which counts down before it is done.
        await eventually(lambda: not any(not task.done() for task in asyncio.all_tasks() - before))


async def test_canceling_the_task_closes_the_connection(client: Client):
    async with serve(long_stream) as server:
        reading = asyncio.create_task(observe(client, server.url))
        await eventually(lambda: server.open == 1 and server.heard)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        await eventually(lambda: server.open == 0)


async def test_a_hundred_streams_at_once_leave_nothing_behind(client: Client):
    async with serve(long_stream) as server:
        reading = [asyncio.create_task(observe(client, server.url)) for _ in range(100)]
        await eventually(lambda: server.open == 100)
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
        await eventually(lambda: server.open == 0)


@pytest.mark.parametrize("turns", range(12))
async def test_canceling_between_connection_and_request_leaves_no_connection(client: Client, turns: int):
    """Httpcore forgets a connection that is canceled before its first request, so every turn of that time is tried."""
    async with serve(long_stream) as server:
        reading = [asyncio.create_task(observe(client, server.url)) for _ in range(30)]
        while not server.open:
            await asyncio.sleep(0)
        for _ in range(turns):
            await asyncio.sleep(0)
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
        await eventually(lambda: server.open == 0)


async def test_closing_the_client_ends_running_exchanges():
    async with serve(long_stream) as server:
        client = Client()
        reading = asyncio.create_task(observe(client, server.url))
        await eventually(lambda: server.heard)
        await client.aclose()
        await eventually(lambda: server.open == 0)
        assert fault_of(await reading).whose is not Whose.OURS


# Servers that cannot be reached


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_a_refused_connection_is_reported_with_host_and_port_without_the_password(client: Client):
    port = unused_port()
    fault = fault_of(await observe(client, f"http://user:hunter2@127.0.0.1:{port}/x"))
    assert (fault.whose, fault.code) == (Whose.AGENT, FaultCode.UNREACHABLE)
    assert f"127.0.0.1:{port}" in fault.seen
    assert "hunter2" not in fault.seen + fault.hint


async def test_a_name_that_does_not_exist_is_not_resolved(client: Client):
    fault = fault_of(await observe(client, "http://no-such-host.invalid/"))
    assert (fault.whose, fault.code) == (Whose.NETWORK, FaultCode.UNREACHABLE)
    assert "no-such-host.invalid could not be resolved" in fault.seen


@pytest.mark.parametrize(
    "url",
    ["", "x", "//x", "ftp://x/", "file:///etc/passwd", "javascript:alert(1)", "http://", "http://[", "http://a:b/",
     "http://a b/", "http://\x1b[31m/", "http://x:99999/", "http://\udc80/", "http:///x"],
)  # fmt: skip
async def test_an_invalid_url_is_a_usage_error(client: Client, url: str):
    fault = fault_of(await observe(client, url))
    assert fault.code in (FaultCode.USAGE, FaultCode.UNREACHABLE)
    assert fault.whose is not Whose.OURS


@pytest.mark.parametrize("url", [f"http://{'a' * 64}.invalid/", f"http://{'a.' * 200}invalid/", "http://a..b/"])
async def test_an_invalid_host_name_is_reported(client: Client, url: str):
    assert fault_of(await observe(client, url)).whose is not Whose.OURS


@pytest.mark.parametrize("difference", [65_536, -65_536])
async def test_a_port_that_does_not_exist_is_not_another_port(difference: int):
    """The system uses the lowest 16 bits of a port, so that the shown port would not be the one that is used."""
    async with serve(answering(response())) as server:
        port = int(server.url.rpartition(":")[2])
        fault = fault_of(await observe(Client(), f"http://127.0.0.1:{port + difference}/"))
        assert fault.code == FaultCode.USAGE
        assert f"The port {port + difference} is not between 1 and 65535" in fault.seen
    fault = fault_of(await observe(Client(), "http://127.0.0.1:0/"))  # not the default port
    assert "The port 0 is not between" in fault.seen


@pytest.mark.parametrize("headers", [{"X-A": "b\r\nX-Evil: 1"}, {"X A": "b"}, {"X-é": "b"}, {"X-A": "a\0b"}, {"": "b"}])
async def test_a_header_that_http_does_not_allow_is_not_sent(client: Client, headers: dict[str, str]):
    async with serve(answering(response())) as server:
        fault = fault_of(await observe(client, server.url, headers=headers))
    assert (fault.whose, fault.code) == (Whose.YOURS, FaultCode.USAGE)
    assert server.heard == []


# TLS


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
async def tls_server(authority: trustme.CA) -> AsyncIterator[RawServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    async with serve(answering(response(b"{}", JSON)), context) as server:
        yield server


async def test_an_untrusted_certificate_is_rejected(client: Client, tls_server: RawServer):
    fault = fault_of(await observe(client, tls_server.url))
    assert (fault.whose, fault.code) == (Whose.AGENT, FaultCode.UNREACHABLE)
    assert "certificate of 127.0.0.1 was refused" in fault.seen
    assert "--insecure" in fault.hint
    assert tls_server.heard == []


async def test_an_untrusted_certificate_is_accepted_with_insecure(tls_server: RawServer):
    async with aclosing(Client(verify=False)) as client:
        assert body_of(await observe(client, tls_server.url)) == b"{}"


async def test_a_certificate_for_another_name_is_refused(authority: trustme.CA, tmp_path: Any, monkeypatch: Any):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("other.example").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    async with serve(answering(response()), context) as server, aclosing(Client()) as client:
        fault = fault_of(await observe(client, server.url))
    assert "127.0.0.1" in fault.seen
    assert server.heard == []


async def test_tls_to_a_plain_http_port_is_reported(client: Client):
    async def refuse(peer: Peer) -> None:
        await peer.reader.read(1)
        await peer.send(response(status="400 Bad Request"))

    async with serve(refuse) as server:
        fault = fault_of(await observe(client, server.url.replace("http://", "https://")))
    assert fault.whose is Whose.AGENT
    assert "http://" in fault.hint


async def test_plain_http_to_a_tls_port_is_reported(client: Client, tls_server: RawServer):
    fault = fault_of(await observe(client, tls_server.url.replace("https://", "http://")))
    assert fault.whose in (Whose.AGENT, Whose.NETWORK)
