"""Observe an exchange of the HTTP client, and read what was observed."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

from raw_server import PATIENCE

from inspector.protocol.bindings.base import HttpRequest
from inspector.protocol.errors import Fault, Whose
from inspector.wire.client.http import Client
from inspector.wire.client.observations import Body, Ended, Ending, Frames, Observation

JSON = "Content-Type: application/json"
EVENTS = "Content-Type: text/event-stream"


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
