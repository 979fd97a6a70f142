"""Read the JSON of a card of any protocol version without converting it to the objects of 1.0.

A `CardView` returns interfaces, security schemes, requirements and so on, each with its position in the card. The
differences between versions are in `CardLayout`. Members of the wrong type are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from inspector.lazy_dataclass import dataclass
from inspector.protocol.dialects.traits import VERSIONS, CardLayout
from inspector.protocol.jsonvalue import text_in
from inspector.protocol.model import Json
from inspector.protocol.pointer import pointer

SCHEME_TYPES: Mapping[str, str] = {
    "apiKeySecurityScheme": "apiKey",
    "httpAuthSecurityScheme": "http",
    "oauth2SecurityScheme": "oauth2",
    "openIdConnectSecurityScheme": "openIdConnect",
    "mtlsSecurityScheme": "mutualTLS",
}
"""The kinds of security schemes: the wrapper member of 1.0, and the value of `type` in 0.3."""

Steps = tuple[str | int, ...]


class Interface(NamedTuple):
    """A declared interface; a member that is missing or not a string is "", and listed in `lacks`.

    `steps` is the path to the interface, `binding_at` the JSON pointer to the member with its binding.
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

    - `kind`: its `type` in 0.3; `wrappers`: its wrapper members of 1.0 that are not null.
    - `known`: whether the version has this kind; `foreign`: whether the scheme has the format of another version.
    - `steps`: the path to the scheme; `inside`: the path to its `members`.
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
    """A security scheme in a security requirement: its name, its scopes and its JSON pointer."""

    name: str
    scopes: tuple[str, ...]
    pointer: str


_OPTIONAL_URLS = ("refreshUrl", "oauth2MetadataUrl")
"""The URLs that a scheme or a flow can lack; an SDK writes them as empty strings."""


@dataclass(frozen=True)
class CardView:
    """The JSON object of a card, and the protocol version whose format is used to read it."""

    value: Mapping[str, Json]
    version: str

    @cached_property
    def layout(self) -> CardLayout:
        """Return the positions of the members in this version."""
        return VERSIONS[self.version].card

    @cached_property
    def hybrid(self) -> bool:
        """Return whether the card also contains a complete card of an older version."""
        complete = isinstance(self.value.get("url"), str) and "protocolVersion" in self.value
        return bool(self.layout.older) and complete and bool(self.interfaces)

    @cached_property
    def interfaces(self) -> tuple[Interface, ...]:
        """Return the declared interfaces in the order of the card; the main URL (until 0.3) comes first."""
        return (*(self._main() if self.layout.main_url else ()), *self._listed_interfaces())

    def _main(self) -> Iterator[Interface]:
        url, transport = self.value.get("url"), self.value.get("preferredTransport")
        if isinstance(url, str):
            binding = "JSONRPC" if transport is None else transport if isinstance(transport, str) else ""
            yield Interface((), url, binding, text_in(self.value, "protocolVersion"), "", "/preferredTransport")

    def _listed_interfaces(self) -> Iterator[Interface]:
        layout = self.layout
        names = ("url", layout.binding, "protocolVersion", "tenant")
        for number, interface in _objects(self.value.get(layout.interfaces)):
            steps = (layout.interfaces, number)
            lacks = frozenset(name for name in names if not isinstance(interface.get(name), str))
            url, binding, version, tenant = (text_in(interface, name) for name in names)
            # A card with a main URL has one version for all interfaces.
            version = "" if layout.main_url else version
            yield Interface(steps, url, binding, version, tenant, pointer(*steps, layout.binding), lacks)

    @property
    def interfaces_at(self) -> str:
        """Return the JSON pointer to the list of interfaces; `""` (the card) for versions with a main URL."""
        return "" if self.layout.main_url else pointer(self.layout.interfaces)

    def versions(self) -> Iterator[tuple[str, str]]:
        """Yield the JSON pointer and the value of each protocol version that the card declares."""
        if not self.layout.main_url:
            for interface in self.interfaces:
                if "protocolVersion" not in interface.lacks:
                    yield pointer(*interface.steps, "protocolVersion"), interface.version
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
        kind, types = text_in(value, "type"), self.layout.scheme_types
        wrappers = tuple(member for member in value if member in SCHEME_TYPES and value[member] is not None)
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
        """Yield the JSON pointer and the value of each URL to obtain credentials, except empty optional URLs."""
        owners: list[tuple[Steps, Mapping[str, Json]]] = [(scheme.inside, scheme.members) for scheme in self.schemes]
        owners += [(flow.steps, flow.members) for flow in self.flows]
        for steps, members in owners:
            for name, url in members.items():
                if name.endswith("Url") and isinstance(url, str) and (url or name not in _OPTIONAL_URLS):
                    yield pointer(*steps, name), url

    @cached_property
    def requirement_objects(self) -> tuple[tuple[Steps, Mapping[str, Json]], ...]:
        """Return each security requirement (of the card or of a skill) that is an object, with its path."""
        owners: list[tuple[Steps, Mapping[str, Json]]] = [((), self.value)]
        owners += [(("skills", number), skill) for number, skill in self.skills]
        name = self.layout.requirements
        return tuple(
            ((*steps, name, number), item) for steps, owner in owners for number, item in _objects(owner.get(name))
        )

    @cached_property
    def requirements(self) -> tuple[Requirement, ...]:
        """Return the security schemes that the requirements refer to."""
        found: list[Requirement] = []
        for steps, requirement in self.requirement_objects:
            nested = self.layout.nested_requirements
            named, where = (requirement.get("schemes"), (*steps, "schemes")) if nested else (requirement, steps)
            for name, scopes in named.items() if isinstance(named, dict) else ():
                listed = scopes.get("list") if isinstance(scopes, dict) else scopes
                texts = tuple(scope for scope in listed if isinstance(scope, str)) if isinstance(listed, list) else ()
                found.append(Requirement(name, texts, pointer(*where, name)))
        return tuple(found)

    @property
    def extended_card_at(self) -> str:
        """Return the JSON pointer to the flag for an extended card, "" if the flag is not true."""
        value: Json = self.value
        for step in self.layout.extended:
            value = value.get(step) if isinstance(value, dict) else None
        return pointer(*self.layout.extended) if value is True else ""

    @cached_property
    def extensions(self) -> tuple[tuple[str, Mapping[str, Json]], ...]:
        """Return the declared extensions that are objects, each with its JSON pointer."""
        capabilities = self.value.get("capabilities")
        listed = capabilities.get("extensions") if isinstance(capabilities, dict) else None
        return tuple((pointer("capabilities", "extensions", number), item) for number, item in _objects(listed))

    def modes(self) -> Iterator[tuple[str, str]]:
        """Yield the JSON pointer and the value of each media type that the card or a skill declares."""
        for name in ("defaultInputModes", "defaultOutputModes"):
            yield from _texts(self.value.get(name), name)
        for number, skill in self.skills:
            for name in ("inputModes", "outputModes"):
                yield from _texts(skill.get(name), "skills", number, name)


def _objects(value: Json) -> Iterator[tuple[int, Mapping[str, Json]]]:
    """Return the items of a list that are objects, each with its index."""
    return (
        (number, item) for number, item in enumerate(value if isinstance(value, list) else ()) if isinstance(item, dict)
    )


def _texts(value: Json, *steps: str | int) -> Iterator[tuple[str, str]]:
    for number, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, str):
            yield pointer(*steps, number), item
