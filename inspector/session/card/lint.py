"""Lint the card of a reference, or the text of a card that is being edited."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from inspector.findings.finding import Finding
from inspector.findings.lint import Lint, lint
from inspector.session.connection import CardFetch, search_card
from inspector.session.session import Session
from inspector.wire import discovery


async def lint_reference(session: Session, reference: str, version: str = "") -> Lint:
    """Lint the card of a URL, a host or a file from its bytes, readable or not; raises `FaultError` for none."""
    path = discovery.local_path(reference)
    if path is not None:
        return lint(discovery.read_raw(path), version=version)
    credentials = session.settings.credentials_for(reference)
    alone = len(discovery.candidates(reference)) == 1

    def may_be_card(url: str, fetch: CardFetch) -> bool:
        expected = alone or "/.well-known/" in url
        good = fetch.head is not None and fetch.head.status == 200
        return good and (expected or isinstance(fetch.found, discovery.FoundCard))

    fetch, _ = await search_card(session.journal, session.client, credentials, reference, may_be_card)
    return lint(fetch.raw, fetch.served, version)


@dataclass(frozen=True, slots=True)
class CardText:
    """A text read as a card: its protocol version, or the reason why it is not a card, and its findings."""

    version: str
    problem: str
    findings: tuple[Finding, ...]


def lint_text(text: str) -> CardText:
    """Lint a text like a card in a file."""
    raw = text.encode("utf-8", "surrogatepass")
    found = discovery.read_bytes(raw)
    findings = tuple(lint(raw).findings)
    return CardText("", found, findings) if isinstance(found, str) else CardText(found.dialect.version, "", findings)


def save_text(path: Path, text: str, *, replace: bool = False) -> None:
    """Write a text to a file; without `replace`, an existing one raises `FileExistsError`. Raises `OSError`."""
    with path.open("w" if replace else "x", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(text)
