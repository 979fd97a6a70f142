"""Find the card of an agent, wherever the reference leads: a URL, a file, an entry of a catalog, or a gRPC server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import INVALID_RESPONSE, FaultCode, FaultError, FaultKind, usage_error
from inspector.protocol.selection import Choice
from inspector.session.connection import Access, Connection, find_card, read_card_file, refetch_card
from inspector.session.journal import Journal
from inspector.text.reference import grpc_url, is_grpc, local_path, mistake_in_host, with_scheme
from inspector.wire.client.credentials import Credentials
from inspector.wire.client.http import Client
from inspector.wire.discovery import PrivateRedirectError, is_in_catalog, read_raw

if TYPE_CHECKING:
    from inspector.session.call import Call
    from inspector.session.catalog import CatalogReader
    from inspector.session.grpc_card import GrpcCardReader

_GRPC = "GRPC"
_NOT_OVER_HTTP = frozenset({FaultCode.UNREACHABLE, FaultCode.CARD_NOT_FOUND, FaultCode.INTERNAL, INVALID_RESPONSE})
"""The faults of a port that does not serve a card over HTTP."""


@dataclass(frozen=True, slots=True)
class CardFinder:
    """Finds and refreshes the card of an agent, without choosing an interface; `access` is that of the session.

    `over_grpc` prepares the call that reads a card over an interface. `preferred` are the bindings that the user
    prefers, `version` is the protocol version that the user requested.
    """

    journal: Journal
    client: Client
    access: Access
    over_grpc: Callable[[Choice], Call]
    preferred: tuple[str, ...] = ()
    version: str = ""

    async def find(self, reference: str) -> Connection:
        """Find a card; raises `FaultError`, and `CatalogFoundError` for a catalog, from which a card must be chosen."""
        if is_in_catalog(reference):
            return await self.catalogs.connect(reference)
        if is_grpc(reference):
            return await self._grpc.read(reference)
        path = local_path(reference)
        if path is None and (mistake := mistake_in_host(reference)):
            raise usage_error(mistake)
        try:
            if (found := read_card_file(self.journal, reference)) is not None:
                return found
            url = with_scheme(reference)
            plain, credentials = await self.access(url)
            return await find_card(self.journal, self.client, credentials, reference if plain == url else plain)
        except FaultError as error:
            if error.fault.code == FaultCode.CARD_INVALID and path is not None:
                await self.catalogs.offer_document(reference, read_raw(path))
            if error.fault.code == FaultCode.CARD_NOT_FOUND and not isinstance(error, PrivateRedirectError):
                await self.catalogs.offer(reference)
            if path is None and self.prefers_grpc and error.fault.code in _NOT_OVER_HTTP:
                return await self._instead_of_http(reference, error)
            if path is None and error.fault.kind is FaultKind.NOT_HTTP:
                hint = f"{error.fault.hint} If it is its gRPC port, use {grpc_url(reference)}."
                raise FaultError(replace(error.fault, hint=hint)) from error
            raise

    async def _instead_of_http(self, reference: str, error: FaultError) -> Connection:
        """Read the card over gRPC, because there is none over HTTP; raises `FaultError` about both."""
        try:
            return await self._grpc.read(reference)
        except FaultError as over_grpc:
            seen = f"{error.fault.seen} {over_grpc.fault.seen}"
            raise FaultError(replace(over_grpc.fault, seen=seen)) from error

    async def refresh(self, before: Connection, credentials: Credentials) -> Connection:
        """Find the card again; if it is unchanged, `found` stays the same object. Raises `FaultError`."""
        if is_in_catalog(before.reference):
            return await self.catalogs.connect(before.reference)
        if is_grpc(before.url):
            return await self._grpc.read(before.url if is_grpc(before.reference) else before.reference)
        if not before.url and (found := read_card_file(self.journal, before.reference, before)) is not None:
            return found
        return await refetch_card(self.journal, self.client, credentials, before)

    @property
    def prefers_grpc(self) -> bool:
        """Return whether the card is read over gRPC if there is none over HTTP."""
        return _GRPC in self.preferred

    @property
    def _grpc(self) -> GrpcCardReader:
        from inspector.session.grpc_card import GrpcCardReader  # noqa: PLC0415 - few agents need it

        return GrpcCardReader(self.journal, self.access, self.over_grpc, self.version)

    @property
    def catalogs(self) -> CatalogReader:
        """Return the reader of catalogs, which only few references need."""
        from inspector.session.catalog import CatalogReader  # noqa: PLC0415 - see above

        return CatalogReader(self.journal, self.client, self.access)
