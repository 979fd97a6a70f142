"""The two kinds of behaviours, each a skill on the card with the code that runs for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeAlias

from inspector.lazy_dataclass import dataclass
from inspector.protocol.card import AgentSkill
from inspector.protocol.model import Message, Part

from ..faults.fault import ActiveFault
from ..task_context import TaskContext


@dataclass(frozen=True, slots=True)
class MessageBehaviour:
    """A behaviour that responds with a message, without a task.

    `faults` apply to its calls, which need an access token with `scopes` if the agent uses OAuth 2.0.
    """

    skill: AgentSkill
    reply: Callable[[Message], Awaitable[list[Part]]]
    faults: tuple[ActiveFault, ...] = ()
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskBehaviour:
    """A behaviour that works on a task; `run` is called once for each message to the task.

    If `run` returns and the task is in no terminal or interrupted state, the task is completed. `faults` apply to its
    calls, which need an access token with `scopes` if the agent uses OAuth 2.0.
    """

    skill: AgentSkill
    run: Callable[[TaskContext], Awaitable[None]]
    faults: tuple[ActiveFault, ...] = ()
    scopes: tuple[str, ...] = ()


Behaviour: TypeAlias = MessageBehaviour | TaskBehaviour


def scopes_by_skill(behaviours: Iterable[Behaviour]) -> dict[str, tuple[str, ...]]:
    """Return the scopes of the behaviours that need some, by the id of the skill."""
    return {behaviour.skill.id: behaviour.scopes for behaviour in behaviours if behaviour.scopes}
