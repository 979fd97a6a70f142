"""Rules about the end of a stream."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.findings.examples import status, stream, task
from inspector.findings.rule_set import ERROR, Rule, RuleSet, Violation
from inspector.findings.stream.facts import RUNNING_STATES, VALID_STREAM, StreamEnd
from inspector.findings.stream.observer import StreamEnding
from inspector.protocol.lifecycle import short
from inspector.protocol.model import Unreadable
from inspector.text.units import counted

RULES: list[Rule] = []
END = RuleSet[StreamEnd](RULES, passing=VALID_STREAM)

_MAX_SECONDS_OPEN = 2.0
"""The number of seconds within which a stream has to close."""
_TASK, _WORKING, _DONE = task(), status("WORKING"), status("COMPLETED")


@END.rule(
    "STREAM-001",
    ERROR,
    "The stream ended before the task",
    section="1.0 §3.1.2",
    requirement="The stream MUST stay open until the task is in a terminal or interrupted state.",
    remedy="Send the final status update before closing the stream, or find what closed the connection.",
    failing=stream(_TASK, _WORKING),
)
def ended_early(end: StreamEnd) -> Iterator[Violation]:
    sent = end.stream
    if not end.is_complete or isinstance(end.last, Unreadable) or end.task_ended or _stayed_open(end):
        return  # the unreadable event may have ended the task
    # Another rule reports an unknown state.
    message_only = 0 < sent.message_count == sent.event_count
    if not message_only and (not end.state or end.state in RUNNING_STATES):
        yield Violation("", f"closed after {_progress(end)}")


@END.rule(
    "STREAM-008",
    ERROR,
    "The stream was interrupted",
    section="1.0 §3.1.2, §3.5.2",
    requirement="A stream ends with the regular end of the response.",
    remedy="Check the agent's log at this time; SubscribeToTask may resume the stream of the task.",
    failing=stream(_TASK, _WORKING, end="cut"),
)
def broken_off(end: StreamEnd) -> Iterator[Violation]:
    seen = f"after {_progress(end)}"
    if end.how is StreamEnding.LIMIT:
        yield Violation("", f"{seen}: {end.why}")
    elif end.how is not StreamEnding.STOPPED and not end.is_complete:
        if end.rest:
            seen = f"{seen}, inside an event: {end.rest:,} bytes without the empty line that ends an event"
        yield Violation("", f"{seen}: {end.why}" if end.why and not end.events else seen)


@END.rule(
    "STREAM-022",
    ERROR,
    "The stream stayed open after the task ended",
    section="1.0 §3.1.2, §3.1.6; 0.3 §7.2.2",
    requirement="The stream MUST close when the task reaches a terminal state.",
    remedy="End the response after the last event: clients wait for its end.",
    passing=stream(_TASK, _WORKING, end=30),
    failing=stream(_TASK, _DONE, end=30),
)
def stayed_open(end: StreamEnd) -> Iterator[Violation]:
    if (end.is_complete or end.how is StreamEnding.STOPPED) and _stayed_open(end):
        seen = f"{'closed' if end.is_complete else 'still open'} {end.seconds_open:,.0f} s after the end of the task"
        yield Violation("", seen)


def _stayed_open(end: StreamEnd) -> bool:
    return end.seconds_open >= _MAX_SECONDS_OPEN


def _progress(end: StreamEnd) -> str:
    events = counted(end.events, "event")
    return f"{events}, {f'last state {short(end.state)}' if end.state else 'no task state'}"
