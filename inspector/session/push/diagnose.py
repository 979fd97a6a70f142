"""Diagnose missing deliveries: a webhook was registered and nothing came; the likeliest causes first."""

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

_SHY = ("loopback", "localhost", "127.0.0.1", "private", "internal address", "internal network", "ssrf")
"""Words in the errors of agents that refuse an address."""
_PATIENCE = 10.0
"""How many seconds an agent may take to respond."""
_MOST_RECORDED = 500
"""How many deliveries of a task are read from each capture."""
_GONE = "the agent cannot be reached"
_NONE = "not registered"
_REFUSES = "the agent refuses the address"
_REJECTED = "the agent refused the registration"
_NO_PUSH = "the agent does not do push"
_LOST = "the agent did not keep the registration"
_DELETED = "the webhook was deleted"
_OVER = "the task ended before the registration"
_FAR = "the agent cannot reach the receiver"
_UNTRUSTED = "the agent does not trust our certificate"
_GAVE_UP = "we answered with an error, and it gave up"
_ASTRAY = "it posts to another path"
_AT_THE_END = "the agent pushes only at the end"
_RANK = (
    *(_GONE, _NONE, _REFUSES, _REJECTED, _NO_PUSH, _LOST, _DELETED, _OVER),
    *(_UNTRUSTED, _FAR, _GAVE_UP, _ASTRAY, _AT_THE_END),
)
"""The causes, the most common first."""


class _Session(Protocol):
    """The parts of a session that the diagnosis needs: the records, and calls to the agent."""

    journal: Journal
    tasks: TaskFold
    push: PushService
    connection: Connection | None

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

    `declared` is the card's pushNotifications. `hooks` are our registrations for the task, `configs` the urls that the
    agent reported; `deliveries` are those to our registrations or, without any, those of the task in other captures;
    `strays` counts deliveries to unknown paths, `tls_failures` has the reasons of failed handshakes. `listed` is how
    many of our registrations the agent has, None if unknown, `asked` the operation that was used, or why it is unknown.
    `ended` is when the task ended. `gone` says why the agent is unreachable, `silent` that nothing listens at the url.
    """

    agent: str
    advertised: str
    declared: bool | None
    hooks: tuple[WebhookRegistration, ...] = ()
    configs: tuple[str, ...] = ()
    deliveries: tuple[Record, ...] = ()
    strays: int = 0
    tls_failures: tuple[str, ...] = ()
    listed: int | None = None
    asked: str = ""
    state: str = ""
    ended: float | None = None
    gone: str = ""
    silent: str = ""
    now: float = field(default_factory=time.time)

    @property
    def good(self) -> int:
        """Return how many deliveries were accepted."""
        return sum(bool(record.meta["taken"]) for record in self.deliveries if not record.meta["challenge"])

    @property
    def reach(self) -> Reachable:
        """Return whether the agent can reach the receiver."""
        return reachable(self.advertised, self.agent, came=bool(self.deliveries))


def causes(known: Evidence) -> list[Cause]:
    """Return the possible causes, the likeliest first, and then those that are ruled out."""
    found = [_not_declared(known), _ended_before(known), _only_at_the_end(known)]
    if known.gone:
        found.append(Cause(_GONE, Likely.CERTAIN, known.gone, "Start it again, and look why it ended."))
    if not known.hooks and not known.configs:
        remedy = "Register one: s in Webhooks, or p before the message is sent; push set does it headless."
        if known.listed is not None:
            return [Cause(_NONE, Likely.CERTAIN, f"no webhook for this task ({known.asked})", remedy)]
        found.append(Cause(_NONE, Likely.POSSIBLE, f"the agent does not tell: {known.asked}", remedy))
    else:
        found += [_refused(known), _not_reachable(known)]
    if known.hooks:
        found += [_not_stored(known), _strays(known)]
    if known.advertised.startswith("https:") and (known.hooks or known.tls_failures):
        found.append(_not_trusted(known))
    if known.hooks or known.deliveries:
        found.append(_answered_badly(known))
    return sorted(found, key=lambda cause: (cause.likely, _RANK.index(cause.name)))


def _refused(known: Evidence) -> Cause:
    failed = next((hook.failed for hook in known.hooks if hook.failed), "")
    remedy = "Give it an address that it accepts: --public-url with a tunnel, or allow loopback in the agent."
    if any(word in failed.lower() for word in _SHY):
        return Cause(_REFUSES, Likely.CERTAIN, f"it answered: {failed}", remedy)
    if failed:
        return Cause(_REJECTED, Likely.CERTAIN, f"it answered: {failed}", "Mend what the error names.")
    ours = endpoint_of(known.advertised)
    loopback = ours is not None and address_scope(ours.host) is AddressScope.MACHINE
    if not loopback or known.deliveries or known.tls_failures:
        came = "deliveries came" if known.deliveries else "somebody connected" if known.tls_failures else ""
        return Cause(_REFUSES, Likely.RULED_OUT, came or f"{known.advertised} is no loopback address")
    seen = f"{known.advertised} is a loopback address, which agents may refuse silently, as 1.0 §13.2 advises"
    return Cause(_REFUSES, Likely.LIKELY if known.reach.good and known.listed else Likely.POSSIBLE, seen, remedy)


def _not_declared(known: Evidence) -> Cause:
    said = {True: "true", False: "false", None: "not at all"}[known.declared]
    seen = f"the card declares pushNotifications: {said}"
    if known.declared:
        return Cause(_NO_PUSH, Likely.RULED_OUT, seen)
    likely = Likely.LIKELY if known.declared is False else Likely.POSSIBLE
    return Cause(_NO_PUSH, likely, seen, "Call push notifications on in the agent, and say so on its card.")


def _not_stored(known: Evidence) -> Cause:
    mine = [hook for hook in known.hooks if not hook.failed]
    deleted = sum(hook.deleted for hook in mine)
    if mine and deleted == len(mine):
        return Cause(_DELETED, Likely.CERTAIN, f"{deleted} deleted since", "Register another: s in Webhooks.")
    if known.listed is None:
        return Cause(_LOST, Likely.POSSIBLE, f"it does not tell: {known.asked}", "Look in the agent's store or log.")
    if known.listed:
        return Cause(_LOST, Likely.RULED_OUT, f"{known.asked}: it has {known.listed} of ours")
    remedy = "Register it again, with CreateTaskPushNotificationConfig instead of the message: s in Webhooks."
    return Cause(_LOST, Likely.CERTAIN, f"{known.asked}: it has none of ours", remedy)


def _ended_before(known: Evidence) -> Cause:
    if known.ended is None:
        return Cause(_OVER, Likely.RULED_OUT, f"the task is {short(known.state) or 'not heard of yet'}")
    if not known.hooks:
        seen = f"the task is {short(known.state)}, and nobody tells when the webhook was registered"
        return Cause(_OVER, Likely.POSSIBLE, seen, "Register with the message, not after it.")
    early = min(hook.registration.made_at for hook in known.hooks) - known.ended
    if early > 0:
        remedy = "Register with the message (p), not after it: nothing will happen to this task any more."
        return Cause(_OVER, Likely.CERTAIN, f"it was over {early:.1f} s before", remedy)
    return Cause(_OVER, Likely.RULED_OUT, f"it was over {-early:.1f} s after")


def _not_reachable(known: Evidence) -> Cause:
    if known.silent:
        remedy = "Start what is to listen there, or register the url of something that does (listen, p)."
        return Cause(_FAR, Likely.CERTAIN, f"{known.advertised}: {known.silent}", remedy)
    good, words = known.reach
    likely = {True: Likely.RULED_OUT, False: Likely.LIKELY, None: Likely.POSSIBLE}[good]
    seen = f"{known.advertised}, from the agent's host: {words}"
    if known.tls_failures and not known.deliveries:
        return Cause(_FAR, Likely.RULED_OUT, "somebody connected, and TLS came to nothing")
    if likely is Likely.RULED_OUT and known.deliveries:
        return Cause(_FAR, likely, seen)
    if likely is Likely.RULED_OUT:
        remedy = "If so: --receiver-host 0.0.0.0, and --public-url with the address that this machine has from there."
        return Cause(_FAR, Likely.POSSIBLE, f"{seen}, unless it runs in a container", remedy)
    return Cause(_FAR, likely, seen, "Ask on the agent's host: curl -i the url; else --public-url with a tunnel.")


def _not_trusted(known: Evidence) -> Cause:
    if not known.tls_failures:
        return Cause(_UNTRUSTED, Likely.RULED_OUT, "TLS was agreed on with everybody who came")
    remedy = "Have the agent trust who signed it, or use a certificate that it trusts: --receiver-cert, --public-url."
    seen = f"TLS came to nothing {len(known.tls_failures)} times, the last time: {known.tls_failures[-1].rstrip('.')}"
    return Cause(_UNTRUSTED, Likely.POSSIBLE if known.deliveries else Likely.LIKELY, seen, remedy)


def _answered_badly(known: Evidence) -> Cause:
    bad = [record for record in known.deliveries if not record.meta["taken"] and not record.meta["challenge"]]
    if not bad:
        return Cause(_GAVE_UP, Likely.RULED_OUT, "no delivery was answered with an error")
    last = bad[-1]
    why = last.meta["refused"] or f"dialled in: {last.meta['dialled']}"
    seen = f"{len(bad)} answered so, the last ({last.meta['status'] or 'no answer'}): {why}"
    remedy = "Send what the registration asks for." if last.meta["refused"] else "Answer well again: f in Webhooks."
    return Cause(_GAVE_UP, Likely.CERTAIN if known.deliveries[-1] is last else Likely.POSSIBLE, seen, remedy)


def _strays(known: Evidence) -> Cause:
    if not known.strays:
        return Cause(_ASTRAY, Likely.RULED_OUT, "nothing came to a path that is not registered")
    remedy = "Compare the paths in Webhooks: does a proxy rewrite them, or is it a webhook of an earlier run?"
    return Cause(_ASTRAY, Likely.LIKELY, f"{known.strays} deliveries came to paths that are not registered", remedy)


def _only_at_the_end(known: Evidence) -> Cause:
    if known.ended is not None or not known.state:
        return Cause(_AT_THE_END, Likely.RULED_OUT, f"the task is {short(known.state) or 'not heard of yet'}")
    seen = f"the task is {short(known.state)}; SDKs before 1.0 push once, when it has ended"
    remedy = "Wait for the task to end, or cancel it, and see whether that is pushed."
    return Cause(_AT_THE_END, Likely.POSSIBLE, seen, remedy)


@dataclass(slots=True)
class Diagnosis:
    """The number of accepted deliveries, the causes, and in `unseen` sentences about what could not be checked."""

    task_id: str
    good: int = 0
    causes: list[Cause] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)


class _Recorded(NamedTuple):
    """The records of other captures about a task: deliveries, failed TLS handshakes at the receivers of its webhooks.

    `captures` is how many captures were read.
    """

    deliveries: tuple[Record, ...] = ()
    tls_failures: tuple[str, ...] = ()
    captures: int = 0
    unreadable: int = 0


async def examine(session: _Session, task_id: str, captures: Sequence[Path] = ()) -> Diagnosis:
    """Ask the agent for the registrations and the state of a task, and diagnose missing deliveries.

    Deliveries to the webhooks of other runs are read from `captures`.
    """
    configs, asked = await _ask_stored(session, task_id)
    fault = None
    if session.connection is not None and session.connection.choice is not None:
        fault = await _finish(session.get(task_id))
    gone = fault.seen if fault is not None and fault.code == FaultCode.UNREACHABLE else ""
    recorded = _Recorded()
    if not session.push.hooks.of_task(task_id):
        recorded = await asyncio.to_thread(_look_up, captures, task_id, [config.url for config in configs or ()])
    known = _gather(session, task_id, configs, asked, recorded)
    known = replace(known, gone=gone, silent="" if known.hooks else await _silence(known.advertised))
    return Diagnosis(task_id, known.good, causes(known), _unseen(known, recorded))


async def _silence(url: str) -> str:
    """Return a message if nothing listens at a url of this machine, else `""`."""
    place = endpoint_of(url)
    if place is None or address_scope(place.host) is not AddressScope.MACHINE:
        return ""
    # With TLS, complete the handshake: a receiver would report a client that leaves before as one without trust.
    open_there = place.tls and (await tls_handshake(place, verify=False)).good
    return "" if open_there or (await connect(place)).good else "nothing listens there"


def _look_up(captures: Sequence[Path], task_id: str, urls: Sequence[str]) -> _Recorded:
    """Read the deliveries of a task, and the failed handshakes of the receivers at these urls, in order of time."""
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
    ours = (record for record in found if {"taken", "challenge", "refused", "dialled", "status"} <= record.meta.keys())
    shaken = (one for one in others if one.meta.get("method") == NO_TLS and _port(one.meta.get("target", "")) in ports)
    tls_failures = tuple(one.label for one in sorted(shaken, key=lambda one: one.at))
    return _Recorded(tuple(sorted(ours, key=lambda one: one.at)), tls_failures, len(captures) - unreadable, unreadable)


def _port(address: str) -> int | None:
    place = endpoint_of(address)
    return place.port if place is not None else None


def _unseen(known: Evidence, recorded: _Recorded) -> list[str]:
    """Describe what could not be checked: the webhooks of other runs and other programs."""
    if known.hooks:
        return []
    whose = "No webhook of this task is one of this run" if known.configs else "This run has no webhook of the task"
    looked = f"{recorded.captures} recorded session{'' if recorded.captures == 1 else 's'}"
    looked += f" ({recorded.unreadable} could not be read)" if recorded.unreadable else ""
    if recorded.deliveries:
        came = f"{looked} tell of {len(recorded.deliveries)} deliveries, {known.good} of them accepted"
    else:
        came = f"{looked} tell of no delivery" if recorded.captures else "no recorded session was looked at"
    return [
        f"{whose}: what came to it is known only as far as this machine recorded it; {came}.",
        "Whether deliveries went to another path, and whether the webhook was registered before the task ended, is"
        " seen only by the run that registered it: w in its Webhooks.",
    ]


def _gather(
    session: _Session, task_id: str, told: Sequence[PushConfig] | None, asked: str, recorded: _Recorded
) -> Evidence:
    journal, push, connection = session.journal, session.push, session.connection
    hooks = tuple(push.hooks.of_task(task_id))
    configs = tuple(journal.redactor.url(config.url) for config in told or ())
    numbers = {hook.registration.number for hook in hooks}
    came = journal.capture.select(kinds=(Kind.DELIVERY,))
    tracked = session.tasks.get(task_id)
    choice = connection.choice if connection else None
    return Evidence(
        agent=choice.interface.url if choice else "",
        advertised=push.receiver.base_url if hooks else next(iter(configs), ""),
        declared=connection.card.capabilities.push_notifications if connection else None,
        hooks=hooks,
        configs=configs,
        deliveries=tuple(record for record in came if record.meta["registration"] in numbers) or recorded.deliveries,
        tls_failures=tuple(record.label for record in came if record.meta["method"] == NO_TLS) or recorded.tls_failures,
        strays=sum(not record.meta["registration"] and record.meta["method"] == "POST" for record in came),
        listed=None if told is None else sum(hook.stored is True for hook in hooks),
        asked=asked,
        state=tracked.now.state if tracked else "",
        ended=_ended(tracked.now) if tracked else None,
    )


def _ended(told: AssembledTask) -> float | None:
    """Return when a task ended: by the agent's clock, but not later than the event arrived."""
    heard = next((move.at for move in told.moves if is_terminal(move.state)), None)
    stamp = timestamp_seconds(told.status.timestamp) if is_terminal(told.state) else None
    return heard if heard is None or stamp is None else min(heard, stamp)


async def _ask_stored(session: _Session, task_id: str) -> tuple[Sequence[PushConfig] | None, str]:
    """Ask the agent for the webhooks of a task, with the first operation that succeeds.

    Returns the webhooks and the operation, or None and the reason.
    """
    try:
        choice = session.choice
    except FaultError as error:
        return None, error.fault.seen
    hooks = session.push.hooks.of_task(task_id)
    why = f"{choice.dialect.version} over {choice.binding.name} has no operation for it"
    for operation in (Operation.LIST_PUSH, Operation.GET_PUSH):
        if not choice.binding.offers(choice.dialect, operation):
            continue
        listing = operation is Operation.LIST_PUSH
        name = (hooks[-1].config_id if hooks else "") or task_id
        call = session.list_push(task_id) if listing else session.get_push(task_id, name)
        fault = await _finish(call)
        answer = call.exchange.answer
        if fault is None and isinstance(answer, PushConfigList):
            return answer.configs, operation.value
        if fault is None and isinstance(answer, PushConfig):
            return [answer], operation.value
        why = fault.seen if fault else f"{operation.value} was answered with something else"
    return None, why


async def _finish(call: Call) -> Fault | None:
    """Finish a call, or give up after `_PATIENCE`."""
    try:
        async with asyncio.timeout(_PATIENCE):
            return await call.finish()
    except TimeoutError:
        return Fault(Whose.AGENT, FaultCode.TIMEOUT, f"The agent did not answer within {_PATIENCE:g} s.")
