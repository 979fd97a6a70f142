"""Times and durations as short texts."""

from __future__ import annotations

import time

MINUTES = 100
"""From this number of seconds on, a time is shown in minutes and seconds."""


def relative(seconds: float) -> str:
    """Return a duration without a unit: `0.041`, `8.211`, `93.4`, `12:07`."""
    if seconds < 60:
        return f"{seconds:.3f}"
    if seconds < MINUTES:
        return f"{seconds:.1f}"
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def lasting(seconds: float) -> str:
    """Return a duration with its unit: `0.041 s`, `93.4 s`, `12:07 min`."""
    return f"{relative(seconds)} {'s' if seconds < MINUTES else 'min'}"


def lasting_short(seconds: float) -> str:
    """Return a duration as a short text: `41 ms`, `8.2 s`, `93 s`, `12:07 min`."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < MINUTES:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    return f"{relative(seconds)} min"


def clock(at: float) -> str:
    """Return the local time of day."""
    return time.strftime("%H:%M:%S", time.localtime(at))


def ago(seconds: float) -> str:
    """Return an age in its largest unit: `4 s`, `12 min`, `3 h`, `2 d`."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(0, seconds):.0f} s"
