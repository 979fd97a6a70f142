"""Verifying the signatures of a connected agent's card, with keys that were given or are fetched for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urljoin

from inspector.capture.records import Kind, Record
from inspector.findings.signatures.keyset import KeySet
from inspector.findings.signatures.verify import Verdict, protected_header, signatures_of, verify
from inspector.protocol.bindings.base import HttpRequest
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Unreadable
from inspector.session.connection import Connection
from inspector.session.recorder import Recorder
from inspector.session.session import Session
from inspector.wire.client.observations import Body, Frames
from inspector.wire.discovery import REDIRECTS
from inspector.wire.signing_keys import read_answer, read_file, refusal

GET_KEYS = "GetKeys"
"""The operation of the records of a key set; the specification gives fetching one no name of its own."""

_MOST_REDIRECTS = 5
_MOST_SETS = 8
"""How many places of keys a card may name."""


async def verify_card(connection: Connection, keys: KeySet | None) -> tuple[Verdict, ...]:
    """Verify every signature of the card as served, in a thread of its own; None stands for keys that nobody gave."""
    value, generation = parse(connection.found.raw), connection.found.dialect.generation
    return await asyncio.to_thread(verify, value, keys, generation)


async def fetch_keys(session: Session, connection: Connection) -> KeySet:
    """Fetch the keys that the signatures of a card name by `jku`, without credentials, every request recorded.

    Only the card's own origin is asked; the notes of the set say what was refused and what failed.
    """
    places = dict.fromkeys(_places(connection))
    if not places:
        return KeySet(notes=("No signature of the card says where its keys are (jku).",))
    found = KeySet()
    for url in list(places)[:_MOST_SETS]:
        found |= await _fetch(session, url, connection.url)
    if len(places) > _MOST_SETS:
        found |= KeySet(notes=(f"Of {len(places):,} places of keys the first {_MOST_SETS} are asked.",))
    text = session.journal.redactor.text
    return KeySet(found.keys, tuple(text(note) for note in found.notes))


async def given_keys(session: Session, place: str) -> KeySet:
    """Read the keys at a place that the user gave, a file or a url, which is asked without credentials.

    Raises `FaultError` where there is no key.
    """
    if not place.lower().startswith(("http://", "https://")):
        return _from_file(place)
    fetch = await _ask(session, place)
    if fetch.keys.keys:
        return fetch.keys
    why = fetch.fault.seen if fetch.fault else " ".join(fetch.keys.notes)
    seen = f"No key came from {session.journal.redactor.url(place)}. {why}".strip()
    hint = "It has to answer with a JWK Set; a redirect is not followed."
    raise FaultError(Fault(Whose.YOURS, FaultCode.USAGE, seen, hint))


def _from_file(path: str) -> KeySet:
    return read_file(Path(path).expanduser())


def _places(connection: Connection) -> list[str]:
    headers = (protected_header(entry) for entry in signatures_of(parse(connection.found.raw)))
    named = (header.get("jku") for header in headers if not isinstance(header, Unreadable))
    return [jku for jku in named if isinstance(jku, str)]


@dataclass(slots=True)
class _KeyFetch(Recorder):
    """The fetch of a key set from one url; `keys` are those of the answer."""

    url: str
    keys: KeySet = field(default=KeySet(), init=False)

    def take_frames(self, seen: Frames) -> list[Record]:
        """Append what a server streams where keys are due."""
        self.keys = KeySet(notes=(f"The keys at {self.url} are a stream of events instead.",))
        return self._payloads(Kind.FRAME, seen.at, [frame.raw for frame in seen.frames])

    def take_body(self, body: Body) -> list[Record]:
        """Append the body, read as keys where the status allows."""
        self.keys = read_answer(self.url, self.head.status if self.head else 0, body.raw)
        return self._payloads(Kind.BODY, body.at, [body.raw])

    def _payloads(self, kind: Kind, at: float, raws: Sequence[bytes]) -> list[Record]:
        """Append payloads, with how many keys came of it or why none did."""
        count, notes = len(self.keys.keys), self.keys.notes
        return self.journal.append(
            kind,
            at,
            exchange=self.number,
            operation=self.operation,
            event="" if count else "unreadable",
            label=notes[0] if notes else f"{count} key{'' if count == 1 else 's'}",
            payloads=[(len(raw), self.journal.redactor.body(raw)) for raw in raws],
        )


async def _fetch(session: Session, url: str, card_url: str) -> KeySet:
    """Fetch the keys at one url, following redirects as long as they stay on the card's origin."""
    for _ in range(_MOST_REDIRECTS + 1):
        if why := refusal(url, card_url):
            return KeySet(notes=(why,))
        fetch = await _ask(session, url)
        if fetch.fault is not None:
            return KeySet(notes=(f"The keys at {url} could not be fetched: {fetch.fault.seen}",))
        location = fetch.head.header("location") if fetch.head else ""
        if fetch.head is None or fetch.head.status not in REDIRECTS or not location:
            return fetch.keys
        try:
            url = urljoin(url, location)
        except ValueError:  # brackets that hold no address
            return KeySet(notes=(f"The keys at {url} are behind a redirect to what is no url: {location}.",))
    return KeySet(notes=(f"The keys are behind more than {_MOST_REDIRECTS} redirects.",))


async def _ask(session: Session, url: str) -> _KeyFetch:
    fetch = _KeyFetch(session.journal, GET_KEYS, url)
    request = HttpRequest("GET", url, {"Accept": "application/jwk-set+json, application/json"})
    try:
        async with aclosing(session.client.exchange(request)) as seen:
            async for observation in seen:
                fetch.take(observation)
                session.journal.notify()
                if isinstance(observation, Frames):
                    break  # it may never end, and no keys will come of it
    finally:
        fetch.stop(time.time())
    return fetch
