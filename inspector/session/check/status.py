"""The results of tests and steps, in a module that the screen can load without the models of check files."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """The result of a test or a step, or why it has none.

    An error is a failure of the runner or the network, not of the agent.
    """

    NOT_RUN = "not run"
    WAITING = "waiting"
    RUNNING = "running"
    PASS = "pass"  # noqa: S105 - a result
    FAIL = "fail"
    SKIP = "skip"
    ERROR = "error"


FAILED = frozenset({Status.FAIL, Status.ERROR})
"""The states of the tests that did not pass."""
BUSY = frozenset({Status.WAITING, Status.RUNNING})
"""The states of the tests of the current run that have no result yet."""
