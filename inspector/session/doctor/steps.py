"""The report of the doctor, and the steps that send a message."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, field

from inspector.capture.records import Kind
from inspector.protocol.card import AgentCard
from inspector.protocol.errors import Fault, FaultError
from inspector.protocol.operations import Operation
from inspector.protocol.security import requirements_in_words
from inspector.protocol.selection import Choice, Option
from inspector.session.call import Call
from inspector.session.compose.build import compose
from inspector.session.compose.draft import text_draft
from inspector.session.push.webhook_registration import WebhookRegistration
from inspector.session.session import Session

STREAMING = "streaming"
"""The name of the step about a stream."""
PUSH = "push"
"""The name of the step about push notifications."""
STUCK = "Is the agent stuck? Its log will tell."
"""The remedy for a timeout."""

_BURST = 0.005
"""Events that arrive closer together than this, in seconds, arrived in one batch."""
_BUFFERED = (
    "They came in one batch after a long wait: does a proxy between buffer the response, or does the agent say nothing "
    "until it is done?"
)
_NO_PUSH = "Agents may refuse loopback addresses, as the specification advises: try --public-url with a tunnel."
_REFUSED_PUSH = "The deliveries came, and their checks tell what is wrong with them."


@dataclass(frozen=True, slots=True)
class Step:
    """One check; `good` is None where there is nothing to judge.

    `seen` and `remedy` are sentences, `seconds` is the duration, `exchange` the number of its exchange.
    """

    name: str
    good: bool | None
    seen: str
    seconds: float = 0.0
    remedy: str = ""
    exchange: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the card declares of one thing, and what was observed; `agree` is None where that is unknown."""

    thing: str
    declared: str
    observed: str
    agree: bool | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """An interface and a protocol version that answered where the declared one did not."""

    choice: Choice
    why: str


@dataclass(slots=True)
class Report:
    """The result of an examination, secrets masked; `fault` is None where the card was read."""

    reference: str
    steps: list[Step] = field(default_factory=list)
    table: list[Comparison] = field(default_factory=list)
    proposals: list[Proposal] = field(default_factory=list)
    fault: Fault | None = None

    @property
    def passed(self) -> bool:
        """Return whether no step failed."""
        return all(step.good is not False for step in self.steps)


@dataclass(slots=True)
class InterfaceResult:
    """One declared interface: the protocols that it proved to speak, and whether that could not be determined."""

    name: str
    option: Option
    spoken: list[str] = field(default_factory=list)
    unknown: bool = False
    protected: bool = False


def spoken(choice: Choice) -> str:
    """Return the protocol of an interface: `1.0 over JSONRPC`."""
    return f"{choice.dialect.version} over {choice.binding.name}"


def _compare_interface(result: InterfaceResult) -> Comparison:
    option = result.option
    interface, dialect, binding = option.interface, option.dialect, option.binding
    declared = f"{interface.protocol_version or '?'} over {interface.protocol_binding or '?'}"
    agree = None
    if dialect is not None and binding is not None and not result.unknown:
        agree = result.spoken == [f"{dialect.version} over {binding.name}"]
    seen = ", ".join(result.spoken) or "no answer that proves a protocol"
    return Comparison(result.name, declared, seen, agree)


def compare(
    card: AgentCard, examined: list[InterfaceResult], trial: dict[str, Step], *, given: bool
) -> list[Comparison]:
    """Compare a card with the results of the steps; `trial` has those of a message, `given` tells of credentials."""
    untried = "not tried" if trial else "not tried: give the doctor a message to send"
    rows = [_compare_interface(result) for result in examined]
    can = card.capabilities
    for thing, said, name in (
        ("streaming", can.streaming, STREAMING),
        ("push notifications", can.push_notifications, PUSH),
    ):
        declared, step = "yes" if said else "no" if said is False else "not said", trial.get(name)
        rows.append(Comparison(thing, declared, step.seen if step else untried, step.good if step else None))
    demanded = any(result.protected for result in examined)
    seen = "demanded" if demanded else "given" if given else "not demanded"
    unsaid = demanded and not any(card.security_requirements or ())
    return [*rows, Comparison("credentials", requirements_in_words(card), seen, False if unsaid else None)]


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts in seconds for a response, for the work on a message, and for a delivery after it.

    After `first_event`, the first event of a stream is late.
    """

    call: float = 10.0
    work: float = 60.0
    push: float = 3.0
    first_event: float = 2.0


async def try_message(
    session: Session, card: AgentCard, choice: Choice, message: str, timeouts: Timeouts
) -> AsyncGenerator[Step, None]:
    """Send the message, streamed if the card declares it, and check the stream and the push notifications."""
    hook: WebhookRegistration | None = None
    if card.capabilities.push_notifications:
        try:
            await session.push.listen()
            hook = session.push.register()
        except FaultError as error:
            yield Step(PUSH, False, error.fault.seen, 0.0, error.fault.hint)
    streamed = bool(card.capabilities.streaming) and choice.binding.offers(choice.dialect, Operation.STREAM)
    request = compose(text_draft(message), push=hook.config if hook else None).request
    operation = Operation.STREAM if streamed else Operation.SEND
    call = session.call(operation, request, choice=choice, label=message, webhook=hook)
    step = await _drive(session, call, timeouts, streamed=streamed)
    yield step
    if hook is not None and call.fault is not None:
        yield Step(PUSH, None, "not tried: the message was not answered")
    elif hook is not None and not call.exchange.task_id:
        yield Step(PUSH, None, "not tried: the message made no task, and pushes tell of tasks")
    elif hook is not None:
        yield await _await_push(session, hook, timeouts.push)


async def _drive(session: Session, call: Call, timeouts: Timeouts, *, streamed: bool) -> Step:
    """Send the call, wait for its end or the timeout, and judge the events."""
    began = time.perf_counter()
    timeout = asyncio.timeout(timeouts.work)
    with suppress(TimeoutError):
        async with timeout:
            await call.finish()
    late = timeout.expired()
    took = time.perf_counter() - began
    fault, number = call.fault, call.exchange.number
    arrivals = [record.at for record in session.journal.capture.select(kinds={Kind.FRAME}, exchange=number)]

    def step(good: bool, seen: str, remedy: str = "") -> Step:
        return Step(STREAMING if streamed else "message", good, seen, took, remedy, number)

    if fault is not None:
        return step(False, fault.seen, fault.hint)
    if not arrivals and late:
        return step(False, f"no answer within {timeouts.work:.0f} s", STUCK)
    if not streamed:
        return step(True, f"answered with a {type(call.exchange.answer).__name__}")
    if not arrivals:
        remedy = "The card declares streaming: the answer to a streaming call is text/event-stream."
        return step(False, "answered at once, not as a stream", remedy)
    summary = session.journal.exchanges.get(number)
    first = arrivals[0] - (summary.at if summary else arrivals[0])
    span = arrivals[-1] - arrivals[0]
    count = f"{len(arrivals)} event{'s' if len(arrivals) > 1 else ''}"
    seen = f"{count}, the first after {first:.3f} s, all within {span:.3f} s"
    if late:
        return step(True, f"{seen}; more may come, listening ended here")
    buffered = len(arrivals) > 2 and span < _BURST and first > timeouts.first_event
    return step(not buffered, seen, _BUFFERED if buffered else "")


async def _await_push(session: Session, hook: WebhookRegistration, seconds: float) -> Step:
    """Wait for an accepted delivery, at most so many seconds."""
    began = time.perf_counter()
    news = asyncio.Event()
    unsubscribe = session.journal.subscribe(lambda _: news.set())
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not hook.accepted:
                    news.clear()
                    await news.wait()
    finally:
        unsubscribe()
    seen = f"{hook.accepted} accepted, {hook.refused} refused at {session.push.receiver.base_url}"
    remedy = "" if hook.accepted else _REFUSED_PUSH if hook.refused else _NO_PUSH
    return Step(PUSH, hook.accepted > 0, seen, time.perf_counter() - began, remedy)
