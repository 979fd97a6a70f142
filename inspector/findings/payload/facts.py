"""One object that an agent sent, taken apart for the rules."""

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
"""The members in which more of the protocol's own objects stand."""
_OWNERS = {"content": "parts", "tasks": "task", "artifacts": "artifact", "history": "message", "msg": "message"}

_MOST_ERRORS = 1000
"""How many places are named: who writes more wrong than this repeats one thing, and each one takes a kilobyte."""

Steps = tuple[str | int, ...]


@dataclass(frozen=True)
class PayloadFacts:
    """An answer, an event or the body of a push, without its envelope, which stands in its payload at `steps`.

    `shape` is what it is due to look like, `binding` the one that it came over.
    """

    value: Json
    shape: Kind
    generation: str
    binding: str
    steps: Steps = ()

    @property
    def traits(self) -> Traits:
        """Return what is particular to the version over the binding."""
        return traits_of(self.generation, self.binding)

    @cached_property
    def schema_errors(self) -> tuple[SchemaError, ...]:
        """The places where the object leaves its shape, as many as are worth naming."""
        return tuple(islice(schema_errors(self.value, self.shape, self.steps), _MOST_ERRORS))

    def errors_of(self, *kinds: SchemaErrorKind) -> Iterator[SchemaError]:
        """Return the errors of these kinds."""
        return (one for one in self.schema_errors if one.kind in kinds)

    @cached_property
    def objects(self) -> tuple[tuple[str, Steps, Mapping[str, Json]], ...]:
        """The protocol's own objects in it, the outer ones first: the member that each is, its place, itself."""
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
        """Give every part in it, with its place."""
        return ((steps, one) for name, steps, one in self.objects if name == "parts")
