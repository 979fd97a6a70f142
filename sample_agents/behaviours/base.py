"""What a behaviour is: a skill for the card, and the code behind it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from inspector.protocol.card import AgentSkill
from inspector.protocol.model import Message, Part

from ..faults.fault import Spoiler
from ..task_context import Work


@dataclass(frozen=True, slots=True)
class Replying:
    """A behaviour that answers a message with a message, without a task; `faults` go wrong with it."""

    skill: AgentSkill
    reply: Callable[[Message], Awaitable[list[Part]]]
    faults: tuple[Spoiler, ...] = ()


@dataclass(frozen=True, slots=True)
class Working:
    """A behaviour that works on a task; `run` is called for each turn and ends when the turn does.

    A turn that ends without a terminal or interrupted state has completed. `faults` go wrong with it.
    """

    skill: AgentSkill
    run: Callable[[Work], Awaitable[None]]
    faults: tuple[Spoiler, ...] = ()


Behaviour: TypeAlias = Replying | Working
