"""Behaviours in code together: found by the first word of a message, and again by the skill when a task goes on."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.protocol.card import AgentSkill
from inspector.protocol.model import Message

from ..task_context import first_word
from .base import Behaviour, Working


class Behaviours:
    """What an agent can do, in the order of its card; `default` takes the messages that name nothing."""

    def __init__(self, behaviours: Iterable[Behaviour], default: Behaviour) -> None:
        self._by_id = {behaviour.skill.id: behaviour for behaviour in behaviours}
        self._default = default

    @property
    def skills(self) -> list[AgentSkill]:
        """Return the skills for the card."""
        return [behaviour.skill for behaviour in self._by_id.values()]

    def choose(self, message: Message) -> Behaviour:
        """Return the behaviour that the first word of a message names, or the default."""
        return self._by_id.get(first_word(message), self._default)

    def working(self, skill_id: str) -> Working:
        """Return the behaviour that works on the tasks of a skill; KeyError where none does."""
        behaviour = self._by_id[skill_id]
        if not isinstance(behaviour, Working):
            raise KeyError(skill_id)
        return behaviour
