"""One debugging session: an agent, a webhook receiver and a capture, joined; both faces of the inspector drive it."""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from inspector.capture.records import Kind, Record
from inspector.capture.redaction import Redactor
from inspector.capture.store import Capture
from inspector.findings.finding import Finding
from inspector.protocol.bindings.base import GrpcRequest
from inspector.protocol.bindings.registry import BINDINGS
from inspector.protocol.card import AgentCard
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.model import (
    ExtendedCardRequest,
    ListTasksRequest,
    PushConfig,
    PushConfigRequest,
    Request,
    SendRequest,
    TaskRequest,
)
from inspector.protocol.operations import Operation
from inspector.protocol.security import key_place
from inspector.protocol.selection import Choice, options, select
from inspector.session.bookmarks import Marks
from inspector.session.call import Turn
from inspector.session.capabilities import missing, why_not
from inspector.session.card.changes import CardHistory
from inspector.session.compose.build import compose, with_files, with_params
from inspector.session.compose.checks import Note, check
from inspector.session.compose.copy_as import as_curl, recorded
from inspector.session.compose.draft import Draft
from inspector.session.compose.raw_request import call_of, read_request
from inspector.session.connection import (
    Connection,
    chosen_again,
    fetch_again,
    look_for_card,
    read_card_file,
    renewed,
)
from inspector.session.exchange import Call, Exchange
from inspector.session.journal import Journal
from inspector.session.payload_json import payload_json
from inspector.session.push.service import PushService
from inspector.session.replay.translate import sent
from inspector.session.settings import Settings
from inspector.session.tasks import TaskFold
from inspector.wire.client.credentials import Credentials, basic, origin, split_userinfo
from inspector.wire.client.grpc import GrpcClient
from inspector.wire.client.http import Client
from inspector.wire.discovery import normalise

BY_HAND = "written by hand"
"""What is said of a request that is another one than any message stands for."""
NOT_CONNECTED = Fault(Whose.YOURS, FaultCode.USAGE, "No agent is connected.", "Connect to one first.")


class Session:
    """Joins agent, receiver and capture; the only one that writes records.

    `connection` is None until `connect` has found a card; `history` holds the versions of it, as far as they were shown
    to it. Everything here runs on one event loop.
    """

    recorded = False
    """Whether it is a recording, to which nothing can be added."""

    def __init__(self, capture: Path, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        redactor = Redactor()
        for value in self.settings.secret_headers.values():
            redactor.add(value)
            redactor.add(value.partition(" ")[2])
        redactor.add(self.settings.api_key)
        self.journal = Journal(self._capture(capture), redactor)
        self.marks = Marks(self.journal)
        self.tasks = TaskFold(self.journal.exchanges)
        self.client = Client(self.settings.limits, verify=not self.settings.insecure)
        self.grpc = GrpcClient(self.settings.limits, verify=not self.settings.insecure)
        self.credentials = self._credentials()
        self.connection: Connection | None = None
        self.history = CardHistory()
        self.push = PushService(
            self.journal,
            self.tasks,
            host=self.settings.receiver_host,
            port=self.settings.receiver_port,
            public_url=self.settings.public_url,
            tls=self.settings.receiver_tls,
        )

    @staticmethod
    def _capture(path: Path) -> Capture:
        return Capture.create(path)

    @property
    def choice(self) -> Choice:
        """Return the interface in use; raises `FaultError` where there is none."""
        if self.connection is None:
            raise FaultError(NOT_CONNECTED)
        if self.connection.choice is None:
            reasons = "; ".join(option.reason for option in options(self.connection.card))
            raise FaultError(
                Fault(
                    Whose.AGENT,
                    FaultCode.UNREACHABLE,
                    f"The card offers no interface that we can use ({reasons or 'it declares none'}).",
                    "--transport and --a2a-version pin one that the card does offer.",
                )
            )
        return self.connection.choice

    async def connect(self, reference: str) -> Connection:
        """Find the card of an agent and choose an interface; raises `FaultError` with the sentence for the user.

        Credentials go to the origin of the reference, and to those that the settings trust; to no other. User and
        password before the host of the reference are credentials like any other.
        """
        self.connection = None
        self.credentials = self._credentials()
        local = read_card_file(reference)
        if local is not None:
            found, findings = local
            self._note_file(reference, found.raw, findings)
            choice = self._select(found.card)
            self.connection = Connection(reference, "", found, choice, (), findings, at=time.time())
        else:
            url, userinfo = split_userinfo(normalise(reference))
            self.learn(url, userinfo)
            self.credentials = self._credentials(origin(url), userinfo)
            reference = url if userinfo else reference
            fetch, found, tries = await look_for_card(self.journal, self.client, self.credentials, reference)
            headers, at = (fetch.head.headers, fetch.head.at) if fetch.head else ((), 0.0)
            choice = self._select(found.card)
            self.connection = Connection(reference, fetch.url, found, choice, tries, fetch.findings, headers, at)
        self.credentials = self.credentials.with_key(self.settings.api_key, *key_place(self.connection.card))
        self._note_connection(self.connection)
        return self.connection

    async def refresh(self) -> Connection:
        """Fetch the card again, the interface in use staying in use where the card still has it.

        Raises `FaultError` where no agent is connected, or has no card any more.
        """
        before = self.connection
        if before is None:
            raise FaultError(NOT_CONNECTED)
        local = None if before.url else read_card_file(before.reference)
        if local is None:
            after = await fetch_again(self.journal, self.client, self.credentials, before)
        else:
            found, findings = local
            self._note_file(before.reference, found.raw, findings)
            after = renewed(before, found, findings, time.time())
        if after.found is before.found:
            self.note("the card is unchanged")
        else:
            choice = chosen_again(before.choice, after.card) or self._select(after.card)
            after = replace(after, choice=choice)
            self._note_connection(after)
        self.connection = after
        return after

    def credentials_for(self, reference: str) -> Credentials:
        """Return the credentials as they go to the origin of a reference."""
        url, userinfo = split_userinfo(normalise(reference))
        return self._credentials(origin(url), userinfo)

    def _credentials(self, home: str = "", userinfo: str = "") -> Credentials:
        """Make the credentials for an origin; `userinfo` stands for an Authorization unless the settings have one."""
        settings, headers = self.settings, self.settings.secret_headers
        if userinfo and not any(name.lower() == "authorization" for name in headers):
            headers["Authorization"] = basic(userinfo)
        origins = frozenset((home, *(origin(normalise(one)) for one in settings.trusted))) - {""}
        return Credentials(headers, origins, plain=settings.plain_headers)

    def learn(self, url: str, userinfo: str) -> None:
        """Mask from now on what a reference gives away as secret, wherever an agent repeats it."""
        redactor = self.journal.redactor
        if userinfo:
            redactor.add(basic(userinfo).partition(" ")[2])
            redactor.add(unquote(userinfo.partition(":")[2]))
        for name, value in parse_qsl(url.partition("?")[2]):
            if value not in redactor.url(f"?{name}={value}"):
                redactor.add(value)

    def _note_file(self, reference: str, raw: bytes, findings: tuple[Finding, ...]) -> None:
        """Record a card that came from a file, with what is wrong with it."""
        payload = len(raw), self.journal.redactor.body(raw)
        label = f"the card of {reference}"
        self.journal.append(Kind.NOTE, time.time(), event="card", label=label, payloads=[payload], findings=findings)

    def _note_connection(self, connection: Connection) -> None:
        choice = connection.choice
        interface = (
            f"{choice.dialect.generation} over {choice.binding.name} at {choice.interface.url}, {choice.reason}"
            if choice
            else "no interface that we speak"
        )
        self.note(f"connected to {connection.card.name}: {interface}")
        place = self._address(choice) if choice else ""
        if choice and self.credentials and not self.credentials.are_for(place):
            self.note(
                f"credentials are not sent to {origin(place)}: "
                f"it is not the origin that you typed; --trust {origin(place)} allows it"
            )

    def _address(self, choice: Choice) -> str:
        """Return the url of an interface in full."""
        return choice.binding.in_full(choice.interface.url, self.connection.url if self.connection else "")

    def _select(self, card: AgentCard) -> Choice | None:
        return select(card, self.settings.transports, self.settings.generation)

    def use(self, choice: Choice) -> None:
        """Talk to another interface of the same agent from now on; calls under way stay where they are."""
        if self.connection is None:
            raise FaultError(NOT_CONNECTED)
        self.connection = replace(self.connection, choice=choice)
        self._note_connection(self.connection)

    def send(self, draft: Draft, *, stream: bool, choice: Choice | None = None) -> Turn:
        """Prepare a message to be sent, streamed or not; with push on, a webhook of its own goes with it.

        Nothing happens before the turn is driven, so what it would send can be shown. Raises `FaultError` where no
        agent is connected, `DraftError` where the draft cannot be made into a request.
        """
        choice = choice or self.choice
        hook = self.push.plan(draft.message_id, draft.task_id, choice.dialect.generation) if self.push.on else None
        composed = compose(
            draft,
            tenant=choice.interface.tenant,
            push=hook.config if hook else None,
            whole=choice.binding.whole,
        )
        composed.check()
        call = self._call(
            choice,
            Operation.STREAM if stream else Operation.SEND,
            composed.request,
            draft.request_id,
            task_id=draft.task_id,
            context_id=draft.context_id,
            label=draft.label,
        )
        turn = self._turn_of(call, choice, composed.request)
        wire = with_files(turn.wire, composed.files)
        turn.wire = with_params(wire, choice.dialect.extensions_header, draft)
        turn.hook = hook
        return turn

    def notes(self, turn: Turn, choice: Choice | None = None) -> tuple[Note, ...]:
        """Return what speaks against the message of a turn, on the interface that it was prepared for."""
        request = turn.request
        if self.connection is None or not isinstance(request, SendRequest):
            return ()
        stream = turn.exchange.call.operation is Operation.STREAM
        return check(request, stream=stream, choice=choice or self.choice, card=self.connection.card, tasks=self.tasks)

    def send_raw(self, text: str, like: Turn) -> Turn:
        """Prepare a request that was written by hand, right or wrong; the answer is read as that to the turn `like` it.

        Credentials are added as always, but for headers that the text has itself. Raises `FaultError` where the text
        is no request at all.
        """
        wire = read_request(text, like.wire, like.exchange.call)
        call = call_of(wire, like.exchange.call)
        turn = Turn(self, Exchange(self.journal, call.operation.value, call, self.tasks), like.request, wire)
        turn.by_hand, turn.hook = True, like.hook
        return turn

    def send_again(self, exchange: int, choice: Choice) -> Turn:
        """Prepare the message of an earlier exchange to be sent again, as a new message, over any interface.

        Raises `FaultError` where the exchange carried no message.
        """
        request = self.journal.capture.get(exchange)
        if BY_HAND in request.meta.get("deliberate", ()):
            seen = f"Record #{exchange} was written by hand: it is no message that could be said in another way."
            raise FaultError(Fault(Whose.YOURS, FaultCode.USAGE, seen, "C in the detail copies it as curl."))
        again = sent(request)
        if again is None:
            seen = f"Record #{exchange} carries no message that could be sent again."
            raise FaultError(
                Fault(Whose.YOURS, FaultCode.USAGE, seen, "Select a message that was sent, or its answer.")
            )
        message = again.message.model_copy(update={"message_id": str(uuid.uuid4())})
        again = again.model_copy(update={"message": message, "tenant": choice.interface.tenant})
        operation = Operation(request.operation)
        return self.call_on(choice, operation, again, message.task_id or "", message.context_id or "", request.label)

    def get(self, task_id: str, history_length: int | None = None) -> Turn:
        """Prepare a GetTask."""
        members = {} if history_length is None else {"history_length": history_length}
        return self._about(Operation.GET, task_id, **members)

    def cancel(self, task_id: str) -> Turn:
        """Prepare a CancelTask."""
        return self._about(Operation.CANCEL, task_id)

    def subscribe(self, task_id: str) -> Turn:
        """Prepare a SubscribeToTask, to pick up a task whose stream was lost."""
        return self._about(Operation.SUBSCRIBE, task_id)

    def list_tasks(self, request: ListTasksRequest | None = None) -> Turn:
        """Prepare a ListTasks with these filters."""
        return self._turn(Operation.LIST, self._for_tenant(request or ListTasksRequest()))

    def set_push(self, config: PushConfig) -> Turn:
        """Prepare a CreateTaskPushNotificationConfig; what is secret in the configuration is masked from now on."""
        for secret in (config.token, config.authentication.credentials if config.authentication else None):
            self.journal.redactor.add(secret or "")
        return self._turn(Operation.SET_PUSH, self._for_tenant(config), config.task_id or "")

    def get_push(self, task_id: str, config_id: str = "") -> Turn:
        """Prepare a GetTaskPushNotificationConfig; before 1.0 the only configuration of a task needs no id."""
        request = PushConfigRequest(task_id=task_id, id=config_id) if config_id else PushConfigRequest(task_id=task_id)
        return self._about_push(Operation.GET_PUSH, request)

    def list_push(self, task_id: str) -> Turn:
        """Prepare a ListTaskPushNotificationConfigs."""
        return self._about_push(Operation.LIST_PUSH, PushConfigRequest(task_id=task_id))

    def delete_push(self, task_id: str, config_id: str) -> Turn:
        """Prepare a DeleteTaskPushNotificationConfig."""
        return self._about_push(Operation.DELETE_PUSH, PushConfigRequest(task_id=task_id, id=config_id))

    def extended_card(self) -> Turn:
        """Prepare a GetExtendedAgentCard; the answer of the turn's exchange is the card."""
        return self._turn(Operation.EXTENDED_CARD, self._for_tenant(ExtendedCardRequest()))

    def why_not(self, operation: Operation) -> str:
        """Say why an operation is not possible with the agent as it is connected, `""` where nothing speaks against it.

        What the card denies can be called all the same, to see what the agent answers.
        """
        connection = self.connection
        return why_not(operation, connection.choice, connection.card) if connection else "no agent is connected"

    def _about(self, operation: Operation, task_id: str, **members: Any) -> Turn:
        return self._turn(operation, self._for_tenant(TaskRequest(id=task_id, **members)), task_id)

    def _about_push(self, operation: Operation, request: PushConfigRequest) -> Turn:
        return self._turn(operation, self._for_tenant(request), request.task_id)

    def _for_tenant(self, request: Request) -> Request:
        """Address a request to the tenant that the interface names, unless it names one itself."""
        tenant = self.choice.interface.tenant
        return request.model_copy(update={"tenant": tenant}) if tenant and not request.tenant else request

    def _turn(
        self, operation: Operation, request: Request, task_id: str = "", context_id: str = "", label: str = ""
    ) -> Turn:
        return self.call_on(self.choice, operation, request, task_id, context_id, label)

    def call_on(
        self,
        choice: Choice,
        operation: Operation,
        request: Request,
        task_id: str = "",
        context_id: str = "",
        label: str = "",
    ) -> Turn:
        """Prepare any operation on any interface, in use or not; raises `FaultError` where it does not exist there."""
        call = self._call(
            choice, operation, request, str(uuid.uuid4()), task_id=task_id, context_id=context_id, label=label
        )
        return self._turn_of(call, choice, request)

    def _call(self, choice: Choice, operation: Operation, request: Request, request_id: str, **members: Any) -> Call:
        """Say what is asked on an interface; raises `FaultError` where it has no such operation."""
        if not choice.binding.offers(choice.dialect, operation):
            raise FaultError(Fault(Whose.YOURS, FaultCode.USAGE, f"{missing(operation, choice)}."))
        return Call(operation, choice.dialect, choice.binding, request_id, request=request, **members)

    def _turn_of(self, call: Call, choice: Choice, request: Request) -> Turn:
        url, request_id = self._address(choice), str(call.request_id)
        wire = call.binding.encode(url, call.dialect, call.operation, request, request_id)
        return Turn(self, Exchange(self.journal, call.operation.value, call, self.tasks), request, wire)

    def payload(self, record: Record) -> bytes:
        """Return what a record carries, as JSON text where it can be read."""
        return payload_json(record, self.request_of(record))

    def request_of(self, record: Record) -> Record:
        """Return the record that opened the exchange of a record, or the record itself where it is in none."""
        return self.journal.request_of(record)

    def curl(self, record: Record) -> str:
        """Return the request behind a record as a curl command with the credentials of now; raises `FaultError`."""
        request = self.request_of(record)
        binding = BINDINGS.get(str(request.meta.get("binding", "JSONRPC")))
        if request.kind is not Kind.REQUEST or binding is None:
            raise FaultError(Fault(Whose.YOURS, FaultCode.USAGE, "Nothing was asked here that curl could ask."))
        wire = recorded(request, binding)
        if isinstance(wire, GrpcRequest):
            return as_curl(self.credentials.sign_call(wire, theirs=True))
        return as_curl(self.credentials.sign(wire, theirs=True))

    def note(self, text: str, event: str = "") -> None:
        """Record something that the session itself did or saw; `event` says which part of it, where one did."""
        self.journal.append(Kind.NOTE, time.time(), label=text, event=event)
        self.journal.notify()

    async def close(self) -> None:
        """Stop the receiver, end what is under way, close every connection and write the capture to its end."""
        await self.push.close()
        for stop in tuple(self.journal.running.values()):
            stop(time.time())
        await self.client.close()
        await self.grpc.close()
        self.journal.capture.close()

    @property
    def host(self) -> str:
        """Return the host of the agent, for names and titles."""
        return urlsplit(self.connection.url).netloc.rpartition("@")[2] if self.connection else ""
