"""Print tasks, messages and events as fields and blocks (a2a-cli 0.2 section 11.2)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Self, TypeVar

from inspector.cli import styles
from inspector.cli.event_lines import event_lines
from inspector.cli.live_stream import LiveStream, is_text
from inspector.cli.output import Output
from inspector.cli.running_command import RunningCommand
from inspector.protocol.assemble import TextAppended
from inspector.protocol.dialects.legacy import without_older_members
from inspector.protocol.dialects.v1_0 import encode_event
from inspector.protocol.model import (
    Artifact,
    Event,
    Json,
    Message,
    Part,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from inspector.text.safe_json import dump

PrintableT = TypeVar("PrintableT", bound=Event | TextAppended)

_ROLES = {"ROLE_USER": "user", "ROLE_AGENT": "agent"}


class Presenter:
    """Prints tasks, messages and events; `history` adds the history of tasks, `verbose` adds all members.

    `older` returns whether the agent uses a version before 1.0, whose own members are not printed as JSON.
    """

    def __init__(self, out: Output, *, verbose: bool, history: bool = False, older: Callable[[], bool] = bool) -> None:
        self._out = out
        self._verbose = verbose
        self._history = history or verbose
        self._older = older
        self._live = LiveStream(out, self._parts) if out.is_terminal and not self._history else None

    @classmethod
    def of(cls, run: RunningCommand) -> Self:
        """Return the presenter of a command."""
        history = getattr(run.invocation.given, "history", None) is not None

        def older() -> bool:
            return run.session.choice.dialect.traits.outdated

        return cls(run.out, verbose=run.invocation.verbose, history=history, older=older)

    def show(self, task: Task) -> None:
        """Print a task, with `-o json` in the types of 1.0."""
        if self._out.json:
            self._out.document(self._in_1_0(task).to_json())
        else:
            self.event(task)

    def show_event(self, event: Event) -> None:
        """Print an event, with `-o json` in the envelope of a stream."""
        if self._out.json:
            self._out.document(encode_event(self._in_1_0(event)))
        else:
            self.event(event)

    def _in_1_0(self, event: PrintableT) -> PrintableT:
        """Return an event, or chunks of a text, without members of older versions."""
        if not self._older():
            return event
        if isinstance(event, TextAppended):
            return event._replace(like=without_older_members(event.like))
        return without_older_members(event)

    def show_stream(self, events: Sequence[Event | TextAppended]) -> None:
        """Print events of a stream: as text that flows on a terminal, with `-o json` as lines written at once."""
        if self._out.json:
            self._out.write(event_lines([self._in_1_0(event) for event in events] if self._older() else events))
            self._out.flush()
            return
        if self._live is not None:
            self._live.show(events)
            return
        for event in events:
            for update in event.updates() if isinstance(event, TextAppended) else (event,):
                self.event(update)

    def event(self, event: Event) -> None:
        """Print an event of a stream or a response as fields."""
        match event:
            case Task():
                self._task(event)
            case Message():
                self.message(event)
            case TaskStatusUpdateEvent():
                self._status(event.status)
                self._other_members(event.metadata, event.model_extra)
            case TaskArtifactUpdateEvent():
                flags = ("appended" if event.append else "", "last chunk" if event.last_chunk else "")
                self._artifact(event.artifact, ", ".join(filter(None, flags)))
                self._other_members(event.metadata, event.model_extra)
        self._out.flush()

    def _task(self, task: Task) -> None:
        self.summary(task.id, task.context_id or "", task.status.state)
        self._status(task.status, state_printed=True)
        for artifact in task.artifacts or ():
            self._artifact(artifact)
        for message in (task.history or ()) if self._history else ():
            self.message(message, in_history=True)
        self._other_members(task.metadata, task.model_extra)

    def summary(self, task_id: str, context_id: str, state: str) -> None:
        """Print the id, the context and the state of a task (a2a-cli 0.2 section 8.2), after the text of a stream."""
        if self._live is not None:
            self._live.end()
        self._out.field("Task", task_id)
        self._out.field("Context", context_id)
        self._out.field("State", styles.state(state))

    def message(self, message: Message, *, in_history: bool = False) -> None:
        """Print a message; `in_history` leaves out the ids of the task and the context."""
        role = _ROLES.get(message.role, message.role)
        self._out.field("Message", f"{message.message_id} ({role})" if role else message.message_id)
        if message.context_id and not in_history:
            self._out.field("Context", message.context_id)
        if message.task_id and not in_history:
            self._out.field("Task", message.task_id)
        self._parts(message.parts)
        self._other_members(message.metadata, message.model_extra)

    def _status(self, status: TaskStatus, *, state_printed: bool = False) -> None:
        if not state_printed:
            self._out.field("State", styles.state(status.state))
        if self._verbose and status.timestamp:
            self._out.field("Status time", status.timestamp)
        if status.message is not None:
            texts = [part.text for part in status.message.parts if part.text is not None]
            if texts and not self._verbose:
                self._out.field_or_block("Status message", " ".join(texts))
            elif self._verbose:
                self._out.field("Status message", status.message.message_id)
            self._parts([part for part in status.message.parts if self._verbose or part.text is None])

    def _artifact(self, artifact: Artifact, chunk: str = "") -> None:
        name = artifact.name or artifact.artifact_id
        self._out.field("Artifact", f"{name} ({chunk})" if chunk else name)
        if self._verbose:
            self._out.field("Artifact id", artifact.artifact_id)
        if artifact.description and (self._verbose or not chunk):
            self._out.field_or_block("Artifact description", artifact.description)
        self._parts(artifact.parts)
        self._other_members(artifact.metadata, artifact.model_extra)

    def _parts(self, parts: Iterable[Part]) -> None:
        """Print parts; without `verbose` adjacent texts are joined, because agents split texts anywhere."""
        for joins, group in groupby(enumerate(parts, 1), lambda numbered: self._joins(numbered[1])):
            if joins:
                self._out.block("Text", "".join(part.text or "" for _, part in group))
                continue
            for number, part in group:
                if self._verbose:
                    self._out.field("Part", " ".join(filter(None, (str(number), part.media_type, part.filename))))
                self._part(part)

    def _joins(self, part: Part) -> bool:
        return is_text(part) and not self._verbose

    def _part(self, part: Part) -> None:
        """Print the content of a part; an invalid part may have several contents, or none."""
        if part.text is not None:
            self._out.block("Text", part.text)
        if part.raw is not None:
            self._out.field("File", ", ".join((*_name_and_type(part), _size(part.raw))))
        if part.url is not None:
            self._out.field("File", ", ".join((*_name_and_type(part), part.url)))
        if "data" in part.model_fields_set:
            self._out.block("Data", dump(part.data, 2))
        if not part.content:
            self._out.block("Unknown part", dump(part.to_json(), 2))
        elif self._verbose:
            self._other_members(part.metadata, part.model_extra)

    def _other_members(self, metadata: Json, unknown: Json) -> None:
        if self._verbose and metadata:
            self._out.block("Metadata", dump(metadata, 2))
        if self._verbose and unknown:
            self._out.block("Unknown members", dump(unknown, 2))


def _name_and_type(part: Part) -> tuple[str, str]:
    return part.filename or "no file name", part.media_type or "no media type"


def _size(content: str) -> str:
    try:
        return f"{len(base64.b64decode(content, validate=True)):,} bytes"
    except (binascii.Error, ValueError):
        return f"{len(content):,} characters of invalid Base64"
