"""Sizes, durations, rates and timestamps as text, in the same format everywhere."""

from __future__ import annotations

from datetime import datetime

_UNITS = ("kB", "MB", "GB", "TB")


def counted(count: int, noun: str) -> str:
    """Return a number and a noun that has a regular plural: `1 event`, `2,000 events`, `0 events`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


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


def wire_size(count: int) -> str:
    """Return a number of bytes of payloads as they were received, in contrast to the content in them."""
    return f"wire {size(count)}"


def duration(seconds: float) -> str:
    """Return a duration with three digits and its unit: `41 ms`, `8.21 s`, `93.4 s`, `12m07s`, `1h02m`."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.995:
        return f"{seconds:.2f} s"
    if seconds < 99.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m{rest:02d}s" if minutes < 60 else f"{minutes // 60}h{minutes % 60:02d}m"


def rate(a_second: float) -> str:
    """Return a rate with at least two digits: `0.3/s`, `9.9/s`, `52/s`."""
    return f"{a_second:.1f}/s" if a_second < 9.95 else f"{a_second:,.0f}/s"


def timestamp_seconds(text: str | None) -> float | None:
    """Return an ISO 8601 time in seconds since 1970, None where it is invalid or has no zone."""
    try:
        time = datetime.fromisoformat(text or "")
        return time.timestamp() if time.tzinfo else None
    except (ValueError, OverflowError):
        return None
