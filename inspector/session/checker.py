"""Whether the rules are checked: without checks, the rules are not loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from inspector.findings.finding import Finding
from inspector.findings.stream.observer import CallFacts, ExchangeObserver
from inspector.protocol.assemble import Order
from inspector.protocol.model import Event, Json
from inspector.session import lazy_loading
from inspector.wire.client.observations import Headers


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks the rules for what an agent sends; returns no findings if `on` is false."""

    on: bool = True

    def observer(
        self, call: CallFacts, known_order: Callable[[str], Order | None], label_of: Callable[[Event], str]
    ) -> ExchangeObserver:
        """Return a new observer of an exchange: a `StreamJudge` if the rules are checked."""
        return lazy_loading.stream_judge(call, known_order, label_of) if self.on else ExchangeObserver()

    def lint(self, raw: bytes, url: str = "", headers: Headers = ()) -> tuple[Finding, ...]:
        """Check the bytes of a card; `url` is where it was served, `""` if it was read from a file."""
        return lazy_loading.lint(raw, url, headers).findings if self.on else ()

    def check_card(self, card: Mapping[str, Json], version: str) -> tuple[Finding, ...]:
        """Check a card by the rules of one protocol version."""
        return lazy_loading.check_card(card, version) if self.on else ()
