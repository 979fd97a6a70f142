"""The states of a task in a line, with the illegal transitions, and who has to act next."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rich.cells import cell_len

from inspector.protocol.assemble import Move
from inspector.protocol.lifecycle import INTERRUPTED, State, is_terminal, may_follow, short
from inspector.text.sanitise import clean_line
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.rows import state_style
from inspector.tui.render.text_lines import Piece
from inspector.tui.render.times import relative

_STYLES = {
    "feed--good": "$state-good",
    "feed--warning": "$state-warning",
    "feed--bad": "$state-bad",
    "feed--text": "$foreground",
}
_WAITING: dict[str, tuple[str, str]] = {
    State.INPUT_REQUIRED: ("you", "i answers, ctrl+k cancels the task"),
    State.AUTH_REQUIRED: ("credentials", "give them where it says, then s listens on"),
}
_QUOTED = 40
_STATE = 24
"""The most cells that an unknown state is shown with."""


def illegal(moves: Sequence[Move]) -> list[int]:
    """Return the indices of the transitions that may not follow the one before them."""
    pairs = ((one.state, after.state) for one, after in pairwise(moves))
    return [place for place, (one, after) in enumerate(pairs, 1) if is_terminal(one) or not may_follow(one, after)]


def lane(moves: Sequence[Move], glyphs: Glyphs, width: int) -> list[Piece]:
    """Return the states with the seconds since the first, in at most `width` cells, without the oldest if necessary.

    The styles are those of content. The last state is highlighted, an illegal transition is marked.
    """
    wrong = set(illegal(moves))
    began = moves[0].at if moves else 0.0
    groups: list[list[Piece]] = []
    for place, move in enumerate(moves):
        last = place == len(moves) - 1
        colour = _STYLES[state_style(move.state)]
        said = f"{glyphs.state_glyph(move.state)} {clean_line(short(move.state), _STATE)}"
        arrow = f" {glyphs.cross}{glyphs.sent} " if place in wrong else f" {glyphs.sent} " if place else ""
        groups.append(
            [
                (arrow, "$state-bad" if place in wrong else "$wire-quiet"),
                (f" {said} " if last else said, f"bold reverse {colour}" if last else colour),
                (f" {relative(move.at - began)}", "$text-soft"),
            ]
        )
    return _fit(groups, width)


def _fit(groups: list[list[Piece]], width: int) -> list[Piece]:
    """Replace the oldest groups for which there is no room with their number."""
    widths = [sum(cell_len(text) for text, _ in group) for group in groups]
    left = 0
    while left < len(groups) - 1 and sum(widths[left:]) + (len(f"…{left}") if left else 0) > width:
        left += 1
    head: list[Piece] = [(f"…{left}", "$wire-quiet")] if left else []
    return [*head, *(piece for group in groups[left:] for piece in group if piece[0])]


def lane_text(moves: Sequence[Move], glyphs: Glyphs) -> str:
    """Return the states as plain text, the last one in brackets, an illegal transition marked."""
    wrong = set(illegal(moves))
    said = []
    for place, move in enumerate(moves):
        arrow = f"  {glyphs.cross if place in wrong else ''}{glyphs.sent}  " if place else ""
        state = f"{glyphs.state_glyph(move.state)} {short(move.state)}"
        state = f"[{state}]" if place == len(moves) - 1 else state
        said.append(f"{arrow}{state} {relative(move.at - moves[0].at)}")
    return "".join(said)


def next_word(
    moves: Sequence[Move], answers: Sequence[tuple[float, str]], glyphs: Glyphs, *, past: bool = False
) -> list[Piece]:
    """Return who has to act next, else the last illegal transition, else the last question and its answer.

    `answers` are the messages that the user sent to the task, with their times; in the `past` no answer is possible.
    """
    if not moves:
        return []
    began = moves[0].at
    if past and moves[-1].state in INTERRUPTED:
        return [("the agent waited for you here", "$state-warning")]
    if waiting := _WAITING.get(moves[-1].state):
        return [(f"the agent waits for {waiting[0]}: ", "bold $state-warning"), (waiting[1], "")]
    if wrong := illegal(moves):
        before, after = (short(moves[place].state) for place in (wrong[-1] - 1, wrong[-1]))
        told = f"{clean_line(before, _STATE)} {glyphs.sent} {clean_line(after, _STATE)} is no legal move"
        more = f", nor are {len(wrong) - 1} more" if len(wrong) > 1 else ""
        return [(f"{glyphs.cross} ", "$state-bad"), (told + more, "$state-bad")]
    asked = [move for move in moves if move.state in INTERRUPTED]
    if not asked:
        return []
    question = (f"the agent asked {relative(asked[-1].at - began)}", "$text-soft")
    for at, text in answers:
        if at >= asked[-1].at:
            answer = (f"   you answered {relative(at - began)}  ", "$text-soft")
            return [question, answer, (clean_line(text, _QUOTED), "$wire-sent")]
    return [question, ("   it went on without an answer from here", "$text-soft")]
