"""Rules about the form of the signatures of a card. No key is needed for them."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator

from inspector.findings.card.facts import Facts
from inspector.findings.rule_set import ERROR, V1, WARNING, Check, RuleSet, Violation
from inspector.findings.signatures.verify import Flaw, problems_of, signatures_of
from inspector.protocol.model import Json
from inspector.protocol.pointer import pointer

_SECTION = "1.0 §8.4.2, RFC 7515"
_SIGNATURE = "A" * 86


def _encoded(**header: Json) -> str:
    return urlsafe_b64encode(json.dumps(header).encode()).decode().rstrip("=")


_PROTECTED = _encoded(alg="ES256", typ="JOSE", kid="key-1")


def _signed(protected: str = _PROTECTED, signature: str = _SIGNATURE, **more: Json) -> Json:
    return {"signatures": [{"protected": protected, "signature": signature, **more}]}


RULE_SET = RuleSet[Facts](versions=(*V1, "0.3"), passing=_signed())


def _reporter(*flaws: Flaw) -> Check[Facts]:
    """Return a check that reports these flaws of signatures."""

    def check(card: Facts) -> Iterator[Violation]:
        for number, entry in enumerate(signatures_of(card.value)):
            for problem in problems_of(entry):
                if problem.flaw in flaws:
                    yield Violation(pointer("signatures", number) + problem.pointer, problem.sentence)

    return check


RULE_SET.rule(
    "CARD-120",
    ERROR,
    "The protected header of a signature cannot be read",
    section=_SECTION,
    requirement="This is always a base64url-encoded JSON object.",
    remedy="Encode the header as JSON and that in base64url without padding.",
    failing=_signed("not base64!"),
)(_reporter(Flaw.PROTECTED))
RULE_SET.rule(
    "CARD-121",
    ERROR,
    "A signature does not say its algorithm",
    section=_SECTION,
    requirement="The protected header MUST include alg.",
    remedy="Add the algorithm (ES256, RS256, ...) to the protected header, and sign again.",
    failing=_signed(_encoded(kid="key-1")),
)(_reporter(Flaw.ALG_MISSING))
RULE_SET.rule(
    "CARD-127",
    ERROR,
    "A signature does not say its key",
    section=_SECTION,
    requirement="The protected header MUST include kid.",
    remedy="Add the id of the key to the protected header, and sign again.",
    versions=V1,
    failing=_signed(_encoded(alg="ES256")),
)(_reporter(Flaw.KID))
RULE_SET.rule(
    "CARD-122",
    ERROR,
    "The algorithm of a signature proves nothing",
    section=_SECTION,
    requirement="Algorithm for signing: an asymmetric one, such as ES256 or RS256 (RFC 7518; RFC 8725 §3.2).",
    remedy="Sign with a private key: none and shared secrets can be made by everybody who reads the card.",
    failing=_signed(_encoded(alg="none", kid="key-1"), ""),
)(_reporter(Flaw.ALG_REFUSED))
RULE_SET.rule(
    "CARD-123",
    ERROR,
    "A signature demands what verifiers do not know",
    section=_SECTION,
    requirement="If a listed extension parameter is not understood, the JWS is invalid (RFC 7515 §4.1.11).",
    remedy="Leave crit out.",
    failing=_signed(_encoded(alg="ES256", kid="key-1", crit=["exp"], exp=1)),
)(_reporter(Flaw.CRIT))
RULE_SET.rule(
    "CARD-124",
    ERROR,
    "The signature itself is malformed",
    section=_SECTION,
    requirement="Required. The computed signature, base64url-encoded.",
    remedy="Encode the raw signature (R and S for ES256, not DER) in base64url without padding.",
    failing=_signed(signature="AAAA"),
)(_reporter(Flaw.SIGNATURE))
RULE_SET.rule(
    "CARD-125",
    WARNING,
    "The header of a signature has an unusual member",
    section=_SECTION,
    requirement="typ SHOULD be set to JOSE; public keys SHOULD be retrieved over secure channels (HTTPS).",
    remedy="Set typ to JOSE, and jku to an https address on the agent's own host.",
    failing=_signed(_encoded(alg="ES256", typ="JOSE", kid="key-1", jku="http://keys.example.com/jwks.json")),
)(_reporter(Flaw.TYP, Flaw.JKU, Flaw.PAYLOAD))
RULE_SET.rule(
    "CARD-126",
    ERROR,
    "The unprotected header of a signature contradicts the protected one",
    section=_SECTION,
    requirement="The names in the two headers MUST be disjoint (RFC 7515 §4).",
    remedy="Keep each member in one of the two headers.",
    failing=_signed(header={"kid": "key-2"}),
)(_reporter(Flaw.HEADER))
