"""Write the events of a stream as JSON Lines, all events that arrived together at once.

The lines are those of `dump(encode_event(event))`, which needs four times as long: it creates a Python value for every
member, and searches every line for characters to escape.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from msgspec.json import Encoder

from inspector.protocol.assemble import TextAppended
from inspector.protocol.dialects.v1_0 import dump_event, encode_event
from inspector.protocol.model import Event, TaskArtifactUpdateEvent
from inspector.text.safe_json import dump, escape

Printable: TypeAlias = Event | TextAppended
"""What a line, or a line for each text, is written for."""

_encode_text = Encoder().encode
_SMALL_NUMBER = re.compile(rb"e-\d[,\]}]")
_OTHER_NUMBERS = (b"0.0000", b"Infinity", b"NaN")


def event_lines(events: Sequence[Printable]) -> str:
    """Return a line of JSON for every event, in the types of A2A 1.0."""
    written = [_dump(event) for event in events]
    lines = b"".join(written)
    if _may_differ(lines):
        pairs = zip(events, written, strict=True)
        lines = b"".join(_dump_slowly(event) if _may_differ(line) else line for event, line in pairs)
    return escape(lines.decode())


def _may_differ(line: bytes) -> bool:
    """Return whether a line may contain a number that the fast encoder spells differently: 0.00001, 1e-7, Infinity."""
    return any(number in line for number in _OTHER_NUMBERS) or _SMALL_NUMBER.search(line) is not None


def _dump(event: Printable) -> bytes:
    try:
        return _dump_texts(event) if isinstance(event, TextAppended) else dump_event(event) + b"\n"
    except ValueError:  # text that UTF-8 cannot encode, or more levels than the fast encoder writes
        return _dump_slowly(event)


def _dump_texts(appended: TextAppended) -> bytes:
    """Return the lines of updates that are alike: encode one of them, and the text of each."""
    empty, marked = (dump_event(next(TextAppended(appended.like, (text,)).updates())) for text in ("", "*"))
    end = next(at for at, (one, other) in enumerate(zip(empty, marked, strict=False)) if one != other)
    before, behind = empty[: end - 1], empty[end + 1 :] + b"\n"  # without the quotation marks around the text
    return before + (behind + before).join(map(_encode_text, appended.texts)) + behind


def _dump_slowly(event: Printable) -> bytes:
    updates: Sequence[Event] | list[TaskArtifactUpdateEvent]
    updates = list(event.updates()) if isinstance(event, TextAppended) else [event]
    return "".join(f"{dump(encode_event(update))}\n" for update in updates).encode()
