"""Finding an agent's card and choosing how to talk to it, every try recorded."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any
from urllib.parse import urljoin

from inspector.capture.records import Kind, Record
from inspector.findings.card.facts import Served
from inspector.findings.finding import Finding
from inspector.findings.lint import lint
from inspector.protocol.bindings.base import HttpRequest
from inspector.protocol.card import AgentCard
from inspector.protocol.errors import FaultError
from inspector.protocol.selection import Choice
from inspector.session.journal import Journal
from inspector.session.recorder import Recorder
from inspector.wire import discovery
from inspector.wire.client.credentials import Credentials, origin
from inspector.wire.client.http import Client
from inspector.wire.client.http_caching import caching_of
from inspector.wire.client.observations import Body, Frames, Headers
from inspector.wire.discovery import FoundCard

GET_CARD = "GetAgentCard"
"""The operation of a card's records; the specification gives fetching the public card no name of its own."""

_MOST_REDIRECTS = 5
_NONE: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Try:
    """One place where the card was looked for and what came of it."""

    url: str
    outcome: str
    exchange: int


@dataclass(frozen=True, slots=True)
class Connection:
    """An agent that we can read: its card, where it was found after which tries, and the interface in use.

    `url` is where the card was found, `""` for a file; `choice` is None where the card offers nothing that we speak;
    `findings` are those of the card; `headers` those that it was served with, at `at` in seconds since 1970;
    `confirmed` is when the agent last said that this is still its card, 0 where it did not.
    """

    reference: str
    url: str
    found: FoundCard
    choice: Choice | None
    tries: tuple[Try, ...]
    findings: tuple[Finding, ...]
    headers: Headers = ()
    at: float = 0.0
    confirmed: float = 0.0

    @property
    def card(self) -> AgentCard:
        """Return the card as read."""
        return self.found.card


@dataclass(slots=True)
class CardFetch(Recorder):
    """The fetch of a card from one url; `found` is the card, or why the answer is none, `raw` what came."""

    url: str
    found: FoundCard | str = field(default="no answer", init=False)
    raw: bytes = field(default=b"", init=False)
    findings: tuple[Finding, ...] = field(default=(), init=False)

    def take_frames(self, seen: Frames) -> list[Record]:
        """Append what a server streams where a card is due."""
        self.found = "a stream of events instead of a card"
        return self.journal.append(
            Kind.FRAME,
            seen.at,
            exchange=self.number,
            operation=self.operation,
            event="unreadable",
            label=self.found,
            payloads=[(len(frame.raw), self.journal.redactor.body(frame.raw)) for frame in seen.frames],
        )

    def take_body(self, body: Body) -> list[Record]:
        """Append the body, read as a card where the status allows."""
        status = self.head.status if self.head else 0
        self.raw = body.raw
        self.found = discovery.read_answer(status, self.content_type, body.raw)
        card = self.found.card if isinstance(self.found, FoundCard) else None
        records = self.journal.append(
            Kind.BODY,
            body.at,
            exchange=self.number,
            operation=self.operation,
            event="card" if card else "",
            label=card.name if card else str(self.found),
            payloads=[(len(body.raw), self.journal.redactor.body(body.raw))],
            findings=self._judge(body.raw),
        )
        self.findings = records[0].findings
        return records

    @property
    def served(self) -> Served:
        """Return how the answer came."""
        headers = self.head.headers if self.head else ()
        return Served(self.url, {name.lower(): value for name, value in headers})

    def _judge(self, raw: bytes) -> tuple[Finding, ...]:
        """Lint what is a card, or meant to be one: JSON at the place of a card; an error page is none."""
        if isinstance(self.found, str) and not (discovery.misread(self.found) or self._is_meant):
            return ()
        return lint(raw, self.served).findings

    @property
    def _is_meant(self) -> bool:
        good = self.head is not None and self.head.status == HTTPStatus.OK
        return good and "json" in self.content_type and discovery.candidates(self.url) == [self.url]


async def fetch_card(
    journal: Journal, client: Client, credentials: Credentials, url: str, conditions: Mapping[str, str] = _NONE
) -> CardFetch:
    """Fetch a card, following redirects with the credentials left at home when they lead elsewhere.

    `conditions` are headers for the first request alone, which ask for the card only if it is another one now.
    """
    for hop in range(_MOST_REDIRECTS + 1):
        fetch = CardFetch(journal, GET_CARD, url)
        headers = {"Accept": "application/json", **(conditions if hop == 0 else _NONE)}
        request = credentials.sign(HttpRequest("GET", url, headers))
        try:
            async with aclosing(client.exchange(request)) as seen:
                async for observation in seen:
                    fetch.take(observation)
                    journal.notify()
                    if isinstance(observation, Frames):
                        break  # it may never end, and no card will come of it
        finally:
            fetch.stop(time.time())
        location = fetch.head.header("location") if fetch.head else ""
        if fetch.head is None or fetch.head.status not in discovery.REDIRECTS or not location:
            return fetch
        try:
            url = urljoin(url, location)
        except ValueError:  # brackets that hold no address
            url = ""
        if not url.lower().startswith(("http://", "https://")) or not origin(url):
            fetch.found = f"{fetch.head.status}, a redirect to what is no http url: {location}"
            return fetch
    fetch.found = f"more than {_MOST_REDIRECTS} redirects"
    return fetch


async def look_for_card(
    journal: Journal, client: Client, credentials: Credentials, reference: str
) -> tuple[CardFetch, FoundCard, tuple[Try, ...]]:
    """Try every place where the card of a reference may be; raises `FaultError` where none has it."""
    tries: list[Try] = []
    statuses: set[int] = set()
    text = journal.redactor.text
    for url in discovery.candidates(reference):
        fetch = await fetch_card(journal, client, credentials, url)
        shown = journal.redactor.url(url)
        if isinstance(fetch.found, FoundCard):
            return fetch, fetch.found, (*tries, Try(journal.redactor.url(fetch.url), "found", fetch.number))
        if fetch.fault is not None and fetch.head is None and fetch.url == url:
            raise FaultError(fetch.fault)  # nobody answers there, so the other paths will not be answered either
        statuses.add(fetch.head.status if fetch.head else 0)
        outcome = fetch.found if fetch.head else f"redirects to {fetch.url}: {fetch.fault.seen if fetch.fault else ''}"
        tries.append(Try(shown, text(outcome), fetch.number))
    fault = discovery.not_found(reference, [(one.url, one.outcome) for one in tries], statuses)
    raise FaultError(replace(fault, seen=text(fault.seen)))


async def fetch_again(journal: Journal, client: Client, credentials: Credentials, before: Connection) -> Connection:
    """Ask where the card was found whether it is still the same, and read the one that is there now.

    Its interface is to be chosen by the caller where `found` is another one than before. Raises `FaultError` where
    there is no card any more.
    """
    conditions = caching_of(before.headers).conditions
    fetch = await fetch_card(journal, client, credentials, before.url, conditions)
    head = fetch.head
    if head is not None and head.status == HTTPStatus.NOT_MODIFIED and conditions:
        return replace(before, confirmed=head.at)
    if head is None or not isinstance(fetch.found, FoundCard):
        if fetch.fault is not None:
            raise FaultError(fetch.fault)
        shown = journal.redactor.url(fetch.url)
        fault = discovery.not_found(shown, [(shown, str(fetch.found))], {head.status if head else 0})
        raise FaultError(replace(fault, seen=journal.redactor.text(fault.seen)))
    tries = (Try(journal.redactor.url(fetch.url), "found", fetch.number),)
    return renewed(before, fetch.found, fetch.findings, head.at, headers=head.headers, url=fetch.url, tries=tries)


def renewed(
    before: Connection, found: FoundCard, findings: tuple[Finding, ...], at: float, **members: Any
) -> Connection:
    """Return a connection with the card that was read again at a time; the same bytes confirm the one that it has."""
    if found.raw == before.found.raw:
        return replace(before, findings=findings, headers=members.get("headers", ()), at=at, confirmed=at)
    return replace(before, found=found, findings=findings, at=at, confirmed=0.0, **members)


def chosen_again(choice: Choice | None, card: AgentCard) -> Choice | None:
    """Return what was chosen of an earlier card as it stands on this one, or None where it does not."""
    if choice is None:
        return None
    same = next((one for one in card.supported_interfaces if one == choice.interface), None)
    return replace(choice, interface=same) if same else None


def read_card_file(reference: str) -> tuple[FoundCard, tuple[Finding, ...]] | None:
    """Read the card of a reference that names a file, or return None; raises `FaultError` where it cannot be read."""
    path = discovery.local_path(reference)
    if path is None:
        return None
    found = discovery.read_file(path)
    return found, lint(found.raw).findings
