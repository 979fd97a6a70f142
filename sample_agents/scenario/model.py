"""The contents of a scenario: what selects it, and its steps."""

from __future__ import annotations

from typing import TypeAlias

from inspector.lazy_dataclass import dataclass
from inspector.protocol.card import AgentSkill
from inspector.protocol.lifecycle import State, is_interrupted, is_terminal
from inspector.protocol.model import Json

from ..faults.fault import ActiveFault

NUMBER = "{number}"
"""The placeholder for the number that the client sends."""

Count: TypeAlias = int | None
"""A number of repetitions or chunks; None is the number that the client sends."""


@dataclass(frozen=True, slots=True)
class Content:
    """A part with exactly one content: a text (a template), bytes in base64, a URL or a JSON value."""

    text: str | None = None
    raw: str | None = None
    url: str | None = None
    data: Json = None
    media_type: str | None = None
    filename: str | None = None


@dataclass(frozen=True, slots=True)
class ExpectedReply:
    """A reply of the client that contains one of `words`, or any reply without words, and the steps after it."""

    words: frozenset[str]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class SetStatus:
    """A new task state with a message; if the agent then waits for a reply, `answers` has the steps for each reply.

    If no answer matches the reply, the question is repeated. With `resumes`, the agent does not wait for a reply.
    """

    state: State
    parts: tuple[Content, ...] = ()
    answers: tuple[ExpectedReply, ...] = ()
    resumes: bool = False

    @property
    def asks(self) -> bool:
        """Return whether the agent waits for a reply in this state."""
        return is_interrupted(self.state) and not self.resumes

    @property
    def ends(self) -> bool:
        """Return whether the task ends in this state."""
        return is_terminal(self.state)


@dataclass(frozen=True, slots=True)
class SendArtifact:
    """An artifact or a chunk of one; a text can be split into `chunks`, one chunk every `every` seconds.

    Several steps can send chunks of the artifact with one `id`; the later steps append.
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
    """Repeated steps."""

    times: Count
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Log:
    """A line in the log of the agent."""

    text: str


@dataclass(frozen=True, slots=True)
class Push:
    """Send the current task to its webhooks, but not to a stream."""


@dataclass(frozen=True, slots=True)
class StartFault:
    """Apply a fault to everything that follows."""

    fault: ActiveFault


Step: TypeAlias = SetStatus | SendArtifact | Wait | Repeat | Log | Push | StartFault


@dataclass(frozen=True, slots=True)
class MessageResponse:
    """A response message without a task; without parts it has the content of the client's message."""

    parts: tuple[Content, ...]


@dataclass(frozen=True, slots=True)
class Number:
    """The default and the maximum of the number that may follow the first word of a message."""

    default: int = 10
    most: int = 10_000


@dataclass(frozen=True, slots=True)
class Scenario:
    """A skill, what selects it, and what the agent does: send a message, or work on a task in steps.

    `words` are first words of a text, `message_ids` prefixes of a messageId. `faults` apply from the start.
    `scopes` are the scopes of OAuth 2.0 that a client needs.
    """

    skill: AgentSkill
    words: frozenset[str]
    message_ids: tuple[str, ...]
    default: bool
    number: Number
    faults: tuple[ActiveFault, ...]
    response: MessageResponse | tuple[Step, ...]
    scopes: tuple[str, ...] = ()
