"""The push service of a session: make registrations, run the receiver, and record deliveries with their checks."""

from __future__ import annotations

import asyncio
import ssl
from functools import cached_property
from importlib import import_module
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from inspector.protocol.errors import Fault, FaultError
from inspector.session.journal import Journal
from inspector.session.push.relay import Relay
from inspector.session.push.webhook_registration import WebhookRegistration, WebhookRegistrations
from inspector.session.tasks import TaskFold
from inspector.wire.receiver.registration import WebhookAuth
from inspector.wire.receiver.response_override import ResponseOverrides

if TYPE_CHECKING:
    from inspector.session.push.delivery_recorder import DeliveryRecorder
    from inspector.session.push.matching import RecordMatcher
    from inspector.wire.receiver.delivery import Delivery
    from inspector.wire.receiver.server import Receiver

_AUTH = WebhookAuth()


class PushService:
    """Makes registrations, and records deliveries with the results of their checks.

    `on` is whether messages register a webhook, `auth` the authentication of these registrations, `overrides` the
    responses that the user set; `relay` forwards deliveries to other URLs. `failure` is why the receiver could not
    listen when it was last started, None if it could.
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
        self._receiver_options: dict[str, Any] = {"host": host, "port": port, "public_url": public_url, "tls": tls}
        self.overrides = ResponseOverrides()
        self.relay = Relay(journal)
        self.on = False
        self.failure: Fault | None = None
        self.auth = _AUTH
        self.registrations = WebhookRegistrations()
        self._planned: tuple[tuple[str, str, str, WebhookAuth], WebhookRegistration] | None = None

    @cached_property
    def receiver(self) -> Receiver:
        """Return the receiver, which is made on first use because aiohttp is slow to load."""
        from inspector.wire.receiver.server import Receiver  # noqa: PLC0415 - aiohttp, which many sessions never need

        return Receiver(self.take, overrides=self.overrides, **self._receiver_options)

    @cached_property
    def _recorder(self) -> DeliveryRecorder:
        from inspector.session.push.delivery_recorder import DeliveryRecorder  # noqa: PLC0415 - needs the rules

        return DeliveryRecorder(self._journal, self._tasks)

    @property
    def reachable_from(self) -> str:
        """Describe from where the receiver can be reached."""
        host = self._receiver_options["host"]
        try:
            is_local = ip_address(host).is_loopback
        except ValueError:  # the receiver reports it when it is started
            return f"{host}, not an IP address"
        return "this machine only" if is_local else f"{host}, reachable from other machines"

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
        from inspector.session.push.matching import RecordMatcher  # noqa: PLC0415 - only needed with its first use

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
        """Start the receiver, unless it runs; raises `FaultError` if it cannot listen, and sets `failure`."""
        for module in ("inspector.wire.receiver.server", "inspector.session.push.delivery_recorder"):
            await asyncio.to_thread(import_module, module)  # in a thread, so that keys are handled meanwhile
        try:
            await self.receiver.start()
            self.failure = None
        except FaultError as error:
            self.failure = error.fault
            raise
        finally:
            self._journal.notify()

    def turn_off(self) -> None:
        """Send messages without a webhook from now on; the receiver continues for earlier registrations."""
        self.on = False

    async def close(self) -> None:
        """Stop the receiver and forwarding."""
        if self.listening:
            await self.receiver.stop()
        await self.relay.close()

    def register(
        self,
        task_id: str = "",
        *,
        version: str = "",
        auth: WebhookAuth | None = None,
        token: str = "",
        elsewhere: bool = False,
    ) -> WebhookRegistration:
        """Make a registration with its own path, and with a random token unless `token` is set.

        `elsewhere` is whether another program sends its configuration to the agent.
        """
        webhook = self._make(task_id, version, self.auth if auth is None else auth, token)
        webhook.elsewhere = elsewhere
        self.registrations.append(webhook)
        return webhook

    def _make(self, task_id: str, version: str, auth: WebhookAuth, token: str = "") -> WebhookRegistration:
        registration = self.receiver.register(auth, token)
        for secret in (registration.token, registration.credentials):
            self._journal.redactor.add(secret)
        return WebhookRegistration(registration, task_id, version, for_new_task=not task_id)

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
        self.relay.offer(self._recorder.record(delivery, registration).seq, delivery)
        self._journal.notify()
