"""The protocol versions, and the differences between them besides their JSON.

Code outside of `dialects/` checks a trait, never a version. `VERSIONS` is the only list of versions. This module does
not import pydantic, so that the command line can list the versions quickly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TypeVar

from inspector.lazy_dataclass import dataclass

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class CardLayout:
    """The positions of the members in the card of a version. The defaults are for 1.0.

    - `interfaces`, `binding`: the list of interfaces, and the member with the binding of an interface.
    - `main_url`: the card has a main interface (`url`, `preferredTransport`, `protocolVersion`) besides the list.
    - `open_bindings`: any string may be a binding; otherwise a custom binding is a URI.
    - `scheme_types`: the values of `type` for security schemes; empty if the kind is the name of a wrapper member.
    - `requirements`: the list of security requirements; `nested_requirements`: its items are
      `{"schemes": {name: {"list": scopes}}}` instead of `{name: scopes}`.
    - `key_place`: the member of an API key scheme with the location of the key.
    - `flows`: the defined OAuth 2.0 flows.
    - `extended`: the path to the flag of the extended card.
    - `mode_words`: modes that are not media types.
    - `modes_required`: whether an empty list of modes violates a requirement.
    - `older`: the older version whose members the card may also contain, "" for none.
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
    """The differences between protocol versions besides their JSON. The defaults are for 1.0.

    The version:

    - `extends`: the base version. An interface that declares the base version may use this version. The rules and
      tables of the base version apply if this version does not define others.
    - `declared`: the version that its interfaces declare, if it differs from the name.
    - `experimental`: a draft, which is used only if the user requests it.
    - `outdated`: users are warned if an agent uses it (a2a-cli 0.2 section 13.2).

    Operations:

    - `waits`: SendMessage waits for the task by default.
    - `names_tasks`: the client chooses the id of a task: it is the id of the first message.
    - `keeps_context`: a task stays in the context that the client has set.
    - `sole_push_config`: a push configuration can be requested without its id if the task has only one.
    - `pushes_events`: the body of a push notification is an event, not a task.
    - `authorizes_pushes`: a push notification contains the credentials of its configuration.

    The JSON:

    - `looks_like`: the result of `detect.looks_like` for its events; "" if they cannot be detected.
    - `omits_empty`: empty lists are omitted.
    - `pointers`: maps the JSON pointer that a member has in 1.0 to its pointer in this version, if they differ.
    - `details_errors`: errors have the structure of AIP-193, with an `ErrorInfo`.
    - `last_error`: the last error code that A2A defines.
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
    last_error=-32011,
    card=replace(_CARD_0_3, mode_words=frozenset({"text", "file", "data"})),
)


def major_minor(version: str) -> str:
    """Return a protocol version without its patch number, which is ignored (1.0 section 3.6)."""
    return ".".join(version.strip().split(".")[:2])


def in_proto_json(traits: Traits) -> Traits:
    """Return the traits of a version before 1.0 over HTTP+JSON and gRPC, which use ProtoJSON."""
    # In ProtoJSON, a missing `blocking` means false.
    return replace(traits, waits=False, sole_push_config=False, looks_like="", omits_empty=True)


VERSIONS: Mapping[str, Traits] = {traits.version: traits for traits in (V0_1, V0_2, V0_3, V1_0, OPVS, V1_1)}
"""Every protocol version by its name: released versions (oldest first), OPVS (1.0 under another name), drafts."""

STABLE = tuple(name for name, traits in VERSIONS.items() if not traits.experimental)
"""The names of the released protocol versions, oldest first."""


def entry_of(table: Mapping[str, ItemT], version: str) -> ItemT:
    """Return the entry of a version in a table, or the entry of the version that it extends."""
    return table[version] if version in table else table[VERSIONS[version].extends]
