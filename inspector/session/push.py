"""The push desk: registrations, and what becomes of the deliveries that come in for them."""

from __future__ import annotations

from dataclasses import dataclass

from inspector.capture.records import Kind
from inspector.findings import events as judge
from inspector.findings.finding import Finding
from inspector.findings.rules import broken
from inspector.protocol.assemble import Misfit
from inspector.protocol.dialects.registry import ALL
from inspector.protocol.jsonvalue import parse
from inspector.protocol.lifecycle import short
from inspector.protocol.model import (
    AuthenticationInfo,
    Event,
    Json,
    PushConfig,
    Unreadable,
)
from inspector.session.exchange import describe, event_pointer
from inspector.session.journal import Journal
from inspector.session.tasks import Source, Tasks, task_of
from inspector.wire.receiver import Check, Delivery, Receiver, Registration


@dataclass(slots=True)
class Hook:
    """One registration with the task that it is for, `""` until the agent has named it, and its counts."""

    registration: Registration
    task_id: str = ""
    accepted: int = 0
    refused: int = 0

    @property
    def config(self) -> PushConfig:
        """Return the configuration that goes with a message.

        The token stands in both places that generations and SDKs know, because each of them sends only one back.
        """
        url, token = self.registration.url, self.registration.token
        return PushConfig(url=url, token=token, authentication=AuthenticationInfo(scheme="Bearer", credentials=token))


_ORDER = frozenset(Misfit) - {Misfit.OTHER_CONTEXT}
"""What only says that deliveries overtook each other or came again, which nobody promised that they do not."""


class PushDesk:
    """Makes registrations and turns deliveries into records on the timeline of their task."""

    def __init__(self, journal: Journal, tasks: Tasks, *, host: str, port: int, public_url: str | None) -> None:
        self._journal = journal
        self._tasks = tasks
        self.receiver = Receiver(self.take, host=host, port=port, public_url=public_url)
        self.on = False
        self.hooks: list[Hook] = []

    async def turn_on(self) -> None:
        """Start the receiver, if need be, and register a webhook with every message from now on.

        Raises `FaultError` where the receiver cannot listen.
        """
        if not self.receiver.running:
            await self.receiver.start()
        self.on = True

    def turn_off(self) -> None:
        """Send messages without a webhook from now on; the receiver goes on listening for what was registered."""
        self.on = False

    def register(self, task_id: str = "") -> Hook:
        """Make a registration with a path and a token of its own."""
        registration = self.receiver.register()
        self._journal.redactor.add(registration.token)
        hook = Hook(registration, task_id)
        self.hooks.append(hook)
        return hook

    def hook_for(self, task_id: str) -> Hook | None:
        """Make the webhook that goes with a message, None for a task that has one already."""
        if task_id and any(hook.task_id == task_id for hook in self.hooks):
            return None  # a second registration would bring every update twice
        return self.register(task_id)

    def take(self, delivery: Delivery) -> None:
        """Record a delivery with its verdict, and fold what it says into its task unless it was refused."""
        hook = next((one for one in self.hooks if one.registration is delivery.registration), None)
        value = parse(delivery.body)
        event, shape = _read(value)
        checks = list(delivery.checks)
        findings: tuple[Finding, ...] = ()
        if delivery.refused:
            findings += (broken("PUSH-001", delivery.refused),)
        else:
            checks.append(Check("shape", shape != "", f"shaped like {shape}" if shape else _why(event)))
            task_check, findings = self._place(event, value, hook, delivery.at)
            checks.append(task_check)
        if hook is not None:
            hook.refused += bool(delivery.refused)
            hook.accepted += not delivery.refused
        name, task, context, state, label = describe(event)
        redactor = self._journal.redactor
        refused = redactor.text(delivery.refused)
        self._journal.append(
            Kind.DELIVERY,
            delivery.at,
            event=name,
            task=task or (hook.task_id if hook else ""),
            context=context,
            state=state,
            label=refused or label,
            size=len(delivery.body),
            raw=redactor.body(delivery.body),
            meta={
                "method": delivery.method,
                "target": redactor.url(delivery.target),
                "headers": redactor.headers(delivery.headers),
                "peer": delivery.peer,
                "status": delivery.status,
                "refused": refused,
                "seconds": round(delivery.seconds, 6),
                "registration": delivery.registration.number if delivery.registration else 0,
                "checks": [[check.name, check.good, redactor.text(check.said)] for check in checks],
            },
            findings=findings,
        )
        self._journal.touch()

    def _place(
        self, event: Event | Unreadable, value: Json, hook: Hook | None, at: float
    ) -> tuple[Check, tuple[Finding, ...]]:
        """Fold an accepted event into its task, and judge whether the registration is for that task.

        The first delivery may overtake the answer that names the task, so a registration belongs to the first task
        that it hears of.
        """
        if isinstance(event, Unreadable):
            return Check("task", None, "no task can be read"), (broken("PUSH-003", event.why),)
        task = task_of(event)
        if not task:
            return Check("task", None, "a message outside of any task"), ()
        known = self._tasks.get(task) is not None
        misfits = [misfit for misfit in self._tasks.take(event, at, Source.PUSH) if misfit not in _ORDER]
        name, _, _, state, label = describe(event)
        pointer = event_pointer(value, event)
        findings = judge.of_state(state, pointer)
        findings += judge.of_misfits(misfits, label or short(state) or name, pointer)
        if hook is None or task == hook.task_id:
            return Check("task", True, "task known"), findings
        if not hook.task_id:
            hook.task_id = task
            return Check("task", True, "task known" if known else "first word of this task"), findings
        seen = f"registered for {hook.task_id}, this is {task}"
        return Check("task", False, "another task" if known else "unknown task"), (*findings, broken("PUSH-002", seen))


def _read(value: Json | Unreadable) -> tuple[Event | Unreadable, str]:
    """Read a webhook's body in whichever generation shaped it: agents push another than they answer in."""
    if isinstance(value, Unreadable):
        return value, ""
    first: Unreadable | None = None
    for dialect in ALL:
        event = dialect.decode_push(value)
        if not isinstance(event, Unreadable):
            return event, dialect.generation
        first = first or event
    return first or Unreadable(value, "no dialect reads it"), ""


def _why(event: Event | Unreadable) -> str:
    return event.why if isinstance(event, Unreadable) else ""
