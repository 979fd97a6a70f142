"""What is wrong with the events of a stream, a webhook or an answer, and with how a stream ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from inspector.findings.finding import Finding
from inspector.findings.rules import broken
from inspector.protocol.assemble import Misfit
from inspector.protocol.jsonvalue import brief
from inspector.protocol.lifecycle import State, is_interrupted, is_terminal, short
from inspector.protocol.model import Event, Json, Task

_MISFITS = {
    Misfit.ILLEGAL_MOVE: ("STREAM-002", "/status/state"),
    Misfit.AFTER_TERMINAL: ("STREAM-003", ""),
    Misfit.APPEND_BEFORE_CREATE: ("STREAM-004", "/append"),
    Misfit.CHUNK_AFTER_LAST: ("STREAM-005", "/append"),
    Misfit.OTHER_CONTEXT: ("STREAM-006", "/contextId"),
}
_AT_ONCE = 2.0
"""Within how many seconds a stream has to close."""
_GOING_ON = frozenset({State.SUBMITTED, State.WORKING})
_FIELDS = frozenset({"data", "event", "id", "retry"})
_JSON_BEGINS = ("{", "[")
_IN_0_1 = {"/append": "/artifact/append", "/contextId": "/sessionId", "/taskId": "/id"}
"""Where 0.1 has what later generations have elsewhere."""


def of_misfits(misfits: Iterable[Misfit], seen: str, generation: str, contexts: str = "") -> tuple[Finding, ...]:
    """Turn what did not fit into findings, which point into the event; `seen` says what it was.

    `contexts` says instead which contexts differ, where that is known.
    """
    return tuple(
        broken(
            _MISFITS[one][0],
            contexts if contexts and one is Misfit.OTHER_CONTEXT else seen,
            _place(_MISFITS[one][1], generation),
        )
        for one in misfits
    )


def of_other_task(expected: str, got: str, generation: str, *, whole: bool) -> tuple[Finding, ...]:
    """Name an event about another task than the one that the exchange is about; `whole` says that it is a task."""
    at = "/id" if whole else _place("/taskId", generation)
    return (broken("STREAM-006", f"task {got}, this is about {expected}", at),)


def _place(pointer: str, generation: str) -> str:
    return _IN_0_1.get(pointer, pointer) if generation == "0.1" else pointer


def lacks_artifacts(event: Event, said: Json) -> bool:
    """Say whether a task was read without some of the artifacts that its JSON holds."""
    if not isinstance(event, Task) or not isinstance(said, dict):
        return False
    listed = said.get("artifacts")
    return bool(listed) and not (isinstance(listed, list) and len(event.artifacts or ()) == len(listed))


def of_lines(ignored: Sequence[str], event: str) -> tuple[Finding, ...]:
    """Judge the lines of a block that are in no field that readers know, and what its event is called."""
    if event.lstrip()[:1] in _JSON_BEGINS:
        return (broken("STREAM-029", f"the name of an event: {brief(event)}"),)
    lost = next((line for line in ignored if _is_meant(line)), "")
    return (broken("STREAM-029", brief(lost)),) if lost else ()


def _is_meant(line: str) -> bool:
    """Say whether a line that every reader ignores was meant to be read."""
    name, _, value = line.partition(":")
    return name.strip().lower() in _FIELDS or line.lstrip()[:1] in _JSON_BEGINS or value.lstrip()[:1] in _JSON_BEGINS


def of_mixture(events: int, messages: int) -> tuple[Finding, ...]:
    """Judge that a stream of so many events has had so many messages among them."""
    if not messages or events < 2:
        return ()
    return (broken("STREAM-010", f"a message in a stream of {events:,} events"),)


def of_ending(state: str, *, whole: bool, events: int, message_only: bool, why: str = "") -> tuple[Finding, ...]:
    """Judge how a stream ended: `whole` says that the response ended in order, `state` how far the task was.

    `why` is what broke it off, in words.
    """
    if not whole:
        said = f"after {events:,} events, {short(state) or 'before any state'}"
        return (broken("STREAM-008", f"{said}: {why}" if why else said),)
    if message_only or is_terminal(state) or is_interrupted(state) or (state and state not in _GOING_ON):
        return ()  # a state that nobody knows is named where it stands
    return (broken("STREAM-001", f"closed after {events:,} events, {short(state) or 'before any state'}"),)


def of_staying_open(seconds: float, *, closed: bool = False) -> tuple[Finding, ...]:
    """Judge a stream that was open so long after its task had ended; `closed` says that the agent ended it then."""
    if seconds < _AT_ONCE:
        return ()
    return (broken("STREAM-022", f"{'closed only' if closed else 'still open'} after {seconds:,.0f} s"),)


def of_envelope(expected: Json, value: Json, *, early: bool = False, nullable: bool = False) -> tuple[Finding, ...]:
    """Judge what is around a result or an error; what has neither is no JSON-RPC response, which is said elsewhere.

    An error without an id is no slip where the agent may have been unable to read that of the request: `early` says
    that something before it refused the request, by the status of HTTP.
    """
    if not isinstance(value, dict) or not value.keys() & {"result", "error"}:
        return ()
    got, error = value.get("id"), value.get("error")
    both = len(value.keys() & {"result", "error"}) > 1
    if got == expected and error is None and value.get("jsonrpc") == "2.0" and not both:
        return ()
    findings: list[Finding] = []
    code = error.get("code") if isinstance(error, dict) else None
    unread = error is not None and (early or code in _BEFORE_THE_ID or type(code) is not int)
    if got != expected and not (got is None and unread):
        findings.append(broken("RPC-001", f"{_quote(got)} instead of {expected!r}", "/id"))
    if value.get("jsonrpc") != "2.0":
        findings.append(broken("RPC-002", f"jsonrpc is {_quote(value.get('jsonrpc'))}, not '2.0'", "/jsonrpc"))
    if error is not None and value.get("result") is not None:
        findings.append(broken("RPC-002", "both result and error", "/error"))
    elif both and not nullable:
        odd, other = ("error", "a result") if error is None else ("result", "an error")
        findings.append(broken("RPC-006", f"{odd} is null beside {other}", f"/{odd}"))
    if isinstance(error, dict) and type(error.get("code")) is not int:
        findings.append(broken("RPC-002", f"the error's code is {_quote(error.get('code'))}", "/error/code"))
    return tuple(findings)


_BEFORE_THE_ID = (-32700, -32600)
"""The errors of a request that may have been read too little of for its id: parse error, invalid request."""


def _quote(value: Json) -> str:
    return "missing" if value is None else repr(value) if type(value) in (int, float) else brief(value)
