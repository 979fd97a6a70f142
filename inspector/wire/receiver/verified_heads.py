"""Heads that were good before: senders repeat theirs, so what one allows to say is worked out once for each."""

from __future__ import annotations

from typing import NamedTuple

from inspector.wire.receiver.delivery import RequestHead
from inspector.wire.receiver.registration import Proof, Registration
from inspector.wire.receiver.verdict import Verdict

Spelled = tuple[str, str, tuple[tuple[bytes, bytes], ...]]
"""A head as aiohttp gives it: method, target, headers."""
_MOST = 256
_ONCE = (Proof.JWT, Proof.HMAC)
"""Proofs that are made for one delivery: what they allow to say is said of no other."""


class Examined(NamedTuple):
    """A head with the registration that it is for, and what it allows to say: the status and words that refuse it.

    `declared` is how many bytes of body it announces, `asks` whether it waits to be told to send them.
    """

    head: RequestHead
    registration: Registration | None
    verdict: Verdict
    status: int
    refused: str
    declared: int
    asks: bool


class Heads:
    """The last heads that nothing spoke against, each with what it allows to say, as long as `clear` is not called.

    Those that were refused are not kept, so that strangers cannot make it grow or forget.
    """

    def __init__(self) -> None:
        self._known: dict[Spelled, Examined] = {}

    def get(self, spelled: Spelled) -> Examined | None:
        """Return what is known of a head."""
        return self._known.get(spelled)

    def keep(self, spelled: Spelled, examined: Examined) -> None:
        """Remember a head, where the same one will be as good the next time."""
        registration = examined.registration
        if examined.refused or registration is None or registration.demand.proof in _ONCE:
            return
        if len(self._known) >= _MOST:
            del self._known[next(iter(self._known))]
        self._known[spelled] = examined

    def clear(self) -> None:
        """Forget all of them, because registrations changed."""
        self._known.clear()
