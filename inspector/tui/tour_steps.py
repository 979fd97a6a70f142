"""The guided tour of the demo as data: seven stops, each with a few steps."""

from __future__ import annotations

from collections.abc import Callable

from inspector.capture.records import Kind, Record
from inspector.lazy_dataclass import dataclass
from inspector.protocol.lifecycle import State
from inspector.tui.keys import key_of


@dataclass(frozen=True, slots=True)
class Send:
    """A message that the tour sends; an `answer` continues the task that requires input."""

    text: str
    stream: bool = True
    answer: bool = False
    push: bool = False
    version: str = "1.0"


@dataclass(frozen=True, slots=True)
class Step:
    """One step: a text, the view that it explains, and what enter does.

    A step with a message to `send` ends with the first record for which `is_result` is true; the next step selects
    it. `section` is the section of the Agent view to show. `translate` shows the translation of the selected record in
    a dialog with the text of the step, which ends when the dialog is closed.
    """

    text: str
    view: str = "chat"
    enter: str = ""
    send: Send | None = None
    is_result: Callable[[Record], bool] = lambda _: False
    section: str = ""
    translate: bool = False


BROKEN = "STREAM-004"
"""The rule that the scenario `careless` violates."""


def _a_record(*kinds: Kind, **members: str) -> Callable[[Record], bool]:
    """Return a function that tests whether a record has one of the kinds and all of the member values."""
    return lambda record: (
        record.kind in kinds and all(getattr(record, name) == value for name, value in members.items())
    )


def _broken(record: Record) -> bool:
    return any(finding.rule == BROKEN for finding in record.findings)


STOPS: dict[str, tuple[Step, ...]] = {
    "Card": (
        Step(
            "An agent card lists the URLs of an agent, its protocol versions, its capabilities and its skills.",
            view="agent",
            enter="show it as JSON",
            section="card",
        ),
        Step(
            "The card as it was served, and its source. A client needs nothing else to start.",
            view="agent",
            section="raw",
        ),
    ),
    "Message": (
        Step(
            "A client sends a message. The agent may respond with a message directly, without creating a task.",
            enter='send "echo Hello!"',
            send=Send("echo Hello!", stream=False),
            is_result=_a_record(Kind.BODY, Kind.FRAME, event="message"),
        ),
        Step("One request, one response. It contains a context ID; your next message continues that context."),
    ),
    "Stream": (
        Step(
            "For longer work an agent creates a task. It streams status updates, and artifacts chunk by chunk.",
            enter='send "report 20"',
            send=Send("report 20"),
            is_result=_a_record(Kind.BODY, Kind.FRAME, event="artifact"),
        ),
        Step("Submitted, working, completed. The 20 chunks are one row here, because they are one artifact."),
    ),
    "Input required": (
        Step(
            "A task may need input from the client: its state becomes input-required, and it waits.",
            enter='send "ask"',
            send=Send("ask"),
            is_result=_a_record(Kind.BODY, Kind.FRAME, event="status", state=State.INPUT_REQUIRED),
        ),
        Step(
            "The agent asks. The answer is a message with the task ID; the line above the text shows the task.",
            enter='answer "20:30"',
            send=Send("20:30, please.", answer=True),
            is_result=_a_record(Kind.BODY, Kind.FRAME, event="status", state=State.COMPLETED),
        ),
        Step("The same task continued and is completed: two requests, one task, one history."),
    ),
    "Push": (
        Step(
            "Without an open connection, an agent can POST each update to a webhook registered with the message.",
            view="webhooks",
            enter='start the receiver, send "push"',
            send=Send("push", push=True),
            is_result=_a_record(Kind.DELIVERY, state=State.COMPLETED),
        ),
        Step(
            "Each row is a delivery: its event, and the checks of token, auth, signature, order and schema.",
            view="webhooks",
        ),
    ),
    "Finding": (
        Step(
            "Now the agent breaks a rule on purpose: it appends to an artifact that it has not sent before.",
            enter='send "careless"',
            send=Send("careless"),
            is_result=_broken,
        ),
        Step(
            "The violation is a finding: the rule and its section, what was seen, and how to fix the agent.",
            view="findings",
        ),
    ),
    "Protocol versions": (
        Step(
            "This agent also supports A2A 0.3, where methods, states and events have other names.",
            enter='send "report 3" in 0.3',
            send=Send("report 3", version="0.3"),
            is_result=_a_record(Kind.REQUEST, operation="SendStreamingMessage"),
        ),
        Step(
            "The same message in A2A 0.3. All views look the same in every protocol version.",
            enter="translate it to 1.0",
        ),
        Step(
            f"Left: as received. Right: the same object in A2A 1.0. {key_of('representation')} shows other versions.",
            enter="close the translation",
            translate=True,
        ),
        Step(
            f"{key_of('translate')} translates any record. This is the end of the tour; {key_of('tour')} restarts it.",
        ),
    ),
}
"""The steps of each stop of the tour, by the title of the stop."""
