"""Judge the event of a webhook delivery: is it readable, is its task registered, does it fit earlier pushes."""

from __future__ import annotations

from dataclasses import field
from http import HTTPStatus
from typing import NamedTuple

from inspector.findings.finding import Finding
from inspector.findings.payload.judge import judge_push
from inspector.findings.rules import finding
from inspector.findings.stream.facts import member_pointer
from inspector.lazy_dataclass import dataclass
from inspector.protocol.assemble import Misfit, Order
from inspector.protocol.content import event_in
from inspector.protocol.dialects.registry import traits_of
from inspector.protocol.dialects.traits import VERSIONS
from inspector.protocol.lifecycle import short
from inspector.protocol.model import Event, Message, Unreadable
from inspector.session.push.attempts import Attempt
from inspector.session.push.reading import Fingerprint, Reading, Template, read
from inspector.session.push.senders import BROWSING
from inspector.session.push.webhook_registration import WebhookRegistration
from inspector.session.tasks import TaskFold
from inspector.text.units import duration
from inspector.wire.receiver.checks import BoundedCache, Check, CheckResult, KnownResults, Scope, Stage
from inspector.wire.receiver.delivery import Delivery

_ORDER = {
    Misfit.ILLEGAL_MOVE: "late: the task already had a later state",
    Misfit.AFTER_TERMINAL: "late: the task had ended",
    Misfit.APPEND_BEFORE_CREATE: "early: its artifact had not begun",
    Misfit.CHUNK_AFTER_LAST: "late: the artifact was complete",
}
"""Misfits that only show a changed order or a repeated delivery, which no protocol version forbids."""
_IN_ORDER = CheckResult(True, "in order")
_KNOWN = CheckResult(True, "task known")
_MOST_SHAPES = 512


class PushedEvent(NamedTuple):
    """The input of the checks of an event: an accepted delivery and what is known about it.

    `event` is None for an unreadable body and for a message outside of any task. `known` is whether the task was known
    before; `misfits` are the contradictions between the event and earlier pushes.
    """

    delivery: Delivery
    reading: Reading
    registration: WebhookRegistration | None
    attempt: Attempt
    event: Event | None = None
    known: bool = False
    misfits: tuple[Misfit, ...] = ()

    def line(self, name: str) -> Check | None:
        """Return the receiver's result of the check with this name, None if the check did not run."""
        return next((check for check in self.delivery.checks if check.name == name), None)


class Judgement(NamedTuple):
    """The event of a delivery, and the checks and findings of the session about it."""

    reading: Reading
    checks: tuple[Check, ...] = ()
    findings: tuple[Finding, ...] = ()


EVENT: Stage[PushedEvent] = Stage()
"""The checks of accepted deliveries. Findings have the order of the checks."""


@EVENT.check("schema", Scope.BODY_SHAPE)
def _schema(push: PushedEvent) -> CheckResult:
    """Check that the body can be read, and has the format of the version in which the webhook was registered."""
    event, shape = push.reading.event, push.reading.shape
    if isinstance(event, Unreadable):
        return CheckResult(False, event.why, (finding("PUSH-003", event.why),))
    if registered := _other_version(push):
        seen = f"the event has the schema of A2A {shape}, the webhook was registered in {registered}"
        return CheckResult(False, seen, (finding("PUSH-006", seen),))
    return CheckResult(True, f"A2A {shape}")


def _other_version(push: PushedEvent) -> str:
    """Return the version of the registration if a body has the shape of another version, else `""`."""
    registered, shape = push.registration.version if push.registration else "", push.reading.shape
    differs = registered in VERSIONS and traits_of(registered).pushes_events is not traits_of(shape).pushes_events
    return registered if differs else ""


@EVENT.check("content type", Scope.HEAD)
def _content_type(push: PushedEvent) -> CheckResult | None:
    line = push.line("content-type")
    return CheckResult(findings=(finding("PUSH-005", line.text),)) if line is not None and not line.good else None


def _lacks_credentials(push: PushedEvent) -> bool:
    registration, line = push.registration, push.line("authorization")
    required = registration is not None and registration.requests_authorization
    return required and line is not None and line.good is None and push.line("signature") is None


@EVENT.check("credentials", Scope.DELIVERY, when=_lacks_credentials)
def _credentials(push: PushedEvent) -> CheckResult | None:
    """Report that an accepted delivery lacks the Authorization header that its protocol version requires."""
    line, shape = push.line("authorization"), push.reading.shape
    expected = line is not None and shape in VERSIONS and traits_of(shape).authorizes_pushes
    return CheckResult(findings=(finding("PUSH-004", line.text),)) if line is not None and expected else None


@EVENT.check("objects", Scope.BODY_SHAPE)
def _objects(push: PushedEvent) -> CheckResult | None:
    reading = push.reading
    if isinstance(reading.event, Unreadable) or isinstance(reading.value, Unreadable) or _other_version(push):
        return None
    return CheckResult(findings=judge_push(reading.value, reading.shape))


@EVENT.check("transitions", Scope.DELIVERY)
def _transitions(push: PushedEvent) -> CheckResult | None:
    """Report a context id that differs from earlier pushes; misfits that only show a changed order are not reported."""
    event, reading = push.event, push.reading
    contradicts = Misfit.OTHER_CONTEXT in push.misfits
    if not contradicts or event is None or isinstance(reading.value, Unreadable):
        return None
    found = reading.description
    where = event_in(reading.value, event).pointer + member_pointer("/contextId", reading.shape)
    return CheckResult(findings=(finding("STREAM-006", found.label or short(found.state) or found.event, where),))


@EVENT.check("task", Scope.DELIVERY)
def _task(push: PushedEvent) -> CheckResult:
    """Check that the registration is for the task.

    A registration of this session without a task gets the task of its first delivery, which may arrive before the
    response to the message, which names the task. A registration that was made elsewhere may have any number of tasks.
    """
    event, registration = push.event, push.registration
    if event is None:
        read = push.reading.event
        if isinstance(read, Unreadable):
            return CheckResult(None, "no task can be read")
        return CheckResult(None, "a message outside of any task" if isinstance(read, Message) else "no task is named")
    task = push.reading.description.task
    if registration is None or task == registration.task_id:
        return _KNOWN
    if not registration.task_id:
        return _KNOWN if push.known else CheckResult(True, "first event of this task")
    seen = f"registered for {registration.task_id}, pushed for {task}"
    return CheckResult(False, "another task" if push.known else "unknown task", (finding("PUSH-002", seen),))


@EVENT.check("order", Scope.DELIVERY)
def _order(push: PushedEvent) -> CheckResult:
    attempt = push.attempt
    if attempt.number > 1:
        since = f"{duration(attempt.gap)} after attempt {attempt.number - 1}"
        return CheckResult(None, f"attempt {attempt.number}, {since}; the first attempt is #{attempt.first}")
    if attempt.again:
        return CheckResult(None, f"replay: the same bytes came as #{attempt.again}, which was accepted")
    late = next((_ORDER[misfit] for misfit in push.misfits if misfit in _ORDER), "")
    return CheckResult(None, late) if late else _IN_ORDER


_NO_FAULT_OF_AGENT = (0, HTTPStatus.SERVICE_UNAVAILABLE)
"""The status if the connection ended before the response, and that of a receiver with too many long bodies."""


@dataclass(slots=True)
class _BodyShape:
    """Cached for bodies with one fingerprint: results of checks, and a status update without its varying values."""

    shape: str
    known: KnownResults = field(default_factory=KnownResults)
    template: Template | None = None


class PushJudge:
    """Reads and judges deliveries; reuses results if the constant bytes of a body (its `Fingerprint`) are the same."""

    def __init__(self, tasks: TaskFold) -> None:
        self._tasks = tasks
        self._orders: dict[str, Order] = {}
        self._verified: BoundedCache[tuple[bytes, str], _BodyShape] = BoundedCache(_MOST_SHAPES)

    def judge(self, delivery: Delivery, registration: WebhookRegistration | None, attempt: Attempt) -> Judgement:
        """Judge a delivery, before its event is folded into the task."""
        version = registration.version if registration else ""
        if delivery.refused:
            reading = read(delivery.value, version)
            # Requests of browsers and scanners are recorded without a finding: they are not from an agent.
            unknown = delivery.registration is None and isinstance(reading.event, Unreadable)
            if unknown or delivery.method in BROWSING or delivery.status in _NO_FAULT_OF_AGENT:
                return Judgement(reading)
            rule = "PUSH-001" if delivery.status == HTTPStatus.UNAUTHORIZED else "PUSH-007"
            return Judgement(reading, findings=(finding(rule, delivery.refused),))
        if delivery.challenge:
            return Judgement(read(delivery.value, version))
        fingerprint = Fingerprint(b"") if isinstance(delivery.value, Unreadable) else Fingerprint.of(delivery.body)
        key = fingerprint.constant, version
        body = self._verified.get(key) if fingerprint.constant else None
        template = body.template if body else None
        reading = template.read(delivery.value) if template else read(delivery.value, version)
        if body is None or body.shape != reading.shape:
            body = _BodyShape(reading.shape)
            if fingerprint.constant:
                self._verified.keep(key, body)
        event = self._event(delivery, reading, registration, attempt)
        report = EVENT.run(event, delivery.head_known, body.known)
        if body.template is None and fingerprint.constant and not report.findings:
            body.template = Template.of(reading, fingerprint)
        if registration is not None and not (registration.task_id or registration.elsewhere):
            registration.task_id = reading.description.task
        return Judgement(reading, report.checks, report.findings)

    def _event(
        self, delivery: Delivery, reading: Reading, registration: WebhookRegistration | None, attempt: Attempt
    ) -> PushedEvent:
        event, task = reading.event, reading.description.task
        if isinstance(event, Unreadable) or not task:
            return PushedEvent(delivery, reading, registration, attempt)
        known = task in self._tasks
        misfits = self._orders.setdefault(task, Order()).add(event) if delivery.accepted else ()
        return PushedEvent(delivery, reading, registration, attempt, event, known, misfits)
