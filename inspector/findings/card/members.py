"""Rules about the members of a card: their presence, types and spelling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from inspector.findings.card.cross_version import NEW, OLD
from inspector.findings.card.facts import Facts
from inspector.findings.card.valid_examples import interface, skill
from inspector.findings.rule_set import ERROR, EVERY, HINT, SINCE_0_2, V1, WARNING, Check, RuleSet, Violation
from inspector.findings.shape import SchemaError, SchemaErrorKind, camel_case, closest_member
from inspector.protocol.model import Json
from inspector.protocol.pointer import pointer

RULE_SET = RuleSet[Facts]()

_REPORTED_SHAPES = {"card": ("card", "capabilities"), "security scheme": ("security scheme", "OAuth flows")}
"""The shapes that the rules about an object check, for objects that are checked together with nested objects."""


def _reporter(kind: SchemaErrorKind, of: str) -> Check[Facts]:
    shapes = _REPORTED_SHAPES.get(of, (of,))

    def check(card: Facts) -> Iterator[Violation]:
        for error in card.errors_of(kind, *shapes):
            if error.name not in ("security", "securityRequirements"):
                yield Violation(error.pointer, error.seen)

    return check


def _declare(number: int, of: str, section: str, missing: Json, mistyped: Json, versions: Sequence[str] = ()) -> None:
    """Declare two rules about a type of object; `missing` and `mistyped` are the failing examples."""
    RULE_SET.rule(
        f"CARD-{number:03}",
        ERROR,
        f"A required member of the {of} is missing",
        section=section,
        requirement="Fields marked REQUIRED MUST be present and set.",
        remedy="Add the member; clients that validate the card reject it otherwise.",
        versions=versions,
        failing=missing,
    )(_reporter(SchemaErrorKind.MISSING, of))
    RULE_SET.rule(
        f"CARD-{number + 1:03}",
        ERROR,
        f"A member of the {of} has the wrong type",
        section=section,
        requirement="Members MUST have the type that the protocol definition specifies.",
        remedy="Correct the type; typed clients cannot read the card.",
        versions=versions,
        failing=mistyped,
    )(_reporter(SchemaErrorKind.WRONG_TYPE, of))


_KEY = "apiKeySecurityScheme"


def _code_flow(**changes: Json) -> Json:
    return {"securitySchemes": {"login": {"oauth2SecurityScheme": {"flows": {"authorizationCode": changes}}}}}


_declare(1, "card", "1.0 §4.4.1, 0.3 §5.5", {"name": None}, {"version": 2})
_declare(
    10,
    "interface",
    "1.0 §4.4.6, 0.3 §5.5.5",
    {"supportedInterfaces": [interface(protocolBinding=None)]},
    {"supportedInterfaces": [interface(tenant=7)]},
    SINCE_0_2,
)
_declare(
    12,
    "skill",
    "1.0 §4.4.5, 0.3 §5.5.4",
    {"skills": [skill(id=None)]},
    {"skills": [skill(tags="language")]},
)
_declare(
    14,
    "provider",
    "1.0 §4.4.2, 0.3 §5.5.1",
    {"provider": {"organization": None}},
    {"provider": {"url": ["https://example.com"]}},
)
_declare(
    16,
    "extension",
    "1.0 §4.4.4, 0.3 §5.5.2.1",
    {"capabilities": {"extensions": [{"required": True}]}},
    {"capabilities": {"extensions": [{"uri": "https://example.com/x/v1", "required": "yes"}]}},
    SINCE_0_2,
)
_declare(
    18,
    "security scheme",
    "1.0 §4.5.1, 0.3 §5.5.3",
    {"securitySchemes": {"key": {_KEY: {"name": None}}}},
    {"securitySchemes": {"key": {_KEY: {"name": 1}}}},
    SINCE_0_2,
)
_declare(
    20,
    "OAuth flow",
    "1.0 §4.5.7, OpenAPI 3 OAuth Flow Object",
    _code_flow(tokenUrl=None),
    _code_flow(scopes=["translate"]),
    SINCE_0_2,
)
_declare(
    22,
    "signature",
    "1.0 §4.4.7, 0.3 §5.5.6",
    {"signatures": [{"protected": "eyJhbGciOiJFUzI1NiIsImtpZCI6ImsifQ"}]},
    {"signatures": [{"protected": {"alg": "ES256"}, "signature": "AA"}]},
    (*V1, "0.3"),
)
_declare(
    24,
    "authentication object",
    "0.1 §5.5.3",
    {"authentication": {"schemes": None}},
    {"authentication": {"schemes": "Bearer"}},
    ("0.1",),
)


@RULE_SET.rule(
    "CARD-026",
    WARNING,
    "A required string is blank",
    section="1.0 §5.7, 0.3 §5.5",
    requirement="Fields marked REQUIRED MUST be present and set in valid messages.",
    remedy="Set the member to a text that helps to choose the agent or the skill. Protobuf omits an empty string.",
    failing={"name": " "},
    passing={"description": ""},
)
def blank_text(card: Facts) -> Iterator[Violation]:
    for error in card.errors_of(SchemaErrorKind.BLANK):
        # Other rules report blank values of these members.
        if error.name not in ("url", "description", "protocolVersion", "protected"):
            yield Violation(error.pointer, error.seen)


@RULE_SET.rule(
    "CARD-027",
    HINT,
    "A description is blank",
    section="1.0 §5.7 against §8.4.1",
    requirement="Fields marked REQUIRED MUST be present and set, but the canonicalization example keeps an empty text.",
    remedy="Describe the agent or the skill: other agents select it by its description.",
    failing={"description": ""},
)
def blank_description(card: Facts) -> Iterator[Violation]:
    for error in card.errors_of(SchemaErrorKind.BLANK):
        if error.name == "description":
            yield Violation(error.pointer, error.seen)


@RULE_SET.rule(
    "CARD-028",
    WARNING,
    "A list of default media types is empty",
    section="1.0 §5.7",
    requirement="Arrays marked REQUIRED MUST contain at least one element.",
    remedy="List the media types that every skill accepts or returns, such as text/plain.",
    versions=V1,
    failing={"defaultInputModes": []},
)
def no_modes(card: Facts) -> Iterator[Violation]:
    for name in ("defaultInputModes", "defaultOutputModes"):
        if card.value.get(name) == []:
            yield Violation(pointer(name), f"{name} is empty")


@RULE_SET.rule(
    "CARD-029",
    HINT,
    "A required list is empty",
    section="1.0 §5.7 against §8.4.1",
    requirement="Required arrays MUST contain an element, but the canonicalization example has empty arrays.",
    remedy="Add at least one element: clients search skills and tags, and protobuf omits an empty list.",
    failing={"skills": []},
)
def empty_list(card: Facts) -> Iterator[Violation]:
    if card.value.get("skills") == []:
        yield Violation("/skills", "skills is empty")
    for name in ("defaultInputModes", "defaultOutputModes"):
        if card.value.get(name) == [] and not card.layout.modes_required:
            yield Violation(pointer(name), f"{name} is empty")
    for number, entry in card.skills:
        if entry.get("tags") == []:
            yield Violation(pointer("skills", number, "tags"), "the skill has no tags")


@RULE_SET.rule(
    "CARD-030",
    HINT,
    "A member is null",
    section="1.0 §5.7, ProtoJSON",
    requirement="Members that are not set are omitted.",
    remedy="Remove the member; strict readers of older protocol versions reject null.",
    failing={"skills": [{**skill(), "examples": None}]},
)
def null_member(card: Facts) -> Iterator[Violation]:
    for error in card.errors_of(SchemaErrorKind.NULL):
        yield Violation(error.pointer, error.seen)


@RULE_SET.rule(
    "CARD-031",
    ERROR,
    "A member is not spelled in camelCase",
    section="1.0 §5.5",
    requirement="JSON serializations MUST use camelCase for field names.",
    remedy="Rename the member to camelCase; with protobuf, do not preserve the proto field names.",
    failing={"default_input_modes": ["text/plain"]},
)
def not_camel_case(card: Facts) -> Iterator[Violation]:
    for error in card.unknown_members():
        if camel_case(error.name) in error.shape.members:
            yield Violation(error.pointer, f"found {error.name}, expected {camel_case(error.name)}")


@RULE_SET.rule(
    "CARD-032",
    WARNING,
    "A member name looks misspelled",
    section="1.0 §4.4, §5.7",
    requirement="Implementations SHOULD ignore unrecognized fields, so a misspelled member has no effect.",
    remedy="Correct the spelling, including upper and lower case.",
    failing={"documentationURL": "https://agent.example.com/docs"},
    passing={"x-internal-id": "42"},
)
def misspelled(card: Facts) -> Iterator[Violation]:
    for error in card.unknown_members():
        if not _is_foreign(card, error) and (known := closest_member(error.name, error.shape)):
            yield Violation(error.pointer, f"found {error.name}, similar to {known}")


@RULE_SET.rule(
    "CARD-033",
    HINT,
    "A member is not defined by the specification",
    section="1.0 §5.7",
    requirement="Implementations SHOULD ignore unrecognized fields, for forward compatibility.",
    remedy="Move data for other implementations to an extension. If the member is intended, no change is needed.",
    failing={"x-internal-id": "42"},
)
def unknown_member(card: Facts) -> Iterator[Violation]:
    for error in card.unknown_members():
        spelled = camel_case(error.name) in error.shape.members or closest_member(error.name, error.shape)
        if not spelled and not _is_foreign(card, error) and error.name not in _OWNERS:
            yield Violation(error.pointer, error.seen)


@RULE_SET.rule(
    "CARD-068",
    WARNING,
    "A member is in the wrong object",
    section="1.0 §4.4",
    requirement="Each member belongs to one object; readers ignore it in other objects.",
    remedy="Move the member to the object that the finding names.",
    failing={"pushNotifications": True},
)
def misplaced(card: Facts) -> Iterator[Violation]:
    for error in card.unknown_members():
        if error.name in _OWNERS and not _is_foreign(card, error):
            yield Violation(error.pointer, f"{error.name} belongs in {_OWNERS[error.name]}")


_OWNERS: Mapping[str, str] = {
    **dict.fromkeys(("streaming", "pushNotifications", "extendedAgentCard", "extensions"), "capabilities"),
    **dict.fromkeys(("supportedInterfaces", "securityRequirements", "securitySchemes", "skills"), "the card object"),
    **dict.fromkeys(("protocolBinding", "tenant"), "an entry of supportedInterfaces"),
    "authentication": "the card object (0.1 only)",
}
"""The object that a member belongs to, for members whose name occurs in one object only."""


def _is_foreign(card: Facts, error: SchemaError) -> bool:
    """Return whether another version defines the unknown member in the same object; other rules report such members."""
    if card.layout.older:
        return error.shape.of == "card" and error.name in OLD
    return error.name in NEW.get(error.shape.of, ()) or (error.shape.of == "card" and error.name == "authentication")


@RULE_SET.rule(
    "CARD-039",
    HINT,
    "The card is very large",
    section="1.0 §8.6",
    requirement="Clients fetch the card before the first contact with an agent.",
    remedy="Shorten descriptions and examples; many clients stop reading at one megabyte.",
    failing={"description": "x" * 1_000_001},
    versions=EVERY,
)
def very_large(card: Facts) -> Iterator[Violation]:
    if card.size > _LARGE:
        yield Violation("", f"the card has {card.size:,} bytes")


_LARGE = 1_000_000
