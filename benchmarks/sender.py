"""Post webhook deliveries as fast as they are taken, over a few connections that are kept.

Arguments: url, token and how many; prints a JSON object with `accepted`, `seconds` and when it `began`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from urllib.parse import urlsplit

CONNECTIONS = 8
_STATUS = {
    "taskId": "59f8f6bc-f766-49ae-abcb-abb4fea4815c",
    "contextId": "1a9f4f64-a8f9-483d-ac60-cab4a1a53177",
    "status": {"state": "TASK_STATE_WORKING", "timestamp": "2026-01-01T12:00:00.000000Z"},
}


async def post(url: str, token: str, count: int) -> int:
    """Post one delivery after the other over one connection and return how many were accepted."""
    parts = urlsplit(url)
    body = json.dumps({"statusUpdate": _STATUS}).encode()
    head = (
        f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nX-A2A-Notification-Token: {token}\r\n"
        f"Authorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    request = head.encode() + body
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    accepted = 0
    for _ in range(count):
        writer.write(request)
        answer = (await reader.readuntil(b"\r\n\r\n")).lower()
        _, found, rest = answer.partition(b"content-length:")
        if found:
            await reader.readexactly(int(rest.split(b"\r\n", 1)[0]))
        accepted += answer.split(b" ", 2)[1].startswith(b"2")
    writer.close()
    return accepted


async def main(url: str, token: str, count: str) -> None:
    each = int(count) // CONNECTIONS
    began, started = time.time(), time.perf_counter()
    accepted = await asyncio.gather(*(post(url, token, each) for _ in range(CONNECTIONS)))
    print(json.dumps({"accepted": sum(accepted), "began": began, "seconds": time.perf_counter() - started}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
