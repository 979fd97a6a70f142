"""What is wrong with the events of a stream, a webhook or an answer, and with how a stream ends."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.findings.finding import Finding
from inspector.findings.rules import broken
from inspector.protocol.assemble import Misfit
from inspector.protocol.lifecycle import State, is_interrupted, is_terminal, short

_MISFITS = {
    Misfit.ILLEGAL_MOVE: ("STREAM-002", "/status/state"),
    Misfit.AFTER_TERMINAL: ("STREAM-003", ""),
    Misfit.APPEND_BEFORE_CREATE: ("STREAM-004", "/append"),
    Misfit.CHUNK_AFTER_LAST: ("STREAM-005", "/append"),
    Misfit.OTHER_CONTEXT: ("STREAM-006", "/contextId"),
}
_KNOWN_STATES = frozenset(str(state) for state in State)


def of_misfits(misfits: Iterable[Misfit], seen: str) -> tuple[Finding, ...]:
    """Turn what did not fit into findings; `seen` says what the event was."""
    return tuple(broken(_MISFITS[misfit][0], seen, _MISFITS[misfit][1]) for misfit in misfits)


def of_state(state: str) -> tuple[Finding, ...]:
    """Name a state that no specification knows."""
    if not state or state in _KNOWN_STATES:
        return ()
    return (broken("STREAM-009", state, "/status/state"),)


def of_other_task(expected: str, got: str) -> tuple[Finding, ...]:
    """Name an event about another task than the stream's."""
    return (broken("STREAM-006", f"task {got}, the stream is about {expected}", "/taskId"),)


def of_ending(state: str, *, whole: bool, events: int, message_only: bool) -> tuple[Finding, ...]:
    """Judge how a stream ended: `whole` says that the response ended in order, `state` how far the task was."""
    if not whole:
        return (broken("STREAM-008", f"after {events:,} events, {short(state) or 'before any state'}"),)
    if message_only or is_terminal(state) or is_interrupted(state):
        return ()
    return (broken("STREAM-001", f"closed after {events:,} events, {short(state) or 'before any state'}"),)


def of_envelope(expected: str, got: object) -> tuple[Finding, ...]:
    """Compare the id of a JSON-RPC response with that of the request."""
    return () if got == expected else (broken("RPC-001", f"{got!r} instead of {expected!r}", "/id"),)
