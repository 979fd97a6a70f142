"""A card taken apart for the rules: interfaces, security schemes, flows, requirements and modes, each with its place.

Nothing here trusts the card: what has the wrong type is left out, because the rules about types name it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from inspector.findings.card.shapes import CARDS, SCHEMES_BY_TYPE, WRAPPED_SCHEMES
from inspector.findings.rule import V1
from inspector.findings.shape import Breach, Shape, Slip, breaches
from inspector.protocol.model import Json
from inspector.protocol.pointer import pointer, steps_of

_OLD_CARD_MEMBERS = frozenset(name for old in ("0.1", "0.2", "0.3") for name in CARDS[old].members) - frozenset(
    CARDS["1.0"].members
)
_OLD_MEMBERS: Mapping[str, frozenset[str]] = {
    "card": _OLD_CARD_MEMBERS,
    "capabilities": frozenset({"stateTransitionHistory"}),
    "skill": frozenset({"security"}),
}
"""What older generations have in an object of 1.0, which a card of both has beside it."""
_OLD_SCHEME_MEMBERS = frozenset(name for shape in SCHEMES_BY_TYPE.values() for name in shape.members)


@dataclass(frozen=True, slots=True)
class Served:
    """How a card came: from which url (`""`: not by HTTP), with which headers (names in lower case)."""

    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


class Interface(NamedTuple):
    """A declared interface; members that are no strings are empty, and listed in `lacks`."""

    steps: tuple[str | int, ...]
    url: str
    binding: str
    version: str
    tenant: str
    lacks: frozenset[str] = frozenset()


class Scheme(NamedTuple):
    """A declared security scheme: under which name, of which kind (in the words of 0.3), with which members.

    `kinds` are the wrappers of 1.0 that it has; `steps` lead to the scheme, `inside` to its members.
    """

    name: str
    kind: str
    kinds: tuple[str, ...]
    value: Mapping[str, Json]
    members: Mapping[str, Json]
    steps: tuple[str | int, ...]
    inside: tuple[str | int, ...]


class Flow(NamedTuple):
    """An OAuth 2.0 flow of a scheme."""

    kind: str
    members: Mapping[str, Json]
    steps: tuple[str | int, ...]


class Demand(NamedTuple):
    """A scheme that a security requirement names, with its scopes."""

    name: str
    scopes: tuple[str, ...]
    pointer: str


_KINDS = dict(zip(WRAPPED_SCHEMES, SCHEMES_BY_TYPE, strict=True))
"""The wrappers of 1.0, each with the `type` of 0.3 that says the same."""


def is_old_member(where: str) -> bool:
    """Say whether a pointer leads to what a card of two generations has for readers of the older one."""
    steps = steps_of(where)
    if steps[:1] == ("securitySchemes",):
        return len(steps) > 2 and steps[2] in _OLD_SCHEME_MEMBERS
    return bool(steps) and steps[0] in _OLD_CARD_MEMBERS


@dataclass(frozen=True)
class Facts:
    """A card as an object of JSON, the generation that it is judged as, and how it came."""

    value: Mapping[str, Json]
    generation: str
    served: Served = field(default_factory=Served)
    size: int = 0

    @property
    def is_1_0(self) -> bool:
        """Say whether the card has the shape of 1.0."""
        return self.generation in V1

    @cached_property
    def hybrid(self) -> bool:
        """Say whether a card of 1.0 carries the shape of an older generation as well, whole enough to be used."""
        whole = isinstance(self.value.get("url"), str) and "protocolVersion" in self.value
        return self.is_1_0 and whole and bool(self.interfaces)

    @cached_property
    def old_view(self) -> Facts | None:
        """The card of two generations as readers of the older one see it, None for a card of one."""
        if not self.hybrid:
            return None
        seen = {
            name: member for name, member in self.value.items() if name not in ("supportedInterfaces", "signatures")
        }
        schemes = self.value.get("securitySchemes")
        if isinstance(schemes, dict):
            seen["securitySchemes"] = {
                name: {inner: member for inner, member in one.items() if inner not in WRAPPED_SCHEMES}
                for name, one in schemes.items()
                if isinstance(one, dict) and any(inner not in WRAPPED_SCHEMES for inner in one)
            }
        return Facts(seen, "0.3", self.served, self.size)

    @cached_property
    def breaches(self) -> tuple[Breach, ...]:
        """Every place where the card or one of its schemes leaves the shape of its generation."""
        found = [*breaches(self.value, CARDS[self.generation])]
        for scheme in self.schemes:
            known = WRAPPED_SCHEMES if self.is_1_0 else SCHEMES_BY_TYPE
            shape = known.get(scheme.kinds[0] if self.is_1_0 and scheme.kinds else scheme.kind)
            if shape is None or (self.is_1_0 and not scheme.kinds):
                continue  # the rules about kinds name it
            if self.is_1_0:
                kind = scheme.kinds[0]
                shape = Shape("security scheme", {kind: shape}, (kind,))
                found += breaches({kind: scheme.value[kind]}, shape, scheme.steps)
            else:
                found += breaches(scheme.members, shape, scheme.inside)
        return tuple(found)

    def slips(self, slip: Slip, of: str) -> Iterator[Breach]:
        """Give the breaches of one sort in objects of one shape."""
        return (one for one in self.breaches if one.slip is slip and one.shape.of == of)

    def strangers(self) -> Iterator[Breach]:
        """Give the members that no specification knows, in any generation that the card may be meant for."""
        for one in self.breaches:
            old = self.is_1_0 and one.name in _OLD_MEMBERS.get(one.shape.of, ())
            if one.slip is Slip.UNKNOWN and not old and one.shape.of != "security requirement":
                yield one
        for scheme in self.schemes if self.is_1_0 else ():
            for name in scheme.value:
                if name not in WRAPPED_SCHEMES and name not in _OLD_SCHEME_MEMBERS:
                    shape = CARDS[self.generation]
                    yield Breach(
                        Slip.UNKNOWN, shape, name, pointer(*scheme.steps, name), f"{name} is no kind of scheme"
                    )

    @cached_property
    def interfaces(self) -> tuple[Interface, ...]:
        """The declared interfaces, in the card's order; in a card before 1.0 the main url comes first."""
        if self.is_1_0:
            return tuple(_interfaces(self.value, "supportedInterfaces", "protocolBinding"))
        return (*self._main, *_interfaces(self.value, "additionalInterfaces", "transport"))

    @property
    def _main(self) -> Iterator[Interface]:
        url, transport = self.value.get("url"), self.value.get("preferredTransport", "JSONRPC")
        if isinstance(url, str):
            version = _text(self.value, "protocolVersion")
            yield Interface((), url, transport if isinstance(transport, str) else "", version, "")

    @cached_property
    def skills(self) -> tuple[tuple[int, Mapping[str, Json]], ...]:
        """The skills that are objects, each with its index."""
        listed = self.value.get("skills")
        return tuple((number, one) for number, one in enumerate(listed if isinstance(listed, list) else ()) if _is(one))

    @cached_property
    def schemes(self) -> tuple[Scheme, ...]:
        """The security schemes that are objects."""
        declared = self.value.get("securitySchemes")
        known = declared.items() if isinstance(declared, dict) else ()
        return tuple(_scheme(name, value, is_1_0=self.is_1_0) for name, value in known if _is(value))

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        """The OAuth 2.0 flows of every scheme, unknown ones included."""
        return tuple(
            Flow(kind, members, (*scheme.inside, "flows", kind))
            for scheme in self.schemes
            if isinstance(flows := scheme.members.get("flows"), dict)
            for kind, members in flows.items()
            if _is(members)
        )

    def login_urls(self) -> Iterator[tuple[str, str]]:
        """Give every url at which credentials are got, with its pointer."""
        owners: list[tuple[tuple[str | int, ...], Mapping[str, Json]]] = [
            (one.inside, one.members) for one in self.schemes
        ]
        owners += [(one.steps, one.members) for one in self.flows]
        for steps, members in owners:
            for name, url in members.items():
                if name.endswith("Url") and isinstance(url, str):
                    yield pointer(*steps, name), url

    @cached_property
    def requirements(self) -> tuple[tuple[tuple[str | int, ...], Mapping[str, Json]], ...]:
        """The security requirements of the card and of its skills that are objects, each with its place."""
        name = "securityRequirements" if self.is_1_0 else "security"
        owners: list[tuple[tuple[str | int, ...], Mapping[str, Json]]] = [((), self.value)]
        owners += [(("skills", number), skill) for number, skill in self.skills]
        return tuple(
            ((*steps, name, number), one)
            for steps, owner in owners
            if isinstance(listed := owner.get(name), list)
            for number, one in enumerate(listed)
            if _is(one)
        )

    @cached_property
    def demands(self) -> tuple[Demand, ...]:
        """The schemes that the requirements name, in the shape of the card's generation."""
        found: list[Demand] = []
        for steps, one in self.requirements:
            named = one.get("schemes") if self.is_1_0 else one
            where = (*steps, "schemes") if self.is_1_0 else steps
            for name, scopes in named.items() if isinstance(named, dict) else ():
                listed = scopes.get("list") if isinstance(scopes, dict) else scopes
                texts = tuple(one for one in listed if isinstance(one, str)) if isinstance(listed, list) else ()
                found.append(Demand(name, texts, pointer(*where, name)))
        return tuple(found)

    @cached_property
    def extensions(self) -> tuple[tuple[str, Mapping[str, Json]], ...]:
        """The declared extensions that are objects, each with its pointer."""
        capabilities = self.value.get("capabilities")
        listed = capabilities.get("extensions") if isinstance(capabilities, dict) else None
        return tuple(
            (pointer("capabilities", "extensions", number), one)
            for number, one in enumerate(listed if isinstance(listed, list) else ())
            if _is(one)
        )

    def modes(self) -> Iterator[tuple[str, str]]:
        """Give every media type that the card or a skill declares, with its pointer."""
        for name in ("defaultInputModes", "defaultOutputModes"):
            yield from _texts(self.value.get(name), name)
        for number, skill in self.skills:
            for name in ("inputModes", "outputModes"):
                yield from _texts(skill.get(name), "skills", number, name)


def _interfaces(card: Mapping[str, Json], member: str, binding: str) -> Iterator[Interface]:
    listed = card.get(member)
    for number, one in enumerate(listed if isinstance(listed, list) else ()):
        if _is(one):
            names = ("url", binding, "protocolVersion", "tenant")
            lacks = frozenset(name for name in names if not isinstance(one.get(name), str))
            url, spoken, version, tenant = (_text(one, name) for name in names)
            yield Interface((member, number), url, spoken, version, tenant, lacks)


def _scheme(name: str, value: Mapping[str, Json], *, is_1_0: bool) -> Scheme:
    steps = ("securitySchemes", name)
    kinds = tuple(one for one in value if one in WRAPPED_SCHEMES)
    inside = value.get(kinds[0]) if kinds else None
    if is_1_0 and kinds:
        members = inside if isinstance(inside, dict) else {}
        return Scheme(name, _KINDS[kinds[0]], kinds, value, members, steps, (*steps, kinds[0]))
    return Scheme(name, _text(value, "type"), kinds, value, value, steps, steps)


def _text(value: Mapping[str, Json], name: str) -> str:
    member = value.get(name)
    return member if isinstance(member, str) else ""


def _texts(value: Json, *steps: str | int) -> Iterator[tuple[str, str]]:
    for number, one in enumerate(value if isinstance(value, list) else ()):
        if isinstance(one, str):
            yield pointer(*steps, number), one


def _is(value: Json) -> bool:
    return isinstance(value, dict)
