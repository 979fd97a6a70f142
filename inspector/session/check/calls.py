"""Perform the request of a step, and read its response as the assertions see it.

The root of the assertions is the object of A2A, in the format of 1.0 over every binding and version (ACTS section
4.2); an error has the member `error`. An event of a stream can be addressed by its own members and by the name of its
type: `status_update.status.state` and `status.state` are the same.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
import uuid
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import field
from typing import Any, cast
from urllib.parse import urljoin, urlsplit

from pydantic import ValidationError

from inspector.capture.records import Kind
from inspector.lazy_dataclass import dataclass
from inspector.protocol.assemble import TextAppended
from inspector.protocol.bindings.base import Answer, HttpRequest
from inspector.protocol.errors import BY_NAME, Fault, ProtocolError
from inspector.protocol.jsonvalue import dump
from inspector.protocol.lifecycle import is_terminal
from inspector.protocol.model import (
    Json,
    Message,
    PushConfig,
    SendConfiguration,
    SendRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatusUpdateEvent,
    Unreadable,
    Wire,
)
from inspector.protocol.operations import REQUESTS, STREAMING, Operation
from inspector.protocol.selection import Choice
from inspector.session.call import Call
from inspector.session.card_fetch import GET_CARD, CardFetch, fetch_card
from inspector.session.check.document.steps import CARD, OPERATIONS, RawRequest
from inspector.session.check.result import StepError
from inspector.session.payload import payload_json
from inspector.session.session import Session
from inspector.session.stream_deadline import StreamDeadline
from inspector.wire.client.observations import Ending
from inspector.wire.discovery import FoundCard

MOST_EVENTS = 100_000
"""How many events of a stream are kept for the assertions."""
WELL_KNOWN = "/.well-known/"
"""The beginning of the paths of cards."""
_WRAPPERS: Mapping[type[Wire], tuple[str, ...]] = {
    Task: ("task",),
    Message: ("message",),
    TaskStatusUpdateEvent: ("statusUpdate", "status_update"),
    TaskArtifactUpdateEvent: ("artifactUpdate", "artifact_update"),
}


@dataclass(slots=True)
class Response:
    """The response to a step.

    - `exchange`: the number of its request in the capture, 0 if nothing was sent.
    - `headers`: by their names in lower case.
    - `status`: the HTTP status, that of the error over gRPC; 0 without a response.
    - `body`: the root of the assertions; `events`: the roots of the events of a stream.
    - `fault`: why the call failed; `error`: the error of the agent.
    - `states`: the task states in a stream, in order; `times`: when each event came, in seconds after the request.
    - `left_open`: whether the agent did not end the stream after its task had ended.
    """

    exchange: int = 0
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Json = None
    error: ProtocolError | None = None
    fault: Fault | None = None
    events: list[Json] = field(default_factory=list)
    states: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    seconds: float = 0.0
    task_id: str = ""
    left_open: bool = False
    streamed: bool = False

    @property
    def unreached(self) -> Fault | None:
        """Return why the request got no response at all, None if it got one."""
        return self.fault if self.error is None and self.status == 0 else None

    @property
    def denied(self) -> bool:
        """Return whether the agent required credentials or rejected them."""
        return self.fault is not None and self.fault.denied


@dataclass(frozen=True, slots=True)
class Caller:
    """Performs requests over one interface of the agent; `label` is recorded with each request.

    `sent` gets the number of each exchange in the capture, also if there is no response.
    """

    session: Session
    choice: Choice
    sent: list[int]
    label: str = ""
    signed: bool = True

    async def operation(
        self,
        name: str,
        params: Mapping[str, Json],
        limit: float | None = None,
        *,
        most: int | None = None,
        task_known: asyncio.Future[str] | None = None,
    ) -> Response:
        """Call an abstract operation; raises `StepError` or `FaultError` if it cannot be sent.

        `limit` bounds the time of a stream in seconds, `most` its events. `task_known` gets the id of the task as soon
        as the agent has sent it.
        """
        if name == CARD and not params.get("extended"):
            return await self._card()
        operation = Operation.EXTENDED_CARD if name == CARD else OPERATIONS[name]
        request = request_of(operation, params)
        if isinstance(request, SendRequest) and operation is Operation.SEND and not self.choice.dialect.traits.waits:
            request = with_return(request, immediately=False)
        call = self.session.call(
            operation,
            request,
            choice=self.choice,
            task_id=_task_of(request),
            context_id=request.message.context_id or "" if isinstance(request, SendRequest) else "",
            label=self.label,
        )
        response = await receive(call, self.sent, limit, most, task_known)
        response.body = self._root(call) if response.error is None else event_root(response.error)
        return response

    def _root(self, call: Call) -> Json:
        answer = call.exchange.answer
        if not isinstance(answer, Wire):
            return None
        # Protobuf does not send members with the default value, so that they are as good as set.
        is_grpc = self.choice.binding.name == "GRPC"
        members = answer.model_dump(by_alias=True, exclude_none=True) if is_grpc else answer.to_json()
        return as_response(call.exchange.context.operation, answer, members)

    async def _card(self) -> Response:
        """Fetch the card, without a condition: an unchanged card is fetched, too."""
        connection = self.session.connection
        if connection is None or not connection.attempts:
            raise StepError("the card was read from a file or a catalog, so that it cannot be fetched from the agent")
        session, began = self.session, time.monotonic()
        fetch = await fetch_card(session.journal, session.client, session.credentials.current, connection.url)
        response = self._fetched(fetch, began)
        if isinstance(fetch.found, FoundCard):
            response.body = fetch.found.value
        return response

    async def raw(self, request: RawRequest, limit: float | None = None) -> Response:
        """Send an HTTP request; its response is read from the capture, with masked secrets."""
        wire = HttpRequest(request.method, self._url_of(request.path), dict(request.headers), _body_of(request))
        if request.path.startswith(WELL_KNOWN):
            return await self._well_known(wire)
        call = self.session.send_http(wire, self.choice, label=self.label, signed=self.signed)
        response = await receive(call, self.sent, limit)
        response.body, response.events = self._payloads(response.exchange)
        return response

    async def _well_known(self, wire: HttpRequest) -> Response:
        """Request a document below `/.well-known/`: it is judged as a card, not as the response of an operation."""
        session, began = self.session, time.monotonic()
        credentials = session.credentials.current
        fetch = CardFetch(session.journal, GET_CARD, wire.url)
        sender = credentials if self.signed else credentials.withheld()
        await fetch.run(session.client, sender.sign(wire, keep_headers=True))
        response = self._fetched(fetch, began)
        response.body, response.events = self._payloads(fetch.number)
        return response

    def _fetched(self, fetch: CardFetch, began: float) -> Response:
        """Return the response to a request that is not one of A2A, without its body; `began` is a monotonic time."""
        self.sent.append(fetch.number)
        response = Response(fetch.number, fault=fetch.fault, seconds=time.monotonic() - began)
        if fetch.head is not None:
            response.status, response.headers = fetch.head.status, fetch.head.fields()
        return response

    def _url_of(self, path: str) -> str:
        """Return the URL of a raw request: `/` is that of the interface, other paths are below it.

        Well-known paths are at the origin of the card.
        """
        try:
            if urlsplit(path).scheme:
                return path
        except ValueError as error:
            raise StepError(f"{path!r} is not a valid URL: {error}") from error
        connection = self.session.connection
        base = self.session.address(self.choice)
        if path.startswith(WELL_KNOWN):
            return urljoin(connection.url if connection and connection.url else base, path)
        return base if path in ("", "/") else f"{base.rstrip('/')}/{path.lstrip('/')}"

    def _payloads(self, exchange: int) -> tuple[Json, list[Json]]:
        """Return the body of an exchange and the events of its stream, as they are in the capture."""
        if not exchange:
            return None, []
        capture = self.session.journal.capture
        request = capture.get(exchange)
        found = capture.select(kinds=(Kind.BODY, Kind.FRAME), exchange=exchange, after=exchange)
        bodies = [_parsed(record.raw) for record in found if record.kind is Kind.BODY]
        events = [_parsed(payload_json(record, request)) for record in found if record.kind is Kind.FRAME]
        return (bodies[0] if bodies else None), events[:MOST_EVENTS]


def request_of(operation: Operation, params: Mapping[str, Json]) -> Any:
    """Return the parameters of an operation in the format of A2A 1.0; raises `StepError` if they do not fit.

    Three forms are accepted that the specification does not have: `taskId` and `contextId` beside the message (the
    official suite means the members of the message), a nested `pushNotificationConfig`, and `cursor` for `pageToken`.
    """
    members = {name: value for name, value in params.items() if name != "extended"}
    if operation in (Operation.SEND, Operation.STREAM):
        message = members.get("message", {})
        if isinstance(message, dict):
            beside = {name: members.pop(name) for name in ("taskId", "contextId") if name in members}
            members["message"] = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", **beside, **message}
    elif operation is Operation.SET_PUSH and isinstance(members.get("pushNotificationConfig"), dict):
        members = {**cast("dict[str, Json]", members.pop("pushNotificationConfig")), **members}
    elif "cursor" in members:
        members["pageToken"] = members.pop("cursor")
    try:
        return REQUESTS[operation].model_validate(members)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise StepError(
            f"params of {operation.value}: {where}: {first['msg']}; a raw step can send invalid parameters"
        ) from error


def with_return(request: SendRequest, *, immediately: bool) -> SendRequest:
    """Return a request with `returnImmediately`, unchanged if it has it: the default of 1.0 is not that of others."""
    configuration = request.configuration or SendConfiguration()
    if configuration.return_immediately is not None:
        return request
    changed = configuration.model_copy(update={"return_immediately": immediately})
    return request.model_copy(update={"configuration": changed})


async def receive(
    call: Call,
    sent: list[int],
    limit: float | None = None,
    most: int | None = None,
    task_known: asyncio.Future[str] | None = None,
) -> Response:
    """Send a call and return its response; leave its stream after `limit` seconds, or after `most` events.

    `sent` gets the number of the exchange, `task_known` the id of the task. Raises TimeoutError if a stream does not
    end in time although its task runs.
    """
    response, deadline = Response(), StreamDeadline(call)
    began = time.monotonic()
    ends = math.inf if limit is None else asyncio.get_running_loop().time() + limit
    answers = aiter(call)
    try:
        async with aclosing(answers), asyncio.timeout_at(ends) as timeout:
            async for together in answers:
                for answer in together:
                    _note(response, answer, time.monotonic() - began)
                if task_known is not None and call.exchange.task_id and not task_known.done():
                    task_known.set_result(call.exchange.task_id)
                if most is not None and len(response.events) >= most:
                    break
                if call.exchange.context.operation in STREAMING:
                    leaves_at = deadline.take(together)
                    timeout.reschedule(ends if leaves_at is None else min(leaves_at, ends))
    except TimeoutError:
        response.left_open = bool(response.states) and is_terminal(response.states[-1])
        if deadline.leaves_at is None:
            raise
    finally:
        if call.exchange.number:
            sent.append(call.exchange.number)
    response.seconds = time.monotonic() - began
    _add_ending(response, call)
    return response


def _add_ending(response: Response, call: Call) -> None:
    """Add what is known once the call has ended: the status, the headers, and why it failed."""
    exchange = call.exchange
    response.exchange, response.fault, response.task_id = exchange.number, call.fault, exchange.task_id
    response.error = call.fault.error if call.fault is not None else None
    if exchange.head is not None:
        response.status, response.headers = exchange.head.status, exchange.head.fields()
        response.streamed = exchange.head.streamed
    if exchange.context.binding.name == "GRPC" and response.error is not None:
        kind = BY_NAME.get(response.error.name)
        response.status = kind.http if kind else 500
    if exchange.ending is Ending.STOPPED and response.error is None:
        response.fault = None


def _note(response: Response, answer: Answer | TextAppended, seconds: float) -> None:
    """Add the events in an answer."""
    updates = answer.updates() if isinstance(answer, TextAppended) else (answer,)
    for update in updates:
        if isinstance(update, Task | TaskStatusUpdateEvent) and update.status.state:
            response.states.append(update.status.state)
        if len(response.events) < MOST_EVENTS:
            response.events.append(event_root(update))
            response.times.append(seconds)


def event_root(answer: Answer) -> Json:
    """Return the root of the assertions about an event or an error."""
    if isinstance(answer, ProtocolError):
        members = {"code": answer.code, "message": answer.message, "name": answer.name}
        return {"error": members if answer.data is None else {**members, "data": answer.data}}
    if isinstance(answer, Unreadable):
        return {"unreadable": answer.why}
    inner = answer.to_json()
    return {**inner, **dict.fromkeys(_WRAPPERS.get(type(answer), ()), inner)}


def as_response(operation: Operation, answer: Wire, members: Json) -> Json:
    """Return the root of the assertions about a result; that of SendMessage has a member with the task or message."""
    if operation is Operation.SEND and isinstance(answer, Task | Message):
        return {_WRAPPERS[type(answer)][0]: members}
    return members


def _task_of(request: object) -> str:
    if isinstance(request, SendRequest):
        return request.message.task_id or ""
    if isinstance(request, PushConfig):
        return request.task_id or ""
    return str(getattr(request, "task_id", "") or getattr(request, "id", "") or "")


def _body_of(request: RawRequest) -> bytes:
    if request.body_raw is not None:
        try:
            return request.body_raw.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise StepError(f"body_raw cannot be sent as UTF-8: {error.reason}") from error
    return b"" if request.body is None else dump(request.body)


def _parsed(raw: bytes) -> Json:
    """Return JSON, or the text where it is not JSON."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return raw.decode("utf-8", "replace")
