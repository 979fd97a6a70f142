"""The lane of a task: the states that it passed through, the illegal moves among them, and who has the next word."""

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
_QUOTED = 40
_STATE = 24
"""How many cells of a state are shown that no specification names."""


def illegal(moves: Sequence[Move]) -> list[int]:
    """Return the places of the moves that may not follow the one before them."""
    pairs = enumerate(pairwise(moves), 1)
    return [place for place, (one, next_) in pairs if not _legal(one.state, next_.state)]


def _legal(before: str, after: str) -> bool:
    return not is_terminal(before) and may_follow(before, after)


def lane(moves: Sequence[Move], glyphs: Glyphs, width: int) -> list[Piece]:
    """Return the states with the seconds since the first, in at most `width` cells; the oldest are left out.

    The styles are those of content, not of a view's lines. The last state stands out, an illegal move is marked.
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
    """Leave out as many of the oldest as there is no room for, and say how many."""
    widths = [sum(cell_len(text) for text, _ in group) for group in groups]
    left = 0
    while left < len(groups) - 1 and sum(widths[left:]) + (len(f"…{left}") if left else 0) > width:
        left += 1
    head: list[Piece] = [(f"…{left}", "$wire-quiet")] if left else []
    return [*head, *(piece for group in groups[left:] for piece in group if piece[0])]


def lane_text(moves: Sequence[Move], glyphs: Glyphs) -> str:
    """Return the states in plain text, the last one in brackets, an illegal move marked."""
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
    """Return whose turn it is, or what was asked and answered last, or which move was illegal; nothing where all flows.

    `answers` are what the user sent to the task, with the time of each; in the `past` nobody can answer any more.
    """
    if not moves:
        return []
    began = moves[0].at
    if past and moves[-1].state in INTERRUPTED:
        return [("the agent waited for you here", "$state-warning")]
    if moves[-1].state == State.INPUT_REQUIRED:
        return [("the agent waits for you: ", "bold $state-warning"), ("i answers, ctrl+k cancels the task", "")]
    if moves[-1].state == State.AUTH_REQUIRED:
        return [
            ("the agent waits for credentials: ", "bold $state-warning"),
            ("give them where it says, then s listens on", ""),
        ]
    if wrong := illegal(moves):
        before, after = (short(moves[place].state) for place in (wrong[-1] - 1, wrong[-1]))
        told = f"{clean_line(before, _STATE)} {glyphs.sent} {clean_line(after, _STATE)} is no legal move"
        more = f", nor are {len(wrong) - 1} more" if len(wrong) > 1 else ""
        return [(f"{glyphs.cross} ", "$state-bad"), (told + more, "$state-bad")]
    asked = [move for move in moves if move.state in INTERRUPTED]
    if not asked:
        return []
    pieces: list[Piece] = [(f"the agent asked {relative(asked[-1].at - began)}", "$text-soft")]
    answered = next(((at, text) for at, text in answers if at >= asked[-1].at), None)
    if answered is None:
        return [*pieces, ("   it went on without an answer from here", "$text-soft")]
    at, text = answered
    return [
        *pieces,
        (f"   you answered {relative(at - began)}  ", "$text-soft"),
        (clean_line(text, _QUOTED), "$wire-sent"),
    ]
