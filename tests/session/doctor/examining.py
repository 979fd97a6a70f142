"""Scripted agents for the doctor, and functions that examine them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from inspector.session.doctor.doctor import Doctor
from inspector.session.doctor.steps import Report, Step, Timeouts
from inspector.session.session import Session

WELL_KNOWN = "/.well-known/agent-card.json"


HURRIED = Timeouts(call=5.0, work=5.0, push=0.3)


AS_1_0 = "interface 1 as 1.0 over JSONRPC"


AS_0_3 = "interface 1 as 0.3 over JSONRPC"


ADDRESS = "interface 1 address"


Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


Answer = Callable[[web.BaseRequest, Any], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serving(handle: Handler) -> AsyncIterator[str]:
    runner = web.ServerRunner(web.Server(handle, access_log=None, handler_cancellation=True), shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def agent(answer: Answer, *, at: str = WELL_KNOWN, **card: Any) -> AsyncIterator[str]:
    """An agent whose card says 1.0 over JSON-RPC at `/rpc`; `url`, `binding`, `version`, `interface` say otherwise."""
    interface = {
        "url": card.pop("url", "{base}/rpc"),
        "protocolBinding": card.pop("binding", "JSONRPC"),
        "protocolVersion": card.pop("version", "1.0"),
        **card.pop("interface", {}),
    }
    places = (at, card.pop("also_at", at))
    base = ""
    members = {
        "name": "Patient",
        "description": "Is examined",
        "version": "1",
        "capabilities": {"streaming": True},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [],
    } | card

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.path in places:
            served = interface | {"url": interface["url"].format(base=base, port=base.rpartition(":")[2])}
            return web.json_response(members | {"supportedInterfaces": [served]})
        if request.path.endswith("/rpc"):
            return await answer(request, json.loads(await request.read()))
        return web.Response(status=404)

    async with serving(handle) as url:
        base = url
        yield base


def failure(call: Any, code: int, words: str = "no") -> web.Response:
    return web.json_response({"jsonrpc": "2.0", "id": call["id"], "error": {"code": code, "message": words}})


def result(call: Any, value: Any) -> web.Response:
    return web.json_response({"jsonrpc": "2.0", "id": call["id"], "result": value})


def framed(call: Any, event: Any) -> bytes:
    """Return an event of a stream as it is sent."""
    return f"data: {json.dumps({'jsonrpc': '2.0', 'id': call['id'], 'result': event})}\n\n".encode()


def task(state: str) -> dict[str, Any]:
    return {"id": "t", "contextId": "c", "status": {"state": f"TASK_STATE_{state}"}}


async def knows_no_task(request: web.BaseRequest, call: Any) -> web.StreamResponse:
    return failure(call, -32001 if call["method"] == "GetTask" else -32601)


async def of_0_3(request: web.BaseRequest, call: Any) -> web.StreamResponse:
    return failure(call, -32001 if call["method"] == "tasks/get" else -32601)


async def examine(session: Session, reference: str, message: str = "", timeouts: Timeouts = HURRIED) -> Report:
    doctor = Doctor(session, reference, message, timeouts=timeouts)
    yielded = [step async for step in doctor.examine()]
    assert yielded == doctor.report.steps
    return doctor.report


def the(report: Report, name: str) -> Step:
    [step] = [step for step in report.steps if step.name == name]
    return step


def row(report: Report, thing: str) -> tuple[str, str, bool | None]:
    [observed] = [one for one in (*report.interfaces, *report.comparisons) if one.feature == thing]
    return observed.declared, observed.observed, observed.matches


def streaming(events: list[Any], *, wait: float = 0.0) -> Answer:
    """Answer a stream with all of its events at once, after a wait."""

    async def answer(request: web.BaseRequest, call: Any) -> web.StreamResponse:
        if call["method"] != "SendStreamingMessage":
            return await knows_no_task(request, call)
        await asyncio.sleep(wait)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"".join(framed(call, event) for event in events))
        return response

    return answer


UPDATES = [
    {"task": task("SUBMITTED")},
    {"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}},
    {"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}},
]
