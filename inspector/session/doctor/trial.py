"""The doctor's trial of streaming and push: a message is sent, and it is seen how the answer comes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from inspector.capture.records import Kind
from inspector.protocol.card import AgentCard
from inspector.protocol.errors import FaultError
from inspector.protocol.operations import Operation
from inspector.protocol.selection import Choice
from inspector.session.call import Turn
from inspector.session.compose.build import compose
from inspector.session.compose.draft import text_draft
from inspector.session.doctor.diagnosis import PUSH, STREAMING, Step
from inspector.session.push.webhook_registration import WebhookRegistration
from inspector.session.session import Session

_BURST = 0.005
"""Events that arrive closer together than this, in seconds, arrived in one batch."""
_BUFFERED = (
    "They came in one batch after a long wait: does a proxy between buffer the response, or does the agent say nothing "
    "until it is done?"
)
_NO_PUSH = "Agents may refuse loopback addresses, as the specification advises: try --public-url with a tunnel."
_REFUSED_PUSH = "The deliveries came, and their checks tell what is wrong with them."


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the doctor waits, in seconds, so that it comes to an end with every agent.

    `call` is for one answer, `work` for all that a message brings, `push` for a delivery after that; `first_event` is
    after how long the first event of a stream is late.
    """

    call: float = 10.0
    work: float = 60.0
    push: float = 3.0
    first_event: float = 2.0


async def try_message(
    session: Session, card: AgentCard, choice: Choice, message: str, patience: Patience
) -> AsyncGenerator[Step, None]:
    """Send the message, streamed where the card says so, and see how the stream comes and whether pushes do."""
    hook: WebhookRegistration | None = None
    if card.capabilities.push_notifications:
        try:
            await session.push.listen()
            hook = session.push.register()
        except FaultError as error:
            yield Step(PUSH, False, error.fault.seen, 0.0, error.fault.hint)
    streamed = bool(card.capabilities.streaming) and choice.binding.offers(choice.dialect, Operation.STREAM)
    request = compose(text_draft(message), tenant=choice.interface.tenant, push=hook.config if hook else None).request
    turn = session.call_on(choice, Operation.STREAM if streamed else Operation.SEND, request, label=message)
    turn.hook = hook
    step = await _drive(session, turn, patience, streamed=streamed)
    yield step
    if hook is not None and turn.fault is not None:
        yield Step(PUSH, None, "not tried: the message was not answered")
    elif hook is not None and not turn.exchange.task_id:
        yield Step(PUSH, None, "not tried: the message made no task, and pushes tell of tasks")
    elif hook is not None:
        yield await _await_push(session, hook, patience.push)


async def _drive(session: Session, turn: Turn, patience: Patience, *, streamed: bool) -> Step:
    """Drive the call to its end, or to that of our patience, and judge what came."""
    began = time.perf_counter()
    late = False
    try:
        async with asyncio.timeout(patience.work):
            await turn.finish()
    except TimeoutError:
        late = True
    took = time.perf_counter() - began
    fault, number = turn.fault, turn.exchange.number
    arrivals = [record.at for record in session.journal.capture.select(kinds={Kind.FRAME}, exchange=number)]
    name = STREAMING if streamed else "message"
    if fault is not None:
        return Step(name, False, fault.seen, took, fault.hint, number)
    if not arrivals and late:
        remedy = "Is the agent stuck? Its log will tell."
        return Step(name, False, f"no answer within {patience.work:.0f} s", took, remedy, number)
    if not streamed:
        return Step(name, True, f"answered with a {type(turn.exchange.answer).__name__}", took, "", number)
    if not arrivals:
        remedy = "The card declares streaming: the answer to a streaming call is text/event-stream."
        return Step(name, False, "answered at once, not as a stream", took, remedy, number)
    summary = session.journal.exchanges.get(number)
    first = arrivals[0] - (summary.at if summary else arrivals[0])
    return _judge_arrivals(arrivals, first, took, number, patience, late=late)


def _judge_arrivals(
    arrivals: list[float], first: float, took: float, number: int, patience: Patience, *, late: bool
) -> Step:
    span = arrivals[-1] - arrivals[0]
    count = f"{len(arrivals)} event{'s' if len(arrivals) > 1 else ''}"
    seen = f"{count}, the first after {first:.3f} s, all within {span:.3f} s"
    if late:
        return Step(STREAMING, True, f"{seen}; more may come, listening ended here", took, "", number)
    if len(arrivals) > 2 and span < _BURST and first > patience.first_event:
        return Step(STREAMING, False, seen, took, _BUFFERED, number)
    return Step(STREAMING, True, seen, took, "", number)


async def _await_push(session: Session, hook: WebhookRegistration, seconds: float) -> Step:
    """Wait until a delivery for the webhook is accepted, or no longer than that."""
    began = time.perf_counter()
    news = asyncio.Event()
    unsubscribe = session.journal.subscribe(lambda _: news.set())
    try:
        async with asyncio.timeout(seconds):
            while not hook.accepted:
                news.clear()
                await news.wait()
    except TimeoutError:
        pass  # what came until then is told below
    finally:
        unsubscribe()
    seen = f"{hook.accepted} accepted, {hook.refused} refused at {session.push.receiver.base_url}"
    remedy = "" if hook.accepted else _REFUSED_PUSH if hook.refused else _NO_PUSH
    return Step(PUSH, hook.accepted > 0, seen, time.perf_counter() - began, remedy)
