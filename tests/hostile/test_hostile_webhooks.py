"""Webhooks under attack and under load, cases 31 to 37: whoever posts, everything is answered, and everything is kept.

What the receiver does alone, byte by byte, is tested in its room; here the whole session is behind it, and what it
recorded is what counts.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture
from inspector.protocol.errors import FaultError
from inspector.session.push.attempts import chains
from inspector.session.push.webhook_registration import WebhookRegistration
from inspector.session.session import Session
from inspector.session.settings import Settings
from inspector.wire.receiver.response_override import read_override

MANY = 5_000
"""Posts of case 35."""
CONNECTIONS = 20


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    made = Session(tmp_path / "attacked.a2a")
    await made.push.turn_on()
    yield made
    await made.close()


@pytest.fixture
def hook(session: Session) -> WebhookRegistration:
    return session.push.register("t", version="1.0")


def status(state: str = "WORKING", said: str = "", task: str = "t") -> bytes:
    told: dict[str, Any] = {"state": f"TASK_STATE_{state}"}
    if said:
        told["message"] = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": said}]}
    return json.dumps({"statusUpdate": {"taskId": task, "contextId": "c", "status": told}}).encode()


def request(session: Session, hook: WebhookRegistration, body: bytes, *more: str, **changed: str | None) -> bytes:
    """Return the bytes of a good delivery with some headers changed, dropped (None) or added."""
    host, port = session.push.receiver.address
    headers: dict[str, str | None] = {
        "Host": f"{host}:{port}",
        "X-A2A-Notification-Token": hook.registration.token,
        "Authorization": f"Bearer {hook.registration.token}",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
    }
    headers |= {name.replace("_", "-"): value for name, value in changed.items()}
    lines = [f"POST {hook.registration.path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.items() if value is not None]
    return "\r\n".join([*lines, *more, "", ""]).encode() + body


async def send(session: Session, raw: bytes, then: Callable[[asyncio.StreamWriter], Any] | None = None) -> bytes:
    """Send raw bytes, let `then` go on sending, and return what was answered."""
    reader, writer = await asyncio.open_connection(*session.push.receiver.address)
    try:
        writer.write(raw)
        going_on = asyncio.ensure_future(then(writer)) if then else None
        async with asyncio.timeout(30):
            answer = await reader.readuntil(b"\r\n\r\n")
        if going_on is not None:
            going_on.cancel()
            await asyncio.gather(going_on, return_exceptions=True)
        return answer
    finally:
        writer.close()


def code(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def deliveries(session: Session) -> list[Record]:
    return session.journal.capture.select(kinds={Kind.DELIVERY})


def verdict(record: Record) -> dict[str, bool | None]:
    return {name: good for name, good, _ in record.meta["checks"]}


async def test_case_31_a_rebound_host_and_a_browser_are_refused_and_recorded(session, hook):
    rebound = await send(session, request(session, hook, status(), Host="evil.example"))
    browser = await send(session, request(session, hook, status(), Origin="https://evil.example"))
    assert (code(rebound), code(browser)) == (421, 403)
    assert b"access-control" not in (rebound + browser).lower()
    assert [(one.meta["status"], bool(one.meta["refused"])) for one in deliveries(session)] == [
        (421, True),
        (403, True),
    ]
    assert session.tasks.get("t") is None


async def test_case_32_only_the_loopback_address_listens_and_a_port_in_use_is_told(session, tmp_path: Path):
    host, port = session.push.receiver.address
    assert host == "127.0.0.1"
    other = Session(tmp_path / "other.a2a", Settings(receiver_port=port))
    with pytest.raises(FaultError) as caught:
        await other.push.turn_on()
    await other.close()
    assert caught.value.fault.seen == f"Port {port} of 127.0.0.1 is in use."
    assert caught.value.fault.hint


@pytest.mark.parametrize(
    ("more", "changed"),
    [
        ((), {"X_A2A_Notification_Token": "wrong"}),
        ((), {"X_A2A_Notification_Token": None, "Authorization": None}),
        (("X-A2A-Notification-Token: another",), {}),
        ((), {"Authorization": "Bearer wrong"}),
        (("Authorization: Bearer one", "Authorization: Bearer two"), {}),
    ],
)
async def test_case_33_what_is_not_proven_gets_401_and_is_recorded_with_the_reason(session, hook, more, changed):
    assert code(await send(session, request(session, hook, status(), *more, **changed))) == 401
    [record] = deliveries(session)
    assert record.meta["refused"]
    assert False in (verdict(record)["token"], verdict(record)["authorization"])
    assert [finding.rule for finding in record.findings] == ["PUSH-001"]
    assert record.raw == status()
    assert hook.registration.token not in json.dumps([record.meta, record.label])


async def _flood(writer: asyncio.StreamWriter) -> None:
    """Send chunks without an end."""
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    while True:
        writer.write(chunk)
        await writer.drain()


async def test_case_34_too_much_of_anything_is_cut_short_and_the_loop_goes_on(session, hook):
    chunked = request(session, hook, b"", "Transfer-Encoding: chunked", Content_Length=None)
    told = {
        "a gigabyte": (request(session, hook, b"", Content_Length=str(2**30)), None, 413),
        "endless chunks": (chunked, _flood, 413),
        "100,000 headers": (request(session, hook, b"", *(f"X-{n}: {n}" for n in range(100_000))), None, 431),
        "gzip": (request(session, hook, b"\x1f\x8b", Content_Encoding="gzip"), None, 415),
    }
    late: list[float] = []

    async def watch() -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.01)
            late.append(time.perf_counter() - before - 0.01)

    watcher = asyncio.create_task(watch())
    got = {name: code(await send(session, raw, then)) for name, (raw, then, _) in told.items()}
    watcher.cancel()
    assert got == {name: due for name, (_, _, due) in told.items()}
    assert [one.meta["status"] for one in deliveries(session)] == list(got.values())
    assert statistics.quantiles(late, n=10)[-1] < 1  # seconds; a gigabyte or endless chunks would take more
    assert sum(len(one.raw) for one in deliveries(session)) < 1_000_000


async def test_case_34_a_head_that_trickles_in_is_given_up(session, hook):
    # How long that takes is the receiver's own test; here a hundred of them keep nobody else out.
    open_ones = [await asyncio.open_connection(*session.push.receiver.address) for _ in range(100)]
    for _, writer in open_ones:
        writer.write(b"POST /push/x HTTP/1.1\r\nX-Slow")
    assert code(await send(session, request(session, hook, status()))) == 204
    for _, writer in open_ones:
        writer.close()


async def _post(session: Session, hook: WebhookRegistration, numbers: range) -> list[int]:
    """Post deliveries that differ, one after the other over one connection, and return how they were answered."""
    reader, writer = await asyncio.open_connection(*session.push.receiver.address)
    answered = []
    for number in numbers:
        writer.write(request(session, hook, status(said=f"step {number}")))
        answered.append(code(await reader.readuntil(b"\r\n\r\n")))
    writer.close()
    return answered


async def test_case_35_of_thousands_of_posts_none_is_lost(session, hook):
    each = MANY // CONNECTIONS
    shares = [range(first, first + each) for first in range(0, MANY, each)]
    answered = await asyncio.gather(*(_post(session, hook, share) for share in shares))
    assert {one for share in answered for one in share} == {204}
    path = session.journal.capture.path
    await session.close()
    with Capture.open(path) as capture:
        kept = capture.select(kinds={Kind.DELIVERY})
    assert sorted(one.label for one in kept) == sorted(f"step {number}" for number in range(MANY))
    assert {one.findings for one in kept} == {()}
    assert hook.accepted == MANY


async def test_case_36_repeated_late_and_unknown_deliveries_are_marked(session, hook):
    bodies = [status(), status(), status("COMPLETED"), status("WORKING", "too late"), status(task="nobody")]
    assert [code(await send(session, request(session, hook, body))) for body in bodies] == [204] * 5
    first, again, _, late, unknown = deliveries(session)
    said = {one.seq: {name: words for name, _, words in one.meta["checks"]} for one in deliveries(session)}
    assert said[again.seq]["order"] == f"the same bytes came as #{first.seq}"
    assert said[late.seq]["order"] == "late: the task had ended"
    assert said[unknown.seq]["task"] == "unknown task"
    assert [finding.rule for finding in unknown.findings] == ["PUSH-002"]
    assert [one.findings for one in (first, again, late)] == [(), (), ()]


@pytest.mark.parametrize(
    ("dialled", "shown"),
    [
        ("500", b"HTTP/1.1 500"),
        ("429/7", b"Retry-After: 7"),
        ("302", b"?redirected=1"),
        ("204@0.2s", b"HTTP/1.1 204"),
        ("truncated", b"Content-Length: 64"),
        ("reset", b""),
        ("never", b""),
    ],
)
async def test_case_37_an_answer_on_demand_is_given_and_the_retry_measured(session, hook, dialled, shown):
    dial = read_override(f"{dialled}:1")
    assert dial is not None
    session.push.receiver.overrides.add(dial)
    raw, answer = request(session, hook, status()), b""
    try:
        async with asyncio.timeout(1):
            answer = await send(session, raw)
    except (TimeoutError, ConnectionResetError, asyncio.IncompleteReadError):
        assert not shown
    assert shown in answer
    assert code(await send(session, raw)) == 204
    first, second = deliveries(session)
    assert (bool(first.meta["dialled"]), second.meta["dialled"]) == (True, "")
    if first.meta["taken"]:
        assert (first.meta["delay"], chains(deliveries(session))) == (0.2, [])
        return
    [chain] = chains(deliveries(session))
    assert ([one.seq for one in chain.tries], chain.settled) == ([first.seq, second.seq], True)
    assert (second.meta["attempt"], second.meta["first"]) == (2, first.seq)
