"""Pushes that need not be judged again: those which differ from a sound one in nothing that a rule about objects sees.

An agent says the same thing with other times, other words and other message ids all day. What is left of a body
without those is its skeleton, and this is the one place that says what they are. A rule about objects that looks at the
words of a part, at which message id it is, or further into a good timestamp than its form, has to take that out of
`_VARYING`.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Self

from inspector.protocol.jsonvalue import parse

_DATE = rb"[1-9][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
_TIME = rb"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?"
_VARYING = re.compile(
    rb'("(?:timestamp"\s*:\s*"' + _DATE + b"T" + _TIME + rb'Z"'
    rb'|messageId"\s*:\s*"[0-9A-Za-z-]{1,64}"'
    # Some content of which no reader thinks that it is blank, looked for ahead: a text without an end is read once.
    rb'|text"\s*:\s*"(?=[^"\\]*[!#-\[\]-~])(?:[^"\\]|\\.)*+"))',
    re.DOTALL,
)
_TOLD_APART = 3
"""So much of what may differ stays, a quote and two letters, which tells the three apart."""
_LONGEST = 64 * 1024
_LONGEST_KEPT = 2 * 1024
"""Bodies and skeletons beyond this are judged each time."""
_MOST = 512


class Skeleton(NamedTuple):
    """A JSON value's bytes without what may differ, and that: good timestamps, message ids and texts, in order.

    `bones` is `b""` where the value, or its skeleton, is too long to be known again.
    """

    bones: bytes
    varying: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, body: bytes) -> Self:
        """Take a body apart."""
        if len(body) > _LONGEST:
            return cls(b"")
        pieces = _VARYING.split(body)
        varying = pieces[1::2]
        pieces[1::2] = [piece[:_TOLD_APART] for piece in varying]
        bones = b"".join(pieces)
        return cls(bones if len(bones) <= _LONGEST_KEPT else b"", tuple(varying))

    def members(self) -> dict[str, str] | None:
        """Return what may differ by the names of the members, None where one is there twice or says what is no JSON."""
        told: dict[str, str] = {}
        for piece in self.varying:
            _, name, value = piece.split(b'"', 2)
            said = parse(value.partition(b":")[2])
            if not isinstance(said, str):
                return None
            told[name.decode()] = said
        return told if len(told) == len(self.varying) else None


class Sound:
    """Remembers the skeletons of the last pushes that broke no rule, a few hundred of them."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, bytes], None] = {}

    def holds(self, skeleton: Skeleton, shape: str) -> bool:
        """Tell whether a body that was read in this generation's shape has the skeleton of one that was sound."""
        return (shape, skeleton.bones) in self._known

    def learn(self, skeleton: Skeleton, shape: str) -> None:
        """Take in a body that was judged in full and broke no rule."""
        if not skeleton.bones:
            return
        if len(self._known) >= _MOST:
            del self._known[next(iter(self._known))]
        self._known[shape, skeleton.bones] = None
