"""A debugging session with one agent: connection, calls, webhook service and capture; used by the TUI and the CLI."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict
from urllib.parse import urlsplit

from inspector.capture.records import Kind, Record
from inspector.capture.redaction import Redactor
from inspector.capture.store import Capture
from inspector.protocol.bindings.base import HttpRequest
from inspector.protocol.errors import FaultError, usage_error
from inspector.protocol.model import (
    ExtendedCardRequest,
    ListTasksRequest,
    PushConfig,
    PushConfigRequest,
    Request,
    TaskRequest,
)
from inspector.protocol.operations import Operation
from inspector.protocol.selection import Choice, select
from inspector.session import lazy_loading
from inspector.session.bookmarks import Bookmarks
from inspector.session.card_finder import CardFinder
from inspector.session.checker import Checker
from inspector.session.connection import (
    Connection,
    Target,
    mask_reference,
    no_interface_fault,
    same_choice,
    unavailable_reason,
)
from inspector.session.journal import Journal
from inspector.session.payload import payload_json
from inspector.session.session_credentials import SessionCredentials
from inspector.session.settings import Settings
from inspector.session.tasks import TaskFold
from inspector.text.reference import is_grpc
from inspector.wire.client.client_certificate import CertificateFor
from inspector.wire.client.credentials import Credentials, origin, split_userinfo
from inspector.wire.client.grpc import GrpcClient
from inspector.wire.client.http import Client

if TYPE_CHECKING:  # features that are loaded on first use
    from inspector.session.call import Call
    from inspector.session.call_factory import CallFactory
    from inspector.session.card.changes import CardHistory
    from inspector.session.compose.draft import Draft
    from inspector.session.push.service import PushService
    from inspector.session.push.webhook_registration import WebhookRegistration


class _Tls(TypedDict):
    """The arguments of a client that concern TLS."""

    verify: bool
    certificate_for: CertificateFor


class Session:
    """A session with one agent: it makes calls, receives webhook deliveries and records both in its capture.

    `connection` is None until `connect` has found a card.
    """

    recorded = False
    """Whether this is an opened capture, to which nothing can be added."""

    def __init__(
        self, path: Path, settings: Settings | None = None, *, capture: Callable[[Path], Capture] = Capture.create
    ) -> None:
        self.settings = settings or Settings()
        redactor = Redactor()
        redactor.add_headers(self.settings.secret_headers.items())
        for secret in (self.settings.api_key, *self.settings.secrets):
            redactor.add(secret)
        self.journal = Journal(capture(path), redactor, Checker(self.settings.check, self.settings.trusted_keys))
        self.bookmarks = Bookmarks(self.journal)
        self.tasks = TaskFold(self.journal.exchanges)
        self.connection: Connection | None = None
        self.credentials = SessionCredentials(self)
        tls: _Tls = {"verify": not self.settings.insecure, "certificate_for": self.credentials.certificate_for}
        try:
            self.client = Client(self.settings.limits, **tls)
        except FaultError:
            self.journal.capture.close()
            raise
        self.grpc = GrpcClient(self.settings.limits, **tls)
        self._url = ""
        self.cards = CardFinder(
            self.journal,
            self.client,
            self.access,
            self.extended_card,
            preferred=self.settings.transports,
            version=self.settings.version,
        )

    @property
    def may_send(self) -> bool:
        """Return whether messages can be sent: not in a capture, and not in a read-only session."""
        return not (self.recorded or self.settings.read_only)

    @property
    def agent_url(self) -> str:
        """Return the URL to which credentials are sent: that of the interface in use, else that of the card."""
        if self.connection is not None and self.connection.choice is not None:
            return self.address(self.connection.choice)
        return self.connection.url if self.connection else self._url

    @cached_property
    def history(self) -> CardHistory:
        """Return the versions of the card."""
        return lazy_loading.card_history()

    @cached_property
    def push(self) -> PushService:
        """Return the push service, which is made on first use."""
        settings = self.settings
        return lazy_loading.push_service(
            self.journal,
            self.tasks,
            host=settings.receiver_host,
            port=settings.receiver_port,
            public_url=settings.public_url,
            tls=settings.receiver_tls,
        )

    def _used_push(self) -> PushService | None:
        """Return the push service, None if it was not used."""
        return self.push if "push" in vars(self) else None

    async def close(self) -> None:
        """Stop the receiver, end running exchanges, close every connection and complete the capture."""
        try:
            if push := self._used_push():
                await push.close()
            await self.credentials.aclose()  # before its requests are ended
            for stop in tuple(self.journal.running.values()):
                stop(time.time())
            await self.client.aclose()
            await self.grpc.aclose()
        finally:
            self.journal.capture.close()

    # ── the agent ──

    async def connect(self, reference: str) -> Connection:
        """Fetch the card of an agent and choose an interface; raises `FaultError`.

        `reference` is a URL, a host or the path of a card file, or a catalog with `#entry`. Credentials, including
        those in the URL, are sent only to the origin of the URL and to trusted origins.
        """
        self.connection = None
        self._url = ""
        self.credentials.use_for("")
        try:
            found = await self.cards.find(reference)
        except FaultError as error:
            if self.settings.withheld and error.fault.denied:
                raise FaultError(replace(error.fault, hint=self.credentials.unsent_hint(self._url))) from error
            raise
        self.connection = replace(found, choice=self._select(found))
        self.credentials.place_key(found.card)
        self._note_connection(self.connection)
        return self.connection

    async def access(self, url: str) -> tuple[str, Credentials]:
        """Remove the user name and the password from a URL that the user entered.

        Returns that URL, and the credentials for its origin. From now on, the credentials of the settings are sent
        there. For a file, `url` is `""`.
        """
        url, userinfo = split_userinfo(url)
        mask_reference(self.journal.redactor, url, userinfo)
        if url:
            self.use_credentials_for(url, userinfo)
        return url, await self.credentials.for_card()

    def use_credentials_for(self, url: str, userinfo: str = "") -> None:
        """Send the credentials of the settings and the stored token to the origin of a URL."""
        self._url = url
        self.credentials.use_for(url, userinfo)

    async def refresh(self) -> Connection:
        """Fetch the card again, and keep the interface in use if the card still has it; raises `FaultError`."""
        before = self._connected()
        await self.credentials.renew(before.url)
        after = await self.cards.refresh(before, self.credentials.current)
        now = self._connected()  # another interface may have been chosen or proposed meanwhile
        after = replace(after, choice=now.choice, proposed=now.proposed)
        if after.found is before.found:
            self.note("the card is unchanged")
        else:
            after = replace(after, choice=same_choice(now.choice, after.card) or self._select(after))
            self._note_connection(after)
        self.connection = after
        return after

    def trust(self, place: str) -> None:
        """Trust an origin in this session: send the credentials of the options there, and follow redirects to it."""
        self.settings = replace(self.settings, trusted=(*self.settings.trusted, place))
        self.credentials.trust(place)
        self.note(f"{place} is trusted in this session")

    def use(self, choice: Choice) -> None:
        """Use another interface of the same agent for new calls; running calls keep their interface."""
        self.connection = replace(self._connected(), choice=choice)
        self._note_connection(self.connection)

    def propose(self, choice: Choice) -> None:
        """Offer an interface that responded to the doctor, in addition to those of the card."""
        connection = self._connected()
        proposal = replace(choice, reason="proposed by the doctor")
        if proposal not in connection.proposed:
            self.connection = replace(connection, proposed=(*connection.proposed, proposal))

    @property
    def choice(self) -> Choice:
        """Return the interface in use; raises `FaultError` if there is none."""
        connection = self._connected()
        if connection.choice is None:
            raise FaultError(no_interface_fault(connection.card, self.settings.version))
        return connection.choice

    @property
    def host(self) -> str:
        """Return the host of the agent."""
        return urlsplit(self.connection.url).netloc.rpartition("@")[2] if self.connection else ""

    def unavailable_reason(self, operation: Operation) -> str:
        """Return why an operation is not available according to the card, `""` if it is.

        The reason is information only: the operation can be called anyway.
        """
        if self.connection is None:
            return "no agent is connected"
        return unavailable_reason(operation, self.connection.choice, self.connection.card)

    def _connected(self) -> Connection:
        if self.connection is None:
            raise usage_error("No agent is connected.", "Connect to an agent first.")
        return self.connection

    def _select(self, found: Connection) -> Choice | None:
        settings = self.settings
        preferred = settings.transports or (("GRPC",) if is_grpc(found.url) else ())
        return select(found.card, preferred, settings.version, outdated=settings.outdated)

    def address(self, choice: Choice) -> str:
        """Return the absolute URL of an interface."""
        return choice.binding.complete_url(choice.interface.url, self.connection.url if self.connection else "")

    def _note_connection(self, connection: Connection) -> None:
        choice = connection.choice
        if choice is None:
            self.note(f"connected to {connection.name}: no supported interface")
            return
        interface = f"{choice.dialect.version} over {choice.binding.name} at {choice.interface.url}"
        self.note(f"connected to {connection.name}: {interface}, {choice.reason}")
        place = self.address(choice)
        credentials = self.credentials.current
        if credentials and not credentials.are_for(place):
            why = self.credentials.why_withheld
            self.note(f"credentials are not sent to {origin(place)}: {why}; --trust {origin(place)} allows it")

    # ── messages ──

    def send(self, draft: Draft, *, stream: bool, choice: Choice | None = None, keep_warnings: bool = False) -> Call:
        """Prepare a message, with a webhook if push is on; iterate over the call to send it.

        `keep_warnings` records the warnings with the request. Raises `FaultError`; its subclass `DraftError` if the
        draft is invalid.
        """
        return self._calls.message(draft, self._target(choice), stream=stream, keep_warnings=keep_warnings)

    def send_raw(self, text: str, like: Call) -> Call:
        """Prepare a raw request; its response is read like the response to the call `like`.

        Credentials are added, but they do not replace headers in the text. Raises `FaultError` if the text is not a
        request.
        """
        return self._calls.raw(text, like, self.credentials.current)

    def send_http(self, wire: HttpRequest, choice: Choice, *, label: str = "", signed: bool = True) -> Call:
        """Prepare an HTTP request as it is; without `signed`, no credentials are added."""
        return self._calls.http(wire, self._target(choice), label=label, signed=signed)

    def send_again(self, exchange: int, choice: Choice) -> Call:
        """Prepare the message of an earlier exchange as a new message; raises `FaultError`."""
        return self._calls.again(self.journal.capture.get(exchange), self._target(choice))

    # ── other operations ──

    def get(self, task_id: str, history_length: int | None = None) -> Call:
        """Prepare GetTask."""
        members: dict[str, Any] = {} if history_length is None else {"history_length": history_length}
        return self.call(Operation.GET, TaskRequest(id=task_id, **members), task_id=task_id)

    def cancel(self, task_id: str) -> Call:
        """Prepare CancelTask."""
        return self.call(Operation.CANCEL, TaskRequest(id=task_id), task_id=task_id)

    def subscribe(self, task_id: str) -> Call:
        """Prepare SubscribeToTask."""
        return self.call(Operation.SUBSCRIBE, TaskRequest(id=task_id), task_id=task_id)

    def list_tasks(self, request: ListTasksRequest | None = None) -> Call:
        """Prepare ListTasks with these filters."""
        return self.call(Operation.LIST, request or ListTasksRequest())

    def set_push(self, config: PushConfig, *, whole_body: bool = False) -> Call:
        """Prepare CreateTaskPushNotificationConfig; from now on, the secrets of the configuration are masked.

        With `whole_body`, the body is the whole request, if `has_push_body` is true.
        """
        for secret in (config.token, config.authentication.credentials if config.authentication else None):
            self.journal.redactor.add(secret or "")
        mask_reference(self.journal.redactor, config.url, split_userinfo(config.url)[1])
        return self.call(Operation.SET_PUSH, config, task_id=config.task_id or "", whole_body=whole_body)

    @property
    def has_push_body(self) -> bool:
        """Return whether a push configuration is the body of its request, which SDKs read in different ways."""
        choice = self.choice
        return choice.binding.name == "HTTP+JSON" and bool(choice.dialect.routes[Operation.SET_PUSH].body)

    def get_push(self, task_id: str, config_id: str = "") -> Call:
        """Prepare GetTaskPushNotificationConfig; before 1.0 the id of the configuration is optional."""
        members: dict[str, Any] = {"id": config_id} if config_id else {}
        return self.call(Operation.GET_PUSH, PushConfigRequest(task_id=task_id, **members), task_id=task_id)

    def list_push(self, task_id: str) -> Call:
        """Prepare ListTaskPushNotificationConfigs."""
        return self.call(Operation.LIST_PUSH, PushConfigRequest(task_id=task_id), task_id=task_id)

    def delete_push(self, task_id: str, config_id: str) -> Call:
        """Prepare DeleteTaskPushNotificationConfig."""
        return self.call(Operation.DELETE_PUSH, PushConfigRequest(task_id=task_id, id=config_id), task_id=task_id)

    def extended_card(self, choice: Choice | None = None) -> Call:
        """Prepare GetExtendedAgentCard, over another interface than that in use if one is given."""
        return self.call(Operation.EXTENDED_CARD, ExtendedCardRequest(), choice=choice)

    def call(
        self,
        operation: Operation,
        request: Request,
        *,
        choice: Choice | None = None,
        task_id: str = "",
        context_id: str = "",
        label: str = "",
        webhook: WebhookRegistration | None = None,
        whole_body: bool = False,
    ) -> Call:
        """Prepare an operation on the interface in use or on `choice`; raises `FaultError` if it is not offered.

        The tenant is that of the interface unless the request has one.
        """
        return self._calls.operation(
            operation,
            request,
            self._target(choice),
            task_id=task_id,
            context_id=context_id,
            label=label,
            webhook=webhook,
            whole_body=whole_body,
        )

    @cached_property
    def _calls(self) -> CallFactory:
        """The factory of calls, which is loaded with the first call."""
        from inspector.session.call_factory import CallFactory  # noqa: PLC0415 - it uses lazy_loading itself

        return CallFactory(
            self.journal,
            self.tasks,
            self.client,
            self.grpc,
            self._used_push,
            self.credentials,
            read_only=self.settings.read_only,
        )

    def _target(self, choice: Choice | None) -> Target:
        """Return where a call over an interface is sent, by default over the interface in use."""
        choice = choice or self.choice
        card = self.connection.card if self.connection else None
        return Target(choice, self.address(choice), card, self.credentials.current)

    # ── records ──

    def note(self, text: str, event: str = "") -> None:
        """Record a note of the session; `event` is its kind."""
        self.journal.append(Kind.NOTE, time.time(), label=text, event=event)
        self.journal.notify()

    def payload(self, record: Record) -> bytes:
        """Return the payload of a record, as JSON text where it can be read."""
        return payload_json(record, self.journal.capture.request_of(record))
