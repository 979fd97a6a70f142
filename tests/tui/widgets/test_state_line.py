"""The line of states: the last is highlighted, illegal transitions are marked, the oldest are left out."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from inspector.protocol.assemble import Move
from inspector.protocol.lifecycle import State
from inspector.tui.render.glyphs import ASCII, UNICODE
from inspector.tui.render.state_line import illegal, notice, state_line, state_text


def moves(*states: str) -> list[Move]:
    return [Move(state, 100.0 + place) for place, state in enumerate(states)]


def text(pieces: list[tuple[str, str]]) -> str:
    return "".join(piece for piece, _ in pieces)


DONE = moves(State.SUBMITTED, State.WORKING, State.COMPLETED)


def test_states_have_times_and_the_last_is_highlighted():
    pieces = state_line(DONE, UNICODE, 80)
    assert text(pieces) == "○ submitted 0.000 → ◐ working 1.000 →  ● completed  2.000"
    assert [piece for piece, style in pieces if "reverse" in style] == [" ● completed "]


def test_plain_text_has_the_last_state_in_brackets():
    assert state_text(DONE, ASCII) == "o submitted 0.000  >  * working 1.000  >  [# completed] 2.000"
    assert state_text([], ASCII) == ""


def test_illegal_transitions_are_marked():
    wrong = moves(State.WORKING, State.SUBMITTED, State.COMPLETED, State.WORKING)
    assert illegal(wrong) == [1, 3]
    assert [piece for piece, style in state_line(wrong, UNICODE, 200) if style == "$state-bad"] == [" ✕→ ", " ✕→ "]
    assert text(notice(wrong, UNICODE)) == "✕ illegal transition: completed → working, and 1 more"
    assert state_text(wrong, UNICODE).count("✕→") == 2


@pytest.mark.parametrize("width", range(30, 120, 7))
def test_the_oldest_states_are_left_out_and_counted(width: int):
    long = moves(*[State.WORKING, State.INPUT_REQUIRED] * 20, State.COMPLETED)
    said = text(state_line(long, UNICODE, width))
    assert cell_len(said) <= width
    assert said.endswith(" ● completed  40.000")
    left = int(said[1:].split(" ")[0])
    assert said.startswith(f"…{left} →")
    assert said.count("→") == 41 - left


def test_the_current_state_is_shown_at_any_width():
    assert "completed" in text(state_line(DONE, UNICODE, 3))


def test_an_unknown_state_is_sanitised_and_cut():
    said = text(state_line(moves("\x1b[31m[/]" + "x" * 500), UNICODE, 200))
    assert "\x1b" not in said
    assert len(said) < 60


def test_only_interrupted_states_have_a_notice_about_the_next_action():
    waiting = text(notice(moves(State.WORKING, State.INPUT_REQUIRED), UNICODE))
    assert waiting == "the agent waits for your input: i reply, x cancel task"
    writing = text(notice(moves(State.AUTH_REQUIRED), UNICODE, writing=True))
    assert writing.endswith("where it asks, escape s subscribe")
    assert "credentials" in text(notice(moves(State.WORKING, State.AUTH_REQUIRED), UNICODE))
    waited = notice(moves(State.WORKING, State.AUTH_REQUIRED), UNICODE, past=True)
    assert text(waited) == "the agent was waiting for you here"
    assert notice(DONE, UNICODE) == []
    assert notice([], UNICODE) == []
