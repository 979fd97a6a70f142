"""Read streams with the client of the Python SDK 0.2: `stream_v0_2.py BINDING URL...` prints what it read as JSON."""

from __future__ import annotations

import asyncio
import json
import sys

import httpx
from a2a.client import A2ACardResolver, A2AClient
from a2a.types import JSONRPCErrorResponse, MessageSendParams, SendStreamingMessageRequest


async def read(http: httpx.AsyncClient, url: str) -> dict[str, object]:
    card = await A2ACardResolver(http, url).get_agent_card()
    message = {"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "x"}]}
    request = SendStreamingMessageRequest(id="s", params=MessageSendParams(message=message))
    texts: list[str] = []
    try:
        async for answer in A2AClient(http, card).send_message_streaming(request):
            if isinstance(answer.root, JSONRPCErrorResponse):
                raise RuntimeError(answer.root.error.message)  # noqa: TRY004 - an error of the agent
            texts.append(answer.root.result.status.message.parts[0].root.text)
    except Exception as error:  # noqa: BLE001 - every exception is reported
        return {"texts": texts, "error": f"{type(error).__name__}: {error}"}
    return {"texts": texts, "error": ""}


async def main(_: str, *urls: str) -> list[dict[str, object]]:
    async with httpx.AsyncClient(trust_env=False, timeout=20) as http:
        return [await read(http, url) for url in urls]


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))
