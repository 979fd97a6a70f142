"""Turns the frames of a stream into events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from inspector.protocol.assemble import TextAppended
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.model import Json, Part, TaskArtifactUpdateEvent
from inspector.protocol.sse import Frame

_LONGEST = 64 * 1024
"""Payloads beyond this are always read in full, with all their limits."""


SaidT = TypeVar("SaidT")


class FrameEvent(NamedTuple, Generic[SaidT]):
    """What frames say: one event and its JSON, or several updates that append text, or nothing (a keep-alive).

    There are several `frames` only where `said` is a `TextAppended`, which has no `value`.
    """

    frames: Sequence[Frame]
    said: SaidT | TextAppended | None
    value: Json = None


class FrameReader(Generic[SaidT]):
    """Reads the frames of one stream; `decode` reads the data of a frame, as JSON and as an event.

    An agent that streams a text sends the same bytes again and again with another text in them. After two such frames
    the bytes around the text are known, and only the text is read.
    """

    def __init__(self, decode: Callable[[bytes], tuple[Json, SaidT]]) -> None:
        self._decode = decode
        self._like: TaskArtifactUpdateEvent | None = None
        self._text = ""
        self._before, self._behind = b"", b""
        self._event = ""

    def read(self, frames: Sequence[Frame], repeats: Callable[[], bool]) -> Iterator[FrameEvent[SaidT]]:
        """Yield what the next frames say.

        Frames are combined to `TextAppended` only where `repeats` says that what is known of the event before them
        holds for another one that differs in its text alone.
        """
        position = 0
        while position < len(frames):
            texts = list[str]()
            if self._like is not None:
                for frame in frames[position:]:
                    text = self._text_in(frame)
                    if not text or not (texts or repeats()):
                        break
                    texts.append(text)
            if self._like is not None and texts:
                first, position = position, position + len(texts)
                yield FrameEvent(frames[first:position], TextAppended(self._like, tuple(texts)))
            else:
                yield self._read_one(frames[position])
                position += 1

    def _read_one(self, frame: Frame) -> FrameEvent[SaidT]:
        if frame.data is None:
            return FrameEvent((frame,), None)
        value, said = self._decode(frame.data)
        text = _appended_text(said)
        repeated = bool(text) and text != self._text and text == self._text_in(frame)
        self._text = text
        self._like = said if repeated and isinstance(said, TaskArtifactUpdateEvent) else None
        if not repeated:
            self._before, self._behind = _around(text, frame.data)
            self._event = frame.event
        return FrameEvent((frame,), said, value)

    def _text_in(self, frame: Frame) -> str:
        """Return the text of a frame that is known but for its text, `""` for any other."""
        data, before, behind = frame.data, self._before, self._behind
        if (
            not before
            or data is None
            or len(data) > _LONGEST
            or not data.startswith(before)
            or not data.endswith(behind)
            or frame.event != self._event
            or frame.comments
            or frame.ignored
        ):
            return ""
        text = parse(data[len(before) : -len(behind)])
        return text if isinstance(text, str) else ""


def _appended_text(said: object) -> str:
    """Return the text of an update that appends one text to an artifact and nothing else, `""` for anything else."""
    if not isinstance(said, TaskArtifactUpdateEvent) or not said.append:
        return ""
    match said.artifact.parts:
        case [Part(text=str(text), metadata=None) as part] if not part.model_extra:
            return text
        case _:
            return ""


def _around(text: str, data: bytes) -> tuple[bytes, bytes]:
    """Return the bytes before and behind the first place where a text is written, empty where there is none."""
    for written in (json.dumps(text).encode(), dump(text)):
        before, found, behind = data.partition(written)
        if text and found:
            return before, behind
    return b"", b""
