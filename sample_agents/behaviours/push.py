"""push: a second of updates and an artifact, made to be watched at a webhook."""

from __future__ import annotations

from inspector.protocol.card import AgentSkill
from inspector.protocol.lifecycle import State
from inspector.protocol.model import Artifact, Part

from ..state import new_id
from ..work import Work
from .base import Working

_STEPS = ("Collecting the numbers.", "Checking them.", "Drawing the chart.", "Writing the summary.")


async def _run(work: Work) -> None:
    for step in _STEPS:
        await work.status(State.WORKING, step)
        await work.pause(0.25)
    await work.artifact(
        Artifact(
            artifact_id=new_id(),
            name="summary.txt",
            parts=[Part(text="Twelve of twelve deliveries arrived in order.", media_type="text/plain")],
        )
    )
    await work.status(State.COMPLETED, "The summary is ready.")


BEHAVIOUR = Working(
    AgentSkill(
        id="push",
        name="Push",
        description="Sends several updates and an artifact within a second: give it a webhook and watch them arrive.",
        tags=["push", "webhook", "status"],
        examples=["push"],
    ),
    _run,
)
