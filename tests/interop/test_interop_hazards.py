"""What the official clients do with the bytes of `inspector/findings/hazards.py`.

A failed test means that a client changed: correct its row in `FAILURES`.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import environments
import hazard_agent
import pytest

from inspector.findings.hazards import FAILURES, Client, Effect, Failure

pytestmark = pytest.mark.interop

SECONDS = 120
CLIENTS: dict[str, Client] = {
    name: next(
        failure.client
        for failure in FAILURES
        if (failure.client.release, failure.client.version) == (sdk.release, sdk.version)
        and failure.client.name == ("a2a-js" if sdk.node else "a2a-python")
    )
    for name, sdk in environments.ALL.items()
}
"""The client of each environment."""

_WAYS = [
    (name, binding)
    for name, sdk in environments.ALL.items()
    for binding in ("JSONRPC", "HTTP+JSON")
    if binding in sdk.transports
]
CELLS = [(name, binding, stream) for name, binding in _WAYS for stream in hazard_agent.streams_over(binding)]
Read = Callable[[str, str], dict[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def read() -> Iterator[Read]:
    """Return what a client reads over a binding, by the name of the stream."""
    with hazard_agent.serving() as base:

        @cache
        def run(name: str, binding: str) -> dict[str, dict[str, Any]]:
            version = environments.ALL[name].version
            streams = [stream for way, over, stream in CELLS if (way, over) == (name, binding)]
            urls = [hazard_agent.url_of(base, version, binding, stream) for stream in streams]
            command = [*environments.command(name, f"clients/stream_{name}"), binding, *urls]
            ran = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
            assert ran.returncode == 0, ran.stderr
            return dict(zip(streams, json.loads(ran.stdout), strict=True))

        yield run


@pytest.mark.parametrize(("name", "binding", "stream"), CELLS, ids=[" ".join(cell) for cell in CELLS])
def test_the_client_does_what_the_table_says(read: Read, name: str, binding: str, stream: str):
    failure = _expected(name, binding, stream)
    seen = read(name, binding)[stream]
    assert _effect(stream, seen) == (failure.effect if failure else None), seen


def _expected(name: str, binding: str, stream: str) -> Failure | None:
    """Return the row of the table for a stream, None if the client reads all of it."""
    rows = hazard_agent.rows_for(stream, binding)
    return next((failure for failure in rows if failure.client is CLIENTS[name]), None)


def _effect(stream: str, seen: dict[str, Any]) -> Effect | None:
    """Return what a client did, from the texts and the error that it reported; None if it read everything."""
    texts, error = [text.strip()[:5].strip("\u2028\u2029\u0085") for text in seen["texts"]], seen["error"]
    if stream == "JSON_ERROR":
        known = hazard_agent.REFUSAL in error
        return None if known else Effect.HIDDEN if error else Effect.NOTHING
    if error:
        return Effect.ERROR
    if texts == hazard_agent.TEXTS:
        return None
    return Effect.LOST if texts else Effect.NOTHING
