"""Scripted agents for the app tests, served in the event loop of the test."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from aiohttp import web
from inspector.sample_agents.scenario.catalog import BUILT_IN_FOLDER
from puppets import SECONDS, Answer, Call, Puppet, chunk, silence, status, task

Gate = Callable[[], Awaitable[None]]
_STEPS = tomllib.loads((BUILT_IN_FOLDER / "report.toml").read_text("utf-8"))["steps"]
REPORT = next(step["text"] for step in _STEPS if "text" in step)
"""The text of the artifact in the scenario `report` of the mock agent."""


async def eventually(condition: Callable[[], Any]) -> None:
    """Wait until a condition is true, without using the app."""
    async with asyncio.timeout(SECONDS):
        while not condition():
            await asyncio.sleep(0.005)


@asynccontextmanager
async def playing(answer: Answer = silence, card: Any = None) -> AsyncIterator[Puppet]:
    """Serve a scripted agent in this event loop, so that the test can use its state."""
    puppet = Puppet(answer, {} if card is None else card)
    runner = web.ServerRunner(
        web.Server(puppet.handle, access_log=None, handler_cancellation=True), shutdown_timeout=0.1
    )
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    puppet.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield puppet
    finally:
        await runner.cleanup()


async def begin(call: Call) -> web.StreamResponse:
    """Start a stream."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(call.request)
    return response


async def stream(call: Call, *events: Any, cut: bool = False) -> Any:
    """Send events as a stream, and end it; with `cut`, abort the connection."""
    response = await begin(call)
    for event in events:
        await response.write(call.frame(event))
    if cut:
        await asyncio.sleep(0.05)
        call.request.transport.abort()
    else:
        await response.write_eof()
    return response


def webhook_of(call: Call) -> dict[str, Any] | None:
    """Return the webhook of a message, None if it has none."""
    found: dict[str, Any] | None = call.rpc["params"].get("configuration", {}).get("taskPushNotificationConfig")
    return found


async def deliver(webhook: dict[str, Any], event: Any, **headers: str) -> int:
    """Post an event to a webhook, and return the status code."""
    both = {"X-A2A-Notification-Token": webhook["token"], "Authorization": f"Bearer {webhook['token']}"}
    head = both | headers
    async with aiohttp.ClientSession() as session, session.post(webhook["url"], json=event, headers=head) as answer:
        return answer.status


def reporting(gate: Gate) -> Answer:
    """Stream a report and push each of its events; `gate` waits until an event is recorded."""
    words = ["# Climate report\n\n", "Global temperatures have risen ", "by 1.1 °C since 1850.\n"]
    events = [
        {"task": task("SUBMITTED")},
        status("WORKING", "Reading the records."),
        *(chunk(word, append=number > 0, lastChunk=number == len(words) - 1) for number, word in enumerate(words)),
        status("COMPLETED", "The report is written."),
    ]

    async def answer(call: Call) -> web.StreamResponse:
        response = await begin(call)
        webhook = webhook_of(call)
        for event in events:
            await response.write(call.frame(event))
            await gate()
            if webhook is not None and "artifactUpdate" not in event:
                await deliver(webhook, event)
        if webhook is not None:
            await deliver(webhook, events[-1], **{"X-A2A-Notification-Token": "somebody else's"})
        await response.write_eof()
        return response

    return answer


async def misbehave(call: Call) -> web.StreamResponse:
    """Violate as many rules as possible in one stream."""
    response = await begin(call)
    frames = [
        call.frame({"task": task("WORKING")}),
        call.frame(status("SUBMITTED")),
        call.frame(chunk("from nowhere", append=True)),
        call.frame(chunk("one", lastChunk=True)),
        call.frame(chunk("two", append=True)),
        b"data: this is not JSON\n\n",
        b'data: {"jsonrpc":"2.0","id":"another","result":{"unheard":"of"}}\n\n',
        b": keep-alive\n\n",
        call.frame(status("DREAMING")),
        call.frame(status("COMPLETED")),
        call.frame(status("WORKING", "again")),
    ]
    for frame in frames:
        await response.write(frame)
        await asyncio.sleep(0)
    await response.write_eof()
    return response
