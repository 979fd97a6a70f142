"""The canonical forms of a card that signatures may cover: that of 1.0 section 8.4.1, and those of SDKs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import NamedTuple, TypeAlias

import rfc8785

from inspector.protocol.bindings.protobuf import message_class
from inspector.protocol.dialects.traits import entry_of
from inspector.protocol.model import Json
from inspector.protocol.pointer import pointer


class Member(NamedTuple):
    """A member of a type in a protocol version.

    `kind` is the type of the objects in the member, `""` for none; `is_map` is true if they are the values of a map.
    `has_presence` is true if absence differs from the default value. `defaults` are non-empty default values.
    """

    kind: str = ""
    is_map: bool = False
    required: bool = False
    has_presence: bool = False
    defaults: tuple[str, ...] = ()


Types: TypeAlias = Mapping[str, Mapping[str, Member]]
"""The members of each type, by the name of the type; the type of the card is `AgentCard`."""


class Form(NamedTuple):
    """A canonical form: a method to create the signed bytes of a card.

    - `types`: returns the types of the protocol version
    - `known_only`: omit unknown members
    - `drops`: returns whether a member is omitted because of its value
    - `omit_empty`: omit empty strings, arrays and objects
    - `write`: serializes the value
    """

    name: str
    types: Callable[[], Types]
    known_only: bool
    drops: Callable[[Member, Json], bool]
    omit_empty: bool
    write: Callable[[Json], bytes]


class Payload(NamedTuple):
    """A card in one form: its bytes (`raw`) and the value that they encode, or why there are no bytes (`why`)."""

    form: Form
    shaped: Json
    raw: bytes = b""
    why: str = ""


_REQUIRED: Mapping[str, str] = {
    "AgentCard": (
        "name description supportedInterfaces version capabilities defaultInputModes defaultOutputModes skills"
    ),
    "AgentInterface": "url protocolBinding protocolVersion",
    "AgentProvider": "url organization",
    "AgentSkill": "id name description tags",
    "APIKeySecurityScheme": "location name",
    "HTTPAuthSecurityScheme": "scheme",
    "OAuth2SecurityScheme": "flows",
    "OpenIdConnectSecurityScheme": "openIdConnectUrl",
    "AuthorizationCodeOAuthFlow": "authorizationUrl tokenUrl scopes",
    "ClientCredentialsOAuthFlow": "tokenUrl scopes",
    "DeviceCodeOAuthFlow": "deviceAuthorizationUrl tokenUrl scopes",
}
"""The REQUIRED members in the proto of 1.0; the copy in this package does not contain these marks."""


@cache
def _of_1_0() -> Types:
    """Return the types of a card from the proto of 1.0."""
    types: dict[str, dict[str, Member]] = {}
    todo = [message_class("v1_0", "AgentCard").DESCRIPTOR]
    while todo:
        current = todo.pop()
        members = types[current.name] = {}
        required = _REQUIRED.get(current.name, "").split()
        for field in current.fields:
            field_type = field.message_type
            is_map = field_type is not None and field_type.GetOptions().map_entry
            if is_map:
                field_type = field_type.fields_by_name["value"].message_type
            is_local = field_type is not None and field_type.file is current.file
            kind, name = field_type.name if is_local else "", field.json_name
            members[name] = Member(kind, is_map, name in required, field.has_presence)
            if is_local and field_type.name not in types:
                todo.append(field_type)
    return types


def _type(required: str, optional: str, **others: Member) -> dict[str, Member]:
    """Return the members of a type: strings with the given names, and `others`."""
    plain = dict.fromkeys(required.split(), Member(required=True)) | dict.fromkeys(optional.split(), Member())
    return plain | others


_TYPES_OF_0_3: Types = {
    "AgentCard": _type(
        "defaultInputModes defaultOutputModes description name url version",
        "documentationUrl iconUrl security supportsAuthenticatedExtendedCard",
        protocolVersion=Member(required=True, defaults=("0.3.0",)),
        preferredTransport=Member(defaults=("JSONRPC",)),
        additionalInterfaces=Member("AgentInterface"),
        capabilities=Member("AgentCapabilities", required=True),
        provider=Member("AgentProvider"),
        securitySchemes=Member("SecurityScheme", is_map=True),
        skills=Member("AgentSkill", required=True),
    ),
    "AgentInterface": _type("transport url", ""),
    "AgentProvider": _type("organization url", ""),
    "AgentCapabilities": _type(
        "", "pushNotifications stateTransitionHistory streaming", extensions=Member("AgentExtension")
    ),
    "AgentExtension": _type("uri", "description params required"),
    "AgentSkill": _type("description id name tags", "examples inputModes outputModes security"),
    "SecurityScheme": _type(
        "in name scheme openIdConnectUrl",
        "bearerFormat description oauth2MetadataUrl",
        type=Member(required=True, defaults=("apiKey", "http", "oauth2", "openIdConnect", "mutualTLS")),
        flows=Member("OAuthFlows", required=True),
    ),
    "OAuthFlows": _type(
        "",
        "",
        **dict.fromkeys(("authorizationCode", "clientCredentials", "implicit", "password"), Member("OAuthFlow")),
    ),
    "OAuthFlow": _type("authorizationUrl tokenUrl scopes", "refreshUrl"),
}
"""The types of a card of 0.3 (section 5.5). Here, all security schemes have the same type, and
all flows have the same type."""


def _drops_nothing(_member: Member, _value: Json) -> bool:
    return False


def _drops_by_specification(member: Member, value: Json) -> bool:
    """Omit default values of members that are not required and have no presence (1.0 section 8.4.1)."""
    return value is None or not (member.required or member.has_presence or (value and value not in member.defaults))


def _drops_by_protobuf(member: Member, value: Json) -> bool:
    return value is None or not (member.has_presence or value)


def _drops_by_pydantic(member: Member, value: Json) -> bool:
    return value is None or value in member.defaults


def _with_json_dumps(value: Json) -> bytes:
    """Serialize JSON with the sorting and escaping of Python, which differ from RFC 8785 for non-ASCII characters."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"), sort_keys=True).encode("ascii")


_AS_SERVED = "the card as served"
_DEFAULTS_REMOVED = "the card without default values"
_SDK_0_3 = Form(
    "the card as the Python SDK 0.3 writes it", lambda: _TYPES_OF_0_3, True, _drops_by_pydantic, True, _with_json_dumps
)
_OLD = (
    Form(_AS_SERVED, lambda: _TYPES_OF_0_3, False, _drops_nothing, False, rfc8785.dumps),
    Form(_DEFAULTS_REMOVED, lambda: _TYPES_OF_0_3, False, _drops_by_specification, False, rfc8785.dumps),
    _SDK_0_3,
)
_NEW = (
    Form(_AS_SERVED, _of_1_0, False, _drops_nothing, False, rfc8785.dumps),
    Form(_DEFAULTS_REMOVED, _of_1_0, False, _drops_by_specification, False, rfc8785.dumps),
    Form("only the members of 1.0", _of_1_0, True, _drops_nothing, False, rfc8785.dumps),
    Form(
        "only the members of 1.0, without default values", _of_1_0, True, _drops_by_specification, False, rfc8785.dumps
    ),
    Form("the card as the Python SDK 1.3 writes it", _of_1_0, True, _drops_by_protobuf, True, rfc8785.dumps),
    Form("the card as the Python SDK 1.0 writes it", _of_1_0, True, _drops_by_protobuf, True, _with_json_dumps),
    _SDK_0_3,
)
FORMS: Mapping[str, tuple[Form, ...]] = {"0.1": _OLD, "0.2": _OLD, "0.3": _OLD, "1.0": _NEW}
"""The forms to try for a card of a version, in order; a card of 1.0 may be signed in a form of 0.3."""


def canonical_json(value: Json) -> bytes | None:
    """Return a value in canonical JSON (RFC 8785), None if it cannot be written in it."""
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, RecursionError, UnicodeEncodeError):
        return None


def payloads(card: Mapping[str, Json], version: str) -> Iterator[Payload]:
    """Return the card in each form, without its signatures."""
    unsigned = {name: child for name, child in card.items() if name != "signatures"}
    for form in entry_of(FORMS, version):
        shaped = _reshape(unsigned, "AgentCard", form)
        shaped = _omit_empty(shaped) if form.omit_empty else shaped
        try:
            yield Payload(form, shaped, form.write(shaped))
        except ValueError as error:
            yield Payload(form, shaped, why=_explain(error))


def uncovered(card: Mapping[str, Json], payload: Payload) -> tuple[str, ...]:
    """Return JSON pointers to the members of a card that a form omits, and that are therefore not signed.

    Empty values and default values are not reported.
    """
    defaults = frozenset(
        (name, value)
        for members in payload.form.types().values()
        for name, member in members.items()
        for value in member.defaults
    )
    unsigned = {name: child for name, child in card.items() if name != "signatures"}
    return tuple(_missing_in(unsigned, payload.shaped, "", defaults))


def _reshape(value: Json, kind: str, form: Form) -> Json:
    members = form.types().get(kind)
    if members is not None and isinstance(value, list):
        return [_reshape(item, kind, form) for item in value]
    if members is None or not isinstance(value, dict):
        return value
    shaped = {}
    for name, child in value.items():
        member = members.get(name)
        if member is None:
            if not form.known_only:
                shaped[name] = child
        elif not form.drops(member, child):
            shaped[name] = _reshape_member(child, member, form)
    return shaped


def _reshape_member(child: Json, member: Member, form: Form) -> Json:
    if member.is_map and isinstance(child, dict):
        return {key: _reshape(item, member.kind, form) for key, item in child.items()}
    return _reshape(child, member.kind, form)


def _omit_empty(value: Json) -> Json:
    """Omit nulls, empty strings, and arrays and objects that become empty; return None if nothing remains."""
    if isinstance(value, dict):
        members = {name: reduced for name, child in value.items() if (reduced := _omit_empty(child)) is not None}
        return members or None
    if isinstance(value, list):
        return [reduced for item in value if (reduced := _omit_empty(item)) is not None] or None
    return None if value == "" else value


def _missing_in(value: Json, shaped: Json, where: str, defaults: frozenset[tuple[str, str]]) -> Iterator[str]:
    if isinstance(value, dict) and isinstance(shaped, dict):
        for name, child in value.items():
            place = where + pointer(name)
            if name in shaped:
                yield from _missing_in(child, shaped[name], place, defaults)
            elif child and not (isinstance(child, str) and (name, child) in defaults):
                yield place
    elif isinstance(value, list) and isinstance(shaped, list) and len(value) == len(shaped):
        for index, (child, shaped_item) in enumerate(zip(value, shaped, strict=True)):
            yield from _missing_in(child, shaped_item, where + pointer(index), defaults)
    elif (value if not isinstance(value, list) else [child for child in value if child]) != shaped:
        yield where


def _explain(error: ValueError) -> str:
    if isinstance(error, rfc8785.IntegerDomainError):
        return "it has an integer above 2^53, which RFC 8785 does not allow"
    return "it has a number or a text that JSON cannot represent"
