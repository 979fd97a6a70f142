"""What a fault is: its name, what it does, what gives it away, and the function that does it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


class Level(StrEnum):
    """Where a fault takes hold; its function turns what passes there into something else.

    `call`: what a message is refused with, before it is taken. `head`: the beginning of an HTTP answer. `events`: those
    of one stream, over every transport. `json`: an answer, or an event of a stream, with its envelope; `bytes`: the
    same as it is written. `frames`: what is written of a body, a frame of a stream at a time. `push`: what goes to a
    webhook.
    """

    CALL = "call"
    HEAD = "head"
    EVENTS = "events"
    JSON = "json"
    BYTES = "bytes"
    FRAMES = "frames"
    PUSH = "push"


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that can go wrong.

    `finding` is the rule that it breaks or the word for how a call fails by it, `""` where nobody can tell. Where it
    takes a number, `number` says what that is, and `usual` which one it is unless given.
    """

    name: str
    level: Level
    says: str
    finding: str
    run: Callable[..., Any]
    number: str = ""
    usual: float = 0


@dataclass(frozen=True, slots=True)
class Spoiler:
    """A fault with its number, ready to take hold."""

    fault: Fault
    number: float

    def __str__(self) -> str:
        return f"{self.fault.name}:{self.number:g}" if self.fault.number else self.fault.name

    def __call__(self, passing: Any) -> Any:
        """Return what becomes of what passes."""
        return self.fault.run(passing, self.number) if self.fault.number else self.fault.run(passing)


class Book:
    """The faults of one level, in the order in which they are written down."""

    def __init__(self, level: Level) -> None:
        self._level = level
        self.faults: list[Fault] = []

    def fault(
        self, name: str, says: str, finding: str, *, number: str = "", usual: float = 0
    ) -> Callable[[FunctionT], FunctionT]:
        """Write a function down as a fault."""

        def written(run: FunctionT) -> FunctionT:
            self.faults.append(Fault(name, self._level, says, finding, run, number, usual))
            return run

        return written


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of an HTTP answer; a body stands in place of what the agent would have said."""

    content_type: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Post:
    """One POST to a webhook, after a pause in seconds."""

    headers: Mapping[str, str]
    body: bytes
    after: float = 0.0


class BrokenOffError(Exception):
    """Raised where the connection is to be cut in the middle of what is said."""
