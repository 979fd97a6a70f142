"""Find behaviours by the first word of a message, and by the skill of a task."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.protocol.card import AgentSkill
from inspector.protocol.model import Message

from ..task_context import first_word
from .base import Behaviour, TaskBehaviour, scopes_by_skill


class Behaviours:
    """A list of behaviours in the order of the card; `default` handles messages that name none of them."""

    def __init__(self, behaviours: Iterable[Behaviour], default: Behaviour) -> None:
        self._by_id = {behaviour.skill.id: behaviour for behaviour in behaviours}
        self._default = default

    @property
    def skills(self) -> list[AgentSkill]:
        """Return the skills for the card."""
        return [behaviour.skill for behaviour in self._by_id.values()]

    @property
    def scopes(self) -> dict[str, tuple[str, ...]]:
        """Return the scopes that skills need, by the id of the skill."""
        return scopes_by_skill(self._by_id.values())

    def choose(self, message: Message) -> Behaviour:
        """Return the behaviour whose skill id is the first word of a message, or the default."""
        return self._by_id.get(first_word(message), self._default)

    def working(self, skill_id: str) -> TaskBehaviour:
        """Return the behaviour that works on the tasks of a skill; raises KeyError if there is none."""
        behaviour = self._by_id[skill_id]
        if not isinstance(behaviour, TaskBehaviour):
            raise KeyError(skill_id)
        return behaviour
