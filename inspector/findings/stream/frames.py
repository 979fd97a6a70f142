"""Rules about SSE frames: lines that clients ignore, and bytes that break clients in use (see `hazards.py`)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from inspector.findings.examples import STATUS, chunk, status, stream, task
from inspector.findings.hazards import FAILURES, Hazard, Unit, describe, failures, versions_of
from inspector.findings.rule_set import HINT, WARNING, Rule, RuleSet, Violation
from inspector.findings.stream.facts import FrameFacts
from inspector.protocol.jsonvalue import brief, parse
from inspector.protocol.model import Json
from inspector.protocol.sse import Frame

_BOM = b"\xef\xbb\xbf"
_FIELDS = frozenset({"data", "event", "id", "retry"})
_JSON_BEGINS = ("{", "[")
_SEPARATORS = re.compile(rb"\xe2\x80[\xa8\xa9]|\xc2\x85")
_RETRY = re.compile(rb"(?:\A|[\r\n])retry: ?[0-9]+[\r\n]")
_EVENT_MEMBERS = ("result", "task", "message", "msg", "statusUpdate", "artifactUpdate")
"""The members whose value is an event: over JSON-RPC, and over HTTP+JSON."""
_SHORTEST_LIMIT = min(failure.limit for failure in FAILURES if failure.hazard is Hazard.SIZE)
_LF_FRAMING, _CRLF_FRAMING = len(b"data: \n\n"), len(b"data: \r\n\r\n")
"""How many bytes a frame with one line has besides its data."""
_TASK, _DONE = task(), status("COMPLETED")
_WITH_PING = stream(_TASK, _DONE, sse=": ping\n\n")


def _written(*events: Json, name: str = "", end: str = "\n") -> str:
    """Return a stream of events as text, with an event name, and with the end of each line."""
    field = f"event: {name}{end}" if name else ""
    return "".join(
        f"{field}data: {json.dumps({'jsonrpc': '2.0', 'id': 'the-id', 'result': event}, ensure_ascii=False)}{end * 2}"
        for event in events
    )


_OLD_STATUS = {**STATUS, "kind": "status-update", "status": {"state": "completed"}, "final": True}
_PLAIN = stream(sse=_written(_TASK, _DONE))


def is_plain(frame: Frame) -> bool:
    """Whether the rules of this module accept a frame, from a check that is fast for most frames."""
    data, raw = frame.data, frame.raw
    if data is None or frame.ignored or frame.event == "error" or len(raw) > _SHORTEST_LIMIT:
        return False
    if not raw.isascii() and (raw.startswith(_BOM) or _has_separator(data)):
        return False
    framing = len(raw) - len(data)
    if (framing == _LF_FRAMING and raw.endswith(b"\n\n")) or (framing == _CRLF_FRAMING and raw.endswith(b"\r\n\r\n")):
        return raw.startswith(b"data:")
    return b"\n" not in data and (b"\r" not in raw or not _has_lone_cr(raw))


def _has_separator(data: bytes) -> bool:
    # Other characters with the first two bytes, such as quotation marks, are frequent.
    return b"\xc2\x85" in data or (b"\xe2\x80" in data and _SEPARATORS.search(data) is not None)


def _has_lone_cr(raw: bytes) -> bool:
    """Whether a line ends with CR alone; the LF after a last CR may be the first byte of the next frame."""
    return raw.count(b"\r", 0, -1) > raw.count(b"\r\n")


def plain_frames(frames: Sequence[Frame]) -> int:
    """Return how many of these frames are plain, before the first that is not.

    The frames only differ in a text without line ends, which is shorter than all limits.
    """
    if len(frames) == 1:
        return int(is_plain(frames[0]))
    raw = b"".join([frame.raw for frame in frames])
    if raw.isascii() and (b"\r" not in raw or not _has_lone_cr(raw)):
        return len(frames)
    return next((number for number, frame in enumerate(frames) if not is_plain(frame)), len(frames))


RULES: list[Rule] = []
FRAMES = RuleSet[FrameFacts](RULES, passing=_WITH_PING)
ONCE = frozenset({Hazard.WITHOUT_DATA, Hazard.CR, Hazard.DATA_LINES})
"""The rules that are reported once for each stream, because its other frames are written in the same way."""


@FRAMES.rule(
    "STREAM-029",
    WARNING,
    "Clients ignore a line of the stream",
    section="1.0 §9.4.2, §11.7; 0.3 §3.3.1; HTML Living Standard §9.2.6",
    requirement="Each line of an event begins with data: in lower case; clients ignore other fields.",
    remedy="Begin each line of the event with data: in lower case.",
    failing=stream(_TASK, _DONE, sse='Data: {"jsonrpc": "2.0"}\n\n'),
)
def ignored_line(facts: FrameFacts) -> Iterable[Violation]:
    frame = facts.frame
    if frame.data is None and frame.event.lstrip()[:1] in _JSON_BEGINS:
        return [Violation("", f"the event name is JSON: {brief(frame.event)}")]
    if ignored := next((line for line in frame.ignored if _looks_intended(line)), ""):
        return [Violation("", brief(ignored))]
    return ()


def _looks_intended(line: str) -> bool:
    """Whether an ignored line looks like a field or JSON."""
    name, _, value = line.partition(":")
    return name.strip().lower() in _FIELDS or line.lstrip()[:1] in _JSON_BEGINS or value.lstrip()[:1] in _JSON_BEGINS


def _breaks(facts: FrameFacts, hazard: Hazard, seen: str) -> Iterable[Violation]:
    """Name the clients that the bytes of a hazard break; `seen` describes the bytes."""
    if hazard in facts.stream.reported:
        return ()
    failing = failures(hazard, facts.version, facts.stream.call.binding.name)
    return [Violation("", f"{seen}: {describe(failing)}")] if failing else ()


@FRAMES.rule(
    Hazard.BYTE_ORDER_MARK.value,
    HINT,
    "Some clients do not skip the byte order mark",
    section="HTML Living Standard §9.2.6",
    requirement="A leading byte order mark is ignored.",
    remedy="Remove the byte order mark.",
    versions=versions_of(Hazard.BYTE_ORDER_MARK),
    passing=_PLAIN,
    failing=stream(sse=f"\ufeff{_written(_TASK, _DONE)}"),
)
def byte_order_mark(facts: FrameFacts) -> Iterable[Violation]:
    if facts.frame.data is not None and facts.frame.raw.startswith(_BOM):
        return _breaks(facts, Hazard.BYTE_ORDER_MARK, "the stream starts with a byte order mark")
    return ()


@FRAMES.rule(
    Hazard.WITHOUT_DATA.value,
    HINT,
    "Some clients read a block without data as an event",
    section="HTML Living Standard §9.2.6",
    requirement="A block without data is not an event.",
    remedy="Send an id only with data, and no keep-alive after an id.",
    versions=versions_of(Hazard.WITHOUT_DATA),
    passing=stream(_OLD_STATUS),
    failing=stream(_OLD_STATUS, sse="id: 7\n\n"),
)
def block_without_data(facts: FrameFacts) -> Iterable[Violation]:
    frame, last = facts.frame, facts.stream.last_event_id
    if frame.data is not None:
        return ()
    if frame.event or frame.id or _RETRY.search(frame.raw):
        return _breaks(facts, Hazard.WITHOUT_DATA, "a block has fields, but no data")
    if last and frame.id is None:
        return _breaks(facts, Hazard.WITHOUT_DATA, "a block without data after an event with an id")
    return ()


@FRAMES.rule(
    Hazard.SEPARATOR.value,
    HINT,
    "Some clients end a line at U+2028, U+2029 and U+0085",
    section="HTML Living Standard §9.2.6; RFC 8259 §7",
    requirement="Lines of a stream end with CR, LF or CRLF only.",
    remedy=r"Write the character as an escape in JSON: \u2028.",
    versions=versions_of(Hazard.SEPARATOR),
    passing=stream(_TASK, sse=_written(chunk(artifact={"parts": [{"text": "héllo"}]}), _DONE)),
    failing=stream(_TASK, sse=_written(chunk(artifact={"parts": [{"text": "one\u2028two"}]}), _DONE)),
)
def line_separator(facts: FrameFacts) -> Iterable[Violation]:
    if found := _SEPARATORS.search(facts.frame.data or b""):
        return _breaks(facts, Hazard.SEPARATOR, f"the data contains U+{ord(found.group().decode()):04X}")
    return ()


@FRAMES.rule(
    Hazard.CR.value,
    HINT,
    "Some clients do not end a line at CR",
    section="HTML Living Standard §9.2.6",
    requirement="Lines of a stream end with CR, LF or CRLF.",
    remedy="End each line with LF or CRLF.",
    versions=versions_of(Hazard.CR),
    passing=stream(sse=_written(_TASK, _DONE, end="\r\n")),
    failing=stream(sse=_written(_TASK, _DONE, end="\r")),
)
def lone_cr(facts: FrameFacts) -> Iterable[Violation]:
    if _has_lone_cr(facts.frame.raw):
        return _breaks(facts, Hazard.CR, "a line ends with CR alone")
    return ()


@FRAMES.rule(
    Hazard.DATA_LINES.value,
    HINT,
    "Some clients do not join the data lines of an event",
    section="HTML Living Standard §9.2.6",
    requirement="The data lines of an event are joined with LF.",
    remedy="Write the JSON of an event in one line.",
    versions=versions_of(Hazard.DATA_LINES),
    passing=_PLAIN,
    failing=stream(sse=_written(_TASK, _DONE).replace(', "id"', ',\ndata: "id"')),
)
def several_data_lines(facts: FrameFacts) -> Iterable[Violation]:
    if facts.frame.data and len([line for line in facts.frame.data.split(b"\n") if line.strip()]) > 1:
        return _breaks(facts, Hazard.DATA_LINES, "the event has several data lines")
    return ()


@FRAMES.rule(
    Hazard.ERROR_EVENT.value,
    HINT,
    "Some clients read this event as an error",
    section="1.0 §9.4.2, §11.7; HTML Living Standard §9.2.6",
    requirement="The data of an event is a response or an event of A2A; its name has no meaning.",
    remedy="Leave out the event name, or send event: error with an error only.",
    versions=versions_of(Hazard.ERROR_EVENT),
    passing=stream(sse=_written(_TASK, _DONE, name="message")),
    failing=stream(_TASK, sse=_written(_DONE, name="error")),
)
def error_event(facts: FrameFacts) -> Iterable[Violation]:
    frame = facts.frame
    if frame.event == "error" and frame.data is not None:
        value = parse(frame.data)
        if isinstance(value, dict) and any(isinstance(value.get(name), dict) for name in _EVENT_MEMBERS):
            return _breaks(facts, Hazard.ERROR_EVENT, "the event name is error, but the data is not an error")
    return ()


@FRAMES.rule(
    Hazard.SIZE.value,
    HINT,
    "Some clients do not read a line of this length",
    section="HTML Living Standard §9.2.6",
    requirement="A line of a stream has no maximum length.",
    remedy="Send a large artifact in several chunks, or as a URL.",
    versions=versions_of(Hazard.SIZE),
    passing=stream(_TASK, chunk(artifact={"parts": [{"text": "x" * 1_000}]}), _DONE),
    failing=stream(_TASK, chunk(artifact={"parts": [{"text": "x" * _SHORTEST_LIMIT}]}), _DONE),
)
def long_line(facts: FrameFacts) -> Iterable[Violation]:
    raw = facts.frame.raw
    if len(raw) <= _SHORTEST_LIMIT:
        return ()
    longest = max(raw.splitlines(), key=len)
    sizes = {Unit.BYTES: len(longest), Unit.UTF16: len(longest.decode("utf-8", "replace").encode("utf-16-le")) // 2}
    known = failures(Hazard.SIZE, facts.version, facts.stream.call.binding.name)
    failing = [failure for failure in known if sizes[failure.unit] > failure.limit]
    return [Violation("", f"a line of {len(longest):,} bytes: {describe(failing)}")] if failing else ()
