"""The HTTP client: what it observes of servers that respond or disconnect."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest
from observing import JSON, body_of, data_of, end_of, fault_of, observe
from raw_server import PATIENCE, Peer, answering, chunk, response, serve, stream_head

from inspector.protocol.bindings.base import HttpRequest
from inspector.protocol.errors import INVALID_RESPONSE, FaultCode, Whose
from inspector.wire.client.http import Client, Limits
from inspector.wire.client.observations import Body, Ended, Ending, Frames, Head, Observation, Sent

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


async def test_a_stream_that_stops_causes_a_timeout():
    async def stopping(peer: Peer) -> None:
        await peer.request()
        await peer.send(stream_head() + chunk(b"data: 1\n\n"))
        await peer.until_gone()

    async with serve(stopping) as server, aclosing(Client(Limits(read_seconds=0.05))) as client:
        fault = fault_of(await observe(client, server.url))
    assert fault.code == FaultCode.TIMEOUT
    assert fault.seen.startswith("The stream stopped after 1 event.")
    assert "did not continue the response before the timeout" in fault.seen


async def test_a_silent_agent_causes_a_timeout():
    async def silent(peer: Peer) -> None:
        await peer.request()
        await peer.until_gone()

    async with serve(silent) as server, aclosing(Client(Limits(read_seconds=0.05))) as client:
        fault = fault_of(await observe(client, server.url))
    assert (fault.whose, fault.code) == (Whose.AGENT, FaultCode.TIMEOUT)
    assert "did not respond" in fault.seen
