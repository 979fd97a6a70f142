"""Task states and their legal moves, as a table (1.0 sections 3.1.1 and 4.1.3)."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """A task state under its 1.0 name; what an agent calls otherwise stays the string that it sent."""

    SUBMITTED = "TASK_STATE_SUBMITTED"
    WORKING = "TASK_STATE_WORKING"
    INPUT_REQUIRED = "TASK_STATE_INPUT_REQUIRED"
    AUTH_REQUIRED = "TASK_STATE_AUTH_REQUIRED"
    COMPLETED = "TASK_STATE_COMPLETED"
    FAILED = "TASK_STATE_FAILED"
    CANCELED = "TASK_STATE_CANCELED"
    REJECTED = "TASK_STATE_REJECTED"
    UNSPECIFIED = "TASK_STATE_UNSPECIFIED"


TERMINAL = frozenset({State.COMPLETED, State.FAILED, State.CANCELED, State.REJECTED})
"""States that a task never leaves."""

INTERRUPTED = frozenset({State.INPUT_REQUIRED, State.AUTH_REQUIRED})
"""States in which the agent waits for the client."""

_OPEN = frozenset(State) - {State.UNSPECIFIED}

MOVES: dict[str, frozenset[State]] = {
    State.SUBMITTED: _OPEN,
    State.WORKING: _OPEN - {State.SUBMITTED},
    State.INPUT_REQUIRED: _OPEN - {State.SUBMITTED},
    State.AUTH_REQUIRED: _OPEN - {State.SUBMITTED},
    **{state: frozenset({state}) for state in TERMINAL},
}
"""For each state, the states that may follow it; staying is always legal, because agents repeat themselves."""


def is_terminal(state: str) -> bool:
    """Say whether a task in this state is over."""
    return state in TERMINAL


def is_interrupted(state: str) -> bool:
    """Say whether a task in this state waits for the client."""
    return state in INTERRUPTED


def may_follow(before: str, after: str) -> bool:
    """Say whether `after` is a legal next state; a state that the table does not know forbids nothing."""
    return before not in MOVES or after == State.UNSPECIFIED or after not in _OPEN or after in MOVES[before]


def short(state: str) -> str:
    """Return a state as people say it: `TASK_STATE_INPUT_REQUIRED` is `input-required`; others stay as they are."""
    return state.removeprefix("TASK_STATE_").lower().replace("_", "-") if state.startswith("TASK_STATE_") else state
