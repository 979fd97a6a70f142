"""The report of the doctor, and the steps that send a message."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from inspector.capture.records import Kind
from inspector.protocol.card import AgentCard
from inspector.protocol.errors import Fault, FaultError
from inspector.protocol.operations import Operation
from inspector.protocol.security import requirements_in_words
from inspector.protocol.selection import Choice, Option
from inspector.session import lazy_loading
from inspector.session.call import Call
from inspector.session.compose.draft import text_draft
from inspector.session.session import Session
from inspector.text.units import duration

if TYPE_CHECKING:  # only a message needs it
    from inspector.session.push.webhook_registration import WebhookRegistration

STREAMING = "streaming"
"""The name of the step about a stream."""
PUSH = "push"
"""The name of the step about push notifications."""
INTERFACE = "interface "
"""The beginning of the names of an interface, and of the steps about it."""
NEEDS_MESSAGE = "not checked: needs --message"
"""The observation of a feature that only a message can check."""
NO_RESPONSE_HINT = "Check the log of the agent."
"""The remedy for a timeout."""

_BURST = 0.005
"""If all events of a stream arrive within this number of seconds, they count as one batch."""
_BUFFERED = (
    "All events arrived at once after a long wait: check for a proxy that buffers the response, or an agent that sends "
    "nothing until it has finished."
)
_NO_PUSH = "Agents may reject loopback addresses, as the specification recommends: use --public-url with a tunnel."
_REJECTED_PUSH = "The deliveries arrived, but were rejected: see their failed checks."


@dataclass(frozen=True, slots=True)
class Step:
    """One check; `passed` is None if the result is unknown.

    `message` is the result as text, `remedy` the next step after a failure, `seconds` the duration, `exchange` the
    number of its exchange.
    """

    name: str
    passed: bool | None
    message: str
    seconds: float = 0.0
    remedy: str = ""
    exchange: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the card declares about a feature, and what was observed; `matches` is None if unknown."""

    feature: str
    declared: str
    observed: str
    matches: bool | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """An interface and a protocol version that answered, instead of a declared interface that did not."""

    choice: Choice
    reason: str


@dataclass(slots=True)
class Report:
    """The results of all checks, secrets masked; `fault` is None if the card was read."""

    reference: str
    steps: list[Step] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    proposals: list[Proposal] = field(default_factory=list)
    fault: Fault | None = None

    @property
    def passed(self) -> bool:
        """Return whether no check failed."""
        return all(step.passed is not False for step in self.steps)


@dataclass(slots=True)
class InterfaceResult:
    """One declared interface: its confirmed protocols, and whether the check had no result or needs credentials."""

    name: str
    option: Option
    protocols: list[str] = field(default_factory=list)
    unknown: bool = False
    protected: bool = False


def protocol_name(choice: Choice) -> str:
    """Return the protocol of an interface: `1.0 over JSONRPC`."""
    return f"{choice.dialect.version} over {choice.binding.name}"


def _compare_interface(result: InterfaceResult) -> Comparison:
    option = result.option
    interface, dialect, binding = option.interface, option.dialect, option.binding
    declared = f"{interface.protocol_version or '?'} over {interface.protocol_binding or '?'}"
    matches = None
    if dialect is not None and binding is not None and not result.unknown:
        matches = result.protocols == [f"{dialect.version} over {binding.name}"]
    seen = ", ".join(result.protocols) or "no protocol confirmed"
    return Comparison(result.name, declared, seen, matches)


def compare(
    card: AgentCard, results: list[InterfaceResult], message_steps: dict[str, Step], *, has_credentials: bool
) -> list[Comparison]:
    """Compare a card with the results of the checks; `message_steps` has the checks for which a message was sent."""
    not_checked = "not checked" if message_steps else NEEDS_MESSAGE
    rows = [_compare_interface(result) for result in results]
    capabilities = card.capabilities
    for feature, value, name in (
        ("streaming", capabilities.streaming, STREAMING),
        ("push notifications", capabilities.push_notifications, PUSH),
    ):
        declared, step = "yes" if value else "no" if value is False else "not declared", message_steps.get(name)
        observed, matches = (step.message, step.passed) if step else (not_checked, None)
        rows.append(Comparison(feature, declared, observed, matches))
    required = any(result.protected for result in results)
    observed = "required" if required else "sent" if has_credentials else "not required"
    undeclared = required and not any(card.security_requirements or ())
    return [*rows, Comparison("credentials", requirements_in_words(card), observed, False if undeclared else None)]


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts in seconds: `call` for a response, `work` for a message, `push` for a delivery after the message.

    A batch of events counts as buffered if the first arrives after more than `first_event`.
    """

    call: float = 10.0
    work: float = 60.0
    push: float = 3.0
    first_event: float = 2.0


async def try_message(
    session: Session, card: AgentCard, choice: Choice, message: str, timeouts: Timeouts
) -> AsyncGenerator[Step, None]:
    """Send the message, with streaming if the card declares streaming; check the stream and the push notifications."""
    webhook: WebhookRegistration | None = None
    if card.capabilities.push_notifications:
        try:
            await session.push.listen()
            webhook = session.push.register()
        except FaultError as error:
            yield Step(PUSH, False, error.fault.seen, 0.0, error.fault.hint)
    streamed = bool(card.capabilities.streaming) and choice.binding.offers(choice.dialect, Operation.STREAM)
    request = lazy_loading.compose(text_draft(message), push=webhook.config if webhook else None).request
    operation = Operation.STREAM if streamed else Operation.SEND
    call = session.call(operation, request, choice=choice, label=message, webhook=webhook)
    step = await _drive(session, call, timeouts, streamed=streamed)
    yield step
    if webhook is not None and call.fault is not None:
        yield Step(PUSH, None, "not checked: the message failed")
    elif webhook is not None and not call.exchange.task_id:
        yield Step(PUSH, None, "not checked: push notifications need a task, and the message created none")
    elif webhook is not None:
        yield await _await_push(session, webhook, timeouts.push)


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

    def step(passed: bool, message: str, remedy: str = "") -> Step:
        return Step(STREAMING if streamed else "message", passed, message, took, remedy, number)

    if fault is not None:
        return step(False, fault.seen, fault.hint)
    if not arrivals and late:
        return step(False, f"no response within {timeouts.work:.0f} s", NO_RESPONSE_HINT)
    if not streamed:
        return step(True, f"the response is a {type(call.exchange.answer).__name__}")
    if not arrivals:
        remedy = "Respond to a streaming call with text/event-stream, as the card declares streaming."
        return step(False, "the response is not a stream", remedy)
    summary = session.journal.exchanges.get(number)
    first = arrivals[0] - (summary.at if summary else arrivals[0])
    span = arrivals[-1] - arrivals[0]
    count = f"{len(arrivals)} event{'s' if len(arrivals) > 1 else ''}"
    seen = f"{count}, the first after {duration(first)}, all within {duration(span)}"
    if late:
        return step(True, f"{seen}; the stream was still open")
    buffered = len(arrivals) > 2 and span < _BURST and first > timeouts.first_event
    return step(not buffered, seen, _BUFFERED if buffered else "")


async def _await_push(session: Session, webhook: WebhookRegistration, seconds: float) -> Step:
    """Wait at most `seconds` for an accepted delivery."""
    began = time.perf_counter()
    news = asyncio.Event()
    unsubscribe = session.journal.subscribe(lambda _: news.set())
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not webhook.accepted:
                    news.clear()
                    await news.wait()
    finally:
        unsubscribe()
    seen = f"{webhook.accepted} accepted, {webhook.refused} rejected at {session.push.receiver.base_url}"
    remedy = "" if webhook.accepted else _REJECTED_PUSH if webhook.refused else _NO_PUSH
    return Step(PUSH, webhook.accepted > 0, seen, time.perf_counter() - began, remedy)
