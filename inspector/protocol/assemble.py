"""Assemble a task from its events, and report events that do not fit (1.0 sections 3.1.2, 4.1 and 4.2)."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import field
from enum import StrEnum
from typing import NamedTuple, Self

from inspector.lazy_dataclass import dataclass
from inspector.protocol.lifecycle import is_terminal, may_follow
from inspector.protocol.model import (
    Artifact,
    Event,
    Message,
    Part,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from inspector.protocol.text_buffer import TextBuffer

MESSAGES = 1000
"""How many messages of the agent are kept for each task; older messages are dropped."""


class Misfit(StrEnum):
    """How an event contradicts earlier events of its task."""

    ILLEGAL_MOVE = "illegal-move"
    AFTER_TERMINAL = "after-terminal"
    APPEND_BEFORE_CREATE = "append-before-create"
    CHUNK_AFTER_LAST = "chunk-after-last"
    OTHER_CONTEXT = "other-context"


class TextAppended(NamedTuple):
    """Consecutive artifact updates that are equal to `like`, except for the text of the only part.

    `like` is the update before them; it appends one text to an artifact.
    """

    like: TaskArtifactUpdateEvent
    texts: tuple[str, ...]

    @property
    def task_id(self) -> str:
        """Return the id of the task."""
        return self.like.task_id

    @property
    def context_id(self) -> str | None:
        """Return the id of the context."""
        return self.like.context_id

    def updates(self) -> Iterator[TaskArtifactUpdateEvent]:
        """Yield each update in full."""
        [part] = self.like.artifact.parts
        for text in self.texts:
            parts = [part.model_copy(update={"text": text})]
            yield self.like.model_copy(update={"artifact": self.like.artifact.model_copy(update={"parts": parts})})


@dataclass(slots=True)
class TextRun:
    """Consecutive text parts of one media type and file name: their position in the artifact's text, in characters."""

    start: int
    end: int
    media_type: str | None
    filename: str | None


@dataclass(slots=True)
class AssembledArtifact:
    """An artifact as assembled so far.

    `parts` has the parts in order, with consecutive text parts as one `TextRun`. `text` is the whole text, and `cuts`
    the position of each chunk in it. `revision` changes when the artifact is replaced: views then show `text` from its
    beginning. `size` is the number of characters and bytes of the content. `closed` is true after the last chunk.
    """

    artifact_id: str
    name: str = ""
    description: str = ""
    parts: list[Part | TextRun] = field(default_factory=list)
    text: TextBuffer = field(default_factory=TextBuffer)
    cuts: array[int] = field(default_factory=lambda: array("q"))
    revision: int = 0
    chunks: int = 0
    size: int = 0
    closed: bool = False

    @property
    def other_parts(self) -> list[Part]:
        """Return the parts that are not text: files and data."""
        return [part for part in self.parts if isinstance(part, Part) and part.text is None]

    def replace(self, artifact: Artifact) -> None:
        """Replace the content by that of a whole artifact."""
        self.parts, self.text, self.cuts, self.size, self.chunks = [], TextBuffer(), array("q"), 0, 0
        self.revision += 1
        self.closed = False
        self.extend(artifact)

    def take_over(self, artifact: Artifact) -> None:
        """Replace the content by that of a whole artifact, unless the chunks so far have the same content."""
        whole = AssembledArtifact(self.artifact_id, self.name, self.description)
        whole.extend(artifact)
        if self.chunks and whole.parts == self.parts and str(whole.text) == str(self.text):
            self.name, self.description, self.closed = whole.name, whole.description, False
        else:
            self.replace(artifact)

    def extend(self, artifact: Artifact) -> None:
        """Append the parts of a chunk, including repeated parts, because a repetition may be intended."""
        self.name = artifact.name or self.name
        self.description = artifact.description or self.description
        self.chunks += 1
        self.cuts.append(self.text.length)
        for part in artifact.parts:
            text = part.text
            if text is not None:
                self.size += len(text)
                self._add_text(part, text)
            else:
                self.size += len(part.raw or "") * 3 // 4
                self.parts.append(part)

    def append_texts(self, like: Artifact, texts: Sequence[str]) -> None:
        """Append chunks that are equal to `like` except for the text of its only part."""
        start = len(self.text)
        for text in texts:
            self.cuts.append(len(self.text))
            self.text.append(text)
        self.size += len(self.text) - start
        self.chunks += len(texts)
        self._end_text(like.parts[0], start)

    def _add_text(self, part: Part, text: str) -> None:
        start = self.text.length
        self.text.append(text)
        if part.metadata is not None or part.model_extra:
            self.parts.append(part)  # a `TextRun` has no metadata
        else:
            self._end_text(part, start)

    def _end_text(self, part: Part, start: int) -> None:
        """Extend the preceding `TextRun` by the text that begins at `start`, or add a new `TextRun` for it."""
        last = self.parts[-1] if self.parts else None
        if isinstance(last, TextRun) and last.media_type == part.media_type and last.filename == part.filename:
            last.end = self.text.length
        else:
            self.parts.append(TextRun(start, self.text.length, part.media_type, part.filename))


@dataclass(slots=True)
class Order:
    """What is known from the earlier events of a task, to check whether the next event fits.

    `closed` has the id of every artifact so far, and whether its last chunk was received. `ended` is true after a
    terminal state. `blind` is true if an artifact may have started whose id is unknown: after an unreadable event, or
    after an artifact without an id.
    """

    context_id: str = ""
    state: str = ""
    closed: dict[str, bool] = field(default_factory=dict)
    ended: bool = False
    blind: bool = False

    @classmethod
    def of(cls, task: AssembledTask) -> Self:
        """Return the `Order` after the events of an assembled task."""
        return cls(
            task.context_id,
            task.state,
            {artifact.artifact_id: artifact.closed for artifact in task.artifacts.values()},
            ended=any(is_terminal(move.state) for move in task.moves),
            blind="" in task.artifacts,
        )

    def add(self, event: Event) -> tuple[Misfit, ...]:
        """Add the next event, and return how it contradicts the earlier events."""
        misfits = self._context(event.context_id)
        match event:
            case TaskArtifactUpdateEvent():
                return misfits + self._artifact(event)
            case TaskStatusUpdateEvent():
                return misfits + self._move(event.status.state)
            case Task():
                return misfits + self._snapshot(event)
            case Message():
                return misfits

    def _context(self, context: str | None) -> tuple[Misfit, ...]:
        self.context_id = self.context_id or context or ""
        return (Misfit.OTHER_CONTEXT,) if context and context != self.context_id else ()

    def _move(self, after: str) -> tuple[Misfit, ...]:
        before, self.state = self.state, after
        self.ended = self.ended or is_terminal(after)
        if is_terminal(before):
            return (Misfit.AFTER_TERMINAL,)
        return () if after == before or may_follow(before, after) else (Misfit.ILLEGAL_MOVE,)

    def _snapshot(self, task: Task) -> tuple[Misfit, ...]:
        """Add a whole task; a repeated terminal state fits, because GetTask returns it."""
        self.closed |= {artifact.artifact_id: False for artifact in task.artifacts or ()}
        return () if task.status.state == self.state else self._move(task.status.state)

    def _artifact(self, event: TaskArtifactUpdateEvent) -> tuple[Misfit, ...]:
        artifact_id, append = event.artifact.artifact_id, bool(event.append)
        closed = self.closed.get(artifact_id)
        self.closed[artifact_id] = bool(event.last_chunk) or (append and bool(closed))
        self.blind = self.blind or not artifact_id
        if is_terminal(self.state):
            return (Misfit.AFTER_TERMINAL,)
        if append and closed is None and not self.blind:
            return (Misfit.APPEND_BEFORE_CREATE,)
        return (Misfit.CHUNK_AFTER_LAST,) if append and closed else ()


@dataclass(frozen=True, slots=True)
class Move:
    """A state of the task, and when it was received (seconds since 1970)."""

    state: str
    at: float


@dataclass(slots=True)
class AssembledTask:
    """A task as assembled from its events; only `apply` and `conclude` change it.

    `moves` lists each change of state once. `artifacts` are in order of appearance, by id. `messages` has the agent's
    latest messages about the task. `history` is that of the last whole task. `context_id` is the first context id.
    """

    id: str
    status: TaskStatus = field(default_factory=TaskStatus)
    moves: list[Move] = field(default_factory=list)
    artifacts: dict[str, AssembledArtifact] = field(default_factory=dict)
    messages: deque[Message] = field(default_factory=lambda: deque(maxlen=MESSAGES))
    history: list[Message] = field(default_factory=list)
    context_id: str = ""
    updated: float = 0.0
    events: int = 0

    @property
    def state(self) -> str:
        """Return the current state under its 1.0 name, `""` before the first event with a state."""
        return self.status.state

    def seconds(self, now: float) -> float:
        """Return how long the task has lasted since its first state: until its final state, or until `now`."""
        until = self.moves[-1].at if is_terminal(self.state) else now  # GetTask updates a task that has ended, too
        return max(0.0, until - self.moves[0].at) if self.moves else 0.0

    def apply(self, event: Event | TextAppended, at: float) -> None:
        """Add an event of this task that was received at `at`."""
        self.updated = at
        if isinstance(event, TextAppended):
            artifact = event.like.artifact
            self.events += len(event.texts)
            self._artifact_of(artifact).append_texts(artifact, event.texts)
            return
        self.events += 1
        if not self.context_id:
            self.context_id = event.context_id or ""
        match event:
            case TaskArtifactUpdateEvent():
                self._artifact(event)
            case TaskStatusUpdateEvent():
                self._move(event.status, at)
            case Task():
                self._snapshot(event, at)
            case Message():
                self.messages.append(event)

    def conclude(self, status: TaskStatus, at: float) -> None:
        """Set a terminal state that another stream or response reported; the rest of that event is ignored."""
        if is_terminal(status.state) and not is_terminal(self.state):
            self.updated = at
            self._move(status, at)

    def _move(self, status: TaskStatus, at: float) -> None:
        if status.state != self.state:
            self.moves.append(Move(status.state, at))
        self.status = status
        if status.message is not None:
            self.messages.append(status.message)

    def _snapshot(self, task: Task, at: float) -> None:
        message = task.status.message
        if task.status.state != self.state:
            self._move(task.status, at)
        elif message is not None and message != self.status.message and message not in self.messages:
            self.messages.append(message)  # the progress of a task that is polled
        self.status = task.status
        if task.history is not None:
            self.history = list(task.history)
        for artifact in task.artifacts or ():
            self._artifact_of(artifact).take_over(artifact)

    def _artifact(self, event: TaskArtifactUpdateEvent) -> None:
        artifact = self._artifact_of(event.artifact)
        if event.append:
            artifact.extend(event.artifact)
        else:
            artifact.replace(event.artifact)
        if event.last_chunk:
            artifact.closed = True

    def _artifact_of(self, artifact: Artifact) -> AssembledArtifact:
        known = self.artifacts.get(artifact.artifact_id)
        if known is None:
            known = self.artifacts[artifact.artifact_id] = AssembledArtifact(artifact.artifact_id)
        return known
