"""Rules about members of another protocol version in a card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from inspector.findings.card.facts import Facts
from inspector.findings.card.valid_examples import skill
from inspector.findings.rule_set import HINT, V1, WARNING, RuleSet, Violation
from inspector.findings.shape import SchemaErrorKind
from inspector.protocol.pointer import pointer

RULE_SET = RuleSet[Facts](versions=V1)

NEW: Mapping[str, tuple[str, ...]] = {
    "card": ("supportedInterfaces", "securityRequirements"),
    "capabilities": ("extendedAgentCard",),
    "skill": ("securityRequirements",),
    "interface": ("protocolBinding", "tenant"),
    "OAuth flows": ("deviceCode",),
}
"""The members that 1.0 added, by the object that contains them."""
OLD = (
    "url",
    "preferredTransport",
    "additionalInterfaces",
    "protocolVersion",
    "supportsAuthenticatedExtendedCard",
    "authentication",
)
"""Members of the card object that 1.0 removed."""


@RULE_SET.rule(
    "CARD-034",
    WARNING,
    "The card of an older protocol version has a member of 1.0",
    section="1.0 Appendix A",
    requirement="supportedInterfaces, securityRequirements and extendedAgentCard were added in 1.0.",
    remedy="Use the member of the card's protocol version, or change the card to 1.0 with supportedInterfaces.",
    versions=("0.3", "0.2", "0.1"),
    failing={"securityRequirements": [{"schemes": {"bearer": {"list": []}}}]},
)
def member_of_1_0(card: Facts) -> Iterator[Violation]:
    for error in card.errors_of(SchemaErrorKind.UNKNOWN):
        if error.value is not None and error.name in NEW.get(error.shape.of, ()):
            seen = f"{error.name} is a member of 1.0; the card has the shape of {card.version}"
            yield Violation(error.pointer, seen)


@RULE_SET.rule(
    "CARD-035",
    WARNING,
    "The 1.0 card has a member of an older protocol version",
    section="1.0 Appendix A.2",
    requirement="supportedInterfaces replaces url, preferredTransport, additionalInterfaces and protocolVersion.",
    remedy="Remove the member, or add all members of the older protocol version.",
    failing={"preferredTransport": "JSONRPC"},
    passing={"url": "https://agent.example.com/a2a", "preferredTransport": "JSONRPC", "protocolVersion": "0.3"},
)
def member_of_old(card: Facts) -> Iterator[Violation]:
    if card.hybrid:
        return
    for name in OLD:
        if name in card.value:
            yield Violation(pointer(name), f"{name} is a member of older protocol versions")


@RULE_SET.rule(
    "CARD-064",
    WARNING,
    "The card declares authentication as in 0.1",
    section="0.2.0 §5.5",
    requirement="securitySchemes and security replace authentication.",
    remedy="Declare securitySchemes and security: readers of this protocol version ignore authentication.",
    versions=("0.3", "0.2"),
    failing={"authentication": {"schemes": ["Bearer"]}},
)
def authentication_of_0_1(card: Facts) -> Iterator[Violation]:
    if card.value.get("authentication") is not None:
        yield Violation("/authentication", "authentication is a member of 0.1")


@RULE_SET.rule(
    "CARD-036",
    HINT,
    "The card uses the old name of securityRequirements",
    section="1.0 §4.4.1 against the sample of §8.5",
    requirement="The definition names the member securityRequirements; the sample in the specification uses security.",
    remedy="Rename the member to securityRequirements, and put each requirement into a member named schemes; readers "
    "of 1.0 ignore the member security.",
    failing={"security": [{"bearer": []}]},
)
def old_requirements(card: Facts) -> Iterator[Violation]:
    if not card.hybrid and "security" in card.value:
        yield Violation("/security", "found security, expected securityRequirements")


@RULE_SET.rule(
    "CARD-065",
    WARNING,
    "A skill uses the old name of securityRequirements",
    section="1.0 §4.4.5",
    requirement="securityRequirements lists the security schemes that the skill requires.",
    remedy="Rename the member to securityRequirements, and put each requirement into a member named schemes; readers "
    "of 1.0 ignore the member security.",
    failing={"skills": [skill(security=[{"bearer": []}])]},
)
def old_requirements_of_skill(card: Facts) -> Iterator[Violation]:
    for number, entry in card.skills if not card.hybrid else ():
        if "security" in entry:
            yield Violation(pointer("skills", number, "security"), "found security, expected securityRequirements")


@RULE_SET.rule(
    "CARD-037",
    HINT,
    "The card has a capability that 1.0 removed",
    section="1.0 §4.4.3 against the sample of 1.0.0 §8.5",
    requirement="1.0 removed the capability stateTransitionHistory; the sample of 1.0.0 still has it.",
    remedy="Remove stateTransitionHistory.",
    failing={"capabilities": {"stateTransitionHistory": True}},
)
def removed_capability(card: Facts) -> Iterator[Violation]:
    for error in card.errors_of(SchemaErrorKind.UNKNOWN, "capabilities"):
        if error.name == "stateTransitionHistory" and not card.hybrid:
            yield Violation(error.pointer, "1.0 removed stateTransitionHistory")


@RULE_SET.rule(
    "CARD-038",
    HINT,
    "protocolVersion is missing",
    section="0.2.5 §5.5",
    requirement="protocolVersion is required since 0.2.5.",
    remedy="Add protocolVersion: without it, clients cannot distinguish 0.2 from 0.3.",
    versions=("0.2",),
    failing={"protocolVersion": None, "preferredTransport": None, "additionalInterfaces": None},
)
def no_protocol_version(card: Facts) -> Iterator[Violation]:
    if card.value.get("protocolVersion") is None and not _names_transports(card):
        yield Violation("/protocolVersion", "protocolVersion is missing")


@RULE_SET.rule(
    "CARD-066",
    WARNING,
    "protocolVersion is missing from a card that declares transports",
    section="0.2.5 §5.5, 0.3 §5.5",
    requirement="protocolVersion is required since 0.2.5, one release after transports were added.",
    remedy="Add protocolVersion: clients of 0.3 reject a card without it.",
    versions=("0.2",),
    failing={"protocolVersion": None},
)
def transports_without_version(card: Facts) -> Iterator[Violation]:
    if card.value.get("protocolVersion") is None and _names_transports(card):
        yield Violation("/protocolVersion", "protocolVersion is missing")


@RULE_SET.rule(
    "CARD-067",
    WARNING,
    "A member that is required since 0.2 is missing",
    section="0.2.0 §5.5",
    requirement="Since 0.2, description, defaultInputModes, defaultOutputModes, and a skill's description and tags "
    "are required.",
    remedy="Add the member. If the agent implements 0.1, no change is needed: the card does not show its version.",
    versions=("0.1",),
    failing={"authentication": None, "description": None},
)
def required_since_0_2(card: Facts) -> Iterator[Violation]:
    if "authentication" in card.value:
        return
    for name in ("description", "defaultInputModes", "defaultOutputModes"):
        if card.value.get(name) is None:
            yield Violation(pointer(name), f"{name} is missing")
    for number, entry in card.skills:
        for name in ("description", "tags"):
            if entry.get(name) is None:
                yield Violation(pointer("skills", number, name), f"{name} is missing")


def _names_transports(card: Facts) -> bool:
    return "preferredTransport" in card.value or "additionalInterfaces" in card.value
