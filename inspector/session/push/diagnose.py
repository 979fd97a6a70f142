"""Diagnose missing webhook deliveries: list the possible causes, the most likely first."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import field, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from inspector.capture.private_files import CaptureError
from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture
from inspector.lazy_dataclass import dataclass
from inspector.protocol.assemble import AssembledTask
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.lifecycle import is_terminal, short
from inspector.protocol.model import Json, PushConfig, PushConfigList
from inspector.protocol.operations import Operation
from inspector.protocol.selection import Choice
from inspector.session.call import Call
from inspector.session.connection import Connection
from inspector.session.journal import Journal
from inspector.session.push.causes import Cause, Evidence, causes
from inspector.session.push.senders import Requests, sort_requests
from inspector.session.push.service import PushService
from inspector.session.push.webhook_registration import WebhookRegistration
from inspector.session.replay.validation import problem_of
from inspector.session.tasks import TaskFold
from inspector.text.host import AddressScope, address_scope
from inspector.text.units import counted, timestamp_seconds
from inspector.wire.endpoint import endpoint_of
from inspector.wire.reach import connect, tls_handshake
from inspector.wire.receiver.delivery import NO_TLS
from inspector.wire.receiver.registration import path_of

_UNKNOWN_TASK = "TaskNotFoundError"
_TIMEOUT = 10.0
"""How many seconds an agent may take to respond."""
_MOST_RECORDED = 20_000
"""How many deliveries of a task are read from each capture; the last deliveries are read."""
_PAGE = 500
"""How many deliveries are in memory with their bodies."""


class _Session(Protocol):
    """The parts of a session that the diagnosis needs: the records, and calls to the agent."""

    journal: Journal
    tasks: TaskFold
    connection: Connection | None

    @property
    def push(self) -> PushService: ...
    @property
    def choice(self) -> Choice: ...
    def get(self, task_id: str) -> Call: ...
    def list_push(self, task_id: str) -> Call: ...
    def get_push(self, task_id: str, config_id: str) -> Call: ...


@dataclass(slots=True)
class Diagnosis:
    """The result: how many deliveries were `accepted`, the causes, and sentences about what could not be checked.

    `missing_end` is the last state of the task if other events were pushed, but not this state, else `""`. `others`
    describes the requests of other senders, which are not counted, `""` for none.
    """

    task_id: str
    accepted: int = 0
    causes: list[Cause] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    others: str = ""
    missing_end: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return the members of the JSON output, without the task and the causes."""
        return {
            "accepted": self.accepted,
            "notChecked": [*self.not_checked],
            "otherSenders": self.others,
            "stateNotPushed": short(self.missing_end),
        }


class _Recorded(NamedTuple):
    """The deliveries for a task in other captures, and the failed TLS handshakes at the receivers of its webhooks.

    `other_tasks` counts the deliveries to its webhooks that name another task, `captures` the captures that were read,
    `unreadable` those that could not be.
    """

    deliveries: tuple[Record, ...] = ()
    tls_failures: tuple[str, ...] = ()
    captures: int = 0
    unreadable: int = 0
    other_tasks: int = 0


async def examine(session: _Session, task_id: str, captures: Sequence[Path] = ()) -> Diagnosis:
    """Ask the agent for the registrations and the state of a task, and diagnose missing deliveries.

    If this session has no registration for the task, deliveries to the webhooks of other runs are read from `captures`.
    """
    configs, asked = await _ask_stored(session, task_id)
    fault = None
    if session.connection is not None and session.connection.choice is not None:
        fault = await _finish(session.get(task_id))
    agent_down = fault.seen if fault is not None and fault.code == FaultCode.UNREACHABLE else ""
    unknown_task = fault.error.words if fault is not None and fault.error and fault.code == _UNKNOWN_TASK else ""
    recorded = _Recorded()
    if not session.push.registrations.of_task(task_id):
        recorded = await asyncio.to_thread(_look_up, captures, task_id, [config.url for config in configs or ()])
    recorded_here: list[Record] = []
    for page in _pages_of_deliveries(session.journal.capture):
        recorded_here += page
        await asyncio.sleep(0)  # there may be many thousands
    requests = sort_requests(recorded_here, _numbers(session, task_id), task_id)
    known = _gather(session, task_id, configs, asked, recorded, requests)
    without_listener = (
        () if known.registrations else tuple([url for url in known.configs if not await _has_listener(url)])
    )
    known = replace(known, agent_down=agent_down, without_listener=without_listener, unknown_task=unknown_task)
    if known.registrations:  # only then are these deliveries those of the receiver that the agent should reach
        others_arrived = any(record.meta["taken"] and record.task != task_id for record in recorded_here)
        known = replace(known, others_arrived=others_arrived)
    not_checked = _not_checked(known, recorded)
    return Diagnosis(task_id, known.accepted, causes(known), not_checked, requests.others, known.missing_end)


async def _has_listener(url: str) -> bool:
    """Return whether something listens at a URL, True for other machines."""
    place = endpoint_of(url)
    if place is None or address_scope(place.host) is not AddressScope.MACHINE:
        return True
    # With TLS, complete the handshake: otherwise a receiver would record that the client does not trust it.
    is_open = place.tls and (await tls_handshake(place, verify=False)).good
    return is_open or bool((await connect(place)).good)


def _look_up(captures: Sequence[Path], task_id: str, urls: Sequence[str]) -> _Recorded:
    """Read the deliveries for a task, and the failed handshakes of the receivers at these URLs, in order of time."""
    found: list[Record] = []
    failed: list[Record] = []
    ports = {place.port for url in urls if (place := endpoint_of(url)) is not None}
    paths = {urlsplit(url).path for url in urls}
    unreadable = 0
    for path in captures:
        try:
            with Capture.open(path) as capture:
                own = deque[Record](maxlen=_MOST_RECORDED)
                for record in chain.from_iterable(_pages_of_deliveries(capture, None if urls else task_id)):
                    if record.meta.get("method") == NO_TLS:
                        failed.append(record)
                    elif record.task == task_id or _came_to(record, paths):
                        own.append(record)
                found += own
        except CaptureError:
            unreadable += 1
    # Damaged captures of other sessions must not prevent the diagnosis.
    deliveries = sorted((record for record in found if not problem_of(record)), key=lambda record: record.at)
    failed = [record for record in failed if not problem_of(record) and _port(record.meta["target"]) in ports]
    tls_failures = tuple(record.label for record in sorted(failed, key=lambda record: record.at))
    numbers = {record.meta["registration"] for record in deliveries} - {0}
    requests = sort_requests(deliveries, numbers, task_id)
    read = len(captures) - unreadable
    return _Recorded(requests.deliveries, tls_failures, read, unreadable, len(requests.other_tasks))


def _pages_of_deliveries(capture: Capture, task_id: str | None = None) -> Iterator[list[Record]]:
    """Read the deliveries (of a task) without their bodies, page by page, but not those that arrive meanwhile."""
    after, last = 0, len(capture)
    while page := capture.select(kinds=(Kind.DELIVERY,), task=task_id, after=after, through=last, limit=_PAGE):
        after = page[-1].seq
        yield [record._replace(raw=b"") for record in page]


def _came_to(record: Record, paths: Collection[str]) -> bool:
    """Return whether a delivery came to one of these paths; a proxy may have removed their beginning."""
    target = path_of(str(record.meta.get("target", "")))
    return bool(target) and any(path.endswith(target) for path in paths)


def _port(address: str) -> int | None:
    place = endpoint_of(address)
    return place.port if place is not None else None


def _not_checked(known: Evidence, recorded: _Recorded) -> list[str]:
    """Describe what could not be checked: the webhooks of other runs and other programs."""
    if known.registrations:
        return []
    if known.configs:
        registered = "The webhooks of this task were registered by another run"
    else:
        registered = "This run registered no webhook for the task"
    read = f"{counted(recorded.captures, 'capture')} read"
    read += f" ({recorded.unreadable} could not be read)" if recorded.unreadable else ""
    if recorded.deliveries:
        result = f"{read}: {len(recorded.deliveries)} deliveries found, {known.accepted} of them accepted"
    else:
        result = f"{read}: no delivery about it found" if recorded.captures else "no capture was read"
    return [
        f"{registered}. Only deliveries in the captures on this machine are known; {result}.",
        "Only the run that registered the webhook can check whether deliveries went to another path, and whether it was"
        " registered before the task ended: run the diagnosis in its Webhooks view.",
    ]


def _gather(
    session: _Session,
    task_id: str,
    listed: Sequence[PushConfig] | None,
    asked: str,
    recorded: _Recorded,
    requests: Requests,
) -> Evidence:
    journal, push, connection = session.journal, session.push, session.connection
    registrations = tuple(push.registrations.of_task(task_id))
    configs = tuple(journal.redactor.url(config.url) for config in listed or ())
    tracked = session.tasks.get(task_id)
    choice = connection.choice if connection else None
    return Evidence(
        agent=choice.interface.url if choice else "",
        advertised=push.receiver.base_url if registrations else next(iter(configs), ""),
        declared=connection.card.capabilities.push_notifications if connection else None,
        registrations=registrations,
        configs=configs,
        deliveries=requests.deliveries or recorded.deliveries,
        tls_failures=requests.tls_failures or recorded.tls_failures,
        other_tasks=len(requests.other_tasks) or recorded.other_tasks,
        unknown_paths=requests.unknown_paths,
        stored=None if listed is None else sum(webhook.stored is True for webhook in registrations),
        asked=asked,
        state=tracked.now.state if tracked else "",
        ended=_ended(tracked.now, registrations) if tracked else None,
    )


def _numbers(session: _Session, task_id: str) -> frozenset[int]:
    """Return the numbers of our registrations for a task."""
    return frozenset(webhook.registration.number for webhook in session.push.registrations.of_task(task_id))


def _ended(task: AssembledTask, registrations: Sequence[WebhookRegistration]) -> float | None:
    """Return when a task ended: by the agent's clock, but not later than the event arrived.

    A timestamp at which the task did not exist, or was still running, is not used: the agent's clock may be slow, and
    timestamps may be rounded down to seconds.
    """
    arrived = next((move.at for move in task.moves if is_terminal(move.state)), None)
    timestamp = timestamp_seconds(task.status.timestamp) if is_terminal(task.state) else None
    if arrived is None or timestamp is None:
        return arrived
    began = [webhook.registration.made_at for webhook in registrations if webhook.for_new_task]
    ran = [move.at for move in task.moves if not is_terminal(move.state) and move.at <= arrived]
    return arrived if timestamp < max(began + ran, default=0.0) else min(arrived, timestamp)


async def _ask_stored(session: _Session, task_id: str) -> tuple[Sequence[PushConfig] | None, str]:
    """Ask the agent for the webhooks of a task, with the first operation that succeeds.

    Returns the webhooks and the operation, or None and the reason.
    """
    try:
        choice = session.choice
    except FaultError as error:
        return None, error.fault.seen
    registrations = session.push.registrations.of_task(task_id)
    why = f"{choice.dialect.version} over {choice.binding.name} has no operation for it"
    for operation in (Operation.LIST_PUSH, Operation.GET_PUSH):
        if not choice.binding.offers(choice.dialect, operation):
            continue
        listing = operation is Operation.LIST_PUSH
        config_id = (registrations[-1].config_id if registrations else "") or task_id
        call = session.list_push(task_id) if listing else session.get_push(task_id, config_id)
        fault = await _finish(call)
        answer = call.exchange.answer
        if fault is None and isinstance(answer, PushConfigList):
            return answer.configs, operation.value
        if fault is None and isinstance(answer, PushConfig):
            return [answer], operation.value
        why = fault.seen if fault else f"{operation.value} returned another type of object"
    return None, why


async def _finish(call: Call) -> Fault | None:
    """Finish a call, or give up after `_TIMEOUT`."""
    try:
        async with asyncio.timeout(_TIMEOUT):
            return await call.finish()
    except TimeoutError:
        return Fault(Whose.AGENT, FaultCode.TIMEOUT, f"The agent did not answer within {_TIMEOUT:g} s.")
