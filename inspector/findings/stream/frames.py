"""Rules about SSE frames: lines that readers ignore, and frames that the official Python client reads differently."""

from __future__ import annotations

import json
from collections.abc import Iterator

from inspector.findings.examples import status, stream, task
from inspector.findings.rule_set import HINT, WARNING, Rule, RuleSet, Violation
from inspector.findings.stream.facts import FrameFacts
from inspector.protocol.jsonvalue import brief

_BOM = b"\xef\xbb\xbf"
_LIMIT = 1_000_000
"""Longer frames are not read a second time."""
_FIELDS = frozenset({"data", "event", "id", "retry"})
_JSON_BEGINS = ("{", "[")
_TASK, _DONE = task(), status("COMPLETED")
_WITH_PING = stream(_TASK, _DONE, sse=": ping\n\n")
_WRITTEN = "".join(
    f"data: {json.dumps({'jsonrpc': '2.0', 'id': 'the-id', 'result': event})}\n\n" for event in (_TASK, _DONE)
)

RULES: list[Rule] = []
FRAMES = RuleSet[FrameFacts](RULES, passing=_WITH_PING)


@FRAMES.rule(
    "STREAM-029",
    WARNING,
    "A line of the stream is lost to every client",
    section="1.0 §9.4.2, §11.7; 0.3 §3.3.1; HTML Living Standard §9.2.6",
    requirement="An event stands in lines that begin with data: in just these letters; other fields are ignored.",
    remedy="Write each line of the event as data: and what belongs to it.",
    failing=stream(_TASK, _DONE, sse='Data: {"jsonrpc": "2.0"}\n\n'),
)
def ignored_line(facts: FrameFacts) -> Iterator[Violation]:
    frame = facts.frame
    if frame.data is None and frame.event.lstrip()[:1] in _JSON_BEGINS:
        yield Violation("", f"the name of an event: {brief(frame.event)}")
    elif lost := next((line for line in frame.ignored if _is_meant(line)), ""):
        yield Violation("", brief(lost))


def _is_meant(line: str) -> bool:
    """Whether an ignored line was meant to be a field, or JSON."""
    name, _, value = line.partition(":")
    return name.strip().lower() in _FIELDS or line.lstrip()[:1] in _JSON_BEGINS or value.lstrip()[:1] in _JSON_BEGINS


@FRAMES.rule(
    "STREAM-021",
    HINT,
    "The official Python client reads this part of the stream otherwise",
    section="HTML Living Standard §9.2.6",
    requirement="A leading byte order mark is ignored.",
    remedy="Send no byte order mark: httpx-sse loses the first event behind it.",
    passing=stream(sse=_WRITTEN),
    failing=stream(sse=f"\ufeff{_WRITTEN}"),
)
def byte_order_mark(facts: FrameFacts) -> Iterator[Violation]:
    frame = facts.frame
    if frame.data is None or not frame.raw.startswith(_BOM) or len(frame.raw) > _LIMIT:
        return
    read = facts.stream.read_as_client(frame.raw)
    if read != [(frame.event or "message", frame.data.decode("utf-8", "replace"))]:
        yield Violation("", f"httpx-sse reads {'other data' if read else 'nothing'}")


@FRAMES.rule(
    "STREAM-025",
    HINT,
    "The official Python client may take this for an event",
    section="HTML Living Standard §9.2.6",
    requirement="A block without data is no event.",
    remedy="Send an id only with data, and no keep-alive after one: httpx-sse hands both on as events, and a client "
    "that parses their empty data breaks off (a2a-sdk 0.2 does).",
    failing=stream(_TASK, _DONE, sse="id: 7\n\n"),
)
def event_without_data(facts: FrameFacts) -> Iterator[Violation]:
    frame = facts.frame
    if facts.stream.client_reported or frame.data is not None or len(frame.raw) > _LIMIT:
        return
    fields = bool(frame.event or frame.id or b"retry" in frame.raw)
    if (fields or facts.stream.last_event_id) and facts.stream.read_as_client(
        f"id: {facts.stream.last_event_id}\n".encode() + frame.raw
    ):
        why = "" if fields else ", as of every block after an id"
        yield Violation("", f"httpx-sse makes an event without data of this{why}")
