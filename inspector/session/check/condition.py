"""The condition of `repeat`: `path == value`, `path != value` or `path in [value, ...]` (ACTS section 9.1)."""

from __future__ import annotations

import re
from typing import NamedTuple

from inspector.protocol.model import Json
from inspector.session.check.matching import mismatches
from inspector.session.check.paths import parse, value_at

_FORM = re.compile(r"(\S+?)(?:\s*+(==|!=)|\s++in(?![^\s\[]))\s*+(.+)", re.DOTALL)


class Condition(NamedTuple):
    """A condition: whether the value at a path is one of some values, or is not."""

    path: str
    values: tuple[Json, ...]
    negated: bool

    @classmethod
    def of(cls, text: str) -> Condition:
        """Parse a condition; raises ValueError."""
        found = _FORM.fullmatch(text.strip())
        if found is None:
            raise ValueError(f"the condition {text!r} is not `path == value`, `path != value` or `path in [values]`")
        path, operator, value = found.groups()
        parse(path)
        if operator is not None:
            return cls(path, (_literal(value),), operator == "!=")
        if not (value.startswith("[") and value.endswith("]")):
            raise ValueError(f"the condition {text!r} needs a list after in: [A, B]")
        return cls(path, tuple(_literal(item) for item in value[1:-1].split(",")), negated=False)

    def is_met(self, root: Json) -> bool:
        """Return whether a response meets the condition."""
        actual = value_at(root, self.path)
        return any(not mismatches(value, actual) for value in self.values) is not self.negated


def _literal(text: str) -> Json:
    """Return the value of a literal: true, false, null, a number or a text with or without quotes."""
    word = text.strip()
    if word in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[word]
    if re.fullmatch(r"-?\d+(\.\d+)?", word):
        return float(word) if "." in word else int(word)
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word
