"""What the user has to know about the states of a task: that the agent waits, or that a transition is illegal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from inspector.protocol.assemble import Move
from inspector.protocol.lifecycle import INTERRUPTED, State, is_terminal, may_follow, short
from inspector.text.sanitise import clean_line
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.key_hints import with_keys
from inspector.tui.render.text_lines import Piece

_STATE = 24
"""The largest number of cells for an unknown state."""


def illegal(moves: Sequence[Move]) -> list[int]:
    """Return the indices of the states that may not follow the state before."""
    pairs = enumerate(((before.state, after.state) for before, after in pairwise(moves)), 1)
    return [index for index, (before, after) in pairs if is_terminal(before) or not may_follow(before, after)]


def notice(
    moves: Sequence[Move],
    glyphs: Glyphs,
    *,
    past: bool = False,
    writing: bool = False,
    replying: bool = False,
    listening: bool = False,
) -> list[Piece]:
    """Return what the user has to know about the states: that the agent waits, or the last illegal transition.

    In the `past` no answer is possible. While the user is `writing`, letters are text; `replying` is whether the
    message is the answer, `listening` whether a stream of the task is open.
    """
    if not moves:
        return []
    if past and moves[-1].state in INTERRUPTED:
        return [("the agent was waiting for you here", "$state-warning")]
    if moves[-1].state in INTERRUPTED:
        template = _waiting(moves[-1].state, writing=writing, replying=replying, listening=listening)
        return with_keys(template, "$state-warning")
    if wrong := illegal(moves):
        before, after = (short(moves[index].state) for index in (wrong[-1] - 1, wrong[-1]))
        text = f"illegal transition: {clean_line(before, _STATE)} {glyphs.sent} {clean_line(after, _STATE)}"
        more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        return [(f"{glyphs.cross} {text}{more}", "$state-bad")]
    return []


def _waiting(state: str, *, writing: bool, replying: bool, listening: bool) -> str:
    """Return that the agent waits, and the commands that help where the focus is."""
    first = "{back} " if writing else ""
    if state == State.AUTH_REQUIRED:
        then = "listening" if listening else f"{first}{{subscribe}} listen again"
        return f"the agent waits for an authorization: do what its message asks, {then}"
    reply = "" if writing and not replying else "{open} reply, " if writing else "{write} reply, "
    return f"the agent waits for your input: {reply}{first}{{cancel}} cancel{'' if writing else ' task'}"
