"""The screen with the entries of an AI Catalog, from which an agent is chosen."""

from __future__ import annotations

from dataclasses import replace

from inspector.options import Options
from inspector.protocol.ai_catalog import Entry, EntryKind
from inspector.protocol.errors import Fault
from inspector.session.catalog_listing import CatalogFoundError, Listing
from inspector.text.sanitise import clean_line
from inspector.text.units import timestamp_seconds
from inspector.tui.keys import key_of
from inspector.tui.screens.connect import ConnectScreen, Row, Section

_LONGEST = 200
_IN_CATALOG = "in the catalog"


class CatalogScreen(ConnectScreen):
    """Lists the entries of a catalog; the field filters them."""

    placeholder = "A word filters the entries"

    def __init__(self, listing: Listing, options: Options) -> None:
        """`options` are those of the catalog, which its entries have, too."""
        super().__init__(can_go_back=True)
        self.options = options
        catalog = listing.catalog
        self._listing = listing
        host = f"{catalog.host}: " if catalog.host else ""
        self.field_title = clean_line(f"Choose an agent of {host}{listing.url or listing.prefix}", _LONGEST)
        self.list_title = f"Entries of the catalog: {len(catalog.entries):,}"
        of_kind = {kind: [self._row(entry) for entry in catalog.entries if entry.kind is kind] for kind in EntryKind}
        self._sections = [
            Section("Agents", of_kind[EntryKind.CARD]),
            Section("Catalogs", of_kind[EntryKind.CATALOG]),
            Section("Other artifacts, which are not A2A agents", of_kind[EntryKind.OTHER]),
        ]

    def _row(self, entry: Entry) -> Row:
        address = entry.url or (_IN_CATALOG if entry.data is not None else "no url and no data")
        if entry.kind is EntryKind.OTHER:
            address = entry.type
        about = [entry.identifier, entry.description]
        return Row(
            self._listing.reference_of(entry),
            entry.name,
            clean_line(address, _LONGEST),
            entry.version,
            timestamp_seconds(entry.updated_at),
            about=clean_line("".join(f" · {text}" for text in about if text), _LONGEST),
            enabled=entry.kind is not EntryKind.OTHER,
        )

    def load(self) -> str:
        """Load nothing: the entries are known."""
        return ""

    def sections(self) -> list[Section]:
        """Return the entries by kind."""
        return self._sections

    @property
    def nothing(self) -> str:
        """What is shown if no entry matches, or if there is none."""
        return "No entry matches." if self._listing.catalog.entries else "The catalog has no entries."

    def is_reference(self, typed: str) -> bool:  # noqa: ARG002 - every text filters the list
        """Return False: the field only filters the entries."""
        return False


def unchosen_fault(error: CatalogFoundError) -> Fault:
    """Return the fault of a catalog from which no agent was chosen, with the key that lists its entries again."""
    return replace(error.fault, hint=f"Press {key_of('refresh')} to list its entries.")
