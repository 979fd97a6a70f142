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
    "A security requirement names a scheme that is not declared",
    section="1.0 §4.4.1, 0.3 §5.5, OpenAPI 3 Security Requirement Object",
    requirement="Each name MUST be that of a declared security scheme.",
    remedy="Declare the scheme in securitySchemes, or correct the name.",
    failing={"securityRequirements": [{"schemes": {"passport": {"list": []}}}]},
)
def undeclared(card: Facts) -> Iterator[Violation]:
    declared = card.value.get("securitySchemes", {})
    unknown = card.errors_of(SchemaErrorKind.UNKNOWN, "card")
    misspelled = any(
        "securitySchemes" in (camel_case(error.name), closest_member(error.name, error.shape)) for error in unknown
    )
    if misspelled or not isinstance(declared, dict):
        return  # another rule reports this
    names = ", ".join(declared) or "none"
    for requirement in card.requirements:
        if requirement.name not in declared:
            yield Violation(requirement.pointer, f"{requirement.name!r} is not declared; declared schemes: {names}")


@RULE_SET.rule(
    "CARD-086",
    ERROR,
    "A security requirement has the wrong shape",
    section="1.0 §4.5.1, 0.3 §5.5",
    requirement='1.0 uses {"schemes": {name: {"list": [scopes]}}}; older protocol versions use {name: [scopes]}.',
    remedy="Write the requirement in the shape of the card's protocol version: its readers ignore other shapes.",
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
            yield Violation(pointer(*steps, "schemes"), "the requirement has the shape of 1.0")


@RULE_SET.rule(
    "CARD-087",
    WARNING,
    "A security requirement names a scope that is not declared",
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
                    requirement.pointer,
                    f"{scope!r} is not declared; declared scopes: {', '.join(sorted(offered[requirement.name])[:20])}",
                )


@RULE_SET.rule(
    "CARD-088",
    HINT,
    "A security requirement lists scopes for a scheme without scopes",
    section="OpenAPI 3 Security Requirement Object",
    requirement="For types other than oauth2 and openIdConnect, the array MUST be empty, or MAY list roles (OpenAPI "
    "3.1).",
    remedy="Empty the list, unless clients know these roles.",
    failing={"securityRequirements": [{"schemes": {"key": {"list": ["translate"]}}}]},
)
def scopes_without_flow(card: Facts) -> Iterator[Violation]:
    kinds = {scheme.name: scheme.kind for scheme in card.schemes}
    for requirement in card.requirements:
        if requirement.scopes and kinds.get(requirement.name) in ("apiKey", "http", "mutualTLS"):
            yield Violation(
                requirement.pointer,
                f"{requirement.name} has no scopes, the requirement lists {', '.join(requirement.scopes[:5])}",
            )


@RULE_SET.rule(
    "CARD-089",
    HINT,
    "Security schemes are declared, but none is required",
    section="1.0 §7.3",
    requirement="The security requirements declare which schemes a client has to use.",
    remedy="Add securityRequirements (up to 0.3: security), or remove the schemes.",
    failing={"securityRequirements": None},
)
def nothing_required(card: Facts) -> Iterator[Violation]:
    if card.schemes and not card.requirement_objects and "security" not in card.value:
        yield Violation(
            "/securitySchemes", f"no requirement names {' or '.join(scheme.name for scheme in card.schemes[:5])}"
        )


@RULE_SET.rule(
    "CARD-090",
    WARNING,
    "The extended card has no security scheme",
    section="1.0 §3.1.11, §13.3; 0.3 §7.10",
    requirement="The client MUST authenticate the request with one of the declared schemes.",
    remedy="Declare the security schemes for requests of the extended card.",
    failing={"securitySchemes": None, "securityRequirements": None},
)
def open_extended_card(card: Facts) -> Iterator[Violation]:
    where = card.extended_card_at
    if where and not card.value.get("securitySchemes"):
        yield Violation(where, "the card declares no security scheme")


@RULE_SET.rule(
    "CARD-091",
    WARNING,
    "The two declarations of the extended card contradict each other",
    section="1.0 Appendix A.2.2",
    requirement="capabilities.extendedAgentCard replaces supportsAuthenticatedExtendedCard.",
    remedy="Set both to the same value, or keep only the member of the card's protocol version.",
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
        yield Violation(
            "/supportsAuthenticatedExtendedCard",
            f"{str(old).lower()}, but capabilities.extendedAgentCard is {str(new).lower()}",
        )
