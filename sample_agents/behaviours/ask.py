"""ask: stops in the middle for a question (input-required) and goes on with the answer."""

from __future__ import annotations

from inspector.protocol.card import AgentSkill
from inspector.protocol.lifecycle import State
from inspector.protocol.model import Artifact, Part

from ..state import new_id
from ..work import Work
from .base import Working


async def _run(work: Work) -> None:
    if work.turn == 1:
        await work.status(State.WORKING, "Looking for a table.")
        await work.pause(0.3)
        await work.status(State.INPUT_REQUIRED, "There is one at 18:00 and one at 20:30. Which do you want?")
        return
    answer = work.text.strip() or "(an answer without text)"
    await work.status(State.WORKING, f"Booking the table: {answer}")
    await work.pause(0.3)
    await work.artifact(
        Artifact(
            artifact_id=new_id(),
            name="booking.txt",
            description="The booking, with your answer in it.",
            parts=[Part(text=f"One table for two. You said: {answer}", media_type="text/plain")],
        )
    )
    await work.status(State.COMPLETED, "The table is booked.")


BEHAVIOUR = Working(
    AgentSkill(
        id="ask",
        name="Ask back",
        description="Asks one question (input-required). Answer on the same task, and it completes with an artifact.",
        tags=["input-required", "multi-turn"],
        examples=["ask"],
    ),
    _run,
)
