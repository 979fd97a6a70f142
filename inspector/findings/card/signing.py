"""Rules about the form of the signatures of a card, which can be checked without a key."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator

from inspector.findings.card.facts import Facts
from inspector.findings.rule_set import ERROR, V1, WARNING, Check, RuleSet, Violation
from inspector.findings.signatures.verify import SignatureFlaw, problems_of, signatures_of
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


def _reporter(*flaws: SignatureFlaw) -> Check[Facts]:
    """Return a check that reports these flaws."""

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
    requirement="protected is a base64url-encoded JSON object.",
    remedy="Encode the header as JSON, and the JSON as base64url without padding.",
    failing=_signed("not base64!"),
)(_reporter(SignatureFlaw.PROTECTED))
RULE_SET.rule(
    "CARD-121",
    ERROR,
    "The algorithm of a signature is missing",
    section=_SECTION,
    requirement="The protected header MUST include alg.",
    remedy="Add alg (ES256, RS256, ...) to the protected header, and sign again.",
    failing=_signed(_encoded(kid="key-1")),
)(_reporter(SignatureFlaw.ALG_MISSING))
RULE_SET.rule(
    "CARD-127",
    ERROR,
    "The key id of a signature is missing",
    section=_SECTION,
    requirement="The protected header MUST include kid.",
    remedy="Add kid, the id of the key, to the protected header, and sign again.",
    versions=V1,
    failing=_signed(_encoded(alg="ES256")),
)(_reporter(SignatureFlaw.KID))
RULE_SET.rule(
    "CARD-122",
    ERROR,
    "The algorithm of a signature is insecure or unknown",
    section=_SECTION,
    requirement="alg names an asymmetric signature algorithm, such as ES256 or RS256 (RFC 7518; RFC 8725 §3.2).",
    remedy="Sign with a private key: anyone can forge a signature with alg none or a known shared secret.",
    failing=_signed(_encoded(alg="none", kid="key-1"), ""),
)(_reporter(SignatureFlaw.ALG_REFUSED))
RULE_SET.rule(
    "CARD-123",
    ERROR,
    "A signature requires an extension that verifiers do not know",
    section=_SECTION,
    requirement="If a critical extension parameter is not understood, the JWS is invalid (RFC 7515 §4.1.11).",
    remedy="Remove crit and b64, and sign again.",
    failing=_signed(_encoded(alg="ES256", kid="key-1", crit=["exp"], exp=1)),
)(_reporter(SignatureFlaw.CRIT))
RULE_SET.rule(
    "CARD-124",
    ERROR,
    "The value of a signature is malformed",
    section=_SECTION,
    requirement="signature is required: the base64url-encoded value of the signature.",
    remedy="Encode the raw signature (R and S for ES256, not DER) as base64url without padding.",
    failing=_signed(signature="AAAA"),
)(_reporter(SignatureFlaw.SIGNATURE))
RULE_SET.rule(
    "CARD-125",
    WARNING,
    "The header of a signature has an unusual member",
    section=_SECTION,
    requirement="typ SHOULD be JOSE; public keys SHOULD be retrieved over secure channels (HTTPS).",
    remedy="Set typ to JOSE, and jku to an https URL on the agent's own host.",
    failing=_signed(_encoded(alg="ES256", typ="JOSE", kid="key-1", jku="http://keys.example.com/jwks.json")),
)(_reporter(SignatureFlaw.TYP, SignatureFlaw.JKU, SignatureFlaw.PAYLOAD))
RULE_SET.rule(
    "CARD-126",
    ERROR,
    "The two headers of a signature conflict",
    section=_SECTION,
    requirement="The names in the two headers MUST be disjoint (RFC 7515 §4).",
    remedy="Keep each member in only one of the two headers.",
    failing=_signed(header={"kid": "key-2"}),
)(_reporter(SignatureFlaw.HEADER))
