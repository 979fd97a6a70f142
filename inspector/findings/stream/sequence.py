"""What is wrong with the order of what an exchange tells, beyond what its task allows (1.0 sections 3.1 and 3.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from inspector.findings.finding import Finding
from inspector.findings.rule import V1
from inspector.findings.rules import broken
from inspector.protocol.lifecycle import State, is_terminal, short
from inspector.protocol.model import (
    Event,
    Json,
    Message,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
)
from inspector.protocol.operations import STREAMING, Operation

_MOST_MESSAGES = 10_000
_FRESH = 3
"""After how many artifacts of one name, each begun anew, they are taken for the chunks of one."""


@dataclass(slots=True)
class Sequence:
    """The events of one exchange as far as later ones have to agree with them.

    `task_id` and `context_id` are those that the request named, `message_id` that of the message in it, `""` for none.
    """

    generation: str
    operation: Operation
    task_id: str = ""
    context_id: str = ""
    message_id: str = ""
    _begun: bool = field(default=False, init=False)
    _final: bool = field(default=False, init=False)
    _elsewhere: bool = field(default=False, init=False)
    _unnamed: bool = field(default=False, init=False)
    _failed: bool = field(default=False, init=False)
    _time: str = field(default="", init=False)
    _last: Json = field(default=None, init=False)
    _fresh: dict[str, set[str]] = field(default_factory=dict, init=False)
    _said: dict[str, str] = field(default_factory=dict, init=False)

    def check(self, event: Event, value: Mapping[str, Json]) -> tuple[Finding, ...]:
        """Take in the next event, with its JSON, and name what does not agree; the findings point into the JSON."""
        streamed = self.operation in STREAMING
        found = [*self._context(event), *self._messages(event)]
        if streamed:
            if self._failed:
                found.append(broken("STREAM-024", "the stream went on after an error"))
                self._failed = False
            found += self._beginning(event)
            found += self._ending(event, value)
        match event:
            case TaskStatusUpdateEvent():
                found += self._status(event, value)
            case TaskArtifactUpdateEvent():
                found += self._artifact(event)
        self._begun, self._last = True, value
        return tuple(found)

    def lose(self) -> None:
        """Take in that an event could not be read: it may have been the one that is missed."""
        self._begun = True

    def fail(self) -> None:
        """Take in that an error was told, behind which nothing is due; it may have come in the place of the task."""
        self._begun = self._failed = True

    def _context(self, event: Event) -> Iterator[Finding]:
        said = event.context_id
        other = bool(self.context_id and said and said != self.context_id and self.generation != "0.1")
        if other and not self._elsewhere:
            self._elsewhere = True
            yield broken("STREAM-017", f"{said!r:.80}, asked for in {self.context_id!r}", "/contextId")
        if isinstance(event, Task) and not self._begun:
            # What goes on with a task or in a context need not be told in which.
            self._unnamed = not (said or self.task_id or self.context_id) and self.generation in V1
        elif self._unnamed and said:
            self._unnamed = False
            yield broken("STREAM-023", f"{said!r:.80}, which the task did not name", "/contextId")

    def _messages(self, event: Event) -> Iterator[Finding]:
        """Judge that each message has an id of its own; the same message may be told again."""
        for place, message in _messages_in(event):
            own = message.message_id
            if not own:
                continue
            if own == self.message_id and message.role == "ROLE_AGENT":
                yield broken("STREAM-028", f"{own!r:.80}", f"{place}/messageId")
                continue
            said = repr([part.to_json() for part in message.parts])
            if self._said.setdefault(own, said) != said:
                yield broken("STREAM-027", f"{own!r:.80}", f"{place}/messageId")
            if len(self._said) > _MOST_MESSAGES:
                del self._said[next(iter(self._said))]

    def _beginning(self, event: Event) -> Iterator[Finding]:
        if self._begun or self.generation not in V1 or isinstance(event, Task | Message):
            return
        known = bool(self.task_id) or self.operation is Operation.SUBSCRIBE
        what = "a status update" if isinstance(event, TaskStatusUpdateEvent) else "an artifact update"
        yield broken("STREAM-013" if known else "STREAM-011", f"it begins with {what}")

    def _ending(self, event: Event, value: Mapping[str, Json]) -> Iterator[Finding]:
        """Judge `final`, by which streams before 1.0 say that nothing follows."""
        if self.generation in V1:
            return
        if self._final and isinstance(event, TaskStatusUpdateEvent | TaskArtifactUpdateEvent):
            yield broken("STREAM-014", "an update after final")
        if not isinstance(event, TaskStatusUpdateEvent):
            return
        said, state = value.get("final"), event.status.state
        if said is True and state in (State.SUBMITTED, State.WORKING):
            yield broken("STREAM-016", f"final, and the task is {short(state)}", "/final")
            return  # not taken at its word: what follows is no second slip
        if is_terminal(state) and said is not True and (said is not None or "kind" not in value):
            yield broken("STREAM-015", f"{short(state)}, and not final", "/final")
        # What comes after the end of the task is judged as that.
        self._final = self._final or (said is True and not is_terminal(state))

    def _status(self, event: TaskStatusUpdateEvent, value: Mapping[str, Json]) -> Iterator[Finding]:
        if self._last is not None and value == self._last:
            # Without a time it may be a sign of life.
            rule = "STREAM-019" if event.status.timestamp else "STREAM-026"
            yield broken(rule, f"{short(event.status.state)} again")
        time = event.status.timestamp or ""
        if time and self._time and _is_before(time, self._time):
            yield broken("STREAM-018", f"{time[:40]} after {self._time[:40]}", "/status/timestamp")
        self._time = time or self._time

    def _artifact(self, event: TaskArtifactUpdateEvent) -> Iterator[Finding]:
        artifact = event.artifact
        known = self._fresh.setdefault(artifact.name or "", set())
        if event.append or event.last_chunk or not artifact.artifact_id:
            known.clear()
            return
        known.add(artifact.artifact_id)
        if len(known) == _FRESH and artifact.name:
            seen = f"{_FRESH} artifacts called {artifact.name[:80]!r}, none of them ended"
            yield broken("STREAM-020", seen, "/artifact/artifactId")


def _messages_in(event: Event) -> Iterator[tuple[str, Message]]:
    """Give the messages that an event holds, each with its place."""
    match event:
        case Message():
            yield "", event
        case Task() | TaskStatusUpdateEvent():
            history = event.history if isinstance(event, Task) else None
            yield from ((f"/history/{number}", message) for number, message in enumerate(history or ()))
            if event.status.message is not None:
                yield "/status/message", event.status.message
        case TaskArtifactUpdateEvent():
            return


def _is_before(one: str, other: str) -> bool:
    try:
        earlier, later = (datetime.fromisoformat(text.replace("Z", "+00:00")) for text in (one, other))
        return earlier < later
    except (ValueError, TypeError):  # no time, or one with a zone beside one without
        return False
