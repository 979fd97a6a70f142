"""Wait for the end of a task, and summarise the response of an agent."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

from inspector.mcp_server.results import MOST_ROWS, Result, without_blanks
from inspector.protocol.assemble import AssembledArtifact, AssembledTask
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.lifecycle import is_settled, short
from inspector.protocol.model import Message, Part
from inspector.session.call import Call
from inspector.session.message_label import text_of
from inspector.session.session import Session
from inspector.session.stream_deadline import StreamDeadline

_LEAST_SECONDS = 10.0
"""The time that an agent has to respond, even if the caller does not wait for the task."""
_MOST_ARTIFACTS = 10
_ARTIFACT_TEXT = 1_000
"""How many characters of an artifact are returned; `record` returns the rest."""
_PAUSE = 1.0
"""Seconds between two requests for a task."""


async def settle(session: Session, call: Call, seconds: float) -> None:
    """Send a call, and wait until its task ends or needs input, at most `seconds`; raises `FaultError`.

    The agent has at least `_LEAST_SECONDS` for its first answer.
    """
    ends = asyncio.get_running_loop().time() + seconds
    try:
        async with asyncio.timeout(max(seconds, _LEAST_SECONDS)) as limit:
            await _read(call, limit, ends)
            fault = call.fault
            if fault is None and seconds and is_open(session, call):
                limit.reschedule(ends)
                fault = await _poll(session, call)
    except TimeoutError:
        if call.exchange.answer is None:
            seen = f"The agent did not answer within {max(seconds, _LEAST_SECONDS):g} s."
            raise FaultError(Fault(Whose.AGENT, FaultCode.TIMEOUT, seen, "Check its log, or wait longer.")) from None
        fault = call.fault
    if fault is not None:
        raise FaultError(fault)


async def _read(call: Call, limit: asyncio.Timeout, ends: float) -> None:
    """Read the response; a stream until no more events are expected, or until `ends`, a time of the event loop."""
    deadline = StreamDeadline(call)
    async with aclosing(aiter(call)) as answers:
        async for received in answers:
            leaves_at = deadline.take(received)
            head = call.exchange.head
            if head is not None and head.streamed:
                limit.reschedule(ends if leaves_at is None else leaves_at)


async def _poll(session: Session, call: Call) -> Fault | None:
    """Request the task of a call until it ends or needs input, or until a request fails."""
    fault = None
    while fault is None and is_open(session, call):
        await asyncio.sleep(_PAUSE)
        fault = await session.get(call.exchange.task_id).finish()
    return fault


def is_open(session: Session, call: Call) -> bool:
    """Return whether a call has a task that has not ended and does not need input."""
    tracked = session.tasks.get(call.exchange.task_id)
    return tracked is not None and not is_settled(tracked.now.state)


def answer_summary(session: Session, call: Call) -> Result:
    """Return the task of a call in short, or the message that is the response; texts are not sanitised."""
    tracked = session.tasks.get(call.exchange.task_id)
    if tracked is not None:
        return {"task": _task(tracked.now), "running": is_open(session, call)}
    answer = call.exchange.answer
    if isinstance(answer, Message):
        return {"message": {"text": text_of(answer), "parts": [_part(part) for part in answer.parts[:MOST_ROWS]]}}
    return {"response": type(answer).__name__}


def _task(task: AssembledTask) -> Result:
    artifacts = [_artifact(artifact) for artifact in list(task.artifacts.values())[:_MOST_ARTIFACTS]]
    return without_blanks(
        {
            "id": task.id,
            "contextId": task.context_id,
            "state": short(task.state),
            "status": text_of(task.status.message),
            "states": [short(move.state) for move in task.moves[-MOST_ROWS:]],
            "events": task.events,
            "artifactCount": len(task.artifacts),
            "artifacts": artifacts,
        }
    )


def _artifact(artifact: AssembledArtifact) -> Result:
    others = [_part(part) for part in artifact.other_parts[:MOST_ROWS]]
    members = {"id": artifact.artifact_id, "name": artifact.name, "chunks": artifact.chunks, "size": artifact.size}
    return without_blanks({**members, "text": artifact.text.between(0, _ARTIFACT_TEXT), "otherParts": others})


def _part(part: Part) -> Result:
    """Return what a part is, without its content."""
    return without_blanks(
        {"kind": part.content, "mediaType": part.media_type, "filename": part.filename, "url": part.url}
    )
