"""The behaviours of all agents: the first word of a message selects a behaviour; the SDK publishes its events."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

PAUSE = 0.2
"""Seconds between the events of `push`, five of which take a second, and between those of `tick`."""

SKILL = {
    "id": "words",
    "name": "Words",
    "description": "echo, stream, input, long, fail, push, tick, tock",
    "tags": ["test"],
}
"""The skill on every card."""

EXTENDED = {"id": "extended", "name": "Extended", "description": "Only on the extended card", "tags": ["test"]}
"""The skill that only the extended card has."""

_STOPPED: set[str] = set()
"""The tasks whose `tick` was stopped."""


@dataclass(frozen=True)
class Turn:
    """One message to respond to, independent of the SDK release.

    `part` creates a text part, `ask` asks the client for input, `begin` publishes the task, `reply` sends a message.
    `answering` is true if the task was waiting for this message. Parts, messages and `updater` are objects of the SDK.
    """

    text: str
    answering: bool
    updater: Any
    part: Callable[[str], Any]
    begin: Callable[[], Awaitable[None]]
    ask: Callable[[Any], Awaitable[None]]
    reply: Callable[[str], Awaitable[None]]

    def message(self, text: str) -> Any:
        """Return a message of the agent for the task."""
        return self.updater.new_agent_message([self.part(text)])


async def perform(turn: Turn) -> None:
    """Run a behaviour: echo TEXT, stream N, input, long S, fail, push or tick; any other text is echoed.

    `tick` publishes an artifact repeatedly until a message `tock TASK`, so that later subscribers get events, too.
    """
    word, _, rest = turn.text.strip().partition(" ")
    if turn.answering:
        await turn.updater.complete(turn.message(f"your reply: {turn.text}"))
        return
    if word == "tock":
        _STOPPED.add(rest)
    if word not in ("stream", "input", "long", "fail", "push", "tick"):
        await turn.reply(rest if word == "echo" else turn.text)
        return
    await turn.begin()
    await turn.updater.start_work()
    match word:
        case "stream":
            await _stream(turn, int(rest), pause=0)
        case "push":
            await _stream(turn, 5, pause=PAUSE)
        case "tick":
            await _tick(turn)
        case "input":
            await turn.ask(turn.message("which color?"))
        case "long":
            await asyncio.sleep(float(rest))
            await turn.updater.complete()
        case "fail":
            await turn.updater.failed(turn.message("failed as asked"))


async def _tick(turn: Turn) -> None:
    while turn.updater.task_id not in _STOPPED:
        await turn.updater.add_artifact([turn.part("tick")], artifact_id=str(uuid.uuid4()), name="tick")
        await asyncio.sleep(PAUSE)
    await turn.updater.complete()


async def _stream(turn: Turn, chunks: int, pause: float) -> None:
    for number in range(1, chunks + 1):
        await asyncio.sleep(pause)
        await turn.updater.add_artifact(
            [turn.part(f"chunk {number} ")],
            artifact_id="chunks",
            name="chunks",
            append=number > 1,
            last_chunk=number == chunks,
        )
    await turn.updater.complete()
