"""echo: says what it was told, as a direct message without a task."""

from __future__ import annotations

from inspector.protocol.card import AgentSkill
from inspector.protocol.model import Message, Part

from ..work import after_first_word, first_word
from .base import Replying

_WORD = "echo"


async def _reply(message: Message) -> list[Part]:
    parts = list(message.parts)
    if first_word(message) == _WORD:
        at = next(index for index, part in enumerate(parts) if part.text is not None)
        parts[at] = parts[at].model_copy(update={"text": after_first_word(parts[at].text or "")})
    return parts


BEHAVIOUR = Replying(
    AgentSkill(
        id=_WORD,
        name="Echo",
        description="Says back what it was told, as a direct message: no task is made.",
        tags=["message", "basics"],
        examples=["echo Hello, agent!"],
        input_modes=["*/*"],
        output_modes=["*/*"],
    ),
    _reply,
)
