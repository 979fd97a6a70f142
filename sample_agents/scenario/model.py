"""What a scenario is: how a message chooses it, and the steps that the agent then takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from inspector.protocol.card import AgentSkill
from inspector.protocol.lifecycle import State, is_interrupted, is_terminal
from inspector.protocol.model import Json

from ..faults.fault import Spoiler

NUMBER = "{number}"
"""Stands for a count that the client gives."""

Count: TypeAlias = int | None
"""How often; None is the number that the client gives."""


@dataclass(frozen=True, slots=True)
class Content:
    """A part to be: exactly one of a text (a template), bytes in base64, a url and a JSON value is there."""

    text: str | None = None
    raw: str | None = None
    url: str | None = None
    data: Json = None
    media_type: str | None = None
    filename: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What follows a question where the reply has one of these words; without words, whatever it says."""

    words: frozenset[str]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Say:
    """The task comes into a state, with words about it; where that asks the client for something, answers may follow.

    A reply that none of the answers is for is asked for again.
    """

    state: State
    parts: tuple[Content, ...] = ()
    answers: tuple[Answer, ...] = ()

    @property
    def asks(self) -> bool:
        """Say whether the turn ends here, for the client to reply."""
        return is_interrupted(self.state)

    @property
    def ends(self) -> bool:
        """Say whether the task ends here."""
        return is_terminal(self.state)


@dataclass(frozen=True, slots=True)
class Give:
    """An artifact, or a chunk of one; a text can be cut into chunks, `every` so many seconds.

    An artifact with an `id` of its own can be given in several steps, of which the later ones append.
    """

    name: str
    parts: tuple[Content, ...]
    description: str | None = None
    id: str = ""
    chunks: Count = 1
    every: float = 0.0
    append: bool = False
    last: bool = True


@dataclass(frozen=True, slots=True)
class Wait:
    """A pause, in seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Repeat:
    """Steps that are taken again and again."""

    times: Count
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Log:
    """A line for the person who runs the agent."""

    text: str


@dataclass(frozen=True, slots=True)
class Push:
    """The task as it stands goes to its webhooks, and to no stream."""


@dataclass(frozen=True, slots=True)
class Spoil:
    """Something goes wrong from here on."""

    fault: Spoiler


Step: TypeAlias = Say | Give | Wait | Repeat | Log | Push | Spoil


@dataclass(frozen=True, slots=True)
class Reply:
    """A message that answers without a task; without parts of its own it is what the client said."""

    parts: tuple[Content, ...]


@dataclass(frozen=True, slots=True)
class Number:
    """The number that a client may give behind the first word."""

    default: int = 10
    most: int = 10_000


@dataclass(frozen=True, slots=True)
class Scenario:
    """A skill, the signs by which a message chooses it, and what the agent does: it replies, or it takes steps.

    `words` are first words of a text, `message_ids` beginnings of a messageId; `faults` go wrong from the start.
    """

    skill: AgentSkill
    words: frozenset[str]
    message_ids: tuple[str, ...]
    default: bool
    number: Number
    faults: tuple[Spoiler, ...]
    does: Reply | tuple[Step, ...]
