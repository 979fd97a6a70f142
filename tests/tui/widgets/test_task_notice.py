"""The states of a task with their durations, illegal transitions, and the notice about them."""

from __future__ import annotations

from inspector.protocol.assemble import Move
from inspector.protocol.lifecycle import State
from inspector.tui.render.glyphs import UNICODE
from inspector.tui.render.key_hints import KEY_STYLE
from inspector.tui.render.task_notice import illegal, notice
from inspector.tui.render.task_table import state_durations


def moves(*states: str) -> list[Move]:
    return [Move(state, 100.0 + place) for place, state in enumerate(states)]


def text(pieces: list[tuple[str, str]]) -> str:
    return "".join(piece for piece, _ in pieces)


DONE = moves(State.SUBMITTED, State.WORKING, State.COMPLETED)


def durations(*states: str, now: float = 110.0) -> str:
    return text(state_durations(moves(*states), now, UNICODE))


def test_states_have_their_durations_until_the_task_ends():
    assert durations(State.SUBMITTED, State.WORKING, State.COMPLETED) == (
        "○ submitted 1.00 s → ◐ working 1.00 s → ● completed"
    )
    assert durations(State.WORKING) == "◐ working 10.0 s so far"


def test_illegal_transitions_are_marked():
    wrong = moves(State.WORKING, State.SUBMITTED, State.COMPLETED, State.WORKING)
    assert illegal(wrong) == [1, 3]
    marked = [piece for piece, style in state_durations(wrong, 110.0, UNICODE) if style == "line--bad"]
    assert marked == [" ✕→ ", " ✕→ "]
    assert text(notice(wrong, UNICODE)) == "✕ illegal transition: completed → working, and 1 more"


def test_an_unknown_state_in_a_notice_is_sanitised_and_cut():
    said = text(notice(moves(State.COMPLETED, "\x1b[31m[/]" + "x" * 500), UNICODE))
    assert "\x1b" not in said
    assert len(said) < 80


def test_only_interrupted_states_have_a_notice_about_the_next_action():
    waiting = text(notice(moves(State.WORKING, State.INPUT_REQUIRED), UNICODE))
    assert waiting == "the agent waits for your input: i reply, x cancel task"
    assert ("i", KEY_STYLE) in notice(moves(State.WORKING, State.INPUT_REQUIRED), UNICODE)
    writing = text(notice(moves(State.AUTH_REQUIRED), UNICODE, writing=True))
    assert writing == "the agent waits for an authorization: do what its message asks, esc s listen again"
    listening = text(notice(moves(State.WORKING, State.AUTH_REQUIRED), UNICODE, listening=True))
    assert listening == "the agent waits for an authorization: do what its message asks, listening"
    waited = notice(moves(State.WORKING, State.AUTH_REQUIRED), UNICODE, past=True)
    assert text(waited) == "the agent was waiting for you here"
    assert notice(DONE, UNICODE) == []
    assert notice([], UNICODE) == []
