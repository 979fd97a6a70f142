"""The base class of `StreamJudge`: observes an exchange without loading or checking rules."""

# ruff: noqa: ARG002 - the arguments are for the judge

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING

from inspector.findings.finding import Finding
from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings.base import Answer, Binding
from inspector.protocol.circumstances import Circumstances
from inspector.protocol.content import EVENT_TYPES, Content
from inspector.protocol.dialects.base import Dialect
from inspector.protocol.errors import ProtocolError
from inspector.protocol.model import Request, SendRequest
from inspector.protocol.operations import Operation
from inspector.protocol.sse import Frame

if TYPE_CHECKING:
    from inspector.protocol.card import AgentCard, AgentInterface


@dataclass(frozen=True, slots=True)
class CallFacts:
    """The request of a call: its operation, dialect and binding, and the task and context ids in it (`""` for none).

    `request_id` is the JSON-RPC id. `request` is None for a raw request. `card` and `interface` are None if the agent's
    card is unknown.
    """

    operation: Operation
    dialect: Dialect
    binding: Binding
    request_id: str | int | float | None
    task_id: str = ""
    context_id: str = ""
    request: Request | None = None
    card: AgentCard | None = None
    interface: AgentInterface | None = None

    @property
    def message_id(self) -> str:
        """Return the id of the message in the request, `""` if there is none."""
        return self.request.message.message_id if isinstance(self.request, SendRequest) else ""

    @property
    def expected_task(self) -> str:
        """Return the expected task id of the response, `""` if the agent chooses the id."""
        return self.task_id or (self.message_id if self.dialect.traits.names_tasks else "")


class StreamEnding(Enum):
    """How a stream ended: regularly, by a lost connection, at one of our limits, or because we stopped it."""

    COMPLETE = auto()
    INTERRUPTED = auto()
    LIMIT = auto()
    STOPPED = auto()


class ExchangeObserver:
    """Finds the task of an exchange, and returns no findings; `StreamJudge` overrides its methods.

    `task_id` is the id of the task, `""` before it is known.
    """

    def __init__(self) -> None:
        self.task_id = ""

    @property
    def open_state(self) -> str:
        """Return the state of the task, `""` if it has ended or is unknown."""
        return ""

    @property
    def has_ended_task(self) -> bool:
        """Return whether the task has ended, so that the stream has to close; always false if no rules are checked."""
        return False

    def sent(self, circumstances: Circumstances) -> None:
        """Observe that the request was sent."""

    def head(self, status: int, headers: Mapping[str, str], *, reached: bool) -> tuple[Finding, ...]:
        """Observe the head of the response."""
        return ()

    def feed(self, content: Content, at: float, frame: Frame | None = None) -> tuple[Finding, ...]:
        """Observe the next payload: the data of a frame, or the body of a response without a stream."""
        if not self.task_id and isinstance(content.answer, EVENT_TYPES):
            self.task_id = content.answer.task_id or ""
        return ()

    def repeatable(self, frames: Sequence[Frame]) -> int:
        """Return how many of the next frames, which only differ in a text, have the findings of the last payload."""
        return len(frames)

    def repeat(self, frames: Sequence[Frame]) -> tuple[Finding, ...]:
        """Observe updates that differ from the last payload only in their texts."""
        return ()

    def frame(self, frame: Frame) -> tuple[Finding, ...]:
        """Observe a frame, with or without data."""
        return ()

    def trailers(self, word: str, error: ProtocolError) -> tuple[Finding, ...]:
        """Observe the status of a failed gRPC call."""
        return ()

    def close(
        self,
        at: float,
        how: StreamEnding,
        *,
        events: int,
        why: str,
        last: Answer | None,
        rest: int,
    ) -> tuple[Finding, ...]:
        """Observe the end of a stream."""
        return ()

    def close_body(self, *, broken: bool, why: str) -> tuple[Finding, ...]:
        """Observe the end of a response without a stream."""
        return ()
