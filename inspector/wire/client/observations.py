"""The observations of an exchange, which the clients yield in chronological order."""

from __future__ import annotations

from base64 import b64decode
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from inspector.lazy_dataclass import dataclass
from inspector.protocol.errors import Fault
from inspector.protocol.http_fields import header
from inspector.protocol.sse import Frame

Headers: TypeAlias = tuple[tuple[str, str], ...]
"""Header lines as sent, in order, with duplicates."""


def head_text(raw: bytes) -> str:
    """Decode bytes of a head as UTF-8, or as Latin-1 if they are not UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


class Ending(StrEnum):
    """How an exchange ended."""

    COMPLETE = "complete"
    """The response is complete according to HTTP."""
    BROKEN = "broken"
    """The connection failed or was closed before the response was complete."""
    STOPPED = "stopped"
    """The user canceled, or the session ended."""
    LIMIT = "limit"
    """A limit was reached, and reading stopped."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The request as it was sent."""

    at: float
    method: str
    url: str
    headers: Headers
    body: bytes


@dataclass(frozen=True, slots=True)
class Head:
    """The head of the response; `streamed` is True if its body is read as a stream of events."""

    at: float
    status: int
    reason: str
    http_version: str
    headers: Headers
    streamed: bool

    def header(self, name: str) -> str:
        """Return the first header of this name, or `""`."""
        return header(self.headers, name.lower())

    def fields(self) -> dict[str, str]:
        """Return the headers by their names in lower case; the values of a repeated header are joined by commas."""
        joined: dict[str, str] = {}
        for key, value in self.headers:
            name = key.lower()
            joined[name] = f"{joined[name]}, {value}" if name in joined else value
        return joined


class Frames(NamedTuple):
    """Frames that were completed by one read from the socket, at most 50."""

    at: float
    frames: list[Frame]


@dataclass(frozen=True, slots=True)
class Body:
    """The decoded body of a response that is not a stream.

    It is not `complete` if the exchange then fails, or if it exceeded a limit, so that only its beginning was kept.
    """

    at: float
    raw: bytes
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Trailers:
    """The status that ended a gRPC call: code, name of the code, message, trailing metadata.

    The values of binary metadata (`-bin`) are in base64.
    """

    at: float
    code: int
    name: str
    message: str
    headers: Headers

    def header(self, name: str) -> str:
        """Return the first metadata of this name, or `""`."""
        return next((value for key, value in self.headers if key == name), "")

    def binary(self, name: str) -> bytes:
        """Return the first binary metadata of this name, or `b""`."""
        return b64decode(self.header(name))


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of the exchange.

    - `how`: how it ended; `seconds`: how long it took; `fault`: what failed.
    - `events`: the number of frames with data; `size`: the number of bytes.
    - `rest`: the bytes after the last complete frame.
    """

    at: float
    how: Ending
    seconds: float
    events: int
    size: int
    rest: bytes = b""
    fault: Fault | None = None


Observation: TypeAlias = Sent | Head | Frames | Body | Trailers | Ended
