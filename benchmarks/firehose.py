"""An agent that streams as many events as the message requests, faster than any client reads them.

`python -m benchmarks.firehose` prints its url, serves card and streams on 127.0.0.1, and ends with its standard input.
The text `firehose 20000` requests a task, so many chunks of one artifact and a final status. With `each` after the
number, each event is a separate HTTP chunk. So it is with `varied`, where the events are less alike: chunks of four
artifacts in turn, with texts of many lengths, a counter and a time in their metadata, and every 25th event is a status.
A GET of `/hook` returns the webhook of the last message for the process that sends the deliveries.
"""

from __future__ import annotations

import asyncio
import json
import sys
from functools import cache

BLOCK = 64 * 1024
"""The approximate number of bytes in one write."""

_ID = "00000000-0000-4000-8000-000000000000"
"""A placeholder for the id of the request, which has the same length for nearly every client."""
_TASK = "59f8f6bc-f766-49ae-abcb-abb4fea4815c"
_CONTEXT = "1a9f4f64-a8f9-483d-ac60-cab4a1a53177"
_WORDS = (
    "the",
    "agent",
    "writes",
    "its",
    "report",
    "in",
    "small",
    "pieces,",
    "as",
    "language",
    "models",
    "do",
    "today.",
)
_AT = {"timestamp": "2026-01-01T12:00:00.000000Z"}

_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-store\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)


def frame(event: dict[str, object]) -> bytes:
    """Return one event as the official SDK writes it."""
    return b"data: " + json.dumps({"result": event, "id": _ID, "jsonrpc": "2.0"}).encode() + b"\r\n\r\n"


def chunk(number: int, *, last: bool) -> bytes:
    """Return one chunk of the artifact, about 300 bytes."""
    artifact = {"artifactId": "art-1", "name": "streamed", "parts": [{"text": f"chunk {number:,} of the report. "}]}
    update: dict[str, object] = {"taskId": _TASK, "contextId": _CONTEXT, "artifact": artifact}
    update |= {"append": True} if number > 1 else {}
    update |= {"lastChunk": True} if last else {}
    return frame({"artifactUpdate": update})


def varied_event(number: int) -> bytes:
    """Return one of the events of a stream whose events are less alike."""
    at = f"2026-01-01T12:00:{number % 60:02}.{number % 1000:03}Z"
    ids = {"taskId": _TASK, "contextId": _CONTEXT}
    if number % 25 == 0:
        text = {"messageId": f"m-{number}", "role": "ROLE_AGENT", "parts": [{"text": f"Step {number} is done."}]}
        return frame(
            {"statusUpdate": ids | {"status": {"state": "TASK_STATE_WORKING", "timestamp": at, "message": text}}}
        )
    artifact = {"artifactId": f"art-{number % 4}", "name": f"part {number % 4}", "parts": [{"text": _words(number)}]}
    metadata = {"number": number, "at": at, "share": number / 7}
    return frame({"artifactUpdate": ids | {"artifact": artifact, "append": number > 4, "metadata": metadata}})


def _words(number: int) -> str:
    """Return a text of 1 to about 100 characters, the same for the same number."""
    return " ".join(_WORDS[(number * 7 + place) % len(_WORDS)] for place in range(1 + number * 13 % 17))


@cache
def blocks(count: int, *, each: bool, varied: bool = False) -> list[bytes]:
    """Return a stream of so many events, after a task and before a final status, in blocks of one or many events."""
    ids = {"taskId": _TASK, "contextId": _CONTEXT}
    task = {"id": _TASK, "contextId": _CONTEXT, "status": {"state": "TASK_STATE_SUBMITTED"} | _AT}
    frames = [frame({"task": task}), frame({"statusUpdate": ids | {"status": {"state": "TASK_STATE_WORKING"} | _AT}})]
    numbers = range(1, count + 1)
    frames += (varied_event(number) if varied else chunk(number, last=number == count) for number in numbers)
    frames += [frame({"statusUpdate": ids | {"status": {"state": "TASK_STATE_COMPLETED"} | _AT}})]
    if each or varied:
        return frames
    written, held, size = [], [], 0
    for record in frames:
        held.append(record)
        size += len(record)
        if size >= BLOCK:
            written.append(b"".join(held))
            held, size = [], 0
    return [*written, b"".join(held)]


webhook: dict[str, object] = {}
"""The webhook of the last message that had a webhook."""


async def answer(writer: asyncio.StreamWriter, body: bytes) -> None:
    """Answer a streaming call."""
    call = json.loads(body)
    webhook.update(call["params"].get("configuration", {}).get("taskPushNotificationConfig", {}))
    _, count, *how = call["params"]["message"]["parts"][0]["text"].split()
    ours, theirs = _ID.encode(), json.dumps(call["id"]).strip('"').encode()
    writer.write(_HEAD)
    waiting = 0
    for block in blocks(int(count), each=how == ["each"], varied=how == ["varied"]):
        data = block.replace(ours, theirs)
        writer.write(b"%x\r\n%b\r\n" % (len(data), data))
        waiting += len(data)
        if waiting >= BLOCK:
            await writer.drain()
            waiting = 0
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve one connection: a POST is a streaming call, a GET of `/hook` returns the webhook, any other the card."""
    host, port = writer.get_extra_info("sockname")[:2]
    card = {
        "name": "Firehose",
        "description": "Streams as many events as requested.",
        "version": "1",
        "supportedInterfaces": [
            {"url": f"http://{host}:{port}/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        ],
        "capabilities": {"streaming": True, "pushNotifications": True},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "firehose", "name": "Firehose", "description": "firehose N", "tags": ["benchmark"]}],
    }
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            lines = head.decode("latin-1").lower().split("\r\n")
            lengths = [line.partition(":")[2] for line in lines if line.startswith("content-length:")]
            if head.startswith(b"POST"):
                await answer(writer, await reader.readexactly(int(lengths[0])))
            else:
                data = json.dumps(webhook if head.startswith(b"GET /hook ") else card).encode()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
                writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
    except (asyncio.IncompleteReadError, ConnectionError):
        pass  # the client has gone
    finally:
        writer.close()


async def main() -> None:
    """Serve until standard input ends."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print("http://{}:{}/".format(*server.sockets[0].getsockname()[:2]), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
