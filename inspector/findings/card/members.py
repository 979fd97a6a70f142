"""Rules about the members of a card: present, of the right type, spelled as the specification spells them."""

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

_INSIDE = {"card": ("card", "capabilities"), "security scheme": ("security scheme", "flows")}
"""Objects without rules of their own: the rules about the object around them report their errors."""


def _reporter(kind: SchemaErrorKind, of: str) -> Check[Facts]:
    shapes = _INSIDE.get(of, (of,))

    def check(card: Facts) -> Iterator[Violation]:
        for error in card.errors_of(kind, *shapes):
            if error.name not in ("security", "securityRequirements"):
                yield Violation(error.pointer, error.seen)

    return check


def _declare(number: int, of: str, section: str, lacking: Json, wrong: Json, versions: Sequence[str] = ()) -> None:
    """Declare two rules about a kind of object: `lacking` is a card without a member, `wrong` has one mistyped."""
    RULE_SET.rule(
        f"CARD-{number:03}",
        ERROR,
        f"A required member of the {of} is missing",
        section=section,
        requirement="Fields marked REQUIRED MUST be present and set.",
        remedy="Add the member; clients that check the card refuse it otherwise.",
        versions=versions,
        failing=lacking,
    )(_reporter(SchemaErrorKind.MISSING, of))
    RULE_SET.rule(
        f"CARD-{number + 1:03}",
        ERROR,
        f"A member of the {of} has the wrong type",
        section=section,
        requirement="Members MUST have the type that the protocol's definition gives them.",
        remedy="Correct the member; typed clients cannot read the card at all.",
        versions=versions,
        failing=wrong,
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
    "flow",
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
    "authentication",
    "0.1 §5.5.3",
    {"authentication": {"schemes": None}},
    {"authentication": {"schemes": "Bearer"}},
    ("0.1",),
)


@RULE_SET.rule(
    "CARD-026",
    WARNING,
    "A required text is blank",
    section="1.0 §5.7, 0.3 §5.5",
    requirement="Fields marked REQUIRED MUST be present and set in valid messages.",
    remedy="Say it: people and agents choose by these texts, and protobuf drops an empty one as if it were missing.",
    failing={"name": " "},
    passing={"description": ""},
)
def blank_text(card: Facts) -> Iterator[Violation]:
    for error in card.errors_of(SchemaErrorKind.BLANK):
        # Other rules report these.
        if error.name not in ("url", "description", "protocolVersion", "protected"):
            yield Violation(error.pointer, error.seen)


@RULE_SET.rule(
    "CARD-027",
    HINT,
    "A description is blank",
    section="1.0 §5.7 against §8.4.1",
    requirement="Fields marked REQUIRED MUST be present and set; the example of canonicalization keeps an empty one.",
    remedy="Describe the agent or the skill: other agents decide by it whether to ask.",
    failing={"description": ""},
)
def blank_description(card: Facts) -> Iterator[Violation]:
    for error in card.errors_of(SchemaErrorKind.BLANK):
        if error.name == "description":
            yield Violation(error.pointer, error.seen)


@RULE_SET.rule(
    "CARD-028",
    WARNING,
    "No media type is declared",
    section="1.0 §5.7",
    requirement="Arrays marked as required MUST contain at least one element.",
    remedy="List the media types that every skill takes and gives, such as text/plain.",
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
    requirement="Required arrays MUST contain at least one element; the example of canonicalization has none.",
    remedy="List at least one: clients look for skills and tags, and protobuf drops an empty list.",
    failing={"skills": []},
)
def empty_list(card: Facts) -> Iterator[Violation]:
    if card.value.get("skills") == []:
        yield Violation("/skills", "the card declares no skill")
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
    requirement="What is not set is omitted.",
    remedy="Leave the member out; strict readers of older protocol versions refuse a null.",
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
    requirement="All JSON serializations MUST use camelCase naming for field names.",
    remedy="Write the member in camelCase; with protobuf, do not keep the proto's own field names.",
    failing={"default_input_modes": ["text/plain"]},
)
def not_camel_case(card: Facts) -> Iterator[Violation]:
    for one in card.unknown_members():
        if camel_case(one.name) in one.shape.members:
            yield Violation(one.pointer, f"{one.name} instead of {camel_case(one.name)}")


@RULE_SET.rule(
    "CARD-032",
    WARNING,
    "A member looks misspelled",
    section="1.0 §4.4, §5.7",
    requirement="Implementations SHOULD ignore unrecognized fields: what is misspelled is not seen.",
    remedy="Correct the spelling, case included.",
    failing={"documentationURL": "https://agent.example.com/docs"},
    passing={"x-internal-id": "42"},
)
def misspelled(card: Facts) -> Iterator[Violation]:
    for one in card.unknown_members():
        if not _is_foreign(card, one) and (known := closest_member(one.name, one.shape)):
            yield Violation(one.pointer, f"{one.name}: {known} may be meant")


@RULE_SET.rule(
    "CARD-033",
    HINT,
    "A member that no specification names",
    section="1.0 §5.7",
    requirement="Implementations SHOULD ignore unrecognized fields, allowing for forward compatibility.",
    remedy="Nothing to mend if it is meant; what others should understand belongs into an extension.",
    failing={"x-internal-id": "42"},
)
def unknown_member(card: Facts) -> Iterator[Violation]:
    for one in card.unknown_members():
        spelled = camel_case(one.name) in one.shape.members or closest_member(one.name, one.shape)
        if not spelled and not _is_foreign(card, one) and one.name not in _HOMES:
            yield Violation(one.pointer, one.seen)


@RULE_SET.rule(
    "CARD-068",
    WARNING,
    "A member at the wrong place",
    section="1.0 §4.4",
    requirement="Each member belongs to one object; at another place it is not seen.",
    remedy="Move it to where readers look for it.",
    failing={"pushNotifications": True},
)
def misplaced(card: Facts) -> Iterator[Violation]:
    for one in card.unknown_members():
        if one.name in _HOMES and not _is_foreign(card, one):
            yield Violation(one.pointer, f"{one.name} belongs into {_HOMES[one.name]}")


_HOMES: Mapping[str, str] = {
    **dict.fromkeys(("streaming", "pushNotifications", "extendedAgentCard", "extensions"), "capabilities"),
    **dict.fromkeys(("supportedInterfaces", "securityRequirements", "securitySchemes", "skills"), "the card itself"),
    **dict.fromkeys(("protocolBinding", "tenant"), "an entry of supportedInterfaces"),
    "authentication": "the card itself, until 0.1",
}
"""Where members belong whose names mean only one thing."""


def _is_foreign(card: Facts, error: SchemaError) -> bool:
    """Return whether an unknown member belongs to the same object of another version, which other rules report."""
    if card.layout.older:
        return error.shape.of == "card" and error.name in OLD
    return error.name in NEW.get(error.shape.of, ()) or (error.shape.of == "card" and error.name == "authentication")


@RULE_SET.rule(
    "CARD-039",
    HINT,
    "The card is very large",
    section="1.0 §8.6",
    requirement="Clients fetch the card before every first contact.",
    remedy="Shorten descriptions and examples; many clients stop reading at a megabyte.",
    failing={"description": "x" * 1_000_001},
    versions=EVERY,
)
def very_large(card: Facts) -> Iterator[Violation]:
    if card.size > _LARGE:
        yield Violation("", f"{card.size:,} bytes")


_LARGE = 1_000_000
