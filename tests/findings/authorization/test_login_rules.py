"""The rules about logins: their examples, and more violations and valid answers."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.findings.authorization.check import RULES, check
from inspector.findings.authorization.examples import (
    AGENT,
    CREDENTIALS,
    DEVICE,
    METADATA,
    NOW,
    SERVER,
    device,
    metadata,
    redirect,
    resource,
    scheme,
    step,
    token,
)
from inspector.findings.authorization.facts import LoginFacts
from inspector.findings.rule_set import Rule
from inspector.protocol.oauth import DEVICE_GRANT


def facts_of(example: Any) -> LoginFacts:
    members = {**example, "headers": tuple((name, value) for name, value in example.get("headers", ()))}
    return LoginFacts(**members | {"scopes": tuple(example.get("scopes", ()))})


def rules_of(example: Any) -> list[str]:
    return [finding.rule for finding in check(facts_of(example))]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_failing_example_breaks_only_its_rule_and_the_passing_example_none(rule: Rule):
    assert rules_of(rule.failing) == [rule.id]
    assert rules_of(rule.passing) == []


WELL_KNOWN = "/.well-known/oauth-authorization-server"
NO_STORE = [["Cache-Control", "no-store"]]

VIOLATIONS: list[tuple[str, Any, str, str]] = [
    ("AUTH-001", metadata(issuer=None), "/issuer", "issuer is missing"),
    ("AUTH-001", metadata(issuer=f"{SERVER}/tenant"), "/issuer", f"issuer is {SERVER}/tenant, but the metadata is at"),
    (
        "AUTH-002",
        metadata(code_challenge_methods_supported=["plain"]) | {"scheme": scheme(pkceRequired=True)},
        "/code_challenge_methods_supported",
        "but the card has pkceRequired",
    ),
    ("AUTH-004", metadata() | {"grant": CREDENTIALS}, "/grant_types_supported", "which excludes client_credentials"),
    ("AUTH-004", metadata(grant_types_supported=None) | {"grant": DEVICE}, "", "is missing, which excludes urn:"),
    ("AUTH-006", metadata(jwks_uri="/keys"), "/jwks_uri", "it is not absolute"),
    ("AUTH-007", step("metadata", status=200, url=SERVER), "", "the body is not a JSON object"),
    ("AUTH-010", redirect(state_matches=False, parameters={"code": "****"}), "", "state is missing"),
    ("AUTH-011", redirect(issuer=SERVER, parameters={"code": "c", "iss": "https://other"}), "", "iss is https://other"),
    ("AUTH-020", token({"access_token": None, "accessToken": "****"}), "", "but the response has accessToken"),
    ("AUTH-020", token({"expires_in": "3600"}), "/expires_in", "expected a number"),
    ("AUTH-020", token({"token_type": 5}), "/token_type", "token_type is a number"),
    ("AUTH-020", token() | {"answer": None}, "", "the body is not a JSON object"),
    ("AUTH-021", token({"token_type": "DPoP"}), "/token_type", "'DPoP'"),
    ("AUTH-023", token({"scope": ""}), "/scope", "which lacks translate"),
    ("AUTH-024", token({"expires_in": 30}), "/expires_in", "expires_in is 30"),
    ("AUTH-024", token(access_claims={"exp": NOW - 5}), "/access_token", "5 s behind our clock"),
    ("AUTH-026", token(headers=[]), "", "Cache-Control is missing"),
    ("AUTH-027", token(headers=NO_STORE, id_claims={"iat": NOW + 600}), "/id_token", "600 s ahead of our clock"),
    ("AUTH-029", token(status=200, answer={"error": "invalid_grant"}, headers=NO_STORE), "/error", "status is 200"),
    ("AUTH-029", token(status=400, answer={"message": "no"}), "", "error is missing"),
    ("AUTH-040", device(user_code="\x1b[2J"), "/user_code", "control characters"),
    ("AUTH-040", device(verification_uri="http://login.example.com/"), "/verification_uri", "expected https"),
    ("AUTH-040", device(expires_in="900"), "/expires_in", "900"),
    ("AUTH-051", resource(resource=None), "", "resource is missing"),
]


@pytest.mark.parametrize(("rule", "example", "pointer", "seen"), VIOLATIONS)
def test_a_violation_is_reported_at_its_place(rule: str, example: Any, pointer: str, seen: str):
    [finding] = check(facts_of(example))
    assert (finding.rule, finding.pointer) == (rule, pointer)
    assert seen in finding.seen


VALID: list[Any] = [
    token(headers=[["Cache-Control", "private"], ["cache-control", "no-store"]]),
    metadata(issuer=f"{SERVER}/t") | {"url": f"{SERVER}{WELL_KNOWN}/t"},
    metadata(issuer=f"{SERVER}/t") | {"url": f"{SERVER}/t/.well-known/openid-configuration"},
    metadata(jwks_uri="http://127.0.0.1:9000/keys"),
    metadata(code_challenge_methods_supported=None, grant_types_supported=[DEVICE_GRANT]) | {"grant": DEVICE},
    redirect(parameters={"error": "access_denied", "state": "****"}),
    redirect(issuer=SERVER, metadata=METADATA),
    token({"scope": "translate"}),
    token({"token_type": "bearer"}),
    token(access_claims={"aud": "api://agent", "exp": NOW + 3600, "iat": NOW - 4000}),
    token(access_claims={"aud": f"{AGENT}/other/path"}),
    token(access_claims={"aud": AGENT}, agent="https://agent.example.com:443"),
    resource() | {"agent": "https://agent.example.com:443"},
    token(access_claims={"exp": True, "iat": "now", "aud": 5}),
    token(access_claims={"exp": 10**400, "iat": float("inf")}),
    token(headers=[*NO_STORE, ["Date", "yesterday"]]),
    token(status=400, answer={"error": "invalid_grant"}),
    token(status=400, answer={"error": "authorization_pending"}, parameters={"grant_type": DEVICE_GRANT}),
    resource(authorization_servers=None),
    resource(authorization_servers=["https://other.example.com", SERVER]),
    step("resource", status=404, agent=AGENT),
    step("device", {"error": "invalid_client"}, status=400),
    step("revoke"),
]


@pytest.mark.parametrize("example", VALID)
def test_valid_answers_have_no_findings(example: Any):
    assert rules_of(example) == []


def test_metadata_for_an_openid_login_needs_no_flow_on_the_card():
    url = f"{SERVER}/.well-known/openid-configuration"
    openid = {"openIdConnectSecurityScheme": {"openIdConnectUrl": url}}
    assert rules_of(step("metadata", METADATA, url=url, scheme=openid)) == []
    other = step(
        "resource", {"resource": AGENT, "authorization_servers": ["https://other"]}, agent=AGENT, scheme=openid
    )
    assert rules_of(other) == ["AUTH-050"]
