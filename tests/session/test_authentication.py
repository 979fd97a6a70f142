"""Credentials that are entered in a running session, and the requirements of a card that they meet."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from scripted import Agent, OpenSession, card_of, giving

from inspector.capture.redaction import Redactor
from inspector.protocol.card import AgentCard, AgentSkill
from inspector.session.authentication import Authentication, EnteredCredentials
from inspector.session.login.tokens import Token, TokenKey
from inspector.wire.client.credentials import Credentials

URL = "https://agent.example/rpc"
HOME = "https://agent.example:443"
SECRET = "canary-77aa"
BEARER = {"httpAuthSecurityScheme": {"scheme": "Bearer"}}
BASIC = {"httpAuthSecurityScheme": {"scheme": "basic"}}
TLS = {"mtlsSecurityScheme": {}}


def key(location: str, name: str) -> dict[str, Any]:
    return {"apiKeySecurityScheme": {"location": location, "name": name}}


def card(*alternatives: list[str], **schemes: Any) -> AgentCard:
    required = [{"schemes": {name: {"list": []} for name in names}} for names in alternatives]
    return AgentCard.model_validate({"name": "a", "security_schemes": schemes, "security_requirements": required})


@pytest.mark.parametrize(
    ("scheme", "credentials", "met"),
    [
        (BEARER, Credentials({"authorization": f"bearer {SECRET}"}, frozenset({HOME})), True),
        (BEARER, Credentials({"Authorization": f"Basic {SECRET}"}, frozenset({HOME})), False),
        (BEARER, Credentials({"Authorization": f"Bearer {SECRET}"}, frozenset({"https://other.example:443"})), False),
        (BASIC, Credentials({"Authorization": f"Basic {SECRET}"}, frozenset({HOME})), True),
        ({"oauth2SecurityScheme": {}}, Credentials({"Authorization": f"Bearer {SECRET}"}, frozenset({HOME})), True),
        (key("header", "X-Key"), Credentials({"x-key": SECRET}, frozenset({HOME})), True),
        (key("query", "k"), Credentials({}, frozenset({HOME}), {"k": SECRET}), True),
        (key("query", "k"), Credentials({"k": SECRET}, frozenset({HOME})), False),
        (key("cookie", "sid"), Credentials({"Cookie": f"sid={SECRET}"}, frozenset({HOME})), True),
        (key("cookie", "sid"), Credentials({"Cookie": f"lang=en; sid={SECRET}"}, frozenset({HOME})), True),
        (key("cookie", "sid"), Credentials({"Cookie": f"lang=en; old-sid={SECRET}"}, frozenset({HOME})), False),
        (TLS, Credentials({"Authorization": f"Bearer {SECRET}"}, frozenset({HOME})), False),
    ],
)
def test_a_scheme_is_met_by_credentials_for_the_agent(scheme: Any, credentials: Credentials, met: bool):
    [alternative] = Authentication(credentials, URL).alternatives(card(["s"], s=scheme))
    assert bool(alternative.missing) is not met


def test_the_token_of_a_login_meets_its_own_scheme_if_it_has_the_scopes():
    required = [{"schemes": {name: {"list": ["read", "write", "admin"]}}} for name in ("code", "device")]
    schemes = {"code": {"oauth2SecurityScheme": {}}, "device": {"oauth2SecurityScheme": {}}}
    both = AgentCard.model_validate({"name": "a", "security_schemes": schemes, "security_requirements": required})
    sent = Credentials({"Authorization": f"Bearer {SECRET}"}, frozenset({HOME}))
    token = Token(TokenKey(HOME, "code", "client"), SECRET, scopes=("read",))
    code, device = Authentication(sent, URL, token).alternatives(both)
    assert code.result == "missing: the scopes write, admin"
    assert device.result == "missing"
    full = replace(token, scopes=("read", "write", "admin"))
    assert [each.result for each in Authentication(sent, URL, full).alternatives(both)] == ["given", "missing"]
    # Another token was entered: only the agent knows its scopes.
    other = replace(token, access_token="another-one")
    assert [each.result for each in Authentication(sent, URL, other).alternatives(both)] == ["given", "given"]


def test_an_alternative_names_what_is_missing():
    both = card(["token", "tls"], ["token"], ["lost"], token=BEARER, tls=TLS)
    sent = Credentials({"Authorization": f"Bearer {SECRET}"}, frozenset({HOME}))
    first, second, third = Authentication(sent, URL).alternatives(both)
    assert (first.words, first.missing) == ("a bearer token and a client certificate", ("a client certificate",))
    assert second.missing == ()
    assert third.missing == ("lost, which the card does not define",)
    assert [alternative.result for alternative in (first, second, third)] == [
        "missing: a client certificate",
        "given",
        "missing",
    ]
    assert Authentication(sent, URL).alternatives(card(token=BEARER)) == []


def test_the_requirements_of_a_skill_are_compared_with_the_credentials():
    own = AgentSkill(security_requirements=[{"schemes": {"tls": {"list": []}}}])
    required = Authentication(Credentials({"Authorization": f"Bearer {SECRET}"}, frozenset({HOME})), URL)
    described = card(["token"], token=BEARER, tls=TLS)
    assert [alternative.missing for alternative in required.alternatives(described)] == [()]
    assert [alternative.words for alternative in required.alternatives(described, own)] == ["a client certificate"]
    assert [alternative.result for alternative in required.alternatives(described, own)] == ["missing"]
    assert [alternative.result for alternative in required.alternatives(described, AgentSkill())] == ["given"]


def test_entered_credentials_replace_given_credentials_of_the_same_name_at_their_origin_only():
    given = Credentials({"Authorization": "Bearer given", "X-A": "1"}, frozenset({HOME, "https://b.example:443"}))
    entered = EnteredCredentials(Redactor())
    entered.add_header(URL, "authorization", f"Digest {SECRET}")
    both = entered.added_to(given, ("header", "X-API-Key"))
    assert both.headers_for(URL) == {"X-A": "1", "authorization": f"Digest {SECRET}"}
    assert both.headers_for("https://b.example/") == {"Authorization": "Bearer given", "X-A": "1"}
    assert both.headers_for("https://c.example/") == {}
    entered.clear()
    assert entered.added_to(given, ("header", "X-API-Key")).headers_for(URL) == given.headers


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        (("header", "X-Key"), "X-Key: ****"),
        (("query", "k"), "k=**** in the query"),
        (("cookie", "sid"), "Cookie: sid=****"),
    ],
)
def test_an_api_key_is_sent_where_the_card_declares_and_shown_masked(place: tuple[str, str], shown: str):
    entered = EnteredCredentials(Redactor())
    entered.add_key(URL, SECRET)
    assert Authentication(entered.added_to(Credentials(), place), URL).sent == [shown]


def test_all_cookies_are_shown_masked():
    sent = Credentials({"Cookie": f"lang={SECRET}; {SECRET}; sid={SECRET}"}, frozenset({HOME}))
    assert Authentication(sent, URL).sent == ["Cookie: lang=****; ****; sid=****"]


def test_an_entered_secret_is_masked_before_it_is_used():
    redactor = Redactor()
    entered = EnteredCredentials(redactor)
    entered.add_bearer(URL, SECRET)
    entered.add_header(URL, "X-Other", "Scheme other-canary")
    assert redactor.text(f"{SECRET} other-canary") == "**** ****"
    assert SECRET not in repr(entered.added_to(Credentials(), ("header", "X-API-Key")))


async def test_an_entered_key_moves_to_the_place_of_the_card(open_session: OpenSession, agent: Agent):
    session = await open_session()
    session.credentials.entered.add_key(agent.url, SECRET)
    place = {"securitySchemes": {"k": key("header", "X-Mine")}}
    agent.routes["/.well-known/agent-card.json"] = giving(card_of(agent.url, **place))
    await session.connect(agent.url)
    assert session.credentials.current.headers_for(agent.url) == {"X-Mine": SECRET}
