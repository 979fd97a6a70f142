"""Rules about the ids in a stream: of the task, of its context, and of messages."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.findings.examples import TEXT_PART, message, status, stream, task, update
from inspector.findings.rule_set import ERROR, SINCE_0_2, V1, WARNING, Rule, RuleSet, Violation
from inspector.findings.stream.facts import VALID_STREAM, EventFacts, MessageFacts
from inspector.protocol.assemble import Misfit
from inspector.protocol.model import Event, Json, Task

RULES: list[Rule] = []
TASK_IDS, CONTEXTS = (RuleSet[EventFacts[Event]](RULES, passing=VALID_STREAM) for _ in range(2))
MESSAGE_IDS = RuleSet[MessageFacts](RULES, SINCE_0_2)

_TASK, _WORKING, _DONE = task(), status("WORKING"), status("COMPLETED")
_REQUEST: dict[str, Json] = {"message": {"messageId": "m-0", "role": "ROLE_USER", "parts": [TEXT_PART]}}


def _update_with_message(text: str, message_id: str) -> Json:
    """Return a valid status update with a message in it."""
    content = message({"text": text}, messageId=message_id)["message"]
    return update(status={"state": "TASK_STATE_WORKING", "message": content})


@TASK_IDS.rule(
    "STREAM-006",
    ERROR,
    "An event belongs to another task or context than the stream",
    section="1.0 §3.3.2, §3.4.2, §3.4.3, §4.2",
    requirement="The taskId and contextId of an event identify its task and context.",
    remedy="Use the same taskId and contextId in all events of a task.",
    failing=stream(_TASK, update(contextId="c-2"), _DONE),
)
def other_task(facts: EventFacts[Event]) -> Iterator[Violation]:
    event, order = facts.event, facts.stream.order
    if facts.expected:
        found, pointer = (event.id, "/id") if isinstance(event, Task) else (event.task_id, facts.place("/taskId"))
        yield Violation(pointer, f"task is {found}, expected {facts.expected}")
    if Misfit.OTHER_CONTEXT in facts.misfits:
        known = order.context_id if order else ""
        yield Violation(facts.place("/contextId"), f"context is {event.context_id!r:.80}, expected {known!r:.80}")


@CONTEXTS.rule(
    "STREAM-017",
    ERROR,
    "The response has another context than the request",
    section="1.0 §3.4.1, §3.4.3",
    requirement="An agent that cannot accept the contextId MUST reject it, and MUST NOT generate a new contextId.",
    remedy="Keep the context of the request, or respond with an error.",
    passing=stream(_TASK, _DONE, asked={"message": {"contextId": "c-1"}}),
    failing=stream(_TASK, _DONE, asked={"message": {"contextId": "c-9"}}),
)
def other_context(facts: EventFacts[Event]) -> Iterator[Violation]:
    if not facts.stream.left_context and facts.stream.names_other_context(facts.event):
        requested = facts.stream.call.context_id
        yield Violation("/contextId", f"context is {facts.event.context_id!r:.80}, requested {requested!r:.80}")


@CONTEXTS.rule(
    "STREAM-023",
    ERROR,
    "The task has no contextId, but its updates have one",
    section="1.0 §3.4.1",
    requirement="A contextId that the agent generates MUST be included in the response.",
    remedy="Set the contextId of the task: clients store the conversation under it.",
    versions=V1,
    failing=stream({"task": {"id": "t-1", "status": {"state": "TASK_STATE_WORKING"}}}, _WORKING, _DONE),
)
def late_context(facts: EventFacts[Event]) -> Iterator[Violation]:
    if facts.stream.lacks_context and facts.event.context_id:
        yield Violation("/contextId", f"context is {facts.event.context_id!r:.80}, the task names none")


@MESSAGE_IDS.rule(
    "STREAM-027",
    WARNING,
    "Two messages have the same id",
    section="1.0 §4.1.4; 0.3 §6.4",
    requirement="messageId is the unique identifier of the message.",
    remedy="Generate an id for each message: clients drop the second message as a repetition.",
    passing=stream(_TASK, _update_with_message("one", "m-1"), _update_with_message("two", "m-2"), _DONE),
    failing=stream(_TASK, _update_with_message("one", "m-1"), _update_with_message("two", "m-1"), _DONE),
)
def repeated_message_id(sent: MessageFacts) -> Iterator[Violation]:
    if not sent.repeats_request_id and sent.stream.messages.get(sent.id, sent.content) != sent.content:
        yield Violation(f"{sent.place}/messageId", f"messageId is {sent.id!r:.80}")


@MESSAGE_IDS.rule(
    "STREAM-028",
    WARNING,
    "The agent's message has the id of the user's message",
    section="1.0 §4.1.4; 0.3 §6.4",
    requirement="messageId is the unique identifier of the message, made by its creator.",
    remedy="Generate an id for the agent's message.",
    passing=stream(_TASK, _update_with_message("one", "m-1"), _DONE, asked=_REQUEST),
    failing=stream(_TASK, _update_with_message("one", "m-0"), _DONE, asked=_REQUEST),
)
def message_id_of_request(sent: MessageFacts) -> Iterator[Violation]:
    if sent.repeats_request_id:
        yield Violation(f"{sent.place}/messageId", f"messageId is {sent.id!r:.80}")
