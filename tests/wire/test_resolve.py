"""Looking up a name: closing the client or the program never waits for its address."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from raw_server import PATIENCE

from inspector.wire import reach
from inspector.wire.endpoint import Endpoint
from inspector.wire.private_address import nearer_address, private_address
from inspector.wire.resolve import look_up

SLOW = "slow.invalid"
ENDPOINT = Endpoint(SLOW, 80, tls=False)
PUBLIC = "http://8.8.8.8/"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """An event that is set when the address of a name is requested, which is not known during the test."""
    requested, known, real = threading.Event(), threading.Event(), socket.getaddrinfo

    def slow(host: str, *args: Any, **options: Any) -> Any:
        if host != SLOW:
            return real(host, *args, **options)
        flags = options.get("flags") or (args[4] if len(args) > 4 else 0)
        if flags != socket.AI_NUMERICHOST:
            requested.set()
            known.wait(2 * PATIENCE)
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    yield requested
    known.set()


@pytest.mark.parametrize(
    "work",
    [
        lambda: look_up(SLOW, 80),
        lambda: reach.resolve(ENDPOINT),
        lambda: reach.connect(ENDPOINT),
        lambda: private_address(f"http://{SLOW}/", PUBLIC),
        lambda: nearer_address(f"http://{SLOW}/", PUBLIC),
    ],
    ids=["look_up", "resolve", "connect", "private_address", "nearer_address"],
)
async def test_the_end_of_the_program_does_not_wait_for_an_address(
    asked: threading.Event, work: Callable[[], Awaitable[Any]]
):
    async with asyncio.timeout(PATIENCE):
        waiting = asyncio.ensure_future(work())
        while not asked.is_set():
            await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await asyncio.get_running_loop().shutdown_default_executor()  # as at the end of the program


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "2130706433"])
async def test_an_address_needs_no_thread(host: str):
    before = set(threading.enumerate())
    [found] = await look_up(host, 80)
    assert found[4][0] in ("127.0.0.1", "::1")
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b"])
async def test_a_name_without_an_address_is_an_error(host: str):
    with pytest.raises((OSError, UnicodeError)):
        await look_up(host)
