"""One way to read the card of any version as it was served, before it is read into canonical objects.

A `CardView` is the adapter between the JSON of a card and what readers ask for: interfaces, security schemes,
requirements, and so on, each with its place. What differs between versions is in their `CardLayout`. Nothing here
trusts the card: what has the wrong type is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from inspector.protocol.dialects.traits import VERSIONS, CardLayout
from inspector.protocol.model import Json
from inspector.protocol.pointer import pointer

SCHEME_TYPES: Mapping[str, str] = {
    "apiKeySecurityScheme": "apiKey",
    "httpAuthSecurityScheme": "http",
    "oauth2SecurityScheme": "oauth2",
    "openIdConnectSecurityScheme": "openIdConnect",
    "mtlsSecurityScheme": "mutualTLS",
}
"""The wrappers that name the kind of a security scheme in 1.0, each with the `type` that names it in 0.3."""

Steps = tuple[str | int, ...]


class Interface(NamedTuple):
    """A declared interface; members that are not strings are empty, and listed in `lacks`.

    `binding_at` points to the member that names its binding.
    """

    steps: Steps
    url: str
    binding: str
    version: str
    tenant: str
    binding_at: str
    lacks: frozenset[str] = frozenset()


class Scheme(NamedTuple):
    """A declared security scheme.

    `kind` is the `type` that 0.3 has for it, `wrappers` those of 1.0 that it has. `known` says whether it is of a kind
    that the version has, `foreign` whether only another version can read it. `steps` lead to the scheme, `inside` to
    its `members`.
    """

    name: str
    kind: str
    wrappers: tuple[str, ...]
    known: bool
    foreign: bool
    value: Mapping[str, Json]
    members: Mapping[str, Json]
    steps: Steps
    inside: Steps


class Flow(NamedTuple):
    """An OAuth 2.0 flow of a scheme."""

    kind: str
    members: Mapping[str, Json]
    steps: Steps


class Requirement(NamedTuple):
    """A scheme that a security requirement names, with its scopes."""

    name: str
    scopes: tuple[str, ...]
    pointer: str


@dataclass(frozen=True)
class CardView:
    """A card as an object of JSON, and the version that it is read as."""

    value: Mapping[str, Json]
    version: str

    @cached_property
    def layout(self) -> CardLayout:
        """Return where the card has its members."""
        return VERSIONS[self.version].card

    @cached_property
    def hybrid(self) -> bool:
        """Return whether the card also has the shape of an older version, complete enough to be used."""
        complete = isinstance(self.value.get("url"), str) and "protocolVersion" in self.value
        return bool(self.layout.older) and complete and bool(self.interfaces)

    @cached_property
    def interfaces(self) -> tuple[Interface, ...]:
        """Return the declared interfaces, in the card's order; the main URL, if the version has one, comes first."""
        return (*(self._main() if self.layout.main_url else ()), *self._listed_interfaces())

    def _main(self) -> Iterator[Interface]:
        url, transport = self.value.get("url"), self.value.get("preferredTransport", "JSONRPC")
        if isinstance(url, str):
            binding = transport if isinstance(transport, str) else ""
            yield Interface((), url, binding, _text(self.value, "protocolVersion"), "", "/preferredTransport")

    def _listed_interfaces(self) -> Iterator[Interface]:
        layout = self.layout
        names = ("url", layout.binding, "protocolVersion", "tenant")
        for number, one in _objects(self.value.get(layout.interfaces)):
            steps = (layout.interfaces, number)
            lacks = frozenset(name for name in names if not isinstance(one.get(name), str))
            url, binding, version, tenant = (_text(one, name) for name in names)
            # The version of a card with a main URL is that of the card.
            version = "" if layout.main_url else version
            yield Interface(steps, url, binding, version, tenant, pointer(*steps, layout.binding), lacks)

    @property
    def interfaces_at(self) -> str:
        """Point to what says where the agent is: a list, or the whole card."""
        return "" if self.layout.main_url else pointer(self.layout.interfaces)

    def versions(self) -> Iterator[tuple[str, str]]:
        """Return each protocol version that the card declares, with its pointer."""
        if not self.layout.main_url:
            for one in self.interfaces:
                if "protocolVersion" not in one.lacks:
                    yield pointer(*one.steps, "protocolVersion"), one.version
        elif isinstance(version := self.value.get("protocolVersion"), str):
            yield "/protocolVersion", version

    @cached_property
    def skills(self) -> tuple[tuple[int, Mapping[str, Json]], ...]:
        """Return the skills that are objects, each with its index."""
        return tuple(_objects(self.value.get("skills")))

    @cached_property
    def schemes(self) -> tuple[Scheme, ...]:
        """Return the security schemes that are objects."""
        declared = self.value.get("securitySchemes")
        items = declared.items() if isinstance(declared, dict) else ()
        return tuple(self._scheme(name, value) for name, value in items if isinstance(value, dict))

    def _scheme(self, name: str, value: Mapping[str, Json]) -> Scheme:
        steps = ("securitySchemes", name)
        kind, types = _text(value, "type"), self.layout.scheme_types
        wrappers = tuple(member for member in value if member in SCHEME_TYPES)
        if types:
            foreign = bool(wrappers) and kind not in SCHEME_TYPES.values()
            return Scheme(name, kind, wrappers, kind in types, foreign, value, value, steps, steps)
        if not wrappers:
            foreign = kind in SCHEME_TYPES.values()
            return Scheme(name, kind, wrappers, False, foreign, value, value, steps, steps)
        members = value[wrappers[0]] if isinstance(value[wrappers[0]], dict) else {}
        kind, inside = SCHEME_TYPES[wrappers[0]], (*steps, wrappers[0])
        return Scheme(name, kind, wrappers, True, False, value, members, steps, inside)

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        """Return the OAuth 2.0 flows of every scheme, unknown flows included."""
        return tuple(
            Flow(kind, members, (*scheme.inside, "flows", kind))
            for scheme in self.schemes
            if isinstance(flows := scheme.members.get("flows"), dict)
            for kind, members in flows.items()
            if isinstance(members, dict)
        )

    def login_urls(self) -> Iterator[tuple[str, str]]:
        """Return every URL at which credentials are obtained, with its pointer."""
        owners: list[tuple[Steps, Mapping[str, Json]]] = [(one.inside, one.members) for one in self.schemes]
        owners += [(one.steps, one.members) for one in self.flows]
        for steps, members in owners:
            for name, url in members.items():
                if name.endswith("Url") and isinstance(url, str):
                    yield pointer(*steps, name), url

    @cached_property
    def requirement_objects(self) -> tuple[tuple[Steps, Mapping[str, Json]], ...]:
        """Return the security requirements of the card and of its skills that are objects, each with its place."""
        owners: list[tuple[Steps, Mapping[str, Json]]] = [((), self.value)]
        owners += [(("skills", number), skill) for number, skill in self.skills]
        name = self.layout.requirements
        return tuple(
            ((*steps, name, number), one) for steps, owner in owners for number, one in _objects(owner.get(name))
        )

    @cached_property
    def requirements(self) -> tuple[Requirement, ...]:
        """Return the schemes that the security requirements name."""
        found: list[Requirement] = []
        for steps, one in self.requirement_objects:
            nested = self.layout.nested_requirements
            named, where = (one.get("schemes"), (*steps, "schemes")) if nested else (one, steps)
            for name, scopes in named.items() if isinstance(named, dict) else ():
                listed = scopes.get("list") if isinstance(scopes, dict) else scopes
                texts = tuple(scope for scope in listed if isinstance(scope, str)) if isinstance(listed, list) else ()
                found.append(Requirement(name, texts, pointer(*where, name)))
        return tuple(found)

    @property
    def extended_card_at(self) -> str:
        """Point to the flag that declares an extended card, "" if it is not set."""
        value: Json = self.value
        for step in self.layout.extended:
            value = value.get(step) if isinstance(value, dict) else None
        return pointer(*self.layout.extended) if value is True else ""

    @cached_property
    def extensions(self) -> tuple[tuple[str, Mapping[str, Json]], ...]:
        """Return the declared extensions that are objects, each with its pointer."""
        capabilities = self.value.get("capabilities")
        listed = capabilities.get("extensions") if isinstance(capabilities, dict) else None
        return tuple((pointer("capabilities", "extensions", number), one) for number, one in _objects(listed))

    def modes(self) -> Iterator[tuple[str, str]]:
        """Return every media type that the card or a skill declares, with its pointer."""
        for name in ("defaultInputModes", "defaultOutputModes"):
            yield from _texts(self.value.get(name), name)
        for number, skill in self.skills:
            for name in ("inputModes", "outputModes"):
                yield from _texts(skill.get(name), "skills", number, name)


def _objects(value: Json) -> Iterator[tuple[int, Mapping[str, Json]]]:
    """Return the items of a list that are objects, each with its index."""
    return (
        (number, one) for number, one in enumerate(value if isinstance(value, list) else ()) if isinstance(one, dict)
    )


def _text(value: Mapping[str, Json], name: str) -> str:
    member = value.get(name)
    return member if isinstance(member, str) else ""


def _texts(value: Json, *steps: str | int) -> Iterator[tuple[str, str]]:
    for number, one in enumerate(value if isinstance(value, list) else ()):
        if isinstance(one, str):
            yield pointer(*steps, number), one
