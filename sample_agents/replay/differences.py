"""Compare a recorded JSON value with a received value: masked texts in the recording match every text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from inspector.capture.secret_locations import MASK
from inspector.lazy_dataclass import dataclass
from inspector.protocol.jsonvalue import dump
from inspector.protocol.model import Json

_QUOTED = 60
"""How many characters of a value a difference quotes."""
_BEFORE = 20
"""How many equal characters are quoted before the first different character of a long text."""
_COMPARED = 300
"""How many characters of two texts are compared to rank them."""
_FILE = re.compile(r"\{\{file:.*\}\}", re.DOTALL)
"""What is recorded in place of the content of a large file."""


class _Missing:
    """The type of `MISSING`."""


MISSING: Final = _Missing()
"""The value of a member that does not exist."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between a recorded and a received request: where it is, and both values."""

    where: str
    recorded: Json | _Missing
    sent: Json | _Missing

    @property
    def words(self) -> str:
        """Return the difference as a phrase."""
        at = 0
        if isinstance(self.recorded, str) and isinstance(self.sent, str):
            pairs = enumerate(zip(self.recorded, self.sent, strict=False))
            at = next((index for index, (ours, sent) in pairs if ours != sent), min(len(self.recorded), len(self.sent)))
        return f"{self.where}: recorded {_quoted(self.recorded, at)}, received {_quoted(self.sent, at)}"

    @property
    def distance(self) -> float:
        """Return how different the values are: from 0 for similar texts to 1."""
        if not isinstance(self.recorded, str) or not isinstance(self.sent, str):
            return 1.0
        return 1.0 - SequenceMatcher(None, self.recorded[:_COMPARED], self.sent[:_COMPARED]).ratio()


def differences(recorded: Json, sent: Json, where: str = "") -> Iterator[Difference]:
    """Yield the differences between two values; `where` is the path of the values."""
    match recorded, sent:
        case dict(), dict():
            for name in [*recorded, *(name for name in sent if name not in recorded)]:
                path = f"{where}.{name}" if where else name
                yield from differences(recorded.get(name, MISSING), sent.get(name, MISSING), path)
        case list(), list():
            for index in range(max(len(recorded), len(sent))):
                ours, theirs = (values[index] if index < len(values) else MISSING for values in (recorded, sent))
                yield from differences(ours, theirs, f"{where}[{index}]")
        case str(), str():
            if not matches_text(recorded, sent):
                yield Difference(where, recorded, sent)
        case _:
            # A secret number is recorded as a masked text.
            if recorded != MASK and (type(recorded) is not type(sent) or recorded != sent):
                yield Difference(where, recorded, sent)


def matches_text(recorded: str, sent: str) -> bool:
    """Return whether two texts are equal; a masked part of the recorded text matches any text."""
    if recorded == sent:
        return True
    if MASK not in recorded:
        return _FILE.fullmatch(recorded) is not None
    first, *middle, last = recorded.split(MASK)
    if len(sent) < len(first) + len(last) or not (sent.startswith(first) and sent.endswith(last)):
        return False
    at, end = len(first), len(sent) - len(last)
    for piece in middle:
        at = sent.find(piece, at, end) + len(piece)
        if at < len(piece):
            return False
    return True


def has_masks(value: Json) -> bool:
    """Return whether a recorded value has a text that matches other texts, too."""
    match value:
        case str():
            return MASK in value or _FILE.fullmatch(value) is not None
        case dict():
            return any(map(has_masks, value.values()))
        case list():
            return any(map(has_masks, value))
        case _:
            return False


def _quoted(value: Json | _Missing, at: int) -> str:
    """Return a value as JSON; of a long value, the part around the character `at`."""
    if isinstance(value, _Missing) or value in ("", None, []):
        return "none"
    text = value if isinstance(value, str) else dump(value).decode()
    start = max(0, at - _BEFORE)
    piece = text[start : start + _QUOTED]
    shown = dump(piece).decode() if isinstance(value, str) else piece
    return f"{'…' if start else ''}{shown}{'…' if start + _QUOTED < len(text) else ''}"
