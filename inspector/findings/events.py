"""What is wrong with the events of a stream, a webhook or an answer, and with how a stream ends."""

from __future__ import annotations

from collections.abc import Iterable

from inspector.findings.finding import Finding
from inspector.findings.rules import broken
from inspector.protocol.assemble import Misfit
from inspector.protocol.jsonvalue import brief
from inspector.protocol.lifecycle import State, is_interrupted, is_terminal, short
from inspector.protocol.model import Json

_MISFITS = {
    Misfit.ILLEGAL_MOVE: ("STREAM-002", "/status/state"),
    Misfit.AFTER_TERMINAL: ("STREAM-003", ""),
    Misfit.APPEND_BEFORE_CREATE: ("STREAM-004", "/append"),
    Misfit.CHUNK_AFTER_LAST: ("STREAM-005", "/append"),
    Misfit.OTHER_CONTEXT: ("STREAM-006", "/contextId"),
}
_KNOWN_STATES = frozenset(str(state) for state in State)


def of_misfits(misfits: Iterable[Misfit], seen: str, at: str = "") -> tuple[Finding, ...]:
    """Turn what did not fit into findings; `seen` says what the event was, `at` points to it."""
    return tuple(broken(_MISFITS[misfit][0], seen, at + _MISFITS[misfit][1]) for misfit in misfits)


def of_state(state: str, at: str = "") -> tuple[Finding, ...]:
    """Name a state that no specification knows."""
    if not state or state in _KNOWN_STATES:
        return ()
    return (broken("STREAM-009", state, f"{at}/status/state"),)


def of_other_task(expected: str, got: str, at: str = "/taskId") -> tuple[Finding, ...]:
    """Name an event about another task than the one that the exchange is about."""
    return (broken("STREAM-006", f"task {got}, this is about {expected}", at),)


def of_mixture(events: int, messages: int, at: str = "") -> tuple[Finding, ...]:
    """Judge that a stream of so many events has had so many messages among them."""
    return (broken("STREAM-010", f"a message in a stream of {events:,} events", at),) if messages and events > 1 else ()


def of_ending(state: str, *, whole: bool, events: int, message_only: bool) -> tuple[Finding, ...]:
    """Judge how a stream ended: `whole` says that the response ended in order, `state` how far the task was."""
    if not whole:
        return (broken("STREAM-008", f"after {events:,} events, {short(state) or 'before any state'}"),)
    if message_only or is_terminal(state) or is_interrupted(state):
        return ()
    return (broken("STREAM-001", f"closed after {events:,} events, {short(state) or 'before any state'}"),)


def of_envelope(expected: str, value: Json) -> tuple[Finding, ...]:
    """Judge what is around a result or an error; what has neither is no JSON-RPC response, which is said elsewhere.

    An error without an id is no slip: the agent may have been unable to read that of the request.
    """
    if not isinstance(value, dict) or not value.keys() & {"result", "error"}:
        return ()
    got, error = value.get("id"), value.get("error")
    if got == expected and error is None and value.get("jsonrpc") == "2.0":
        return ()
    findings: list[Finding] = []
    if got != expected and not (got is None and error is not None):
        findings.append(broken("RPC-001", f"{_quote(got)} instead of {expected!r}", "/id"))
    if value.get("jsonrpc") != "2.0":
        findings.append(broken("RPC-002", f"jsonrpc is {_quote(value.get('jsonrpc'))}, not '2.0'", "/jsonrpc"))
    if error is not None and value.get("result") is not None:
        findings.append(broken("RPC-002", "both result and error", "/error"))
    if isinstance(error, dict) and type(error.get("code")) is not int:
        findings.append(broken("RPC-002", f"the error's code is {_quote(error.get('code'))}", "/error/code"))
    return tuple(findings)


def _quote(value: Json) -> str:
    return "missing" if value is None else repr(value) if type(value) in (int, float) else brief(value)
