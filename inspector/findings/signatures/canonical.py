"""The canonical forms of a card that may be signed: that of the specification (1.0 section 8.4.1) and others in use."""

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

    `kind` is the type of the objects in it, `""` if it has none; `keyed` says that they are the values of a map.
    `tracked` says that absence differs from the default value; `defaults` are default values that are not empty.
    """

    kind: str = ""
    keyed: bool = False
    required: bool = False
    tracked: bool = False
    defaults: tuple[str, ...] = ()


Types: TypeAlias = Mapping[str, Mapping[str, Member]]
"""The members of each type by name; the card's is `AgentCard`."""


class Form(NamedTuple):
    """A way to make the bytes that are signed.

    `types` returns the types of the protocol version; `alone` leaves out unknown members. `drops` returns whether a
    member is left out because of its value; `tidy` leaves out empty texts, lists and objects. `write` makes the bytes.
    """

    name: str
    types: Callable[[], Types]
    alone: bool
    drops: Callable[[Member, Json], bool]
    tidy: bool
    write: Callable[[Json], bytes]


class Payload(NamedTuple):
    """The bytes of a form and the value that they encode, or the reason (`why`) that the card has no such form."""

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
"""What the proto of 1.0 marks as REQUIRED, which our copy does not contain."""


@cache
def _of_1_0() -> Types:
    """Read the types of a card from the proto of 1.0."""
    types: dict[str, dict[str, Member]] = {}
    todo = [message_class("v1_0", "AgentCard").DESCRIPTOR]
    while todo:
        current = todo.pop()
        members = types[current.name] = {}
        required = _REQUIRED.get(current.name, "").split()
        for field in current.fields:
            held = field.message_type
            keyed = held is not None and held.GetOptions().map_entry
            if keyed:
                held = held.fields_by_name["value"].message_type
            ours = held is not None and held.file is current.file
            kind, name = held.name if ours else "", field.json_name
            members[name] = Member(kind, keyed, name in required, field.has_presence)
            if ours and held.name not in types:
                todo.append(held)
    return types


def _type(required: str, optional: str, **others: Member) -> dict[str, Member]:
    """Return the members of a type; `others` are those with further properties."""
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
        securitySchemes=Member("SecurityScheme", keyed=True),
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
"""The types of a card of 0.3 (section 5.5), with one type for all schemes and one for all flows."""


def _drops_nothing(_member: Member, _held: Json) -> bool:
    return False


def _drops_by_specification(member: Member, held: Json) -> bool:
    """Leave out a default value, unless its member is required or tracked (1.0 section 8.4.1)."""
    return held is None or not (member.required or member.tracked or (held and held not in member.defaults))


def _drops_by_protobuf(member: Member, held: Json) -> bool:
    return held is None or not (member.tracked or held)


def _drops_by_pydantic(member: Member, held: Json) -> bool:
    return held is None or held in member.defaults


def _with_json_dumps(value: Json) -> bytes:
    """Write JSON as Python sorts and escapes it, which differs from RFC 8785 beyond ASCII."""
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
    Form("the members of 1.0 alone", _of_1_0, True, _drops_nothing, False, rfc8785.dumps),
    Form(
        "the members of 1.0 alone, without default values", _of_1_0, True, _drops_by_specification, False, rfc8785.dumps
    ),
    Form("the card as the Python SDK 1.3 writes it", _of_1_0, True, _drops_by_protobuf, True, rfc8785.dumps),
    Form("the card as the Python SDK 1.0 writes it", _of_1_0, True, _drops_by_protobuf, True, _with_json_dumps),
    _SDK_0_3,
)
FORMS: Mapping[str, tuple[Form, ...]] = {"0.1": _OLD, "0.2": _OLD, "0.3": _OLD, "1.0": _NEW}
"""The forms to try for a card of a version, in order; a card of 1.0 may be signed for its readers of 0.3."""


def payloads(card: Mapping[str, Json], version: str) -> Iterator[Payload]:
    """Make the forms of a card one after the other; none contains its signatures."""
    unsigned = {name: held for name, held in card.items() if name != "signatures"}
    for form in entry_of(FORMS, version):
        shaped = _reshape(unsigned, "AgentCard", form)
        shaped = _tidy(shaped) if form.tidy else shaped
        try:
            yield Payload(form, shaped, form.write(shaped))
        except ValueError as error:
            yield Payload(form, shaped, why=_explain(error))


def uncovered(card: Mapping[str, Json], payload: Payload) -> tuple[str, ...]:
    """Return pointers to the members of a card that a form leaves out, so that they are not signed.

    Empty values and the defaults of the form are not reported.
    """
    defaults = frozenset(
        (name, value)
        for members in payload.form.types().values()
        for name, member in members.items()
        for value in member.defaults
    )
    unsigned = {name: held for name, held in card.items() if name != "signatures"}
    return tuple(_lost(unsigned, payload.shaped, "", defaults))


def _reshape(value: Json, kind: str, form: Form) -> Json:
    members = form.types().get(kind)
    if members is not None and isinstance(value, list):
        return [_reshape(item, kind, form) for item in value]
    if members is None or not isinstance(value, dict):
        return value
    shaped = {}
    for name, held in value.items():
        member = members.get(name)
        if member is None:
            if not form.alone:
                shaped[name] = held
        elif not form.drops(member, held):
            shaped[name] = _reshape_held(held, member, form)
    return shaped


def _reshape_held(held: Json, member: Member, form: Form) -> Json:
    if member.keyed and isinstance(held, dict):
        return {key: _reshape(one, member.kind, form) for key, one in held.items()}
    return _reshape(held, member.kind, form)


def _tidy(value: Json) -> Json:
    """Leave out nulls, empty texts, and lists and objects that become empty; return None if nothing is left."""
    if isinstance(value, dict):
        kept = {name: tidied for name, held in value.items() if (tidied := _tidy(held)) is not None}
        return kept or None
    if isinstance(value, list):
        return [tidied for item in value if (tidied := _tidy(item)) is not None] or None
    return None if value == "" else value


def _lost(value: Json, shaped: Json, where: str, defaults: frozenset[tuple[str, str]]) -> Iterator[str]:
    if isinstance(value, dict) and isinstance(shaped, dict):
        for name, held in value.items():
            place = where + pointer(name)
            if name in shaped:
                yield from _lost(held, shaped[name], place, defaults)
            elif held and not (isinstance(held, str) and (name, held) in defaults):
                yield place
    elif isinstance(value, list) and isinstance(shaped, list) and len(value) == len(shaped):
        for index, (held, left) in enumerate(zip(value, shaped, strict=True)):
            yield from _lost(held, left, where + pointer(index), defaults)
    elif (value if not isinstance(value, list) else [held for held in value if held]) != shaped:
        yield where


def _explain(error: ValueError) -> str:
    if isinstance(error, rfc8785.IntegerDomainError):
        return "it has an integer beyond 2^53, which RFC 8785 cannot write"
    return "it has a number or a text that JSON has no way to write"
