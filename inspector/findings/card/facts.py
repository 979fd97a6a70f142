"""A card as the rules see it: the view of its version, how it was served, and where it leaves its shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from inspector.findings.card.shapes import CARDS, SCHEMES_BY_TYPE, WRAPPED_SCHEMES
from inspector.findings.rule_set import LEGACY, V1
from inspector.findings.shape import SchemaError, SchemaErrorKind, Shape, schema_errors
from inspector.protocol.dialects.card_view import CardView
from inspector.protocol.dialects.traits import entry_of
from inspector.protocol.pointer import pointer, steps_of

_OLD_CARD_MEMBERS = frozenset(name for old in LEGACY for name in CARDS[old].members) - CARDS[V1[0]].members.keys()
_OLD_MEMBERS: Mapping[str, frozenset[str]] = {
    "card": _OLD_CARD_MEMBERS,
    "capabilities": frozenset({"stateTransitionHistory"}),
    "skill": frozenset({"security"}),
}
"""The members of older versions that a card of 1.0 may have as well, by the object that has them."""
_OLD_SCHEME_MEMBERS = frozenset(name for shape in SCHEMES_BY_TYPE.values() for name in shape.members)


@dataclass(frozen=True, slots=True)
class Served:
    """How a card was served: its URL (`""`: not over HTTP) and the headers (names in lower case)."""

    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


def is_old_member(where: str) -> bool:
    """Return whether a pointer leads to a member that a card of two versions has for readers of the older one."""
    steps = steps_of(where)
    if steps[:1] == ("securitySchemes",):
        return len(steps) > 2 and steps[2] in _OLD_SCHEME_MEMBERS
    return bool(steps) and steps[0] in _OLD_CARD_MEMBERS


@dataclass(frozen=True)
class Facts(CardView):
    """A card, the version that it is checked as, how it was served, and its size in bytes."""

    served: Served = field(default_factory=Served)
    size: int = 0

    @cached_property
    def old_view(self) -> Facts | None:
        """Return a card of two versions as readers of the older version see it, None for a card of one version."""
        if not self.hybrid:
            return None
        hidden = (self.layout.interfaces, "signatures")
        seen = {name: member for name, member in self.value.items() if name not in hidden}
        schemes = self.value.get("securitySchemes")
        if isinstance(schemes, dict):
            seen["securitySchemes"] = {
                name: {inner: member for inner, member in one.items() if inner not in WRAPPED_SCHEMES}
                for name, one in schemes.items()
                if isinstance(one, dict) and any(inner not in WRAPPED_SCHEMES for inner in one)
            }
        return Facts(seen, self.layout.older, self.served, self.size)

    @cached_property
    def schema_errors(self) -> tuple[SchemaError, ...]:
        """Return every place where the card or one of its schemes leaves the shape of its version."""
        found = [*schema_errors(self.value, entry_of(CARDS, self.version))]
        for scheme in self.schemes:
            if self.layout.scheme_types:
                if scheme.kind in SCHEMES_BY_TYPE:  # otherwise the rules about kinds report it
                    found += schema_errors(scheme.members, SCHEMES_BY_TYPE[scheme.kind], scheme.inside)
            elif scheme.wrappers:
                wrapper = scheme.wrappers[0]
                shape = Shape("security scheme", {wrapper: WRAPPED_SCHEMES[wrapper]}, (wrapper,))
                found += schema_errors({wrapper: scheme.value[wrapper]}, shape, scheme.steps)
        return tuple(found)

    def errors_of(self, kind: SchemaErrorKind, *shapes: str) -> Iterator[SchemaError]:
        """Return the errors of one kind, in objects of these shapes or of any."""
        found = (error for error in self.schema_errors if error.kind is kind)
        return (error for error in found if not shapes or error.shape.of in shapes)

    def unknown_members(self) -> Iterator[SchemaError]:
        """Return the members that no specification names, in any version that the card may be meant for."""
        shared = bool(self.layout.older)
        for one in self.schema_errors:
            old = shared and one.name in _OLD_MEMBERS.get(one.shape.of, ())
            if one.kind is SchemaErrorKind.UNKNOWN and not old and one.shape.of != "security requirement":
                yield one
        for scheme in self.schemes if shared else ():
            for name in scheme.value:
                if name not in WRAPPED_SCHEMES and name not in _OLD_SCHEME_MEMBERS:
                    where, shape = pointer(*scheme.steps, name), entry_of(CARDS, self.version)
                    yield SchemaError(SchemaErrorKind.UNKNOWN, shape, name, where, f"{name} is no kind of scheme")
