"""Read the body of a push, in any protocol version; repeated status updates are read from a template.

A template is found by the fingerprint of the body: its bytes without valid timestamps, texts and message ids, which
differ between otherwise equal pushes. `_VARYING` defines what `Scope.BODY_SHAPE` leaves out. Declare a check with
`Scope.DELIVERY` if its result depends on the text of a part, on a message id, or on the value of a valid timestamp.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Self

from inspector.protocol.content import event_in
from inspector.protocol.dialects.registry import readers
from inspector.protocol.model import Event, Json, TaskStatusUpdateEvent, Unreadable
from inspector.session.payload import Description, describe

_DATE = rb"[1-9][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
_TIME = rb"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?"
_VARYING = re.compile(
    rb'("(?:timestamp"\s*:\s*"' + _DATE + b"T" + _TIME + rb'Z"'
    rb'|messageId"\s*:\s*"[0-9A-Za-z-]{1,64}"'
    # The text has to be non-blank for every reader; the lookahead avoids reading it twice.
    rb'|text"\s*:\s*"(?=[^"\\]*[!#-\[\]-~])[^"\\]*+(?:\\.[^"\\]*+)*"))',
    re.DOTALL,
)
_NAME_PREFIX = 3
"""How many bytes of a varying member stay in the fingerprint: a quote and two letters distinguish the three names."""
_LONGEST = 64 * 1024
_LONGEST_CONSTANT = 2 * 1024
"""Bodies longer than `_LONGEST` bytes, or with more constant bytes than this, have no fingerprint."""


class Fingerprint(NamedTuple):
    """The constant bytes of a body, and its varying members in order: valid timestamps, message ids and texts.

    `constant` is `b""` if the body is too long to be recognised.
    """

    constant: bytes
    varying: tuple[bytes, ...] = ()

    @classmethod
    def of(cls, body: bytes) -> Self:
        """Split a body into its constant bytes and its varying members."""
        if len(body) > _LONGEST:
            return cls(b"")
        pieces = _VARYING.split(body)
        varying = pieces[1::2]
        pieces[1::2] = [piece[:_NAME_PREFIX] for piece in varying]
        constant = b"".join(pieces)
        return cls(constant if len(constant) <= _LONGEST_CONSTANT else b"", tuple(varying))


class Reading(NamedTuple):
    """The event of a delivery, its JSON, and the protocol version of its format, `""` if it cannot be read.

    `description` is that of the event.
    """

    event: Event | Unreadable
    value: Json | Unreadable
    shape: str
    description: Description


def read(value: Json | Unreadable, registered: str = "") -> Reading:
    """Read a body in any protocol version, first in the `registered` version.

    Agents may push in another version than that of their responses.
    """
    if isinstance(value, Unreadable):
        return Reading(value, value, "", describe(value))
    first: Unreadable | None = None
    for dialect in readers(registered):
        event = dialect.decode_push(value)
        if not isinstance(event, Unreadable):
            return Reading(event, value, dialect.version, describe(event))
        first = first or event
    unread = first or Unreadable(value, "it is not an event of any known protocol version")
    return Reading(unread, value, "", describe(unread))


class Template(NamedTuple):
    """A status update; bodies with the same fingerprint differ from it only in members of the status.

    `path` has the names of the members that lead to the status in the JSON of a body.
    """

    update: TaskStatusUpdateEvent
    path: tuple[str, ...]
    reading: Reading

    @classmethod
    def of(cls, reading: Reading, fingerprint: Fingerprint) -> Template | None:
        """Return the template of a body, None if it has varying members outside of one status."""
        event, value = reading.event, reading.value
        if not isinstance(event, TaskStatusUpdateEvent) or isinstance(value, Unreadable):
            return None
        found = event_in(value, event)
        if not isinstance(found.value, dict) or not isinstance(found.value.get("status"), dict):
            return None  # an update without a status is read, too
        template = cls(event, (*found.pointer.split("/")[1:], "status"), reading)
        varying = _varying(event.status.to_json())
        same = varying is not None and varying == _varying(template._status(value))
        return template if same and len(varying or ()) == len(fingerprint.varying) else None

    def read(self, value: Json) -> Reading:
        """Return the same as the function `read`, for a body with the same fingerprint."""
        pushed, status, text = self._status(value), self.update.status, ""
        values: dict[str, Json] = {} if status.timestamp is None else {"timestamp": pushed["timestamp"]}
        if (message := status.message) is not None:
            text = pushed["message"]["parts"][0]["text"]
            parts = [message.parts[0].with_values({"text": text})]
            values["message"] = message.with_values({"message_id": pushed["message"]["messageId"], "parts": parts})
        event = self.update.with_values({"status": status.with_values(values)})
        return Reading(event, value, self.reading.shape, self.reading.description._replace(label=text))

    def _status(self, value: Json) -> Json:
        for name in self.path:
            value = value[name]
        return value


def _varying(status: Json) -> dict[str, str] | None:
    """Return the varying members of a status, as JSON, by name; None if it has more than one text."""
    varying = {"timestamp": status["timestamp"]} if status.get("timestamp") is not None else {}
    match status.get("message"):
        case None:
            return varying
        case {"messageId": str(message_id), "parts": [{"text": str(text)}]}:
            return {**varying, "messageId": message_id, "text": text}
        case _:
            return None
