"""fail: starts working and fails with a message."""

from __future__ import annotations

from inspector.protocol.card import AgentSkill
from inspector.protocol.lifecycle import State

from ..work import Work
from .base import Working


async def _run(work: Work) -> None:
    await work.status(State.WORKING, "Opening the archive.")
    await work.pause(0.3)
    await work.status(State.FAILED, "The archive is damaged: its index ends after 512 of 2048 bytes.")


BEHAVIOUR = Working(
    AgentSkill(
        id="fail",
        name="Fail",
        description="Starts a task that fails, with a message that says why.",
        tags=["failure"],
        examples=["fail"],
    ),
    _run,
)
