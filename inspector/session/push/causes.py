"""The possible causes of missing webhook deliveries, by the evidence for and against each of them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import field
from enum import IntEnum

from inspector.capture.records import Record
from inspector.lazy_dataclass import dataclass
from inspector.protocol.lifecycle import is_terminal, short
from inspector.session.push.senders import count_accepted
from inspector.session.push.webhook_registration import WebhookRegistration
from inspector.text.host import AddressScope, address_scope
from inspector.text.units import counted, duration
from inspector.wire.endpoint import endpoint_of
from inspector.wire.reach import Reachable, reachable

_ADDRESS_WORDS = ("loopback", "localhost", "127.0.0.1", "private", "internal address", "internal network", "ssrf")
"""Words in the errors of agents that refuse an address."""
_AGENT_DOWN = "the agent cannot be reached"
_UNKNOWN_TASK = "the agent does not know the task"
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
_OTHER_TASK = "the agent pushes the updates of another task"
_AT_THE_END = "the agent pushes only when the task ends"
_NOT_SENT = "the agent sent no delivery"
_RANK = (
    *(_AGENT_DOWN, _UNKNOWN_TASK, _NOT_REGISTERED, _ADDRESS_REFUSED, _REGISTRATION_REFUSED, _NO_PUSH),
    *(_NOT_STORED, _DELETED),
    *(_TASK_ENDED, _UNTRUSTED, _UNREACHABLE, _GAVE_UP, _OTHER_TASK, _OTHER_PATH, _NOT_SENT, _AT_THE_END),
)
"""The causes, the most common first."""


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
    those of the agent to our registrations or, if we have no registration, those of the task in other captures.
    `other_tasks` counts deliveries to these webhooks that are about another task, `unknown_paths` those of the task to
    unknown paths; `tls_failures` has the reasons of failed handshakes.
    `others_arrived` is whether this receiver accepted deliveries for other tasks.

    `stored` is how many of our registrations the agent has, None if unknown; `asked` is the operation that returned
    them, or the reason why their number is unknown. `ended` is when the task ended. `agent_down` is the reason why
    the agent cannot be reached, `without_listener` has the URLs of this machine where nothing listens, `unknown_task`
    is the error of an agent that does not know the task; they are empty otherwise. Times are in seconds since 1970.
    """

    agent: str
    advertised: str
    declared: bool | None
    registrations: tuple[WebhookRegistration, ...] = ()
    configs: tuple[str, ...] = ()
    deliveries: tuple[Record, ...] = ()
    other_tasks: int = 0
    unknown_paths: int = 0
    tls_failures: tuple[str, ...] = ()
    others_arrived: bool = False
    stored: int | None = None
    asked: str = ""
    state: str = ""
    ended: float | None = None
    agent_down: str = ""
    without_listener: tuple[str, ...] = ()
    unknown_task: str = ""
    now: float = field(default_factory=time.time)

    @property
    def missing_end(self) -> str:
        """Return the last state of the task if other events were pushed, but not this state, else `""`."""
        pushed = {record.state for record in self.deliveries if record.meta.get("taken")}
        return self.state if self.accepted and is_terminal(self.state) and self.state not in pushed else ""

    @property
    def accepted(self) -> int:
        """Return how many deliveries were accepted."""
        return count_accepted(self.deliveries)

    @property
    def reach(self) -> Reachable:
        """Return whether the agent can reach the receiver."""
        return reachable(self.advertised, self.agent, came=bool(self.arrived))

    @property
    def arrived(self) -> str:
        """Describe the requests which show that the agent can reach the receiver, `""` if none has arrived."""
        if self.deliveries:
            return "deliveries arrived"
        if self.other_tasks:
            return "deliveries about another task arrived"
        if self.unknown_paths:
            return "events of this task arrived at another path"
        return "deliveries for other tasks arrived" if self.others_arrived else ""


def causes(known: Evidence) -> list[Cause]:
    """Return the possible causes, the most likely first, and then those that are ruled out."""
    if known.unknown_task and not (known.registrations or known.configs or known.deliveries):
        return [_unknown_task(known)]
    found = [_no_push(known), _task_ended(known), _only_at_the_end(known)]
    if known.agent_down:
        remedy = "Start the agent again, and look in its log for the reason why it ended."
        found.append(Cause(_AGENT_DOWN, Likely.CERTAIN, known.agent_down, remedy))
    if known.unknown_task:
        found.append(_unknown_task(known))
    if not known.registrations and not known.configs:
        remedy = (
            "Register a webhook for the task in Webhooks, turn the webhook on before you send the message, or use the"
            " command push create."
        )
        if known.stored is not None:
            evidence = f"no webhook for this task ({known.asked})"
            return [Cause(_NOT_REGISTERED, Likely.CERTAIN, evidence, remedy)]
        evidence = f"the agent does not list its webhooks: {known.asked}"
        found.append(Cause(_NOT_REGISTERED, Likely.POSSIBLE, evidence, remedy))
    else:
        found += [_refused(known), _unreachable(known)]
    if known.registrations:
        found += [_not_stored(known), _other_path(known), _not_sent(known)]
    if known.advertised.startswith("https:") and (known.registrations or known.tls_failures):
        found.append(_untrusted(known))
    if known.registrations or known.deliveries:
        found.append(_gave_up(known))
    if known.registrations or known.other_tasks:
        found.append(_other_task(known))
    return sorted(found, key=lambda cause: (cause.likely, _RANK.index(cause.name)))


def _unknown_task(known: Evidence) -> Cause:
    likely = Likely.POSSIBLE if known.deliveries else Likely.CERTAIN  # an agent may delete tasks that have ended
    remedy = (
        "Check the id of the task (task list), the agent and the credentials. An agent can lose its tasks when it is"
        " restarted."
    )
    return Cause(_UNKNOWN_TASK, likely, known.unknown_task, remedy)


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
    arrived = known.arrived or ("a client connected" if known.tls_failures else "")
    if arrived or not loopback:
        return Cause(_ADDRESS_REFUSED, Likely.RULED_OUT, arrived or f"{known.advertised} is not a loopback address")
    evidence = f"{known.advertised} is a loopback address, which agents may refuse silently, as 1.0 §13.2 advises"
    likely = Likely.LIKELY if known.reach.good and known.stored else Likely.POSSIBLE
    return Cause(_ADDRESS_REFUSED, likely, evidence, remedy)


def _no_push(known: Evidence) -> Cause:
    if known.declared is None:
        evidence = "the card does not declare pushNotifications"
    else:
        evidence = f"the card declares pushNotifications: {str(known.declared).lower()}"
    if known.accepted and not known.declared:
        return Cause(_NO_PUSH, Likely.RULED_OUT, f"{evidence}, but deliveries arrived")
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
        return Cause(_DELETED, Likely.CERTAIN, evidence, "Register another webhook in Webhooks.")
    if known.stored is None:
        evidence = f"the agent does not list its webhooks: {known.asked}"
        return Cause(_NOT_STORED, Likely.POSSIBLE, evidence, "Look in the agent's store or log.")
    if known.stored:
        return Cause(_NOT_STORED, Likely.RULED_OUT, f"{known.asked} returned {known.stored} of our registrations")
    remedy = "Register it again in Webhooks (CreateTaskPushNotificationConfig), not with the message."
    evidence = f"{known.asked} returned none of our registrations"
    if known.deliveries:
        return Cause(_NOT_STORED, Likely.POSSIBLE, f"{evidence}, but deliveries to them arrived", remedy)
    return Cause(_NOT_STORED, Likely.CERTAIN, evidence, remedy)


def _task_ended(known: Evidence) -> Cause:
    if known.ended is None:
        return Cause(_TASK_ENDED, Likely.RULED_OUT, f"the task is {short(known.state) or 'unknown so far'}")
    if pushed := _pushed_before_the_end(known):
        return Cause(_TASK_ENDED, Likely.RULED_OUT, f"the state {short(pushed)} was pushed")
    if not known.registrations:
        evidence = f"the task is {short(known.state)}, and the time of the registration is unknown"
        return Cause(_TASK_ENDED, Likely.POSSIBLE, evidence, "Register with the message, not after it.")
    early = min(webhook.registration.made_at for webhook in known.registrations) - known.ended
    if early > 0:
        remedy = "Send the next message with a webhook: a task that has ended does not change any more."
        return Cause(_TASK_ENDED, Likely.CERTAIN, f"it ended {duration(early)} before", remedy)
    return Cause(_TASK_ENDED, Likely.RULED_OUT, f"it ended {duration(-early)} after")


def _unreachable(known: Evidence) -> Cause:
    if known.without_listener:
        remedy = (
            "Start the program that should listen there, or register the URL of a running receiver (a2a-inspect listen,"
            " or the TUI with the webhook on)."
        )
        is_only = len(known.without_listener) == len(known.configs) and not known.deliveries
        evidence = f"nothing listens at {', '.join(known.without_listener)}"
        return Cause(_UNREACHABLE, Likely.CERTAIN if is_only else Likely.POSSIBLE, evidence, remedy)
    good, words = known.reach
    likely = {True: Likely.RULED_OUT, False: Likely.LIKELY, None: Likely.POSSIBLE}[good]
    evidence = f"{known.advertised}, reachable from the agent's host: {words.replace(': ', ', ', 1)}"
    if known.tls_failures and not known.arrived:
        return Cause(_UNREACHABLE, Likely.RULED_OUT, "a client connected, but the TLS handshake failed")
    if likely is Likely.RULED_OUT and known.arrived:
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
    times = counted(failures, "time")
    evidence = f"the TLS handshake failed {times}, the last time: {known.tls_failures[-1].rstrip('.')}"
    return Cause(_UNTRUSTED, Likely.POSSIBLE if known.deliveries else Likely.LIKELY, evidence, remedy)


def _gave_up(known: Evidence) -> Cause:
    failed = _given_up(known.deliveries)
    if not failed:
        return Cause(_GAVE_UP, Likely.RULED_OUT, "an attempt at each delivery was accepted")
    last = failed[-1]
    why = last.meta["refused"] or f"response override: {last.meta['dialled']}"
    evidence = f"{len(failed)} not accepted, the last with {last.meta['status'] or 'no response'}: {why}"
    refused = "Have the agent send what the registration requires."
    override = "Accept deliveries again: remove the override in Webhooks, or the option --fail of listen."
    remedy = refused if last.meta["refused"] else override
    return Cause(_GAVE_UP, Likely.CERTAIN if known.deliveries[-1] is last else Likely.POSSIBLE, evidence, remedy)


def _given_up(deliveries: Iterable[Record]) -> list[Record]:
    """Return the last attempt at each delivery of which no attempt was accepted.

    The deliveries can be from several captures, which number their records independently.
    """
    last: dict[tuple[str, int], Record] = {}
    accepted: set[tuple[str, int]] = set()
    for record in deliveries:
        meta = record.meta
        delivery = meta.get("target", ""), meta.get("again") or meta.get("first") or record.seq
        if meta.get("taken"):
            accepted.add(delivery)
        elif not meta.get("challenge"):
            last[delivery] = record
    return [record for delivery, record in last.items() if delivery not in accepted]


def _other_path(known: Evidence) -> Cause:
    if not known.unknown_paths:
        return Cause(_OTHER_PATH, Likely.RULED_OUT, "no event of this task came to an unregistered path")
    remedy = "Compare the paths in Webhooks: does a proxy rewrite them, or are they from webhooks of an earlier run?"
    count = counted(known.unknown_paths, "event")
    evidence = f"{count} of this task came to unregistered paths"
    return Cause(_OTHER_PATH, Likely.LIKELY, evidence, remedy)


def _other_task(known: Evidence) -> Cause:
    if not known.other_tasks:
        return Cause(_OTHER_TASK, Likely.RULED_OUT, "no delivery to this webhook names another task")
    remedy = "Let the agent store push configurations per task, and name the task of the webhook in each update."
    evidence = f"{counted(known.other_tasks, 'update')} at this webhook named another task"
    return Cause(_OTHER_TASK, Likely.POSSIBLE if known.accepted else Likely.CERTAIN, evidence, remedy)


def _not_sent(known: Evidence) -> Cause:
    """Report that the agent may not have tried to push, which only its log shows."""
    if known.deliveries or known.other_tasks or known.unknown_paths or known.tls_failures:
        return Cause(_NOT_SENT, Likely.RULED_OUT, "requests of the agent arrived")
    remedy = "Look in the agent's log: does it push the updates of this task, or does an error prevent it?"
    if known.others_arrived and known.stored:
        evidence = "the registration is stored and deliveries for other tasks arrived, but none for this task"
        return Cause(_NOT_SENT, Likely.LIKELY, evidence, remedy)
    return Cause(_NOT_SENT, Likely.POSSIBLE, "no request for this task arrived", remedy)


def _only_at_the_end(known: Evidence) -> Cause:
    if known.ended is not None or not known.state:
        return Cause(_AT_THE_END, Likely.RULED_OUT, f"the task is {short(known.state) or 'unknown so far'}")
    if pushed := _pushed_before_the_end(known):
        return Cause(_AT_THE_END, Likely.RULED_OUT, f"the state {short(pushed)} was pushed")
    evidence = f"the task is {short(known.state)}; SDKs before 1.0 push once, when it has ended"
    remedy = "Wait for the task to end, or cancel it, and see whether the agent pushes the final state."
    return Cause(_AT_THE_END, Likely.POSSIBLE, evidence, remedy)


def _pushed_before_the_end(known: Evidence) -> str:
    """Return a state of the running task that was pushed, `""` for none."""
    return next((record.state for record in known.deliveries if record.state and not is_terminal(record.state)), "")
