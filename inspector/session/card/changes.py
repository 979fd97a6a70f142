"""Compare a card with the extended card and with earlier cards of the same agent."""

from __future__ import annotations

from dataclasses import replace

from inspector.capture.card_history import SeenCard
from inspector.lazy_dataclass import dataclass
from inspector.protocol.card import AgentCard
from inspector.protocol.dialects.registry import read_card
from inspector.protocol.difference import Change, difference
from inspector.protocol.jsonvalue import parse
from inspector.protocol.model import Json, Unreadable
from inspector.wire.discovery import FoundCard


@dataclass(frozen=True, slots=True)
class EarlierCard:
    """An earlier card, and the changes from it to the current card."""

    card: SeenCard
    changes: tuple[Change, ...]


class CardHistory:
    """The versions of one agent's card with masked secrets, newest first."""

    def __init__(self) -> None:
        self._versions: list[SeenCard] = []

    def __len__(self) -> int:
        return len(self._versions)

    def load(self, earlier: list[SeenCard]) -> None:
        """Add the versions from earlier sessions."""
        self._versions += earlier

    def see(self, raw: bytes, at: float) -> None:
        """Add the current card, which was seen at the time `at`."""
        known = next((card for card in self._versions if card.raw == raw), None)
        now = replace(known, last=at) if known else SeenCard(raw, at, at)
        self._versions = [now, *(card for card in self._versions if card is not known)]

    def earlier(self) -> list[EarlierCard]:
        """Compare the current card with each earlier version, newest first."""
        if len(self._versions) < 2:
            return []
        now = _read(self._versions[0].raw)
        return [EarlierCard(version, tuple(difference(_read(version.raw), now))) for version in self._versions[1:]]


def extended_difference(public: FoundCard, extended: Json) -> list[Change]:
    """Compare the extended card with the public card; compare the decoded cards if their protocol versions differ."""
    card, dialect = read_card(extended)
    if dialect.version == public.dialect.version or not isinstance(card, AgentCard):
        return difference(_read(public.raw), extended)
    return difference(public.card.to_json(), card.to_json())


def card_of_answer(answer: Json) -> Json:
    """Return the card in a response, without the JSON-RPC envelope."""
    return answer["result"] if isinstance(answer, dict) and "jsonrpc" in answer and "result" in answer else answer


def _read(raw: bytes) -> Json:
    value = parse(raw)
    return None if isinstance(value, Unreadable) else value
