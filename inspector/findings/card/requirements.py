"""Rules about security requirements, and about the extended card."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.findings.card.facts import Facts
from inspector.findings.rule_set import ERROR, HINT, SINCE_0_2, V1, WARNING, RuleSet, Violation
from inspector.findings.shape import SchemaErrorKind, camel_case, closest_member
from inspector.protocol.pointer import pointer

RULE_SET = RuleSet[Facts](versions=SINCE_0_2)


@RULE_SET.rule(
    "CARD-085",
    ERROR,
    "A requirement names a scheme that is not declared",
    section="1.0 §4.4.1, 0.3 §5.5, OpenAPI 3 Security Requirement Object",
    requirement="Each name MUST correspond to a security scheme which is declared.",
    remedy="Declare the scheme in securitySchemes, or correct the name.",
    failing={"securityRequirements": [{"schemes": {"passport": {"list": []}}}]},
)
def undeclared(card: Facts) -> Iterator[Violation]:
    declared = card.value.get("securitySchemes", {})
    strangers = card.errors_of(SchemaErrorKind.UNKNOWN, "card")
    lost = any("securitySchemes" in (camel_case(one.name), closest_member(one.name, one.shape)) for one in strangers)
    if lost or not isinstance(declared, dict):
        return  # that is what is wrong, once
    names = ", ".join(declared) or "the schemes: there are none"
    for requirement in card.requirements:
        if requirement.name not in declared:
            yield Violation(requirement.pointer, f"{requirement.name!r} is not among {names}")


@RULE_SET.rule(
    "CARD-086",
    ERROR,
    "A security requirement has the wrong shape",
    section="1.0 §4.5.1, 0.3 §5.5",
    requirement='1.0 writes {"schemes": {name: {"list": [scopes]}}}, older protocol versions {name: [scopes]}.',
    remedy="Write the requirement as the card's protocol version does: readers of this one take it for no requirement.",
    failing={"securityRequirements": [{"bearer": []}]},
)
def requirement_shape(card: Facts) -> Iterator[Violation]:
    for error in card.schema_errors:
        inside = error.shape.of in ("security requirement", "scopes")
        mistyped = error.kind is SchemaErrorKind.WRONG_TYPE and (inside or error.name == card.layout.requirements)
        if mistyped or (inside and error.kind is SchemaErrorKind.UNKNOWN):
            yield Violation(error.pointer, error.seen)
    for steps, requirement in card.requirement_objects if not card.layout.nested_requirements else ():
        if isinstance(requirement.get("schemes"), dict):
            yield Violation(pointer(*steps, "schemes"), "the shape of 1.0")


@RULE_SET.rule(
    "CARD-087",
    WARNING,
    "A requirement asks for a scope that no flow offers",
    section="1.0 §4.5.7, OpenAPI 3 OAuth Flow Object",
    requirement="scopes lists the available scopes of the scheme.",
    remedy="Add the scope to the flow, or correct its name.",
    failing={"securityRequirements": [{"schemes": {"login": {"list": ["fly"]}}}]},
)
def unknown_scope(card: Facts) -> Iterator[Violation]:
    offered: dict[str, set[str]] = {}
    for flow in card.flows:
        scopes = flow.members.get("scopes")
        offered.setdefault(str(flow.steps[1]), set()).update(scopes if isinstance(scopes, dict) else ())
    for requirement in card.requirements:
        for scope in requirement.scopes:
            if offered.get(requirement.name) and scope not in offered[requirement.name]:
                yield Violation(
                    requirement.pointer, f"{scope!r} is not among {', '.join(sorted(offered[requirement.name])[:20])}"
                )


@RULE_SET.rule(
    "CARD-088",
    HINT,
    "A requirement gives scopes to a scheme that has none",
    section="OpenAPI 3 Security Requirement Object",
    requirement="For other scheme types than oauth2 and openIdConnect the array MUST be empty, or lists roles.",
    remedy="Leave the list empty, unless clients know these roles.",
    failing={"securityRequirements": [{"schemes": {"key": {"list": ["translate"]}}}]},
)
def idle_scopes(card: Facts) -> Iterator[Violation]:
    kinds = {one.name: one.kind for one in card.schemes}
    for one in card.requirements:
        if one.scopes and kinds.get(one.name) in ("apiKey", "http", "mutualTLS"):
            yield Violation(one.pointer, f"{', '.join(one.scopes[:5])} for {one.name}")


@RULE_SET.rule(
    "CARD-089",
    HINT,
    "Schemes are declared, and none is required",
    section="1.0 §7.3",
    requirement="The requirements say which of the schemes a client has to use.",
    remedy="Add securityRequirements (until 0.3: security), or take the schemes away.",
    failing={"securityRequirements": None},
)
def none_required(card: Facts) -> Iterator[Violation]:
    if card.schemes and not card.requirement_objects and "security" not in card.value:
        yield Violation(
            "/securitySchemes", f"{', '.join(scheme.name for scheme in card.schemes[:5])}, and no requirement"
        )


@RULE_SET.rule(
    "CARD-090",
    WARNING,
    "An extended card, and no way to authenticate for it",
    section="1.0 §3.1.11, §13.3; 0.3 §7.10",
    requirement="The client MUST authenticate the request using one of the schemes declared.",
    remedy="Declare the security schemes with which the extended card is asked for.",
    failing={"securitySchemes": None, "securityRequirements": None},
)
def open_extended_card(card: Facts) -> Iterator[Violation]:
    where = card.extended_card_at
    if where and not card.value.get("securitySchemes"):
        yield Violation(where, "declared without a security scheme")


@RULE_SET.rule(
    "CARD-091",
    WARNING,
    "The card contradicts itself about its extended card",
    section="1.0 Appendix A.2.2",
    requirement="supportsAuthenticatedExtendedCard became capabilities.extendedAgentCard.",
    remedy="Make both say the same, or keep the one of the card's protocol version.",
    versions=V1,
    failing={
        "url": "https://agent.example.com/a2a",
        "protocolVersion": "0.3",
        "supportsAuthenticatedExtendedCard": False,
    },
)
def extended_contradicts(card: Facts) -> Iterator[Violation]:
    old, capabilities = card.value.get("supportsAuthenticatedExtendedCard"), card.value.get("capabilities")
    new = capabilities.get("extendedAgentCard") if isinstance(capabilities, dict) else None
    if isinstance(old, bool) and isinstance(new, bool) and old is not new:
        yield Violation("/supportsAuthenticatedExtendedCard", f"{old}, capabilities.extendedAgentCard is {new}".lower())
