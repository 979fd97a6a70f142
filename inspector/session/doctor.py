"""The doctor: says, step by step, whether an agent can be reached and which protocol it really speaks.

It asks only what changes nothing: the card, and a task that does not exist. With a message to send it also looks at
streaming and push, which takes a task of the agent.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit, urlunsplit

from inspector.capture.records import Kind
from inspector.findings.finding import Severity
from inspector.protocol.card import AgentCard, AgentInterface
from inspector.protocol.dialects.registry import ALL, travels_over
from inspector.protocol.errors import FaultError, ProtocolError
from inspector.protocol.model import TaskRequest, Unreadable
from inspector.protocol.operations import Operation
from inspector.protocol.security import requirements_in_words
from inspector.protocol.selection import Choice, Option, options
from inspector.session.connection import CardFetch, Connection, fetch_card
from inspector.session.draft import text_draft
from inspector.session.exchange import Exchange
from inspector.session.session import Session
from inspector.wire import reach
from inspector.wire.discovery import FoundCard, candidates, local_path, normalise

DOCTOR = "doctor"
"""The event of the doctor's notes."""

_PROVES = frozenset({"TaskNotFoundError"})
"""Errors to a GetTask for a task that does not exist which only an agent gives that speaks the dialect."""
_WRONG_GENERATION = frozenset({"MethodNotFoundError", "VersionNotSupportedError"})
_SLOW_FIRST_BYTE = 2.0
_PUSH_PATIENCE = 3.0
_BURST = 0.005
"""Events that arrive closer together than this, in seconds, arrived in one batch."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that was looked at; `good` is None where there is nothing to judge.

    `seen` and `remedy` are for people, `seconds` is how long it took, `exchange` leads to what crossed the wire.
    """

    name: str
    good: bool | None
    seen: str
    seconds: float = 0.0
    remedy: str = ""
    exchange: int = 0


@dataclass(frozen=True, slots=True)
class Observed:
    """What the card declares of one thing, and what was seen of it."""

    thing: str
    declared: str
    observed: str
    agree: bool | None


@dataclass(frozen=True, slots=True)
class Proposal:
    """An interface and a generation that answered, where the declared one did not; nothing is retried unasked."""

    choice: Choice
    why: str


@dataclass(slots=True)
class Report:
    """What an examination came to; filled step by step."""

    reference: str
    steps: list[Step] = field(default_factory=list)
    table: list[Observed] = field(default_factory=list)
    proposals: list[Proposal] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Say whether every step that can be judged was good."""
        return all(step.good is not False for step in self.steps)


class Doctor:
    """Examines one agent over a session; iterate over `examine`, then read `report`."""

    def __init__(self, session: Session, reference: str, message: str = "") -> None:
        self._session = session
        self._message = message
        self.report = Report(reference)
        self._fetch: CardFetch | None = None
        self._speaking: list[Choice] = []

    async def examine(self) -> AsyncIterator[Step]:
        """Take the steps in order, each yielded as it is done; a step that cannot be taken ends the examination."""
        async for step in self._steps():
            self.report.steps.append(step)
            self._session.note(f"{step.name}: {step.seen}", DOCTOR)
            yield step
        self._session.journal.touch()

    async def _steps(self) -> AsyncIterator[Step]:
        reference = self.report.reference
        if local_path(reference) is None:
            place = reach.place_of(normalise(reference))
            if place is None:
                yield Step(
                    "name", False, f"{reference!r} names no host", 0.0, "Type a url, or the path of a card file."
                )
                return
            for layer in await self._layers(place):
                yield layer
                if layer.good is False:
                    return
        async for step in self._card():
            yield step
        connection = self._session.connection
        if connection is None:
            return
        async for step in self._interfaces(connection):
            yield step
        if self._message and self._speaking:
            async for step in self._work(connection, self._speaking[0]):
                yield step
        self._declared_against_observed(connection.card)

    async def _layers(self, place: reach.Place) -> list[Step]:
        layers = [await reach.resolve(place)]
        if layers[-1].good:
            layers.append(await reach.connect(place))
        if layers[-1].good and place.tls and not self._session.settings.insecure:
            layers.append(await reach.shake_hands(place))
        return [Step(one.name, one.good, one.seen, one.seconds, one.remedy) for one in layers]

    async def _card(self) -> AsyncIterator[Step]:
        session, reference = self._session, self.report.reference
        if local_path(reference) is None:
            statuses: set[int] = set()
            for url in candidates(reference):
                began = time.perf_counter()
                fetch = await fetch_card(session.journal, session.client, session.credentials_for(reference), url)
                statuses.add(fetch.head.status if fetch.head else 0)
                good = True if isinstance(fetch.found, FoundCard) else None
                self._fetch = self._fetch or (fetch if good else None)
                yield Step(f"card at {_path(url)}", good, _seen(fetch), time.perf_counter() - began, "", fetch.number)
            if self._fetch is None:
                locked = statuses & {401, 403}
                remedy = "Give credentials with --bearer or --header." if locked else "Is this the agent's base url?"
                yield Step("card", False, "no card at any known place", 0.0, remedy)
                return
        try:
            connection = await session.connect(reference)
        except FaultError as error:
            yield Step("card", False, error.fault.seen, 0.0, error.fault.hint)
            return
        errors = [finding for finding in connection.findings if finding.severity is Severity.ERROR]
        shape = connection.found.dialect.generation
        said = "; ".join(f"{one.rule} {one.seen}" for one in connection.findings) or "nothing wrong with it"
        remedy = "a2a-inspect card get --validate lists what is wrong, with sections." if connection.findings else ""
        yield Step("card content", not errors, f"{connection.card.name}, shaped like {shape}: {said}", 0.0, remedy)

    async def _interfaces(self, connection: Connection) -> AsyncIterator[Step]:
        declared = options(connection.card)
        if not declared:
            yield Step("interfaces", False, "the card declares none", 0.0, "Add supportedInterfaces to the card.")
        for number, option in enumerate(declared, 1):
            name = f"interface {number}"
            async for step in self._reachable(name, option, connection):
                yield step
            if option.binding is None:
                yield Step(f"{name} protocol", None, option.reason)
                continue
            async for step in self._protocol(name, option):
                yield step

    async def _reachable(self, name: str, option: Option, connection: Connection) -> AsyncIterator[Step]:
        url = option.interface.url
        place = reach.place_of(url)
        if place is None:
            yield Step(f"{name} address", False, f"{url!r} names no host", 0.0, "Correct the url on the card.")
            return
        typed = reach.place_of(connection.url) if connection.url else None
        why = reach.only_there(place.host)
        if why and typed is not None and typed.host != place.host:
            here = _at_origin(url, connection.url)
            yield Step(f"{name} address", False, f"{url}: {why}", 0.0, f"Advertise the public address, perhaps {here}.")
            if option.dialect and option.binding:
                moved = Choice(
                    replace_url(option.interface, here), option.dialect, option.binding, "at the origin typed"
                )
                self.report.proposals.append(Proposal(moved, f"the card says {place.host}, you reached {typed.host}"))
        layer = await reach.connect(place)
        yield Step(f"{name} address", layer.good, f"{url}: {layer.seen}", layer.seconds, layer.remedy)

    async def _protocol(self, name: str, option: Option) -> AsyncIterator[Step]:
        """Ask for a task that does not exist, in the declared dialect and, where that is refused, in the others."""
        binding = option.binding
        if binding is None:
            return
        declared = option.dialect
        if declared is not None:
            choice = Choice(option.interface, declared, binding, option.reason)
            step, speaks = await self._ask(name, choice)
            yield step
            if speaks:
                self._speaking.append(choice)
            if speaks is not False:
                return
        for dialect in ALL:
            if dialect is declared or not travels_over(dialect, binding.name):
                continue
            choice = Choice(option.interface, dialect, binding, "it answered the doctor")
            step, speaks = await self._ask(name, choice)
            yield replace(step, good=True if speaks else None, remedy="" if not speaks else step.remedy)
            if speaks:
                version = option.interface.protocol_version or "no version"
                why = f"declared {version}, yet it answered as {dialect.generation} over {binding.name} does"
                self.report.proposals.append(Proposal(choice, why))
                return

    async def _ask(self, name: str, choice: Choice) -> tuple[Step, bool | None]:
        """Make the first call on an interface; True: it speaks this, False: it does not, None: that cannot be told."""
        label = f"{name} as {choice.dialect.generation} over {choice.binding.name}"
        task_id = f"a2a-inspect-{uuid.uuid4()}"
        began = time.perf_counter()
        turn = self._session.call_on(choice, Operation.GET, TaskRequest(id=task_id), task_id, "", "a task that is not")
        await turn.finish()
        took = time.perf_counter() - began
        exchange, fault = turn.exchange, turn.fault
        if isinstance(exchange.answer, ProtocolError) and exchange.answer.name in _PROVES:
            seen = "answered that there is no such task, as it should"
            return Step(label, True, seen, took, "", exchange.number), True
        status = exchange.head.status if exchange.head else 0
        if status in (401, 403):
            remedy = "Give credentials with --bearer or --header."
            return Step(label, False, f"credentials are demanded ({status})", took, remedy, exchange.number), None
        if fault is None:
            seen = "answered with a task that does not exist"
            return Step(label, None, seen, took, "", exchange.number), True
        speaks = False if _is_other(exchange) else None
        return Step(label, False, fault.seen, took, fault.hint, exchange.number), speaks

    async def _work(self, connection: Connection, choice: Choice) -> AsyncIterator[Step]:
        """Send the message, and see how the stream comes and whether pushes do."""
        session = self._session
        session.use(choice)
        can = connection.card.capabilities
        if can.push_notifications:
            await session.push.turn_on()
        streamed = can.streaming is not False
        began = time.perf_counter()
        turn = session.send(text_draft(self._message), stream=streamed)
        arrivals = [record.at async for record in turn if record.kind is Kind.FRAME]
        took = time.perf_counter() - began
        fault, number = turn.fault, turn.exchange.number
        if fault is not None:
            yield Step("message", False, fault.seen, took, fault.hint, number)
        elif not arrivals:
            yield Step(
                "message", None if not streamed else False, "answered at once, not as a stream", took, "", number
            )
        else:
            yield _judge_stream(arrivals, session.journal.capture.get(number).at, took, number)
        if can.push_notifications:
            yield await self._pushes()

    async def _pushes(self) -> Step:
        desk = self._session.push
        began = time.perf_counter()
        while not desk.hooks[-1].accepted and time.perf_counter() - began < _PUSH_PATIENCE:  # noqa: ASYNC110
            await asyncio.sleep(0.05)  # deliveries come by callback, within a bounded time
        hook = desk.hooks[-1]
        desk.turn_off()
        seen = f"{hook.accepted} accepted, {hook.refused} refused at {desk.receiver.base_url}"
        remedy = "Agents may refuse loopback addresses, as the specification advises: try --public-url with a tunnel."
        return Step("push", hook.accepted > 0, seen, time.perf_counter() - began, "" if hook.accepted else remedy)

    def _declared_against_observed(self, card: AgentCard) -> None:
        steps = {step.name: step for step in self.report.steps}
        for number, option in enumerate(options(card), 1):
            interface = option.interface
            declared = f"{interface.protocol_version or '?'} over {interface.protocol_binding or '?'}"
            answered = [
                name.partition(" as ")[2]
                for name, step in steps.items()
                if name.startswith(f"interface {number} as ") and step.good
            ]
            agree = bool(
                option.dialect
                and answered == [f"{option.dialect.generation} over {option.interface.protocol_binding.upper()}"]
            )
            seen = ", ".join(answered) or "no answer that proves a protocol"
            self.report.table.append(Observed(f"interface {number}", declared, seen, agree if option.usable else None))
        for thing, said, name in (
            ("streaming", card.capabilities.streaming, "streaming"),
            ("push notifications", card.capabilities.push_notifications, "push"),
        ):
            step = steps.get(name)
            seen = step.seen if step else "not tried: give the doctor a message to send"
            kept = None if step is None else bool(step.good) is bool(said)
            word = "yes" if said else "no" if said is False else "not said"
            self.report.table.append(Observed(thing, word, seen, kept))
        demanded = any(step.seen.startswith("credentials are demanded") for step in self.report.steps)
        said_so = requirements_in_words(card)
        self.report.table.append(Observed("credentials", said_so, "demanded" if demanded else "not demanded", None))


def replace_url(interface: AgentInterface, url: str) -> AgentInterface:
    """Return the same interface at another address."""
    return interface.model_copy(update={"url": url})


def _at_origin(url: str, typed: str) -> str:
    """Return the path of an interface at the origin that the user typed."""
    parts, home = urlsplit(url), urlsplit(typed)
    return urlunsplit((home.scheme, home.netloc, parts.path, parts.query, ""))


def _path(url: str) -> str:
    return urlsplit(url).path or "/"


def _seen(fetch: CardFetch) -> str:
    if fetch.head is None:
        return fetch.fault.seen if fetch.fault else "no answer"
    answer = f"{fetch.head.status} {fetch.content_type or 'without a content type'}"
    if fetch.found == str(fetch.head.status):
        return answer
    return f"{answer}: {'a card' if isinstance(fetch.found, FoundCard) else fetch.found}"


def _is_other(exchange: Exchange) -> bool:
    """Say whether an answer looks like that of an agent that speaks something else."""
    answer = exchange.answer
    if isinstance(answer, ProtocolError):
        return answer.name in _WRONG_GENERATION or answer.code in (-32600, -32602, -32603, None)
    return isinstance(answer, Unreadable) or (exchange.head is not None and exchange.head.status in (404, 405))


def _judge_stream(arrivals: list[float], began: float, took: float, number: int) -> Step:
    first = arrivals[0] - began
    span = arrivals[-1] - arrivals[0]
    seen = f"{len(arrivals)} events, the first after {first:.3f} s, all within {span:.3f} s"
    if len(arrivals) > 2 and span < _BURST and first > _SLOW_FIRST_BYTE:
        remedy = "They came in one batch after a long wait: does a proxy between buffer the response?"
        return Step("streaming", False, seen, took, remedy, number)
    return Step("streaming", True, seen, took, "", number)
