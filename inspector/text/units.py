"""Sizes and times as text."""

from __future__ import annotations

from datetime import datetime

_UNITS = ("kB", "MB", "GB", "TB")


def size(count: int) -> str:
    """Return a number of bytes with two or three digits and a unit: `812 B`, `1.2 kB`, `31 kB`, `4.0 MB`."""
    if count < 1000:
        return f"{count} B"
    value, unit = count / 1000, _UNITS[0]
    for bigger in _UNITS[1:]:
        # 999.5 would be rounded to four digits.
        if value < 999.5:
            break
        value, unit = value / 1000, bigger
    return f"{value:.1f} {unit}" if value < 9.95 else f"{value:.0f} {unit}"


def timestamp_seconds(text: str | None) -> float | None:
    """Return an ISO 8601 time in seconds since 1970, None where it is invalid or has no zone."""
    try:
        time = datetime.fromisoformat(text or "")
        return time.timestamp() if time.tzinfo else None
    except (ValueError, OverflowError):
        return None
