"""A recorded exchange, as it is matched with requests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import NamedTuple

from inspector.lazy_dataclass import dataclass
from inspector.protocol.operations import PUSH, Operation

from .call_content import SENDING, CallContent

_CHANGING = SENDING | {Operation.CANCEL, Operation.SET_PUSH, Operation.DELETE_PUSH}
"""The operations that change a task or its push configurations."""


class RecordedPush(NamedTuple):
    """A webhook delivery of the recording: its record, and the seconds after the request of its exchange."""

    number: int
    after: float


@dataclass
class Exchange:
    """A recorded request and where its response is.

    - `number`, `at`: the record of the request, and its time.
    - `task`, `context`: the ids in the response.
    - `chosen`: the names of the ids in the request that the client has chosen (`task`, `context`, `config`).
    - `phase`: how many exchanges before this exchange changed the `subject`.
    - `pushes`: the deliveries between this exchange and the next exchange that changes the task.
    - `served`: how many times it was served.
    """

    number: int
    at: float
    call: CallContent
    task: str = ""
    context: str = ""
    chosen: frozenset[str] = frozenset()
    phase: int = 0
    pushes: list[RecordedPush] = field(default_factory=list)
    served: int = 0

    @cached_property
    def key(self) -> str:
        """Return the text that is equal for requests with the same content."""
        return content_key(self.call)

    @property
    def opens_task(self) -> bool:
        """Return whether the request sends the first message of a task, or a message that gets no task."""
        return self.call.sends_message and (not self.call.task or "task" in self.chosen)

    @property
    def subject(self) -> tuple[str, bool]:
        """Return what the request is about: the id of a task, and whether it is about its push configurations."""
        return self.task or self.call.task, self.call.operation in PUSH

    @property
    def changes_subject(self) -> bool:
        """Return whether later requests can get other responses because of this request."""
        return self.call.operation in _CHANGING

    @property
    def title(self) -> str:
        """Return the number of the record with the operation."""
        return f"#{self.number} {self.call.title}"


def content_key(call: CallContent) -> str:
    """Return a text that is equal for two calls with the same operation, interface and content."""
    version, content = call.version.name, json.dumps(call.content, sort_keys=True)
    return "\n".join((call.binding, version, call.endpoint, call.operation, content))


Assignments = Mapping[str, tuple[str, str]]
"""For each name of an id, the recorded id and the id that the client uses in its place."""
