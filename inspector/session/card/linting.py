"""Lints the card of a reference from its bytes, which need not be a card that anyone can read."""

from __future__ import annotations

from dataclasses import replace

from inspector.findings.lint import Lint, lint
from inspector.protocol.errors import FaultError
from inspector.session.connection import CardFetch, fetch_card
from inspector.session.session import Session
from inspector.wire import discovery


async def lint_reference(session: Session, reference: str, generation: str = "") -> Lint:
    """Lint the card of a url, a host or a file; raises `FaultError` where there is nothing to lint."""
    path = discovery.local_path(reference)
    if path is not None:
        return lint(discovery.read_raw(path), generation=generation)
    fetch = await _first(session, reference)
    return lint(fetch.raw, fetch.served, generation)


async def _first(session: Session, reference: str) -> CardFetch:
    """Return the first answer that is a card or stands where one belongs."""
    credentials = session.credentials_for(reference)
    tries: list[tuple[str, str]] = []
    statuses: set[int] = set()
    urls = discovery.candidates(reference)
    for url in urls:
        fetch = await fetch_card(session.journal, session.client, credentials, url)
        status = fetch.head.status if fetch.head else 0
        named = len(urls) == 1 or "/.well-known/" in url
        if status == 200 and (named or isinstance(fetch.found, discovery.FoundCard)):
            return fetch
        if fetch.fault is not None and fetch.head is None:
            raise FaultError(fetch.fault)
        statuses.add(status)
        tries.append((session.journal.redactor.url(url), str(fetch.found)))
    fault = discovery.not_found(reference, tries, statuses)
    raise FaultError(replace(fault, seen=session.journal.redactor.text(fault.seen)))
