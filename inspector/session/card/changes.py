"""Compare a card with another card, with the extended card and with earlier cards of the same agent."""

from __future__ import annotations

from dataclasses import replace

from inspector.capture.card_history import SeenCard
from inspector.lazy_dataclass import dataclass
from inspector.protocol.difference import Change, difference
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.model import Json, Unreadable
from inspector.wire.discovery import FoundCard, read_bytes


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


def card_difference(before: FoundCard, after: FoundCard) -> list[Change]:
    """Compare two cards as they were served, or in the canonical JSON if their protocol versions differ."""
    if before.dialect.version == after.dialect.version:
        return difference(_read(before.raw), _read(after.raw))
    return difference(before.value, after.value)


def extended_difference(public: FoundCard, extended: Json) -> list[Change]:
    """Compare the extended card with the public card; one that cannot be read is compared as it was served."""
    found = read_bytes(dump(extended))
    return card_difference(public, found) if isinstance(found, FoundCard) else difference(_read(public.raw), extended)


def card_of_answer(answer: Json) -> Json:
    """Return the card in a response, without the JSON-RPC envelope."""
    return answer["result"] if isinstance(answer, dict) and "jsonrpc" in answer and "result" in answer else answer


def _read(raw: bytes) -> Json:
    value = parse(raw)
    return None if isinstance(value, Unreadable) else value
