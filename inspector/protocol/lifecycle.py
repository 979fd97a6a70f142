"""Task states and their allowed transitions (1.0 sections 3.1.1 and 4.1.3)."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """A task state, with its name in A2A 1.0; unknown states of agents stay strings."""

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
"""The final states."""

INTERRUPTED = frozenset({State.INPUT_REQUIRED, State.AUTH_REQUIRED})
"""The states in which the agent waits for the client."""

_OPEN = frozenset(State) - {State.UNSPECIFIED}

MOVES: dict[str, frozenset[State]] = {
    State.SUBMITTED: _OPEN,
    State.WORKING: _OPEN - {State.SUBMITTED},
    State.INPUT_REQUIRED: _OPEN - {State.SUBMITTED},
    State.AUTH_REQUIRED: _OPEN - {State.SUBMITTED},
    **{state: frozenset({state}) for state in TERMINAL},
}
"""The states that may follow each state; the same state is always allowed, because agents repeat states."""


def is_terminal(state: str) -> bool:
    """Return whether a state is final."""
    return state in TERMINAL


def is_interrupted(state: str) -> bool:
    """Return whether a task in this state waits for the client."""
    return state in INTERRUPTED


def is_settled(state: str) -> bool:
    """Return whether a state is final or waits for the client; an unknown state is neither."""
    return is_terminal(state) or is_interrupted(state)


def may_follow(before: str, after: str) -> bool:
    """Return whether `after` may follow `before`; an unknown state may follow and precede every state."""
    return before not in MOVES or after == State.UNSPECIFIED or after not in _OPEN or after in MOVES[before]


def short(state: str) -> str:
    """Return the short name of a state: `input-required` for `TASK_STATE_INPUT_REQUIRED`.

    The value of an unknown state is put in quotes: an agent may send `"completed"`, which is not the state of 1.0.
    """
    if state.startswith("TASK_STATE_"):
        return state.removeprefix("TASK_STATE_").lower().replace("_", "-")
    return f'"{state}"' if state else ""
