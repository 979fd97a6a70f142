"""The fingerprint of a push body: its bytes without good timestamps, texts and message ids.

Agents report the same thing with other times, texts and message ids all day. `_VARYING` is the definition of
`Scope.BODY_SHAPE`: a check whose result depends on the text of a part, on the value of a message id, or on more of a
good timestamp than its form has to be declared with `Scope.DELIVERY`.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Self

_DATE = rb"[1-9][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
_TIME = rb"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?"
_VARYING = re.compile(
    rb'("(?:timestamp"\s*:\s*"' + _DATE + b"T" + _TIME + rb'Z"'
    rb'|messageId"\s*:\s*"[0-9A-Za-z-]{1,64}"'
    # The text has to have content that every reader takes for non-blank; the lookahead avoids reading a text twice.
    rb'|text"\s*:\s*"(?=[^"\\]*[!#-\[\]-~])(?:[^"\\]|\\.)*+"))',
    re.DOTALL,
)
_NAME_PREFIX = 3
"""How many bytes of a varying member stay: a quote and two letters, which distinguish the three names."""
_LONGEST = 64 * 1024
_LONGEST_CONSTANT = 2 * 1024
"""Longer bodies and longer constants have no fingerprint."""


class Fingerprint(NamedTuple):
    """The constant bytes of a JSON value, and the varying members: good timestamps, message ids and texts, in order.

    `constant` is `b""` if the value is too long to be recognised.
    """

    constant: bytes
    varying: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, body: bytes) -> Self:
        """Split a body."""
        if len(body) > _LONGEST:
            return cls(b"")
        pieces = _VARYING.split(body)
        varying = pieces[1::2]
        pieces[1::2] = [piece[:_NAME_PREFIX] for piece in varying]
        constant = b"".join(pieces)
        return cls(constant if len(constant) <= _LONGEST_CONSTANT else b"", tuple(varying))
