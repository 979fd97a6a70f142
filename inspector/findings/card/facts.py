"""The facts about a card that rules check: its content, how it was served, and its schema errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property

from inspector.findings.card.shapes import CARDS, SCHEMES_BY_TYPE, WRAPPED_SCHEMES
from inspector.findings.rule_set import LEGACY, V1
from inspector.findings.shape import SchemaError, SchemaErrorKind, Shape, schema_errors
from inspector.lazy_dataclass import dataclass
from inspector.protocol.dialects.card_view import CardView
from inspector.protocol.dialects.traits import entry_of
from inspector.protocol.pointer import pointer, steps_of

_OLD_CARD_MEMBERS = frozenset(name for old in LEGACY for name in CARDS[old].members) - CARDS[V1[0]].members.keys()
_OLD_MEMBERS: Mapping[str, frozenset[str]] = {
    "card": _OLD_CARD_MEMBERS,
    "capabilities": frozenset({"stateTransitionHistory"}),
    "skill": frozenset({"security"}),
}
"""The members of older versions that a card of 1.0 may also have, by the object that contains them."""
_OLD_SCHEME_MEMBERS = frozenset(name for shape in SCHEMES_BY_TYPE.values() for name in shape.members)


@dataclass(frozen=True, slots=True)
class Served:
    """How a card was served: its URL (`""` if not over HTTP) and the response headers (names in lower case)."""

    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


def is_old_member(where: str) -> bool:
    """Return whether a pointer leads to a member that only readers of the older protocol version use."""
    steps = steps_of(where)
    if steps[:1] == ("securitySchemes",):
        return len(steps) > 2 and steps[2] in _OLD_SCHEME_MEMBERS
    return bool(steps) and steps[0] in _OLD_CARD_MEMBERS


@dataclass(frozen=True)
class Facts(CardView):
    """A card, the protocol version of the rules to check, how it was served, and its size in bytes."""

    served: Served = field(default_factory=Served)
    size: int = 0

    @cached_property
    def old_view(self) -> Facts | None:
        """Return the members that readers of the older version use, None if the card has only one version."""
        if not self.hybrid:
            return None
        hidden = (self.layout.interfaces, "signatures")
        seen = {name: member for name, member in self.value.items() if name not in hidden}
        schemes = self.value.get("securitySchemes")
        if isinstance(schemes, dict):
            seen["securitySchemes"] = {
                name: {inner: member for inner, member in scheme.items() if inner not in WRAPPED_SCHEMES}
                for name, scheme in schemes.items()
                if isinstance(scheme, dict) and any(inner not in WRAPPED_SCHEMES for inner in scheme)
            }
        return Facts(seen, self.layout.older, self.served, self.size)

    @cached_property
    def schema_errors(self) -> tuple[SchemaError, ...]:
        """Return every difference between the card, including its security schemes, and the shape of its version."""
        found = [*schema_errors(self.value, entry_of(CARDS, self.version))]
        for scheme in self.schemes:
            if self.layout.scheme_types:
                if scheme.kind in SCHEMES_BY_TYPE:  # CARD-070 reports unknown kinds
                    found += schema_errors(scheme.members, SCHEMES_BY_TYPE[scheme.kind], scheme.inside)
            elif scheme.wrappers:
                wrapper = scheme.wrappers[0]
                shape = Shape("security scheme", {wrapper: WRAPPED_SCHEMES[wrapper]}, (wrapper,))
                found += schema_errors({wrapper: scheme.value[wrapper]}, shape, scheme.steps)
        return tuple(found)

    def errors_of(self, kind: SchemaErrorKind, *shapes: str) -> Iterator[SchemaError]:
        """Return the errors of one kind, in objects of these shapes, or in all objects if no shape is given."""
        found = (error for error in self.schema_errors if error.kind is kind)
        return (error for error in found if not shapes or error.shape.of in shapes)

    def unknown_members(self) -> Iterator[SchemaError]:
        """Return the members that no protocol version of the card defines."""
        shared = bool(self.layout.older)
        for error in self.schema_errors:
            old = shared and error.name in _OLD_MEMBERS.get(error.shape.of, ())
            if error.kind is SchemaErrorKind.UNKNOWN and not old and error.shape.of != "security requirement":
                yield error
        for scheme in self.schemes if shared else ():
            for name in scheme.value:
                if name not in WRAPPED_SCHEMES and name not in _OLD_SCHEME_MEMBERS:
                    where, shape = pointer(*scheme.steps, name), entry_of(CARDS, self.version)
                    yield SchemaError(
                        SchemaErrorKind.UNKNOWN, shape, name, where, f"{name} is not a type of security scheme"
                    )
