"""Rules about the signatures of a card as they stand, before any key is asked."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from typing import NamedTuple

from inspector.findings.card.facts import Facts
from inspector.findings.finding import Severity
from inspector.findings.rule import V1
from inspector.findings.rule_set import ERROR, WARNING, RuleSet, Violation
from inspector.findings.signatures.verify import Flaw, problems_of, signatures_of
from inspector.protocol.model import Json
from inspector.protocol.pointer import pointer

RULE_SET = RuleSet[Facts]()

_SIGNATURE = "A" * 86


def _encoded(**header: Json) -> str:
    return urlsafe_b64encode(json.dumps(header).encode()).decode().rstrip("=")


_PROTECTED = _encoded(alg="ES256", typ="JOSE", kid="key-1")


def _signed(protected: str = _PROTECTED, signature: str = _SIGNATURE, **more: Json) -> Json:
    return {"signatures": [{"protected": protected, "signature": signature, **more}]}


class _SignatureRule(NamedTuple):
    """A rule about flaws of one sort, with an example."""

    name: str
    severity: Severity
    title: str
    demand: str
    remedy: str
    flaws: frozenset[Flaw]
    failing: Json
    generations: tuple[str, ...] = (*V1, "0.3")


_RULES = (
    _SignatureRule(
        "CARD-120",
        ERROR,
        "The protected header of a signature cannot be read",
        "This is always a base64url-encoded JSON object.",
        "Encode the header as JSON and that in base64url without padding.",
        frozenset({Flaw.PROTECTED}),
        _signed("not base64!"),
    ),
    _SignatureRule(
        "CARD-121",
        ERROR,
        "A signature does not say its algorithm",
        "The protected header MUST include alg.",
        "Add the algorithm (ES256, RS256, ...) to the protected header, and sign again.",
        frozenset({Flaw.ALG_MISSING}),
        _signed(_encoded(kid="key-1")),
    ),
    _SignatureRule(
        "CARD-127",
        ERROR,
        "A signature does not say its key",
        "The protected header MUST include kid.",
        "Add the id of the key to the protected header, and sign again.",
        frozenset({Flaw.KID}),
        _signed(_encoded(alg="ES256")),
        V1,
    ),
    _SignatureRule(
        "CARD-122",
        ERROR,
        "The algorithm of a signature proves nothing",
        "Algorithm for signing: an asymmetric one, such as ES256 or RS256 (RFC 7518; RFC 8725 §3.2).",
        "Sign with a private key: none and shared secrets can be made by everybody who reads the card.",
        frozenset({Flaw.ALG_REFUSED}),
        _signed(_encoded(alg="none", kid="key-1"), ""),
    ),
    _SignatureRule(
        "CARD-123",
        ERROR,
        "A signature demands what verifiers do not know",
        "If any of the listed extension parameters are not understood, then the JWS is invalid (RFC 7515 §4.1.11).",
        "Leave crit out.",
        frozenset({Flaw.CRIT}),
        _signed(_encoded(alg="ES256", kid="key-1", crit=["exp"], exp=1)),
    ),
    _SignatureRule(
        "CARD-124",
        ERROR,
        "The signature itself is malformed",
        "Required. The computed signature, base64url-encoded.",
        "Encode the raw signature (R and S for ES256, not DER) in base64url without padding.",
        frozenset({Flaw.SIGNATURE}),
        _signed(signature="AAAA"),
    ),
    _SignatureRule(
        "CARD-125",
        WARNING,
        "The header of a signature has an unusual member",
        "typ SHOULD be set to JOSE; public keys SHOULD be retrieved over secure channels (HTTPS).",
        "Set typ to JOSE, and jku to an https address on the agent's own host.",
        frozenset({Flaw.TYP, Flaw.JKU, Flaw.PAYLOAD}),
        _signed(_encoded(alg="ES256", typ="JOSE", kid="key-1", jku="http://keys.example.com/jwks.json")),
    ),
    _SignatureRule(
        "CARD-126",
        ERROR,
        "The unprotected header of a signature contradicts the protected one",
        "The names in the two headers MUST be disjoint (RFC 7515 §4).",
        "Keep each member in one of the two headers.",
        frozenset({Flaw.HEADER}),
        _signed(header={"kid": "key-2"}),
    ),
)


def _check(flaws: frozenset[Flaw]) -> Callable[[Facts], Iterator[Violation]]:
    def check(card: Facts) -> Iterator[Violation]:
        for number, entry in enumerate(signatures_of(card.value)):
            for problem in problems_of(entry):
                if problem.flaw in flaws:
                    yield Violation(pointer("signatures", number) + problem.pointer, problem.sentence)

    return check


for _one in _RULES:
    RULE_SET.rule(
        _one.name,
        _one.severity,
        _one.title,
        section="1.0 §8.4.2, RFC 7515",
        demand=_one.demand,
        remedy=_one.remedy,
        generations=_one.generations,
        failing=_one.failing,
        passing=_signed(),
    )(_check(_one.flaws))
