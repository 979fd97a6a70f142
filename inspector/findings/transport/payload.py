"""A payload of a response in its transport, and the rules that apply to every binding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from inspector.findings.examples import TEXT_PART, chunk, message, status, stream, task
from inspector.findings.examples import answer as example
from inspector.findings.lenient_json import JsonProblemKind, LenientReader, json_problems
from inspector.findings.rule_set import ERROR, Rule, RuleSet, Violation
from inspector.protocol.bindings import jsonrpc, rest
from inspector.protocol.bindings.base import Answer
from inspector.protocol.errors import ProtocolError
from inspector.protocol.jsonvalue import has_lone_surrogates
from inspector.protocol.model import Json, Unreadable
from inspector.protocol.operations import STREAMING, Operation
from inspector.protocol.sse import unframed_events

FAILED = 400
"""The lowest HTTP status of an error."""
_CHARSETS = frozenset({"", "utf-8", "utf8", "us-ascii"})
_ESCAPED_COLON = re.compile(rb"\\u003[aA]")
_OBJECTS = (dict, msgspec.Struct)
_encode = msgspec.json.Encoder().encode
_MAX_SEARCHED = 1_000_000
"""The maximum size in bytes of payloads that are searched for repeated members."""


class Payload(NamedTuple):
    """One payload of a response.

    `value` is its JSON value (`Unreadable` if it is not JSON), `answer` the decoded object. `status` and `content_type`
    (the media type) are those of the response. `charset` is only set for the first payload, so that it is reported
    once. `framed` is true for an event of a stream. `raw` contains the bytes (none for gRPC).
    """

    binding: str
    operation: Operation
    version: str
    request_id: str | int | float | None
    status: int
    content_type: str
    framed: bool
    value: Json
    answer: Answer
    raw: bytes = b""
    charset: str = ""

    @property
    def streaming(self) -> bool:
        """Whether a stream was requested."""
        return self.operation in STREAMING

    @property
    def content_type_text(self) -> str:
        """Return the media type for use in a finding."""
        return f"Content-Type is {self.content_type or 'missing'}"

    @property
    def lacks_stream(self) -> bool:
        """Whether the response to a streaming call is readable, but not a stream."""
        return self.streaming and not self.framed and not isinstance(self.answer, ProtocolError | Unreadable)

    @property
    def has_error(self) -> bool:
        """Whether the payload has an error member that is not null."""
        return isinstance(self.value, dict) and self.value.get("error") is not None

    @property
    def enveloped(self) -> bool:
        """Whether the payload is wrapped like a JSON-RPC response."""
        return isinstance(self.value, dict) and "jsonrpc" in self.value

    @property
    def unframed(self) -> str:
        """Describe events in a body whose media type is not that of a stream, `""` if there are none."""
        events = unframed_events(self.raw) if isinstance(self.value, Unreadable) and not self.framed else ""
        return f"{self.content_type_text}, but the body is {events}" if events else ""


def charset_of(content_type: str) -> str:
    """Return the charset of a content type in lower case, `""` if it has none."""
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip(" \t\"'").lower()
    return ""


def wrong_media_type(payload: Payload) -> Iterator[Violation]:
    """Report a charset that is not allowed for JSON and SSE, and events in the response to a call without streaming."""
    if payload.charset not in _CHARSETS:
        yield Violation("", f"charset is {payload.charset[:80]}, expected UTF-8")
    if payload.framed and not payload.streaming:
        yield Violation("", "the response to a call without streaming is a stream of events")


def no_stream(payload: Payload) -> Iterator[Violation]:
    """Report a response to a streaming call that is not a stream."""
    if payload.lacks_stream:
        yield Violation("", payload.content_type_text)


STREAM_RULES: list[Rule] = []
RULES: list[Rule] = []
UNREADABLE, REPEATED = RuleSet[Payload](STREAM_RULES), RuleSet[Payload](RULES)


@UNREADABLE.rule(
    "STREAM-007",
    ERROR,
    "An event cannot be read",
    section="1.0 §3.2.3",
    requirement="Each event contains exactly one of task, message, statusUpdate and artifactUpdate.",
    remedy="Compare the raw bytes with the section of the requirement; the finding contains the reason.",
    passing=stream(task(), status("WORKING"), chunk(), chunk(append=True, lastChunk=True), status("COMPLETED")),
    failing=stream(task(), sse="data: <p>Oops</p>\n\n"),
)
def unreadable_event(payload: Payload) -> Iterator[Violation]:
    if not payload.framed or not isinstance(payload.answer, Unreadable):
        return
    reported = {jsonrpc.BINDING.name: payload.has_error, rest.BINDING.name: payload.enveloped}
    if not reported.get(payload.binding):
        in_result = isinstance(payload.value, dict) and "result" in payload.value
        yield Violation("/result" if in_result else "", payload.answer.why)


@REPEATED.rule(
    "DATA-023",
    ERROR,
    "A member name is repeated",
    section="RFC 8259 §4",
    requirement="Member names in an object SHOULD be unique.",
    remedy="Remove one of the members: readers differ in which of them they use.",
    passing=example(message(TEXT_PART)),
    failing={
        "operation": "SendMessage",
        "text": '{"jsonrpc": "2.0", "id": "the-id", "result": {"message": {"messageId": "m", "messageId": "n", '
        '"role": "ROLE_AGENT", "parts": [{"text": "hello"}]}}}',
    },
)
def repeated_member(payload: Payload) -> Iterator[Violation]:
    if 0 < len(payload.raw) <= _MAX_SEARCHED and not names_are_unique(payload.raw, payload.value):
        yield from _problems_in(payload.raw, JsonProblemKind.REPEATED)


@REPEATED.rule(
    "DATA-025",
    ERROR,
    "A string contains half of a surrogate pair",
    section="RFC 8259 §8.2",
    requirement="Strings consist of Unicode characters; the behaviour of readers of other strings is unpredictable.",
    remedy="Write the complete character: many readers reject the response. Here it is shown as U+FFFD.",
    passing=example(message({"text": "\\ud83d\\ude00"})),
    failing={
        "operation": "SendMessage",
        "text": '{"jsonrpc": "2.0", "id": "the-id", "result": {"message": {"messageId": "m", "role": "ROLE_AGENT", '
        '"parts": [{"text": "\\ud83d"}]}}}',
    },
)
def lone_surrogate(payload: Payload) -> Iterator[Violation]:
    if 0 < len(payload.raw) <= _MAX_SEARCHED and has_lone_surrogates(payload.raw):
        yield from _problems_in(payload.raw, JsonProblemKind.LONE_SURROGATE)


def _problems_in(raw: bytes, kind: JsonProblemKind) -> list[Violation]:
    """Return the problems of a kind in JSON, none if it cannot be read: other rules report what is not JSON."""
    reader = LenientReader()
    try:
        value = reader.read(raw.decode("utf-8"))
        problems = [*json_problems(value)] if reader.has_problems else []  # a deep value raises RecursionError
    except (ValueError, RecursionError):
        return []
    return [Violation(problem.pointer, problem.seen) for problem in problems if problem.kind is kind]


def names_are_unique(raw: bytes, value: Json | msgspec.Struct) -> bool:
    """Return whether no object repeats a name: whether the value, written as JSON, has as many names as the bytes.

    Each name is followed by a colon. Strings may contain colons, too, but equally many in both, unless escaped. `value`
    may be a msgspec object that has all members.
    True is always correct; False may be wrong.
    """
    if not isinstance(value, _OBJECTS) or (b"\\" in raw and _ESCAPED_COLON.search(raw)):
        return False
    return raw.count(b":") == _encode(value).count(b":")
