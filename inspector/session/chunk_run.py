"""A run of chunks: what an agent streams token by token, known again by its bytes, so that a chunk of it costs little.

This is the one place that says which events need not be read in full. An event goes on a run when it is the one before
it with another text: the bytes around the text are the same, those before it were chunks that earned the same findings
and changed nothing but the text of their artifact, and no secret was learned since. What is true of the whole run need
not be asked again: how an event is read, whose it is, how it fits what came before. A rule that looks at the text of a
chunk, or further back than one event, has to leave out here the chunks that it wants to see.
"""

from __future__ import annotations

import json

from inspector.capture.records import Record
from inspector.capture.redaction import Redactor
from inspector.findings.finding import Finding
from inspector.protocol.bindings.base import Answer
from inspector.protocol.jsonvalue import dump, parse
from inspector.protocol.model import Artifact, Part, TaskArtifactUpdateEvent
from inspector.protocol.sse import Frame

_LONGEST = 64 * 1024
"""Payloads beyond this are read in full, with all their limits."""


class ChunkRun:
    """Tells which frames of one stream go on a run; `chunk` is a record of the run, `artifact_id` its artifact.

    Two chunks that were read in full begin a run: they show where the text stands, whatever else the bytes hold.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._known = 0
        self.chunk: Record | None = None
        self.artifact_id = ""
        self._text = ""
        self._before, self._behind = b"", b""
        self._event = ""
        self._findings: tuple[Finding, ...] = ()

    def text_of(self, frame: Frame) -> str:
        """Return the text of a frame that goes on the run, `""` for one that has to be read in full."""
        return self._text_in(frame) if self.chunk is not None and self._known == self._redactor.known else ""

    def learn(self, frame: Frame, answer: Answer, record: Record, *, sound: bool) -> None:
        """Take in a frame that was read in full, and what it turned out to be.

        `sound` says that it is about the task of the stream, and that no other stream tells of that.
        """
        self.chunk, before = None, self._text
        found_again, self._findings = record.findings == self._findings, record.findings
        artifact = _lengthened(answer) if sound else None
        self._text = text = artifact.parts[0].text or "" if artifact else ""
        if artifact and found_again and text != before and text == self._text_in(frame):
            self.chunk, self.artifact_id, self._known = record, artifact.artifact_id, self._redactor.known
        else:
            self._before, self._behind = _around(text, frame.data or b"")
            self._event = frame.event

    def _text_in(self, frame: Frame) -> str:
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


def _lengthened(answer: Answer) -> Artifact | None:
    """Return what a chunk carries that adds one text to an artifact, and nothing else."""
    if not isinstance(answer, TaskArtifactUpdateEvent) or not answer.append:
        return None
    match answer.artifact.parts:
        case [Part(text=str(text), metadata=None) as part] if text and not part.model_extra:
            return answer.artifact
        case _:
            return None


def _around(text: str, data: bytes) -> tuple[bytes, bytes]:
    """Return what stands before and behind the first place where a text is spelled, nothing where none is."""
    for spelled in (json.dumps(text).encode(), dump(text)):
        before, found, behind = data.partition(spelled)
        if text and found:
            return before, behind
    return b"", b""
