"""A catalog that was read, and the error of a reference that leads to a catalog instead of an agent."""

from __future__ import annotations

from inspector.findings.finding import Finding
from inspector.lazy_dataclass import dataclass
from inspector.protocol.ai_catalog import Catalog, Entry
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.text.units import counted
from inspector.wire.client.credentials import Credentials

MOST_NAMES = 10
"""The maximum number of entries that an error message names."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A catalog that was read: its URL (`""` for a file), its content, the credentials for its origin, its findings.

    `prefix` is what is written before `#` and the reference of an entry to connect to it.
    """

    prefix: str
    url: str
    catalog: Catalog
    credentials: Credentials
    findings: tuple[Finding, ...] = ()

    def reference_of(self, entry: Entry) -> str:
        """Return the reference that connects to an entry."""
        return f"{self.prefix}#{entry.reference}"


class CatalogFoundError(FaultError):
    """The reference leads to a catalog, from which an agent has to be chosen."""

    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        cards = listing.catalog.cards()
        agents = counted(len(cards), "agent")
        seen = f"{listing.url or listing.prefix} is an AI Catalog with {agents}."
        if not cards:
            hint = "Enter the URL of an agent, or of a catalog that lists agents."
        else:
            names = ", ".join(entry.reference for entry in cards[:MOST_NAMES])
            more = f" and {len(cards) - MOST_NAMES:,} more" if len(cards) > MOST_NAMES else ""
            hint = f"Choose one, for example {listing.reference_of(cards[0])}. Entries: {names}{more}."
        super().__init__(Fault(Whose.YOURS, FaultCode.USAGE, seen, hint))
