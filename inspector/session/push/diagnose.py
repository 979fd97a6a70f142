"""Diagnose missing webhook deliveries: list the possible causes, the most likely first."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple, Protocol

from inspector.capture.private_files import CaptureError
from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture
from inspector.protocol.assemble import AssembledTask
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.lifecycle import is_terminal, short
from inspector.protocol.model import PushConfig, PushConfigList
from inspector.protocol.operations import Operation
from inspector.protocol.selection import Choice
from inspector.session.call import Call
from inspector.session.connection import Connection
from inspector.session.journal import Journal
from inspector.session.push.service import PushService
from inspector.session.push.webhook_registration import WebhookRegistration
from inspector.session.tasks import TaskFold
from inspector.text.units import timestamp_seconds
from inspector.wire.reach import AddressScope, Reachable, address_scope, connect, endpoint_of, reachable, tls_handshake
from inspector.wire.receiver.delivery import NO_TLS

_ADDRESS_WORDS = ("loopback", "localhost", "127.0.0.1", "private", "internal address", "internal network", "ssrf")
"""Words in the errors of agents that refuse an address."""
_TIMEOUT = 10.0
"""How many seconds an agent may take to respond."""
_MOST_RECORDED = 500
"""How many deliveries of a task are read from each capture."""
_AGENT_DOWN = "the agent cannot be reached"
_NOT_REGISTERED = "not registered"
_ADDRESS_REFUSED = "the agent refuses the address"
_REGISTRATION_REFUSED = "the agent refused the registration"
_NO_PUSH = "the agent does not support push"
_NOT_STORED = "the agent did not store the registration"
_DELETED = "the registration was deleted"
_TASK_ENDED = "the task ended before the registration"
_UNREACHABLE = "the agent cannot reach the receiver"
_UNTRUSTED = "the agent does not trust our certificate"
_GAVE_UP = "the receiver answered with an error and the agent gave up"
_OTHER_PATH = "the agent posts to another path"
_AT_THE_END = "the agent pushes only when the task ends"
_RANK = (
    *(_AGENT_DOWN, _NOT_REGISTERED, _ADDRESS_REFUSED, _REGISTRATION_REFUSED, _NO_PUSH, _NOT_STORED, _DELETED),
    *(_TASK_ENDED, _UNTRUSTED, _UNREACHABLE, _GAVE_UP, _OTHER_PATH, _AT_THE_END),
)
"""The causes, the most common first."""


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


class Likely(IntEnum):
    """How likely a cause is."""

    CERTAIN = 0
    LIKELY = 1
    POSSIBLE = 2
    RULED_OUT = 3


@dataclass(frozen=True, slots=True)
class Cause:
    """A possible cause: its name, its likelihood, the evidence for or against it, and a remedy."""

    name: str
    likely: Likely
    evidence: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The known facts about the pushes of a task.

    `advertised` is the URL of the receiver as the agent has it. `declared` is `pushNotifications` on the card.
    `registrations` are our registrations for the task, `configs` the URLs that the agent reported. `deliveries` are
    those to our registrations or, if we have no registration, those of the task in other captures. `unknown_paths`
    counts deliveries to unknown paths; `tls_failures` has the reasons of failed handshakes.

    `stored` is how many of our registrations the agent has, None if unknown; `asked` is the operation that returned
    them, or the reason why their number is unknown. `ended` is when the task ended. `agent_down` is the reason why
    the agent cannot be reached, `no_listener` reports that nothing listens at the URL; both are `""` otherwise. Times
    are in seconds since 1970.
    """

    agent: str
    advertised: str
    declared: bool | None
    registrations: tuple[WebhookRegistration, ...] = ()
    configs: tuple[str, ...] = ()
    deliveries: tuple[Record, ...] = ()
    unknown_paths: int = 0
    tls_failures: tuple[str, ...] = ()
    stored: int | None = None
    asked: str = ""
    state: str = ""
    ended: float | None = None
    agent_down: str = ""
    no_listener: str = ""
    now: float = field(default_factory=time.time)

    @property
    def accepted(self) -> int:
        """Return how many deliveries were accepted."""
        return sum(bool(record.meta["taken"]) for record in self.deliveries if not record.meta["challenge"])

    @property
    def reach(self) -> Reachable:
        """Return whether the agent can reach the receiver."""
        return reachable(self.advertised, self.agent, came=bool(self.deliveries))


def causes(known: Evidence) -> list[Cause]:
    """Return the possible causes, the most likely first, and then those that are ruled out."""
    found = [_no_push(known), _task_ended(known), _only_at_the_end(known)]
    if known.agent_down:
        remedy = "Start the agent again, and look in its log for the reason why it ended."
        found.append(Cause(_AGENT_DOWN, Likely.CERTAIN, known.agent_down, remedy))
    if not known.registrations and not known.configs:
        remedy = (
            "Register a webhook: press s in Webhooks, or p before you send the message, or use the command push set."
        )
        if known.stored is not None:
            evidence = f"no webhook for this task ({known.asked})"
            return [Cause(_NOT_REGISTERED, Likely.CERTAIN, evidence, remedy)]
        evidence = f"the agent does not list its webhooks: {known.asked}"
        found.append(Cause(_NOT_REGISTERED, Likely.POSSIBLE, evidence, remedy))
    else:
        found += [_refused(known), _unreachable(known)]
    if known.registrations:
        found += [_not_stored(known), _other_path(known)]
    if known.advertised.startswith("https:") and (known.registrations or known.tls_failures):
        found.append(_untrusted(known))
    if known.registrations or known.deliveries:
        found.append(_gave_up(known))
    return sorted(found, key=lambda cause: (cause.likely, _RANK.index(cause.name)))


def _refused(known: Evidence) -> Cause:
    failed = next((webhook.failed for webhook in known.registrations if webhook.failed), "")
    remedy = "Use an address that the agent accepts (--public-url with a tunnel), or allow loopback in the agent."
    if any(word in failed.lower() for word in _ADDRESS_WORDS):
        return Cause(_ADDRESS_REFUSED, Likely.CERTAIN, f"it answered: {failed}", remedy)
    if failed:
        remedy = "Correct what the error names, and register again."
        return Cause(_REGISTRATION_REFUSED, Likely.CERTAIN, f"it answered: {failed}", remedy)
    ours = endpoint_of(known.advertised)
    loopback = ours is not None and address_scope(ours.host) is AddressScope.MACHINE
    if not loopback or known.deliveries or known.tls_failures:
        arrived = "deliveries arrived" if known.deliveries else "a client connected" if known.tls_failures else ""
        evidence = arrived or f"{known.advertised} is not a loopback address"
        return Cause(_ADDRESS_REFUSED, Likely.RULED_OUT, evidence)
    evidence = f"{known.advertised} is a loopback address, which agents may refuse silently, as 1.0 §13.2 advises"
    likely = Likely.LIKELY if known.reach.good and known.stored else Likely.POSSIBLE
    return Cause(_ADDRESS_REFUSED, likely, evidence, remedy)


def _no_push(known: Evidence) -> Cause:
    if known.declared is None:
        evidence = "the card does not declare pushNotifications"
    else:
        evidence = f"the card declares pushNotifications: {str(known.declared).lower()}"
    if known.declared:
        return Cause(_NO_PUSH, Likely.RULED_OUT, evidence)
    likely = Likely.LIKELY if known.declared is False else Likely.POSSIBLE
    remedy = "Enable push notifications in the agent, and declare pushNotifications: true on its card."
    return Cause(_NO_PUSH, likely, evidence, remedy)


def _not_stored(known: Evidence) -> Cause:
    registered = [webhook for webhook in known.registrations if not webhook.failed]
    deleted = sum(webhook.deleted for webhook in registered)
    if registered and deleted == len(registered):
        evidence = f"{deleted} deleted after being registered"
        return Cause(_DELETED, Likely.CERTAIN, evidence, "Register another webhook: press s in Webhooks.")
    if known.stored is None:
        evidence = f"the agent does not list its webhooks: {known.asked}"
        return Cause(_NOT_STORED, Likely.POSSIBLE, evidence, "Look in the agent's store or log.")
    if known.stored:
        return Cause(_NOT_STORED, Likely.RULED_OUT, f"{known.asked} returned {known.stored} of our registrations")
    remedy = "Register it again with CreateTaskPushNotificationConfig, not with the message: press s in Webhooks."
    return Cause(_NOT_STORED, Likely.CERTAIN, f"{known.asked} returned none of our registrations", remedy)


def _task_ended(known: Evidence) -> Cause:
    if known.ended is None:
        return Cause(_TASK_ENDED, Likely.RULED_OUT, f"the task is {short(known.state) or 'unknown so far'}")
    if not known.registrations:
        evidence = f"the task is {short(known.state)}, and the time of the registration is unknown"
        return Cause(_TASK_ENDED, Likely.POSSIBLE, evidence, "Register with the message, not after it.")
    early = min(webhook.registration.made_at for webhook in known.registrations) - known.ended
    if early > 0:
        remedy = "Send the next message with a webhook (p): a task that has ended does not change any more."
        return Cause(_TASK_ENDED, Likely.CERTAIN, f"it ended {early:.1f} s before", remedy)
    return Cause(_TASK_ENDED, Likely.RULED_OUT, f"it ended {-early:.1f} s after")


def _unreachable(known: Evidence) -> Cause:
    if known.no_listener:
        remedy = (
            "Start the program that should listen there, or register the URL of a running receiver (a2a-inspect listen,"
            " or p in the TUI)."
        )
        return Cause(_UNREACHABLE, Likely.CERTAIN, f"{known.advertised}: {known.no_listener}", remedy)
    good, words = known.reach
    likely = {True: Likely.RULED_OUT, False: Likely.LIKELY, None: Likely.POSSIBLE}[good]
    evidence = f"{known.advertised}, from the agent's host: {words}"
    if known.tls_failures and not known.deliveries:
        return Cause(_UNREACHABLE, Likely.RULED_OUT, "a client connected, but the TLS handshake failed")
    if likely is Likely.RULED_OUT and known.deliveries:
        return Cause(_UNREACHABLE, likely, evidence)
    if likely is Likely.RULED_OUT:
        remedy = (
            "If the agent runs in a container, use --receiver-host 0.0.0.0, and --public-url with the address at which"
            " the container reaches this machine."
        )
        return Cause(_UNREACHABLE, Likely.POSSIBLE, f"{evidence}, unless it runs in a container", remedy)
    remedy = "Run curl -i with the URL on the agent's host. If that fails, use --public-url with a tunnel."
    return Cause(_UNREACHABLE, likely, evidence, remedy)


def _untrusted(known: Evidence) -> Cause:
    if not known.tls_failures:
        return Cause(_UNTRUSTED, Likely.RULED_OUT, "no TLS handshake failed")
    remedy = (
        "Add the issuer of our certificate to those that the agent trusts, or use a certificate that it trusts:"
        " --receiver-cert, --public-url."
    )
    failures = len(known.tls_failures)
    times = f"{failures} time{'' if failures == 1 else 's'}"
    evidence = f"the TLS handshake failed {times}, the last time: {known.tls_failures[-1].rstrip('.')}"
    return Cause(_UNTRUSTED, Likely.POSSIBLE if known.deliveries else Likely.LIKELY, evidence, remedy)


def _gave_up(known: Evidence) -> Cause:
    failed = [record for record in known.deliveries if not record.meta["taken"] and not record.meta["challenge"]]
    if not failed:
        return Cause(_GAVE_UP, Likely.RULED_OUT, "no delivery was answered with an error")
    last = failed[-1]
    why = last.meta["refused"] or f"response override: {last.meta['dialled']}"
    evidence = f"{len(failed)} not accepted, the last with {last.meta['status'] or 'no response'}: {why}"
    refused = "Have the agent send what the registration requires."
    remedy = refused if last.meta["refused"] else "Accept deliveries again: press f in Webhooks."
    return Cause(_GAVE_UP, Likely.CERTAIN if known.deliveries[-1] is last else Likely.POSSIBLE, evidence, remedy)


def _other_path(known: Evidence) -> Cause:
    if not known.unknown_paths:
        return Cause(_OTHER_PATH, Likely.RULED_OUT, "no delivery came to an unregistered path")
    remedy = "Compare the paths in Webhooks: does a proxy rewrite them, or are they from webhooks of an earlier run?"
    evidence = f"{known.unknown_paths} deliveries came to unregistered paths"
    return Cause(_OTHER_PATH, Likely.LIKELY, evidence, remedy)


def _only_at_the_end(known: Evidence) -> Cause:
    if known.ended is not None or not known.state:
        return Cause(_AT_THE_END, Likely.RULED_OUT, f"the task is {short(known.state) or 'unknown so far'}")
    evidence = f"the task is {short(known.state)}; SDKs before 1.0 push once, when it has ended"
    remedy = "Wait for the task to end, or cancel it, and see whether the agent pushes the final state."
    return Cause(_AT_THE_END, Likely.POSSIBLE, evidence, remedy)


@dataclass(slots=True)
class Diagnosis:
    """The result: how many deliveries were `accepted`, the causes, and sentences about what could not be checked."""

    task_id: str
    accepted: int = 0
    causes: list[Cause] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)


class _Recorded(NamedTuple):
    """The deliveries for a task in other captures, and the failed TLS handshakes at the receivers of its webhooks.

    `captures` counts the captures that were read, `unreadable` those that could not be.
    """

    deliveries: tuple[Record, ...] = ()
    tls_failures: tuple[str, ...] = ()
    captures: int = 0
    unreadable: int = 0


async def examine(session: _Session, task_id: str, captures: Sequence[Path] = ()) -> Diagnosis:
    """Ask the agent for the registrations and the state of a task, and diagnose missing deliveries.

    If this session has no registration for the task, deliveries to the webhooks of other runs are read from `captures`.
    """
    configs, asked = await _ask_stored(session, task_id)
    fault = None
    if session.connection is not None and session.connection.choice is not None:
        fault = await _finish(session.get(task_id))
    agent_down = fault.seen if fault is not None and fault.code == FaultCode.UNREACHABLE else ""
    recorded = _Recorded()
    if not session.push.registrations.of_task(task_id):
        recorded = await asyncio.to_thread(_look_up, captures, task_id, [config.url for config in configs or ()])
    known = _gather(session, task_id, configs, asked, recorded)
    no_listener = "" if known.registrations else await _no_listener(known.advertised)
    known = replace(known, agent_down=agent_down, no_listener=no_listener)
    return Diagnosis(task_id, known.accepted, causes(known), _not_checked(known, recorded))


async def _no_listener(url: str) -> str:
    """Return a message if nothing listens at a URL of this machine, else `""`."""
    place = endpoint_of(url)
    if place is None or address_scope(place.host) is not AddressScope.MACHINE:
        return ""
    # With TLS, complete the handshake: otherwise a receiver would record that the client does not trust it.
    is_open = place.tls and (await tls_handshake(place, verify=False)).good
    return "" if is_open or (await connect(place)).good else "nothing listens there"


def _look_up(captures: Sequence[Path], task_id: str, urls: Sequence[str]) -> _Recorded:
    """Read the deliveries for a task, and the failed handshakes of the receivers at these URLs, in order of time."""
    found: list[Record] = []
    others: list[Record] = []
    ports = {place.port for url in urls if (place := endpoint_of(url)) is not None}
    unreadable = 0
    for path in captures:
        try:
            with Capture.open(path) as capture:
                found += capture.select(kinds=(Kind.DELIVERY,), task=task_id, limit=_MOST_RECORDED)
                others += capture.select(kinds=(Kind.DELIVERY,), limit=_MOST_RECORDED) if ports else ()
        except CaptureError:
            unreadable += 1
    needed = {"taken", "challenge", "refused", "dialled", "status"}
    deliveries = sorted((record for record in found if needed <= record.meta.keys()), key=lambda record: record.at)
    failed = [record for record in others if record.meta.get("method") == NO_TLS]
    failed = [record for record in failed if _port(record.meta.get("target", "")) in ports]
    tls_failures = tuple(record.label for record in sorted(failed, key=lambda record: record.at))
    return _Recorded(tuple(deliveries), tls_failures, len(captures) - unreadable, unreadable)


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
    read = f"{recorded.captures} capture{'' if recorded.captures == 1 else 's'} read"
    read += f" ({recorded.unreadable} could not be read)" if recorded.unreadable else ""
    if recorded.deliveries:
        result = f"{read}: {len(recorded.deliveries)} deliveries found, {known.accepted} of them accepted"
    else:
        result = f"{read}: no delivery found" if recorded.captures else "no capture was read"
    return [
        f"{registered}. Only deliveries in the captures on this machine are known; {result}.",
        "Only the run that registered the webhook can check whether deliveries went to another path, and whether it was"
        " registered before the task ended: press w in its Webhooks.",
    ]


def _gather(
    session: _Session, task_id: str, listed: Sequence[PushConfig] | None, asked: str, recorded: _Recorded
) -> Evidence:
    journal, push, connection = session.journal, session.push, session.connection
    registrations = tuple(push.registrations.of_task(task_id))
    configs = tuple(journal.redactor.url(config.url) for config in listed or ())
    numbers = {webhook.registration.number for webhook in registrations}
    all_deliveries = journal.capture.select(kinds=(Kind.DELIVERY,))
    deliveries = tuple(record for record in all_deliveries if record.meta["registration"] in numbers)
    tls_failures = tuple(record.label for record in all_deliveries if record.meta["method"] == NO_TLS)
    tracked = session.tasks.get(task_id)
    choice = connection.choice if connection else None
    return Evidence(
        agent=choice.interface.url if choice else "",
        advertised=push.receiver.base_url if registrations else next(iter(configs), ""),
        declared=connection.card.capabilities.push_notifications if connection else None,
        registrations=registrations,
        configs=configs,
        deliveries=deliveries or recorded.deliveries,
        tls_failures=tls_failures or recorded.tls_failures,
        unknown_paths=sum(
            not record.meta["registration"] and record.meta["method"] == "POST" for record in all_deliveries
        ),
        stored=None if listed is None else sum(webhook.stored is True for webhook in registrations),
        asked=asked,
        state=tracked.now.state if tracked else "",
        ended=_ended(tracked.now) if tracked else None,
    )


def _ended(task: AssembledTask) -> float | None:
    """Return when a task ended: by the agent's clock, but not later than the event arrived."""
    arrived = next((move.at for move in task.moves if is_terminal(move.state)), None)
    timestamp = timestamp_seconds(task.status.timestamp) if is_terminal(task.state) else None
    return arrived if arrived is None or timestamp is None else min(arrived, timestamp)


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
