"""Glyphs: the signs for directions, states and severities, in Unicode and in ASCII."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.findings.finding import Severity
from inspector.lazy_dataclass import dataclass
from inspector.protocol.lifecycle import State

PHASE = 0.25
"""The duration of each phase of the animated sign of a running task, in seconds."""


SEVERITY_COLOURS = {Severity.ERROR: "state-bad", Severity.WARNING: "state-warning", Severity.HINT: "text-soft"}
"""The variable of the colour of each severity, the same in every view."""


@dataclass(frozen=True, slots=True)
class Glyphs:
    """A set of signs, each exactly one cell wide, so that columns do not depend on the set."""

    sent: str
    received: str
    pushed: str
    quiet: str
    poll: str
    states: Mapping[str, str]
    moving: str
    """The phases of the animated sign of a running task; the first is shown without animation."""
    severities: Mapping[Severity, str]
    cursor: str
    open: str
    up: str
    folded: str
    check: str
    cross: str
    bookmark: str
    remark: str
    light: str
    """The sign for the status of the connection."""
    horizontal: str
    thick: str
    """A thick horizontal line."""
    vertical: str
    levels: str
    """The bars of small charts: an empty bar, then eight heights from low to high."""

    def state_glyph(self, state: str) -> str:
        """Return the sign of a task state; for an unknown state, that of the unspecified state."""
        return self.states.get(state, self.states[State.UNSPECIFIED])


UNICODE = Glyphs(
    sent="→",
    received="←",
    pushed="⇐",
    quiet="·",
    poll="⟳",
    states=dict(zip(State, "○◐◔◇●✕⊘⊗?", strict=True)),
    moving="◐◓◑◒",
    severities={Severity.ERROR: "!", Severity.WARNING: "~", Severity.HINT: "i"},
    cursor="▌",
    open="▾",
    up="▴",
    folded="▸",
    check="✓",
    cross="✕",
    bookmark="★",
    remark="✎",
    light="●",
    horizontal="─",
    thick="━",
    vertical="│",
    levels="·▁▂▃▄▅▆▇█",
)
"""The signs for a terminal with a Unicode font."""

ASCII = Glyphs(
    sent=">",
    received="<",
    pushed="=",
    quiet=".",
    poll="@",
    states=dict(zip(State, "o*_a#x-%?", strict=True)),
    moving="*+x+",
    severities={Severity.ERROR: "!", Severity.WARNING: "~", Severity.HINT: "i"},
    cursor="|",
    open="v",
    up="^",
    folded=">",
    check="+",
    cross="x",
    bookmark="^",
    remark='"',
    light="*",
    horizontal="-",
    thick="=",
    vertical="|",
    levels=" ._-=+*%#",
)
"""The signs of `--ascii`."""
