"""What all agents do: the first word of a message picks one behaviour, the SDK's own updater carries it out."""

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
"""The skill on every card; SDKs make their own object of it."""

EXTENDED = {"id": "extended", "name": "Extended", "description": "Stands on the extended card alone", "tags": ["test"]}
"""The skill that tells an extended card from the public one."""

_STOPPED: set[str] = set()
"""The tasks that were told to tick no more."""


@dataclass(frozen=True)
class Turn:
    """One message to answer, in terms that all SDKs share.

    `part` makes a text part, `ask` ends the turn with a question, `begin` announces the task; `answering` says that
    the task was already waiting for this message. Parts, messages and the updater are the SDK's own.
    """

    text: str
    answering: bool
    updater: Any
    part: Callable[[str], Any]
    begin: Callable[[], Awaitable[None]]
    ask: Callable[[Any], Awaitable[None]]
    reply: Callable[[str], Awaitable[None]]

    def message(self, text: str) -> Any:
        """Make a message of the agent's that belongs to the task."""
        return self.updater.new_agent_message([self.part(text)])


async def perform(turn: Turn) -> None:
    """Carry out a behaviour: echo TEXT, stream N, input, long S, fail, push or tick; anything else is echoed.

    `tick` goes on until `tock TASK`, so that whoever listens in, however late, hears something and then the end.
    """
    word, _, rest = turn.text.strip().partition(" ")
    if turn.answering:
        await turn.updater.complete(turn.message(f"you said: {turn.text}"))
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
            await turn.ask(turn.message("which one?"))
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
