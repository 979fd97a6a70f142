"""The push service of a session: make registrations, run the receiver, and record deliveries with their checks."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeAlias

from inspector.capture.records import Kind, Record
from inspector.protocol.model import Event, Task, TaskStatusUpdateEvent, Unreadable
from inspector.session.journal import Journal
from inspector.session.push.attempts import Attempt, Attempts
from inspector.session.push.judge import Judgement, PushJudge
from inspector.session.push.matching import RecordMatcher
from inspector.session.push.relay import Relay
from inspector.session.push.webhook_registration import WebhookRegistration, WebhookRegistrations
from inspector.session.tasks import TaskFold, task_of
from inspector.text.units import timestamp_seconds
from inspector.wire.receiver.checks import Check
from inspector.wire.receiver.delivery import Delivery
from inspector.wire.receiver.registration import WebhookAuth
from inspector.wire.receiver.response_override import ResponseOverrides

if TYPE_CHECKING:
    from inspector.wire.receiver.server import Receiver

_Row: TypeAlias = tuple[str, bool | None, str]
_AUTH = WebhookAuth()
_MOST_LATENCY = 86400.0
"""A longer or negative latency (in seconds) shows that the clocks differ, and is not recorded."""


class PushService:
    """Makes registrations, and records deliveries with the results of their checks.

    `on` is whether messages register a webhook, `auth` the authentication of these registrations, `overrides` the
    responses that the user set; `relay` forwards deliveries to other URLs.
    """

    def __init__(
        self,
        journal: Journal,
        tasks: TaskFold,
        *,
        host: str,
        port: int,
        public_url: str | None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._journal = journal
        self._tasks = tasks
        self._attempts = Attempts()
        self._judge = PushJudge(tasks)
        self._last_head: tuple[tuple[object, ...], tuple[str, tuple[tuple[str, str], ...]]] = (), ("", ())
        self._last_checks: tuple[tuple[object, ...], Sequence[_Row]] = (), ()
        """Cached results of masking, because most deliveries have the same head and checks as the previous delivery."""
        self._receiver_options: dict[str, Any] = {"host": host, "port": port, "public_url": public_url, "tls": tls}
        self.overrides = ResponseOverrides()
        self.relay = Relay(journal)
        self.on = False
        self.auth = _AUTH
        self.registrations = WebhookRegistrations()
        self._planned: tuple[tuple[str, str, str, WebhookAuth], WebhookRegistration] | None = None

    @cached_property
    def receiver(self) -> Receiver:
        """Return the receiver, which is made on first use because aiohttp is slow to load."""
        from inspector.wire.receiver.server import Receiver  # noqa: PLC0415 - aiohttp, which many sessions never need

        return Receiver(self.take, overrides=self.overrides, **self._receiver_options)

    @property
    def reachable_from(self) -> str:
        """Describe from where the receiver can be reached."""
        host = self._receiver_options["host"]
        return "this machine only" if ip_address(host).is_loopback else f"{host}, reachable from other machines"

    @property
    def listening(self) -> bool:
        """Return whether the receiver is running."""
        return "receiver" in self.__dict__ and self.receiver.running

    def yield_to_input(self) -> None:
        """Pause the processing of deliveries for a moment, because a key was pressed."""
        if self.listening:
            self.receiver.yield_to_input()

    @cached_property
    def matcher(self) -> RecordMatcher:
        """Return the matcher of pushes and streamed events; the first use replays the journal to it."""
        matcher = RecordMatcher(self._is_streamed)
        self._journal.subscribe(matcher.offer, replay=True)
        return matcher

    def _is_streamed(self, task_id: str) -> bool:
        tracked = self._tasks.get(task_id)
        return tracked is not None and tracked.stream != 0

    async def turn_on(self) -> None:
        """Start the receiver, and register a webhook with every message from now on.

        Raises `FaultError` if the receiver cannot listen.
        """
        await self.listen()
        self.on = True

    async def listen(self) -> None:
        """Start the receiver, unless it runs; raises `FaultError` if it cannot listen."""
        # In a thread, so that keys are handled meanwhile.
        await asyncio.to_thread(import_module, "inspector.wire.receiver.server")
        await self.receiver.start()

    def turn_off(self) -> None:
        """Send messages without a webhook from now on; the receiver continues for earlier registrations."""
        self.on = False

    async def close(self) -> None:
        """Stop the receiver and forwarding."""
        if self.listening:
            await self.receiver.stop()
        await self.relay.close()

    def register(
        self, task_id: str = "", *, version: str = "", auth: WebhookAuth | None = None, token: str = ""
    ) -> WebhookRegistration:
        """Make a registration with its own path, and with a random token unless `token` is set."""
        webhook = self._make(task_id, version, self.auth if auth is None else auth, token)
        self.registrations.append(webhook)
        return webhook

    def _make(self, task_id: str, version: str, auth: WebhookAuth, token: str = "") -> WebhookRegistration:
        registration = self.receiver.register(auth, token)
        for secret in (registration.token, registration.credentials):
            self._journal.redactor.add(secret)
        return WebhookRegistration(registration, task_id, version)

    def plan(self, message_id: str, task_id: str, version: str = "") -> WebhookRegistration | None:
        """Make the registration that a message will contain; None if its task already has a registration.

        The same registration is returned until a parameter changes, so that it can be shown before the message is sent.
        `confirm` adds it to the registrations.
        """
        if any(webhook.live for webhook in self.registrations.of_task(task_id)):
            return None  # a second registration would bring every update twice
        key = (message_id, task_id, version, self.auth)
        if self._planned is None or self._planned[0] != key or self._planned[1] in self.registrations:
            if self._planned is not None and self._planned[1] not in self.registrations:
                self.receiver.forget(self._planned[1].registration)
            self._planned = key, self._make(task_id, version, self.auth)
        return self._planned[1]

    def confirm(self, webhook: WebhookRegistration) -> None:
        """Add a planned registration to the registrations, because its message is being sent."""
        if webhook not in self.registrations:
            self.registrations.append(webhook)

    def take(self, delivery: Delivery) -> None:
        """Judge a delivery and record it."""
        registration = self.registrations.of(delivery.registration)
        attempt = self._attempts.identify(delivery)
        judgement = self._judge.judge(delivery, registration, attempt)
        record = self._append(delivery, registration, attempt, judgement)
        if not (delivery.refused or delivery.challenge):
            self._tasks.take((record,), judgement.reading.event)
        _count(registration, delivery)
        self._attempts.remember(delivery, attempt, record.seq)
        self.relay.offer(record.seq, delivery)
        self._journal.notify()

    def _append(
        self,
        delivery: Delivery,
        registration: WebhookRegistration | None,
        attempt: Attempt,
        judgement: Judgement,
    ) -> Record:
        event, task, context, state, label = judgement.reading.words
        if delivery.challenge:
            event, label = "challenge", "validation of the webhook"
        redactor = self._journal.redactor
        refused = redactor.text(delivery.refused)
        target, headers = self._masked_head(delivery)
        [record] = self._journal.append(
            Kind.DELIVERY,
            delivery.at,
            event=event,
            task=task or (registration.task_id if registration else ""),
            context=context,
            state=state,
            label=refused or label,
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
                "checks": self._check_rows(delivery.checks + judgement.checks),
            },
            findings=judgement.findings,
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
