"""Load the mock agent: repeat GetTask over a few persistent connections (`get`), or read many streams (`streams`).

Arguments: url, what and how many; prints a JSON object with `answered`, `errors` and `seconds`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from urllib.parse import urlsplit

CONNECTIONS = 16
_UPDATES = 20


def request(url: str, method: str, params: object) -> bytes:
    """Return a call as the bytes of an HTTP request."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    head = (
        f"POST / HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\nA2A-Version: 1.0\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def message_of(text: str) -> dict[str, object]:
    return {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}]}}


async def connect(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = urlsplit(url)
    return await asyncio.open_connection(parts.hostname, parts.port)


async def answer(reader: asyncio.StreamReader) -> bytes:
    """Return the body of a response with a Content-Length."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    return await reader.readexactly(int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0]))


async def get(url: str, task_id: str, count: int) -> int:
    """Get a task so many times over one connection, and return the number of results."""
    call = request(url, "GetTask", {"id": task_id, "historyLength": 0})
    reader, writer = await connect(url)
    good = 0
    for _ in range(count):
        writer.write(call)
        good += b'"result"' in await answer(reader)
    writer.close()
    return good


async def stream(url: str) -> int:
    """Read a stream to its end, and return 1 if it is complete."""
    reader, writer = await connect(url)
    writer.write(request(url, "SendStreamingMessage", message_of(f"report {_UPDATES}")))
    read = b""
    while not read.endswith(b"0\r\n\r\n"):
        piece = await reader.read(65536)
        if not piece:
            break
        read += piece
    writer.close()
    return int(read.count(b'"artifactUpdate"') == _UPDATES and b"TASK_STATE_COMPLETED" in read)


async def main(url: str, what: str, count: str) -> None:
    wanted = int(count)
    if what == "get":
        reader, writer = await connect(url)
        writer.write(request(url, "SendMessage", message_of("ask")))
        task_id = json.loads(await answer(reader))["result"]["task"]["id"]
        writer.close()
        jobs = [get(url, task_id, wanted // CONNECTIONS) for _ in range(CONNECTIONS)]
        wanted = wanted // CONNECTIONS * CONNECTIONS
    else:
        jobs = [stream(url) for _ in range(wanted)]
    started = time.perf_counter()
    answered = sum(await asyncio.gather(*jobs))
    seconds = time.perf_counter() - started
    print(json.dumps({"answered": answered, "errors": wanted - answered, "seconds": seconds}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
