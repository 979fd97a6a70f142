"""The states of a task in a line, with the illegal transitions, and a notice about them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rich.cells import cell_len

from inspector.protocol.assemble import Move
from inspector.protocol.lifecycle import INTERRUPTED, State, is_terminal, may_follow, short
from inspector.text.sanitise import clean_line
from inspector.tui.keys import key_of
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.rows import state_colour
from inspector.tui.render.text_lines import Piece
from inspector.tui.render.times import relative

_STATE = 24
"""The largest number of cells for an unknown state."""


def illegal(moves: Sequence[Move]) -> list[int]:
    """Return the indices of the states that may not follow the state before."""
    pairs = enumerate(((before.state, after.state) for before, after in pairwise(moves)), 1)
    return [index for index, (before, after) in pairs if is_terminal(before) or not may_follow(before, after)]


def state_line(moves: Sequence[Move], glyphs: Glyphs, width: int) -> list[Piece]:
    """Return the states with the seconds since the first, in at most `width` cells, without the oldest if necessary.

    The styles are those of Textual's `Content`. The last state is highlighted, an illegal transition is marked.
    """
    wrong = set(illegal(moves))
    began = moves[0].at if moves else 0.0
    groups: list[list[Piece]] = []
    for index, move in enumerate(moves):
        last = index == len(moves) - 1
        colour = state_colour(move.state)
        text = f"{glyphs.state_glyph(move.state)} {clean_line(short(move.state), _STATE)}"
        arrow = f" {glyphs.cross}{glyphs.sent} " if index in wrong else f" {glyphs.sent} " if index else ""
        groups.append(
            [
                (arrow, "$state-bad" if index in wrong else "$wire-quiet"),
                (f" {text} " if last else text, f"bold reverse {colour}" if last else colour),
                (f" {relative(move.at - began)}", "$text-soft"),
            ]
        )
    return _fit(groups, width)


def _fit(groups: list[list[Piece]], width: int) -> list[Piece]:
    """If there is no room for all groups of states, show only the number of the oldest groups."""
    widths = [sum(cell_len(text) for text, _ in group) for group in groups]
    left = 0
    while left < len(groups) - 1 and sum(widths[left:]) + (len(f"…{left}") if left else 0) > width:
        left += 1
    head: list[Piece] = [(f"…{left}", "$wire-quiet")] if left else []
    return [*head, *(piece for group in groups[left:] for piece in group if piece[0])]


def state_text(moves: Sequence[Move], glyphs: Glyphs) -> str:
    """Return the states as plain text, the last state in brackets, illegal transitions marked."""
    wrong = set(illegal(moves))
    texts = []
    for index, move in enumerate(moves):
        arrow = f"  {glyphs.cross if index in wrong else ''}{glyphs.sent}  " if index else ""
        state = f"{glyphs.state_glyph(move.state)} {short(move.state)}"
        state = f"[{state}]" if index == len(moves) - 1 else state
        texts.append(f"{arrow}{state} {relative(move.at - moves[0].at)}")
    return "".join(texts)


def notice(
    moves: Sequence[Move], glyphs: Glyphs, *, past: bool = False, writing: bool = False, replying: bool = False
) -> list[Piece]:
    """Return what the user has to know about the states: that the agent waits, or the last illegal transition.

    In the `past` no answer is possible. While the user is `writing`, letters are text; `replying` is whether the
    message is the answer.
    """
    if not moves:
        return []
    if past and moves[-1].state in INTERRUPTED:
        return [("the agent was waiting for you here", "$state-warning")]
    if moves[-1].state in INTERRUPTED:
        return [(_waiting(moves[-1].state, writing=writing, replying=replying), "$state-warning")]
    if wrong := illegal(moves):
        before, after = (short(moves[index].state) for index in (wrong[-1] - 1, wrong[-1]))
        text = f"illegal transition: {clean_line(before, _STATE)} {glyphs.sent} {clean_line(after, _STATE)}"
        more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        return [(f"{glyphs.cross} {text}{more}", "$state-bad")]
    return []


def _waiting(state: str, *, writing: bool, replying: bool) -> str:
    """Return that the agent waits, and the keys that help where the focus is."""
    first = f"{key_of('back')} " if writing else ""
    if state == State.AUTH_REQUIRED:
        return f"the agent waits for credentials: enter them where it asks, {first}{key_of('subscribe')} subscribe"
    reply = "" if writing and not replying else "enter reply, " if writing else f"{key_of('write')} reply, "
    return f"the agent waits for your input: {reply}{first}{key_of('cancel')} cancel{'' if writing else ' task'}"
