"""What a card demands, in words, and where it wants an API key."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.protocol.card import AgentCard
from inspector.protocol.dialects import v0_3_card
from inspector.protocol.security import key_place, requirements_in_words, scheme_in_words

SCHEMES: dict[str, Any] = {
    "key": {"apiKeySecurityScheme": {"location": "query", "name": "k"}},
    "token": {"httpAuthSecurityScheme": {"scheme": "Bearer"}},
    "oauth": {"oauth2SecurityScheme": {"flows": {"clientCredentials": {}, "deviceCode": {}}}},
}


def card(schemes: Any = None, requirements: Any = None) -> AgentCard:
    return AgentCard.model_validate({"securitySchemes": schemes, "securityRequirements": requirements})


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
        ({"type": "http", "scheme": "bearer", "httpAuthSecurityScheme": {"scheme": "bearer"}}, "a bearer token"),
        ({"scheme": {"$case": "httpAuthSecurityScheme", "value": {}}}, "a scheme of the unknown type scheme"),
        ({"apiKeySecurityScheme": "nonsense"}, "an API key in ? ?"),
        ({}, "a scheme without a type"),
    ],
)
def test_a_scheme_is_said_in_words(scheme: dict[str, Any], words: str):
    assert scheme_in_words(scheme) == words


@pytest.mark.parametrize(
    ("requirements", "words"),
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
def test_requirements_are_said_in_words(requirements: Any, words: str):
    assert requirements_in_words(card(SCHEMES, requirements)).startswith(words)


def test_a_card_without_schemes_demands_nothing():
    assert requirements_in_words(card()) == "none required"


def test_a_card_of_0_3_is_said_in_the_same_words():
    old = {"securitySchemes": {"k": {"type": "apiKey", "in": "header", "name": "X-K"}}, "security": [{"k": []}]}
    assert requirements_in_words(v0_3_card.decode_card(old)) == "an API key in header X-K"


@pytest.mark.parametrize(
    ("schemes", "place"),
    [
        (SCHEMES, ("query", "k")),
        ({"c": {"apiKeySecurityScheme": {"location": "cookie", "name": "sid"}}}, ("cookie", "sid")),
        ({"h": {"apiKeySecurityScheme": {"name": "X-K"}}}, ("header", "X-K")),
        ({"n": {"apiKeySecurityScheme": {"location": "query"}}}, ("header", "X-API-Key")),
        ({"token": SCHEMES["token"]}, ("header", "X-API-Key")),
        (None, ("header", "X-API-Key")),
    ],
    ids=["query", "cookie", "no location", "no name", "no key", "no scheme"],
)
def test_an_api_key_goes_where_the_card_wants_it(schemes: Any, place: tuple[str, str]):
    assert key_place(card(schemes)) == place
