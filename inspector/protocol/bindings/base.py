"""What a binding is: how an operation in some dialect travels over one transport."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from inspector.protocol.dialects.base import Dialect, Result
from inspector.protocol.errors import ProtocolError
from inspector.protocol.model import Event, Json, Request, Unreadable
from inspector.protocol.operations import Operation


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as it goes out: exactly these bytes, and these headers besides the transport's own."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""


Answer: TypeAlias = Result | ProtocolError | Unreadable
"""What a unary operation came back with."""

Item: TypeAlias = Event | ProtocolError | Unreadable
"""What one frame of a stream carried."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A transport: `encode` makes the request, `decode_answer` and `decode_item` read what came, and never raise.

    `name` is the card's spelling. `encode` takes the interface's url, the dialect, the operation, its parameters and
    an id that is unique in the session.
    """

    name: str
    encode: Callable[[str, Dialect, Operation, Request, str], HttpRequest]
    decode_answer: Callable[[Dialect, Operation, Json], Answer]
    decode_item: Callable[[Dialect, Json], Item]
