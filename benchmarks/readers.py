"""Read a stream without an A2A client, for comparison: only its bytes, or its events as JSON.

Arguments: the url of the agent, `bytes` or `json`, and the texts to send. Prints a JSON object for each text with
`events` and `seconds`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

import httpx
from httpx_sse import aconnect_sse


def call(text: str) -> dict[str, object]:
    """Return the call that requests a stream."""
    message = {"messageId": "1", "role": "ROLE_USER", "parts": [{"text": text}]}
    return {"jsonrpc": "2.0", "id": "1", "method": "SendStreamingMessage", "params": {"message": message}}


async def read_bytes(client: httpx.AsyncClient, url: str, text: str) -> int:
    """Count the empty lines, which end the events."""
    events = 0
    async with client.stream("POST", url, json=call(text)) as response:
        async for data in response.aiter_raw():
            events += data.count(b"\n\r\n")
    return events


async def read_json(client: httpx.AsyncClient, url: str, text: str) -> int:
    """Count events that are JSON objects."""
    events = 0
    async with aconnect_sse(client, "POST", url, json=call(text)) as source:
        async for event in source.aiter_sse():
            events += isinstance(json.loads(event.data), dict)
    return events


async def main(url: str, how: str, *texts: str) -> None:
    read = {"bytes": read_bytes, "json": read_json}[how]
    async with httpx.AsyncClient(timeout=None) as client:
        for text in texts:
            started = time.perf_counter()
            events = await read(client, url, text)
            print(json.dumps({"events": events, "seconds": time.perf_counter() - started}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
