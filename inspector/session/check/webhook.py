"""The webhook of a test: its registration at our receiver, and what was delivered to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

from inspector.capture.records import DELIVERY, Record
from inspector.findings.finding import Severity
from inspector.protocol.model import Json
from inspector.session.check.document.extension import PushExpectation
from inspector.session.check.matching import Mismatch, mismatches
from inspector.session.session import Session
from inspector.wire.receiver.registration import Proof, WebhookAuth

_SETTLE_SECONDS = 0.2
"""How long to wait for further deliveries after the expected deliveries."""


class TestWebhook:
    """The webhooks of a test at our receiver: `register` adds them, `deliveries` are the records of their deliveries.

    The authentication of a webhook is that of the push configuration which the test sends.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._numbers: set[int] = set()
        self._changed = asyncio.Event()
        self.deliveries: list[Record] = []
        self._unsubscribe: Callable[[], None] | None = None

    async def start(self) -> None:
        """Start the receiver; raises `FaultError` if it cannot listen."""
        await self._session.push.listen()
        self._unsubscribe = self._session.journal.subscribe(self._take)

    def stop(self) -> None:
        """Stop collecting deliveries; the receiver continues for other tests."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    def register(self, config: Json, version: str) -> tuple[str, str]:
        """Register a webhook for a push configuration of the test; return its URL and its token."""
        given = config if isinstance(config, dict) else {}
        authentication = given.get("authentication")
        auth = WebhookAuth(Proof.TOKEN)
        if isinstance(authentication, dict):
            schemes = authentication.get("schemes")
            scheme = authentication.get("scheme") or (schemes[0] if isinstance(schemes, list) and schemes else "Bearer")
            auth = WebhookAuth.of(str(scheme), str(authentication.get("credentials") or ""))
        webhook = self._session.push.register(version=version, auth=auth, token=str(given.get("token") or ""))
        self._numbers.add(webhook.registration.number)
        return webhook.registration.url, webhook.registration.token

    def _take(self, records: Sequence[Record]) -> None:
        for record in records:
            if record.kind is DELIVERY and record.meta.get("registration") in self._numbers:
                self.deliveries.append(record)
                self._changed.set()

    async def check(self, expected: PushExpectation) -> list[Mismatch]:
        """Return how the deliveries differ; wait for as long as more of them may change that."""
        with suppress(TimeoutError):
            async with asyncio.timeout(expected.timeout_ms / 1000):
                while self._differences(expected) or not self._may_be_more(expected):
                    if expected.valid and any(_invalid("", record) for record in self._pushes):
                        break
                    self._changed.clear()
                    await self._changed.wait()
                await asyncio.sleep(_SETTLE_SECONDS)
        return self._differences(expected)

    @property
    def _pushes(self) -> list[Record]:
        return [record for record in self.deliveries if not record.meta.get("challenge")]

    def _may_be_more(self, expected: PushExpectation) -> bool:
        """Return whether another push would not be too many."""
        return not mismatches(expected.count, len(self._pushes) + 1)

    def _differences(self, expected: PushExpectation) -> list[Mismatch]:
        found = self._pushes
        differences = mismatches(expected.count, len(found), "pushes")
        states = [record.state for record in found if record.state]
        if expected.states is not None:
            distinct: list[str] = [state for state, _ in groupby(states)]
            differences += mismatches(_exactly(expected.states), distinct, "states of the pushes")
        if expected.valid:
            for number, record in enumerate(found, 1):
                differences += _invalid(f"push {number}", record)
        return differences


def _invalid(where: str, record: Record) -> list[Mismatch]:
    """Return why a push is not valid: our receiver refused it, or its payload violates A2A."""
    if refused := record.meta.get("refused"):
        return [Mismatch(where, "an accepted push", refused)]
    wrong = (finding for finding in record.findings if finding.severity is Severity.ERROR)
    return [Mismatch(where, "a valid payload", f"{finding.rule}: {finding.seen}") for finding in wrong]


def _exactly(items: list[str]) -> dict[str, Any]:
    return {"count": len(items), "items": items}
