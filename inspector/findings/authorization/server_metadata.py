"""Rules about the metadata of an authorization server (RFC 8414), and about OpenID discovery documents."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.findings.authorization.examples import CODE, SERVER, metadata, scheme, step
from inspector.findings.authorization.facts import LoginFacts, texts
from inspector.findings.rule_set import ERROR, HINT, WARNING, Rule, RuleSet, Violation
from inspector.findings.url import insecure
from inspector.protocol.jsonvalue import brief_or_missing
from inspector.protocol.oauth import DEVICE_GRANT, issuer_matches

_ENDPOINTS = {
    "authorizationUrl": "authorization_endpoint",
    "tokenUrl": "token_endpoint",
    "deviceAuthorizationUrl": "device_authorization_endpoint",
}
"""Maps the URLs of a flow on the card to the members of the metadata."""
_GRANTS = {
    "authorizationCode": "authorization_code",
    "clientCredentials": "client_credentials",
    "deviceCode": DEVICE_GRANT,
}
_DEFAULT_GRANTS = ["authorization_code", "implicit"]
_SECURE_MEMBERS = (*_ENDPOINTS.values(), "revocation_endpoint", "jwks_uri")
_MOST_SCOPES = 5

RULES: list[Rule] = []
FETCHED, DOCUMENT = RuleSet[LoginFacts](RULES, passing=metadata()), RuleSet[LoginFacts](RULES, passing=metadata())
"""The rules about every response to a request for metadata, and those about metadata that was read."""


@DOCUMENT.rule(
    "AUTH-001",
    ERROR,
    "The metadata is for another issuer",
    section="RFC 8414 §3.3; OpenID Connect Discovery §4.3",
    requirement="The issuer in the metadata MUST be identical to the one from which the URL of the metadata was made.",
    remedy="Correct issuer in the metadata, or the metadata URL on the card. Clients must not log in there.",
    failing=metadata(issuer="https://other.example.com"),
)
def other_issuer(facts: LoginFacts) -> Iterator[Violation]:
    issuer = facts.members.get("issuer")
    if not isinstance(issuer, str):
        yield Violation("/issuer", f"issuer is {brief_or_missing(issuer)}")
    elif not issuer_matches(issuer, facts.url):
        yield Violation("/issuer", f"issuer is {issuer}, but the metadata is at {facts.url}")


@DOCUMENT.rule(
    "AUTH-002",
    WARNING,
    "The authorization server does not announce PKCE with S256",
    section="RFC 9700 §2.1.1; RFC 8414 §2; 1.0 §4.5.8",
    requirement="Authorization servers MUST support PKCE, and announce it in code_challenge_methods_supported.",
    remedy="Support the method S256 and list it in code_challenge_methods_supported.",
    failing=metadata(code_challenge_methods_supported=None),
)
def no_pkce(facts: LoginFacts) -> Iterator[Violation]:
    methods = facts.members.get("code_challenge_methods_supported")
    if facts.grant != CODE or "S256" in texts(methods):
        return
    required = ", but the card has pkceRequired" if facts.flow.get("pkceRequired") is True else ""
    place = "" if methods is None else "/code_challenge_methods_supported"
    yield Violation(place, f"code_challenge_methods_supported is {brief_or_missing(methods)}{required}")


@DOCUMENT.rule(
    "AUTH-003",
    WARNING,
    "The metadata contradicts the endpoints on the card",
    section="1.0 §4.5.4, §4.5.8; RFC 8414 §2",
    requirement="The card and the metadata that it names describe the same authorization server.",
    remedy="Correct the URLs of the flow on the card, or the endpoints in the metadata.",
    failing=metadata(token_endpoint=f"{SERVER}/v2/token"),
)
def other_endpoints(facts: LoginFacts) -> Iterator[Violation]:
    for on_card, in_metadata in _ENDPOINTS.items():
        declared, found = facts.flow.get(on_card), facts.members.get(in_metadata)
        if isinstance(declared, str) and isinstance(found, str) and declared != found:
            yield Violation(f"/{in_metadata}", f"{in_metadata} is {found}, but {on_card} on the card is {declared}")


@DOCUMENT.rule(
    "AUTH-004",
    WARNING,
    "The authorization server does not offer the flow on the card",
    section="1.0 §4.5.7; RFC 8414 §2",
    requirement="grant_types_supported lists the flows; without it, they are authorization_code and implicit.",
    remedy="List the grant type in grant_types_supported, or declare another flow on the card.",
    failing=metadata(grant_types_supported=["client_credentials"]),
)
def flow_not_offered(facts: LoginFacts) -> Iterator[Violation]:
    wanted, offered = _GRANTS.get(facts.grant, ""), facts.members.get("grant_types_supported", _DEFAULT_GRANTS)
    if wanted and wanted not in texts(offered):
        listed = "grant_types_supported" in facts.members
        seen = f"grant_types_supported is {brief_or_missing(offered) if listed else 'missing'}, which excludes {wanted}"
        yield Violation("/grant_types_supported" if listed else "", seen)


@DOCUMENT.rule(
    "AUTH-005",
    HINT,
    "The authorization server does not announce a scope on the card",
    section="RFC 8414 §2",
    requirement="scopes_supported lists the scopes; a server may omit some of them.",
    remedy="Check the names of the scopes on the card, or list them in scopes_supported.",
    passing=metadata(scopes_supported=["openid", "translate"]),
    failing=metadata(scopes_supported=["openid"]),
)
def scope_not_announced(facts: LoginFacts) -> Iterator[Violation]:
    offered, declared = facts.members.get("scopes_supported"), facts.flow.get("scopes")
    wanted = {*facts.scopes, *(declared if isinstance(declared, dict) else ())}
    missing = sorted(wanted.difference(texts(offered))) if isinstance(offered, list) else []
    if missing:
        yield Violation("/scopes_supported", f"scopes_supported lacks {', '.join(missing[:_MOST_SCOPES])}")


@DOCUMENT.rule(
    "AUTH-006",
    ERROR,
    "An endpoint of the authorization server is not an https URL",
    section="RFC 8414 §2; RFC 6749 §3.1, §3.2; RFC 8628 §3.2",
    requirement="The authorization server MUST use TLS: secrets are sent to its endpoints.",
    remedy="Serve the endpoint over https, and correct its URL.",
    failing=metadata(revocation_endpoint="http://login.example.com/revoke"),
)
def insecure_endpoint(facts: LoginFacts) -> Iterator[Violation]:
    for name in _SECURE_MEMBERS:
        url = facts.members.get(name)
        if isinstance(url, str) and (why := insecure(url)):
            yield Violation(f"/{name}", f"{name} is {url[:200]!r}: {why}")


@FETCHED.rule(
    "AUTH-007",
    ERROR,
    "The metadata URL on the card has no metadata",
    section="1.0 §4.5.4, §4.5.5; RFC 8414 §3.2",
    requirement="The response is a JSON object with status 200.",
    remedy="Serve the metadata at this URL, or correct the URL on the card.",
    failing=step("metadata", status=404, url=f"{SERVER}/.well-known/oauth-authorization-server", scheme=scheme()),
)
def no_metadata(facts: LoginFacts) -> Iterator[Violation]:
    if facts.status != 200:
        yield Violation("", f"status is {facts.status}")
    elif facts.answer is None:
        yield Violation("", "the body is not a JSON object")
