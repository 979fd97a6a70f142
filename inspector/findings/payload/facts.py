"""An object that an agent sent, as the rules see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from inspector.findings.shape import Kind, SchemaError, SchemaErrorKind, schema_errors
from inspector.protocol.dialects.registry import traits_of
from inspector.protocol.dialects.traits import Traits
from inspector.protocol.model import Json

_PARTS = ("parts", "content")
_INNER = (
    *("task", "message", "msg", "statusUpdate", "artifactUpdate", "status", "update", "artifact"),
    *("artifacts", "history", "tasks", *_PARTS),
)
"""The members that contain further objects of the protocol."""
_OWNERS = {"content": "parts", "tasks": "task", "artifacts": "artifact", "history": "message", "msg": "message"}

_MOST_ERRORS = 1000
"""The most errors that are reported of one object; each one takes a kilobyte."""

Steps = tuple[str | int, ...]


@dataclass(frozen=True)
class PayloadFacts:
    """The object in a response, an event or a push; `steps` lead to it in its payload, `shape` is the expected one."""

    value: Json
    shape: Kind
    version: str
    binding: str
    steps: Steps = ()

    @property
    def traits(self) -> Traits:
        """Return the traits of the protocol version over the binding."""
        return traits_of(self.version, self.binding)

    @cached_property
    def schema_errors(self) -> tuple[SchemaError, ...]:
        """The places where the object differs from its shape."""
        return tuple(islice(schema_errors(self.value, self.shape, self.steps), _MOST_ERRORS))

    def errors_of(self, *kinds: SchemaErrorKind) -> Iterator[SchemaError]:
        """Return the errors of these kinds."""
        return (one for one in self.schema_errors if one.kind in kinds)

    @cached_property
    def objects(self) -> tuple[tuple[str, Steps, Mapping[str, Json]], ...]:
        """The objects of the protocol in it, the outer ones first: member name, steps, value."""
        found: list[tuple[str, Steps, Mapping[str, Json]]] = []
        waiting: list[tuple[str, Steps, Json]] = [("", self.steps, self.value)]
        while waiting:
            name, steps, value = waiting.pop()
            if isinstance(value, list):
                held = [(number, one) for number, one in enumerate(value) if isinstance(one, dict | list)]
                waiting += [(name, (*steps, number), one) for number, one in reversed(held)]
            elif isinstance(value, dict):
                found.append((_OWNERS.get(name, name), steps, value))
                waiting += [(inner, (*steps, inner), value[inner]) for inner in reversed(_INNER) if inner in value]
        return tuple(found)

    def parts(self) -> Iterator[tuple[Steps, Mapping[str, Json]]]:
        """Return every part in it, with the steps to it."""
        return ((steps, one) for name, steps, one in self.objects if name == "parts")
