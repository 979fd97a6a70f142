"""Rules about the shapes of objects: tasks, messages, parts, artifacts and updates."""

from __future__ import annotations

import re
from collections.abc import Iterator

from inspector.findings.examples import STATUS, TEXT_PART, message, update
from inspector.findings.payload.facts import PayloadFacts
from inspector.findings.payload.shapes import shapes_of
from inspector.findings.rule_set import ERROR, HINT, V1, WARNING, RuleSet, Violation
from inspector.findings.shape import SchemaError, SchemaErrorKind, camel_case, closest_member
from inspector.protocol.dialects.detect import looks_like
from inspector.protocol.pointer import pointer

RULE_SET = RuleSet[PayloadFacts]()
"""The examples of these rules are events of 1.0, or of 0.3 if the rule applies to older versions."""


@RULE_SET.rule(
    "DATA-001",
    ERROR,
    "A required member is missing",
    section="1.0 §3.1.4, §3.1.8, §3.4.2, §4.1, §4.2, §4.3.1, §4.3.2, §5.7; 0.3 §6, §7",
    requirement="Fields marked REQUIRED MUST be present and set in valid messages.",
    remedy="Add the member; typed clients cannot read the object without it.",
    failing=update(contextId=None),
    passing=update(),
)
def missing(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.MISSING):
        if error.pointer not in _respelled(facts):
            yield Violation(error.pointer, f"{error.name} of the {error.shape.of} is missing")


def _respelled(facts: PayloadFacts) -> frozenset[str]:
    """Return pointers with the camelCase names of members that are spelled in another case (reported by DATA-012)."""
    found = ((error, camel_case(error.name)) for error in facts.errors_of(SchemaErrorKind.UNKNOWN))
    return frozenset(_holder(error) + pointer(name) for error, name in found if name in error.shape.members)


def _holder(error: SchemaError) -> str:
    """Return the pointer of the object that contains the member."""
    return error.pointer.rpartition("/")[0]


def _with_foreign_members(facts: PayloadFacts) -> frozenset[str]:
    """Return the pointers of objects that have a member of another protocol version."""
    return frozenset(
        _holder(error) for error in facts.errors_of(SchemaErrorKind.UNKNOWN) if _is_of_other_version(facts, error)
    )


@RULE_SET.rule(
    "DATA-002",
    ERROR,
    "A member has the wrong type",
    section="1.0 §4.1, §4.2, §4.3.1, §4.3.2; 0.3 §6, §7",
    requirement="Members MUST have the type that the protocol definition specifies.",
    remedy="Correct the type; typed clients cannot read the object.",
    failing=update(status="TASK_STATE_WORKING"),
    passing=update(),
)
def mistyped(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.WRONG_TYPE):
        yield Violation(error.pointer, error.seen)


@RULE_SET.rule(
    "DATA-003",
    ERROR,
    "An enum value is unknown",
    section="1.0 §4.1.5, §5.5; 0.3 §6",
    requirement="Enum values MUST be the string names in the Protocol Buffer definition.",
    remedy="Use a value that this protocol version defines.",
    failing=message(TEXT_PART, role="ROLE_BOT"),
    passing=message(TEXT_PART),
)
def unknown_enum_value(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.ENUM_VALUE):
        if error.name != "state" and not _is_of_other_version(facts, error):
            yield Violation(error.pointer, error.seen)


@RULE_SET.rule(
    "STREAM-009",
    ERROR,
    "A task state is unknown in the protocol version",
    section="1.0 §4.1.3, 0.3 §6.3",
    requirement="Task states are the values of TaskState.",
    remedy="Use a state of TaskState; clients wait forever if they do not know the state.",
    failing=update(status={"state": "TASK_STATE_PONDERING"}),
    passing=update(),
)
def unknown_state(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.ENUM_VALUE):
        if error.name == "state" and not _is_of_other_version(facts, error):
            yield Violation(error.pointer, error.seen)


@RULE_SET.rule(
    "DATA-004",
    ERROR,
    "None of the alternative members is present",
    section="1.0 §3.1.1, §3.2.3, §4.1.6, §4.3.3",
    requirement="The object MUST contain exactly one of these members.",
    remedy="Set the intended member.",
    failing=message({"mediaType": "text/plain"}),
    passing=message({"data": None}),
)
def none_of(facts: PayloadFacts) -> Iterator[Violation]:
    known = _with_foreign_members(facts) | {where.rpartition("/")[0] for where in _respelled(facts)}
    for error in facts.errors_of(SchemaErrorKind.NONE_OF):
        if error.pointer not in known:
            yield Violation(error.pointer, f"the {error.shape.of} has {error.seen}")


@RULE_SET.rule(
    "DATA-005",
    ERROR,
    "Several alternative members are present",
    section="1.0 §3.1.1, §3.2.3, §4.1.6, §4.3.3",
    requirement="The object MUST contain exactly one of these members.",
    remedy="Send one object for each member; readers keep one of the members and drop the others.",
    failing=message({"text": "hello", "url": "https://example.com/hello.txt"}),
    passing=message(TEXT_PART, {"url": "https://example.com/hello.txt"}),
)
def several_of(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.SEVERAL):
        yield Violation(error.pointer, f"the {error.shape.of} has {error.seen}")


_ENUM_VALUE_FORMAT = re.compile(r"TASK_STATE_[A-Z_]+|ROLE_[A-Z]+|[a-z]+(-[a-z]+)?")
_KNOWN_VALUES = frozenset(
    {
        *("submitted", "working", "input-required", "completed", "canceled", "cancelled", "failed", "rejected"),
        *("auth-required", "unknown", "user", "agent"),
        *("task", "message", "status-update", "artifact-update", "text", "file", "data"),
    }
)
"""The enum values of all protocol versions, as the older versions spell them."""


def _is_of_other_version(facts: PayloadFacts, error: SchemaError) -> bool:
    """Whether the member or the enum value is valid in another protocol version."""
    if error.kind is SchemaErrorKind.UNKNOWN:
        foreign = shapes_of(facts.version, facts.binding).foreign
        return error.name in foreign or f"{error.shape.of}.{error.name}" in foreign
    value = error.value if isinstance(error.value, str) else ""
    plain = value.removeprefix("TASK_STATE_").removeprefix("ROLE_").lower().replace("_", "-")
    return bool(_ENUM_VALUE_FORMAT.fullmatch(value)) and plain in _KNOWN_VALUES


@RULE_SET.rule(
    "DATA-006",
    ERROR,
    "An object has the shape of another protocol version",
    section="1.0 Appendix A.2, §3.6.2, §5.5; 0.3 §6",
    requirement="Each protocol version defines its names of members, roles and states; readers ignore other names.",
    remedy="Use the shape of the interface's protocolVersion, or correct protocolVersion on the card. 0.3 has two: "
    "with kind and working over JSON-RPC and in pushes, without kind and with TASK_STATE_WORKING over HTTP+JSON.",
    failing=message({"kind": "text", "text": "hello"}),
    passing=message(TEXT_PART),
)
def other_version(facts: PayloadFacts) -> Iterator[Violation]:
    found = False
    expected_version = facts.version if facts.binding == "JSONRPC" else f"{facts.version} over {facts.binding}"
    for error in facts.errors_of(SchemaErrorKind.UNKNOWN, SchemaErrorKind.ENUM_VALUE):
        if _is_of_other_version(facts, error) and error.name != "final":  # STREAM-012 reports final
            found = True
            what = (
                f"the value {error.value}" if error.kind is SchemaErrorKind.ENUM_VALUE else f"the member {error.name}"
            )
            yield Violation(error.pointer, f"{what} does not belong to {expected_version}")
    # 0.3 over HTTP and gRPC uses the enum values of 1.0, so they do not identify the version.
    expected = facts.traits.looks_like
    if not found and expected and any(facts.errors_of(SchemaErrorKind.MISSING, SchemaErrorKind.NONE_OF)):
        looks = looks_like(facts.value)
        if looks not in ("", expected):
            yield Violation(pointer(*facts.steps), f"found the shape of {looks}, expected {facts.version}")


@RULE_SET.rule(
    "DATA-012",
    ERROR,
    "A member is not spelled in camelCase",
    section="1.0 §5.5",
    requirement="JSON serializations MUST use camelCase for field names.",
    remedy="Rename the member to camelCase; with protobuf, do not preserve the proto field names.",
    failing=update(status={"state": "TASK_STATE_WORKING"}, task_id="t-1"),
    passing=update(),
)
def not_camel_case(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.UNKNOWN):
        if camel_case(error.name) in error.shape.members:
            yield Violation(error.pointer, f"found {error.name}, expected {camel_case(error.name)}")


@RULE_SET.rule(
    "DATA-013",
    WARNING,
    "A member name looks misspelled",
    section="1.0 §5.7",
    requirement="Implementations SHOULD ignore unrecognized fields, so a misspelled member has no effect.",
    remedy="Correct the spelling, including upper and lower case.",
    failing=update(metaData={}),
    passing=update(metadata={}),
)
def misspelled(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.UNKNOWN):
        if not _is_of_other_version(facts, error) and (known := closest_member(error.name, error.shape)):
            yield Violation(error.pointer, f"found {error.name}, similar to {known}")


@RULE_SET.rule(
    "DATA-014",
    HINT,
    "A member is not defined by the specification",
    section="1.0 §5.7",
    requirement="Implementations SHOULD ignore unrecognized fields, for forward compatibility.",
    remedy="Move your own data to metadata. If the member is intended, no change is needed.",
    failing=update(mood="cheerful"),
    passing=update(metadata={"mood": "cheerful"}),
)
def unknown_member(facts: PayloadFacts) -> Iterator[Violation]:
    foreign = _with_foreign_members(facts)
    for error in facts.errors_of(SchemaErrorKind.UNKNOWN):
        other = _holder(error) in foreign or camel_case(error.name) in error.shape.members
        if not other and not closest_member(error.name, error.shape):
            yield Violation(error.pointer, error.seen)


@RULE_SET.rule(
    "DATA-015",
    HINT,
    "A member is null",
    section="1.0 §5.7, ProtoJSON",
    requirement="Members that are not set are omitted.",
    remedy="Remove the member; strict readers of older protocol versions reject null.",
    failing={"statusUpdate": {**STATUS, "metadata": None}},
    passing=update(),
)
def null_member(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.NULL):
        yield Violation(error.pointer, error.seen)


@RULE_SET.rule(
    "STREAM-012",
    ERROR,
    "A status update of 1.0 has the member final",
    section="1.0 Appendix A.2, §4.2.1",
    requirement="1.0 removed final from TaskStatusUpdateEvent: the server closes the stream instead.",
    remedy="Remove final.",
    failing={"statusUpdate": {**STATUS, "final": False}},
    passing=update(),
    versions=V1,
)
def final_in_1_0(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.UNKNOWN):
        if error.name == "final":
            yield Violation(error.pointer, "final is not a member in 1.0")
