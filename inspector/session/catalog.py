"""Find agents in an AI Catalog: `https://host#entry`, the URL of a catalog with `#entry`, or a file with `#entry`."""

from __future__ import annotations

import time
from dataclasses import replace
from http import HTTPStatus
from urllib.parse import urljoin, urlsplit

from inspector.capture.records import Kind
from inspector.lazy_dataclass import dataclass
from inspector.protocol.ai_catalog import WELL_KNOWN, Catalog, Entry, EntryKind, nested_catalog, read_catalog
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Unreadable
from inspector.session.card_fetch import fetch_card
from inspector.session.catalog_listing import MOST_NAMES, CatalogFoundError, Listing
from inspector.session.connection import Access, Connection, card_inside, find_card
from inspector.session.denial import CODE_OF_STATUS
from inspector.session.journal import Journal
from inspector.text.reference import local_path, with_scheme
from inspector.wire.client.credentials import Credentials, origin
from inspector.wire.client.http import Client
from inspector.wire.discovery import (
    FoundCard,
    InvalidCard,
    PrivateRedirect,
    PrivateRedirectError,
    catalog_url,
    read_raw,
    split_entry,
)
from inspector.wire.discovery import read_bytes as read_card_bytes
from inspector.wire.private_address import private_address


@dataclass(frozen=True, slots=True)
class CatalogReader:
    """Reads catalogs, and finds the cards of their entries; `access` is that of the session."""

    journal: Journal
    client: Client
    access: Access

    async def read(self, reference: str) -> Listing:
        """Fetch or read a catalog without an entry; raises `FaultError`."""
        place, _ = split_entry(reference)
        path = local_path(place)
        if path is not None:
            return await self.read_document(place, read_raw(path))
        url, credentials = await self.access(catalog_url(place))
        return await self._fetch(place if url == catalog_url(place) else url, url, credentials)

    async def offer(self, reference: str) -> None:
        """Raise `CatalogFoundError` if a host without a card serves a catalog at the well-known path."""
        if local_path(reference) is not None or urlsplit(with_scheme(reference)).path.rstrip("/"):
            return
        try:
            listing = await self.read(reference)
        except FaultError:  # the error about the card has more details
            return
        raise CatalogFoundError(listing)

    async def offer_document(self, reference: str, raw: bytes) -> None:
        """Raise `CatalogFoundError` if the bytes of a document that was not fetched are a catalog."""
        if isinstance(read_catalog(raw), Catalog):
            raise CatalogFoundError(await self.read_document(reference, raw))

    async def entry(self, reference: str) -> tuple[Listing, Entry]:
        """Return an entry and its catalog; raises `FaultError`.

        Without the name of an entry, or for an entry that is itself a catalog, raises `CatalogFoundError`.
        """
        place, name = split_entry(reference)
        listing = await self.read(reference)
        if not name:
            raise CatalogFoundError(listing)
        entry = listing.catalog.find(name) or _nested(listing.catalog, name)
        if entry is None:
            names = [each.reference for each in listing.catalog.entries[:MOST_NAMES]]
            seen = f"The catalog {place} has no entry {name!r}."
            hint = f"Entries: {', '.join(names) or 'none'}."
            raise FaultError(Fault(Whose.YOURS, FaultCode.CARD_NOT_FOUND, seen, hint))
        if entry.kind is EntryKind.CATALOG:
            raise CatalogFoundError(await self.nested(listing, entry))
        return listing, entry

    async def connect(self, reference: str) -> Connection:
        """Find the card of an entry without choosing an interface; raises `FaultError` if there is none."""
        listing, entry = await self.entry(reference)
        if entry.data is not None:
            return self._inline(entry, reference, listing.url)
        url = await self.card_url(listing, entry)
        found = await find_card(self.journal, self.client, listing.credentials, url, exact=True)
        return replace(found, reference=reference)

    async def card_url(self, listing: Listing, entry: Entry) -> str:
        """Return the URL of the card of an entry; raises `FaultError` if it may not be fetched."""
        if not entry.url:
            seen = f"The entry {entry.reference} of {listing.prefix} has neither a url nor data with a card."
            raise FaultError(Fault(Whose.AGENT, FaultCode.CARD_INVALID, seen, "Correct the entry of the catalog."))
        try:
            url = urljoin(listing.url, entry.url)
            place = origin(url)
        except ValueError:  # brackets without an address
            url = place = ""
        if listing.url and not url.lower().startswith(("http://", "https://")):
            seen = f"The entry {entry.reference} of {listing.prefix} has an unsupported url: {entry.url}."
            raise FaultError(Fault(Whose.AGENT, FaultCode.CARD_INVALID, seen, "Correct the url of the entry."))
        if (
            listing.url
            and place not in listing.credentials.origins
            and (address := await private_address(url, listing.url))
        ):
            seen = f"The entry {entry.reference} of {listing.prefix} leads to the private address {address}, and was "
            seen += "not fetched."
            fault = Fault(Whose.YOURS, FaultCode.CARD_NOT_FOUND, seen, f"If you trust it, add --trust {place}.")
            raise PrivateRedirectError(fault, PrivateRedirect(origin(listing.url), place, address, in_catalog=True))
        return url or entry.url

    async def nested(self, listing: Listing, entry: Entry) -> Listing:
        """Read a catalog that is an entry of another catalog; raises `FaultError`."""
        if entry.data is not None:
            inner = nested_catalog(entry)
            if isinstance(inner, Unreadable):
                seen = f"The entry {entry.reference} of {listing.prefix} is not a catalog: {inner.why}."
                raise FaultError(Fault(Whose.AGENT, FaultCode.CARD_INVALID, seen, "Correct data of the entry."))
            entries = tuple(replace(each, reference=each.pointer) for each in inner.entries)
            return replace(listing, catalog=replace(inner, entries=entries), findings=())
        url = await self.card_url(listing, entry)
        return await self._fetch(url, url, listing.credentials)

    async def read_document(self, place: str, raw: bytes) -> Listing:
        """Read and record the bytes of a catalog that was not fetched; raises `FaultError`."""
        catalog = read_catalog(raw)
        if isinstance(catalog, Unreadable):
            raise _not_a_catalog(place, catalog.why, Whose.YOURS)
        findings = self.journal.checker.catalog(raw)
        payload, label = (len(raw), self.journal.redactor.body(raw)), f"the catalog {place}"
        self.journal.append(Kind.NOTE, time.time(), event="catalog", label=label, payloads=[payload], findings=findings)
        _, credentials = await self.access("")
        return Listing(place, "", catalog, credentials, findings)

    async def _fetch(self, prefix: str, url: str, credentials: Credentials) -> Listing:
        fetch = await fetch_card(self.journal, self.client, credentials, url)
        if fetch.fault is not None:
            raise FaultError(fetch.fault)
        shown, status = self.journal.redactor.url(url), fetch.status
        if fetch.private_redirect is not None:
            hint = f"If you trust the address, add --trust {fetch.private_redirect.origin}."
            fault = Fault(
                Whose.YOURS, FaultCode.CARD_NOT_FOUND, f"The catalog {shown} was not fetched: {fetch.found}", hint
            )
            raise PrivateRedirectError(fault, fetch.private_redirect)
        if status != HTTPStatus.OK:
            seen = f"No catalog was found at {shown} ({status})."
            code = CODE_OF_STATUS.get(status, FaultCode.CARD_NOT_FOUND)
            raise FaultError(
                Fault(Whose.AGENT, code, seen, f"A catalog is at {WELL_KNOWN}, or write its URL before #.")
            )
        if fetch.catalog is None:
            unread = read_catalog(fetch.raw)
            raise _not_a_catalog(shown, unread.why if isinstance(unread, Unreadable) else str(fetch.found), Whose.AGENT)
        return Listing(prefix, fetch.url, fetch.catalog, credentials, fetch.findings)

    def _inline(self, entry: Entry, reference: str, url: str) -> Connection:
        """Return the connection of a card that is inside of a catalog, and record the card."""
        found = card_of(entry)
        if not isinstance(found, FoundCard):
            seen = f"The card of {reference} is invalid: {found}."
            raise FaultError(Fault(Whose.AGENT, FaultCode.CARD_INVALID, seen, "Correct the entry of the catalog."))
        return card_inside(self.journal, found, reference, url)


def card_of(entry: Entry) -> FoundCard | InvalidCard | str:
    """Return the card that is the data of an entry, or why it is not a card."""
    return read_card_bytes(dump(entry.data))


def _nested(catalog: Catalog, name: str) -> Entry | None:
    """Return an entry of a catalog that is the data of an entry, by its JSON pointer."""
    for entry in catalog.entries if name.startswith("/") else ():
        if entry.kind is EntryKind.CATALOG and name.startswith(f"{entry.pointer}/data/"):
            inner = nested_catalog(entry)
            if isinstance(inner, Catalog):
                return inner.find(name) or _nested(inner, name)
    return None


def _not_a_catalog(place: str, why: str, whose: Whose) -> FaultError:
    seen = f"{place} is not an AI Catalog: {why}."
    return FaultError(Fault(whose, FaultCode.CARD_INVALID, seen, "Write the URL or the file of a catalog before #."))
