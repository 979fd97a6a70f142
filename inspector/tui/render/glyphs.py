"""Glyphs: the one-cell signs for directions, states and severities, each with an ASCII stand-in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from inspector.findings.finding import Severity
from inspector.protocol.lifecycle import State


@dataclass(frozen=True, slots=True)
class Glyphs:
    """A full set of signs, each exactly one cell wide, so that columns never depend on which set is in use."""

    sent: str
    received: str
    pushed: str
    quiet: str
    poll: str
    states: Mapping[str, str]
    moving: str
    """The phases of the one sign that moves, at a running task; the first stands still where nothing may move."""
    severities: Mapping[Severity, str]
    cursor: str
    open: str
    folded: str
    check: str
    cross: str
    bookmark: str
    remark: str
    light: str
    """The light of a connection."""
    horizontal: str
    vertical: str
    levels: str
    """Nothing, and eight heights from little to much: what small charts are drawn with."""

    def state_glyph(self, state: str) -> str:
        """Return the sign of a task state; one that 1.0 does not name looks like an unspecified one."""
        return self.states.get(state, self.states[State.UNSPECIFIED])


UNICODE = Glyphs(
    sent="→",
    received="←",
    pushed="⇐",
    quiet="·",
    poll="⟳",
    states={
        State.SUBMITTED: "○",
        State.WORKING: "◐",
        State.INPUT_REQUIRED: "◔",
        State.AUTH_REQUIRED: "◇",
        State.COMPLETED: "●",
        State.FAILED: "✕",
        State.CANCELED: "⊘",
        State.REJECTED: "⊗",
        State.UNSPECIFIED: "?",
    },
    moving="◐◓◑◒",
    severities={Severity.ERROR: "!", Severity.WARNING: "~", Severity.HINT: "i"},
    cursor="▌",
    open="▾",
    folded="▸",
    check="✓",
    cross="✕",
    bookmark="★",
    remark="✎",
    light="●",
    horizontal="─",
    vertical="│",
    levels="·▁▂▃▄▅▆▇█",
)
"""The signs of a terminal that has a font."""

ASCII = Glyphs(
    sent=">",
    received="<",
    pushed="=",
    quiet=".",
    poll="@",
    states={
        State.SUBMITTED: "o",
        State.WORKING: "*",
        State.INPUT_REQUIRED: "_",
        State.AUTH_REQUIRED: "a",
        State.COMPLETED: "#",
        State.FAILED: "x",
        State.CANCELED: "-",
        State.REJECTED: "%",
        State.UNSPECIFIED: "?",
    },
    moving="*+x+",
    severities={Severity.ERROR: "!", Severity.WARNING: "~", Severity.HINT: "i"},
    cursor="|",
    open="v",
    folded=">",
    check="+",
    cross="x",
    bookmark="^",
    remark='"',
    light="*",
    horizontal="-",
    vertical="|",
    levels=" ._-=+*%#",
)
"""The signs of `--ascii`."""
