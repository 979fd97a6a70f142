"""Runs of pushes: what an agent reports of a task in the same bytes but for time, words and message id costs little.

This is the one place that says which deliveries need not be read in full. A delivery goes on a run when its head is
known to be good, its body has the skeleton of one that was read in full, was sound and in order, and no secret was
learned since. What is true of the whole run need not be asked again: how the body is read, whose it is, what the checks
say. A check that looks at the words of a message, or further back than one delivery, has to leave out here the
deliveries that it wants to see. Where the task stands by now is for the caller to ask.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from inspector.capture.records import Record
from inspector.capture.redaction import Redactor
from inspector.protocol.model import Event, Message, Part, TaskStatus, TaskStatusUpdateEvent, Unreadable
from inspector.session.push.fingerprint import Skeleton
from inspector.session.push.webhook_registration import Hook
from inspector.wire.receiver.delivery import Delivery

_MOST = 128


class Going(NamedTuple):
    """A delivery that goes on a run: an earlier one's record, the status that it tells, and the words in it."""

    like: Record
    status: TaskStatus
    words: str

    def meta(self, delivery: Delivery, latency: float | None) -> dict[str, Any]:
        """Return the meta of its record, which is that of the earlier one but for what each delivery has of its own."""
        size, checks = len(delivery.body), self.like.meta["checks"]
        if size != self.like.size:
            checks = [["size", True, f"{size:,} bytes"] if check[0] == "size" else check for check in checks]
        own = {"peer": delivery.peer, "seconds": round(delivery.seconds, 6), "latency": latency, "checks": checks}
        return {**self.like.meta, **own}


class _Run(NamedTuple):
    """What the deliveries of a run have in common; `headers` is one and the same object in all of them.

    `secrets` is how many were known then, `status` what is told, as JSON has it.
    """

    headers: tuple[tuple[str, str], ...]
    secrets: int
    generation: str
    record: Record
    status: dict[str, Any]


class PushRuns:
    """Knows the last deliveries of statuses again by their skeletons, within one registration."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._known: dict[tuple[int, bytes], _Run] = {}

    def next(self, delivery: Delivery, skeleton: Skeleton, hook: Hook | None) -> Going | None:
        """Return what a delivery that came for the first time goes on, None for one that has to be read in full."""
        if hook is None or not _plain(delivery):
            return None
        run = self._known.get((hook.registration.number, skeleton.bones))
        if (
            run is None
            or run.headers is not delivery.headers
            or run.secrets != self._redactor.known
            or run.generation != hook.generation
            or run.record.task != hook.task_id
            or (told := skeleton.members()) is None
        ):
            return None
        return Going(run.record, _said(run.status, told), told.get("text", ""))

    def learn(
        self, delivery: Delivery, skeleton: Skeleton, hook: Hook | None, event: Event | Unreadable, record: Record
    ) -> None:
        """Take in a delivery that was read in full, came for the first time, and was sound and in order."""
        if hook is None or not skeleton.bones or not _plain(delivery) or not isinstance(event, TaskStatusUpdateEvent):
            return
        if skeleton.members() != _varying(event.status):
            return  # what differs stands somewhere else
        if len(self._known) >= _MOST:
            del self._known[next(iter(self._known))]
        status = event.status.model_dump(by_alias=True, exclude_unset=True)
        run = _Run(delivery.headers, self._redactor.known, hook.generation, record, status)
        self._known[hook.registration.number, skeleton.bones] = run


def _plain(delivery: Delivery) -> bool:
    """Tell whether a delivery was accepted as every other."""
    return delivery.taken and not delivery.dialled and not delivery.challenge


def _varying(status: TaskStatus) -> dict[str, str] | None:
    """Return what a status says that may differ, by the names of the members, None where it says more than one text."""
    varying = {"timestamp": status.timestamp} if status.timestamp is not None else {}
    match status.message:
        case None:
            return varying
        case Message(message_id=str(message_id), parts=[Part(text=str(text))]):
            return {**varying, "messageId": message_id, "text": text}
        case _:
            return None


def _said(status: dict[str, Any], told: dict[str, str]) -> TaskStatus:
    """Return a status with another time, and another message id and text in its message."""
    own: dict[str, Any] = {"timestamp": told["timestamp"]} if "timestamp" in told else {}
    message = status.get("message")
    if message is not None:
        [part] = message["parts"]
        own["message"] = {**message, "messageId": told["messageId"], "parts": [{**part, "text": told["text"]}]}
    return TaskStatus.model_validate({**status, **own}, by_alias=True, by_name=False)
