"""Post webhook deliveries as fast as possible, over a few persistent connections; all of them are different.

Arguments: url, token and how many; prints a JSON object with `accepted`, `seconds` and the time at which it `began`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from urllib.parse import urlsplit

CONNECTIONS = 8
_BODY = (
    '{"statusUpdate":{"taskId":"59f8f6bc-f766-49ae-abcb-abb4fea4815c","contextId":"1a9f4f64-a8f9-483d-ac60-cab4a1a53177"'
    ',"status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-01T12:00:00.%06dZ","message":{"messageId":"m-%06d"'
    ',"role":"ROLE_AGENT","parts":[{"text":"step %06d of many"}]}}}}'
)


async def post(url: str, token: str, numbers: range) -> int:
    """Post the deliveries with these numbers over one connection and return how many were accepted."""
    parts = urlsplit(url)
    head = (
        f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nX-A2A-Notification-Token: {token}\r\n"
        f"Authorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(_BODY % (0, 0, 0))}\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    accepted = 0
    for number in numbers:
        writer.write((head + _BODY % (number, number, number)).encode())
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
    shares = (range(first, first + each) for first in range(0, each * CONNECTIONS, each))
    accepted = await asyncio.gather(*(post(url, token, share) for share in shares))
    print(json.dumps({"accepted": sum(accepted), "began": began, "seconds": time.perf_counter() - started}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
