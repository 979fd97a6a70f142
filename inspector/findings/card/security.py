"""Rules about the security schemes and OAuth flows of a card."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.findings.card.facts import Facts
from inspector.findings.rule_set import ERROR, HINT, SINCE_0_2, V1, WARNING, RuleSet, Violation
from inspector.findings.url import insecure, origin_of
from inspector.protocol.challenge import REGISTERED
from inspector.protocol.dialects.card_view import SCHEME_TYPES, Scheme
from inspector.protocol.jsonvalue import brief
from inspector.protocol.model import Json
from inspector.protocol.pointer import pointer

RULE_SET = RuleSet[Facts](versions=SINCE_0_2)

_KEY_LOCATIONS = ("header", "query", "cookie")


def _scheme(name: str, **members: Json) -> Json:
    return {"securitySchemes": {name: members}}


def _flows(**flows: Json) -> Json:
    return _scheme("login", oauth2SecurityScheme={"flows": flows})


_TOKEN_FLOW = {"tokenUrl": "https://login.example.com/token", "scopes": {"translate": "Translate texts"}}


@RULE_SET.rule(
    "CARD-070",
    ERROR,
    "A security scheme has an unknown type",
    section="1.0 §4.5.1, 0.3 §5.5.3",
    requirement="A scheme is one of API key, HTTP authentication, OAuth 2.0, OpenID Connect and mutual TLS.",
    remedy="Use a scheme type of the card's protocol version, spelled as in its definition.",
    failing=_scheme("stamp", stampSecurityScheme={"colour": "blue"}),
)
def no_kind(card: Facts) -> Iterator[Violation]:
    for scheme in card.schemes:
        if scheme.known or scheme.foreign or scheme.wrappers or _leaks(scheme):
            continue
        if not card.layout.scheme_types:
            yield Violation(pointer(*scheme.steps), f"the scheme has none of {', '.join(SCHEME_TYPES)}")
        else:
            seen = f"type is {brief(scheme.value['type'])}" if "type" in scheme.value else "type is missing"
            yield Violation(pointer(*scheme.steps, "type"), seen)


def _leaks(scheme: Scheme) -> bool:
    inside = scheme.value.get("scheme")
    return "$case" in scheme.value or (isinstance(inside, dict) and "$case" in inside)


@RULE_SET.rule(
    "CARD-071",
    ERROR,
    "A security scheme has several types",
    section="1.0 §4.5.1",
    requirement="A security scheme is a union: exactly one of its members is set.",
    remedy="Declare one scheme for each type.",
    versions=V1,
    failing=_scheme("bearer", mtlsSecurityScheme={}),
)
def several_kinds(card: Facts) -> Iterator[Violation]:
    for scheme in card.schemes:
        if len(scheme.wrappers) > 1:
            yield Violation(pointer(*scheme.steps), f"the scheme has {' and '.join(scheme.wrappers)}")


@RULE_SET.rule(
    "CARD-063",
    WARNING,
    "The type of a security scheme contradicts its 1.0 member",
    section="1.0 Appendix A.2",
    requirement="Clients of each protocol version read the members of their version.",
    remedy="Set type to the type that the 1.0 member names.",
    versions=V1,
    failing=_scheme("key", type="http", scheme="bearer"),
    passing=_scheme("key", type="apiKey"),
)
def shapes_contradict(card: Facts) -> Iterator[Violation]:
    for scheme in card.schemes:
        old_type = scheme.value.get("type")
        if len(scheme.wrappers) == 1 and isinstance(old_type, str) and old_type != scheme.kind:
            yield Violation(
                pointer(*scheme.steps, "type"), f"type is {old_type[:40]!r}, the scheme also has {scheme.wrappers[0]}"
            )


@RULE_SET.rule(
    "CARD-072",
    ERROR,
    "A security scheme has the shape of another protocol version",
    section="1.0 §4.5.1 and Appendix A.2, 0.3 §5.5.3",
    requirement="In 1.0, the name of a wrapping member is the type of a scheme; up to 0.3, the member type has it.",
    remedy="Write the scheme in the shape of the card's protocol version: its readers ignore other shapes.",
    failing=_scheme("old", type="http", scheme="bearer"),
)
def scheme_of_other_version(card: Facts) -> Iterator[Violation]:
    for scheme in card.schemes:
        if scheme.foreign:
            yield Violation(
                pointer(*scheme.steps),
                f"the scheme has {scheme.wrappers[0]}" if scheme.wrappers else f"type is {scheme.kind!r}",
            )


@RULE_SET.rule(
    "CARD-073",
    ERROR,
    "A security scheme contains an internal wrapper of the library",
    section="1.0 §4.5.1",
    requirement="The type of a scheme is the name of its only member.",
    remedy="Serialize the card with the library's toJSON instead of JSON.stringify.",
    failing={"securitySchemes": {"leaked": {"scheme": {"$case": "httpAuthSecurityScheme", "value": {"scheme": "x"}}}}},
)
def leaked_wrapper(card: Facts) -> Iterator[Violation]:
    for scheme in card.schemes:
        if _leaks(scheme):
            steps = scheme.steps if "$case" in scheme.value else (*scheme.steps, "scheme")
            yield Violation(pointer(*steps, "$case"), "the scheme has the member $case")


@RULE_SET.rule(
    "CARD-074",
    ERROR,
    "An API key has an unknown location",
    section="1.0 §4.5.2, 0.3 §5.5.3",
    requirement="The location of an API key is query, header or cookie.",
    remedy="Set the location to query, header or cookie.",
    failing=_scheme("key", apiKeySecurityScheme={"location": "body"}),
)
def key_place(card: Facts) -> Iterator[Violation]:
    name = card.layout.key_place
    for scheme in card.schemes:
        place = scheme.members.get(name)
        if scheme.kind == "apiKey" and isinstance(place, str) and place not in _KEY_LOCATIONS:
            yield Violation(pointer(*scheme.inside, name), f"{name} is {place!r}")


@RULE_SET.rule(
    "CARD-075",
    WARNING,
    "An HTTP authentication scheme is not registered",
    section="1.0 §4.5.3, RFC 7235",
    requirement="The scheme should be registered in the IANA Authentication Scheme registry.",
    remedy="Set scheme to Bearer or Basic, or declare an API key in the header.",
    failing=_scheme("bearer", httpAuthSecurityScheme={"scheme": "token"}),
)
def unregistered(card: Facts) -> Iterator[Violation]:
    for declared in card.schemes:
        scheme = declared.members.get("scheme")
        if declared.kind == "http" and isinstance(scheme, str) and scheme.lower() not in REGISTERED:
            yield Violation(pointer(*declared.inside, "scheme"), f"scheme is {scheme!r}")


@RULE_SET.rule(
    "CARD-076",
    WARNING,
    "A URL for getting credentials is not an https URL",
    section="1.0 §4.5, RFC 6749 §3.1",
    requirement="OAuth 2.0 requires TLS.",
    remedy="Set the member to an absolute https URL.",
    failing=_scheme("oidc", openIdConnectSecurityScheme={"openIdConnectUrl": "/.well-known/openid-configuration"}),
)
def insecure_login(card: Facts) -> Iterator[Violation]:
    for where, url in card.login_urls():
        if why := insecure(url):
            yield Violation(where, f"{url[:200]!r}: {why}")


@RULE_SET.rule(
    "CARD-077",
    ERROR,
    "An OAuth 2.0 scheme has no flow",
    section="1.0 §4.5.7, 0.3 §5.5.3",
    requirement="flows contains the configuration of the supported flows.",
    remedy="Declare the flow with which clients get a token.",
    failing=_flows(authorizationCode=None),
)
def no_flow(card: Facts) -> Iterator[Violation]:
    for scheme in card.schemes:
        flows = scheme.members.get("flows")
        if scheme.kind == "oauth2" and isinstance(flows, dict) and all(flow is None for flow in flows.values()):
            yield Violation(pointer(*scheme.inside, "flows"), "flows is empty")


@RULE_SET.rule(
    "CARD-078",
    ERROR,
    "An OAuth 2.0 scheme has several flows",
    section="1.0 §4.5.7",
    requirement="flows is a union: exactly one of its members is set.",
    remedy="Declare one scheme for each flow; readers of 1.0 reject the card or use only one of the flows.",
    versions=V1,
    failing=_flows(clientCredentials=_TOKEN_FLOW),
)
def several_flows(card: Facts) -> Iterator[Violation]:
    for scheme in card.schemes:
        flows = scheme.members.get("flows")
        named = [kind for kind, flow in flows.items() if flow is not None] if isinstance(flows, dict) else []
        if scheme.kind == "oauth2" and len(named) > 1:
            yield Violation(pointer(*scheme.inside, "flows"), f"flows has {' and '.join(named[:5])}")


@RULE_SET.rule(
    "CARD-079",
    WARNING,
    "An OAuth 2.0 flow is deprecated",
    section="1.0 §4.5.7",
    requirement="implicit and password are deprecated: use Authorization Code with PKCE, or Device Code.",
    remedy="Declare authorizationCode with PKCE, or deviceCode.",
    versions=V1,
    failing=_flows(authorizationCode=None, password=_TOKEN_FLOW),
)
def deprecated_flow(card: Facts) -> Iterator[Violation]:
    for flow in card.flows:
        if flow.kind in ("implicit", "password"):
            yield Violation(pointer(*flow.steps), f"the flow is {flow.kind}")


@RULE_SET.rule(
    "CARD-080",
    WARNING,
    "An OAuth 2.0 flow is unknown in the card's protocol version",
    section="1.0 §4.5.7, OpenAPI 3 OAuth Flows Object",
    requirement="The flows are authorizationCode, clientCredentials, implicit and password, and since 1.0 deviceCode.",
    remedy="Spell the flow as the specification does.",
    failing=_flows(authorizationCode=None, authorization_code=_TOKEN_FLOW),
)
def unknown_flow(card: Facts) -> Iterator[Violation]:
    for flow in card.flows:
        if flow.kind not in card.layout.flows:
            yield Violation(pointer(*flow.steps), f"the flow is {flow.kind}")


@RULE_SET.rule(
    "CARD-081",
    HINT,
    "openIdConnectUrl is not the URL of a discovery document",
    section="1.0 §4.5.5, OpenID Connect Discovery §4",
    requirement="openIdConnectUrl is the OpenID Connect Discovery URL of the provider's metadata.",
    remedy="Set openIdConnectUrl to the URL that ends in /.well-known/openid-configuration.",
    failing=_scheme("oidc", openIdConnectSecurityScheme={"openIdConnectUrl": "https://login.example.com/"}),
)
def no_discovery(card: Facts) -> Iterator[Violation]:
    for scheme in card.schemes:
        url = scheme.members.get("openIdConnectUrl")
        if isinstance(url, str) and url and not url.endswith("/.well-known/openid-configuration"):
            yield Violation(pointer(*scheme.inside, "openIdConnectUrl"), f"openIdConnectUrl is {url}")


@RULE_SET.rule(
    "CARD-082",
    WARNING,
    "refreshUrl is at another origin than tokenUrl",
    section="1.0 §4.5.8, RFC 6749 §10.4",
    requirement="A refresh token is sent only to the authorization server that issued it.",
    remedy="Correct refreshUrl, or leave it out: clients then use tokenUrl, as a2a-inspect does here.",
    failing=_flows(
        authorizationCode=None, clientCredentials={**_TOKEN_FLOW, "refreshUrl": "https://other.example.com/token"}
    ),
)
def refresh_elsewhere(card: Facts) -> Iterator[Violation]:
    for flow in card.flows:
        refresh, token = flow.members.get("refreshUrl"), flow.members.get("tokenUrl")
        if isinstance(refresh, str) and isinstance(token, str) and refresh and token:
            here, there = origin_of(token), origin_of(refresh)
            if here and there and here != there:
                seen = f"refreshUrl is at {there[:200]}, tokenUrl at {here[:200]}"
                yield Violation(pointer(*flow.steps, "refreshUrl"), seen)
