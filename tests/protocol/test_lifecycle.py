"""The table of task states: final states, states that wait for the client, allowed transitions."""

from __future__ import annotations

import pytest

from inspector.protocol.lifecycle import (
    INTERRUPTED,
    MOVES,
    TERMINAL,
    State,
    is_interrupted,
    is_terminal,
    may_follow,
    short,
)

S = State
OPEN = [S.SUBMITTED, S.WORKING, S.INPUT_REQUIRED, S.AUTH_REQUIRED]
ENDED = [S.COMPLETED, S.FAILED, S.CANCELED, S.REJECTED]


def test_the_states_are_those_of_1_0_with_one_l_in_canceled() -> None:
    assert {state.value for state in State} == {
        "TASK_STATE_UNSPECIFIED",
        "TASK_STATE_SUBMITTED",
        "TASK_STATE_WORKING",
        "TASK_STATE_COMPLETED",
        "TASK_STATE_FAILED",
        "TASK_STATE_CANCELED",
        "TASK_STATE_INPUT_REQUIRED",
        "TASK_STATE_REJECTED",
        "TASK_STATE_AUTH_REQUIRED",
    }


def test_every_state_but_unspecified_has_transitions() -> None:
    assert set(MOVES) == set(State) - {S.UNSPECIFIED}


@pytest.mark.parametrize("state", list(State))
def test_a_state_ends_the_task_waits_for_the_client_or_neither(state: State) -> None:
    assert is_terminal(state) == is_terminal(state.value) == (state in ENDED) == (state in TERMINAL)
    assert is_interrupted(state) == is_interrupted(state.value) == (state in INTERRUPTED)
    assert {S.INPUT_REQUIRED, S.AUTH_REQUIRED} == INTERRUPTED


@pytest.mark.parametrize("state", list(State))
def test_a_state_may_be_repeated(state: State) -> None:
    assert may_follow(state, state)


@pytest.mark.parametrize("before", OPEN)
@pytest.mark.parametrize("after", [*OPEN[1:], *ENDED])
def test_an_open_task_may_work_wait_or_end(before: State, after: State) -> None:
    assert may_follow(before.value, after.value)


@pytest.mark.parametrize("before", [*OPEN[1:], *ENDED])
def test_a_task_is_submitted_once(before: State) -> None:
    assert not may_follow(before.value, S.SUBMITTED)


@pytest.mark.parametrize("before", ENDED)
@pytest.mark.parametrize("after", [*OPEN, *ENDED])
def test_a_task_that_ended_stays_as_it_ended(before: State, after: State) -> None:
    assert may_follow(before.value, after.value) == (before is after)


@pytest.mark.parametrize("state", list(State))
@pytest.mark.parametrize("stranger", ["working", "TASK_STATE_CANCELLED", "napping", "", "TASK_STATE_UNSPECIFIED"])
def test_an_unknown_state_allows_every_transition(state: State, stranger: str) -> None:
    assert may_follow(state, stranger)
    assert may_follow(stranger, state)
    assert not is_terminal(stranger)
    assert not is_interrupted(stranger)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("TASK_STATE_INPUT_REQUIRED", "input-required"),
        (S.COMPLETED, "completed"),
        ("TASK_STATE_", ""),
        ("input-required", '"input-required"'),
        ("Napping", '"Napping"'),
        ("", ""),
    ],
)
def test_the_short_name_of_a_state(state: str, said: str) -> None:
    assert short(state) == said
