"""The lane of states: the last one stands out, illegal moves are marked, the oldest give way."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from inspector.protocol.assemble import Move
from inspector.protocol.lifecycle import State
from inspector.tui.render.glyphs import ASCII, UNICODE
from inspector.tui.render.state_line import illegal, lane, lane_text, next_word


def moves(*states: str) -> list[Move]:
    return [Move(state, 100.0 + place) for place, state in enumerate(states)]


def text(pieces: list[tuple[str, str]]) -> str:
    return "".join(piece for piece, _ in pieces)


DONE = moves(State.SUBMITTED, State.WORKING, State.COMPLETED)


def test_states_stand_with_their_times_and_the_last_one_is_unmistakable():
    pieces = lane(DONE, UNICODE, 80)
    assert text(pieces) == "○ submitted 0.000 → ◐ working 1.000 →  ● completed  2.000"
    assert [piece for piece, style in pieces if "reverse" in style] == [" ● completed "]


def test_plain_text_has_the_last_state_in_brackets():
    assert lane_text(DONE, ASCII) == "o submitted 0.000  >  * working 1.000  >  [# completed] 2.000"
    assert lane_text([], ASCII) == ""


def test_illegal_moves_are_marked():
    wrong = moves(State.WORKING, State.SUBMITTED, State.COMPLETED, State.WORKING)
    assert illegal(wrong) == [1, 3]
    assert [piece for piece, style in lane(wrong, UNICODE, 200) if style == "$state-bad"] == [" ✕→ ", " ✕→ "]
    assert text(next_word(wrong, [], UNICODE)) == "✕ completed → working is no legal move, nor are 1 more"
    assert lane_text(wrong, UNICODE).count("✕→") == 2


@pytest.mark.parametrize("width", range(30, 120, 7))
def test_the_oldest_states_give_way_and_are_counted(width: int):
    long = moves(*[State.WORKING, State.INPUT_REQUIRED] * 20, State.COMPLETED)
    said = text(lane(long, UNICODE, width))
    assert cell_len(said) <= width
    assert said.endswith(" ● completed  40.000")
    left = int(said[1:].split(" ")[0])
    assert said.startswith(f"…{left} →")
    assert said.count("→") == 41 - left


def test_the_current_state_is_shown_in_the_narrowest_place():
    assert "completed" in text(lane(DONE, UNICODE, 3))


def test_a_state_that_an_agent_made_up_is_clean_and_short():
    said = text(lane(moves("\x1b[31m[/]" + "x" * 500), UNICODE, 200))
    assert "\x1b" not in said
    assert len(said) < 60


def test_interrupted_states_say_what_to_do():
    assert "i answers" in text(next_word(moves(State.WORKING, State.INPUT_REQUIRED), [], UNICODE))
    assert "credentials" in text(next_word(moves(State.WORKING, State.AUTH_REQUIRED), [], UNICODE))
    waited = next_word(moves(State.WORKING, State.AUTH_REQUIRED), [], UNICODE, past=True)
    assert text(waited) == "the agent waited for you here"
    assert next_word(DONE, [], UNICODE) == []
    assert next_word([], [], UNICODE) == []


def test_who_asked_and_who_answered_is_told_afterwards():
    over = moves(State.WORKING, State.INPUT_REQUIRED, State.WORKING, State.COMPLETED)
    answered = next_word(over, [(99.0, "the first"), (101.5, "as \x1bPDF")], UNICODE)
    assert text(answered) == "the agent asked 1.000   you answered 1.500  as ␛PDF"
    assert "without an answer" in text(next_word(over, [(99.0, "the first")], UNICODE))
