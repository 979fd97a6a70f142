"""The checks of a host with several addresses: they connect in the same way as the HTTP client."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from raw_server import answering, response, serve

from inspector.wire.endpoint import Endpoint
from inspector.wire.port_protocol import PortProtocol, port_protocol
from inspector.wire.reach import connect

NAME = "several.invalid"
Addresses = Callable[..., None]


@contextmanager
def silent(host: str, port: int) -> Iterator[tuple[str, int]]:
    """Open a port that does not respond to further connections, because its queue is full."""
    with socket.create_server((host, port), backlog=0) as listener, ExitStack() as waiting:
        while True:
            client = waiting.enter_context(socket.socket())
            client.settimeout(0.2)
            try:
                client.connect((host, port))
            except TimeoutError:
                break
        yield listener.getsockname()


@pytest.fixture
def addresses(monkeypatch: pytest.MonkeyPatch) -> Addresses:
    """A function that sets the addresses of the name."""
    real = socket.getaddrinfo

    def set_addresses(*found: tuple[str, int]) -> None:
        def look_up(host: str, *args: Any, **options: Any) -> Any:
            if host != NAME:
                return real(host, *args, **options)
            if options.get("flags"):
                raise socket.gaierror
            return [entry for place in found for entry in real(*place, type=socket.SOCK_STREAM)]

        monkeypatch.setattr(socket, "getaddrinfo", look_up)

    return set_addresses


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have a single loopback address")
async def test_a_host_whose_first_address_is_silent_is_reached(addresses: Addresses):
    async with serve(answering(response(b"{}"))) as served:
        port = int(served.url.rpartition(":")[2])
        with silent("127.0.0.2", port) as first:
            addresses(first, ("127.0.0.1", port))
            endpoint = Endpoint(NAME, port, tls=False)
            layer = await connect(endpoint)
            assert (layer.good, layer.seen) == (True, f"connected to 127.0.0.1 port {port}")
            assert await port_protocol(endpoint) is PortProtocol.HTTP


async def test_a_refused_connection_is_reported_if_another_address_failed_for_another_reason(
    closed_port: int, addresses: Addresses
):
    addresses(("127.0.0.1", closed_port), ("255.255.255.255", closed_port))
    layer = await connect(Endpoint(NAME, closed_port, tls=False))
    assert not layer.good
    assert layer.seen == f"Nothing listens at {NAME}:{closed_port}: the connection was refused."
