"""Behaviours for the compatibility kits (a2aproject/a2a-tck), selected by a prefix of the messageId.

A messageId like `tck-artifact-file-3f2a` selects what happens; the first word of the text can select it, too. The kit
for 0.3 has no such prefixes: its messages get tasks that ask for input.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping

from inspector.protocol.card import AgentSkill
from inspector.protocol.lifecycle import State
from inspector.protocol.model import Artifact, Message, Part

from .behaviours.base import Behaviour, MessageBehaviour, TaskBehaviour
from .engine import BehaviourProvider
from .task_context import TaskContext, first_word
from .task_store import new_id

_WORK_SECONDS = 4.0
"""Seconds that a task runs so that clients can subscribe to it: twice the time that the kit waits for a stream."""
_JOIN_SECONDS = 0.2
"""Seconds that a streamed task runs, so that a second client can subscribe to it."""

_TEXT = Part(text="Generated text content")
_RAW = Part(raw="R2VuZXJhdGVkIGZpbGUgY29udGVudA==", filename="output.txt", media_type="text/plain")
_URL = Part(url="https://example.com/output.txt", filename="output.txt", media_type="text/plain")
_DATA = Part(data={"key": "value", "count": 42})

_Run = Callable[[TaskContext], Awaitable[None]]


def _set_state(state: State, text: str | None = None) -> _Run:
    async def run(task: TaskContext) -> None:
        await task.status(state, text)

    return run


def _send_artifact(part: Part) -> _Run:
    async def run(task: TaskContext) -> None:
        await task.artifact(Artifact(artifact_id=new_id(), name="output", parts=[part]))
        await task.status(State.COMPLETED)

    return run


def _stream_artifact(*parts: Part, pause: float = 0.0) -> _Run:
    async def run(task: TaskContext) -> None:
        await task.status(State.WORKING)
        await task.pause(pause)
        identity = new_id()
        for index, part in enumerate(parts):
            artifact = Artifact(artifact_id=identity, name="output", parts=[part])
            await task.artifact(artifact, append=index > 0, last_chunk=index == len(parts) - 1)
        await task.status(State.COMPLETED)

    return run


def _work_for(seconds: float, state: State = State.COMPLETED, *parts: Part) -> _Run:
    async def run(task: TaskContext) -> None:
        await task.status(State.WORKING)
        await task.pause(seconds)
        if parts:
            await task.artifact(Artifact(artifact_id=new_id(), name="output", parts=[*parts]))
        await task.status(state)

    return run


async def _converse(task: TaskContext) -> None:
    """Ask for more input until the text is `done`."""
    if task.text.strip().lower() == "done":
        await task.status(State.COMPLETED, "Done.")
    else:
        await task.status(State.INPUT_REQUIRED, "Send more input, or done.")


_COMPLETE = _set_state(State.COMPLETED, "Hello from TCK")
_RUNS: Mapping[str, _Run] = {
    "tck-complete-task": _COMPLETE,
    "tck-artifact-text": _send_artifact(_TEXT),
    "tck-artifact-file-url": _send_artifact(_URL),
    "tck-artifact-file": _send_artifact(_RAW),
    "tck-artifact-data": _send_artifact(_DATA),
    "tck-input-required": _set_state(State.INPUT_REQUIRED, "Send more input."),
    "tck-multi-turn": _converse,
    "tck-auth-required": _set_state(State.AUTH_REQUIRED, "Authentication required."),
    "tck-reject-task": _set_state(State.REJECTED, "rejected"),
    "tck-task-failure": _set_state(State.FAILED, "failed"),
    "tck-stream-001": _stream_artifact(Part(text="Stream hello from TCK")),
    "tck-stream-002": _set_state(State.COMPLETED),
    "tck-stream-003": _stream_artifact(Part(text="Stream task lifecycle")),
    "tck-stream-basic": _stream_artifact(Part(text="Stream hello from TCK"), pause=_JOIN_SECONDS),
    "tck-stream-ordering-001": _stream_artifact(Part(text="Ordered output")),
    "tck-stream-artifact-text": _stream_artifact(Part(text="Streamed text content")),
    "tck-stream-artifact-file": _stream_artifact(_RAW),
    "tck-stream-artifact-chunked": _stream_artifact(Part(text="chunk-1 "), Part(text="chunk-2")),
    "tck-stream-chunked": _stream_artifact(Part(text="chunk-1 "), Part(text="chunk-2")),
    "tck-long-running": _work_for(_WORK_SECONDS, State.COMPLETED, _TEXT),
    "tck-cancel": _work_for(10 * _WORK_SECONDS),
    "test-resubscribe-message-id": _work_for(_WORK_SECONDS),
}
"""The behaviour for each prefix of a messageId or of the first word of a text."""

_PREFIXES = sorted(_RUNS, key=len, reverse=True)
_KIT_0_3 = re.compile(r"test-|.*-message-id(-|$)")
"""The messageIds of the kit for 0.3."""
_ASK_AGAIN = _work_for(0.2, State.INPUT_REQUIRED)
_SKILL = AgentSkill(
    id="tck",
    name="Compatibility kits",
    description="Behaviours for the compatibility kits, selected by a messageId or text that starts with tck-.",
    tags=["tck", "conformance"],
    examples=["tck-artifact-data", "tck-input-required"],
)


def _run_for(message: Message) -> _Run | None:
    """Return the behaviour that a message selects, None if the message is not from a kit."""
    names = (message.message_id, first_word(message))
    for prefix in _PREFIXES:
        if any(name.startswith(prefix) for name in names):
            return _RUNS[prefix]
    if _KIT_0_3.match(message.message_id):
        return _ASK_AGAIN
    return _COMPLETE if any(name.startswith("tck-") for name in names) else None


async def _run(task: TaskContext) -> None:
    started = _run_for(task.messages[0])
    await (_run_for(task.message) or (_converse if started is _converse else _COMPLETE))(task)


async def _reply(_: Message) -> list[Part]:
    return [Part(text="Direct message response")]


_WORKING, _REPLYING = TaskBehaviour(_SKILL, _run), MessageBehaviour(_SKILL, _reply)


class WithTckBehaviours:
    """Adds the behaviours for the compatibility kits to other behaviours; only the extended card lists them."""

    def __init__(self, behaviours: BehaviourProvider) -> None:
        self._behaviours = behaviours

    @property
    def skills(self) -> list[AgentSkill]:
        """Return the skills for the card."""
        return self._behaviours.skills

    @property
    def scopes(self) -> Mapping[str, tuple[str, ...]]:
        """Return the scopes that skills need, by the id of the skill."""
        return self._behaviours.scopes

    @property
    def hidden(self) -> list[AgentSkill]:
        """Return the skills that only the extended card shows."""
        return [_SKILL]

    def choose(self, message: Message) -> Behaviour:
        """Return the behaviour for a message that starts a task or is answered directly."""
        if any(name.startswith("tck-message-response") for name in (message.message_id, first_word(message))):
            return _REPLYING
        return _WORKING if _run_for(message) else self._behaviours.choose(message)

    def working(self, skill_id: str) -> TaskBehaviour:
        """Return the behaviour that works on the tasks of a skill; raises KeyError if there is none."""
        return _WORKING if skill_id == _SKILL.id else self._behaviours.working(skill_id)
