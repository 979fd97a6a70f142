"""The extensions of A2A that are known: where their data is in a payload, and what it means.

`known` has the table. This module is light, so that payloads without such data need no more of the package.
"""

from __future__ import annotations

_MARKERS = (b"a2ui", b"ap2.", b"a2a-samples", b"numbered-events", b"trace_id", b"traceId")
"""One of these is in the bytes of every payload with data of a known extension, unless letters are escaped."""


def may_have_uses(raw: bytes) -> bool:
    """Return whether the bytes of a payload may contain data of a known extension."""
    return any(marker in raw for marker in _MARKERS)
