"""Rules about responses with which an agent demands credentials: 401, 403 and redirects to a login page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from inspector.findings.examples import response
from inspector.findings.rule_set import ERROR, HINT, WARNING, Rule, RuleSet, Violation
from inspector.findings.url import flaw, origin_of
from inspector.protocol.challenge import Challenge, is_login_page, read_challenges
from inspector.protocol.model import Json
from inspector.protocol.security import declares

UNAUTHORIZED, FORBIDDEN = 401, 403
_REDIRECTS = range(300, 400)
DENIALS = frozenset({UNAUTHORIZED, FORBIDDEN, *_REDIRECTS})
"""The statuses that these rules are about."""
_STATUS_OF_ERROR = {"invalid_request": 400, "invalid_token": UNAUTHORIZED, "insufficient_scope": FORBIDDEN}
_HTTP = "HTTP+JSON"
_CARD: dict[str, Json] = {"securitySchemes": {"token": {"httpAuthSecurityScheme": {"scheme": "Bearer"}}}}


class Denial(NamedTuple):
    """A response that demands credentials.

    - `url`: where the request was sent, with masked secrets; `authorization`: the scheme of its header Authorization.
    - `challenge`: the header WWW-Authenticate, `location`: the header Location, both `""` if missing.
    - `declared`: the authentication schemes on the card, None if the card is not known (see `authentication_schemes`).
    """

    version: str
    url: str
    status: int
    challenge: str
    location: str
    authorization: str
    declared: frozenset[str] | None

    @property
    def challenges(self) -> tuple[Challenge, ...]:
        """Return the challenges, none if they cannot be read."""
        return read_challenges(self.challenge) or ()


def _denied(challenge: str, status: int = UNAUTHORIZED, **members: Json) -> Json:
    """Return a response that demands credentials."""
    sent = {"binding": _HTTP, "status": status, "responseHeaders": {"WWW-Authenticate": challenge}, "card": _CARD}
    return response({}, **{**sent, **members})


_PASSING = _denied('Bearer realm="agent"')
_TOKEN = {"Authorization": "Bearer ****"}

RULES: list[Rule] = []
DENIED = RuleSet[Denial](RULES, passing=_PASSING)


@DENIED.rule(
    "AUTH-060",
    WARNING,
    "The agent redirects to a login page",
    section="1.0 §7.4, §3.3.2; RFC 9110 §15.5.2",
    requirement="A request without valid credentials is answered with 401, and a challenge that names the scheme.",
    remedy="Exclude the URL of the agent from the login of the web server or proxy, and respond with 401.",
    failing=_denied("", 302, responseHeaders={"Location": "https://login.example.com/start"}),
)
def login_page(denial: Denial) -> Iterator[Violation]:
    if denial.status in _REDIRECTS and is_login_page(denial.location, denial.url):
        yield Violation("", f"status is {denial.status}, Location is {denial.location[:200]}")


@DENIED.rule(
    "AUTH-061",
    WARNING,
    "The agent demands another authentication scheme than its card declares",
    section="1.0 §7.3, §4.5.1; RFC 9110 §11.6.1",
    requirement="The card declares the schemes with which clients authenticate; the challenge names one of them.",
    remedy="Declare the demanded scheme on the card, or send a challenge of a scheme on the card.",
    failing=_denied('Negotiate realm="agent"'),
)
def undeclared_scheme(denial: Denial) -> Iterator[Violation]:
    demanded = [challenge.scheme for challenge in denial.challenges]
    if denial.declared is None or not demanded:
        return
    if not any(declares(denial.declared, name) for name in demanded):
        on_card = ", ".join(sorted(denial.declared)) or "none"
        yield Violation("", f"the challenge demands {', '.join(demanded)[:80]}, the schemes on the card are: {on_card}")


@DENIED.rule(
    "AUTH-062",
    WARNING,
    "The challenge of a response cannot be read",
    section="RFC 9110 §11.3, §11.6.1",
    requirement='WWW-Authenticate is a list of challenges: a scheme with parameters (name="value"), with commas.',
    remedy="Separate the parameters with commas, and quote their values.",
    failing=_denied('Bearer realm="agent" error="invalid_token"'),
)
def malformed(denial: Denial) -> Iterator[Violation]:
    if denial.challenge and read_challenges(denial.challenge) is None:
        yield Violation("", f"WWW-Authenticate is {denial.challenge[:200]}")


@DENIED.rule(
    "AUTH-063",
    WARNING,
    "The status does not match the error in the challenge",
    section="RFC 6750 §3.1",
    requirement="invalid_token SHOULD have the status 401, insufficient_scope 403, invalid_request 400.",
    remedy="Use the status of the error: clients refresh the token after 401, and ask for more scopes after 403.",
    failing=_denied('Bearer error="insufficient_scope", scope="translate"', headers=_TOKEN),
)
def other_status(denial: Denial) -> Iterator[Violation]:
    for challenge in denial.challenges:
        error = challenge.get("error")
        expected = _STATUS_OF_ERROR.get(error, denial.status) if challenge.is_bearer else denial.status
        if denial.status != expected:
            yield Violation("", f"status is {denial.status}, error is {error}, which has the status {expected}")


@DENIED.rule(
    "AUTH-064",
    HINT,
    "A token is rejected without a reason",
    section="RFC 6750 §3",
    requirement="If a token was sent, the challenge SHOULD contain error: invalid_token or insufficient_scope.",
    remedy="Send error and error_description: without them, clients cannot know whether the token has expired.",
    passing=_denied('Bearer error="invalid_token"', headers=_TOKEN),
    failing=_denied('Bearer realm="agent"', headers=_TOKEN),
)
def no_reason(denial: Denial) -> Iterator[Violation]:
    tokens = [challenge for challenge in denial.challenges if challenge.is_bearer]
    if denial.authorization.lower() == "bearer" and tokens and not any(item.get("error") for item in tokens):
        yield Violation("", f"WWW-Authenticate is {denial.challenge[:200]}")


@DENIED.rule(
    "AUTH-065",
    ERROR,
    "The challenge names the metadata of another server",
    section="RFC 9728 §3, §5.1, §7.3",
    requirement="resource_metadata is an https URL at the origin of the agent.",
    remedy="Serve /.well-known/oauth-protected-resource at the origin of the agent, and name it in the challenge.",
    failing=_denied('Bearer resource_metadata="https://other.example.com/.well-known/oauth-protected-resource"'),
)
def foreign_metadata(denial: Denial) -> Iterator[Violation]:
    for challenge in denial.challenges:
        url = challenge.get("resource_metadata")
        if not url:
            continue
        here = origin_of(denial.url)
        if why := flaw(url):
            yield Violation("", f"resource_metadata is {url[:200]!r}: {why}")
        elif here and origin_of(url) != here:
            yield Violation("", f"resource_metadata is {url[:200]}, the agent is at {here}")


@DENIED.rule(
    "AUTH-066",
    HINT,
    "A missing scope is not named",
    section="RFC 6750 §3.1",
    requirement="With insufficient_scope, the challenge may contain scope: the scopes that the request needs.",
    remedy="Send scope, so that clients can ask for it.",
    passing=_denied('Bearer error="insufficient_scope", scope="translate"', FORBIDDEN, headers=_TOKEN),
    failing=_denied('Bearer error="insufficient_scope"', FORBIDDEN, headers=_TOKEN),
)
def unnamed_scope(denial: Denial) -> Iterator[Violation]:
    for challenge in denial.challenges:
        if challenge.get("error") == "insufficient_scope" and not challenge.get("scope"):
            yield Violation("", "error is insufficient_scope, and scope is missing")
