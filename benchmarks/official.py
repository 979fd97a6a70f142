"""Iterate a stream with the official client, counting events; runs in the environment of the interop tests.

Arguments: the url of the agent and the texts to send; prints a JSON object for each text with `events` and `seconds`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, SendMessageRequest


async def main(url: str, *texts: str) -> None:
    async with httpx.AsyncClient(timeout=None) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http)).create(card)
        for text in texts:
            message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)])
            started = time.perf_counter()
            events = 0
            async for _ in client.send_message(SendMessageRequest(message=message)):
                events += 1
            print(json.dumps({"events": events, "seconds": time.perf_counter() - started}), flush=True)


asyncio.run(main(*sys.argv[1:]))
