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
    """A transport: `encode` makes the request; `read`, `decode_answer`, `decode_item` read what came, and never raise.

    `name` is the card's spelling; `offers` says whether the operation exists in this dialect over this transport.
    `encode` takes the interface's url, the dialect, the operation, its parameters and an id that is unique in the
    session. `read` takes the bytes of one payload to JSON; `decode_answer` gets that and the status of the response.
    """

    name: str
    offers: Callable[[Dialect, Operation], bool]
    encode: Callable[[str, Dialect, Operation, Request, str], HttpRequest]
    read: Callable[[Dialect, Operation, bytes], Json | Unreadable]
    decode_answer: Callable[[Dialect, Operation, int, Json], Answer]
    decode_item: Callable[[Dialect, Json], Item]
