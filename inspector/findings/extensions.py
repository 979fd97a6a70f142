"""Rules about the activation of extensions (1.0 sections 3.2.6 and 4.6), and about their data, such as mandates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from inspector.findings.examples import TEXT_PART, answer, message
from inspector.findings.rule_set import ERROR, HINT, SINCE_0_2, WARNING, Check, Rule, RuleSet, Violation
from inspector.protocol.circumstances import Circumstances
from inspector.protocol.model import Json

if TYPE_CHECKING:
    from inspector.protocol.extensions.known import Use

_LONGEST = 200
_URI = "https://a.example/ext"
_TIMESTAMP = "https://github.com/a2aproject/a2a-samples/samples/extensions/timestamp/v1"
_DECLARED: Json = {"capabilities": {"extensions": [{"uri": _URI}, {"uri": _TIMESTAMP}]}}

# A token that names the key of an agent, and tokens of that agent: a valid one, one that another key signed, and
# one that belongs to another token.
_OPEN = (
    "eyJhbGciOiJFZERTQSIsImtpZCI6IndhbGxldCJ9.eyJ2Y3QiOiJtYW5kYXRlLnBheW1lbnQub3Blbi4xIiwiY25mIjp7Imp3ayI"
    "6eyJrdHkiOiJPS1AiLCJjcnYiOiJFZDI1NTE5IiwieCI6ImpPZmVfYTJaTkN3eWt3NHlsbGE3V3c3WGtEMjZydnVJWlR5T0JXSng"
    "4bzQifX19.6nAiUG0C_ZUSulDtSbVoZqsPwCUUR_6C84A7OiJ0u2GLRhjGE5lYHLRAjs9fOtIsH9GwoY9SmoePWYVbUVUkCA"
)
_CLOSED = (
    "eyJhbGciOiJFZERTQSIsInR5cCI6ImtiK3NkLWp3dCJ9.eyJ2Y3QiOiJtYW5kYXRlLnBheW1lbnQuMSIsInBheW1lbnRfYW1vdW5"
    "0Ijp7ImFtb3VudCI6MTAwLCJjdXJyZW5jeSI6IkVVUiJ9LCJzZF9oYXNoIjoibnplYmk4SllWR1FfcjVQVHJMLVhJaHgyNHhYWnh"
    "hNW51SktkQlMyanpUOCJ9.WIXWJ6mI2IzX2cbS8XrgDw-28-omEhQqjom0kdSq2a1IsJpRRoR_HAexdnwMqgatUMhAn0zYJ-"
    "AyV4qCzYxNBw"
)
_FORGED = (
    "eyJhbGciOiJFZERTQSIsInR5cCI6ImtiK3NkLWp3dCJ9.eyJ2Y3QiOiJtYW5kYXRlLnBheW1lbnQuMSIsInBheW1lbnRfYW1vdW5"
    "0Ijp7ImFtb3VudCI6MTAwLCJjdXJyZW5jeSI6IkVVUiJ9LCJzZF9oYXNoIjoibnplYmk4SllWR1FfcjVQVHJMLVhJaHgyNHhYWnh"
    "hNW51SktkQlMyanpUOCJ9.tfws0k7rd2t0dWSNDb02JebFH0QhpSFOkuZkmxApAR0lcWM3W46Qn3uZmzclzo9OOOTQe-"
    "7ftt_80ntOGHeYAQ"
)
_STRAY = (
    "eyJhbGciOiJFZERTQSIsInR5cCI6ImtiK3NkLWp3dCJ9.eyJ2Y3QiOiJtYW5kYXRlLnBheW1lbnQuMSIsInBheW1lbnRfYW1vdW5"
    "0Ijp7ImFtb3VudCI6MTAwLCJjdXJyZW5jeSI6IkVVUiJ9LCJzZF9oYXNoIjoiTFhFV1FyY21zRVFCWW55cC02d3k5Y2hURDdHUVB"
    "NVGJBaVdIRjVJYVNJRSJ9.VJPG1y0KRhUzhZo7Hld5MbFB8Y0nf0c-W-"
    "A0xZ4JvzYWGAzBQGkJI74KemEz3dnlZCHRUsXNnSYR3dnA_tKiBQ"
)
_DATA = {f"{_TIMESTAMP.removeprefix('https://')}/timestamp": "2026-01-31T12:00:00Z"}


class Activation(NamedTuple):
    """The extensions that a response activates, with the circumstances of its request."""

    version: str
    activated: frozenset[str]
    circumstances: Circumstances


class DataFacts(NamedTuple):
    """The place of the data of a known extension that is not active, its name, and whether it was requested."""

    version: str
    pointer: str
    name: str
    requested: bool


class MandateFlaw(Enum):
    """What can be wrong with a mandate or a passport."""

    SIGNATURE = auto()
    HASH = auto()
    TIME = auto()
    CHAIN = auto()


class MandateFacts(NamedTuple):
    """The place of a mandate or a passport, and its flaws, each with a description."""

    version: str
    pointer: str
    flaws: tuple[tuple[MandateFlaw, str], ...]


RULES: list[Rule] = []
ACTIVATION, DATA = RuleSet[Activation](RULES, SINCE_0_2), RuleSet[DataFacts](RULES, SINCE_0_2)
MANDATES = RuleSet[MandateFacts](RULES, SINCE_0_2)


def _activates(uri: str, **more: Json) -> Json:
    return answer(message(TEXT_PART), card=_DECLARED, responseHeaders={"A2A-Extensions": uri}, **more)


@ACTIVATION.rule(
    "RESULT-016",
    WARNING,
    "The agent activated an extension that its card does not declare",
    section="1.0 §4.4.4, §4.6",
    requirement="An agent declares the extensions that it supports in capabilities.extensions of its card.",
    remedy="Add the extension to the card, or do not activate it.",
    passing=_activates(_URI, headers={"A2A-Extensions": _URI}),
    failing=_activates("urn:undeclared", headers={"A2A-Extensions": "urn:undeclared"}),
)
def not_declared(facts: Activation) -> Iterator[Violation]:
    card = facts.circumstances.card
    if card is not None:
        declared = {extension.uri for extension in card.capabilities.extensions or ()}
        for uri in sorted(facts.activated - declared):
            yield Violation("", f"the response activates {uri[:_LONGEST]}")


@ACTIVATION.rule(
    "RESULT-017",
    WARNING,
    "The agent activated an extension that was not requested",
    section="1.0 §3.2.6, §4.6",
    requirement="Extensions are inactive by default: a client activates them for a request with the extensions header.",
    remedy="Activate only extensions that the request names; clients that do not know them expect the basic protocol.",
    passing=_activates(_URI, headers={"A2A-Extensions": _URI}),
    failing=_activates(_URI),
)
def not_requested(facts: Activation) -> Iterator[Violation]:
    for uri in sorted(facts.activated - facts.circumstances.extensions):
        yield Violation("", f"the response activates {uri[:_LONGEST]}")


@DATA.rule(
    "RESULT-018",
    HINT,
    "The response contains data of an extension that is not active",
    section="1.0 §3.2.6, §4.6",
    requirement="An agent uses an extension if the request activates it, and names it in the header of the response.",
    remedy="Send the data only if the extension is active, and list the active extensions in the response header.",
    passing=answer(
        message(TEXT_PART, metadata=_DATA),
        card=_DECLARED,
        headers={"A2A-Extensions": _TIMESTAMP},
        responseHeaders={"A2A-Extensions": _TIMESTAMP},
    ),
    failing=answer(message(TEXT_PART, metadata=_DATA), card=_DECLARED),
)
def not_active(facts: DataFacts) -> Iterator[Violation]:
    why = "it was requested, but the response does not activate it" if facts.requested else "it was not requested"
    yield Violation(facts.pointer, f"data of {facts.name}: {why}")


_AP2 = "https://github.com/google-agentic-commerce/ap2/v1"
_VALID_UNTIL_2100 = {"contents": {"cart_expiry": "2100-01-01T00:00:00Z"}}
_IN_2100 = 4102444800


def _mandate(key: str, content: Json) -> Json:
    return answer(
        message({"data": {f"ap2.mandates.{key}": content}}),
        card={"capabilities": {"extensions": [{"uri": _AP2}]}},
        headers={"A2A-Extensions": _AP2},
        responseHeaders={"A2A-Extensions": _AP2},
    )


def _chain(*tokens: str) -> Json:
    return _mandate("PaymentMandateSdJwt", "~~".join((*tokens, "")).removesuffix("~"))


def _reporter(flaw: MandateFlaw) -> Check[MandateFacts]:
    """Return a check that reports this flaw."""

    def check(facts: MandateFacts) -> Iterator[Violation]:
        return (Violation(facts.pointer, seen) for found, seen in facts.flaws if found is flaw)

    return check


MANDATES.rule(
    "MANDATE-001",
    ERROR,
    "A signature of a mandate is not valid",
    section="RFC 9901 §7.1, §7.3; AP2 0.2, Agent Authorization",
    requirement="A token after the first MUST be signed with the key in cnf of the one before; alg MUST NOT be none.",
    remedy="Sign with the private key that belongs to cnf.jwk, with its algorithm, and change nothing afterwards.",
    passing=_chain(_OPEN, _CLOSED),
    failing=_chain(_OPEN, _FORGED),
)(_reporter(MandateFlaw.SIGNATURE))
MANDATES.rule(
    "MANDATE-002",
    ERROR,
    "A hash in a mandate is not that of its content",
    section="RFC 9901 §4.3, §7.1; AP2 0.2, Checkout Mandate",
    requirement="sd_hash, checkout_hash, cart_hash and the digests of disclosures bind a signature to a content.",
    remedy="Compute the hash of exactly what is sent, after the last change of it.",
    passing=_chain(_OPEN, _CLOSED),
    failing=_chain(_OPEN, _STRAY),
)(_reporter(MandateFlaw.HASH))
MANDATES.rule(
    "MANDATE-003",
    WARNING,
    "A mandate is not valid at this time",
    section="RFC 7519 §4.1.4; AP2 0.2, Autonomous",
    requirement="A token MUST NOT be accepted after exp or before nbf and iat; clocks may differ by 5 minutes.",
    remedy="Ask for a new mandate, and check the clock of the signer.",
    passing=_mandate("CartMandate", _VALID_UNTIL_2100),
    failing=_mandate("CartMandate", {"iat": _IN_2100}),
)(_reporter(MandateFlaw.TIME))
MANDATES.rule(
    "MANDATE-004",
    ERROR,
    "A token does not continue its chain of mandates",
    section="RFC 9901 §4.3; AP2 0.2, Agent Authorization",
    requirement="Each token of a chain MUST name the key of the next (cnf), and bind the one before by its hash.",
    remedy="Build the chain as Delegate SD-JWT describes: typ kb+sd-jwt, and one of sd_hash and issuer_jwt_hash.",
    passing=_chain(_OPEN, _CLOSED),
    failing=_mandate("PaymentMandateSdJwt", "no token"),
)(_reporter(MandateFlaw.CHAIN))


def inactive_data(
    version: str, uses: Sequence[Use], activated: frozenset[str], circumstances: Circumstances
) -> Iterator[DataFacts]:
    """Return the first data of each known extension in a payload that the response does not activate."""
    from inspector.protocol.extensions.known import known  # noqa: PLC0415 - few agents use extensions

    active, requested = ({known(uri) for uri in uris} for uris in (activated, circumstances.extensions))
    seen = set()
    for use in uses:
        if use.extension not in active and use.extension not in seen:
            seen.add(use.extension)
            yield DataFacts(version, use.pointer, use.extension.name, use.extension in requested)
