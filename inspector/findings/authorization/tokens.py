"""Rules about the responses of a token endpoint (RFC 6749 section 5), and about the tokens in them."""

from __future__ import annotations

from collections.abc import Iterator
from email.utils import parsedate_to_datetime

from inspector.findings.authorization.examples import AGENT, NOW, token
from inspector.findings.authorization.facts import LoginFacts, is_number, texts
from inspector.findings.rule_set import ERROR, HINT, WARNING, Rule, RuleSet, Violation
from inspector.findings.shape import camel_case
from inspector.findings.url import origin_of
from inspector.protocol.jsonvalue import brief, brief_or_missing
from inspector.protocol.oauth import BEARER, DEVICE_GRANT, claimed_date

_KNOWN_SPELLINGS = frozenset({"Bearer", "bearer"})
_SHORTEST = 60
"""A token that is valid for fewer seconds has expired before it can be used and refreshed."""
_TOLERANCE = 60.0
"""The number of seconds that clocks may differ."""
_FAILED = 400
_WITH_AUDIENCE = ("http://", "https://")

RULES: list[Rule] = []
RESPONSE, GRANTED = RuleSet[LoginFacts](RULES, passing=token()), RuleSet[LoginFacts](RULES, passing=token())
"""The rules about every response of a token endpoint, and those about a response with a token."""


@GRANTED.rule(
    "AUTH-020",
    ERROR,
    "A token response lacks a required member",
    section="RFC 6749 §5.1",
    requirement="access_token and token_type are required; expires_in is a number.",
    remedy="Send access_token, token_type, expires_in and scope with exactly these names.",
    failing=token({"token_type": None, "tokenType": "Bearer"}),
)
def incomplete(facts: LoginFacts) -> Iterator[Violation]:
    members = facts.members
    for name in ("access_token", "token_type"):
        value = members.get(name)
        if not isinstance(value, str) or not value:
            other = camel_case(name)
            renamed = f", but the response has {other}" if other in members else ""
            found = "empty" if value == "" else brief_or_missing(value)
            yield Violation("" if value is None else f"/{name}", f"{name} is {found}{renamed}")
    expires_in = members.get("expires_in")
    if expires_in is not None and not is_number(expires_in):
        yield Violation("/expires_in", f"expires_in is {brief(expires_in)}, expected a number")


@RESPONSE.add_check("AUTH-020")
def not_an_object(facts: LoginFacts) -> Iterator[Violation]:
    if facts.answer is None and facts.status < _FAILED:
        yield Violation("", f"status is {facts.status}, and the body is not a JSON object")


@GRANTED.rule(
    "AUTH-021",
    ERROR,
    "The type of a token is not Bearer",
    section="RFC 6749 §7.1; RFC 6750 §4",
    requirement="A client MUST NOT use a token if it does not understand its type; A2A clients understand Bearer.",
    remedy="Configure the authorization server to issue Bearer tokens to this client.",
    failing=token({"token_type": "mac"}),
)
def other_type(facts: LoginFacts) -> Iterator[Violation]:
    kind = facts.members.get("token_type")
    if isinstance(kind, str) and kind and kind.lower() != BEARER:
        yield Violation("/token_type", f"token_type is {kind[:80]!r}")


@GRANTED.rule(
    "AUTH-022",
    HINT,
    "The type of a token has an unusual spelling",
    section="RFC 6749 §5.1",
    requirement="The type is compared without regard to case, but some clients compare it exactly.",
    remedy="Send Bearer.",
    failing=token({"token_type": "BEARER"}),
)
def unusual_type(facts: LoginFacts) -> Iterator[Violation]:
    kind = facts.members.get("token_type")
    if isinstance(kind, str) and kind.lower() == BEARER and kind not in _KNOWN_SPELLINGS:
        yield Violation("/token_type", f"token_type is {kind!r}")


@GRANTED.rule(
    "AUTH-023",
    WARNING,
    "A requested scope was not granted",
    section="RFC 6749 §3.3",
    requirement="The server reports the granted scopes if they differ from the requested scopes.",
    remedy="Allow the scope for this client and this user, or do not require it on the card.",
    passing=token({"scope": "translate openid"}),
    failing=token({"scope": "openid"}),
)
def scope_not_granted(facts: LoginFacts) -> Iterator[Violation]:
    granted = facts.members.get("scope")
    missing = [scope for scope in facts.scopes if scope not in granted.split()] if isinstance(granted, str) else []
    if missing:
        yield Violation("/scope", f"scope is {granted!r:.200}, which lacks {', '.join(missing)[:200]}")


@GRANTED.rule(
    "AUTH-024",
    WARNING,
    "A token expires at once",
    section="RFC 6749 §5.1",
    requirement="expires_in is the number of seconds for which the token is valid.",
    remedy="Issue tokens that are valid for some minutes, and compare the clocks of the servers.",
    failing=token({"expires_in": 0}),
)
def expires_at_once(facts: LoginFacts) -> Iterator[Violation]:
    seconds, expiry = facts.members.get("expires_in"), claimed_date(facts.access_claims, "exp")
    if is_number(seconds) and seconds < _SHORTEST:
        yield Violation("/expires_in", f"expires_in is {seconds}")
    elif expiry is not None and expiry - facts.at < _SHORTEST:
        yield Violation("/access_token", f"exp in the token is {_distance(expiry - facts.at)}")


@GRANTED.rule(
    "AUTH-025",
    HINT,
    "A token response does not report when the token expires",
    section="RFC 6749 §5.1",
    requirement="expires_in is recommended: without it, clients cannot refresh the token in time.",
    remedy="Send expires_in.",
    failing=token({"expires_in": None}),
)
def no_expiry(facts: LoginFacts) -> Iterator[Violation]:
    if facts.members.get("expires_in") is None and "access_token" in facts.members:
        yield Violation("", "expires_in is missing")


@RESPONSE.rule(
    "AUTH-026",
    WARNING,
    "A response with a token may be stored by caches",
    section="RFC 6749 §5.1",
    requirement="The server MUST send Cache-Control: no-store in every response with tokens.",
    remedy="Send Cache-Control: no-store.",
    failing=token(headers=[["Cache-Control", "max-age=60"]]),
)
def cacheable(facts: LoginFacts) -> Iterator[Violation]:
    control = facts.header("cache-control")
    if facts.succeeded and "no-store" not in control.lower():
        yield Violation("", f"Cache-Control is {control[:80] or 'missing'}")


@RESPONSE.rule(
    "AUTH-027",
    WARNING,
    "The clock of the authorization server differs from that of this machine",
    section="RFC 9110 §6.6.1; RFC 7519 §4.1",
    requirement="Tokens are valid between two times, so that the clocks have to agree.",
    remedy="Synchronise the clocks of both machines, for example with NTP.",
    failing=token(at=NOW + 3600),
)
def clock_differs(facts: LoginFacts) -> Iterator[Violation]:
    date = _date(facts.header("date"))
    if date is not None and abs(date - facts.at) > _TOLERANCE:
        yield Violation("", f"Date is {_distance(date - facts.at)}")
        return
    for member, claims in (("access_token", facts.access_claims), ("id_token", facts.id_claims)):
        issued = claimed_date(claims, "iat")
        if issued is not None and issued - facts.at > _TOLERANCE:
            yield Violation(f"/{member}", f"iat in the token is {_distance(issued - facts.at)}")
            return


@GRANTED.rule(
    "AUTH-028",
    WARNING,
    "A token is for another agent",
    section="RFC 9068 §2.2, §4; RFC 8707 §2",
    requirement="aud names the server that accepts the token; the agent MUST reject tokens for others.",
    remedy="Configure the audience of this client at the authorization server: it is the URL of the agent.",
    failing=token(access_claims={"aud": "https://other.example.com"}),
    passing=token(access_claims={"aud": ["api://agent", AGENT]}),
)
def other_audience(facts: LoginFacts) -> Iterator[Violation]:
    claimed = facts.access_claims.get("aud")
    audiences = [claimed] if isinstance(claimed, str) else list(texts(claimed))
    are_urls = bool(audiences) and all(audience.startswith(_WITH_AUDIENCE) for audience in audiences)
    if facts.agent and are_urls and origin_of(facts.agent) not in map(origin_of, audiences):
        yield Violation(
            "/access_token", f"aud in the token is {', '.join(audiences)[:200]}, the agent is {facts.agent}"
        )


@RESPONSE.rule(
    "AUTH-029",
    WARNING,
    "An error of the token endpoint has the wrong form",
    section="RFC 6749 §5.2",
    requirement="The body of an error is a JSON object with the member error, and the status is 400 or 401.",
    remedy='Send {"error": "invalid_grant"} with status 400; clients act on the code of the error.',
    failing=token(status=500, answer=None),
)
def malformed_error(facts: LoginFacts) -> Iterator[Violation]:
    error = facts.members.get("error")
    if facts.status >= _FAILED and not isinstance(error, str):
        found = "the body is not a JSON object" if facts.answer is None else f"error is {brief_or_missing(error)}"
        yield Violation("", f"status is {facts.status}, and {found}")
    elif error is not None and facts.status < _FAILED:
        yield Violation("/error", f"status is {facts.status}, and error is {brief_or_missing(error)}")


@RESPONSE.rule(
    "AUTH-030",
    WARNING,
    "The authorization server rejects a refresh token that it issued",
    section="RFC 6749 §6; RFC 9700 §4.14",
    requirement="A refresh token is valid until it expires, is used or is revoked.",
    remedy="Check how long refresh tokens are valid for this client. Users have to log in again.",
    failing=token(step="refresh", status=400, answer={"error": "invalid_grant"}),
)
def refresh_rejected(facts: LoginFacts) -> Iterator[Violation]:
    error = facts.members.get("error")
    if facts.step == "refresh" and error == "invalid_grant":
        yield Violation("/error", f"error is {error}{_described(facts)}")


@RESPONSE.rule(
    "AUTH-031",
    HINT,
    "The authorization server asks a waiting client to slow down",
    section="RFC 8628 §3.5",
    requirement="interval is the number of seconds between two requests that the server accepts.",
    remedy="Announce the interval that the server accepts: 5 seconds if interval is missing.",
    failing=token(status=400, answer={"error": "slow_down"}, parameters={"grant_type": DEVICE_GRANT}),
)
def slow_down(facts: LoginFacts) -> Iterator[Violation]:
    if facts.parameters.get("grant_type") == DEVICE_GRANT and facts.members.get("error") == "slow_down":
        yield Violation("/error", "error is slow_down, although the client waited for the announced interval")


def _date(text: str) -> float | None:
    """Return an HTTP date in seconds since 1970, None if it cannot be read."""
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None


def _distance(seconds: float) -> str:
    return f"{abs(seconds):.0f} s {'ahead of' if seconds > 0 else 'behind'} our clock"


def _described(facts: LoginFacts) -> str:
    text = facts.members.get("error_description")
    return f": {text[:200]}" if isinstance(text, str) else ""
