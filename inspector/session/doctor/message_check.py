"""Send a message for the doctor, and check its response, its stream, its task and its push notifications."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import TYPE_CHECKING

from inspector.capture.records import Kind, Record
from inspector.findings.finding import Finding, Severity
from inspector.protocol.card import AgentCard
from inspector.protocol.errors import FaultError, FaultKind
from inspector.protocol.http_status import UNROUTED
from inspector.protocol.lifecycle import is_terminal, short
from inspector.protocol.model import Artifact, Task, TaskRequest
from inspector.protocol.operations import Operation
from inspector.protocol.selection import Choice
from inspector.session import lazy_loading
from inspector.session.call import Call
from inspector.session.card.observed import ENDED_EARLY
from inspector.session.compose.draft import text_draft
from inspector.session.doctor.probe import findings_of, finish, in_words, remedy_of
from inspector.session.doctor.push_check import check_push
from inspector.session.doctor.steps import NOT_CHECKED, PUSH, STREAMING, TASK, Step, Timeouts
from inspector.session.hints import CHECK_LOG, SEND_EVENT_STREAM
from inspector.session.session import Session
from inspector.session.stream_health import StreamHealth, dated_span, health
from inspector.text.units import duration

if TYPE_CHECKING:  # only a message needs it
    from inspector.session.push.webhook_registration import WebhookRegistration

_BUFFERED = (
    "All events arrived at once after a long wait: check for a proxy that buffers the response, or an agent that sends "
    "nothing until it has finished."
)
_STREAM_FIRST = "Correct the problem of the stream first: it may be the cause of this difference."
_EVENTS_MISSING = "Events of the stream are missing: check for a proxy that closes streams, and the log of the agent."
_TEXT_MISSING = "Events of the stream are missing: compare both in the capture."
_PROXY = (
    "The response ended after {time}, before the task: check for a proxy with this time limit, or an agent that closes "
    "the stream too early."
)
_SHORTEST_LIMIT = 5.0
"""The shortest time limit of a proxy that is suspected, in seconds."""
_LONG_GAP = 2.0
"""The shortest time without an event that is mentioned, in seconds."""
_NOT_A_STREAM = "Respond to a streaming call with text/event-stream, as the card declares streaming."
_UNFRAMED = f"{SEND_EVENT_STREAM} If the agent does so, a proxy in front of it changes the header."
_NO_OPERATION = (
    "The interface responded to GetTask, so that its URL is correct: the agent does not have {operation} there, or a "
    "proxy in front of it blocks it."
)


async def try_message(
    session: Session,
    card: AgentCard,
    choice: Choice,
    message: str,
    timeouts: Timeouts,
    cancelled: Callable[[Step], object],
) -> AsyncGenerator[Step, None]:
    """Send the message, with streaming if the card declares streaming; check the stream and the push notifications.

    If the check is cancelled, `cancelled` is called with the result until then.
    """
    webhook: WebhookRegistration | None = None
    if card.capabilities.push_notifications:
        try:
            await session.push.listen()
            webhook = session.push.register(version=choice.dialect.version)
        except FaultError as error:
            # The agent is not at fault: the receiver of this machine could not listen.
            yield Step(PUSH, None, f"{NOT_CHECKED}: {error.fault.seen}", 0.0, error.fault.hint)
    streamed = bool(card.capabilities.streaming) and choice.binding.offers(choice.dialect, Operation.STREAM)
    request = lazy_loading.compose(text_draft(message), push=webhook.config if webhook else None).request
    operation = Operation.STREAM if streamed else Operation.SEND
    call = session.call(operation, request, choice=choice, label=message, webhook=webhook)
    try:
        ended = await finish(call, timeouts.work)
    except asyncio.CancelledError:
        cancelled(_judge(session, call, ended=False, stopped=True))
        raise
    step = _judge(session, call, ended=ended)
    yield step
    if streamed and ended and call.fault is None and call.exchange.task_id:
        yield await _compare_task(session, call, choice, timeouts.call, wrong=step.passed is False)
    if webhook is not None and call.fault is not None:
        yield Step(PUSH, None, "not checked: the message failed")
    elif webhook is not None and not call.exchange.task_id:
        yield Step(PUSH, None, "not checked: push notifications need a task, and the message created none")
    elif webhook is not None:
        yield await check_push(session, webhook, choice, call.exchange.task_id, timeouts)


def _judge(session: Session, call: Call, *, ended: bool, stopped: bool = False) -> Step:
    """Judge the response to a message by its fault, its findings, its events and the state of its task.

    A response that has not `ended` took too long, unless the user has `stopped` the check.
    """
    exchange, fault = call.exchange, call.fault
    streamed = exchange.context.operation is Operation.STREAM
    summary = session.journal.exchanges.get(exchange.number)
    took = (summary.seconds if summary else None) or 0.0

    def step(passed: bool | None, message: str, remedy: str = "") -> Step:
        return Step(STREAMING if streamed else "message", passed, message, took, remedy, exchange.number)

    if fault is not None and fault.kind is FaultKind.UNFRAMED_EVENTS:
        return step(False, fault.seen, _UNFRAMED)
    if fault is not None:
        lost = _NO_OPERATION.format(operation=exchange.context.operation.value)
        return step(False, fault.seen, lost if exchange.status in UNROUTED else fault.hint)
    frames = session.journal.capture.select(kinds={Kind.FRAME}, exchange=exchange.number)
    if not frames and stopped:
        return step(None, f"stopped after {duration(took)}, before the response")
    if not frames and not ended:
        return step(False, f"no response within {took:.0f} s", CHECK_LOG)
    seen, buffered, proven = f"the response is a {type(exchange.answer).__name__}", "", False
    if streamed:
        measured = health(summary, time.time(), dated_span(session.journal.capture, summary)) if summary else None
        if not frames or measured is None:
            return step(False, "the response is not a stream", _NOT_A_STREAM)
        seen, buffered, proven = _arrival(frames, measured, ended=ended), measured.buffered, measured.proven
    tracked = session.tasks.get(exchange.task_id)
    seen += f"; the task is {short(tracked.answered.state)}" if tracked and tracked.answered.state else ""
    if errors := findings_of(session, exchange, Severity.ERROR):
        return step(False, f"{in_words(errors)}; {seen}", _remedy(errors, took))
    if buffered:
        return step(False if proven else None, f"{seen}; {buffered}", _BUFFERED)
    return step(True if ended else None, seen)


def _arrival(frames: Sequence[Record], measured: StreamHealth, *, ended: bool) -> str:
    """Return when the events of a stream arrived: first, last, a long gap, and the wait in a stream that is open."""
    spread, after = frames[-1].at - frames[0].at, f"after {duration(measured.first_event or 0.0)}"
    seen = f"1 event, {after}"
    if len(frames) > 1:
        seen = f"{len(frames)} events, the first {after}, all within {duration(spread)}"
    if measured.gap >= _LONG_GAP:
        seen += f", none between {duration(measured.gap_ended - measured.gap)} and {duration(measured.gap_ended)}"
    if ended:
        return seen
    silence = measured.total - (measured.first_event or 0.0) - spread
    idle = f", without an event for {duration(silence)}" if silence >= _LONG_GAP else ""
    alive = f", with {measured.keepalives:,} keep-alives" if measured.keepalives else ""
    return f"{seen}; still open after {duration(measured.total)}{idle}{alive}"


def _remedy(errors: list[Finding], seconds: float) -> str:
    if errors[0].rule == ENDED_EARLY and seconds >= _SHORTEST_LIMIT:
        return _PROXY.format(time=duration(seconds))
    return remedy_of(errors)


async def _compare_task(session: Session, call: Call, choice: Choice, seconds: float, *, wrong: bool) -> Step:
    """Get the task of a stream that has ended and compare it with the stream; `wrong` is whether its check failed."""
    task_id, began = call.exchange.task_id, time.perf_counter()
    tracked = session.tasks.get(task_id)
    state = tracked.answered.state if tracked else ""
    received = {key: str(item.text) for key, item in tracked.answered.artifacts.items()} if tracked else {}
    get = session.call(Operation.GET, TaskRequest(id=task_id), choice=choice, label="the task of the message")

    def step(passed: bool | None, message: str, remedy: str = "") -> Step:
        return Step(TASK, passed, message, time.perf_counter() - began, remedy, get.exchange.number)

    if not await finish(get, seconds):
        return step(False, f"no response within {seconds:g} s", CHECK_LOG)
    answer = get.exchange.answer
    if get.fault is not None or not isinstance(answer, Task):
        seen = get.fault.seen if get.fault else "the response is not a task"
        return step(None, f"not compared with the stream: {seen}")
    now = answer.status.state
    if not state:  # only a message, which may name a task
        return step(None, "not compared with the stream: the stream has no state of the task")
    if now != state and (is_terminal(now) or is_terminal(state)):
        remedy = _STREAM_FIRST if wrong else _EVENTS_MISSING
        return step(False, f"the stream ended with {short(state)}, GetTask returns {short(now)}", remedy)
    short_by = [item.name or item.artifact_id for item in answer.artifacts or () if _lacks(received, item)]
    if short_by:
        seen = f"the stream has less text than GetTask in {', '.join(short_by[:3])}"
        return step(False, seen, _STREAM_FIRST if wrong else _TEXT_MISSING)
    return step(True, f"GetTask returns {short(now)}, with the content of the stream")


def _lacks(received: dict[str, str], artifact: Artifact) -> bool:
    """Return whether a stream has less text of an artifact than the task."""
    whole = "".join(part.text or "" for part in artifact.parts)
    return len(received.get(artifact.artifact_id, "")) < len(whole)
