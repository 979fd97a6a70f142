"""The tour of the demo as data: seven stops, each with a few steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inspector.capture.records import Kind, Record
from inspector.protocol.lifecycle import State


@dataclass(frozen=True, slots=True)
class Send:
    """A message that the tour sends; an `answer` goes to the task that waits for it."""

    text: str
    stream: bool = True
    answer: bool = False
    push: bool = False
    version: str = "1.0"


@dataclass(frozen=True, slots=True)
class Step:
    """A text about a view, and what the key of the tour does there.

    A step with something to `send` ends with the first record for which `seen` is true; the next step selects it.
    `face` is the section of the Agent view to show; `lens` translates the selected record to other protocol versions.
    """

    say: str
    view: str = "chat"
    does: str = ""
    send: Send | None = None
    seen: Callable[[Record], bool] = lambda _: False
    face: str = ""
    lens: bool = False


BROKEN = "STREAM-004"
"""The rule that the scenario `careless` breaks."""


def _a_record(*kinds: Kind, **members: str) -> Callable[[Record], bool]:
    """Return a test for records of certain kinds with certain values of their members."""
    return lambda record: (
        record.kind in kinds and all(getattr(record, name) == value for name, value in members.items())
    )


def _broken(record: Record) -> bool:
    return any(finding.rule == BROKEN for finding in record.findings)


STOPS: dict[str, tuple[Step, ...]] = {
    "Card": (
        Step(
            "An agent card says at which URLs an agent is reached, in which protocol versions, and what it can do.",
            view="agent",
            does="read it as JSON",
            face="card",
        ),
        Step(
            "The card as it was served, and how it was found. A client needs nothing else to begin.",
            view="agent",
            face="raw",
        ),
    ),
    "Message": (
        Step(
            "A client sends a message. The agent may answer with a message of its own: no task, nothing to follow.",
            does='send "echo Hello!"',
            send=Send("echo Hello!", stream=False),
            seen=_a_record(Kind.BODY, Kind.FRAME, event="message"),
        ),
        Step("One call, one answer. It names a context, in which your next message goes on: see above the text."),
    ),
    "Stream": (
        Step(
            "Work becomes a task, and its agent streams what happens: states, and artifacts chunk by chunk.",
            does='send "report 20"',
            send=Send("report 20"),
            seen=_a_record(Kind.BODY, Kind.FRAME, event="artifact"),
        ),
        Step("Submitted, at work, completed. The twenty chunks are one row here, because they are one document."),
    ),
    "Input required": (
        Step(
            "A task may need its client: it stops in input-required and waits, for days if it must.",
            does='send "ask"',
            send=Send("ask"),
            seen=_a_record(Kind.BODY, Kind.FRAME, event="status", state=State.INPUT_REQUIRED),
        ),
        Step(
            "The agent asks. An answer is a message that names the task, and the line above the text aims at it.",
            does='answer "20:30"',
            send=Send("20:30, please.", answer=True),
            seen=_a_record(Kind.BODY, Kind.FRAME, event="status", state=State.COMPLETED),
        ),
        Step("The same task went on, and is completed: two calls, one task, one history."),
    ),
    "Push": (
        Step(
            "Nobody has to hold a line open: an agent posts each update to a webhook that came with the message.",
            view="webhooks",
            does='listen, send "push"',
            send=Send("push", push=True),
            seen=_a_record(Kind.DELIVERY, state=State.COMPLETED),
        ),
        Step(
            "Each row is a delivery: what it tells, and whether token, auth, signature, order and shape are right.",
            view="webhooks",
        ),
    ),
    "Finding": (
        Step(
            "Now the agent breaks a rule on purpose: it appends to an artifact that it never began.",
            does='send "careless"',
            send=Send("careless"),
            seen=_broken,
        ),
        Step(
            "No crash, a finding: the rule and its section, what was seen, and what the agent's author can do.",
            view="findings",
        ),
    ),
    "Protocol versions": (
        Step(
            "This agent speaks A2A 0.3 too, where methods, states and events have other names and shapes.",
            does='send "report 3" in 0.3',
            send=Send("report 3", version="0.3"),
            seen=_a_record(Kind.REQUEST, operation="SendStreamingMessage"),
        ),
        Step(
            "The same message in the words of 0.3; what is seen here reads the same in every protocol version.",
            does="lay it beside 1.0",
        ),
        Step(
            "x lays any record beside other protocol versions, m goes back to 1.0, f2 begins again. That was the tour.",
            lens=True,
        ),
    ),
}
"""The steps of each stop of the tour, by the title of the stop."""
