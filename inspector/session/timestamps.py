"""The times that agents write."""

from __future__ import annotations

from datetime import datetime


def seconds_of(text: str | None) -> float | None:
    """Return a time in seconds since 1970, None for what is none, or has no zone and so may mean any."""
    try:
        stamp = datetime.fromisoformat(text or "")
        return stamp.timestamp() if stamp.tzinfo else None
    except (ValueError, OverflowError):
        return None
