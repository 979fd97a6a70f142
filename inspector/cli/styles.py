"""The styles of text output: roles with the same meanings as in the app's themes, written as SGR codes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple, TextIO, TypeAlias

from inspector.protocol.lifecycle import INTERRUPTED, TERMINAL, State, short
from inspector.text.sanitise import Cleaner, clean

WHEN = ("auto", "always", "never")
"""The values of `--color`."""
MARKS = {True: "+", False: "-", None: "?"}
"""The result of a check: passed, failed, unknown."""


class Role(StrEnum):
    """The meaning of a styled text. The value is an SGR code, whose colour is a setting of the terminal."""

    GOOD = "32"
    WARNING = "33"
    BAD = "31"
    SOFT = "2"
    HEADING = "1"


class Styled(NamedTuple):
    """A text with a role; None is the normal style."""

    text: str
    role: Role | None


Piece: TypeAlias = str | Styled
"""A part of a line."""

_SEVERITIES = {"error": Role.BAD, "warning": Role.WARNING, "hint": Role.SOFT}
_RESULTS = {True: Role.GOOD, False: Role.BAD, None: Role.WARNING}


def is_colored(stream: TextIO, when: str) -> bool:
    """Return whether text on a stream is styled; `--color always` and `never` have precedence over the environment."""
    if when in ("always", "never"):
        return when == "always"
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def render(pieces: Iterable[Piece], *, colored: bool) -> str:
    """Return pieces as one sanitised line, with escape codes of our own only if `colored`."""
    parts = [Styled(piece, None) if isinstance(piece, str) else piece for piece in pieces]
    if len(parts) == 1:
        return paint(clean(parts[0].text, emoji=True), parts[0].role, colored=colored)
    cleaner = Cleaner(emoji=True)  # one for all pieces, so that their borders do not change the text
    return "".join(paint(cleaner.feed(part.text), part.role, colored=colored) for part in parts)


def paint(text: str, role: Role | None, *, colored: bool) -> str:
    """Return sanitised text with the escape codes of its role."""
    return f"\x1b[{role.value}m{text}\x1b[0m" if colored and role is not None and text else text


def state(name: str) -> Styled:
    """Return the short name of a task state with its role."""
    if name == State.COMPLETED:
        return Styled(short(name), Role.GOOD)
    if name in INTERRUPTED or name == State.CANCELED:
        return Styled(short(name), Role.WARNING)
    return Styled(short(name), Role.BAD if name in TERMINAL else None)


def mark(passed: bool | None) -> Styled:
    """Return the mark of a check with its role."""
    return Styled(MARKS[passed], _RESULTS[passed])


def severity(name: str) -> Styled:
    """Return the name of a severity with its role."""
    return Styled(name, _SEVERITIES.get(name))
