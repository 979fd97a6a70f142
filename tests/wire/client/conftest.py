"""The HTTP client of the tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

import httpx
import pytest

from inspector.wire.client.http import Client


@pytest.fixture(params=["own", "httpx"])
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    """Return a client over the transport without a proxy, and over the one of httpx that is used with a proxy."""
    transport = httpx.AsyncHTTPTransport() if request.param == "httpx" else None
    async with aclosing(Client(transport=transport)) as client:
        yield client
