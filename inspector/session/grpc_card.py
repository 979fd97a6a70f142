"""Read the card of an agent over gRPC: GetExtendedAgentCard (1.0 section 3.1.11), GetAgentCard (0.3 section 7.10)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings.grpc import BINDING, complete_url
from inspector.protocol.card import AgentCard, AgentInterface
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.dialects.registry import ALL, for_request
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.jsonvalue import dump
from inspector.protocol.operations import Operation
from inspector.protocol.selection import Choice
from inspector.session.call import Call
from inspector.session.card_fetch import CardAttempt
from inspector.session.connection import Access, Connection
from inspector.session.journal import Journal
from inspector.text.reference import grpc_url
from inspector.wire.client.credentials import Credentials
from inspector.wire.client.faults import of_typed_url
from inspector.wire.discovery import FoundCard

_NOT_OFFERED = frozenset({"ExtendedAgentCardNotConfiguredError", "UnsupportedOperationError"})
"""The errors of an agent that has the service, but no card for it (1.0 section 3.1.11)."""
_NO_CARD = (
    "Over gRPC, an agent of 1.0 has only the extended card, which is optional. Save its card in a file, and use the "
    "path of the file instead of the URL."
)
_NO_SERVICE = "Check that this is the gRPC port of the agent. A card file can be used instead of the URL."


@dataclass(frozen=True, slots=True)
class GrpcCardReader:
    """Reads a card over gRPC; `prepare` makes the call for it, `version` is that which the user requested."""

    journal: Journal
    access: Access
    prepare: Callable[[Choice], Call]
    version: str = ""

    async def read(self, reference: str) -> Connection:
        """Read the card without choosing an interface; raises `FaultError`.

        Each version with a service of its own is tried, the newest first.
        """
        url, credentials = await self.access(complete_url(grpc_url(reference)))
        shown, attempts = grpc_url(url), []
        for dialect in self._dialects():
            call = await self._ask(url, dialect, credentials)
            answer, head = call.exchange.answer, call.exchange.head
            place = f"{shown}{_method(dialect)}"
            if isinstance(answer, AgentCard):
                attempts.append(CardAttempt(place, "found", call.exchange.number))
                return self._found(reference, shown, dialect, answer, tuple(attempts), head.at if head else 0.0)
            fault = call.fault
            outcome = fault.seen.rstrip(".") if fault else "no card"
            attempts.append(CardAttempt(place, outcome, call.exchange.number))
            if fault is not None and (fault.code in _NOT_OFFERED or fault.whose is not Whose.AGENT or head is None):
                hint = _NO_CARD if fault.code in _NOT_OFFERED else fault.hint
                code = FaultCode.CARD_NOT_FOUND if fault.code in _NOT_OFFERED else fault.code
                seen = f"No card over gRPC: {fault.seen}"
                raise FaultError(replace(of_typed_url(fault), code=code, seen=seen, hint=hint))
        outcomes = "; ".join(f"{attempt.url}: {attempt.outcome}" for attempt in attempts)
        seen = f"No card was found at {shown} ({outcomes})."
        raise FaultError(Fault(Whose.AGENT, FaultCode.CARD_NOT_FOUND, seen, _NO_SERVICE))

    def _dialects(self) -> list[Dialect]:
        if self.version:
            wanted = for_request(self.version, BINDING.name)
            return [wanted] if wanted is not None else []
        by_service: dict[str, Dialect] = {}
        for dialect in ALL:
            if dialect.service is not None:
                by_service.setdefault(dialect.service.name, dialect)
        return list(by_service.values())

    async def _ask(self, url: str, dialect: Dialect, credentials: Credentials) -> Call:
        """Ask for the card; credentials are sent only if the agent requires them, as over HTTP."""
        interface = AgentInterface(url=url, protocol_binding=BINDING.name, protocol_version=dialect.version)
        for offer in credentials.attempts:
            call = self.prepare(Choice(interface, dialect, BINDING, "to read the card"))
            call.credentials, call.renewer = offer, None  # renewed before; others must not replace those withheld
            fault = await call.finish()
            denied = fault is not None and fault.code == FaultCode.CREDENTIALS_MISSING
            if not denied or not credentials.are_for(url):
                break
        return call

    def _found(
        self, reference: str, url: str, dialect: Dialect, card: AgentCard, attempts: tuple[CardAttempt, ...], at: float
    ) -> Connection:
        value = dialect.encode_card(card)
        findings = self.journal.checker.check_card(value, dialect.version)
        return Connection(reference, url, FoundCard(card, dialect, dump(value)), None, attempts, findings, at=at)


def _method(dialect: Dialect) -> str:
    return f"/{dialect.service.name}/{dialect.service.methods[Operation.EXTENDED_CARD].name}" if dialect.service else ""
