"""Pushes that need not be judged again: those which differ from a sound one in nothing that a rule about objects sees.

An agent says the same thing with other times, other words and other message ids all day. What is left of a body
without those is its skeleton, and this is the one place that says what they are. A rule about objects that looks at the
words of a part, at which message id it is, or further into a good timestamp than its form, has to take that out of
`_VARYING`.
"""

from __future__ import annotations

import re

_DATE = rb"[1-9][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
_TIME = rb"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?"
_VARYING = re.compile(
    rb'(?:"timestamp"\s*:\s*"' + _DATE + b"T" + _TIME + rb'Z"'
    rb'|"messageId"\s*:\s*"[0-9A-Za-z-]{1,64}"'
    # Some content of which no reader thinks that it is blank.
    rb'|"text"\s*:\s*"[^"\\]*[!#-\[\]-~](?:[^"\\]|\\.)*+")',
    re.DOTALL,
)
_LONGEST = 64 * 1024
_LONGEST_KEPT = 2 * 1024
"""Bodies and skeletons beyond this are judged each time."""
_MOST = 512


class Sound:
    """Remembers the skeletons of the last pushes that broke no rule, a few hundred of them."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, bytes], None] = {}

    def holds(self, body: bytes, shape: str) -> bool:
        """Tell whether a body that was read in this generation's shape has the skeleton of one that was sound."""
        return len(body) <= _LONGEST and (shape, skeleton(body)) in self._known

    def learn(self, body: bytes, shape: str) -> None:
        """Take in a body that was judged in full and broke no rule."""
        if len(body) > _LONGEST or len(bones := skeleton(body)) > _LONGEST_KEPT:
            return
        if len(self._known) >= _MOST:
            del self._known[next(iter(self._known))]
        self._known[shape, bones] = None


def skeleton(body: bytes) -> bytes:
    """Return the bytes of a JSON value without what may differ: good timestamps, message ids and texts."""
    return _VARYING.sub(_bare, body)


def _bare(found: re.Match[bytes]) -> bytes:
    return found[0][:2]  # a quote and the first letter, which tells the three apart
