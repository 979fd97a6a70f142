"""The doctor: checks step by step whether an agent can be reached and which protocol versions it speaks.

It requests only what changes nothing: the card, and a task that does not exist. If it has a message to send, it also
checks streaming and push notifications. A session that is connected to the agent keeps its connection.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import TypeAlias
from urllib.parse import urlsplit, urlunsplit

from inspector.findings.finding import Severity
from inspector.protocol.bindings.base import Binding
from inspector.protocol.dialects.registry import ALL, travels_over
from inspector.protocol.errors import Fault, FaultCode, FaultError, ProtocolError, Whose
from inspector.protocol.model import TaskRequest, Unreadable
from inspector.protocol.operations import Operation
from inspector.protocol.selection import Choice, Option, options
from inspector.session.connection import CardFetch, Connection, fetch_card, mask_reference
from inspector.session.doctor.steps import (
    STUCK,
    InterfaceResult,
    Proposal,
    Report,
    Step,
    Timeouts,
    compare,
    spoken,
    try_message,
)
from inspector.session.exchange import Exchange
from inspector.session.session import Session
from inspector.wire import reach
from inspector.wire.client.credentials import split_userinfo
from inspector.wire.discovery import FoundCard, candidates, local_path, normalise, not_found
from inspector.wire.reach import Nearness

DOCTOR = "doctor"
"""The event of the doctor's notes."""

_WRONG_VERSION = frozenset({"MethodNotFoundError", "VersionNotSupportedError"})
_PROTECTED = frozenset({401, 403})
_DEMANDED = "credentials are demanded"
_WHERE = {
    Nearness.NETWORK: "it means something inside of the agent's network only",
    Nearness.MACHINE: "it is this machine, seen from wherever one stands",
    Nearness.WILDCARD: "it means every address of the agent's own machine",
}
_NO_CARD: dict[str, str] = {
    FaultCode.CARD_NOT_FOUND: "no card at any known place",
    FaultCode.CARD_INVALID: "the card cannot be read",
}
_Candidate: TypeAlias = tuple[str, str, Proposal]
"""An interface that the card does not declare: where it is, its protocol in words, and what to propose."""


class Doctor:
    """Examines one agent over a session; iterate over `examine`, then read `report`."""

    def __init__(
        self, session: Session, reference: str, message: str = "", *, timeouts: Timeouts | None = None
    ) -> None:
        self._session = session
        self._reference = reference
        self._message = message
        self._timeouts = timeouts or Timeouts()
        # User and password are credentials: no url that is asked or shown has them.
        self._url, userinfo = ("", "") if local_path(reference) else split_userinfo(normalise(reference))
        mask_reference(session.journal.redactor, self._url, userinfo)
        self.report = Report(session.journal.redactor.url(reference))
        self._connection: Connection | None = None
        self._speaking: list[Choice] = []

    async def examine(self) -> AsyncGenerator[Step, None]:
        """Run the steps in order and yield each result; the first step that cannot be run ends the examination."""
        text = self._session.journal.redactor.text
        async with aclosing(self._steps()) as steps:
            async for unmasked in steps:
                step = replace(unmasked, seen=text(unmasked.seen), remedy=text(unmasked.remedy))
                self.report.steps.append(step)
                self._session.note(f"{step.name}: {step.seen}", DOCTOR)
                yield step

    async def _steps(self) -> AsyncGenerator[Step, None]:
        if self._url:
            async for step in self._layers():
                yield step
        if self.report.fault is None:
            async for step in self._card():
                yield step
        connection = self._connection
        if connection is None:
            return
        interfaces = [InterfaceResult(f"interface {n}", option) for n, option in enumerate(options(connection.card), 1)]
        if not interfaces:
            yield Step("interfaces", False, "the card declares none", 0.0, "Add supportedInterfaces to the card.")
        for interface in interfaces:
            async for step in self._interface(interface):
                yield step
        trial: dict[str, Step] = {}
        if self._message and self._speaking:
            choice = self._preferred(connection)
            async for step in try_message(self._session, connection.card, choice, self._message, self._timeouts):
                trial[step.name] = step
                yield step
        given = bool(self._session.credentials)
        self.report.table += compare(connection.card, interfaces, trial, given=given)

    async def _layers(self) -> AsyncGenerator[Step, None]:
        """Reach the host layer by layer; the first that fails is the fault."""
        place = reach.place_of(self._url)
        if place is None:
            fault = Fault(Whose.YOURS, FaultCode.USAGE, f"{self._url!r} names no host.", "Type a url, or a card file.")
            self.report.fault = fault
            yield Step("name", False, fault.seen, 0.0, fault.hint)
            return
        if proxy := reach.proxy_of(self._url):
            yield Step("proxy", None, f"the environment leads through {proxy}, which reaches the host for us")
            return
        layers = [reach.resolve, reach.connect]
        if place.tls:
            layers.append(partial(reach.shake_hands, verify=not self._session.settings.insecure))
        for take in layers:
            layer = await take(place)
            if not layer.good:
                seen = self._session.journal.redactor.text(layer.seen)
                self.report.fault = Fault(Whose.NETWORK, FaultCode.UNREACHABLE, seen, layer.remedy)
            yield Step(layer.name, layer.good, layer.seen, layer.seconds, layer.remedy)
            if not layer.good:
                return

    async def _card(self) -> AsyncGenerator[Step, None]:
        fetched: CardFetch | None = None
        if self._url:
            tries: list[CardFetch] = []
            async for step in self._fetches(tries):
                yield step
            fetched = next((one for one in tries if isinstance(one.found, FoundCard)), None)
            if fetched is None:
                if self.report.fault is None:
                    yield self._no_card(tries)
                return
        try:
            self._connection = connection = await self._connect(fetched)
        except FaultError as error:
            self.report.fault = error.fault
            yield Step("card", False, error.fault.seen, 0.0, error.fault.hint)
            return
        serious = [finding for finding in connection.findings if finding.severity is not Severity.HINT]
        errors = [finding for finding in serious if finding.severity is Severity.ERROR]
        shape = connection.found.dialect.version
        said = "; ".join(f"{one.rule} {one.seen}" for one in serious) or "nothing wrong with it"
        remedy = "a2a-inspect card get --validate lists what is wrong." if serious else ""
        yield Step("card content", not errors, f"{connection.card.name}, shaped like {shape}: {said}", 0.0, remedy)

    async def _fetches(self, tries: list[CardFetch]) -> AsyncGenerator[Step, None]:
        """Fetch from every URL where the card may be, up to the first that does not answer."""
        session = self._session
        credentials = session.settings.credentials_for(self._reference)
        for url in candidates(self._url):
            began = time.perf_counter()
            try:
                async with asyncio.timeout(self._timeouts.call):
                    fetch = await fetch_card(session.journal, session.client, credentials, url)
            except TimeoutError:
                seen = f"accepted the request and did not answer within {self._timeouts.call:g} s"
                fault = Fault(Whose.AGENT, FaultCode.UNREACHABLE, seen, STUCK)
                self.report.fault = fault
                yield Step(f"card at {_path(url)}", False, seen, time.perf_counter() - began, fault.hint)
                return
            tries.append(fetch)
            good = True if isinstance(fetch.found, FoundCard) else None
            yield Step(f"card at {_path(url)}", good, _seen(fetch), time.perf_counter() - began, "", fetch.number)

    def _no_card(self, tries: list[CardFetch]) -> Step:
        text = self._session.journal.redactor.text
        statuses = {fetch.head.status if fetch.head else 0 for fetch in tries}
        fault = not_found(self.report.reference, [(fetch.url, str(fetch.found)) for fetch in tries], statuses)
        self.report.fault = replace(fault, seen=text(fault.seen))
        return Step("card", False, _NO_CARD.get(fault.code, "the card is protected"), 0.0, fault.hint)

    async def _connect(self, fetched: CardFetch | None) -> Connection:
        """Connect the session, or keep its connection and its interface if it is connected to this agent."""
        kept = self._session.connection
        if kept is None or kept.reference not in (self._reference, self._url):
            return await self._session.connect(self._reference)
        if fetched is None or not isinstance(fetched.found, FoundCard):
            return kept
        return replace(kept, url=fetched.url, found=fetched.found, findings=fetched.findings)

    async def _interface(self, interface: InterfaceResult) -> AsyncGenerator[Step, None]:
        """Check whether an interface is at its URL, and which protocol versions it speaks there."""
        option = interface.option
        place = reach.place_of(option.interface.url)
        if place is None:
            seen = f"{option.interface.url!r} names no host"
            yield Step(f"{interface.name} address", False, seen, 0.0, "Correct the url on the card.")
            return
        step, misleading = await self._address(interface, place)
        yield step
        if option.binding is None:
            yield Step(f"{interface.name} protocol", None, option.reason)
            return
        if misleading:
            async for answer in self._try(interface, self._elsewhere(option, place)):
                yield answer
        elif step.good is not False:
            async for answer in self._protocol(interface):
                yield answer

    async def _address(self, interface: InterfaceResult, place: reach.Place) -> tuple[Step, bool]:
        """Connect to an interface; True next to the step if its address does not lead to the agent from here."""
        url, name = interface.option.interface.url, f"{interface.name} address"
        typed = reach.place_of(self._url) if self._url else None
        near = reach.nearness(place.host)
        here = reach.nearness(typed.host) if typed else Nearness.MACHINE
        if proxy := reach.proxy_of(url):
            return Step(name, None, f"{url}: through the proxy {proxy}"), False
        layer = await reach.connect(place)
        elsewhere = typed is None or typed.host != place.host
        astray = near > here and near >= Nearness.MACHINE
        if elsewhere and (astray or (near and not layer.good)):
            there = f", perhaps at {_at(urlsplit(self._url).netloc, self._url, url)}" if typed else ""
            seen = f"{url}: {_WHERE[near]}{'' if astray else f'. {layer.seen}'}"
            return Step(name, False, seen, layer.seconds, f"Advertise the public address{there}."), typed is not None
        return Step(name, layer.good, f"{url}: {layer.seen}", layer.seconds, layer.remedy), False

    def _elsewhere(self, option: Option, place: reach.Place) -> Iterator[_Candidate]:
        """Return the interface at the origin that the user typed, then at its own port on that host."""
        typed = reach.place_of(self._url)
        if option.dialect is None or option.binding is None or typed is None:
            return
        origin = urlsplit(self._url).netloc
        host = f"[{typed.host}]" if ":" in typed.host else typed.host
        for netloc in dict.fromkeys((origin, f"{host}:{place.port}")):
            url = _at(netloc, self._url, option.interface.url)
            moved = option.interface.model_copy(update={"url": url})
            choice = Choice(moved, option.dialect, option.binding, "at the origin that was typed")
            why = f"the card says {place.host}, you reached {typed.host}, and it answered there"
            yield f" at {netloc}", f"{spoken(choice)} at {url}", Proposal(choice, why)

    @staticmethod
    def _other_versions(option: Option, binding: Binding) -> Iterator[_Candidate]:
        for dialect in ALL:
            if dialect is not option.dialect and travels_over(dialect, binding.name):
                choice = Choice(option.interface, dialect, binding, "it answered the doctor")
                version = option.interface.protocol_version or "no version"
                why = f"declared {version}, yet it answered as {spoken(choice)} does"
                yield "", spoken(choice), Proposal(choice, why)

    async def _try(self, interface: InterfaceResult, candidates: Iterator[_Candidate]) -> AsyncGenerator[Step, None]:
        """Make a call over each candidate until one answers, which becomes a proposal."""
        for where, observed, proposal in candidates:
            step, speaks = await self._ask(f"{interface.name}{where}", proposal.choice)
            yield replace(step, good=True if speaks else None, remedy="")
            if speaks:
                interface.spoken.append(observed)
                self.report.proposals.append(proposal)
                self._speaking.append(proposal.choice)
                return

    async def _protocol(self, interface: InterfaceResult) -> AsyncGenerator[Step, None]:
        """Make a call in the declared protocol version; if that is refused, in the others."""
        option, binding = interface.option, interface.option.binding
        if binding is None:
            return
        if option.dialect is not None:
            choice = Choice(option.interface, option.dialect, binding, option.reason)
            step, speaks = await self._ask(interface.name, choice)
            yield step
            if speaks:
                interface.spoken.append(spoken(choice))
                self._speaking.append(choice)
            interface.unknown = speaks is None
            interface.protected = step.seen.startswith(_DEMANDED)
            if speaks is not False:
                return
        async for step in self._try(interface, self._other_versions(option, binding)):
            yield step

    async def _ask(self, name: str, choice: Choice) -> tuple[Step, bool | None]:
        """Get a task that does not exist; next to the step, whether the interface speaks this version, if known."""
        request = TaskRequest(id=f"a2a-inspect-{uuid.uuid4()}")
        began = time.perf_counter()
        call = self._session.call(Operation.GET, request, choice=choice, label="a task that does not exist")
        exchange = call.exchange

        def step(good: bool | None, seen: str, remedy: str = "") -> Step:
            took = time.perf_counter() - began
            return Step(f"{name} as {spoken(choice)}", good, seen, took, remedy, exchange.number)

        try:
            async with asyncio.timeout(self._timeouts.call):
                fault = await call.finish()
        except TimeoutError:
            return step(False, f"no answer within {self._timeouts.call:g} s", STUCK), None
        if isinstance(exchange.answer, ProtocolError) and exchange.answer.name == "TaskNotFoundError":
            return step(True, "answered that there is no such task, as it should"), True
        status = exchange.head.status if exchange.head else 0
        if status in _PROTECTED:
            return step(False, f"{_DEMANDED} ({status})", fault.hint if fault else ""), None
        if fault is None:
            return step(None, "answered with a task that does not exist"), True
        return step(False, fault.seen, fault.hint), False if _is_other(exchange) else None

    def _preferred(self, connection: Connection) -> Choice:
        """Return the interface in use if it answered, else the first that did."""
        used, answered = connection.choice, self._speaking
        same = (it for it in answered if used and it.interface == used.interface and it.dialect == used.dialect)
        return next(same, answered[0])


def _at(netloc: str, typed: str, url: str) -> str:
    """Return the URL of an interface at another host, with the scheme that was typed; `host:port` has no scheme."""
    if "://" not in url:
        return netloc
    parts = urlsplit(url)
    return urlunsplit((urlsplit(typed).scheme, netloc, parts.path, parts.query, ""))


def _path(url: str) -> str:
    try:
        return urlsplit(url).path or "/"
    except ValueError:
        return url


def _seen(fetch: CardFetch) -> str:
    if fetch.head is None:
        return fetch.fault.seen if fetch.fault else "no answer"
    answer = f"{fetch.head.status} {fetch.content_type or 'without a content type'}"
    if fetch.found == str(fetch.head.status):
        return answer
    return f"{answer}: {'a card' if isinstance(fetch.found, FoundCard) else fetch.found}"


def _is_other(exchange: Exchange) -> bool:
    """Return whether an answer looks like that of an agent that does not speak this protocol version."""
    answer = exchange.answer
    if isinstance(answer, ProtocolError):
        return answer.name in _WRONG_VERSION or answer.code in (-32600, -32602, -32603, None)
    return isinstance(answer, Unreadable) or (exchange.head is not None and exchange.head.status in (404, 405))
