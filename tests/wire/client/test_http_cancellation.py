"""The HTTP client: exchanges that are ended from our side."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest
from observing import fault_of, observe
from raw_server import Peer, chunk, eventually, serve, stream_head

from inspector.protocol.bindings.base import HttpRequest
from inspector.protocol.errors import Whose
from inspector.wire.client.http import Client
from inspector.wire.client.observations import Frames


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
