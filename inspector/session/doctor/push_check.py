"""Check for the doctor that push notifications about a task arrive, and that they are valid."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from inspector.capture.records import Kind, Record
from inspector.findings.finding import Severity
from inspector.findings.rules import RULES
from inspector.protocol.lifecycle import is_settled, is_terminal
from inspector.protocol.model import Task, TaskRequest
from inspector.protocol.operations import Operation
from inspector.protocol.selection import Choice
from inspector.session.doctor.probe import finish, in_words, remedy_of
from inspector.session.doctor.steps import PUSH, Step, Timeouts
from inspector.session.push.senders import count_accepted, sort_requests
from inspector.session.session import Session
from inspector.text.host import AddressScope, address_scope
from inspector.wire.endpoint import endpoint_of

if TYPE_CHECKING:  # only a message needs it
    from inspector.session.push.webhook_registration import WebhookRegistration

_NO_PUSH = "Check the log of the agent, and that it can reach this address."
_LATE = "The agent pushes late, or not every event: check its log, and watch the deliveries with a2a-inspect listen."
_LOOPBACK = "Agents may reject loopback addresses, as the specification recommends: use --public-url with a tunnel."
_REJECTED = "The deliveries arrived, but were rejected: have the agent send what the registration requires."
_OTHER_SHAPE = "PUSH-006"
"""The rule about a body in the shape of another protocol version, which other clients cannot read."""
_OTHER_PATH = "Post to the URL of the registration unchanged. A proxy can rewrite its path."


async def check_push(
    session: Session, webhook: WebhookRegistration, choice: Choice, task_id: str, timeouts: Timeouts
) -> Step:
    """Wait until the last state of a task is delivered, at most `timeouts.push` seconds, and judge the deliveries."""
    began = time.perf_counter()
    is_complete = await _wait(session, webhook, task_id, timeouts.push)
    numbers = {webhook.registration.number}
    requests = sort_requests(session.journal.capture.select(kinds=(Kind.DELIVERY,)), numbers, task_id)
    base = session.push.receiver.base_url
    accepted = count_accepted(requests.deliveries)
    refused = sum(bool(record.meta["refused"]) for record in requests.deliveries)
    seen = f"{accepted} accepted, {refused} rejected at {base}"
    if requests.other_tasks:
        seen += f", {len(requests.other_tasks)} about another task"

    def step(passed: bool | None, message: str, remedy: str = "") -> Step:
        return Step(PUSH, passed, message, time.perf_counter() - began, remedy)

    if requests.unknown_paths:
        return step(False, f"{seen}; {requests.unknown_paths} of this task came to another path", _OTHER_PATH)
    found = [finding for record in requests.deliveries for finding in record.findings]
    errors = [finding for finding in found if finding.severity is Severity.ERROR or finding.rule == _OTHER_SHAPE]
    if accepted and errors:
        return step(False, f"{seen}: {in_words(errors)}", remedy_of(errors))
    if requests.other_tasks:
        return step(False, seen, RULES["PUSH-002"].remedy)
    if accepted and is_complete:
        return step(True, seen)
    if refused and not accepted:
        return step(False, f"{seen}: {_reason(requests.deliveries)}", _REJECTED)
    has_ended = await _has_ended(session, choice, task_id, timeouts.call)
    if accepted:
        late = f"{seen}; the end of the task was not pushed within {timeouts.push:g} s"
        return step(None, late, _LATE) if has_ended else step(True, seen)
    if not has_ended:  # agents may push only the end of a task
        return step(None, f"{seen}; the task has not ended")
    place = endpoint_of(base)
    local = place is not None and address_scope(place.host) is AddressScope.MACHINE
    return step(False, f"{seen} within {timeouts.push:g} s", f"{_NO_PUSH} {_LOOPBACK}" if local else _NO_PUSH)


async def _wait(session: Session, webhook: WebhookRegistration, task_id: str, seconds: float) -> bool:
    """Wait until a state is delivered after which the agent sends nothing more, at most `seconds`.

    Return whether such a state was delivered.
    """
    delivered = asyncio.Event()

    def look_at(records: Iterable[Record]) -> None:
        deliveries = (record for record in records if record.kind is Kind.DELIVERY)
        number = webhook.registration.number
        own = (each for each in deliveries if each.meta["registration"] == number and each.task in ("", task_id))
        if any(record.meta["taken"] and is_settled(record.state) for record in own):
            delivered.set()

    unsubscribe = session.journal.subscribe(look_at)
    look_at(session.journal.capture.select(kinds=(Kind.DELIVERY,)))
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await delivered.wait()
    finally:
        unsubscribe()
    return delivered.is_set()


def _reason(deliveries: Sequence[Record]) -> str:
    """Return why the last rejected delivery was rejected."""
    return next((record.meta["refused"] for record in reversed(deliveries) if record.meta["refused"]), "")


async def _has_ended(session: Session, choice: Choice, task_id: str, seconds: float) -> bool:
    """Return whether the task has ended; ask the agent if no response reported it."""
    tracked = session.tasks.get(task_id)
    if tracked is not None and is_terminal(tracked.now.state):
        return True
    get = session.call(Operation.GET, TaskRequest(id=task_id), choice=choice, label="the task of the message")
    await finish(get, seconds)
    answer = get.exchange.answer
    return isinstance(answer, Task) and is_terminal(answer.status.state)
