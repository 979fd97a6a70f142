"""Rules about the content of objects: timestamps, bytes, parts, and ids that must match."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from inspector.findings.examples import TEXT_PART, message, old_update, task, update
from inspector.findings.payload.facts import PayloadFacts, Steps
from inspector.findings.rule_set import ERROR, HINT, LEGACY, SINCE_0_2, V1, WARNING, RuleSet, Violation
from inspector.findings.shape import SchemaErrorKind
from inspector.protocol.dialects.double_base64 import looks_double_encoded
from inspector.protocol.model import Json
from inspector.protocol.pointer import pointer

RULE_SET = RuleSet[PayloadFacts]()

MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]{1,127}/[A-Za-z0-9!#$&^_.+*-]{1,127}(\s*;.*)?")


@RULE_SET.rule(
    "DATA-007",
    ERROR,
    "A timestamp cannot be read",
    section="1.0 §5.6.1, 0.3 §6.2",
    requirement="Timestamps MUST be ISO 8601 strings.",
    remedy="Write the timestamp as 2026-01-31T12:00:00.000Z.",
    failing=update(status={"state": "TASK_STATE_WORKING", "timestamp": "yesterday"}),
    passing=update(status={"state": "TASK_STATE_WORKING", "timestamp": "2026-01-31T12:00:00.123456Z"}),
)
def bad_time(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.TIMESTAMP):
        yield Violation(error.pointer, error.seen)


@RULE_SET.rule(
    "DATA-008",
    ERROR,
    "A timestamp is not in UTC",
    section="1.0 §5.6.1",
    requirement="Timestamps MUST NOT include timezone offsets other than Z (UTC).",
    remedy="Write the timestamp in UTC with a final Z; ProtoJSON readers reject a timestamp without it.",
    failing=update(status={"state": "TASK_STATE_WORKING", "timestamp": "2026-01-31T12:00:00"}),
    passing=update(status={"state": "TASK_STATE_WORKING", "timestamp": "2026-01-31T12:00:00Z"}),
    versions=V1,
)
def not_utc(facts: PayloadFacts) -> Iterator[Violation]:
    for where, timestamp in _timestamps(facts):
        if not timestamp.endswith("Z"):
            yield Violation(where, f"{timestamp[:80]} does not end with Z")


@RULE_SET.rule(
    "DATA-009",
    HINT,
    "A timestamp has no time zone",
    section="0.3 §6.2, ISO 8601",
    requirement="Timestamps are in ISO 8601; without a time zone, each reader assumes its local time.",
    remedy="Write the timestamp in UTC with a final Z.",
    failing=old_update("2026-01-31T12:00:00"),
    passing=old_update("2026-01-31T12:00:00+00:00"),
    versions=tuple(reversed(LEGACY)),
)
def no_zone(facts: PayloadFacts) -> Iterator[Violation]:
    for where, timestamp in _timestamps(facts):
        if not re.search(r"([Zz]|[+-]\d{2}(:?\d{2})?)$", timestamp[10:]):
            yield Violation(where, f"{timestamp[:80]} has no time zone")


@RULE_SET.rule(
    "DATA-010",
    ERROR,
    "Bytes are not base64",
    section="1.0 §4.1.6, 0.3 §6.6",
    requirement="Binary content is base64-encoded.",
    remedy="Encode the bytes in base64.",
    failing=message({"raw": "not base64!"}),
    passing=message({"raw": "aGVsbG8="}),
)
def no_base64(facts: PayloadFacts) -> Iterator[Violation]:
    for error in facts.errors_of(SchemaErrorKind.BYTES):
        yield Violation(error.pointer, error.seen)


@RULE_SET.rule(
    "DATA-011",
    WARNING,
    "Bytes look encoded twice",
    section="1.0 §4.1.6, 0.3 §6.6",
    requirement="Binary content is base64-encoded once.",
    remedy="Pass the raw bytes to the library, which encodes them.",
    failing=message({"raw": "aVZCT1J3MEtHZ29BQUFBTlNVaEVVZz09"}),
    passing=message({"raw": "iVBORw0KGgoAAAANSUhEUg=="}),
)
def base64_twice(facts: PayloadFacts) -> Iterator[Violation]:
    for where, text in _in_parts(facts, "raw", "bytes", "fileWithBytes"):
        if looks_double_encoded(text):
            yield Violation(where, "the decoded value is base64 again")


@RULE_SET.rule(
    "DATA-017",
    WARNING,
    "A message or an artifact has no parts",
    section="1.0 §5.7, §4.1.4, §4.1.7",
    requirement="Arrays marked REQUIRED MUST contain at least one element.",
    remedy="Add at least one part. Do not send a separate event without parts to end an artifact.",
    failing=message(),
    passing=message(TEXT_PART),
)
def no_parts(facts: PayloadFacts) -> Iterator[Violation]:
    for name, steps, value in facts.objects:
        for member in ("parts", "content"):
            if name in ("message", "artifact") and value.get(member) == []:
                yield Violation(pointer(*steps, member), f"the {name} has no parts")
        # In 0.3, HTTP+JSON and gRPC omit an empty list.
        if name == "artifact" and "parts" not in value and facts.traits.omits_empty:
            yield Violation(pointer(*steps, "parts"), "the artifact has no parts")


@RULE_SET.rule(
    "DATA-018",
    WARNING,
    "A media type is not valid",
    section="1.0 §4.1.6, RFC 6838 §4.2",
    requirement="The media type of a part describes its content, such as text/plain.",
    remedy="Write type/subtype, such as text/plain.",
    failing=message({"text": "hello", "mediaType": "markdown"}),
    passing=message({"text": "hello", "mediaType": "text/markdown; charset=utf-8"}),
)
def no_media_type(facts: PayloadFacts) -> Iterator[Violation]:
    for where, media_type in _in_parts(facts, "mediaType", "mimeType"):
        if media_type and not MEDIA_TYPE.fullmatch(media_type):
            yield Violation(where, f"the media type is {media_type[:80]!r}")


@RULE_SET.rule(
    "DATA-019",
    WARNING,
    "A message of the agent has the role of the user",
    section="1.0 §4.1.4, §4.1.5",
    requirement="ROLE_AGENT is the role of messages from the server to the client.",
    remedy="Set role to that of the agent.",
    failing=message(TEXT_PART, role="ROLE_USER"),
    passing=message(TEXT_PART),
)
def wrong_role(facts: PayloadFacts) -> Iterator[Violation]:
    for name, steps, value in facts.objects:
        own = name == "message" and "history" not in steps
        direct = name == "" and value.get("kind") == "message"
        if (own or direct) and value.get("role") in ("ROLE_USER", "user"):
            yield Violation(pointer(*steps, "role"), f"role is {value['role']}")


@RULE_SET.rule(
    "DATA-020",
    ERROR,
    "Two artifacts of a task have the same id",
    section="1.0 §4.1.7, 0.3 §6.7",
    requirement="The id of an artifact must be unique within a task.",
    remedy="Give each artifact a unique id.",
    failing=task(artifacts=[{"artifactId": "a", "parts": [TEXT_PART]}, {"artifactId": "a", "parts": [TEXT_PART]}]),
    passing=task(artifacts=[{"artifactId": "a", "parts": [TEXT_PART]}, {"artifactId": "b", "parts": [TEXT_PART]}]),
    versions=SINCE_0_2,
)
def same_artifact(facts: PayloadFacts) -> Iterator[Violation]:
    known: set[tuple[Steps, str]] = set()
    for name, steps, value in facts.objects:
        artifact_id = value.get("artifactId")
        if name == "artifact" and steps and isinstance(steps[-1], int) and isinstance(artifact_id, str) and artifact_id:
            if (steps[:-1], artifact_id) in known:
                yield Violation(pointer(*steps, "artifactId"), f"{artifact_id[:80]!r} is repeated")
            known.add((steps[:-1], artifact_id))


@RULE_SET.rule(
    "DATA-021",
    WARNING,
    "The URL of a file is not absolute",
    section="1.0 §4.1.6, 0.3 §6.6",
    requirement="The url points to the content of the file.",
    remedy="Write an absolute URL: clients fetch the file from other machines.",
    failing=message({"url": "hello.txt"}),
    passing=message({"url": "https://example.com/hello.txt"}),
)
def no_url(facts: PayloadFacts) -> Iterator[Violation]:
    for where, url in _in_parts(facts, "url", "uri", "fileWithUri"):
        if not _is_absolute(url):
            yield Violation(where, f"the URL is {url[:80]!r}")


@RULE_SET.rule(
    "DATA-022",
    ERROR,
    "A message in a task names another task or context",
    section="1.0 §3.4, §4.1.4",
    requirement="The taskId and contextId of a message identify its task and context.",
    remedy="Set the ids of the task that contains the message, or remove them.",
    failing=update(
        status={
            "state": "TASK_STATE_WORKING",
            "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [TEXT_PART], "taskId": "t-2"},
        }
    ),
    passing=update(
        status={
            "state": "TASK_STATE_WORKING",
            "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [TEXT_PART], "taskId": "t-1"},
        }
    ),
    versions=SINCE_0_2,
)
def other_ids(facts: PayloadFacts) -> Iterator[Violation]:
    owner: tuple[Steps, Json, Json] = ((), None, None)
    for name, steps, value in facts.objects:
        if "status" in value or "artifact" in value:
            owner = (steps, value.get("taskId", value.get("id")), value.get("contextId"))
        if name != "message" or steps[: len(owner[0])] != owner[0] or "status" in value:
            continue
        for member, expected in (("taskId", owner[1]), ("contextId", owner[2])):
            found = value.get(member)
            if isinstance(found, str) and found and isinstance(expected, str) and expected and found != expected:
                yield Violation(pointer(*steps, member), f"{member} is {found[:80]!r}, expected {expected[:80]!r}")


def _timestamps(facts: PayloadFacts) -> Iterator[tuple[str, str]]:
    """Return every readable timestamp, with its pointer."""
    unreadable = {error.pointer for error in facts.errors_of(SchemaErrorKind.TIMESTAMP)}
    for name, steps, value in facts.objects:
        timestamp = value.get("timestamp") if name == "status" else None
        if isinstance(timestamp, str) and (where := pointer(*steps, "timestamp")) not in unreadable:
            yield where, timestamp


def _is_absolute(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return bool(parts.scheme and (parts.netloc or parts.path)) and not any(character.isspace() for character in url)


_IDS = ("id", "taskId", "contextId", "messageId", "artifactId")


@RULE_SET.rule(
    "DATA-016",
    ERROR,
    "An id is empty",
    section="1.0 §3.4.2, §4.1, §4.2.1, §4.2.2, §5.7; 0.3 §6",
    requirement="Fields marked REQUIRED MUST be present and set; ids are unique identifiers.",
    remedy="Set the id; clients store objects by their id.",
    failing=update(taskId=""),
    passing=update(),
)
def empty_id(facts: PayloadFacts) -> Iterator[Violation]:
    for name, steps, value in facts.objects:
        is_task = {"id", "status"} <= value.keys()
        optional = ("taskId", "contextId") if name == "message" else ("contextId",) if is_task else ()
        for member in _IDS:
            if value.get(member) == "" and member not in optional:
                yield Violation(pointer(*steps, member), f"{member} is empty")


@RULE_SET.rule(
    "DATA-024",
    WARNING,
    "An auth-required status has no message",
    section="1.0 §7.6.1",
    requirement="The agent MUST include a status message that explains the required authorization, unless negotiated.",
    remedy="Add a status message that explains what the user has to do.",
    failing=update(status={"state": "TASK_STATE_AUTH_REQUIRED"}),
    passing=update(
        status={
            "state": "TASK_STATE_AUTH_REQUIRED",
            "message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "Log in at example.com"}]},
        }
    ),
    versions=V1,
)
def unexplained_authorization(facts: PayloadFacts) -> Iterator[Violation]:
    for name, steps, value in facts.objects:
        if name == "status" and value.get("state") == "TASK_STATE_AUTH_REQUIRED" and not value.get("message"):
            yield Violation(pointer(*steps, "message"), "message is missing")


def _in_parts(facts: PayloadFacts, *names: str) -> Iterator[tuple[str, str]]:
    """Return the strings with these names in parts and their files, each with its pointer."""
    for steps, part in facts.parts():
        for at, holder in ((steps, part), ((*steps, "file"), part.get("file"))):
            if isinstance(holder, dict):
                for name in names:
                    if isinstance(text := holder.get(name), str):
                        yield pointer(*at, name), text
