"""Judge webhook deliveries, and record them with their checks and findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from inspector.capture.records import Kind, Record
from inspector.protocol.model import Event, Task, TaskStatusUpdateEvent, Unreadable
from inspector.session.extension_use import find_use
from inspector.session.journal import Journal
from inspector.session.push.attempts import Attempt, Attempts
from inspector.session.push.judge import Judgement, PushJudge
from inspector.session.push.webhook_registration import WebhookRegistration
from inspector.session.tasks import TaskFold, task_of
from inspector.text.units import timestamp_seconds
from inspector.wire.receiver.checks import Check
from inspector.wire.receiver.delivery import Delivery

_Row: TypeAlias = tuple[str, bool | None, str]
_MOST_LATENCY = 86400.0
"""A longer or negative latency (in seconds) shows that the clocks differ, and is not recorded."""

_LEAST_LAG = 0.0005
"""The shortest time in seconds that is recorded between the arrival of a delivery and its record."""


class DeliveryRecorder:
    """Records deliveries, and applies those that were accepted to their tasks."""

    def __init__(self, journal: Journal, tasks: TaskFold) -> None:
        self._journal = journal
        self._tasks = tasks
        self._attempts = Attempts()
        self._judge = PushJudge(tasks)
        self._last_head: tuple[tuple[object, ...], tuple[str, tuple[tuple[str, str], ...]]] = (), ("", ())
        self._last_checks: tuple[tuple[object, ...], Sequence[_Row]] = (), ()
        """Cached results of masking, because most deliveries have the same head and checks as the previous delivery."""

    def record(self, delivery: Delivery, registration: WebhookRegistration | None) -> Record:
        """Judge a delivery and record it."""
        attempt = self._attempts.identify(delivery)
        judgement = self._judge.judge(delivery, registration, attempt)
        record = self._append(delivery, registration, attempt, judgement)
        if not (delivery.refused or delivery.challenge):
            self._tasks.take((record,), judgement.reading.event)
        _count(registration, delivery)
        self._attempts.remember(delivery, attempt, record.seq)
        return record

    def _append(
        self,
        delivery: Delivery,
        registration: WebhookRegistration | None,
        attempt: Attempt,
        judgement: Judgement,
    ) -> Record:
        event, task, context, state, label = judgement.reading.description
        if delivery.challenge:
            event, label = "challenge", "validation of the webhook"
        redactor = self._journal.redactor
        refused = redactor.text(delivery.refused)
        target, headers = self._masked_head(delivery)
        lag = self._journal.capture.last_at - delivery.at
        use = find_use(self._journal, delivery.body, judgement.reading.value, delivery.at, judgement.reading.shape)
        [record] = self._journal.append(
            Kind.DELIVERY,
            delivery.at,
            event=event,
            task=task or (registration.task_id if registration else ""),
            context=context,
            state=state,
            label=refused or use.added_to(label),
            payloads=[(len(delivery.body), redactor.body(delivery.body))],
            meta={
                "method": delivery.method,
                "target": target,
                "headers": headers,
                "peer": delivery.peer,
                "status": delivery.status,
                "refused": refused,
                "dialled": delivery.override,
                "delay": delivery.delay,
                "taken": delivery.accepted,
                "challenge": delivery.challenge,
                "seconds": round(delivery.seconds, 6),
                "registration": delivery.registration.number if delivery.registration else 0,
                "asked": delivery.registration.auth.words if delivery.registration else "",
                "attempt": attempt.number,
                "first": attempt.first,
                "gap": round(attempt.gap, 6),
                "latency": self._latency_of(judgement.reading.event, delivery),
                **({"again": attempt.again} if attempt.again else {}),
                **({"lag": round(lag, 6)} if lag > _LEAST_LAG else {}),
                **use.meta,
                "checks": self._check_rows(delivery.checks + judgement.checks),
            },
            findings=judgement.findings + use.findings,
        )
        return record

    def _masked_head(self, delivery: Delivery) -> tuple[str, tuple[tuple[str, str], ...]]:
        """Return the target and the headers of a request, masked."""
        redactor = self._journal.redactor
        key = redactor.known, delivery.target, delivery.headers
        if key != self._last_head[0]:
            self._last_head = key, (redactor.url(delivery.target), redactor.headers(delivery.headers))
        return self._last_head[1]

    def _check_rows(self, checks: tuple[Check, ...]) -> Sequence[_Row]:
        """Return the name, the success and the masked result of each check."""
        text, key = self._journal.redactor.text, (self._journal.redactor.known, checks)
        if key != self._last_checks[0]:
            self._last_checks = key, [(name, good, text(result)) for name, good, result in checks]
        return self._last_checks[1]

    def _latency_of(self, event: Event | Unreadable, delivery: Delivery) -> float | None:
        """Return how many seconds after the change of state a delivery came, None if that is unknown.

        Without a timestamp from the agent, the change has the time at which its event was streamed, if it was.
        """
        if not isinstance(event, Task | TaskStatusUpdateEvent) or not event.status.state:
            return None
        latency = _seconds_between(timestamp_seconds(event.status.timestamp), delivery.at)
        tracked = self._tasks.get(task_of(event))
        if (
            latency is not None
            or tracked is None
            or not delivery.accepted
            or event.status.state == tracked.pushed.state
        ):
            return latency
        moves = reversed(tracked.answered.moves)
        streamed = next((move.at for move in moves if move.state == event.status.state), None)
        return _seconds_between(streamed, delivery.at)


def _seconds_between(earlier: float | None, later: float) -> float | None:
    """Return the difference of two times, None if it shows that the clocks differ."""
    return round(later - earlier, 6) if earlier is not None and 0 <= later - earlier < _MOST_LATENCY else None


def _count(registration: WebhookRegistration | None, delivery: Delivery) -> None:
    if registration is None or delivery.challenge:
        return
    registration.refused += bool(delivery.refused)
    registration.accepted += delivery.accepted
    registration.failing += not (delivery.refused or delivery.accepted)
