"""Rules about the redirect with which an authorization server returns to the client."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.findings.authorization.examples import METADATA, SERVER, redirect
from inspector.findings.authorization.facts import LoginFacts
from inspector.findings.rule_set import ERROR, Rule, RuleSet, Violation

RULES: list[Rule] = []
REDIRECT = RuleSet[LoginFacts](RULES, passing=redirect())
_PARAMETER_OF_ISSUERS = "authorization_response_iss_parameter_supported"


@REDIRECT.rule(
    "AUTH-010",
    ERROR,
    "The redirect of a login has another state",
    section="RFC 6749 §4.1.2, §10.12",
    requirement="The redirect MUST contain the exact value of state in the authorization request.",
    remedy="Return state unchanged. If you did not start a login, the redirect may be an attack: do not continue.",
    failing=redirect(state_matches=False),
)
def other_state(facts: LoginFacts) -> Iterator[Violation]:
    if facts.state_matches is False:
        present = "state" in facts.parameters
        yield Violation("", "state is not that of the request" if present else "state is missing")


@REDIRECT.rule(
    "AUTH-011",
    ERROR,
    "The redirect of a login has another issuer",
    section="RFC 9207 §2, §2.4",
    requirement="iss MUST be the issuer of the authorization server; it is required if the metadata announces it.",
    remedy=f"Send the issuer of the metadata in iss, or remove {_PARAMETER_OF_ISSUERS}.",
    passing=redirect(parameters={"code": "****", "state": "****", "iss": SERVER}, issuer=SERVER),
    failing=redirect(issuer=SERVER, metadata={**METADATA, _PARAMETER_OF_ISSUERS: True}),
)
def other_issuer(facts: LoginFacts) -> Iterator[Violation]:
    found = facts.parameters.get("iss")
    announced = (facts.metadata or {}).get(_PARAMETER_OF_ISSUERS) is True
    if facts.issuer and found != facts.issuer and (announced or found is not None):
        yield Violation("", f"iss is {found or 'missing'}, expected {facts.issuer}")


@REDIRECT.rule(
    "AUTH-012",
    ERROR,
    "The redirect of a login has neither a code nor an error",
    section="RFC 6749 §4.1.2",
    requirement="The redirect contains code if the user allowed the access, else error.",
    remedy="Add code or error to the query of the redirect URI.",
    failing=redirect(parameters={"state": "****"}),
)
def no_code(facts: LoginFacts) -> Iterator[Violation]:
    if not (facts.parameters.get("code") or facts.parameters.get("error")):
        yield Violation("", f"the parameters are {', '.join(facts.parameters) or 'none'}")
