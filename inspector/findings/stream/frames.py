"""Rules about SSE frames: lines that clients ignore, and frames that the official Python client reads differently."""

from __future__ import annotations

import json
from collections.abc import Iterable

from inspector.findings.examples import status, stream, task
from inspector.findings.rule_set import HINT, WARNING, Rule, RuleSet, Violation
from inspector.findings.stream.facts import FrameFacts
from inspector.protocol.jsonvalue import brief
from inspector.protocol.sse import Frame

_BOM = b"\xef\xbb\xbf"
_LIMIT = 1_000_000
"""The maximum size in bytes of frames that are read a second time, in the way of the official Python client."""
_FIELDS = frozenset({"data", "event", "id", "retry"})
_JSON_BEGINS = ("{", "[")
_TASK, _DONE = task(), status("COMPLETED")
_WITH_PING = stream(_TASK, _DONE, sse=": ping\n\n")
_WRITTEN = "".join(
    f"data: {json.dumps({'jsonrpc': '2.0', 'id': 'the-id', 'result': event})}\n\n" for event in (_TASK, _DONE)
)


def is_plain(frame: Frame) -> bool:
    """Whether a frame has data, no unknown line and no byte order mark, so that the rules of this module accept it."""
    return frame.data is not None and not frame.ignored and not frame.raw.startswith(_BOM)


RULES: list[Rule] = []
FRAMES = RuleSet[FrameFacts](RULES, passing=_WITH_PING)


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


@FRAMES.rule(
    "STREAM-021",
    HINT,
    "The official Python client reads these bytes differently",
    section="HTML Living Standard §9.2.6",
    requirement="A leading byte order mark is ignored.",
    remedy="Remove the byte order mark: httpx-sse loses the first event after it.",
    passing=stream(sse=_WRITTEN),
    failing=stream(sse=f"\ufeff{_WRITTEN}"),
)
def byte_order_mark(facts: FrameFacts) -> Iterable[Violation]:
    frame = facts.frame
    if frame.data is None or not frame.raw.startswith(_BOM) or len(frame.raw) > _LIMIT:
        return ()
    read = facts.stream.read_as_client(frame.raw)
    if read != [(frame.event or "message", frame.data.decode("utf-8", "replace"))]:
        return [Violation("", f"httpx-sse reads {'different data' if read else 'no event'}")]
    return ()


@FRAMES.rule(
    "STREAM-025",
    HINT,
    "The official Python client may read this as an event",
    section="HTML Living Standard §9.2.6",
    requirement="A block without data is not an event.",
    remedy="Send an id only with data, and no keep-alive after an id. httpx-sse reports both as events, and a client "
    "that parses their empty data fails (such as a2a-sdk 0.2).",
    failing=stream(_TASK, _DONE, sse="id: 7\n\n"),
)
def event_without_data(facts: FrameFacts) -> Iterable[Violation]:
    frame = facts.frame
    if facts.stream.client_reported or frame.data is not None or len(frame.raw) > _LIMIT:
        return ()
    fields = bool(frame.event or frame.id or b"retry" in frame.raw)
    if (fields or facts.stream.last_event_id) and facts.stream.read_as_client(
        f"id: {facts.stream.last_event_id}\n".encode() + frame.raw
    ):
        why = "" if fields else ", like every block after an id"
        return [Violation("", f"httpx-sse reads this as an event without data{why}")]
    return ()
