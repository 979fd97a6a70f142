"""Compare, decode and keep secrets."""

from __future__ import annotations

import base64
import binascii
import secrets
import time
from hmac import compare_digest
from typing import Generic, TypeVar

_MAX_VALUES = 10_000

ValueT = TypeVar("ValueT")


class ExpiringValues(Generic[ValueT]):
    """Values by a secret key, valid for some seconds; the oldest are removed when there are too many."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._values: dict[str, tuple[float, ValueT]] = {}

    def add(self, value: ValueT) -> str:
        """Add a value under a new secret key, and return the key."""
        name = secrets.token_urlsafe(24)
        self.put(name, value)
        return name

    def put(self, name: str, value: ValueT) -> None:
        """Add a value."""
        self._values[name] = (time.monotonic() + self._seconds, value)
        if len(self._values) > _MAX_VALUES:
            del self._values[next(iter(self._values))]

    def get(self, name: str) -> ValueT | None:
        """Return a value, None if it does not exist or has expired."""
        until, value = self._values.get(name, (0.0, None))
        return value if until > time.monotonic() else None

    def pop(self, name: str) -> ValueT | None:
        """Remove a value and return it, None if it does not exist or has expired."""
        value = self.get(name)
        self._values.pop(name, None)
        return value


def same(first: str, second: str) -> bool:
    """Compare secrets in constant time."""
    return compare_digest(first.encode(errors="replace"), second.encode(errors="replace"))


def decoded(text: str) -> str:
    """Decode Basic credentials, `""` if they are not valid base64 of UTF-8."""
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
