"""Rules about the metadata of an agent as a protected resource (RFC 9728), and about ID tokens."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.findings.authorization.examples import SERVER, resource, step
from inspector.findings.authorization.facts import LoginFacts, texts
from inspector.findings.rule_set import ERROR, WARNING, Rule, RuleSet, Violation
from inspector.findings.url import origin_of
from inspector.protocol.jsonvalue import brief_or_missing
from inspector.protocol.model import Json

RULES: list[Rule] = []
RESOURCE = RuleSet[LoginFacts](RULES, passing=resource())
KEYS = RuleSet[LoginFacts](RULES, passing=step("keys", {"keys": []}))
_URLS_OF_SERVERS = ("authorizationUrl", "tokenUrl", "deviceAuthorizationUrl")


@RESOURCE.rule(
    "AUTH-050",
    WARNING,
    "The metadata of the agent names another authorization server than the card",
    section="RFC 9728 §2, §7.6; 1.0 §4.5.4",
    requirement="authorization_servers lists the issuers whose tokens the agent accepts.",
    remedy="List the issuer of the scheme on the card in authorization_servers, or correct the card.",
    failing=resource(authorization_servers=["https://other.example.com"]),
)
def other_server(facts: LoginFacts) -> Iterator[Violation]:
    listed = list(texts(facts.members.get("authorization_servers")))
    known = _servers_of(facts)
    if listed and known and not known.intersection(map(origin_of, listed)):
        expected = ", ".join(sorted(known))
        yield Violation("/authorization_servers", f"the servers are {', '.join(listed)[:200]}, the card has {expected}")


@RESOURCE.rule(
    "AUTH-051",
    ERROR,
    "The metadata of the agent is for another resource",
    section="RFC 9728 §3.3",
    requirement="resource MUST be identical to the URL from which the URL of the metadata was made.",
    remedy="Set resource to the URL of the agent. Clients must not use this metadata.",
    failing=resource(resource="https://other.example.com"),
)
def other_resource(facts: LoginFacts) -> Iterator[Violation]:
    named = facts.members.get("resource")
    if not isinstance(named, str):
        yield Violation("", f"resource is {brief_or_missing(named)}")
    elif facts.agent and origin_of(named) != origin_of(facts.agent):
        yield Violation("/resource", f"resource is {named[:200]}, the agent is {facts.agent}")


@KEYS.rule(
    "AUTH-052",
    ERROR,
    "The ID token is missing or not valid",
    section="OpenID Connect Core §3.1.3.3, §3.1.3.7",
    requirement="The token response contains id_token; the client MUST verify its signature, claims and dates.",
    remedy="Compare the issuer, the client id and the keys of the server, and the clocks of both machines.",
    failing=step("keys", {"keys": []}, issuer=SERVER, id_token_problem="nonce: nonce does not match"),  # noqa: S106 - not a password
)
def invalid_id_token(facts: LoginFacts) -> Iterator[Violation]:
    if facts.id_token_problem:
        yield Violation("", facts.id_token_problem)


def _servers_of(facts: LoginFacts) -> set[str]:
    """Return the origins of the authorization server, according to its metadata and to the card."""
    urls: list[Json] = [(facts.metadata or {}).get("issuer"), facts.oauth.get("oauth2MetadataUrl")]
    urls += [facts.flow.get(name) for name in _URLS_OF_SERVERS]
    openid = facts.scheme.get("openIdConnectSecurityScheme")
    urls += [openid.get("openIdConnectUrl")] if isinstance(openid, dict) else []
    return {origin_of(url) for url in urls if isinstance(url, str) and url}
