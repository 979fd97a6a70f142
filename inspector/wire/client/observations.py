"""Observations of one exchange, in the order in which they cross the network."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from inspector.protocol.errors import Fault
from inspector.protocol.sse import Frame

Headers: TypeAlias = tuple[tuple[str, str], ...]
"""Header lines as they were sent, in order, repeated ones kept."""


def head_text(raw: bytes) -> str:
    """Decode bytes of a message head as UTF-8, or as Latin-1 if they are not UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


class Ending(StrEnum):
    """How an exchange ended."""

    COMPLETE = "complete"
    """The response is complete according to HTTP."""
    BROKEN = "broken"
    """The connection failed or ended before the response did."""
    STOPPED = "stopped"
    """We stopped reading: the user canceled, or the session ended."""
    LIMIT = "limit"
    """We stopped reading because a limit was reached."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The request, as handed to the socket."""

    at: float
    method: str
    url: str
    headers: Headers
    body: bytes


@dataclass(frozen=True, slots=True)
class Head:
    """The head of the response; `streamed` says that its body is read as Server-Sent Events."""

    at: float
    status: int
    reason: str
    http_version: str
    headers: Headers
    streamed: bool

    def header(self, name: str) -> str:
        """Return the first header of that name, or `""`."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), "")


class Frames(NamedTuple):
    """The frames that one read from the socket completed."""

    at: float
    frames: list[Frame]


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a response that was not a stream, after content decoding; partial if the exchange then breaks."""

    at: float
    raw: bytes


@dataclass(frozen=True, slots=True)
class Trailers:
    """The status with which the server ended a gRPC call: code, name of the code, message, trailing metadata.

    The values of binary metadata (`-bin`) are in base64.
    """

    at: float
    code: int
    name: str
    message: str
    headers: Headers

    def header(self, name: str) -> str:
        """Return the first metadata of that name, or `""`."""
        return next((value for key, value in self.headers if key == name), "")

    def binary(self, name: str) -> bytes:
        """Return the first binary metadata of that name, or `b""`."""
        return b64decode(self.header(name))


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of the exchange: how, after how long, how many frames with data and bytes; `rest` belongs to no frame."""

    at: float
    how: Ending
    seconds: float
    events: int
    size: int
    rest: bytes = b""
    fault: Fault | None = None


Observation: TypeAlias = Sent | Head | Frames | Body | Trailers | Ended
