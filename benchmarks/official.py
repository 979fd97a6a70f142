"""Iterate a stream with the official client; runs in the environment of the interop tests.

Arguments: the url of the agent and the texts to send; prints a JSON object for each text with `events` and `seconds`.
With `--print` before the url, it prints each event as a line of JSON instead.
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
from google.protobuf.json_format import MessageToJson


async def main(url: str, *texts: str, printing: bool) -> None:
    async with httpx.AsyncClient(timeout=None) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http)).create(card)
        for text in texts:
            message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)])
            started = time.perf_counter()
            events = 0
            async for event in client.send_message(SendMessageRequest(message=message)):
                events += 1
                if printing:
                    print(MessageToJson(event, indent=None))
            if not printing:
                print(json.dumps({"events": events, "seconds": time.perf_counter() - started}), flush=True)


words = sys.argv[1:]
asyncio.run(main(*(word for word in words if word != "--print"), printing="--print" in words))
