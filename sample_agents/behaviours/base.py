"""What a behaviour is: a skill for the card, and the code behind it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from inspector.protocol.card import AgentSkill
from inspector.protocol.model import Message, Part

from ..work import Work


@dataclass(frozen=True, slots=True)
class Replying:
    """A behaviour that answers a message with a message, without a task."""

    skill: AgentSkill
    reply: Callable[[Message], Awaitable[list[Part]]]


@dataclass(frozen=True, slots=True)
class Working:
    """A behaviour that works on a task; `run` is called for each turn and ends when the turn does.

    A turn that ends without a terminal or interrupted state has completed.
    """

    skill: AgentSkill
    run: Callable[[Work], Awaitable[None]]


Behaviour: TypeAlias = Replying | Working
