"""HTTP/1.1 framing and the reuse of connections, over the own transport and over the one of httpx."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx
import pytest
from raw_server import PATIENCE, Peer, answering, chunk, response, serve, stream_head

from inspector.protocol.bindings.base import HttpRequest
from inspector.protocol.errors import FaultCode, FaultError
from inspector.wire.client.http import Client, Limits
from inspector.wire.client.observations import Body, Ended, Ending, Frames, Head, Observation

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"


@pytest.fixture(params=["own", "httpx"])
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    transport = httpx.AsyncHTTPTransport() if request.param == "httpx" else None
    async with aclosing(Client(transport=transport)) as client:
        yield client


async def ask(client: Client, url: str, method: str = "POST", body: bytes = b"{}") -> list[Observation]:
    async with asyncio.timeout(PATIENCE), aclosing(client.exchange(HttpRequest(method, url, {}, body))) as seen:
        return [observation async for observation in seen]


def outcome(seen: list[Observation]) -> tuple[int, bytes, Ending]:
    """Return the status, the body and how the exchange ended."""
    [head] = [one for one in seen if isinstance(one, Head)]
    raw = b"".join(one.raw for one in seen if isinstance(one, Body))
    assert isinstance(seen[-1], Ended)
    return head.status, raw, seen[-1].how


@pytest.mark.parametrize(
    "first",
    [
        response(b"one"),
        CHUNKED + b"\r\n" + chunk(b"one") + chunk(b""),
        CHUNKED + b"\r\n" + chunk(b"one") + b"0\r\nTrailer: x\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
    ],
    ids=["length", "chunked", "trailer", "204"],
)
async def test_a_complete_response_leaves_its_connection_to_the_next_request(client: Client, first: bytes):
    connections = []

    async def script(peer: Peer) -> None:
        connections.append(peer)
        await answering(first, response(b"two"))(peer)

    async with serve(script) as server:
        await ask(client, server.url)
        assert outcome(await ask(client, server.url)) == (200, b"two", Ending.COMPLETE)
        assert len(connections) == 1


@pytest.mark.parametrize(
    "first",
    [
        response(b"one", "Connection: close"),
        b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\none",
        CHUNKED + b"Connection: Close\r\n\r\n" + chunk(b"one") + chunk(b""),
    ],
    ids=["close", "1.0", "close after chunks"],
)
async def test_a_connection_that_is_to_be_closed_is_not_used_again(client: Client, first: bytes):
    await one_connection_each(client, first)


@pytest.mark.parametrize(
    "first",
    [response(b"one") + b"surplus", CHUNKED + b"\r\n" + chunk(b"one") + chunk(b"") + b"surplus"],
    ids=["length", "chunked"],
)
async def test_a_connection_with_bytes_behind_the_response_is_not_used_again(first: bytes):
    """The transport of httpx reads them as the next response."""
    async with aclosing(Client()) as client:
        await one_connection_each(client, first)


async def one_connection_each(client: Client, first: bytes) -> None:
    """Check that the request after a response is sent over another connection."""
    connections = []

    async def script(peer: Peer) -> None:
        connections.append(peer)
        for answer in (first, response(b"two")) if len(connections) == 1 else (response(b"two"),):
            await peer.request()
            await peer.send(answer)
        await peer.until_gone()

    async with serve(script) as server:
        assert outcome(await ask(client, server.url)) == (200, b"one", Ending.COMPLETE)
        assert outcome(await ask(client, server.url)) == (200, b"two", Ending.COMPLETE)
        assert len(connections) == 2


async def test_a_connection_that_the_server_closed_meanwhile_is_not_used(client: Client):
    async with serve(answering(response(b"one"))) as server:
        for _ in range(3):
            assert outcome(await ask(client, server.url)) == (200, b"one", Ending.COMPLETE)
            while server.open:
                await asyncio.sleep(0)


async def test_heads_before_the_final_one_are_skipped(client: Client):
    early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    async with serve(answering(early + response(b"body", status="201 Created"))) as server:
        assert outcome(await ask(client, server.url)) == (201, b"body", Ending.COMPLETE)


@pytest.mark.parametrize("framing", ["Content-Length: 5", "Transfer-Encoding: chunked"])
async def test_the_response_to_head_has_no_body(client: Client, framing: str):
    async with serve(answering(f"HTTP/1.1 200 OK\r\n{framing}\r\n\r\n".encode())) as server:
        assert outcome(await ask(client, server.url, "HEAD", b"")) == (200, b"", Ending.COMPLETE)


async def test_line_feeds_alone_end_the_lines_of_a_head(client: Client):
    async with serve(answering(b"HTTP/1.1 200 OK\nContent-Length: 2\nX-Long: a\n b\n\nok")) as server:
        assert outcome(await ask(client, server.url)) == (200, b"ok", Ending.COMPLETE)


async def test_chunks_that_arrive_with_the_head_are_read(client: Client):
    events = b"".join(chunk(b"data: %d\n\n" % number) for number in range(50))
    async with serve(answering(stream_head() + events + chunk(b""))) as server:
        seen = await ask(client, server.url)
    frames = [frame for one in seen if isinstance(one, Frames) for frame in one.frames]
    assert [frame.data for frame in frames] == [b"%d" % number for number in range(50)]


@pytest.mark.parametrize(
    "flood", [b"3;" + b"x" * 200_000, b"0\r\n" + b"X: y\r\n" * 40_000], ids=["extension", "trailer"]
)
async def test_endless_framing_is_cut(client: Client, flood: bytes):
    async with serve(answering(CHUNKED + b"\r\n" + chunk(b"one") + flood)) as server:
        status, body, how = outcome(await ask(client, server.url))
    assert (status, body, how) == (200, b"one", Ending.BROKEN)


async def test_an_upload_that_is_refused_before_its_end_is_answered(client: Client):
    async def script(peer: Peer) -> None:
        await peer.reader.readuntil(b"\r\n\r\n")
        await peer.send(response(b"too large", "Connection: close", status="413 Content Too Large"))
        while await peer.reader.read(65536):
            pass

    async with serve(script) as server:
        seen = await ask(client, server.url, body=b"x" * 5_000_000)
    assert outcome(seen) == (413, b"too large", Ending.COMPLETE)


async def test_an_upload_of_which_nothing_is_taken_times_out():
    async def script(peer: Peer) -> None:
        await asyncio.sleep(PATIENCE)

    async with serve(script) as server, aclosing(Client(Limits(read_seconds=0.2))) as client:
        seen = await ask(client, server.url, body=b"x" * 30_000_000)
    assert isinstance(seen[-1], Ended)
    assert seen[-1].fault is not None
    assert seen[-1].fault.code == FaultCode.TIMEOUT


async def test_an_upload_that_is_slower_than_the_timeout_continues_while_bytes_are_taken():
    async def script(peer: Peer) -> None:
        for _ in range(16):
            await asyncio.sleep(0.1)
            await peer.reader.readexactly(1_000_000)
        while not (await peer.reader.read(1_000_000)).endswith(b"end"):
            pass
        await peer.send(response(b"taken"))

    async with serve(script) as server, aclosing(Client(Limits(read_seconds=1.5))) as client:
        seen = await ask(client, server.url, body=b"x" * 18_000_000 + b"end")
    assert outcome(seen) == (200, b"taken", Ending.COMPLETE)


async def test_a_server_that_is_faster_than_its_reader_has_to_wait(client: Client):
    written = 0

    async def script(peer: Peer) -> None:
        nonlocal written
        await peer.request()
        await peer.send(stream_head())
        for _ in range(2_000):
            await peer.send(chunk(b": " + b"x" * 99_997 + b"\n\n" + b"data: 1\n\n"))
            written += 100_000

    async with (
        serve(script) as server,
        asyncio.timeout(PATIENCE),
        aclosing(client.exchange(HttpRequest("GET", server.url, {}, b""))) as seen,
    ):
        async for observation in seen:
            if isinstance(observation, Frames):
                break
        before = -1
        while before != written:  # until the buffers of both ends are full
            before = written
            await asyncio.sleep(0.05)
        assert written < 50_000_000


async def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch):
    async with serve(answering(response(b"from the proxy"))) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        async with aclosing(Client()) as client:
            assert outcome(await ask(client, "http://agent.invalid/rpc"))[1] == b"from the proxy"
        assert proxy.heard[0].startswith(b"POST http://agent.invalid/rpc HTTP/1.1\r\n")


@pytest.mark.parametrize(
    "variables",
    [
        {"https_proxy": "unknown://127.0.0.1:1"},
        {"http_proxy": "http://proxy:port"},
        {"http_proxy": "http://127.0.0.1:1", "no_proxy": "::1/128"},
        {"http_proxy": "http://127.0.0.1:1", "SSL_CERT_FILE": "/missing.pem"},
    ],
)
def test_a_proxy_that_cannot_be_used_is_a_usage_error(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(FaultError) as raised:
        Client()
    assert raised.value.fault.code == FaultCode.USAGE


@pytest.mark.parametrize("content", [None, "no certificate"])
async def test_authorities_that_cannot_be_read_are_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str | None
):
    file = tmp_path / "authorities.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    async with aclosing(Client()) as client:
        seen = await ask(client, "https://127.0.0.1:9/")
    assert isinstance(seen[-1], Ended)
    assert seen[-1].fault is not None
    assert seen[-1].fault.code == FaultCode.USAGE
    assert str(file) in seen[-1].fault.seen


async def test_closing_ends_a_connection_that_is_being_opened():
    client, others = Client(verify=False), asyncio.all_tasks()
    async with serve(Peer.until_gone) as silent, asyncio.timeout(PATIENCE):
        asking = asyncio.create_task(ask(client, silent.url.replace("http:", "https:")))
        while not silent.open:
            await asyncio.sleep(0)
        await client.aclose()
        while silent.open:
            await asyncio.sleep(0)
        [*_, end] = await asking
    assert isinstance(end, Ended)
    assert end.fault is not None
    assert "the client was closed" in end.fault.seen
    assert not asyncio.all_tasks() - others


async def test_closing_does_not_wait_for_the_address_of_a_name(monkeypatch: pytest.MonkeyPatch):
    known, real = threading.Event(), socket.getaddrinfo

    def slow(host: str, *args: Any, **options: Any) -> Any:
        if host == "slow.invalid":
            if options.get("flags") == socket.AI_NUMERICHOST:
                raise socket.gaierror
            known.wait(PATIENCE)
        return real("127.0.0.1", *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    client, loop = Client(), asyncio.get_running_loop()
    try:
        async with asyncio.timeout(PATIENCE):
            asking = asyncio.create_task(ask(client, "http://slow.invalid"))
            while not any(thread.name == "look up slow.invalid" for thread in threading.enumerate()):
                await asyncio.sleep(0)
            await client.aclose()
            [*_, end] = await asking
            assert isinstance(end, Ended)
            assert end.how is Ending.BROKEN
            await loop.shutdown_default_executor()  # as at the end of the program
        assert not known.is_set()
    finally:
        known.set()


async def test_a_request_that_is_canceled_leaves_no_connection():
    async with serve(Peer.until_gone) as silent, aclosing(Client(verify=False)) as client, asyncio.timeout(PATIENCE):
        asking = asyncio.create_task(ask(client, silent.url.replace("http:", "https:")))
        while not silent.open:
            await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        while silent.open:
            await asyncio.sleep(0)
