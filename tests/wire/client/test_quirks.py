"""Deviations of real servers that concern the transport, with the numbers of our notes."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing

import httpx
import pytest
from stream_servers import serving_bytes

from inspector.findings.transport.judge import judge_payload
from inspector.findings.transport.payload import Payload
from inspector.protocol.bindings import jsonrpc
from inspector.protocol.bindings.base import HttpRequest
from inspector.protocol.dialects import v0_2, v0_3
from inspector.protocol.errors import ProtocolError
from inspector.protocol.jsonvalue import parse
from inspector.protocol.operations import Operation
from inspector.protocol.sse import Decoder
from inspector.wire.client.http import Client
from inspector.wire.client.observations import Ended, Ending, Observation, Sent
from inspector.wire.receiver.server import Delivery, Receiver

STREAM = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    b'10\r\ndata: {"a": 1}\n\n\r\n0\r\n\r\n'
)


def test_quirk_03_line_separators_inside_data_end_no_line():
    (frame,) = Decoder().feed('data: {"a": "x\u2028y\u2029z\u0085"}\n\n'.encode())
    assert parse(frame.data or b"") == {"a": "x\u2028y\u2029z\u0085"}


def test_quirk_04_events_are_whole_however_segments_and_letters_are_cut():
    stream = 'data: {"a": "ä€😀"}\r\n\r\ndata: {"b": 2}\r\n\r\n'.encode()
    for size in range(1, len(stream)):
        decoder = Decoder()
        frames = [frame for at in range(0, len(stream), size) for frame in decoder.feed(stream[at : at + size])]
        assert [parse(frame.data or b"") for frame in frames] == [{"a": "ä€😀"}, {"b": 2}]


@pytest.mark.parametrize("dialect", [v0_2.DIALECT, v0_3.DIALECT], ids=["0.2", "0.3"])
def test_quirk_05_an_error_is_read_from_a_frame_without_an_event_name(dialect):
    error = {"code": -32602, "message": "Invalid parameters"}
    (frame,) = Decoder().feed(b"data: " + json.dumps({"jsonrpc": "2.0", "id": "1", "error": error}).encode() + b"\n\n")
    assert frame.event == ""
    answer = jsonrpc.decode_item(dialect, parse(frame.data or b""))
    assert isinstance(answer, ProtocolError)
    assert (answer.code, answer.name) == (-32602, "InvalidParamsError")


async def observed(sent_back: bytes) -> list[Observation]:
    """Ask a server that answers these bytes and keeps the connection open."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(sent_back)
        await writer.drain()
        await reader.read()  # until the client hangs up
        writer.close()

    async with serving_bytes(answer) as place, asyncio.timeout(10), aclosing(Client()) as client:
        seen = client.exchange(HttpRequest("GET", f"http://{place}/", {}))
        return [observation async for observation in seen]


async def test_quirk_08_a_stream_ends_with_its_last_chunk_though_the_socket_stays_open():
    ended = (await observed(STREAM))[-1]
    assert isinstance(ended, Ended)
    assert (ended.how, ended.events) == (Ending.COMPLETE, 1)


async def test_quirk_10_a_stream_is_a_stream_whatever_was_accepted_and_no_coding_is_asked_for():
    first, *_, ended = await observed(STREAM)
    assert isinstance(first, Sent)
    assert dict(first.headers)["Accept-Encoding"] == "identity"
    assert isinstance(ended, Ended)
    assert ended.events == 1


@pytest.mark.parametrize("dialect", [v0_2.DIALECT, v0_3.DIALECT], ids=["0.2", "0.3"])
def test_quirk_11_an_error_without_an_id_is_read_without_a_finding(dialect):
    value = {"jsonrpc": "2.0", "error": {"code": -32700, "message": "Invalid JSON payload"}}
    answer = jsonrpc.decode_answer(dialect, Operation.GET, 200, value)
    assert isinstance(answer, ProtocolError)
    payload = Payload("JSONRPC", Operation.SEND, dialect.version, "1", 200, "application/json", False, value, answer)
    assert judge_payload(payload) == ()


@pytest.mark.parametrize("place", ["X-A2A-Notification-Token", "Authorization"])
async def test_quirk_22_the_token_is_accepted_in_either_header(place: str):
    came: list[Delivery] = []
    receiver = Receiver(came.append)
    await receiver.start()
    registration = receiver.register()
    value = f"Bearer {registration.token}" if place == "Authorization" else registration.token
    async with httpx.AsyncClient() as client:
        response = await client.post(registration.url, json={"statusUpdate": {}}, headers={place: value})
    await receiver.stop()
    assert response.status_code == 204
    assert came[0].refused == ""
    proof = "authorization" if place == "Authorization" else "token"
    assert next(check for check in came[0].checks if check.name == proof).good is True
