"""The extensions of A2A that are known: where their data is in a payload, and what it means.

`known` has the table. This module is light, so that payloads without such data need no more of the package.
"""

from __future__ import annotations


def may_have_uses(raw: bytes) -> bool:
    """Return whether the bytes of a payload may contain data of a known extension.

    One of these is in the bytes of every payload with such data, unless letters are escaped.
    """
    # Not a loop: this runs for every event.
    return (
        b"a2a-samples" in raw
        or b"a2ui" in raw
        or b"ap2." in raw
        or b"trace_id" in raw
        or b"traceId" in raw
        or b"numbered-events" in raw
    )
