"""The protocol versions, and what differs between them besides their JSON, as named facts.

Code outside of `dialects/` asks for a fact, never for a version. `VERSIONS` is the only list of versions. This module
imports nothing heavy, so that the command line can list the versions without loading pydantic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class CardLayout:
    """Where the card of a version has its members. The defaults are those of 1.0.

    - `interfaces`, `binding`: the list of interfaces, and the member of an interface that names its binding.
    - `main_url`: the card itself has an interface (`url`, `preferredTransport`, `protocolVersion`) before the list.
    - `open_bindings`: any word may name a binding; otherwise a custom binding is named by a URI.
    - `scheme_types`: the values of `type` that name the kind of a security scheme; empty if a wrapper names it.
    - `requirements`: the list of security requirements; `nested_requirements`: its items are
      `{"schemes": {name: {"list": scopes}}}` instead of `{name: scopes}`.
    - `key_place`: the member of an API key scheme that says where the key goes.
    - `flows`: the OAuth 2.0 flows.
    - `extended`: the path to the flag of the extended card.
    - `mode_words`: words that are modes without being media types.
    - `modes_required`: an empty list of modes breaks a requirement.
    - `older`: the version whose members the card may have as well, for older clients; "" for none.
    """

    interfaces: str = "supportedInterfaces"
    binding: str = "protocolBinding"
    main_url: bool = False
    open_bindings: bool = False
    scheme_types: frozenset[str] = frozenset()
    requirements: str = "securityRequirements"
    nested_requirements: bool = True
    key_place: str = "location"
    flows: tuple[str, ...] = ("authorizationCode", "clientCredentials", "implicit", "password", "deviceCode")
    extended: tuple[str, ...] = ("capabilities", "extendedAgentCard")
    mode_words: frozenset[str] = frozenset()
    modes_required: bool = True
    older: str = "0.3"


@dataclass(frozen=True, slots=True)
class Traits:
    """What differs between protocol versions besides their JSON. The defaults are those of 1.0.

    About the version:

    - `extends`: the version that this one is compatible with. An interface that declares that version may speak this
      one, and its rules and shapes hold where this version has none of its own.
    - `declared`: the version that its interfaces declare, if that is not its name.
    - `experimental`: a draft, used only if the user asks for it.
    - `outdated`: users are warned when an agent speaks it (1.0 section 13.2).

    About operations:

    - `waits`: SendMessage waits for the task by default.
    - `names_tasks`: the client chooses the id of a task, by that of its first message.
    - `keeps_context`: a task stays in the context that the client named.
    - `sole_push_config`: a push configuration may be asked for without its id, if it is the only one.
    - `pushes_events`: the body of a push notification is an event instead of a whole task.
    - `authorizes_pushes`: a push notification carries the credentials of its configuration.

    About the JSON:

    - `looks_like`: the name under which `detect.looks_like` knows its events; "" if they cannot be told apart.
    - `omits_empty`: empty lists are left out.
    - `pointers`: where members stand that later versions have elsewhere, by the JSON pointer of 1.0.
    - `details_errors`: errors have the structure of AIP-193, with an `ErrorInfo`.
    - `last_error`: the last code in the table of A2A's errors.
    """

    version: str
    extends: str = ""
    declared: str = ""
    experimental: bool = False
    outdated: bool = False
    waits: bool = True
    names_tasks: bool = False
    sole_push_config: bool = False
    pushes_events: bool = True
    authorizes_pushes: bool = True
    keeps_context: bool = True
    looks_like: str = "1.0"
    omits_empty: bool = False
    pointers: Mapping[str, str] = field(default_factory=dict, hash=False)
    details_errors: bool = True
    last_error: int = -32009
    card: CardLayout = CardLayout()


V1_0 = Traits("1.0")
OPVS = replace(V1_0, version="opvs", extends="1.0", declared="1.0")
V1_1 = replace(V1_0, version="1.1", extends="1.0", experimental=True, last_error=-32010)

_TYPES = frozenset({"apiKey", "http", "oauth2", "openIdConnect", "mutualTLS"})
_CARD_0_3 = CardLayout(
    interfaces="additionalInterfaces",
    binding="transport",
    main_url=True,
    open_bindings=True,
    scheme_types=_TYPES,
    requirements="security",
    nested_requirements=False,
    key_place="in",
    flows=("authorizationCode", "clientCredentials", "implicit", "password"),
    extended=("supportsAuthenticatedExtendedCard",),
    modes_required=False,
    older="",
)
V0_3 = Traits(
    "0.3",
    outdated=True,
    sole_push_config=True,
    pushes_events=False,
    authorizes_pushes=False,
    looks_like="0.3",
    details_errors=False,
    last_error=-32007,
    card=_CARD_0_3,
)
V0_2 = replace(V0_3, version="0.2", last_error=-32006, card=replace(_CARD_0_3, scheme_types=_TYPES - {"mutualTLS"}))
V0_1 = replace(
    V0_2,
    version="0.1",
    names_tasks=True,
    keeps_context=False,
    looks_like="0.1",
    pointers={"/append": "/artifact/append", "/contextId": "/sessionId", "/taskId": "/id"},
    last_error=-32010,
    card=replace(_CARD_0_3, mode_words=frozenset({"text", "file", "data"})),
)


def in_proto_json(traits: Traits) -> Traits:
    """Return the traits of a version before 1.0 over HTTP+JSON and gRPC, whose JSON is that of protobuf."""
    # A request without `blocking` says `blocking: false` there.
    return replace(traits, waits=False, sole_push_config=False, looks_like="", omits_empty=True)


VERSIONS: Mapping[str, Traits] = {traits.version: traits for traits in (V0_1, V0_2, V0_3, V1_0, OPVS, V1_1)}
"""Every protocol version by its name, the oldest first, then other names for a version, and drafts."""

STABLE = tuple(name for name, traits in VERSIONS.items() if not traits.experimental)
"""The released protocol versions, the oldest first."""


def entry_of(table: Mapping[str, ItemT], version: str) -> ItemT:
    """Look up a version in a table, or the version that it extends if the table has no entry of its own."""
    return table[version] if version in table else table[VERSIONS[version].extends]
