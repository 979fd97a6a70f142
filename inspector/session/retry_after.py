"""When a request may be sent again, as the header Retry-After states it (RFC 9110 section 10.2.3)."""

from __future__ import annotations

from email.utils import parsedate_to_datetime

from inspector.text.units import duration
from inspector.wire.client.observations import Head

_STATUSES = frozenset({429, 503})
_MOST_DIGITS = 9
_MINUTE = 60


def retry_hint(head: Head) -> str:
    """Return when to try again after a response, as a sentence; `""` if the response does not state it."""
    value = head.header("retry-after").strip()
    if head.status not in _STATUSES or not value:
        return ""
    if value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS:
        return _in(float(value))
    try:
        moment = parsedate_to_datetime(value).timestamp()
        sent = parsedate_to_datetime(head.header("date")).timestamp() if head.header("date") else head.at
    except (ValueError, OverflowError):
        return ""
    return _in(moment - sent)


def _in(seconds: float) -> str:
    wait = f"{seconds:.0f} s" if seconds < _MINUTE else duration(seconds)
    return f"Try again in {wait} (Retry-After)." if seconds > 0 else "Try again now (Retry-After)."
