"""Read streams with the client of the Python SDK 1.x: `stream_v1.py BINDING URL...` prints what it read as JSON."""

from __future__ import annotations

import asyncio
import json
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers import new_text_message
from a2a.types import Role, SendMessageRequest


async def read(http: httpx.AsyncClient, binding: str, url: str) -> dict[str, object]:
    card = await A2ACardResolver(http, url).get_agent_card()
    config = ClientConfig(streaming=True, httpx_client=http, supported_protocol_bindings=[binding])
    client = ClientFactory(config).create(card)
    texts: list[str] = []
    try:
        async for event in client.send_message(SendMessageRequest(message=new_text_message("x", role=Role.ROLE_USER))):
            texts.append(event.status_update.status.message.parts[0].text)  # noqa: PERF401 - kept if an error follows
    except Exception as error:  # noqa: BLE001 - every exception is reported
        return {"texts": texts, "error": f"{type(error).__name__}: {error}"}
    return {"texts": texts, "error": ""}


async def main(binding: str, *urls: str) -> list[dict[str, object]]:
    async with httpx.AsyncClient(trust_env=False, timeout=20) as http:
        return [await read(http, binding, url) for url in urls]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
