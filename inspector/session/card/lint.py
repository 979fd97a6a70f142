"""Lint the card of a URL, a host or a file, or the text of a card that is being edited."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from inspector.findings.finding import Finding
from inspector.findings.lint import Lint, lint
from inspector.session import checker
from inspector.session.connection import CardFetch, search_card
from inspector.session.session import Session
from inspector.wire import discovery


async def lint_reference(session: Session, reference: str, version: str = "") -> Lint:
    """Lint the bytes of the card of a URL, a host or a file; raise `FaultError` if there is no card."""
    path = discovery.local_path(reference)
    if path is not None:
        return lint(discovery.read_raw(path), version=version)
    credentials = session.settings.credentials_for(reference)
    only_candidate = len(discovery.candidates(reference)) == 1

    def may_be_card(url: str, fetch: CardFetch) -> bool:
        expected = only_candidate or "/.well-known/" in url
        ok = fetch.head is not None and fetch.head.status == 200
        return ok and (expected or isinstance(fetch.found, discovery.FoundCard))

    fetch, _ = await search_card(session.journal, session.client, credentials, reference, may_be_card)
    headers = fetch.head.headers if fetch.head else ()
    return checker.lint(fetch.raw, fetch.url, headers, version)


@dataclass(frozen=True, slots=True)
class CardText:
    """The result of reading a text as a card: its version, or why it is not a card (`problem`), and its findings."""

    version: str
    problem: str
    findings: tuple[Finding, ...]


def lint_text(text: str) -> CardText:
    """Read and lint a text as a card."""
    raw = text.encode("utf-8", "surrogatepass")
    found = discovery.read_bytes(raw)
    findings = tuple(lint(raw).findings)
    return CardText("", found, findings) if isinstance(found, str) else CardText(found.dialect.version, "", findings)


def save_text(path: Path, text: str, *, replace: bool = False) -> None:
    """Write a text to a file; raise `OSError`, or `FileExistsError` if the file exists and `replace` is false."""
    with path.open("w" if replace else "x", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(text)
