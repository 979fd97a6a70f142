"""Streams that need the runner: a second stream of the same task, and a stream that is interrupted and resumed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from inspector.protocol.model import Json
from inspector.session.check.calls import Caller, Response
from inspector.session.check.matching import Mismatch, quote
from inspector.session.check.result import StepFailedError, StepSkipped

_SUBSCRIBE = "subscribe_to_task"
_TOO_SHORT = "the task ended before a second stream could be opened"


async def reconnect(caller: Caller, operation: str, params: Mapping[str, Json], limit: float | None) -> Response:
    """Leave a stream after its first event, subscribe to its task, and return the events of both streams."""
    first = await caller.operation(operation, params, limit, most=1)
    if first.fault is not None or not first.task_id:
        return first
    second = await caller.operation(_SUBSCRIBE, {"id": first.task_id}, limit)
    second.events[:0] = first.events
    second.states[:0] = first.states
    second.times[:0] = first.times
    return second


async def observe_twice(caller: Caller, operation: str, params: Mapping[str, Json], limit: float | None) -> Response:
    """Open a stream, two more streams of its task, close one of these, and compare the events of the others.

    Return the first response. Raises `StepFailedError` if the second stream differs, `StepSkipped` if the task ended
    before a second stream could be opened.
    """
    task_known: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    first = asyncio.create_task(caller.operation(operation, params, limit, task_known=task_known))
    try:
        waiting: set[asyncio.Future[Any]] = {first, task_known}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if not task_known.done():
            if (await first).fault is not None:
                return await first
            raise StepSkipped(_TOO_SHORT)
        second = await _subscribe_twice(caller, task_known.result(), limit)
        _compare(await first, second)
        return await first
    finally:
        await _stop(first)


async def _subscribe_twice(caller: Caller, task_id: str, limit: float | None) -> Response:
    """Open two streams of a task, close one after its first event, and return the response of the other."""
    second = asyncio.create_task(caller.operation(_SUBSCRIBE, {"id": task_id}, limit))
    try:
        await caller.operation(_SUBSCRIBE, {"id": task_id}, limit, most=1)
        return await second
    finally:
        await _stop(second)


async def _stop(call: asyncio.Task[Response]) -> None:
    """Cancel a call, and wait until the number of its request is noted, so that no other step counts the request."""
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)


def _compare(first: Response, second: Response) -> None:
    """Compare the events of the second stream, after the task as it was, with the end of the first stream."""
    later = second.events[1:]
    if second.fault is not None or not later:
        raise StepSkipped(_TOO_SHORT)
    same = first.events[-len(later) :]
    if same != later:
        raise StepFailedError(Mismatch("events of the second stream", quote(same), quote(later)))
