"""The parts of a fault: name, description, the finding that it causes, and its function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Any, TypeVar

from inspector.lazy_dataclass import dataclass

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


class Level(StrEnum):
    """What the function of a fault changes.

    - `call`: the error that rejects a message (`None` -> `CallError`)
    - `head`: status, headers and body of an HTTP response (`Head` -> `Head`)
    - `events`: the events of a stream over every transport (async iterator -> async iterator)
    - `json`: a response or an event with its envelope (JSON -> JSON)
    - `bytes`: the same after serialising (bytes -> bytes)
    - `frames`: the frames of a stream or the body of a response (async iterator -> async iterator)
    - `push`: a POST to a webhook (`Post` -> a list of `Post`)
    - `challenge`: the 401 or 403 of the agent (`Head` -> `Head`)

    The authorization server:

    - `metadata`: its metadata and its discovery document (JSON -> JSON); `{}` is a 404
    - `resource`: the metadata of the agent as a protected resource (JSON -> JSON)
    - `keys`: its JWK Set (JSON -> JSON)
    - `redirect`: the query of the redirect to the client (dict -> dict)
    - `device`: the response with a device code (JSON -> JSON)
    - `grant`: the error of a token request (`TokenRequest` -> error code or `""`)
    - `token`: the token response (JSON -> JSON)
    - `access-token`, `id-token`: the claims of a token (JSON -> JSON)
    """

    CALL = "call"
    HEAD = "head"
    EVENTS = "events"
    JSON = "json"
    BYTES = "bytes"
    FRAMES = "frames"
    PUSH = "push"
    CHALLENGE = "challenge"
    METADATA = "metadata"
    RESOURCE = "resource"
    KEYS = "keys"
    REDIRECT = "redirect"
    DEVICE = "device"
    GRANT = "grant"
    TOKEN = "token"  # noqa: S105 - the name of a level
    ACCESS_TOKEN = "access-token"  # noqa: S105 - the name of a level
    ID_TOKEN = "id-token"  # noqa: S105 - the name of a level

    @property
    def needs_authentication(self) -> bool:
        """Return whether a fault of this level needs an agent that requires credentials."""
        return self is Level.CHALLENGE or self.needs_authorization_server

    @property
    def needs_authorization_server(self) -> bool:
        """Return whether a fault of this level changes the authorization server."""
        return self in _AUTHORIZATION_SERVER


_AUTHORIZATION_SERVER = frozenset(
    {
        Level.METADATA,
        Level.RESOURCE,
        Level.KEYS,
        Level.REDIRECT,
        Level.DEVICE,
        Level.GRANT,
        Level.TOKEN,
        Level.ACCESS_TOKEN,
        Level.ID_TOKEN,
    }
)


@dataclass(frozen=True, slots=True)
class Fault:
    """A mistake that the agent can make.

    `finding` is the id of the rule that the fault violates or the error code of the failed call, `""` if neither is
    reported. If the fault has a parameter, `number` describes it and `default` is its default value.
    """

    name: str
    level: Level
    description: str
    finding: str
    run: Callable[..., Any]
    number: str = ""
    default: float = 0


@dataclass(frozen=True, slots=True)
class ActiveFault:
    """A fault with its parameter."""

    fault: Fault
    number: float

    def __str__(self) -> str:
        return f"{self.fault.name}:{self.number:g}" if self.fault.number else self.fault.name

    def __call__(self, value: Any) -> Any:
        """Return the value changed by the fault; its type depends on the level."""
        return self.fault.run(value, self.number) if self.fault.number else self.fault.run(value)


class FaultRegistry:
    """The faults of one level, in the order of their definition."""

    def __init__(self, level: Level) -> None:
        self._level = level
        self.faults: list[Fault] = []

    def fault(
        self, name: str, description: str, finding: str, *, number: str = "", default: float = 0
    ) -> Callable[[FunctionT], FunctionT]:
        """Return a decorator that registers a function as a fault."""

        def register(run: FunctionT) -> FunctionT:
            self.faults.append(Fault(name, self._level, description, finding, run, number, default))
            return run

        return register


@dataclass(frozen=True, slots=True)
class Head:
    """Status and headers of an HTTP response; `body`, if any, replaces the body of the agent's response."""

    content_type: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Post:
    """One POST to a webhook; `after` is the delay in seconds."""

    headers: Mapping[str, str]
    body: bytes
    after: float = 0.0


class AbortConnectionError(Exception):
    """Raised by a fault to close the connection in the middle of a response."""
