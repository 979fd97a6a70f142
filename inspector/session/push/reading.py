"""Read the body of a push in the protocol version that shaped it; a repeated status update is read from a template."""

from __future__ import annotations

from typing import Any, NamedTuple

from inspector.protocol.dialects.registry import readers
from inspector.protocol.model import Event, Json, Message, Part, TaskStatus, TaskStatusUpdateEvent, Unreadable
from inspector.session.payload import describe
from inspector.session.push.fingerprint import Fingerprint


class Reading(NamedTuple):
    """The event of a delivery, its JSON, and the protocol version that shaped it, `""` for none.

    `words` are what `describe` returns of the event.
    """

    event: Event | Unreadable
    value: Json | Unreadable
    shape: str
    words: tuple[str, str, str, str, str]


def read(value: Json | Unreadable, registered: str = "") -> Reading:
    """Read a body in any protocol version: agents may push in another version than they answer in."""
    if isinstance(value, Unreadable):
        return Reading(value, value, "", describe(value))
    first: Unreadable | None = None
    for dialect in readers(registered):
        event = dialect.decode_push(value)
        if not isinstance(event, Unreadable):
            return Reading(event, value, dialect.generation, describe(event))
        first = first or event
    unread = first or Unreadable(value, "no dialect reads it")
    return Reading(unread, value, "", describe(unread))


class Template(NamedTuple):
    """A status update as JSON; bodies with the same fingerprint differ from it in the varying members only."""

    update: dict[str, Any]
    reading: Reading

    @classmethod
    def of(cls, reading: Reading, fingerprint: Fingerprint) -> Template | None:
        """Return the template of a body, None if its varying members are not just those of one status."""
        event = reading.event
        if not isinstance(event, TaskStatusUpdateEvent) or fingerprint.members() != _varying(event.status):
            return None
        return cls(event.model_dump(by_alias=True, exclude_unset=True), reading)

    def read(self, value: Json | Unreadable, fingerprint: Fingerprint) -> Reading | None:
        """Return what `read` would return of a body with this fingerprint, None if it has to be read in full."""
        members = fingerprint.members()
        if members is None:
            return None
        status = dict(self.update["status"])
        if "timestamp" in members:
            status["timestamp"] = members["timestamp"]
        if (message := status.get("message")) is not None:
            [part] = message["parts"]
            parts = [{**part, "text": members["text"]}]
            status["message"] = {**message, "messageId": members["messageId"], "parts": parts}
        event = TaskStatusUpdateEvent.model_validate({**self.update, "status": status}, by_alias=True, by_name=False)
        return Reading(event, value, self.reading.shape, describe(event))


def _varying(status: TaskStatus) -> dict[str, str] | None:
    """Return the varying members of a status by name, None if it has more than one text."""
    varying = {"timestamp": status.timestamp} if status.timestamp is not None else {}
    match status.message:
        case None:
            return varying
        case Message(message_id=str(message_id), parts=[Part(text=str(text))]):
            return {**varying, "messageId": message_id, "text": text}
        case _:
            return None
