"""The facts about an object from an agent that rules check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice

from inspector.findings.shape import Kind, SchemaError, SchemaErrorKind, schema_errors
from inspector.lazy_dataclass import dataclass
from inspector.protocol.dialects.registry import traits_of
from inspector.protocol.dialects.traits import Traits
from inspector.protocol.model import Json

_PARTS = ("parts", "content")
_INNER = (
    *("task", "message", "msg", "statusUpdate", "artifactUpdate", "status", "update", "artifact"),
    *("artifacts", "history", "tasks", *_PARTS),
)
"""The members that contain other protocol objects."""
_NORMALISED_NAMES = {
    "content": "parts",
    "tasks": "task",
    "artifacts": "artifact",
    "history": "message",
    "msg": "message",
    "update": "message",  # of a status, in the ProtoJSON of 0.3
}

_MOST_ERRORS = 1000
"""The maximum number of schema errors of one object; each error needs about one kilobyte of memory."""

Steps = tuple[str | int, ...]


@dataclass(frozen=True)
class PayloadFacts:
    """The object in a response, an event or a push notification, with its expected shape.

    `steps` are the member names and indices that lead to the object in its payload.
    """

    value: Json
    shape: Kind
    version: str
    binding: str
    steps: Steps = ()

    @property
    def traits(self) -> Traits:
        """Return the `Traits` of the protocol version over the binding."""
        return traits_of(self.version, self.binding)

    @cached_property
    def schema_errors(self) -> tuple[SchemaError, ...]:
        """Return the differences between the object and its shape."""
        return tuple(islice(schema_errors(self.value, self.shape, self.steps), _MOST_ERRORS))

    def errors_of(self, *kinds: SchemaErrorKind) -> Iterator[SchemaError]:
        """Return the errors of these kinds."""
        return (error for error in self.schema_errors if error.kind in kinds)

    @cached_property
    def objects(self) -> tuple[tuple[str, Steps, Mapping[str, Json]], ...]:
        """Return the object and the protocol objects in it, outer objects first: member name, steps and value."""
        found: list[tuple[str, Steps, Mapping[str, Json]]] = []
        waiting: list[tuple[str, Steps, Json]] = [("", self.steps, self.value)]
        while waiting:
            name, steps, value = waiting.pop()
            if isinstance(value, list):
                indexed = [(number, item) for number, item in enumerate(value) if isinstance(item, dict | list)]
                waiting += [(name, (*steps, number), item) for number, item in reversed(indexed)]
            elif isinstance(value, dict):
                found.append((_NORMALISED_NAMES.get(name, name), steps, value))
                waiting += [(inner, (*steps, inner), value[inner]) for inner in reversed(_INNER) if inner in value]
        return tuple(found)

    def parts(self) -> Iterator[tuple[Steps, Mapping[str, Json]]]:
        """Return every part in the object, with the steps to it."""
        return ((steps, part) for name, steps, part in self.objects if name == "parts")
