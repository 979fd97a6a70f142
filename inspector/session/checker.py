"""Check the rules, which are loaded on first use."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from inspector.findings.finding import Finding
from inspector.findings.stream.observer import CallFacts, ExchangeObserver
from inspector.lazy_dataclass import dataclass
from inspector.protocol.assemble import Order
from inspector.protocol.model import Event, Json
from inspector.wire.client.observations import Headers

if TYPE_CHECKING:
    from inspector.findings.authorization.facts import LoginFacts
    from inspector.findings.lint import Lint
    from inspector.findings.mandates import Verified
    from inspector.findings.signatures.keyset import KeySet
    from inspector.protocol.extensions.known import Use


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks the rules for what an agent sends; if `on` is false, there are no findings, and no rules are loaded.

    `keys` are public keys that the user trusts, for the signatures of mandates and passports.
    """

    on: bool = True
    keys: KeySet | None = None

    def observer(
        self, call: CallFacts, known_order: Callable[[str], Order | None], label_of: Callable[[Event], str]
    ) -> ExchangeObserver:
        """Return a new observer of an exchange: a `StreamJudge` if the rules are checked."""
        if not self.on:
            return ExchangeObserver()
        from inspector.findings.stream.judge import StreamJudge  # noqa: PLC0415 - see the first line

        return StreamJudge(call, known_order, label_of)

    def lint(self, raw: bytes, url: str = "", headers: Headers = ()) -> tuple[Finding, ...]:
        """Check the bytes of a card; see `lint`."""
        return lint(raw, url, headers).findings if self.on else ()

    def catalog(self, raw: bytes, url: str = "", headers: Headers = ()) -> tuple[Finding, ...]:
        """Check the bytes of an AI Catalog, which was served at `url` with `headers`."""
        if not self.on:
            return ()
        from inspector.findings.card.facts import Served  # noqa: PLC0415 - see the first line
        from inspector.findings.catalog import lint_catalog  # noqa: PLC0415 - see the first line

        return lint_catalog(raw, Served(url, {name.lower(): value for name, value in headers}), time.time())

    def check_card(self, card: Mapping[str, Json], version: str) -> tuple[Finding, ...]:
        """Check a card by the rules of one protocol version."""
        if not self.on:
            return ()
        from inspector.findings.lint import check  # noqa: PLC0415 - see the first line

        return check(card, version)

    def mandates(self, uses: Iterable[Use], at: float) -> list[tuple[Use, list[Verified]]]:
        """Verify the mandates and passports among the data of extensions, which came at a time (seconds since 1970)."""
        found = [use for use in uses if use.extension.has_signatures] if self.on else []
        if not found:
            return []
        from inspector.findings.mandates import verify_use  # noqa: PLC0415 - loads cryptography

        return [(use, verify_use(use, at, self.keys)) for use in found]

    def mandate_findings(self, found: Iterable[tuple[Use, list[Verified]]], version: str) -> tuple[Finding, ...]:
        """Return the findings about what was verified and is not valid."""
        from inspector.findings.extensions import MANDATES, MandateFacts  # noqa: PLC0415 - see the first line

        findings: list[Finding] = []
        for use, results in found:
            flaws = tuple((each.flaw, f"{each.name}, {each.what}: {each.reason}") for each in results if each.flaw)
            findings += MANDATES.judge(MandateFacts(version, use.pointer, flaws)) if flaws else ()
        return tuple(findings)

    def login(self, facts: LoginFacts) -> tuple[Finding, ...]:
        """Check a step of a login."""
        if not self.on:
            return ()
        from inspector.findings.authorization.check import check  # noqa: PLC0415 - see the first line

        return check(facts)


def lint(raw: bytes, url: str = "", headers: Headers = (), version: str = "") -> Lint:
    """Lint the bytes of a card; `url` is where it was served with `headers`, `""` if it was read from a file."""
    from inspector.findings.card.facts import Served  # noqa: PLC0415 - see the first line
    from inspector.findings.lint import lint  # noqa: PLC0415 - see the first line

    return lint(raw, Served(url, {name.lower(): value for name, value in headers}), version)
