"""long: works for many seconds with an update each second, and can be canceled at any moment."""

from __future__ import annotations

from inspector.protocol.card import AgentSkill
from inspector.protocol.lifecycle import State

from ..work import Work
from .base import Working

_DEFAULT_SECONDS = 10
_MOST_SECONDS = 3600


async def _run(work: Work) -> None:
    seconds = work.number(_DEFAULT_SECONDS, _MOST_SECONDS)
    for second in range(seconds):
        await work.status(State.WORKING, f"{second} of {seconds} seconds done.")
        await work.pause(1.0)
    await work.status(State.COMPLETED, f"All {seconds} seconds done.")


BEHAVIOUR = Working(
    AgentSkill(
        id="long",
        name="Long job",
        description="Works for as many seconds as you say, with an update each second. Cancel it at any moment.",
        tags=["status", "cancel", "subscribe"],
        examples=["long 30"],
    ),
    _run,
)
