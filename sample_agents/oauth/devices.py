"""Device codes: requested by a program, allowed by its user in a browser (RFC 8628)."""

from __future__ import annotations

import secrets
import time
from enum import StrEnum

from inspector.lazy_dataclass import dataclass
from inspector.protocol.model import Json

from ..secret_values import ExpiringValues
from .tokens import Grant

_SECONDS = 600
_SLOW_DOWN_SECONDS = 5
"""By how many seconds `slow_down` increases the interval (section 3.5)."""


class Decision(StrEnum):
    """What the user answered; `PENDING` before the answer."""

    PENDING = "pending"
    ALLOWED = "allowed"
    DENIED = "denied"


@dataclass(slots=True)
class Device:
    """A program that waits for its user; `polls` counts its token requests."""

    grant: Grant
    interval: float
    decision: Decision = Decision.PENDING
    polls: int = 0
    polled_at: float = 0.0

    def poll(self) -> str:
        """Count a token request and return its error, `""` if the user has allowed it."""
        now = time.monotonic()
        too_early = self.polls > 0 and now - self.polled_at < self.interval
        self.polls += 1
        self.polled_at = now
        if too_early:
            self.interval += _SLOW_DOWN_SECONDS
            return "slow_down"
        errors = {Decision.PENDING: "authorization_pending", Decision.DENIED: "access_denied"}
        return errors.get(self.decision, "")


class Devices:
    """The devices that wait; clients have to wait `interval` seconds between two token requests."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._by_code: ExpiringValues[Device] = ExpiringValues(_SECONDS)
        self._by_user_code: ExpiringValues[Device] = ExpiringValues(_SECONDS)

    def add(self, grant: Grant) -> dict[str, Json]:
        """Add a device and return the members of the response that are about its codes."""
        device, digits = Device(grant, self._interval), secrets.token_hex(4).upper()
        self._by_user_code.put(digits, device)
        return {
            "device_code": self._by_code.add(device),
            "user_code": f"{digits[:4]}-{digits[4:]}",
            "expires_in": _SECONDS,
            "interval": self._interval,
        }

    def find(self, code: str) -> Device | None:
        """Return the device with a device code, None if it does not exist or has expired."""
        return self._by_code.get(code)

    def finish(self, code: str) -> None:
        """Use up a device code."""
        self._by_code.pop(code)

    def decide(self, user_code: str, decision: Decision) -> bool:
        """Store the answer of the user; return whether the code exists. Spaces, dashes and case do not matter."""
        device = self._by_user_code.pop("".join(filter(str.isalnum, user_code)).upper())
        if device is not None:
            device.decision = decision
        return device is not None
