"""Lint a catalog and every agent card in it, also those of the catalogs that it contains."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import field, replace

from inspector.findings.catalog import EntryFacts, lint_entry, lint_nested
from inspector.findings.finding import Finding, Severity, worst_of
from inspector.findings.lint import lint
from inspector.lazy_dataclass import dataclass
from inspector.protocol.ai_catalog import Entry, EntryKind
from inspector.protocol.errors import FaultError
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.pointer import steps_of
from inspector.session.card.lint import LintedCard, lint_url
from inspector.session.catalog_listing import Listing
from inspector.session.session import Session
from inspector.wire.discovery import PrivateRedirectError

MOST_FETCHES = 100
"""The maximum number of cards and catalogs that are fetched for one catalog, unless the user wants more."""
MOST_DEPTH = 4
"""The maximum nesting of catalogs (AI Catalog 0.9, Nested Catalog Entries)."""
_AT_ONCE = 8
_SECONDS = 20.0
"""How long to wait for one card."""


@dataclass(frozen=True, slots=True)
class LintedEntry:
    """An entry with the result: the findings about its card, or why it was not checked.

    `catalog` is the catalog that contains it; `url` the URL of its card, `""` for a card in the catalog; `name` and
    `version` are those of the card, `version` the protocol version. `unchecked` is `""` if the entry was checked;
    `skipped` is true if there is nothing to check.
    """

    catalog: str
    entry: Entry
    url: str = ""
    name: str = ""
    version: str = ""
    findings: tuple[Finding, ...] = ()
    unchecked: str = ""
    skipped: bool = False

    @property
    def worst(self) -> Severity | None:
        """Return the most severe severity of the findings."""
        return worst_of(finding.severity for finding in self.findings)


@dataclass(slots=True)
class CatalogLint:
    """Lints a catalog; iterate over `entries` to get each result in the order of the catalog."""

    session: Session
    listing: Listing
    most_fetches: int = MOST_FETCHES
    version: str = ""
    _fetches: int = field(default=0, init=False)
    _seen: set[str] = field(default_factory=set, init=False)

    async def entries(self) -> AsyncGenerator[LintedEntry, None]:
        """Check every entry; cards are fetched a few at a time."""
        self._seen.add(self.listing.url)
        async with aclosing(self._of(self.listing, 1)) as results:
            async for result in results:
                yield result

    async def _of(self, listing: Listing, depth: int) -> AsyncGenerator[LintedEntry, None]:
        limit = asyncio.Semaphore(_AT_ONCE)
        tasks = [asyncio.create_task(self._check(listing, entry, limit)) for entry in listing.catalog.entries]
        try:
            for entry, task in zip(listing.catalog.entries, tasks, strict=True):
                if entry.kind is not EntryKind.CATALOG:
                    yield await task
                    continue
                result, inner = await self._nested(listing, entry, depth)
                yield result
                if inner is not None:
                    async with aclosing(self._of(inner, depth + 1)) as results:
                        async for result in results:
                            yield result
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _count_fetch(self) -> str:
        """Count a document that is to be fetched; return why it is not, `""` if it can be."""
        self._fetches += 1
        too_many = self._fetches > self.most_fetches
        return f"not fetched: more than {self.most_fetches:,} cards and catalogs" if too_many else ""

    async def _check(self, listing: Listing, entry: Entry, limit: asyncio.Semaphore) -> LintedEntry:
        """Check an entry that is not a catalog."""
        result = LintedEntry(listing.prefix, entry, name=entry.name)
        if entry.kind is EntryKind.OTHER:
            return replace(result, unchecked=f"not an agent card ({entry.type})", skipped=True)
        if entry.kind is EntryKind.CATALOG:
            return result
        if entry.data is not None:
            raw = dump(entry.data)
            return self._result(result, LintedCard(lint(raw, version=self.version), raw))
        if entry.url and (why := self._count_fetch()):
            return replace(result, unchecked=why)
        async with limit:
            try:
                url = await self.session.cards.catalogs.card_url(listing, entry)
                result = replace(result, url=self.session.journal.redactor.url(url))
                async with asyncio.timeout(_SECONDS):
                    card = await lint_url(self.session, listing.credentials, url, self.version, exact=True)
            except (FaultError, TimeoutError) as error:
                return self._failed(result, error)
        return self._result(result, card)

    def _failed(self, result: LintedEntry, error: FaultError | TimeoutError) -> LintedEntry:
        """Return the result of an entry whose card was not found, or may not be fetched without the user."""
        if isinstance(error, TimeoutError):
            return self._result(result, why=f"no response within {_SECONDS:g} s")
        if isinstance(error, PrivateRedirectError) or error.fault.denied:
            return replace(result, unchecked=error.fault.sentence())
        return self._result(result, why=error.fault.seen.rstrip("."))

    def _result(self, result: LintedEntry, card: LintedCard | None = None, why: str = "") -> LintedEntry:
        value = parse(card.raw) if card else None
        members = value if isinstance(value, dict) else {}
        version, name = members.get("version"), members.get("name")
        if card is not None and not ({"name", "skills", "capabilities"} & members.keys()):
            why = "JSON, but without the members of a card" if members else "not a JSON object"
        elif card is not None and card.failed:
            why = f"{card.failed} at its url; there is a card at {card.url}"
        served = card.raw if card is not None and result.entry.data is None and not card.failed else b""
        facts = EntryFacts(result.entry, version if isinstance(version, str) else "", why, served)
        findings = lint_entry(facts)
        if card is None or (why and not card.failed):
            return replace(result, findings=findings)
        shown = name if isinstance(name, str) and name else result.name
        url = self.session.journal.redactor.url(card.url)
        found = (*findings, *card.lint.findings)
        return replace(result, url=url, name=shown, version=card.lint.version, findings=found)

    async def _nested(self, listing: Listing, entry: Entry, depth: int) -> tuple[LintedEntry, Listing | None]:
        """Read a catalog in the catalog; the second value is None if it cannot be read or is too deep."""
        result = LintedEntry(listing.prefix, entry, name=entry.name)
        catalogs = self.session.cards.catalogs
        if depth >= MOST_DEPTH:
            return replace(result, unchecked=f"not read: more than {MOST_DEPTH} catalogs in each other"), None
        try:
            if entry.data is not None:
                inner, steps = await catalogs.nested(listing, entry), (*steps_of(entry.pointer), "data")
                return replace(result, findings=lint_nested(entry.data, steps, time.time())), inner
            url = await catalogs.card_url(listing, entry)
            result = replace(result, url=self.session.journal.redactor.url(url))
            if url in self._seen:
                return replace(result, unchecked="the catalog was read before", skipped=True), None
            self._seen.add(url)
            if why := self._count_fetch():
                return replace(result, unchecked=why), None
            async with asyncio.timeout(_SECONDS):
                inner = await catalogs.nested(listing, entry)
        except (FaultError, TimeoutError) as error:
            return self._failed(result, error), None
        return replace(result, findings=inner.findings), inner
