"""Verify the signatures of a card with given or fetched keys."""

from __future__ import annotations

import asyncio
from dataclasses import field
from urllib.parse import urljoin

from inspector.capture.records import Kind, Record
from inspector.findings.signatures.keyset import KeySet
from inspector.findings.signatures.verify import SignatureResult, protected_header, signatures_of, verify
from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings.base import HttpRequest
from inspector.protocol.errors import usage_error
from inspector.protocol.http_status import REDIRECTING
from inspector.protocol.jsonvalue import parse_strictly
from inspector.protocol.model import Unreadable
from inspector.session.card_fetch import MOST_REDIRECTS, DocumentFetch
from inspector.session.connection import Connection
from inspector.session.session import Session
from inspector.text.typed_path import typed_path
from inspector.text.units import counted
from inspector.wire.client.observations import Body, Frames
from inspector.wire.signing_keys import read_answer, read_file, refusal

GET_KEYS = "GetKeys"
"""The operation name in the records of a key set, for which the specification has no name."""

_MAX_SETS = 8
"""The maximum number of key sets that are fetched for a card."""


async def verify_card(connection: Connection, keys: KeySet | None) -> tuple[SignatureResult, ...]:
    """Verify every signature of the card as served, in a thread; `keys` is None if no keys were given."""
    value, version = parse_strictly(connection.found.raw), connection.found.dialect.version
    return await asyncio.to_thread(verify, value, keys, version)


async def fetch_keys(session: Session, connection: Connection) -> KeySet:
    """Fetch the key sets that the signatures of a card name in `jku`, only from the card's origin.

    The requests have no credentials and are recorded. The notes of the result describe rejected URLs and failures.
    """
    urls = dict.fromkeys(_key_urls(connection))
    if not urls:
        return KeySet(notes=("No signature of the card names the URL of its keys (jku).",))
    found = KeySet()
    for url in list(urls)[:_MAX_SETS]:
        found |= await _fetch(session, url, connection.url)
    if len(urls) > _MAX_SETS:
        found |= KeySet(notes=(f"The signatures name {len(urls):,} key sets; only the first {_MAX_SETS} are fetched.",))
    text = session.journal.redactor.text
    return KeySet(found.keys, tuple(text(note) for note in found.notes))


async def given_keys(session: Session, place: str) -> KeySet:
    """Read keys from a file, or from a URL without credentials; raise `FaultError` if there are no keys."""
    if not place.lower().startswith(("http://", "https://")):
        try:
            return read_file(typed_path(place))
        except OSError as error:
            raise usage_error(f"The key file {place} could not be read: {error.strerror}.") from error
    fetch = await _request(session, place)
    if fetch.keys.keys:
        return fetch.keys
    why = fetch.fault.seen if fetch.fault else " ".join(fetch.keys.notes)
    seen = f"{session.journal.redactor.url(place)} returned no key. {why}".strip()
    hint = "Give a URL that returns a JWK Set. Redirects are not followed."
    raise usage_error(seen, hint)


def _key_urls(connection: Connection) -> list[str]:
    headers = (protected_header(entry) for entry in signatures_of(parse_strictly(connection.found.raw)))
    named = (header.get("jku") for header in headers if not isinstance(header, Unreadable))
    return [jku for jku in named if isinstance(jku, str)]


@dataclass(slots=True)
class _KeyFetch(DocumentFetch):
    """Fetches a key set."""

    keys: KeySet = field(default=KeySet(), init=False)

    def take_frames(self, seen: Frames) -> list[Record]:
        """Append the frames of a stream, which cannot be a key set."""
        self.keys = KeySet(notes=(f"{self.url} returned a stream of events instead of keys.",))
        return self._append(Kind.FRAME, seen.at, [frame.raw for frame in seen.frames])

    def take_body(self, body: Body) -> list[Record]:
        """Append the body; if the status is 200, read it as keys."""
        self.keys = read_answer(self.url, self.status, body.raw)
        return self._append(Kind.BODY, body.at, [body.raw])

    def _append(self, kind: Kind, at: float, raws: list[bytes]) -> list[Record]:
        """Append payloads with the number of keys, or the reason why there are no keys."""
        count, notes = len(self.keys.keys), self.keys.notes
        label = notes[0] if notes else counted(count, "key")
        return self.append_payloads(kind, at, raws, "" if count else "unreadable", label)


async def _fetch(session: Session, url: str, card_url: str) -> KeySet:
    """Fetch the keys at a URL and follow redirects on the card's origin."""
    for _ in range(MOST_REDIRECTS + 1):
        if why := refusal(url, card_url):
            return KeySet(notes=(why,))
        fetch = await _request(session, url)
        if fetch.fault is not None:
            return KeySet(notes=(f"The keys at {url} could not be fetched: {fetch.fault.seen}",))
        location = fetch.head.header("location") if fetch.head else ""
        if fetch.status not in REDIRECTING or not location:
            return fetch.keys
        try:
            url = urljoin(url, location)
        except ValueError:  # brackets without an address
            return KeySet(notes=(f"The keys at {url} are redirected to an invalid URL: {location}.",))
    return KeySet(notes=(f"The request for the keys was redirected more than {MOST_REDIRECTS} times.",))


async def _request(session: Session, url: str) -> _KeyFetch:
    fetch = _KeyFetch(session.journal, GET_KEYS, url)
    accept = {"Accept": "application/jwk-set+json, application/json"}
    await fetch.run(session.client, HttpRequest("GET", url, accept))
    return fetch
