"""What a dialect is: one generation's spelling of the canonical objects, as a value made of small functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from inspector.protocol.card import AgentCard
from inspector.protocol.model import (
    Deleted,
    Event,
    Json,
    PushConfig,
    PushConfigList,
    Request,
    TaskList,
    Unreadable,
)
from inspector.protocol.operations import Operation

Result: TypeAlias = Event | TaskList | PushConfig | PushConfigList | Deleted | AgentCard
"""What an operation can be answered with."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One generation's JSON, both ways: `encode_*` writes it, `decode_*` reads it and never raises.

    `methods` names the operations that the generation has; `headers` are sent with every request;
    `push_body` is what a webhook receives. A client uses `encode_request` and `decode_result`, a server the others.
    """

    generation: str
    methods: Mapping[Operation, str]
    headers: Mapping[str, str]
    extensions_header: str
    encode_request: Callable[[Operation, Request], Json]
    decode_request: Callable[[Operation, Json], Request | Unreadable]
    encode_result: Callable[[Operation, Result], Json]
    decode_result: Callable[[Operation, Json], Result | Unreadable]
    encode_event: Callable[[Event], Json]
    decode_event: Callable[[Json], Event | Unreadable]
    encode_push: Callable[[Event], Json]
    decode_push: Callable[[Json], Event | Unreadable]
    encode_card: Callable[[AgentCard], Json]
    decode_card: Callable[[Json], AgentCard | Unreadable]
