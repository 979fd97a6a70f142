"""Print the text of a stream as it flows, for people at a terminal; state changes are on lines of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from inspector.cli.output import Output
from inspector.cli.styles import Role, Styled
from inspector.protocol.assemble import TextAppended
from inspector.protocol.lifecycle import short
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


def is_text(part: Part) -> bool:
    """Return whether a part has a text and no other content; an invalid part may have several contents."""
    others = (part.raw, part.url) != (None, None) or "data" in part.model_fields_set
    return part.text is not None and not others


class LiveStream:
    """Prints the events of a stream; `print_parts` prints parts that are not texts."""

    def __init__(self, out: Output, print_parts: Callable[[Sequence[Part]], None]) -> None:
        self._out = out
        self._print_parts = print_parts
        self._task_id = self._state = ""
        self._open = ""
        """The id of the artifact that the text printed last belongs to."""
        self._seen: set[str] = set()

    def show(self, events: Sequence[Event | TextAppended]) -> None:
        """Print events that arrived together."""
        for event in events:
            match event:
                case TextAppended():
                    self._continue(event.like.artifact)
                    self._out.flow("".join(event.texts))
                case TaskArtifactUpdateEvent():
                    self._chunk(event)
                case TaskStatusUpdateEvent():
                    self._status(event.status)
                case Task():
                    self._task(event)
                case Message():
                    self._message(event)
        self._out.flush()

    def end(self) -> None:
        """End the line of the text printed last."""
        self._open = ""
        self._out.end_flow()

    def _task(self, task: Task) -> None:
        self.end()
        if task.id != self._task_id:
            self._task_id = task.id
            self._out.line(Styled(f"task {task.id}", Role.SOFT))
        self._status(task.status)
        for artifact in task.artifacts or ():
            self._begin(artifact)
            self._parts(artifact.parts)
            self.end()

    def _message(self, message: Message) -> None:
        self.end()
        context = f", context {message.context_id}" if message.context_id else ""
        self._out.line(Styled(f"message {message.message_id}{context}", Role.SOFT))
        self._parts(message.parts)
        self.end()

    def _status(self, status: TaskStatus) -> None:
        self.end()
        if status.state != self._state:
            self._state = status.state
            self._out.line(Styled(short(status.state) or "no state", Role.SOFT))
        if status.message is not None:
            self._parts(status.message.parts)
            self.end()

    def _chunk(self, update: TaskArtifactUpdateEvent) -> None:
        artifact = update.artifact
        if update.append:
            self._continue(artifact)
        else:
            self._begin(artifact)
        self._parts(artifact.parts)
        if update.last_chunk:
            self.end()

    def _begin(self, artifact: Artifact) -> None:
        """Print the name of an artifact that starts, or starts again."""
        self._head(artifact, " (replaced)" if artifact.artifact_id in self._seen else "")

    def _continue(self, artifact: Artifact) -> None:
        """Print the name of an artifact that continues, unless the text printed last belongs to it."""
        if artifact.artifact_id != self._open:
            self._head(artifact, " (continued)" if artifact.artifact_id in self._seen else "")

    def _head(self, artifact: Artifact, note: str) -> None:
        self.end()
        self._open = artifact.artifact_id
        self._seen.add(artifact.artifact_id)
        name = artifact.name or artifact.artifact_id
        self._out.line(Styled(name, Role.HEADING), *((Styled(note, Role.SOFT),) if note else ()))

    def _parts(self, parts: Iterable[Part]) -> None:
        """Print parts: texts continue the line, others are on lines of their own."""
        for part in parts:
            if is_text(part):
                self._out.flow(part.text or "")
            else:
                self._out.end_flow()
                self._print_parts([part])
