"""Turns the frames of a stream into events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from inspector.protocol.assemble import TextAppended
from inspector.protocol.content import Content
from inspector.protocol.jsonvalue import dump, parse_strictly
from inspector.protocol.model import Artifact, TaskArtifactUpdateEvent
from inspector.protocol.sse import Frame

_LONGEST = 32 * 1024
"""Payloads with more bytes than this are always read in full; the rules about sizes have larger limits."""

AnswerT = TypeVar("AnswerT")


class FrameEvent(NamedTuple, Generic[AnswerT]):
    """An event with its content, several updates that append text (`TextAppended`), or a frame without data.

    `answer` is None without data. Only a `TextAppended` has several `frames`. `content` is None if `decode` returns
    none.
    """

    frames: Sequence[Frame]
    answer: AnswerT | TextAppended | None
    content: Content | None = None


class FrameReader(Generic[AnswerT]):
    """Reads the frames of one stream; `decode` reads the data of a frame, as an event and its content.

    An agent that streams a text repeats the same bytes around each chunk. After two such frames, only the text is read.
    """

    def __init__(self, decode: Callable[[bytes], tuple[AnswerT, Content | None]]) -> None:
        self._decode = decode
        self._template: TaskArtifactUpdateEvent | None = None
        self._text = self._artifact = ""
        self._prefix, self._suffix = b"", b""
        self._event = ""

    def read(
        self, frames: Sequence[Frame], repeatable: Callable[[Sequence[Frame]], int]
    ) -> Iterator[FrameEvent[AnswerT]]:
        """Yield the events in the next frames.

        `repeatable` returns how many of the next frames have the findings of the previous event if they differ from it
        only in their texts. Only these are combined to `TextAppended`.
        """
        position = 0
        while position < len(frames):
            if self._template is not None and (texts := self._texts_in(frames[position:], repeatable)):
                first, position = position, position + len(texts)
                yield FrameEvent(frames[first:position], TextAppended(self._template, texts))
            else:
                yield self._read_one(frames[position])
                position += 1

    def _read_one(self, frame: Frame) -> FrameEvent[AnswerT]:
        if frame.data is None:
            return FrameEvent((frame,), None)
        answer, content = self._decode(frame.data)
        self._template = None
        if isinstance(answer, TaskArtifactUpdateEvent):
            self._learn(frame, frame.data, answer)
        else:
            self._prefix, self._text, self._artifact = b"", "", ""
        return FrameEvent((frame,), answer, content)

    def _learn(self, frame: Frame, data: bytes, update: TaskArtifactUpdateEvent) -> None:
        """Compare an update with the update before it: if only the text differs, the next one may be similar, too."""
        artifact = update.artifact.artifact_id
        if self._artifact and artifact != self._artifact:
            # If the chunks of two artifacts alternate, consecutive chunks differ in more than their texts.
            self._prefix, self._text, self._artifact = b"", "", artifact
            return
        text = _only_text(update.artifact) if update.append else ""
        if text and text != self._text and text == self._text_in(frame):
            self._template = update
        else:
            self._prefix, self._suffix = _split_at(text, data) if text else (b"", b"")
            self._event = frame.event
        self._text, self._artifact = text, artifact

    def _texts_in(self, frames: Sequence[Frame], repeatable: Callable[[Sequence[Frame]], int]) -> tuple[str, ...]:
        """Return the texts of the next frames, as far as they differ from the previous frame only in their text."""
        texts: list[str] = []
        for frame in frames:
            text = self._text_in(frame)
            if not text or not (texts or repeatable((frame,))):
                break
            texts.append(text)
        return tuple(texts[: repeatable(frames[: len(texts)])]) if len(texts) > 1 else tuple(texts)

    def _text_in(self, frame: Frame) -> str:
        """Return the text of a frame that differs from the previous frame only in this text, else `""`."""
        data, before, behind = frame.data, self._prefix, self._suffix
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
        text = parse_strictly(data[len(before) : -len(behind)])
        return text if isinstance(text, str) else ""


def _only_text(artifact: Artifact) -> str:
    """Return the text of an artifact if its only part is a text without metadata or other members, else `""`."""
    if len(artifact.parts) != 1:
        return ""
    [part] = artifact.parts
    plain = part.text is not None and part.metadata is None and not part.model_extra
    return part.text or "" if plain else ""


def _split_at(text: str, data: bytes) -> tuple[bytes, bytes]:
    """Return the bytes before and after the first occurrence of a text, empty if there is none."""
    for written in (json.dumps(text).encode(), dump(text)):
        before, found, behind = data.partition(written)
        if text and found:
            return before, behind
    return b"", b""
