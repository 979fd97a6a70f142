"""Lint the card of a URL, a host, a file or an entry of a catalog, or the text of a card that is being edited."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from inspector.findings.finding import Finding
from inspector.findings.lint import Lint, check, lint
from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import FaultCode, FaultError
from inspector.protocol.jsonvalue import dump, parse
from inspector.session import checker
from inspector.session.card_fetch import CardFetch, search_card
from inspector.session.session import Session
from inspector.text.reference import is_grpc, local_path
from inspector.wire import discovery
from inspector.wire.client.credentials import Credentials
from inspector.wire.discovery import PrivateRedirectError, is_in_catalog


class LintedCard(NamedTuple):
    """The result of linting a card, its bytes, its URL (`""` for a file), and the attempt before it that failed."""

    lint: Lint
    raw: bytes
    url: str = ""
    failed: str = ""


async def lint_reference(session: Session, reference: str, version: str = "") -> Lint:
    """Lint a card as it is served or written; raise `FaultError` without one, `CatalogFoundError` for a catalog."""
    if is_in_catalog(reference):
        return await _lint_entry(session, reference, version)
    if is_grpc(reference):
        return await _lint_over_grpc(session, reference, version)
    path = local_path(reference)
    if path is not None:
        raw = discovery.read_raw(path)
        await session.cards.catalogs.offer_document(reference, raw)
        return lint(raw, version=version)
    try:
        found = await lint_url(session, session.settings.credentials_for(reference), reference, version)
    except FaultError as error:
        if error.fault.code == FaultCode.CARD_NOT_FOUND and not isinstance(error, PrivateRedirectError):
            await session.cards.catalogs.offer(reference)
        raise
    return found.lint


async def _lint_over_grpc(session: Session, reference: str, version: str) -> Lint:
    """Lint a card that is read over gRPC, whose JSON is that of its message."""
    found = (await session.cards.find(reference)).found
    value, judged = parse(found.raw), version or found.dialect.version
    return Lint(judged, check(value if isinstance(value, dict) else {}, judged))


async def _lint_entry(session: Session, reference: str, version: str) -> Lint:
    """Lint the card of an entry of a catalog."""
    catalogs = session.cards.catalogs
    listing, entry = await catalogs.entry(reference)
    if entry.data is not None:
        return lint(dump(entry.data), version=version)
    url = await catalogs.card_url(listing, entry)
    return (await lint_url(session, listing.credentials, url, version, exact=True)).lint


async def lint_url(
    session: Session, credentials: Credentials, url: str, version: str = "", *, exact: bool = False
) -> LintedCard:
    """Lint the card of a URL or a host; raise `FaultError` without one, and `CatalogFoundError` for a catalog.

    The card of another agent of the host is never linted instead of a card below the path of the URL. With `exact`, the
    URL is meant as that of the card itself, which is tried first.
    """
    only_candidate = len(discovery.candidates(url)) == 1

    def may_be_card(tried: str, fetch: CardFetch) -> bool:
        expected = only_candidate or "/.well-known/" in tried
        is_complete = fetch.status == 200 and fetch.fault is None
        return is_complete and (expected or isinstance(fetch.found, discovery.FoundCard))

    fetch, attempts = await search_card(
        session.journal, session.client, credentials, url, may_be_card, exact=exact, below=True
    )
    fetch.raise_if_catalog(url, credentials)
    headers = fetch.head.headers if fetch.head else ()
    failed = attempts[0].outcome if len(attempts) > 1 else ""
    return LintedCard(checker.lint(fetch.raw, fetch.url, headers, version), fetch.raw, fetch.url, failed)


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
    if isinstance(found, discovery.FoundCard):
        return CardText(found.dialect.version, "", findings)
    return CardText("", str(found), findings)


def save_text(path: Path, text: str, *, replace: bool = False) -> None:
    """Write a text to a file; raise `OSError`, or `FileExistsError` if the file exists and `replace` is false."""
    with path.open("w" if replace else "x", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(text)
