"""The push desk: makes registrations, and turns what comes in for them into records with a verdict."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector.capture.records import Kind, Record
from inspector.findings.finding import Finding
from inspector.findings.payload.judge import of_push
from inspector.findings.rule import V1
from inspector.findings.rules import broken
from inspector.findings.stream import events as judge
from inspector.protocol.assemble import Misfit, Order
from inspector.protocol.dialects.registry import ALL
from inspector.protocol.lifecycle import is_terminal, short
from inspector.protocol.model import Event, Json, Task, TaskStatus, TaskStatusUpdateEvent, Unreadable
from inspector.session.journal import Journal
from inspector.session.push.attempts import Attempt, Attempts
from inspector.session.push.fingerprint import Skeleton, Sound
from inspector.session.push.pairing import Pairing
from inspector.session.push.push_runs import Going, PushRuns
from inspector.session.push.relay import Relay
from inspector.session.push.webhook_registration import Hook, Hooks
from inspector.session.summary import describe, event_pointer
from inspector.session.tasks import TaskFold, task_of
from inspector.session.timestamps import seconds_of
from inspector.wire.receiver.check import Check
from inspector.wire.receiver.delivery import Delivery
from inspector.wire.receiver.registration import Demand, Proof
from inspector.wire.receiver.response_override import Dials

if TYPE_CHECKING:
    from inspector.wire.receiver.server import Receiver

_ORDER = {
    Misfit.ILLEGAL_MOVE: "late: the task had moved on",
    Misfit.AFTER_TERMINAL: "late: the task had ended",
    Misfit.APPEND_BEFORE_CREATE: "early: its artifact had not begun",
    Misfit.CHUNK_AFTER_LAST: "late: the artifact was complete",
}
"""What only says that deliveries overtook each other or came again, which nobody promised that they do not."""
_KNOWN = Check("task", True, "task known")
_IN_ORDER = Check("order", True, "in order")
_DEMAND = Demand()
_A_DAY = 86400.0
"""A delivery that reports what is longer ago than this, or has yet to happen, tells of clocks and not of latency."""


class Reading(NamedTuple):
    """What a delivery says: the event, the JSON that it stands in, and the generation that shaped it, `""` for none.

    `words` are what `describe` says of the event.
    """

    event: Event | Unreadable
    value: Json | Unreadable
    shape: str
    words: tuple[str, str, str, str, str]


class PushDesk:
    """Makes registrations and turns deliveries into records on the timeline of their task.

    `demand` is what the registrations ask for that go with messages, `dials` has the answers that were dialled in,
    `relay` hands deliveries on to other urls.
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
        self._orders: dict[str, Order] = {}
        self._sound = Sound()
        self._runs = PushRuns(journal.redactor)
        self._where: dict[str, Any] = {"host": host, "port": port, "public_url": public_url, "tls": tls}
        self.dials = Dials()
        self.relay = Relay(journal)
        self.on = False
        self.demand = _DEMAND
        self.hooks = Hooks()
        self._planned: tuple[tuple[str, str, str, Demand], Hook] | None = None

    @cached_property
    def receiver(self) -> Receiver:
        """Return the receiver, which is made when it is first asked for: what it runs on takes a while to load."""
        from inspector.wire.receiver.server import Receiver  # noqa: PLC0415 - aiohttp, which many sessions never need

        return Receiver(self.take, dials=self.dials, **self._where)

    @property
    def place(self) -> str:
        """Say in words where the receiver listens, or will."""
        host = self._where["host"]
        return "this machine alone" if ip_address(host).is_loopback else f"{host}, which others can reach"

    @property
    def listening(self) -> bool:
        """Tell whether the receiver takes deliveries."""
        return "receiver" in self.__dict__ and self.receiver.running

    def give_way(self) -> None:
        """Take deliveries more slowly for a moment, because somebody waits for a key that was pressed."""
        if self.listening:
            self.receiver.give_way()

    @cached_property
    def pairing(self) -> Pairing:
        """Return what the pushes are to the streams; it is kept from the first time that somebody asks for it."""
        pairing = Pairing(self._streamed)
        self._journal.subscribe(pairing.offer, replay=True)
        return pairing

    def _streamed(self, task_id: str) -> bool:
        tracked = self._tasks.get(task_id)
        return tracked is not None and tracked.stream != 0

    async def turn_on(self) -> None:
        """Start the receiver, if need be, and register a webhook with every message from now on.

        Raises `FaultError` where the receiver cannot listen.
        """
        await self.listen()
        self.on = True

    async def listen(self) -> None:
        """Start the receiver, unless it runs; raises `FaultError` where it cannot listen."""
        await asyncio.to_thread(import_module, "inspector.wire.receiver.server")  # keys are answered meanwhile
        await self.receiver.start()

    def turn_off(self) -> None:
        """Send messages without a webhook from now on; the receiver goes on listening for what was registered."""
        self.on = False

    async def close(self) -> None:
        """Stop the receiver and whatever is handed on."""
        if self.listening:
            await self.receiver.stop()
        await self.relay.close()

    def register(
        self, task_id: str = "", *, generation: str = "", demand: Demand | None = None, token: str = ""
    ) -> Hook:
        """Make a registration with a path of its own, and a token unless one is given."""
        hook = self._make(task_id, generation, self.demand if demand is None else demand, token)
        self.hooks.append(hook)
        return hook

    def _make(self, task_id: str, generation: str, demand: Demand, token: str = "") -> Hook:
        registration = self.receiver.register(demand, token)
        for secret in (registration.token, registration.credentials):
            self._journal.redactor.add(secret)
        return Hook(registration, task_id, generation)

    def plan(self, message_id: str, task_id: str, generation: str = "") -> Hook | None:
        """Make the webhook that will go with a message, None for a task that has one already.

        It is the same one until something about it changes, so that it can be shown before the message is sent; it is
        among the registrations from `keep` on.
        """
        if any(hook.live for hook in self.hooks.of_task(task_id)):
            return None  # a second registration would bring every update twice
        key = (message_id, task_id, generation, self.demand)
        if self._planned is None or self._planned[0] != key or self._planned[1] in self.hooks:
            if self._planned is not None and self._planned[1] not in self.hooks:
                self.receiver.forget(self._planned[1].registration)
            self._planned = key, self._make(task_id, generation, self.demand)
        return self._planned[1]

    def keep(self, hook: Hook) -> None:
        """Take a webhook that was planned among the registrations, because its message is on its way."""
        if hook not in self.hooks:
            self.hooks.append(hook)

    def take(self, delivery: Delivery) -> None:
        """Record a delivery with its verdict, and fold what it says into its task where it was accepted."""
        hook = self.hooks.of(delivery.registration)
        attempt = self._attempts.place(delivery)
        whole = not delivery.refused and not isinstance(delivery.value, Unreadable)
        skeleton = Skeleton.of(delivery.body) if whole else Skeleton(b"")
        going = self._runs.next(delivery, skeleton, hook) if attempt.fresh else None
        record = self._go_on(going, delivery) if going else None
        if record is None:
            record = self._read_in_full(delivery, hook, attempt, skeleton)
        _count(hook, delivery)
        self._attempts.note(delivery, attempt, record.seq)
        self.relay.offer(record.seq, delivery)
        self._journal.notify()

    def _go_on(self, going: Going, delivery: Delivery) -> Record | None:
        """Record a delivery that goes on a run; None where its task has moved on, or would."""
        like, status, words = going
        tracked = self._tasks.get(like.task)
        if tracked is None or status.state != tracked.pushed.state or is_terminal(status.state):
            return None
        redactor, latency = self._journal.redactor, _latency(status, delivery.at)
        [record] = self._journal.append(
            Kind.DELIVERY,
            delivery.at,
            event=like.event,
            task=like.task,
            context=like.context,
            state=like.state,
            label=words,
            payloads=[(len(delivery.body), redactor.body(delivery.body))],
            meta=going.meta(delivery, latency),
        )
        tracked.pushed.say(status, record.at)
        return record

    def _read_in_full(self, delivery: Delivery, hook: Hook | None, attempt: Attempt, skeleton: Skeleton) -> Record:
        reading = _read(delivery.value)
        checks: list[Check] = []
        findings: tuple[Finding, ...] = ()
        if delivery.refused:
            stranger = delivery.registration is None and delivery.method != "POST"  # a browser, a scanner: no agent
            findings = () if stranger else (broken("PUSH-001", delivery.refused),)
        elif not delivery.challenge:
            checks, findings = self._judge(delivery, reading, hook, attempt, skeleton)
        record = self._append(delivery, reading, hook, attempt, [*delivery.checks, *checks], findings)
        if not (delivery.refused or delivery.challenge):
            self._tasks.take((record,), reading.event)
        if checks[1:] == [_KNOWN, _IN_ORDER] and not findings:
            self._runs.learn(delivery, skeleton, hook, reading.event, record)
        return record

    def _judge(
        self, delivery: Delivery, reading: Reading, hook: Hook | None, attempt: Attempt, skeleton: Skeleton
    ) -> tuple[list[Check], tuple[Finding, ...]]:
        """Judge a good delivery by what it says, and fold it into its task."""
        shape, findings = _judge_shape(reading, hook)
        findings += _judge_head(delivery, reading, hook)
        event = reading.event
        task = "" if isinstance(event, Unreadable) else task_of(event)
        if isinstance(event, Unreadable) or not task:
            said = "no task can be read" if isinstance(event, Unreadable) else "a message outside of any task"
            return [shape, Check("task", None, said), _judge_order(attempt, ())], findings
        known = self._tasks.get(task) is not None
        misfits = self._orders.setdefault(task, Order()).check(event) if delivery.taken else ()
        findings += self._judge_objects(skeleton, reading)
        if misfits:
            findings += _judge_misfits(reading, event, misfits)
        whose, foreign = _judge_task(task, hook, known=known)
        return [shape, whose, _judge_order(attempt, misfits)], findings + foreign

    def _judge_objects(self, skeleton: Skeleton, reading: Reading) -> tuple[Finding, ...]:
        """Judge what a body holds, unless one like it has been found sound."""
        if self._sound.holds(skeleton, reading.shape):
            return ()
        findings = of_push(reading.value, reading.shape)
        if not findings:
            self._sound.learn(skeleton, reading.shape)
        return findings

    def _append(
        self,
        delivery: Delivery,
        reading: Reading,
        hook: Hook | None,
        attempt: Attempt,
        checks: list[Check],
        findings: tuple[Finding, ...],
    ) -> Record:
        name, task, context, state, label = reading.words
        if delivery.challenge:
            name, label = "challenge", "the agent asks whether this webhook is ours"
        redactor = self._journal.redactor
        refused = redactor.text(delivery.refused)
        [record] = self._journal.append(
            Kind.DELIVERY,
            delivery.at,
            event=name,
            task=task or (hook.task_id if hook else ""),
            context=context,
            state=state,
            label=refused or label,
            payloads=[(len(delivery.body), redactor.body(delivery.body))],
            meta={
                "method": delivery.method,
                "target": redactor.url(delivery.target),
                "headers": redactor.headers(delivery.headers),
                "peer": delivery.peer,
                "status": delivery.status,
                "refused": refused,
                "dialled": delivery.dialled,
                "delay": delivery.delay,
                "taken": delivery.taken,
                "challenge": delivery.challenge,
                "seconds": round(delivery.seconds, 6),
                "registration": delivery.registration.number if delivery.registration else 0,
                "asked": delivery.registration.demand.words if delivery.registration else "",
                "attempt": attempt.number,
                "first": attempt.first,
                "gap": round(attempt.gap, 6),
                "latency": self._latency_of(reading.event, delivery),
                "checks": [[check.name, check.good, redactor.text(check.said)] for check in checks],
            },
            findings=findings,
        )
        return record

    def _latency_of(self, event: Event | Unreadable, delivery: Delivery) -> float | None:
        """Return how long after what it reports a delivery came, None for what reports no state.

        Where the agent gives no time, a change of state is known from the stream that told it, and nothing else is.
        """
        if not isinstance(event, Task | TaskStatusUpdateEvent) or not event.status.state:
            return None
        since, at = _latency(event.status, delivery.at), delivery.at
        tracked = self._tasks.get(task_of(event))
        if since is not None or tracked is None or not delivery.taken or event.status.state == tracked.pushed.state:
            return since
        moves = reversed(tracked.answered.moves)
        heard = next((move.at for move in moves if move.state == event.status.state), None)
        return round(at - heard, 6) if heard is not None and 0 <= at - heard < _A_DAY else None


def _latency(status: TaskStatus, at: float) -> float | None:
    """Return the seconds since the time that a status has, None where that is none, or tells of clocks."""
    stamp = seconds_of(status.timestamp)
    return round(at - stamp, 6) if stamp is not None and 0 <= at - stamp < _A_DAY else None


def _count(hook: Hook | None, delivery: Delivery) -> None:
    if hook is None or delivery.challenge:
        return
    hook.refused += bool(delivery.refused)
    hook.accepted += delivery.taken
    hook.failing += not (delivery.refused or delivery.taken)


def _read(value: Json | Unreadable) -> Reading:
    """Read what a webhook brought in whichever generation shaped it: agents push another than they answer in."""
    if isinstance(value, Unreadable):
        return Reading(value, value, "", describe(value))
    first: Unreadable | None = None
    for dialect in ALL:
        event = dialect.decode_push(value)
        if not isinstance(event, Unreadable):
            return Reading(event, value, dialect.generation, describe(event))
        first = first or event
    unread = first or Unreadable(value, "no dialect reads it")
    return Reading(unread, value, "", describe(unread))


def _judge_shape(reading: Reading, hook: Hook | None) -> tuple[Check, tuple[Finding, ...]]:
    """Judge whether the body can be read, and is what the generation sends in which the webhook was registered."""
    if isinstance(reading.event, Unreadable):
        why = reading.event.why
        return Check("shape", False, why), (broken("PUSH-003", why),)
    told = hook.generation if hook else ""
    if told and (told in V1) is not (reading.shape in V1):
        said = f"shaped like {reading.shape}, registered in {told}"
        return Check("shape", False, said), (broken("PUSH-006", said),)
    return Check("shape", True, f"shaped like {reading.shape}"), ()


def _judge_head(delivery: Delivery, reading: Reading, hook: Hook | None) -> tuple[Finding, ...]:
    """Name what a head lacks that was accepted all the same."""
    findings: tuple[Finding, ...] = ()
    checks = {check.name: check for check in delivery.checks}
    kind, authorization = checks["content-type"], checks["authorization"]
    if not kind.good:
        findings += (broken("PUSH-005", kind.said),)
    asked = hook is not None and hook.registration.demand.proof is not Proof.TOKEN
    if asked and reading.shape in V1 and authorization.good is None and "signature" not in checks:
        findings += (broken("PUSH-004", authorization.said),)
    return findings


def _judge_misfits(reading: Reading, event: Event, misfits: tuple[Misfit, ...]) -> tuple[Finding, ...]:
    """Name what does not fit what was pushed before, but for what only tells that deliveries overtook each other."""
    name, _, _, state, label = reading.words
    odd = [misfit for misfit in misfits if misfit not in _ORDER]
    where = event_pointer(reading.value, event)
    found = judge.of_misfits(odd, label or short(state) or name, reading.shape)
    return tuple(replace(one, pointer=where + one.pointer) for one in found)


def _judge_task(task: str, hook: Hook | None, *, known: bool) -> tuple[Check, tuple[Finding, ...]]:
    """Judge whether the registration is for the task.

    The first delivery may overtake the answer that names the task, so a registration belongs to the first task that it
    hears of.
    """
    if hook is None or task == hook.task_id:
        return _KNOWN, ()
    if not hook.task_id:
        hook.task_id = task
        return _KNOWN if known else Check("task", True, "first word of this task"), ()
    seen = f"registered for {hook.task_id}, this is {task}"
    return Check("task", False, "another task" if known else "unknown task"), (broken("PUSH-002", seen),)


def _judge_order(attempt: Attempt, misfits: tuple[Misfit, ...]) -> Check:
    if attempt.number > 1:
        said = f"attempt {attempt.number} at #{attempt.first}, {attempt.gap:.1f} s after the one before"
        return Check("order", None, said)
    if attempt.again:
        return Check("order", None, f"the same bytes came as #{attempt.again}")
    late = next((_ORDER[misfit] for misfit in misfits if misfit in _ORDER), "")
    return Check("order", None, late) if late else _IN_ORDER
