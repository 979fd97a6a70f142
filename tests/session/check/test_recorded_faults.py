"""Checks that were recorded pass 50 times against the same agent, and fail for each fault that changes its responses.

For each kind of exchange, the table has the faults that a check sees. All others must not make it fail: they do not
change the responses of this kind, or only as the specification allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from inspector.sample_agents.faults.names import FAULTS
from recorded_checks import Use, agent, assert_passed, converse_with_pushes, draft, made, record, run, stream_report

from inspector.session.check.document.enumerations import Transport
from inspector.session.check.status import Status
from inspector.session.session import Session

ALL = frozenset(name for name, fault in FAULTS.items() if not fault.level.needs_authentication)
"""The faults that can be switched on without logins."""

REFUSED = frozenset({"error-before", "unauthorized", "forbidden", "too-many", "unavailable", "html", "content-type"})
BYTES = frozenset({"break-off", "hang", "slow-start", "trickle", "malformed-json", "invalid-utf8"})
TIMED_OUT = frozenset({"hang", "slow-start", "trickle"})
"""Faults that a check sees because it times out."""
JSON = frozenset({"shapes-0.3", "snake-case"})
EVENTS = frozenset(
    {
        *("duplicate", "reorder", "drop", "drop-last", "wrong-task", "wrong-context", "unknown-state"),
        *("fresh-artifacts", "append-first", "chunk-after-last", "after-terminal", "message-in-stream"),
        *("error-in-stream", "error-after", "hostile-text"),
    }
)
PUSHES = frozenset(
    {"push-late", "push-never", "push-unsigned", "push-wrong-token", "push-content-type", "push-malformed"}
)
ARTIFACTS = frozenset({"fresh-artifacts", "append-first", "chunk-after-last"})
ONLY_1_0 = frozenset({"final", "shapes-0.3", "no-timezone", "message-in-stream"})
"""Faults that change nothing for a client of 0.3, or only what 0.3 allows."""
STREAM = REFUSED | BYTES | JSON | EVENTS | {"final", "no-timezone", "giant-frame"}
UNSEEN = {
    "batch": "only the times of the events differ",
    "push-twice": "an agent may send a push again",
}
"""Faults that no recorded check sees, and why."""


@dataclass(frozen=True)
class Kind:
    """A kind of exchange, and the faults that its check sees."""

    name: str
    use: Use
    transport: Transport
    seen: frozenset[str]
    version: str = "1.0"
    pace: float = 0.0


async def send_echo(session: Session) -> None:
    await session.send(draft("echo Good morning"), stream=False).finish()


async def send_and_get_artifacts(session: Session) -> None:
    call = session.send(draft("mixed"), stream=False)
    await call.finish()
    await session.get(call.exchange.task_id).finish()


async def stream_artifacts(session: Session) -> None:
    await session.send(draft("many 3"), stream=True).finish()


async def stream_states(session: Session) -> None:
    await session.send(draft("long 2"), stream=True).finish()


BODY = REFUSED | BYTES | JSON
RPC = frozenset({"wrong-rpc-id"})
KINDS = [
    Kind("message", send_echo, Transport.JSONRPC, BODY | RPC),
    Kind("stream", stream_report, Transport.JSONRPC, STREAM | RPC),
    Kind("states", stream_states, Transport.JSONRPC, (STREAM | RPC | {"wrong-state"}) - ARTIFACTS),
    Kind("artifacts", stream_artifacts, Transport.JSONRPC, STREAM | RPC),
    Kind("task", send_and_get_artifacts, Transport.JSONRPC, BODY | RPC | {"no-timezone", "double-base64"}),
    Kind("pushes", converse_with_pushes, Transport.JSONRPC, BODY | RPC | PUSHES | {"no-timezone"}),
    Kind("stream", stream_report, Transport.REST, STREAM),
    Kind("task", send_and_get_artifacts, Transport.REST, BODY | {"no-timezone", "double-base64"}),
    Kind("pushes", converse_with_pushes, Transport.REST, BODY | PUSHES | {"no-timezone"}),
    Kind("stream", stream_report, Transport.GRPC, EVENTS | {"error-before"}),
    Kind("pushes", converse_with_pushes, Transport.GRPC, PUSHES | {"error-before"}),
    Kind("stream", stream_report, Transport.JSONRPC, (STREAM | RPC | {"no-final"}) - ONLY_1_0, version="0.3"),
]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.name}-{kind.transport}-{kind.version}")
async def test_a_recorded_check_passes_fifty_times_and_fails_for_each_fault(kind: Kind, tmp_path: Path):
    async def failures(fault: str) -> list[Any]:
        seconds = 2 if fault in TIMED_OUT & kind.seen else 30
        async with agent(fault, version=kind.version) as url:
            path = tmp_path / f"{fault}.a2a"
            result = await run(document, url, path, transports=(kind.transport,), seconds=seconds)
        path.unlink()
        return [each for each in result.results if each.status in (Status.FAIL, Status.ERROR)]

    async with agent(version=kind.version) as url:
        await record(tmp_path / "recorded.a2a", url, kind.use, kind.transport)
        document = made(tmp_path / "recorded.a2a", complete=True)
        result = await run(document, url, tmp_path / "run.a2a", trials=50, transports=(kind.transport,))
    assert_passed(result)
    assert len(result.results) == 50
    seen = {fault for fault in sorted(ALL) if await failures(fault)}
    assert seen == kind.seen


def test_a_fault_that_no_recorded_check_sees_has_a_reason():
    assert ALL - frozenset[str]().union(*(kind.seen for kind in KINDS)) == UNSEEN.keys()
