"""Find the card of an agent, wherever the reference leads: a URL, a file, an entry of a catalog, or a gRPC server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector.protocol.errors import FaultCode, FaultError
from inspector.session.connection import Access, Connection, find_card, read_card_file, refetch_card
from inspector.session.journal import Journal
from inspector.wire.client.credentials import Credentials
from inspector.wire.client.http import Client
from inspector.wire.discovery import PrivateRedirectError, is_in_catalog, local_path, normalise, read_raw

if TYPE_CHECKING:
    from inspector.session.catalog import CatalogReader


@dataclass(frozen=True, slots=True)
class CardFinder:
    """Finds and refreshes the card of an agent, without choosing an interface; `access` is that of the session."""

    journal: Journal
    client: Client
    access: Access

    async def find(self, reference: str) -> Connection:
        """Find a card; raises `FaultError`, and `CatalogFoundError` for a catalog, from which a card must be chosen."""
        if is_in_catalog(reference):
            return await self.catalogs.connect(reference)
        path = local_path(reference)
        try:
            if (found := read_card_file(self.journal, reference)) is not None:
                return found
            url = normalise(reference)
            plain, credentials = await self.access(url)
            return await find_card(self.journal, self.client, credentials, reference if plain == url else plain)
        except FaultError as error:
            if error.fault.code == FaultCode.CARD_INVALID and path is not None:
                await self.catalogs.offer_document(reference, read_raw(path))
            if error.fault.code == FaultCode.CARD_NOT_FOUND and not isinstance(error, PrivateRedirectError):
                await self.catalogs.offer(reference)
            raise

    async def refresh(self, before: Connection, credentials: Credentials) -> Connection:
        """Find the card again; if it is unchanged, `found` stays the same object. Raises `FaultError`."""
        if is_in_catalog(before.reference):
            return await self.catalogs.connect(before.reference)
        if not before.url and (found := read_card_file(self.journal, before.reference, before)) is not None:
            return found
        return await refetch_card(self.journal, self.client, credentials, before)

    @property
    def catalogs(self) -> CatalogReader:
        """Return the reader of catalogs, which only few references need."""
        from inspector.session.catalog import CatalogReader  # noqa: PLC0415 - see above

        return CatalogReader(self.journal, self.client, self.access)
