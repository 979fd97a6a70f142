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
"""The examples of these rules are events of 1.0, or of 0.3 if the rule is about older versions."""


@RULE_SET.rule(
    "DATA-001",
    ERROR,
    "A required member is missing",
    section="1.0 §3.1.4, §3.1.8, §3.4.2, §4.1, §4.2, §4.3.1, §4.3.2, §5.7; 0.3 §6, §7",
    requirement="Fields marked REQUIRED MUST be present and set in valid messages.",
    remedy="Set the member; typed clients cannot read the object without it.",
    failing=update(contextId=None),
    passing=update(),
)
def missing(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.MISSING):
        if error.pointer not in _respelled(facts):
            yield Violation(error.pointer, f"{error.name} of the {error.shape.of}")


def _respelled(facts: PayloadFacts) -> frozenset[str]:
    """Return the pointers of members that are present in snake_case or kebab-case, which DATA-012 reports."""
    found = ((error, camel_case(error.name)) for error in facts.errors_of(SchemaErrorKind.UNKNOWN))
    return frozenset(_holder(error) + pointer(name) for error, name in found if name in error.shape.members)


def _holder(error: SchemaError) -> str:
    """Return the pointer of the object that has the wrong member."""
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
    requirement="Members MUST have the type that the protocol's definition gives them.",
    remedy="Correct the member; typed clients cannot read the object at all.",
    failing=update(status="TASK_STATE_WORKING"),
    passing=update(),
)
def mistyped(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.WRONG_TYPE):
        yield Violation(error.pointer, error.seen)


@RULE_SET.rule(
    "DATA-003",
    ERROR,
    "A word that the definition does not list",
    section="1.0 §4.1.5, §5.5; 0.3 §6",
    requirement="Enum values MUST be represented as their string names as defined in the Protocol Buffer definition.",
    remedy="Use one of the words of this protocol version.",
    failing=message(TEXT_PART, role="ROLE_BOT"),
    passing=message(TEXT_PART),
)
def unknown_word(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.WORD):
        if error.name != "state" and not _is_of_other_version(facts, error):
            yield Violation(error.pointer, error.seen)


@RULE_SET.rule(
    "STREAM-009",
    ERROR,
    "A task state that the protocol version does not know",
    section="1.0 §4.1.3, 0.3 §6.3",
    requirement="The states are those of TaskState.",
    remedy="Use one of the named states; clients wait for ever on one that they do not know.",
    failing=update(status={"state": "TASK_STATE_PONDERING"}),
    passing=update(),
)
def unknown_state(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.WORD):
        if error.name == "state" and not _is_of_other_version(facts, error):
            yield Violation(error.pointer, error.seen)


@RULE_SET.rule(
    "DATA-004",
    ERROR,
    "None of the members of which there must be one",
    section="1.0 §3.1.1, §3.2.3, §4.1.6, §4.3.3",
    requirement="MUST contain exactly one of the listed members.",
    remedy="Set the one that is meant.",
    failing=message({"mediaType": "text/plain"}),
    passing=message({"data": None}),
)
def none_of(facts: PayloadFacts) -> Iterator[Violation]:
    known = _with_foreign_members(facts) | {where.rpartition("/")[0] for where in _respelled(facts)}
    for error in facts.errors_of(SchemaErrorKind.NONE_OF):
        if error.pointer not in known:
            yield Violation(error.pointer, f"{error.shape.of}: {error.seen}")


@RULE_SET.rule(
    "DATA-005",
    ERROR,
    "Several of the members of which there must be one",
    section="1.0 §3.1.1, §3.2.3, §4.1.6, §4.3.3",
    requirement="MUST contain exactly one of the listed members.",
    remedy="Send one object for each; readers keep one of them and drop the others.",
    failing=message({"text": "hello", "url": "https://example.com/hello.txt"}),
    passing=message(TEXT_PART, {"url": "https://example.com/hello.txt"}),
)
def several_of(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.SEVERAL):
        yield Violation(error.pointer, f"{error.shape.of}: {error.seen}")


_OTHER_WORD = re.compile(r"TASK_STATE_[A-Z_]+|ROLE_[A-Z]+|[a-z]+(-[a-z]+)?")
_ALL_WORDS = frozenset(
    {
        *("submitted", "working", "input-required", "completed", "canceled", "cancelled", "failed", "rejected"),
        *("auth-required", "unknown", "user", "agent"),
        *("task", "message", "status-update", "artifact-update", "text", "file", "data"),
    }
)
"""Words of any protocol version, as the older versions spell them."""


def _is_of_other_version(facts: PayloadFacts, error: SchemaError) -> bool:
    """Whether the member or word is valid in another protocol version."""
    if error.kind is SchemaErrorKind.UNKNOWN:
        foreign = shapes_of(facts.version, facts.binding).foreign
        return error.name in foreign or f"{error.shape.of}.{error.name}" in foreign
    word = error.value if isinstance(error.value, str) else ""
    plain = word.removeprefix("TASK_STATE_").removeprefix("ROLE_").lower().replace("_", "-")
    return bool(_OTHER_WORD.fullmatch(word)) and plain in _ALL_WORDS


@RULE_SET.rule(
    "DATA-006",
    ERROR,
    "The shape of another protocol version",
    section="1.0 Appendix A.2, §3.6.2, §5.5; 0.3 §6",
    requirement="Each protocol version has its own names of members, roles and states; its readers ignore other names.",
    remedy="Write it as the interface's protocolVersion says, or correct that on the card.",
    failing=message({"kind": "text", "text": "hello"}),
    passing=message(TEXT_PART),
)
def other_version(facts: PayloadFacts) -> Iterator[Violation]:
    found = False
    spoken_here = facts.version if facts.binding == "JSONRPC" else f"{facts.version} over {facts.binding}"
    for error in facts.errors_of(SchemaErrorKind.UNKNOWN, SchemaErrorKind.WORD):
        if _is_of_other_version(facts, error) and error.name != "final":  # which has a rule of its own
            found = True
            what = f"the word {error.value}" if error.kind is SchemaErrorKind.WORD else f"the member {error.name}"
            yield Violation(error.pointer, f"{what}, where {spoken_here} is spoken")
    # 0.3 over HTTP and gRPC has the words of 1.0, so that they do not show the version there.
    expected = facts.traits.looks_like
    if not found and expected and any(facts.errors_of(SchemaErrorKind.MISSING, SchemaErrorKind.NONE_OF)):
        looks = looks_like(facts.value)
        if looks not in ("", expected):
            yield Violation(pointer(*facts.steps), f"it looks like {looks}, where {facts.version} is spoken")


@RULE_SET.rule(
    "DATA-012",
    ERROR,
    "A member is not spelled in camelCase",
    section="1.0 §5.5",
    requirement="All JSON serializations MUST use camelCase naming for field names.",
    remedy="Write the member in camelCase; with protobuf, do not keep the proto's own field names.",
    failing=update(status={"state": "TASK_STATE_WORKING"}, task_id="t-1"),
    passing=update(),
)
def not_camel_case(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.UNKNOWN):
        if camel_case(error.name) in error.shape.members:
            yield Violation(error.pointer, f"{error.name} instead of {camel_case(error.name)}")


@RULE_SET.rule(
    "DATA-013",
    WARNING,
    "A member looks misspelled",
    section="1.0 §5.7",
    requirement="Implementations SHOULD ignore unrecognized fields: what is misspelled is not seen.",
    remedy="Correct the spelling, case included.",
    failing=update(metaData={}),
    passing=update(metadata={}),
)
def misspelled(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.UNKNOWN):
        if not _is_of_other_version(facts, error) and (known := closest_member(error.name, error.shape)):
            yield Violation(error.pointer, f"{error.name}: {known} may be meant")


@RULE_SET.rule(
    "DATA-014",
    HINT,
    "A member that no specification names",
    section="1.0 §5.7",
    requirement="Implementations SHOULD ignore unrecognized fields, allowing for forward compatibility.",
    remedy="Nothing to mend if it is meant; metadata is the place for what is your own.",
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
    requirement="What is not set is omitted.",
    remedy="Leave the member out; strict readers of older protocol versions refuse a null.",
    failing={"statusUpdate": {**STATUS, "metadata": None}},
    passing=update(),
)
def null_member(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.NULL):
        yield Violation(error.pointer, error.seen)


@RULE_SET.rule(
    "STREAM-012",
    ERROR,
    "A status update of 1.0 says that it is final",
    section="1.0 Appendix A.2, §4.2.1",
    requirement="final was removed from TaskStatusUpdateEvent: the server closes the stream.",
    remedy="Leave it out.",
    failing={"statusUpdate": {**STATUS, "final": False}},
    passing=update(),
    versions=V1,
)
def final_in_1_0(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.UNKNOWN):
        if error.name == "final":
            yield Violation(error.pointer, "final is no member of 1.0")
