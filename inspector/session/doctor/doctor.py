"""The doctor: check step by step whether an agent can be reached and which protocol versions it supports.

The doctor sends only requests that change nothing: for the card, and for a task that does not exist. With a message it
also checks streaming and push notifications. A session that is connected to the agent keeps its connection.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from itertools import chain

from inspector.findings.finding import Severity
from inspector.protocol.bindings.grpc import complete_url
from inspector.protocol.errors import Fault, FaultCode, FaultError, FaultKind, Whose
from inspector.protocol.selection import Choice, options
from inspector.session.card_fetch import CardFetch, card_not_found, fetch_card
from inspector.session.connection import Connection, mask_reference
from inspector.session.doctor.candidates import Candidate, bypass, other_places, other_versions, without_doubled_path
from inspector.session.doctor.credentials import credentials_step, demanded_in_words
from inspector.session.doctor.message_check import try_message
from inspector.session.doctor.probe import Probed, other_protocol, probe
from inspector.session.doctor.steps import (
    InterfaceResult,
    Report,
    Step,
    Timeouts,
    compare,
    compare_interface,
    fetch_in_words,
    finding_in_words,
    path_of,
    protocol_name,
)
from inspector.session.exchange import Exchange
from inspector.session.hints import CHECK_LOG
from inspector.session.session import Session
from inspector.text.host import AddressScope, address_scope
from inspector.text.reference import grpc_url, is_grpc, local_path, with_scheme
from inspector.wire import reach
from inspector.wire.client.credentials import split_userinfo
from inspector.wire.discovery import (
    FoundCard,
    candidates,
    catalog_url,
    is_in_catalog,
    split_entry,
)
from inspector.wire.endpoint import Endpoint, endpoint_of, proxy_of
from inspector.wire.port_protocol import port_protocol, port_remedy

DOCTOR = "doctor"
"""The event of the doctor's notes."""

CARD_CONTENT = "card content"
"""The name of the step about the findings of the card."""

_ADDRESS_PROBLEMS = {
    AddressScope.NETWORK: "this address is valid only in the network of the agent",
    AddressScope.SHARED: "this address is valid only in the network of the provider or VPN of the agent",
    AddressScope.LINK: "this is a link-local address, valid only on the link of the agent",
    AddressScope.MACHINE: "this is a loopback address, valid only on the machine of the agent",
    AddressScope.WILDCARD: "this is a wildcard address: servers listen there, but clients cannot connect to it",
}
_BYPASS = "If a proxy serves this agent, its card has to declare the URLs of the proxy."
_NO_CARD: dict[str, str] = {
    FaultCode.CREDENTIALS_MISSING: "the card requires credentials",
    FaultCode.AUTH_FAILED: "the card requires credentials",
    FaultCode.CARD_NOT_FOUND: "no card at any of these URLs",
    FaultCode.CARD_INVALID: "the card cannot be read",
}


class Doctor:
    """Checks one agent over a session; iterate over `examine`, then read `report`."""

    def __init__(
        self, session: Session, reference: str, message: str = "", *, timeouts: Timeouts | None = None
    ) -> None:
        self._session = session
        self._reference = reference
        self._message = message
        self._timeouts = timeouts or Timeouts()
        self._in_catalog = is_in_catalog(reference)
        place = split_entry(reference)[0] if self._in_catalog else reference
        url = "" if local_path(place) else catalog_url(place) if self._in_catalog else with_scheme(place)
        self._is_grpc = is_grpc(place)
        # The user name and the password are credentials: they are removed from all URLs.
        self._url, userinfo = split_userinfo(complete_url(url) if self._is_grpc else url)
        mask_reference(session.journal.redactor, self._url, userinfo)
        if self._url and not self._is_connected():
            session.use_credentials_for(self._url, userinfo)
        self.report = Report(session.journal.redactor.url(reference))
        self._connection: Connection | None = None
        self._confirmed: list[Choice] = []
        self._denied: Exchange | None = None
        self._has_inline_card = False

    async def examine(self) -> AsyncGenerator[Step, None]:
        """Run the checks in order and yield each result; stop if a failed check makes the next checks impossible."""
        async with aclosing(self._steps()) as steps:
            async for step in steps:
                yield self._add(step)

    def _add(self, unmasked: Step) -> Step:
        """Add a result to the report, secrets masked."""
        text = self._session.journal.redactor.text
        message, remedy, url = map(text, (unmasked.message, unmasked.remedy, unmasked.url))
        fault = unmasked.fault and replace(unmasked.fault, seen=message, hint=remedy, error=None, cause="")
        step = replace(unmasked, message=message, remedy=remedy, url=url, fault=fault)
        self.report.steps.append(step)
        self._session.note(f"{step.name}: {step.message}", DOCTOR)
        return step

    async def _steps(self) -> AsyncGenerator[Step, None]:
        async with aclosing(self._until_card()) as steps:
            async for step in steps:
                yield step
        connection = self._connection
        if connection is None:
            return
        interfaces = [InterfaceResult(f"interface {n}", option) for n, option in enumerate(options(connection.card), 1)]
        if not interfaces:
            yield Step(
                "interfaces", False, "the card declares no interface", 0.0, "Add supportedInterfaces to the card."
            )
        elif (fault := self._unusable()) is not None:
            yield Step("interfaces", False, fault.seen, 0.0, fault.hint)
        for interface in interfaces:
            async for step in self._interface(interface, connection):
                yield replace(step, interface=interface.name, url=interface.option.interface.url)
        if self._denied is not None:
            yield credentials_step(connection.card, self._denied)
        elif not self._confirmed and self.report.passed:
            seen = "none of the interfaces could be checked"
            yield Step("interfaces", False, seen, 0.0, "The steps before this one show why. Run the doctor again.")
        message_steps: dict[str, Step] = {}
        if self._message and self._confirmed:
            choice = self._preferred(connection)
            what = connection.card, choice, self._message, self._timeouts
            async for step in try_message(self._session, *what, cancelled=self._add):
                message_steps[step.name] = step
                yield step
        has_credentials = bool(self._session.credentials.current)
        self.report.interfaces += map(compare_interface, interfaces)
        self.report.comparisons += compare(connection.card, interfaces, message_steps, has_credentials=has_credentials)

    def _unusable(self) -> Fault | None:
        """Return the fault of every call if no interface of the card can be used, else None."""
        try:
            _ = self._session.choice
        except FaultError as error:
            return error.fault
        return None

    async def _until_card(self) -> AsyncGenerator[Step, None]:
        """Check everything that is needed to read the card, and the card."""
        if self._url:
            async for step in self._layers():
                yield step
        if self._in_catalog and self.report.fault is None:
            async for step in self._entry():
                yield step
        if self.report.fault is None:
            async for step in self._card():
                yield step

    async def _layers(self) -> AsyncGenerator[Step, None]:
        """Connect to the host layer by layer (name, TCP, TLS); the first failure becomes the fault of the report."""
        place = endpoint_of(self._url)
        if place is None:
            fault = Fault(
                Whose.YOURS,
                FaultCode.USAGE,
                f"{self._url!r} has no valid host or port.",
                "Write a URL, or the path of a card file.",
            )
            self.report.fault = fault
            yield Step("name", False, fault.seen, 0.0, fault.hint)
            return
        if proxy := proxy_of(self._url):
            yield Step("proxy", None, f"not checked: requests go through the proxy {proxy} (environment variable)")
            return
        layers = [reach.resolve, reach.connect]
        if place.tls:
            certificate = self._session.credentials.current.certificate_for(self._url)
            verify = not self._session.settings.insecure
            layers.append(partial(reach.tls_handshake, certificate=certificate, verify=verify))
        for check in layers:
            layer = await check(place)
            if layer.good:
                yield Step(layer.name, True, layer.seen, layer.seconds, layer.remedy)
                continue
            is_denied = layer.fault is not None and layer.fault.denied
            has_tls = layer.name != "tls" or is_denied
            if not has_tls and (found := port_remedy(await port_protocol(place), tls=True))[0]:
                layer = replace(layer, seen=f"{layer.seen} {found[0]}", remedy=found[1])
            seen = self._session.journal.redactor.text(layer.seen)
            self.report.fault = Fault(Whose.NETWORK, FaultCode.UNREACHABLE, seen, layer.remedy)
            if is_denied:
                self.report.fault = Fault(Whose.YOURS, FaultCode.AUTH_FAILED, seen, layer.remedy)
            yield Step(layer.name, False, layer.seen, layer.seconds, layer.remedy, fault=layer.fault)
            return

    async def _entry(self) -> AsyncGenerator[Step, None]:
        """Find the entry in its catalog; if it has the URL of a card, check the layers of that host, too."""
        catalogs, began = self._session.cards.catalogs, time.perf_counter()
        host = endpoint_of(self._url) if self._url else None
        try:
            async with asyncio.timeout(self._timeouts.call):
                listing, entry = await catalogs.entry(self._reference)
                self._has_inline_card = entry.data is not None
                url = "" if self._has_inline_card else await catalogs.card_url(listing, entry)
        except TimeoutError:
            yield self._no_response("catalog", began, self._timeouts.call)
            return
        except FaultError as error:
            self.report.fault = error.fault
            yield Step("catalog", False, error.fault.seen, time.perf_counter() - began, error.fault.hint)
            return
        where = f"the card at {url}" if url else "its card is in the catalog"
        seen = f"an AI Catalog with {len(listing.catalog.entries):,} entries; {entry.name}: {where}"
        yield Step("catalog", True, seen, time.perf_counter() - began)
        if url and local_path(url) is None:
            self._url = url
            if endpoint_of(url) != host:
                async for step in self._layers():
                    yield step

    async def _card(self) -> AsyncGenerator[Step, None]:
        fetched, limit, began = None, self._timeouts.call, time.perf_counter()
        if self._url and not self._has_inline_card and not self._is_grpc:
            fetches: list[CardFetch] = []
            over_grpc = self._session.cards.prefers_grpc and not self._in_catalog
            async for step in self._fetches(fetches):
                yield replace(step, passed=None, remedy="") if over_grpc and step.passed is False else step
            fetched = next((fetch for fetch in fetches if isinstance(fetch.found, FoundCard)), None)
            limit *= len(fetches) + 1  # connecting fetches the card again
            if fetched is None and over_grpc:
                self.report.fault, self._is_grpc = None, True
            elif fetched is None:
                if self.report.fault is None:
                    yield self._no_card(fetches)
                return
        name = "card over GRPC" if self._is_grpc else "card"
        try:
            async with asyncio.timeout(limit):
                self._connection = connection = await self._connect(fetched)
        except TimeoutError:
            yield self._no_response(name, began, limit)
            return
        except FaultError as error:
            self.report.fault = error.fault
            yield Step(name, False, error.fault.seen, time.perf_counter() - began, error.fault.hint)
            return
        if self._is_grpc:
            found = connection.attempts[-1] if connection.attempts else None
            where = path_of(found.url) if found else "the port"
            yield Step(name, True, f"a card from {where}", time.perf_counter() - began)
        serious = [finding for finding in connection.findings if finding.severity is not Severity.HINT]
        errors = [finding for finding in serious if finding.severity is Severity.ERROR]
        listed = "; ".join(map(finding_in_words, serious)) or "no errors or warnings"
        remedy = "Run a2a-inspect card get --validate for all findings." if serious else ""
        seen = f"{connection.name}, an A2A {connection.found.dialect.version} card: {listed}"
        yield Step(CARD_CONTENT, not errors, seen, 0.0, remedy)

    def _no_response(self, name: str, began: float, seconds: float) -> Step:
        """Return the step for a response that did not arrive within some seconds."""
        seen = f"no response within {seconds:g} s"
        self.report.fault = Fault(Whose.AGENT, FaultCode.UNREACHABLE, seen, CHECK_LOG)
        return Step(name, False, seen, time.perf_counter() - began, CHECK_LOG)

    async def _fetches(self, fetches: list[CardFetch]) -> AsyncGenerator[Step, None]:
        """Fetch from every URL where the card may be; stop at the first timeout, and if the host does not respond."""
        session = self._session
        credentials = await session.credentials.for_card()
        also_at = ""  # a copy at the path of older versions violates no rule
        for url in candidates(self._url):
            began = time.perf_counter()
            try:
                async with asyncio.timeout(self._timeouts.call):
                    fetch = await fetch_card(
                        session.journal, session.client, credentials, url, probe=True, also_at=also_at
                    )
            except TimeoutError:
                late = self._no_response(f"card at {path_of(url)}", began, self._timeouts.call)
                yield replace(late, card_path=path_of(url))
                return
            fetches.append(fetch)
            good = True if isinstance(fetch.found, FoundCard) else None
            also_at = also_at or (fetch.url if good else "")
            name, took = f"card at {path_of(url)}", time.perf_counter() - began
            yield Step(name, good, fetch_in_words(fetch), took, "", fetch.number, card_path=path_of(url))
            if fetch.url == url and (found := await other_protocol(url, fetch.status, fetch.fault)):
                self.report.fault = Fault(Whose.YOURS, FaultCode.UNREACHABLE, *found)
                yield Step("protocol", False, found[0], 0.0, found[1])
                return
            if fetch.url == url and fetch.head is None and fetch.fault is not None:
                self.report.fault = replace(fetch.fault, seen=session.journal.redactor.text(fetch.fault.seen))
                yield Step("card", False, fetch.fault.seen, 0.0, fetch.fault.hint)
                return

    def _no_card(self, fetches: list[CardFetch]) -> Step:
        redactor = self._session.journal.redactor
        self.report.fault = fault = card_not_found(redactor, self.report.reference, fetches).fault
        seen = _NO_CARD.get(fault.code, fault.seen)
        if fault.kind is FaultKind.LOGIN_PAGE:
            page = next(fetch.login_page for fetch in fetches if fetch.login_page)
            seen = f"a redirect to a login page: {redactor.url(page)}"
        only_options = fault.denied and fault.kind is not FaultKind.UNEXPLAINED_DENIAL
        return Step("card", False, seen, 0.0, fault.hint, fault=fault, only_options=only_options)

    async def _connect(self, fetched: CardFetch | None) -> Connection:
        """Connect the session; if it is already connected to this agent, keep its connection and its interface."""
        current = self._session.connection
        if current is None or not self._is_connected():
            # Over HTTP, the card was looked for before.
            return await self._session.connect(grpc_url(self._reference) if self._is_grpc else self._reference)
        if fetched is None or not isinstance(fetched.found, FoundCard):
            return current
        return replace(current, url=fetched.url, found=fetched.found, findings=fetched.findings)

    def _is_connected(self) -> bool:
        """Return whether the session is connected to this agent."""
        current = self._session.connection
        return current is not None and current.reference in (self._reference, self._url)

    async def _interface(self, interface: InterfaceResult, connection: Connection) -> AsyncGenerator[Step, None]:
        """Check the address of an interface, and which protocol versions the interface supports."""
        option = interface.option
        place = endpoint_of(option.interface.url)
        if place is None:
            seen = f"{option.interface.url}: it has no valid host or port"
            yield Step(f"{interface.name} address", False, seen, 0.0, "Correct the URL on the card.")
            return
        step, misleading = await self._address(interface, place, connection)
        yield step
        if option.binding is None:
            yield Step(f"{interface.name} protocol", None, option.reason)
            return
        if misleading:
            async for answer in self._try(interface, other_places(option, self._url, connection.url)):
                yield answer
        elif step.passed is not False:
            async for answer in self._protocol(interface, connection):
                yield answer

    async def _address(self, interface: InterfaceResult, place: Endpoint, connection: Connection) -> tuple[Step, bool]:
        """Connect to an interface; the second value is True if its address is wrong and another can be tried."""
        url, name = interface.option.interface.url, f"{interface.name} address"
        typed = endpoint_of(self._url) if self._url else None
        near = address_scope(place.host)
        here = address_scope(typed.host) if typed else AddressScope.MACHINE
        if proxy := proxy_of(url):
            return Step(name, None, f"{url}: through the proxy {proxy}"), False
        layer = await reach.connect(place)
        elsewhere = typed is None or typed.host != place.host
        unreachable = near > here and near >= AddressScope.MACHINE
        if elsewhere and (unreachable or (near and not layer.good)):
            option = interface.option
            places = other_places(option, self._url, connection.url) if typed else ()
            suggested = next((item.proposal.choice.interface.url for item in places), "")
            seen = f"{url}: {_ADDRESS_PROBLEMS[near]}{'' if unreachable else f'. {layer.seen}'}"
            remedy = f"Advertise the public address{f', perhaps {suggested}' if suggested else ''}."
            return Step(name, False, seen, layer.seconds, remedy), typed is not None
        seen, remedy = f"{url}: {layer.seen}", layer.remedy
        if layer.good and typed and (note := bypass(interface.option, connection.url)):
            seen, remedy = f"{seen}; {note}", _BYPASS
        return Step(name, layer.good, seen, layer.seconds, remedy), typed is not None and not layer.good

    async def _try(self, interface: InterfaceResult, candidates: Iterable[Candidate]) -> AsyncGenerator[Step, None]:
        """Make a call over each candidate; the first that responds becomes a proposal."""
        for where, observed, proposal in candidates:
            step, supported, *_ = await self._probe(f"{interface.name}{where}", proposal.choice)
            yield replace(step, passed=True if supported else None, remedy="")
            if supported:
                interface.protocols.append(observed)
                self.report.proposals.append(proposal)
                self._session.propose(proposal.choice)
                self._confirmed.append(proposal.choice)
                return

    async def _protocol(self, interface: InterfaceResult, connection: Connection) -> AsyncGenerator[Step, None]:
        """Make a call in the declared protocol version; if it fails, at other URLs, then in the other versions."""
        option, binding = interface.option, interface.option.binding
        if binding is None:
            return
        if option.dialect is not None:
            choice = Choice(option.interface, option.dialect, binding, option.reason)
            step, supported, misplaced, denied, interface.refused = await self._probe(interface.name, choice)
            yield step
            if denied is not None and denied.head is not None:
                interface.demanded = demanded_in_words(denied)
                self._denied = self._denied or denied
            if supported:
                interface.protocols.append(protocol_name(choice))
                self._confirmed.append(choice)
            interface.unknown = supported is None and not misplaced
            interface.protected = denied is not None
            if misplaced and self._url:
                places = chain(without_doubled_path(option), other_places(option, self._url, connection.url))
                async for step in self._try(interface, places):
                    yield step
            if supported is not False or interface.protocols:
                return
        async for step in self._try(interface, other_versions(option, binding)):
            yield step

    async def _probe(self, name: str, choice: Choice) -> Probed:
        return await probe(self._session, name, choice, self._timeouts.call)

    def _preferred(self, connection: Connection) -> Choice:
        """Return the interface in use if it responded, else the first that did."""
        used, confirmed = connection.choice, self._confirmed
        for choice in confirmed:
            if used and choice.interface == used.interface and choice.dialect == used.dialect:
                return choice
        return confirmed[0]
