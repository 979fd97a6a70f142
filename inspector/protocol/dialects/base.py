"""The dialect of a protocol version: functions that convert between its JSON and the canonical objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from functools import partial
from typing import Any, TypeAlias

from inspector.lazy_dataclass import dataclass
from inspector.protocol.bindings.protobuf import Descriptors
from inspector.protocol.card import AgentCard
from inspector.protocol.dialects.traits import V1_0, Traits
from inspector.protocol.errors import BY_CODE
from inspector.protocol.jsonvalue import read
from inspector.protocol.lenient_read import read_lenient
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
    """The HTTP method (`verb`) and the path of an operation over HTTP+JSON.

    - `{member}` in the path is replaced by a member of the parameters, percent-encoded.
    - `{+member}` keeps its slashes, and `{member=tasks/*}` those of the pattern; `*` is one segment.
    - The other members are sent in the body of a POST, or in the query. With `whole_body`, the body has all members.
    - With `body`, this member is the body of a POST, and the others are in the query.
    """

    verb: str
    path: str
    whole_body: bool = False
    body: str = ""


@dataclass(frozen=True, slots=True)
class GrpcMethod:
    """The gRPC method of an operation and its message types: names in the package, or full names with dots."""

    name: str
    request: str
    response: str


@dataclass(frozen=True, slots=True)
class GrpcService:
    """A gRPC service: its full name, its methods, and the descriptor set with its message types."""

    name: str
    descriptors: Descriptors
    methods: Mapping[Operation, GrpcMethod]


def grpc_methods(
    responses: Mapping[Operation, str], requests: Mapping[Operation, str], names: Mapping[Operation, str] | None = None
) -> Mapping[Operation, GrpcMethod]:
    """Return the methods of a service, given the types of its responses.

    By default a method is named like its operation, and its request type is the name of the method with `Request`.
    `names` and `requests` override these names.
    """
    named = {operation: (names or {}).get(operation, operation.value) for operation in responses}
    return {
        operation: GrpcMethod(name, requests.get(operation, f"{name}Request"), responses[operation])
        for operation, name in named.items()
    }


_LATER = range(-32099, V1_0.last_error)
"""The codes that were added after 1.0."""
ERRORS: Mapping[int, str] = {code: kind.name for code, kind in BY_CODE.items() if code not in _LATER}
"""The names of the JSON-RPC error codes of A2A 0.2 to 1.0."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The JSON of a protocol version: `encode_*` writes it, `decode_*` reads it and never raises.

    A client uses `encode_request` and `decode_result`, a server `decode_request` and `encode_result`.

    - `traits`: the differences between versions besides their JSON.
    - `methods` (JSON-RPC), `routes` (HTTP+JSON), `service` (gRPC): the operations over each transport. They are empty
      for a transport that does not use this JSON.
    - `headers`: the headers that are sent with every request.
    - `extended_card_path`: the path of the extended card, relative to the parent of the URL of the interface, if the
      version has no method for it.
    - `errors`: the names of the JSON-RPC error codes.
    - `import_card`: converts a card to the canonical JSON; other values and members are not changed.
    - `reads_directly`: whether `decode_event` reads the canonical JSON, so that `direct_read` returns the same events.
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
    import_card: Callable[[Json], Json]
    routes: Mapping[Operation, Route] = field(default_factory=dict)
    service: GrpcService | None = None
    extended_card_path: str = ""
    errors: Mapping[int, str] = field(default_factory=lambda: ERRORS)
    reads_directly: bool = False

    @property
    def version(self) -> str:
        """Return the name of the protocol version."""
        return self.traits.version

    def with_whole_body(self, operation: Operation) -> Dialect:
        """Return this dialect with all members of an operation in its body, as some SDKs read it."""
        route = replace(self.routes[operation], body="", whole_body=True)
        return replace(self, routes={**self.routes, operation: route})

    def has(self, operation: Operation) -> bool:
        """Return whether the version has the operation over a transport that uses this JSON."""
        if operation is Operation.EXTENDED_CARD and self.extended_card_path:
            return True
        over_http = operation in self.methods or operation in self.routes
        return over_http or (self.service is not None and operation in self.service.methods)

    def encode(self, value: Wire) -> Json:
        """Return the JSON of this version for a canonical event, request, list or card."""
        return self._codec(value)[0](value)

    def decode_card(self, value: Json) -> AgentCard | Unreadable:
        """Read a card, without the members of the wrong type if the agent can be used without them."""
        return read_lenient(AgentCard, value, self.import_card)

    def mistake_in_card(self, value: Json) -> str:
        """Return the first reason for which a strict reader cannot read a card, `""` if it can."""
        card = read(AgentCard, value, self.import_card)
        return card.why if isinstance(card, Unreadable) else ""

    def unsupported_members(self, value: Wire) -> tuple[str, ...]:
        """Return JSON pointers to the members of a canonical object that this version cannot represent.

        These members differ after the object was written and read again. The pointers refer to the canonical JSON. The
        result is `""` (the whole object) if the version does not have the operation.
        """
        write, read, supported = self._codec(value)
        if not supported:
            return ("",)
        result = read(write(value))
        if isinstance(result, Unreadable):
            return ("",)
        return tuple(_differences(value.to_json(), result.to_json(), ""))

    def _codec(self, value: Wire) -> tuple[Callable[[Any], Json], Callable[[Json], Wire | Unreadable], bool]:
        """Return the functions that write and read an object, and whether the version supports it."""
        match value:
            case Task() | Message() | TaskStatusUpdateEvent() | TaskArtifactUpdateEvent():
                return self.encode_event, self.decode_event, True
            case AgentCard():
                return self.encode_card, self.decode_card, True
            case TaskList() | PushConfigList() | Deleted():
                result = _RESULTS[type(value)]
                return partial(self.encode_result, result), partial(self.decode_result, result), self.has(result)
            case _:
                supported = [
                    operation for operation, model in REQUESTS.items() if model is type(value) and self.has(operation)
                ]
                operation = next(iter(supported), _FIRST_OPERATION[type(value)])
                return (
                    partial(self.encode_request, operation),
                    partial(self.decode_request, operation),
                    bool(supported),
                )


_RESULTS: Mapping[type[Wire], Operation] = {
    TaskList: Operation.LIST,
    PushConfigList: Operation.LIST_PUSH,
    Deleted: Operation.DELETE_PUSH,
}
_FIRST_OPERATION: Mapping[type[Wire], Operation] = {model: operation for operation, model in reversed(REQUESTS.items())}


def _differences(before: Json, after: Json, where: str) -> Iterator[str]:
    """Yield pointers to the members of `before` that are missing from `after` or have another value there."""
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
