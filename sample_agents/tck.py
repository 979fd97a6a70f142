"""What a2aproject/a2a-tck and its kin ask of an agent: behaviours told apart by the beginning of a message's id.

The kits say by a `messageId` like `tck-artifact-file-3f2a` what is to happen; others say it by the first word of the
text, and both are honoured. The kit for 0.3 has no such signs: it wants tasks that go on, whatever it says.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping

from inspector.protocol.card import AgentSkill
from inspector.protocol.lifecycle import State
from inspector.protocol.model import Artifact, Message, Part

from .behaviours.base import Behaviour, Replying, Working
from .engine import Repertoire
from .task_context import Work, first_word
from .task_store import new_id

_HELD = 4.0
"""How many seconds a task stays at work for others to subscribe to it: twice what the kit waits for a stream."""

_TEXT = Part(text="Generated text content")
_RAW = Part(raw="R2VuZXJhdGVkIGZpbGUgY29udGVudA==", filename="output.txt", media_type="text/plain")
_URL = Part(url="https://example.com/output.txt", filename="output.txt", media_type="text/plain")
_DATA = Part(data={"key": "value", "count": 42})

_Run = Callable[[Work], Awaitable[None]]


def _ending(state: State, text: str | None = None) -> _Run:
    async def run(work: Work) -> None:
        await work.status(state, text)

    return run


def _giving(part: Part) -> _Run:
    async def run(work: Work) -> None:
        await work.artifact(Artifact(artifact_id=new_id(), name="output", parts=[part]))
        await work.status(State.COMPLETED)

    return run


def _streaming(*parts: Part) -> _Run:
    async def run(work: Work) -> None:
        await work.status(State.WORKING)
        identity = new_id()
        for index, part in enumerate(parts):
            artifact = Artifact(artifact_id=identity, name="output", parts=[part])
            await work.artifact(artifact, append=index > 0, last_chunk=index == len(parts) - 1)
        await work.status(State.COMPLETED)

    return run


def _lasting(seconds: float, state: State = State.COMPLETED) -> _Run:
    async def run(work: Work) -> None:
        await work.status(State.WORKING)
        await work.pause(seconds)
        await work.status(state)

    return run


_COMPLETE = _ending(State.COMPLETED, "Hello from TCK")
_RUNS: Mapping[str, _Run] = {
    "tck-complete-task": _COMPLETE,
    "tck-artifact-text": _giving(_TEXT),
    "tck-artifact-file-url": _giving(_URL),
    "tck-artifact-file": _giving(_RAW),
    "tck-artifact-data": _giving(_DATA),
    "tck-input-required": _ending(State.INPUT_REQUIRED, "Say more."),
    "tck-multi-turn": _ending(State.INPUT_REQUIRED, "Say more."),
    "tck-auth-required": _ending(State.AUTH_REQUIRED, "Say who you are."),
    "tck-reject-task": _ending(State.REJECTED, "rejected"),
    "tck-task-failure": _ending(State.FAILED, "failed"),
    "tck-stream-001": _streaming(Part(text="Stream hello from TCK")),
    "tck-stream-002": _ending(State.COMPLETED),
    "tck-stream-003": _streaming(Part(text="Stream task lifecycle")),
    "tck-stream-basic": _streaming(Part(text="Stream hello from TCK")),
    "tck-stream-ordering-001": _streaming(Part(text="Ordered output")),
    "tck-stream-artifact-text": _streaming(Part(text="Streamed text content")),
    "tck-stream-artifact-file": _streaming(_RAW),
    "tck-stream-artifact-chunked": _streaming(Part(text="chunk-1 "), Part(text="chunk-2")),
    "tck-stream-chunked": _streaming(Part(text="chunk-1 "), Part(text="chunk-2")),
    "tck-long-running": _lasting(_HELD),
    "tck-cancel": _lasting(10 * _HELD),
    "test-resubscribe-message-id": _lasting(_HELD),
}
"""What happens for a sign, which is the beginning of a message's id or of its text's first word."""

_SIGNS = sorted(_RUNS, key=len, reverse=True)
_OF_0_3 = re.compile(r"test-|.*-message-id(-|$)")
"""The ids of the messages of the kit for 0.3."""
_GOING_ON = _lasting(0.2, State.INPUT_REQUIRED)
_SKILL = AgentSkill(
    id="tck",
    name="Compatibility kits",
    description="Does what the compatibility kits ask for by the beginning of a messageId, or of the text: tck-...",
    tags=["tck", "conformance"],
    examples=["tck-artifact-data", "tck-input-required"],
)


def _run_for(message: Message) -> _Run | None:
    """Return what a message asks for, or None where it is not of a kit."""
    names = (message.message_id, first_word(message))
    for sign in _SIGNS:
        if any(name.startswith(sign) for name in names):
            return _RUNS[sign]
    if _OF_0_3.match(message.message_id):
        return _GOING_ON
    return _COMPLETE if any(name.startswith("tck-") for name in names) else None


async def _work(work: Work) -> None:
    await (_run_for(work.message) or _COMPLETE)(work)


async def _reply(_: Message) -> list[Part]:
    return [Part(text="Direct message response")]


_WORKING, _REPLYING = Working(_SKILL, _work), Replying(_SKILL, _reply)


class WithKit:
    """A repertoire that also does what the compatibility kits ask for; its card does not show it."""

    def __init__(self, behaviours: Repertoire) -> None:
        self._behaviours = behaviours

    @property
    def skills(self) -> list[AgentSkill]:
        """Return the skills for the card."""
        return self._behaviours.skills

    @property
    def hidden(self) -> list[AgentSkill]:
        """Return the skills for the extended card alone."""
        return [_SKILL]

    def choose(self, message: Message) -> Behaviour:
        """Return the behaviour that begins with a message."""
        if any(name.startswith("tck-message-response") for name in (message.message_id, first_word(message))):
            return _REPLYING
        return _WORKING if _run_for(message) else self._behaviours.choose(message)

    def working(self, skill_id: str) -> Working:
        """Return the behaviour that works on the tasks of a skill; KeyError where none does."""
        return _WORKING if skill_id == _SKILL.id else self._behaviours.working(skill_id)
