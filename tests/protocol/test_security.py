"""The security schemes of a card of any version, what they require together, and the place of an API key."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects import v0_1, v0_3
from inspector.protocol.security import (
    ApiKeyScheme,
    Grant,
    HttpScheme,
    MutualTlsScheme,
    OAuth2Scheme,
    OAuthFlow,
    OpenIdConnectScheme,
    SecurityScheme,
    UnknownScheme,
    combination_in_words,
    key_place,
    read_scheme,
    requirements,
    requirements_in_words,
    security_schemes,
)

FLOWS = {
    "authorizationCode": {
        "authorizationUrl": "https://sso.example/authorize",
        "tokenUrl": "https://sso.example/token",
        "refreshUrl": "https://sso.example/refresh",
        "scopes": {"read": "Read tasks"},
        "pkceRequired": True,
    },
    "deviceCode": {"deviceAuthorizationUrl": "https://sso.example/device", "tokenUrl": "https://sso.example/token"},
}
SCHEMES: dict[str, Any] = {
    "key": {"apiKeySecurityScheme": {"location": "query", "name": "k"}},
    "token": {"httpAuthSecurityScheme": {"scheme": "Bearer"}},
    "oauth": {"oauth2SecurityScheme": {"flows": {"clientCredentials": {}, "deviceCode": {}}}},
}


def card(schemes: Any = None, required: Any = None, *skills: Any) -> AgentCard:
    return AgentCard.model_validate(
        {"securitySchemes": schemes, "securityRequirements": required, "skills": list(skills)}
    )


@pytest.mark.parametrize(
    ("value", "scheme"),
    [
        (
            {"apiKeySecurityScheme": {"location": "cookie", "name": "sid", "description": "A session"}},
            ApiKeyScheme("s", "cookie", "sid", "A session"),
        ),
        ({"type": "apiKey", "in": "header", "name": "X-K"}, ApiKeyScheme("s", "header", "X-K")),
        (
            {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}},
            HttpScheme("s", "Bearer"),
        ),
        ({"type": "http", "scheme": "basic"}, HttpScheme("s", "basic")),
        (
            {"oauth2SecurityScheme": {"flows": FLOWS, "oauth2MetadataUrl": "https://sso.example/metadata"}},
            OAuth2Scheme(
                "s",
                (
                    OAuthFlow(
                        "authorizationCode",
                        authorization_url="https://sso.example/authorize",
                        token_url="https://sso.example/token",
                        refresh_url="https://sso.example/refresh",
                        scopes={"read": "Read tasks"},
                    ),
                    OAuthFlow(
                        "deviceCode",
                        device_authorization_url="https://sso.example/device",
                        token_url="https://sso.example/token",
                    ),
                ),
                "https://sso.example/metadata",
            ),
        ),
        ({"type": "oauth2", "flows": {"implicit": 5}}, OAuth2Scheme("s", (OAuthFlow("implicit"),))),
        ({"type": "oauth2", "flows": {"implicit": {}, "password": None}}, OAuth2Scheme("s", (OAuthFlow("implicit"),))),
        ({"apiKeySecurityScheme": None, "httpAuthSecurityScheme": {"scheme": "Bearer"}}, HttpScheme("s", "Bearer")),
        ({"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://i/d"}}, OpenIdConnectScheme("s", "https://i/d")),
        ({"mtlsSecurityScheme": {}}, MutualTlsScheme("s")),
        ({"type": "mutualTLS"}, MutualTlsScheme("s")),
        ({"type": "http", "scheme": "x", "httpAuthSecurityScheme": {"scheme": "bearer"}}, HttpScheme("s", "bearer")),
        ({"scheme": {"$case": "httpAuthSecurityScheme", "value": {}}}, UnknownScheme("s", "scheme")),
        ({"description": "new", "samlSecurityScheme": {}}, UnknownScheme("s", "samlSecurityScheme")),
        ({"type": "saml"}, UnknownScheme("s", "saml")),
        ({"apiKeySecurityScheme": "nonsense"}, ApiKeyScheme("s")),
        ({"oauth2SecurityScheme": {"flows": [], "oauth2MetadataUrl": 5}}, OAuth2Scheme("s")),
        ({}, UnknownScheme("s")),
    ],
)
def test_a_scheme_of_any_version_is_read(value: dict[str, Any], scheme: SecurityScheme):
    assert read_scheme("s", value) == scheme
    assert security_schemes(card({"s": value})) == {"s": scheme}


@pytest.mark.parametrize(
    ("scheme", "words"),
    [
        (SCHEMES["key"], "an API key in query k"),
        (SCHEMES["token"], "a bearer token"),
        ({"httpAuthSecurityScheme": {"scheme": "basic"}}, "a user name and password"),
        ({"httpAuthSecurityScheme": {"scheme": "HOBA"}}, "HTTP authentication HOBA"),
        (SCHEMES["oauth"], "OAuth 2.0 (clientCredentials, deviceCode)"),
        ({"oauth2SecurityScheme": {"flows": []}}, "OAuth 2.0"),
        ({"openIdConnectSecurityScheme": {}}, "OpenID Connect"),
        ({"mtlsSecurityScheme": {}}, "a client certificate"),
        ({"scheme": {"$case": "httpAuthSecurityScheme"}}, "a scheme of the unknown type scheme"),
        ({"apiKeySecurityScheme": "nonsense"}, "an API key in an undeclared place"),
        ({}, "a scheme without a type"),
    ],
)
def test_a_scheme_in_words(scheme: dict[str, Any], words: str):
    assert read_scheme("s", scheme).in_words() == words


@pytest.mark.parametrize(
    ("name", "grant", "refused"),
    [
        ("authorizationCode", Grant.AUTHORIZATION_CODE, ""),
        ("clientCredentials", Grant.CLIENT_CREDENTIALS, ""),
        ("deviceCode", Grant.DEVICE_CODE, ""),
        ("implicit", Grant.IMPLICIT, "deprecated: the token would be part of a URL"),
        ("password", Grant.PASSWORD, "deprecated: the client would get the password of the user"),
        ("magic", None, "A2A does not define this flow"),
    ],
)
def test_deprecated_and_unknown_flows_are_refused_with_the_reason(name: str, grant: Grant | None, refused: str):
    flow = OAuthFlow(name)
    assert flow.grant is grant
    assert flow.refused.startswith(refused)
    assert bool(flow.refused) is bool(refused)


@pytest.mark.parametrize(
    ("required", "words"),
    [
        ([{"schemes": {"token": {"list": []}}}], "a bearer token"),
        (
            [{"schemes": {"oauth": {"list": ["read", "write"]}}}],
            "OAuth 2.0 (clientCredentials, deviceCode) with read, write",
        ),
        ([{"schemes": {"key": {}, "token": {}}}], "an API key in query k and a bearer token"),
        ([{"schemes": {"token": {}}}, {"schemes": {}}], "a bearer token, or none"),
        ([{"token": []}], "a bearer token"),
        ([{"schemes": {"ghost": {}}}], "ghost, which the card does not define"),
        ([{"schemes": {"token": {"list": "all"}}}], "a bearer token"),
        ([{"schemes": {"token": 5}}], "a bearer token"),
        ([{"schemes": {}}], "none required; the card declares"),
        ([], "none required; the card declares"),
    ],
)
def test_requirements_in_words(required: Any, words: str):
    assert requirements_in_words(card(SCHEMES, required)).startswith(words)


def test_a_card_without_schemes_requires_nothing():
    assert requirements_in_words(card()) == "none required"


def test_the_requirements_of_a_skill_replace_those_of_the_agent():
    own = {"id": "a", "securityRequirements": [{"schemes": {"oauth": {"list": ["write"]}, "key": {}}}]}
    described = card(SCHEMES, [{"schemes": {"token": {}}}], own, {"id": "b"})
    with_own, without = described.skills
    [combination] = requirements(described, with_own)
    assert [(each.scheme.name, each.scopes) for each in combination] == [("oauth", ("write",)), ("key", ())]
    assert combination_in_words(combination).endswith("with write and an API key in query k")
    assert requirements(described, without) == requirements(described)


@pytest.mark.parametrize(
    ("decode", "old", "words"),
    [
        (
            v0_3.DIALECT.decode_card,
            {"securitySchemes": {"k": {"type": "apiKey", "in": "header", "name": "X-K"}}, "security": [{"k": []}]},
            "an API key in header X-K",
        ),
        (
            v0_1.DIALECT.decode_card,
            {"url": "https://a.example", "authentication": {"schemes": ["Basic", "Bearer"]}},
            "a user name and password, or a bearer token",
        ),
    ],
    ids=["0.3", "0.1"],
)
def test_a_card_of_an_older_version_has_the_same_requirements(decode: Any, old: Any, words: str):
    assert requirements_in_words(decode(old)) == words


@pytest.mark.parametrize(
    ("schemes", "required", "place"),
    [
        (SCHEMES, (), ("query", "k")),
        ({"c": {"apiKeySecurityScheme": {"location": "cookie", "name": "sid"}}}, (), ("cookie", "sid")),
        ({"h": {"apiKeySecurityScheme": {"name": "X-K"}}}, (), ("header", "X-K")),
        ({"n": {"apiKeySecurityScheme": {"location": "query"}}}, (), ("header", "X-API-Key")),
        ({"token": SCHEMES["token"]}, (), ("header", "X-API-Key")),
        (None, (), ("header", "X-API-Key")),
        (SCHEMES | {"other": {"type": "apiKey", "in": "header", "name": "X-O"}}, ({"other": []},), ("header", "X-O")),
    ],
    ids=["query", "cookie", "no location", "no name", "no key", "no scheme", "required"],
)
def test_an_api_key_has_the_place_that_the_card_declares(schemes: Any, required: Any, place: tuple[str, str]):
    assert key_place(card(schemes, list(required))) == place
