"""The order of task states in a stream (ACTS section 7.1)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from inspector.protocol.lifecycle import State, is_terminal
from inspector.session.check.matching import Mismatch


def order_mismatch(states: Sequence[str]) -> Mismatch | None:
    """Return the first state that may not follow the state before it, None if there is none."""
    for before, after in pairwise(states):
        if before == after:
            continue
        if is_terminal(before):
            return Mismatch("status.state", f"no state after {before}", after)
        if after == State.SUBMITTED:
            return Mismatch("status.state", f"no return from {before} to {after}", after)
    return None
