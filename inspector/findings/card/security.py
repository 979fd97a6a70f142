"""Rules about the security schemes and OAuth flows of a card."""

from __future__ import annotations

import re
from collections.abc import Iterator

from inspector.findings.card.facts import Facts
from inspector.findings.rule_set import ERROR, HINT, SINCE_0_2, V1, WARNING, RuleSet, Violation
from inspector.findings.url import flaw, host_of, is_local
from inspector.protocol.dialects.card_view import SCHEME_TYPES, Scheme
from inspector.protocol.jsonvalue import brief
from inspector.protocol.model import Json
from inspector.protocol.pointer import pointer

RULE_SET = RuleSet[Facts](versions=SINCE_0_2)

_BY_TYPE = ("0.3", "0.2")
_PLACES = ("header", "query", "cookie")
_HTTP_SCHEME = re.compile(
    r"basic|bearer|concealed|digest|dpop|gnap|hoba|mutual|negotiate|oauth|privatetoken|scram-sha-(1|256)|vapid"
)
"""The HTTP authentication schemes of IANA's registry."""


def _scheme(name: str, **members: Json) -> Json:
    return {"securitySchemes": {name: members}}


def _flows(**flows: Json) -> Json:
    return _scheme("login", oauth2SecurityScheme={"flows": flows})


_TOKEN_FLOW = {"tokenUrl": "https://login.example.com/token", "scopes": {"translate": "Translate texts"}}


@RULE_SET.rule(
    "CARD-070",
    ERROR,
    "A security scheme is of no known kind",
    section="1.0 §4.5.1, 0.3 §5.5.3",
    requirement="A scheme is one of API key, HTTP authentication, OAuth 2.0, OpenID Connect and mutual TLS.",
    remedy="Name the kind as the protocol version of the card spells it.",
    failing=_scheme("stamp", stampSecurityScheme={"colour": "blue"}),
)
def no_kind(card: Facts) -> Iterator[Violation]:
    for scheme in card.schemes:
        if scheme.known or scheme.foreign or scheme.wrappers or _leaks(scheme):
            continue
        if not card.layout.scheme_types:
            yield Violation(pointer(*scheme.steps), f"none of {', '.join(SCHEME_TYPES)}")
        else:
            seen = brief(scheme.value.get("type")) if "type" in scheme.value else "type is missing"
            yield Violation(pointer(*scheme.steps, "type"), seen)


def _leaks(scheme: Scheme) -> bool:
    inside = scheme.value.get("scheme")
    return "$case" in scheme.value or (isinstance(inside, dict) and "$case" in inside)


@RULE_SET.rule(
    "CARD-071",
    ERROR,
    "A security scheme has several kinds",
    section="1.0 §4.5.1",
    requirement="A security scheme is a union: exactly one of its members is set.",
    remedy="Declare one scheme for each kind.",
    versions=V1,
    failing=_scheme("bearer", mtlsSecurityScheme={}),
)
def several_kinds(card: Facts) -> Iterator[Violation]:
    for scheme in card.schemes:
        if len(scheme.wrappers) > 1:
            yield Violation(pointer(*scheme.steps), " and ".join(scheme.wrappers))


@RULE_SET.rule(
    "CARD-063",
    WARNING,
    "The two shapes of a security scheme contradict each other",
    section="1.0 Appendix A.2",
    requirement="Clients of either protocol version read their own members of the card.",
    remedy="Make the type of the older shape say the same as the wrapper of the newer one.",
    versions=V1,
    failing=_scheme("key", type="http", scheme="bearer"),
    passing=_scheme("key", type="apiKey"),
)
def shapes_contradict(card: Facts) -> Iterator[Violation]:
    for scheme in card.schemes:
        said = scheme.value.get("type")
        if len(scheme.wrappers) == 1 and isinstance(said, str) and said != scheme.kind:
            yield Violation(pointer(*scheme.steps, "type"), f"{said[:40]!r} beside {scheme.wrappers[0]}")


@RULE_SET.rule(
    "CARD-072",
    ERROR,
    "A security scheme has the shape of another protocol version",
    section="1.0 §4.5.1 and Appendix A.2, 0.3 §5.5.3",
    requirement="1.0 wraps a scheme in a member that names its kind; until 0.3 its type says it.",
    remedy="Write the scheme in the shape of this card's protocol version: readers of this one see no scheme at all.",
    failing=_scheme("old", type="http", scheme="bearer"),
)
def scheme_of_other_version(card: Facts) -> Iterator[Violation]:
    for scheme in card.schemes:
        if scheme.foreign:
            yield Violation(pointer(*scheme.steps), scheme.wrappers[0] if scheme.wrappers else f"type {scheme.kind!r}")


@RULE_SET.rule(
    "CARD-073",
    ERROR,
    "A security scheme leaks the library's own wrapper",
    section="1.0 §4.5.1",
    requirement="A scheme's kind is the name of its only member.",
    remedy="Serialize the card with the library's toJSON instead of JSON.stringify.",
    failing={"securitySchemes": {"leaked": {"scheme": {"$case": "httpAuthSecurityScheme", "value": {"scheme": "x"}}}}},
)
def leaked_wrapper(card: Facts) -> Iterator[Violation]:
    for scheme in card.schemes:
        if _leaks(scheme):
            steps = scheme.steps if "$case" in scheme.value else (*scheme.steps, "scheme")
            yield Violation(pointer(*steps, "$case"), "$case")


@RULE_SET.rule(
    "CARD-074",
    ERROR,
    "An API key is at a place that does not exist",
    section="1.0 §4.5.2, 0.3 §5.5.3",
    requirement='Valid values are "query", "header", or "cookie".',
    remedy="Say where the key goes: header, query or cookie.",
    failing=_scheme("key", apiKeySecurityScheme={"location": "body"}),
)
def key_place(card: Facts) -> Iterator[Violation]:
    name = card.layout.key_place
    for scheme in card.schemes:
        place = scheme.members.get(name)
        if scheme.kind == "apiKey" and isinstance(place, str) and place not in _PLACES:
            yield Violation(pointer(*scheme.inside, name), repr(place))


@RULE_SET.rule(
    "CARD-075",
    WARNING,
    "An HTTP authentication scheme that is not registered",
    section="1.0 §4.5.3, RFC 7235",
    requirement="This value should be registered in the IANA Authentication Scheme registry.",
    remedy="Use Bearer or Basic, or declare an API key in the header.",
    failing=_scheme("bearer", httpAuthSecurityScheme={"scheme": "token"}),
)
def unregistered(card: Facts) -> Iterator[Violation]:
    for one in card.schemes:
        scheme = one.members.get("scheme")
        if one.kind == "http" and isinstance(scheme, str) and not _HTTP_SCHEME.fullmatch(scheme.lower()):
            yield Violation(pointer(*one.inside, "scheme"), repr(scheme))


@RULE_SET.rule(
    "CARD-076",
    WARNING,
    "An address for getting credentials is no https url",
    section="1.0 §4.5, RFC 6749 §3.1",
    requirement="The OAuth2 standard requires the use of TLS.",
    remedy="Write an absolute https url.",
    failing=_scheme("oidc", openIdConnectSecurityScheme={"openIdConnectUrl": "/.well-known/openid-configuration"}),
)
def insecure_login(card: Facts) -> Iterator[Violation]:
    for where, url in card.login_urls():
        why = flaw(url) or _not_secure(url)
        if why:
            yield Violation(where, f"{url[:200]!r}: {why}")


def _not_secure(url: str) -> str:
    scheme = url.partition(":")[0].lower()
    near = scheme == "http" and is_local(host_of(url))
    return "" if scheme == "https" or near else f"{scheme} instead of https"


@RULE_SET.rule(
    "CARD-077",
    ERROR,
    "An OAuth 2.0 scheme has no flow",
    section="1.0 §4.5.7, 0.3 §5.5.3",
    requirement="flows holds the configuration of the flows that are supported.",
    remedy="Declare the flow by which clients get a token.",
    failing=_flows(authorizationCode=None),
)
def no_flow(card: Facts) -> Iterator[Violation]:
    for scheme in card.schemes:
        flows = scheme.members.get("flows")
        if scheme.kind == "oauth2" and isinstance(flows, dict) and not any(flows.values()):
            yield Violation(pointer(*scheme.inside, "flows"), "no flow")


@RULE_SET.rule(
    "CARD-078",
    ERROR,
    "An OAuth 2.0 scheme has several flows",
    section="1.0 §4.5.7",
    requirement="flows is a union: exactly one of its members is set.",
    remedy="Declare one scheme for each flow; readers of 1.0 keep one of them and refuse the card or drop the rest.",
    versions=V1,
    failing=_flows(clientCredentials=_TOKEN_FLOW),
)
def several_flows(card: Facts) -> Iterator[Violation]:
    for scheme in card.schemes:
        flows = scheme.members.get("flows")
        if scheme.kind == "oauth2" and isinstance(flows, dict) and len(flows) > 1:
            yield Violation(pointer(*scheme.inside, "flows"), " and ".join(list(flows)[:5]))


@RULE_SET.rule(
    "CARD-079",
    WARNING,
    "A flow that is deprecated",
    section="1.0 §4.5.7",
    requirement="Deprecated: Use Authorization Code + PKCE, or Device Code.",
    remedy="Offer authorizationCode with PKCE, or deviceCode.",
    versions=V1,
    failing=_flows(authorizationCode=None, password=_TOKEN_FLOW),
)
def deprecated_flow(card: Facts) -> Iterator[Violation]:
    for flow in card.flows:
        if flow.kind in ("implicit", "password"):
            yield Violation(pointer(*flow.steps), flow.kind)


@RULE_SET.rule(
    "CARD-080",
    WARNING,
    "A flow that the card's protocol version does not know",
    section="1.0 §4.5.7, OpenAPI 3 OAuth Flows Object",
    requirement="The flows are authorizationCode, clientCredentials, implicit, password, and from 1.0 on deviceCode.",
    remedy="Spell the flow as the specification does.",
    failing=_flows(authorizationCode=None, authorization_code=_TOKEN_FLOW),
)
def unknown_flow(card: Facts) -> Iterator[Violation]:
    for flow in card.flows:
        if flow.kind not in card.layout.flows:
            yield Violation(pointer(*flow.steps), flow.kind)


@RULE_SET.rule(
    "CARD-081",
    HINT,
    "The OpenID Connect address is not a discovery document",
    section="1.0 §4.5.5, OpenID Connect Discovery §4",
    requirement="The OpenID Connect Discovery URL for the provider's metadata.",
    remedy="Give the address that ends in /.well-known/openid-configuration.",
    failing=_scheme("oidc", openIdConnectSecurityScheme={"openIdConnectUrl": "https://login.example.com/"}),
)
def no_discovery(card: Facts) -> Iterator[Violation]:
    for scheme in card.schemes:
        url = scheme.members.get("openIdConnectUrl")
        if isinstance(url, str) and url and not url.endswith("/.well-known/openid-configuration"):
            yield Violation(pointer(*scheme.inside, "openIdConnectUrl"), url)
