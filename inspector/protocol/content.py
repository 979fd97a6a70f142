"""What a payload contains: the bytes, the object in them, and their JSON, which is parsed when it is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from inspector.protocol.bindings.base import Answer
from inspector.protocol.extensions import may_have_uses
from inspector.protocol.model import Event, Json, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent

if TYPE_CHECKING:
    from inspector.protocol.extensions.known import Use

EVENT_TYPES = (TaskArtifactUpdateEvent, TaskStatusUpdateEvent, Task, Message)
"""The classes of events, the most frequent first."""

_WRAPPERS: Mapping[type[Event], str] = {
    Task: "task",
    Message: "message",
    TaskStatusUpdateEvent: "statusUpdate",
    TaskArtifactUpdateEvent: "artifactUpdate",
}


class _NotParsed:
    """The type of `_NOT_PARSED`, the value before it is used (null is a JSON value)."""


_NOT_PARSED: Final = _NotParsed()


class Place(NamedTuple):
    """The JSON pointer to an object in a payload, and its JSON."""

    pointer: str
    value: Json


class Content:
    """The bytes of a payload (`raw`), the object in them (`answer`), and their JSON (`value`).

    Nothing needs the JSON of most events of a stream, so it is parsed when it is used first, by `parse`. `no_uses` is
    true if it is known that the payload has no data of known extensions.
    """

    __slots__ = ("_parse", "_uses", "_value", "answer", "raw")

    def __init__(
        self,
        raw: bytes,
        answer: Answer,
        parse: Callable[[bytes], Json],
        value: Json | _NotParsed = _NOT_PARSED,
        *,
        no_uses: bool = False,
    ) -> None:
        self.raw = raw
        self.answer = answer
        self._parse = parse
        self._value = value
        self._uses: Sequence[Use] | None = () if no_uses else None

    @property
    def value(self) -> Json:
        """Return the JSON value, `Unreadable` if the bytes are not JSON."""
        if self._value is _NOT_PARSED:
            self._value = self._parse(self.raw)
        return self._value

    @property
    def uses(self) -> Sequence[Use]:
        """Return the data of known extensions in the payload."""
        if self._uses is None:
            self._uses = _uses_in(self.value) if may_have_uses(self.raw) else ()
        return self._uses

    @property
    def place(self) -> Place:
        """Return the place of the event or the result in the payload."""
        if isinstance(self.answer, EVENT_TYPES):
            return event_in(self.value, self.answer)
        return Place(result_pointer(self.value), None)


def _uses_in(value: Json) -> Sequence[Use]:
    from inspector.protocol.extensions.known import uses_in  # noqa: PLC0415 - few agents use extensions

    return uses_in(value)


def event_in(value: Json, event: Event) -> Place:
    """Return the place of an event in a payload, such as `/result/statusUpdate`; the pointer is `""` for all of it."""
    pointer, inner = ("/result", value["result"]) if result_pointer(value) else ("", value)
    wrapper = _WRAPPERS[type(event)]
    if isinstance(inner, dict) and wrapper in inner:
        return Place(f"{pointer}/{wrapper}", inner[wrapper])
    return Place(pointer, inner)


def result_pointer(value: Json) -> str:
    """Return the JSON pointer of the result in a payload: `/result` in a JSON-RPC envelope, else `""`."""
    return "/result" if isinstance(value, dict) and "result" in value else ""
