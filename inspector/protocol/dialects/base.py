"""What a dialect is: one generation's spelling of the canonical objects, as a value made of small functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
class Route:
    """How an operation stands in an HTTP url: the verb, and a path in which `{member}` is a member of the parameters.

    A member written `{+member}` keeps its slashes. What the path does not take goes into the body of a POST, or into
    the query of any other verb.
    """

    verb: str
    path: str


@dataclass(frozen=True, slots=True)
class GrpcMethod:
    """How an operation stands in a gRPC service: the method, and the names of its message types in the package."""

    name: str
    request: str
    response: str


@dataclass(frozen=True, slots=True)
class GrpcService:
    """A gRPC service by its full name, its methods, and the name of the descriptor set that has its types."""

    name: str
    descriptors: str
    methods: Mapping[Operation, GrpcMethod]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One generation's JSON, both ways: `encode_*` writes it, `decode_*` reads it and never raises.

    `methods` (JSON-RPC), `routes` (HTTP+JSON) and `service` (gRPC) name the operations that the generation has over
    each transport, and are empty where this JSON does not travel so; `headers` are sent with every request. A client
    uses `encode_request` and `decode_result`, a server the others. `alias_of` names the generation that an interface
    declares when it speaks this one under another name.
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
    routes: Mapping[Operation, Route] = field(default_factory=dict)
    service: GrpcService | None = None
    alias_of: str = ""
