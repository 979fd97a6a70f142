"""Fetch cards and other documents of an agent; every attempt is recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import field, replace
from http import HTTPStatus
from typing import Any
from urllib.parse import urljoin

from inspector.capture.records import Kind, Record
from inspector.capture.redaction import Redactor
from inspector.findings.finding import Finding
from inspector.lazy_dataclass import dataclass
from inspector.protocol.ai_catalog import Catalog, read_catalog
from inspector.protocol.bindings.base import HttpRequest
from inspector.protocol.challenge import is_login_page
from inspector.protocol.errors import FaultError
from inspector.protocol.http_status import DENYING, REDIRECTING
from inspector.session.catalog_listing import CatalogFoundError, Listing
from inspector.session.journal import Journal
from inspector.session.recorder import Recorder
from inspector.wire import discovery
from inspector.wire.client.credentials import Credentials, origin
from inspector.wire.client.faults import of_typed_url
from inspector.wire.client.http import Client
from inspector.wire.client.observations import Body, Ended, Ending, Frames
from inspector.wire.discovery import FoundCard, InvalidCard, PrivateRedirect, PrivateRedirectError
from inspector.wire.private_address import private_address

GET_CARD = "GetAgentCard"
"""The name of the operation in the records of fetching a card; the specification does not define a name."""

_HIDING = DENYING | REDIRECTING | {407, 429}
"""The statuses of a server that refuses a request, and of a redirect that was not followed."""

MOST_REDIRECTS = 5


@dataclass(frozen=True, slots=True)
class CardAttempt:
    """A URL that was tried for the card, and the result."""

    url: str
    outcome: str
    exchange: int


@dataclass(slots=True)
class DocumentFetch(Recorder):
    """Fetches and records one document; a stream is stopped at its first events because it may never end."""

    url: str

    async def run(self, client: Client, request: HttpRequest) -> None:
        """Send the request and record the exchange."""
        try:
            async with aclosing(client.exchange(request, document=True)) as seen:
                async for observation in seen:
                    self.take(observation)
                    self.journal.notify()
                    if isinstance(observation, Frames):
                        break
        finally:
            self.stop(time.time())

    def append_payloads(
        self, kind: Kind, at: float, raws: list[bytes], event: str, label: str, findings: tuple[Finding, ...] = ()
    ) -> list[Record]:
        """Append a body or frames."""
        payloads = [(len(raw), self.mask(raw)) for raw in raws]
        return self.append(kind, at, event=event, label=label, payloads=payloads, findings=findings)


@dataclass(slots=True)
class CardFetch(DocumentFetch):
    """Fetches a card; `found` is the card, or the reason why the response is not a card; `catalog` is an AI Catalog.

    `private_redirect` is a redirect to a private address, which is followed only if its origin is trusted. `login_page`
    is the URL of a login page that a redirect led to, `""` for none. `requested` is the URL that may have redirected.
    `also_at` is the preferred URL at which the agent serves a card, too: the card is checked as served there.
    """

    also_at: str = ""
    found: FoundCard | InvalidCard | str = field(default="no response", init=False)
    raw: bytes = field(default=b"", init=False)
    catalog: Catalog | None = field(default=None, init=False)
    private_redirect: PrivateRedirect | None = field(default=None, init=False)
    login_page: str = field(default="", init=False)
    requested: str = field(default="", init=False)
    findings: tuple[Finding, ...] = field(default=(), init=False)

    def take_frames(self, seen: Frames) -> list[Record]:
        """Append the frames of a stream, which is not a card."""
        self.found = reason = "a stream of events instead of a card"
        raws = [frame.raw for frame in seen.frames]
        return self.append_payloads(Kind.FRAME, seen.at, raws, "unreadable", reason)

    def take_body(self, body: Body) -> list[Record]:
        """Append the body; if the status is 200, read it as a card or a catalog."""
        self.raw = body.raw
        self.found = discovery.read_answer(self.status, self.content_type, body.raw)
        if self.head and self.status == HTTPStatus.OK and (read := self._as_catalog(body.raw)):
            self.catalog = read
            self.found = f"an AI Catalog with {len(read.entries):,} entries"
            self.findings = self.journal.checker.catalog(body.raw, self.url, self.head.headers)
            return self.append_payloads(Kind.BODY, body.at, [body.raw], "catalog", self.found, self.findings)
        card = self.found.card if isinstance(self.found, FoundCard) else None
        event, label = ("card", card.name) if card else ("", str(self.found))
        findings = self._judge(body.raw) if body.complete else ()
        records = self.append_payloads(Kind.BODY, body.at, [body.raw], event, label, findings)
        self.findings = records[0].findings
        return records

    @property
    def may_hide_card(self) -> bool:
        """Whether there may be a card at the URL: the server refuses the request, fails, or responds with other JSON.

        This is also True for a redirect that was not followed.
        """
        if self.status == HTTPStatus.OK:
            return "json" in self.content_type
        return self.status in _HIDING or self.status >= HTTPStatus.INTERNAL_SERVER_ERROR

    def is_of_other(self, reference: str) -> bool:
        """Return whether this is the card of the host, but not of the agent at the path of a reference."""
        return isinstance(self.found, FoundCard) and bool(
            discovery.path_without_card(reference, self.requested, self.found.card)
        )

    def raise_if_catalog(self, reference: str, credentials: Credentials) -> None:
        """Raise `CatalogFoundError` if the document at a reference is a catalog."""
        if self.catalog is not None:
            raise CatalogFoundError(Listing(reference, self.url, self.catalog, credentials, self.findings))

    def take_end(self, ended: Ended, label: str = "", **members: Any) -> list[Record]:
        """Append the end; an incomplete response is not a card."""
        if self.head is not None and ended.how is not Ending.COMPLETE and ended.fault is not None:
            self.found = ended.fault.seen.rstrip(".")
        return super().take_end(ended, label, **members)

    def _as_catalog(self, raw: bytes) -> Catalog | None:
        """Return a document that is not a card as a catalog, None if it is not one, either."""
        read = None if isinstance(self.found, FoundCard) else read_catalog(raw)
        return read if isinstance(read, Catalog) else None

    def _judge(self, raw: bytes) -> tuple[Finding, ...]:
        """Lint a card, or JSON at a URL that is only for a card, but not an error page."""
        is_meant = (
            self.status == HTTPStatus.OK
            and "json" in self.content_type
            and discovery.candidates(self.url) == [self.url]
        )
        is_card = isinstance(self.found, FoundCard | InvalidCard)
        headers = self.head.headers if self.head else ()
        return self.journal.checker.lint(raw, self.also_at or self.url, headers) if is_card or is_meant else ()


async def fetch_card(
    journal: Journal,
    client: Client,
    credentials: Credentials,
    url: str,
    conditions: Mapping[str, str] | None = None,
    *,
    probe: bool = False,
    also_at: str = "",
) -> CardFetch:
    """Fetch a card and follow redirects; credentials are sent only after a 401, and not to another origin.

    `conditions` are headers of the first request only: they ask for the card only if it has changed. `probe` marks the
    records as those of the doctor; `also_at` is a URL at which the agent serves a card, too.
    """
    login_page, requested = "", url
    for hop in range(MOST_REDIRECTS + 1):
        headers = {"Accept": "application/json", **(conditions if conditions and hop == 0 else {})}
        request = HttpRequest("GET", url, headers)
        for offer in credentials.attempts:
            fetch = CardFetch(journal, GET_CARD, url, also_at)
            fetch.probe, fetch.login_page, fetch.requested = probe, login_page, requested
            await fetch.run(client, offer.sign(request))
            if fetch.status != HTTPStatus.UNAUTHORIZED or not credentials.are_for(url):
                break
        location = fetch.head.header("location") if fetch.head else ""
        if fetch.status not in REDIRECTING or not location:
            return fetch
        before = url
        try:
            url = urljoin(url, location)
        except ValueError:  # brackets without an address
            url = ""
        if is_login_page(location, before):
            login_page = login_page or url
        if not url.lower().startswith(("http://", "https://")) or not origin(url):
            fetch.found = f"{fetch.status}, a redirect to an unsupported URL: {location}"
            return fetch
        if origin(url) not in credentials.origins and (address := await private_address(url, before)):
            fetch.private_redirect = PrivateRedirect(origin(before), origin(url), address)
            private = f"the private address {address}" if address not in url else "a private address"
            fetch.found = f"{fetch.status}, a redirect to {private}, which was not followed: {location}"
            return fetch
    fetch.found = f"more than {MOST_REDIRECTS} redirects"
    return fetch


async def search_card(
    journal: Journal,
    client: Client,
    credentials: Credentials,
    reference: str,
    accept: Callable[[str, CardFetch], bool],
    *,
    exact: bool = False,
    below: bool = False,
) -> tuple[CardFetch, tuple[CardAttempt, ...]]:
    """Fetch the URLs where the card may be until `accept` returns True; raises `FaultError` if it never does.

    With `exact`, the reference is meant as the URL of the card itself, which is tried first. With `below`, or if the
    server refuses the card below the path of the reference or fails, the card of another agent of the host is an error.
    """
    attempts: list[CardAttempt] = []
    fetches: list[CardFetch] = []
    redactor, of_host = journal.redactor, ""
    urls = discovery.candidates(reference)
    for url in dict.fromkeys([reference, *urls] if exact else urls):
        fetch = await fetch_card(journal, client, credentials, url)
        if accept(url, fetch):
            hidden = any(other.may_hide_card for other in fetches)
            if not exact and (below or hidden) and fetch.is_of_other(reference):
                of_host = redactor.url(fetch.url)
                break
            return fetch, (*attempts, CardAttempt(redactor.url(fetch.url), "found", fetch.number))
        if fetch.fault is not None and fetch.head is None and fetch.url == url:
            raise FaultError(of_typed_url(fetch.fault))  # the host does not answer, so the other paths fail, too
        fetches.append(fetch)
        outcome = fetch.found if fetch.head else f"redirects to {fetch.url}: {fetch.fault.seen if fetch.fault else ''}"
        attempts.append(CardAttempt(redactor.url(url), redactor.text(str(outcome)), fetch.number))
    withheld = bool(credentials) and not credentials.unasked
    error = card_not_found(redactor, reference, fetches, attempts, withheld=withheld)
    other = f" The card at {of_host} has no interface below this path." if of_host else ""
    error.fault = replace(error.fault, hint=f"{error.fault.hint}{other}")
    raise error


def card_not_found(
    redactor: Redactor,
    reference: str,
    fetches: Sequence[CardFetch],
    attempts: Sequence[CardAttempt] = (),
    *,
    withheld: bool = False,
) -> FaultError:
    """Return the error of a card that was not found, without secrets.

    `attempts` are the URLs that were tried with their outcomes, if they are not those of the fetches. `withheld` is
    whether there are credentials that were not sent.
    """
    from inspector.session.retry_after import retry_hint  # noqa: PLC0415 - only for a card that was not found

    private = next((fetch.private_redirect for fetch in fetches if fetch.private_redirect), None)
    broken = next((fetch.fault for fetch in fetches if fetch.fault and fetch.head), None)
    fault = discovery.not_found(
        reference,
        [(each.url, each.outcome) for each in attempts] or [(fetch.url, str(fetch.found)) for fetch in fetches],
        {fetch.status for fetch in fetches},
        invalid=any(isinstance(fetch.found, InvalidCard) for fetch in fetches),
        private=private.origin if private else "",
        login_page=redactor.url(next((fetch.login_page for fetch in fetches if fetch.login_page), "")),
        withheld=withheld,
        broken=broken,
        retry=next((hint for fetch in fetches if fetch.head and (hint := retry_hint(fetch.head))), ""),
    )
    fault = replace(fault, seen=redactor.text(fault.seen))
    return PrivateRedirectError(fault, private) if private else FaultError(fault)
