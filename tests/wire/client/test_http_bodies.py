"""The HTTP client: content codings, and limits of what is read."""

from __future__ import annotations

import gzip
import zlib
from contextlib import aclosing
from functools import cache
from typing import Any

import pytest
from observing import EVENTS, JSON, body_of, data_of, end_of, fault_of, observe
from raw_server import Peer, answering, chunk, eventually, response, serve, stream_head

from inspector.protocol.errors import INVALID_RESPONSE, Whose
from inspector.wire.client.http import Client, Limits
from inspector.wire.client.observations import Ending, Frames

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


async def test_a_gzip_body_of_several_members_is_read(client: Client):
    members = gzip.compress(b'{"a": ') + gzip.compress(b"") + gzip.compress(b"1}")
    async with serve(answering(response(members, JSON, "Content-Encoding: gzip"))) as server:
        seen = await observe(client, server.url)
    assert (body_of(seen), end_of(seen).how) == (b'{"a": 1}', Ending.COMPLETE)


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
    ids=["cut", "continues", "wrong checksum", "not gzip", "not deflate", "unknown", "nested"],
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
