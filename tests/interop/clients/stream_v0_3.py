"""Read streams with the client of the Python SDK 0.3: `stream_v0_3.py BINDING URL...` prints what it read as JSON."""

from __future__ import annotations

import asyncio
import json
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message


async def read(http: httpx.AsyncClient, binding: str, url: str) -> dict[str, object]:
    card = await A2ACardResolver(http, url).get_agent_card()
    config = ClientConfig(streaming=True, httpx_client=http, supported_transports=[binding])
    client = ClientFactory(config).create(card)
    message = Message(message_id="m", role="user", parts=[{"kind": "text", "text": "x"}])
    texts: list[str] = []
    try:
        async for _, update in client.send_message(message):
            texts.append(update.status.message.parts[0].root.text)
    except Exception as error:  # noqa: BLE001 - every exception is reported
        return {"texts": texts, "error": f"{type(error).__name__}: {error}"}
    return {"texts": texts, "error": ""}


async def main(binding: str, *urls: str) -> list[dict[str, object]]:
    async with httpx.AsyncClient(trust_env=False, timeout=20) as http:
        return [await read(http, binding, url) for url in urls]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
