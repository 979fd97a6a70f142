"""A dialect: the JSON of one protocol version, as a value made of small functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from inspector.protocol.bindings.protobuf import Descriptors
from inspector.protocol.card import AgentCard
from inspector.protocol.dialects.traits import V1_0, Traits
from inspector.protocol.errors import BY_CODE
from inspector.protocol.model import (
    Deleted,
    Event,
    Json,
    Message,
    PushConfig,
    PushConfigList,
    Request,
    Task,
    TaskArtifactUpdateEvent,
    TaskList,
    TaskStatusUpdateEvent,
    Unreadable,
    Wire,
)
from inspector.protocol.operations import REQUESTS, Operation
from inspector.protocol.pointer import pointer

Result: TypeAlias = Event | TaskList | PushConfig | PushConfigList | Deleted | AgentCard
"""The result of an operation."""


@dataclass(frozen=True, slots=True)
class Route:
    """The verb and the path of an operation; `{member}` in the path is a member of the parameters.

    `{+member}` keeps its slashes, and so does `{member=tasks/*}`, which has that form, with `*` for one segment. The
    other members go into the body of a POST, or into the query. With `whole_body`, the body has those of the path, too.
    """

    verb: str
    path: str
    whole_body: bool = False


@dataclass(frozen=True, slots=True)
class GrpcMethod:
    """The method of an operation, and its message types: names in the package, or full names with dots."""

    name: str
    request: str
    response: str


@dataclass(frozen=True, slots=True)
class GrpcService:
    """A gRPC service by its full name, its methods, and the descriptor set that has its types."""

    name: str
    descriptors: Descriptors
    methods: Mapping[Operation, GrpcMethod]


def grpc_methods(
    responses: Mapping[Operation, str], requests: Mapping[Operation, str], names: Mapping[Operation, str] | None = None
) -> Mapping[Operation, GrpcMethod]:
    """Return the methods of a service from the types of its responses.

    Unless `names` or `requests` has another name, a method is named after its operation and its request after itself.
    """
    named = {operation: (names or {}).get(operation, operation.value) for operation in responses}
    return {
        operation: GrpcMethod(name, requests.get(operation, f"{name}Request"), responses[operation])
        for operation, name in named.items()
    }


_LATER = range(-32099, V1_0.last_error)
"""The codes that come after those of 1.0."""
ERRORS: Mapping[int, str] = {code: kind.name for code, kind in BY_CODE.items() if code not in _LATER}
"""A2A's names for the error codes of JSON-RPC from 0.2 to 1.0, which only ever added to them."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The JSON of one protocol version, both ways: `encode_*` writes it, `decode_*` reads it and never raises.

    `traits` are the facts in which versions differ besides their JSON. `methods` (JSON-RPC), `routes` (HTTP+JSON) and
    `service` (gRPC) name the operations that the version has over each transport, and are empty for a transport that
    does not carry this JSON; `headers` are sent with every request. A client uses `encode_request` and `decode_result`,
    a server the others. `extended_card_path` is where the extended card is fetched with HTTP GET, below the parent of
    the interface's URL, if the version has no method for it. `errors` maps its JSON-RPC codes to their names.
    """

    traits: Traits
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
    extended_card_path: str = ""
    errors: Mapping[int, str] = field(default_factory=lambda: ERRORS)

    @property
    def version(self) -> str:
        """Return the name of the protocol version."""
        return self.traits.version

    def has(self, operation: Operation) -> bool:
        """Return whether the version has the operation over any transport of this JSON."""
        if operation is Operation.EXTENDED_CARD and self.extended_card_path:
            return True
        there = operation in self.methods or operation in self.routes
        return there or (self.service is not None and operation in self.service.methods)

    def encode(self, value: Wire) -> Json:
        """Write any canonical event, request, list or card."""
        return self._both_ways(value)[0](value)

    def unsupported_members(self, value: Wire) -> tuple[str, ...]:
        """Return JSON pointers to what of a canonical object does not survive being written and read again.

        The pointers are into the canonical JSON; `""`, the whole of it, where the version has no such operation.
        """
        write, read, offered = self._both_ways(value)
        if not offered:
            return ("",)
        back = read(write(value))
        if isinstance(back, Unreadable):
            return ("",)
        return tuple(_differences(value.to_json(), back.to_json(), ""))

    def _both_ways(self, value: Wire) -> tuple[Callable[[Any], Json], Callable[[Json], Wire | Unreadable], bool]:
        """Return what writes an object, what reads it, and whether the version has it at all."""
        match value:
            case Task() | Message() | TaskStatusUpdateEvent() | TaskArtifactUpdateEvent():
                return self.encode_event, self.decode_event, True
            case AgentCard():
                return self.encode_card, self.decode_card, True
            case TaskList() | PushConfigList() | Deleted():
                result = _RESULTS[type(value)]
                return partial(self.encode_result, result), partial(self.decode_result, result), self.has(result)
            case _:
                offered = [one for one, model in REQUESTS.items() if model is type(value) and self.has(one)]
                asked = next(iter(offered), _FIRST_OPERATION[type(value)])
                return partial(self.encode_request, asked), partial(self.decode_request, asked), bool(offered)


_RESULTS: Mapping[type[Wire], Operation] = {
    TaskList: Operation.LIST,
    PushConfigList: Operation.LIST_PUSH,
    Deleted: Operation.DELETE_PUSH,
}
_FIRST_OPERATION: Mapping[type[Wire], Operation] = {model: operation for operation, model in reversed(REQUESTS.items())}


def _differences(before: Json, after: Json, where: str) -> Iterator[str]:
    """Point to the members of `before` that are missing from `after`, or have another value there."""
    match before, after:
        case dict(), dict():
            for name, member in before.items():
                step = where + pointer(name)
                if name in after:
                    yield from _differences(member, after[name], step)
                elif member is not None:
                    yield step
        case list(), list() if len(before) == len(after):
            for place, (item, other) in enumerate(zip(before, after, strict=True)):
                yield from _differences(item, other, f"{where}/{place}")
        case _ if before != after:
            yield where
