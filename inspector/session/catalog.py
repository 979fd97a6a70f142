"""Find an agent in an AI Catalog: `https://host#entry`, the URL of a catalog with `#entry`, or a file with `#entry`.

A catalog is a JSON object with `entries`; an entry has a `url` of its card, or the card itself in `data`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit, urlunsplit

from inspector.capture.records import Kind, Record
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.jsonvalue import dump, parse
from inspector.session.connection import CardFetch, Connection, card_inside, fetch_card, find_card
from inspector.session.journal import Journal
from inspector.wire.client.credentials import Credentials, origin
from inspector.wire.client.http import Client
from inspector.wire.client.observations import Body
from inspector.wire.discovery import FoundCard, PrivateRedirect, PrivateRedirectError, local_path, normalise, read_raw
from inspector.wire.discovery import read_bytes as read_card_bytes
from inspector.wire.private_address import private_address

WELL_KNOWN = "/.well-known/ai-catalog.json"
_NAMES = ("identifier", "id", "name", "displayName")
"""The members of an entry that can name it."""
_MOST_NAMES = 10


def split_entry(reference: str) -> tuple[str, str]:
    """Return the catalog and the name of the entry in a reference; the name is `""` if it is not an entry.

    A path that exists and contains `#` is a file.
    """
    catalog, _, name = reference.partition("#")
    path = local_path(reference)
    return (reference, "") if path is not None and path.exists() else (catalog, unquote(name))


def catalog_url(catalog: str) -> str:
    """Return the URL of a catalog: the well-known path is added to a host, as for cards."""
    url = normalise(catalog)
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=WELL_KNOWN)) if parts.path in ("", "/") else url


@dataclass(slots=True)
class CatalogFetch(CardFetch):
    """Fetches a catalog, which is not checked as a card."""

    def take_body(self, body: Body) -> list[Record]:
        """Append the body."""
        self.raw = body.raw
        return self.append_payloads(Kind.BODY, body.at, [body.raw], "", "catalog")


async def connect_entry(
    journal: Journal, client: Client, credentials: Credentials, reference: str, catalog: str, name: str
) -> Connection:
    """Find the card of an entry without choosing an interface; raises `FaultError` if there is none.

    The credentials are those for the origin of the catalog.
    """
    path = local_path(catalog)
    if path is not None:
        raw, base = read_raw(path), ""
    else:
        base = catalog_url(catalog)
        raw = await _fetch(journal, client, credentials, base)
    entry = _entry(raw, name, catalog)
    card = entry.get("data")
    if isinstance(card, dict):
        return _inline(journal, card, reference, base)
    url = entry.get("url")
    if not isinstance(url, str) or not url:
        seen = f"The entry {name!r} of {catalog} has neither a url nor data with a card."
        raise FaultError(Fault(Whose.AGENT, FaultCode.CARD_INVALID, seen, "Correct the entry of the catalog."))
    url = urljoin(base, url)
    if base and origin(url) not in credentials.origins and (address := await private_address(url, base)):
        seen = f"The entry {name!r} of {catalog} leads to the private address {address}, and was not fetched."
        fault = Fault(Whose.YOURS, FaultCode.CARD_NOT_FOUND, seen, f"If you trust it, add --trust {origin(url)}.")
        raise PrivateRedirectError(fault, PrivateRedirect(origin(base), origin(url), address))
    return replace(await find_card(journal, client, credentials, url), reference=reference)


async def _fetch(journal: Journal, client: Client, credentials: Credentials, url: str) -> bytes:
    fetch = await fetch_card(journal, client, credentials, url, kind=CatalogFetch)
    if fetch.fault is not None:
        raise FaultError(fetch.fault)
    status = fetch.head.status if fetch.head else 0
    if status != HTTPStatus.OK:
        seen = f"No catalog was found at {journal.redactor.url(url)} ({status})."
        denied = {401: FaultCode.CREDENTIALS_MISSING, 403: FaultCode.AUTH_FAILED}
        code = denied.get(status, FaultCode.CARD_NOT_FOUND)
        raise FaultError(Fault(Whose.AGENT, code, seen, f"A catalog is at {WELL_KNOWN}, or write its URL before #."))
    return fetch.raw


def _entry(raw: bytes, name: str, catalog: str) -> Mapping[str, Any]:
    """Return the entry with a name; raises `FaultError` without one."""
    value = parse(raw)
    entries = value.get("entries") if isinstance(value, dict) else None
    if not isinstance(entries, list):
        seen = f"{catalog} is not a catalog: it has no list of entries."
        raise FaultError(Fault(Whose.AGENT, FaultCode.CARD_INVALID, seen, "Write the URL of a catalog before #."))
    known = [entry for entry in entries if isinstance(entry, dict)]
    for entry in known:
        if name in [entry.get(member) for member in _NAMES]:
            return entry
    for entry in known:  # the last part of `urn:example:weather`
        if name == str(entry.get("identifier", "")).rpartition(":")[2]:
            return entry
    names = [next((str(entry[member]) for member in _NAMES if entry.get(member)), "") for entry in known]
    shown = ", ".join(filter(None, names[:_MOST_NAMES])) or "none"
    seen = f"The catalog {catalog} has no entry {name!r}."
    raise FaultError(Fault(Whose.YOURS, FaultCode.CARD_NOT_FOUND, seen, f"Entries: {shown}."))


def _inline(journal: Journal, card: Mapping[str, Any], reference: str, url: str) -> Connection:
    """Return the connection of a card that is inside of a catalog, and record the card."""
    found = read_card_bytes(dump(dict(card)))
    if not isinstance(found, FoundCard):
        seen = f"The card of {reference} is invalid: {found}."
        raise FaultError(Fault(Whose.AGENT, FaultCode.CARD_INVALID, seen, "Correct the entry of the catalog."))
    return card_inside(journal, found, reference, url)
