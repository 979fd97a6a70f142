"""Webhooks under attack and under load, cases 31 to 37: every request gets a response and a record.

The tests of the receiver are in tests/wire/receiver; these tests check the records of a whole session.
"""

from __future__ import annotations

import asyncio
import json
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


def status(state: str = "WORKING", text: str = "", task: str = "t") -> bytes:
    value: dict[str, Any] = {"state": f"TASK_STATE_{state}"}
    if text:
        value["message"] = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]}
    return json.dumps({"statusUpdate": {"taskId": task, "contextId": "c", "status": value}}).encode()


def request(session: Session, hook: WebhookRegistration, body: bytes, *more: str, **changed: str | None) -> bytes:
    """Return the bytes of a valid delivery with some headers changed, removed (None) or added."""
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
    """Send raw bytes, continue with `then` if any, and return the head of the response."""
    reader, writer = await asyncio.open_connection(*session.push.receiver.address)
    try:
        writer.write(raw)
        sending = asyncio.ensure_future(then(writer)) if then else None
        async with asyncio.timeout(30):
            answer = await reader.readuntil(b"\r\n\r\n")
        if sending is not None:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
        return answer
    finally:
        writer.close()


def code(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def deliveries(session: Session) -> list[Record]:
    return session.journal.capture.select(kinds={Kind.DELIVERY})


def check_results(record: Record) -> dict[str, bool | None]:
    return {name: good for name, good, _ in record.meta["checks"]}


async def test_case_31_a_rebound_host_and_a_browser_are_rejected_and_recorded(session, hook):
    rebound = await send(session, request(session, hook, status(), Host="evil.example"))
    browser = await send(session, request(session, hook, status(), Origin="https://evil.example"))
    assert (code(rebound), code(browser)) == (421, 403)
    assert b"access-control" not in (rebound + browser).lower()
    assert [(record.meta["status"], bool(record.meta["refused"])) for record in deliveries(session)] == [
        (421, True),
        (403, True),
    ]
    assert session.tasks.get("t") is None


async def test_case_32_only_loopback_is_used_and_a_used_port_is_an_error(session, tmp_path: Path):
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
async def test_case_33_a_delivery_without_valid_credentials_gets_401_and_is_recorded(session, hook, more, changed):
    assert code(await send(session, request(session, hook, status(), *more, **changed))) == 401
    [record] = deliveries(session)
    assert record.meta["refused"]
    assert False in (check_results(record)["token"], check_results(record)["authorization"])
    assert [finding.rule for finding in record.findings] == ["PUSH-001"]
    assert record.raw == status()
    assert hook.registration.token not in json.dumps([record.meta, record.label])


async def _flood(writer: asyncio.StreamWriter) -> None:
    """Send chunks until the connection closes."""
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    while True:
        writer.write(chunk)
        await writer.drain()


async def test_case_34_oversized_requests_are_rejected_without_blocking(session, hook):
    chunked = request(session, hook, b"", "Transfer-Encoding: chunked", Content_Length=None)
    value = {
        "a gigabyte": (request(session, hook, b"", Content_Length=str(2**30)), None, 413),
        "endless chunks": (chunked, _flood, 413),
        "100,000 headers": (request(session, hook, b"", *(f"X-{n}: {n}" for n in range(100_000))), None, 431),
        "gzip": (request(session, hook, b"\x1f\x8b", Content_Encoding="gzip"), None, 415),
    }
    assert code(await send(session, request(session, hook, status()))) == 204  # loads what judges deliveries
    began, received, beside = time.process_time(), {}, []
    for name, (raw, then, _) in value.items():
        # A delivery at the same time is answered, so the receiver does not wait for the rest of the other.
        answers = await asyncio.gather(send(session, raw, then), send(session, request(session, hook, status())))
        received[name] = code(answers[0])
        beside.append(code(answers[1]))
    used = time.process_time() - began
    assert received == {name: expected for name, (_, _, expected) in value.items()}
    assert beside == [204] * len(value)
    assert sorted(record.meta["status"] for record in deliveries(session)) == sorted([*received.values(), *[204] * 5])
    assert used < 3  # seconds of this process, usually 0.1; a gigabyte or endless chunks would need more
    assert sum(len(record.raw) for record in deliveries(session)) < 1_000_000


async def test_case_34_slow_heads_do_not_block_others(session, hook):
    # The timeout has its own test; here, a hundred slow connections must not block others.
    connections = [await asyncio.open_connection(*session.push.receiver.address) for _ in range(100)]
    for _, writer in connections:
        writer.write(b"POST /push/x HTTP/1.1\r\nX-Slow")
    assert code(await send(session, request(session, hook, status()))) == 204
    for _, writer in connections:
        writer.close()


async def _post(session: Session, hook: WebhookRegistration, numbers: range) -> list[int]:
    """Post different deliveries in sequence over one connection and return the statuses."""
    reader, writer = await asyncio.open_connection(*session.push.receiver.address)
    statuses = []
    for number in numbers:
        writer.write(request(session, hook, status(text=f"step {number}")))
        statuses.append(code(await reader.readuntil(b"\r\n\r\n")))
    writer.close()
    return statuses


async def test_case_35_thousands_of_posts_are_all_recorded(session, hook):
    each = MANY // CONNECTIONS
    shares = [range(first, first + each) for first in range(0, MANY, each)]
    statuses = await asyncio.gather(*(_post(session, hook, share) for share in shares))
    assert {status_code for share in statuses for status_code in share} == {204}
    path = session.journal.capture.path
    await session.close()
    with Capture.open(path) as capture:
        stored = capture.select(kinds={Kind.DELIVERY})
    assert sorted(record.label for record in stored) == sorted(f"step {number}" for number in range(MANY))
    assert {record.findings for record in stored} == {()}
    assert hook.accepted == MANY


async def test_case_36_repeated_late_and_unknown_deliveries_are_marked(session, hook):
    bodies = [status(), status(), status("COMPLETED"), status("WORKING", "too late"), status(task="nobody")]
    assert [code(await send(session, request(session, hook, body))) for body in bodies] == [204] * 5
    first, again, _, late, unknown = deliveries(session)
    checks = {record.seq: {name: words for name, _, words in record.meta["checks"]} for record in deliveries(session)}
    assert checks[again.seq]["order"] == f"replay: the same bytes came as #{first.seq}, which was accepted"
    assert checks[late.seq]["order"] == "late: the task had ended"
    assert checks[unknown.seq]["task"] == "unknown task"
    assert [finding.rule for finding in unknown.findings] == ["PUSH-002"]
    assert [record.findings for record in (first, again, late)] == [(), (), ()]


@pytest.mark.parametrize(
    ("override", "shown"),
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
async def test_case_37_a_response_override_is_applied_and_the_retry_measured(session, hook, override, shown):
    response_override = read_override(f"{override}:1")
    assert response_override is not None
    session.push.receiver.overrides.add(response_override)
    raw, answer = request(session, hook, status()), b""
    try:
        sending = asyncio.create_task(send(session, raw))
        async with asyncio.timeout(20):
            while override == "never" and not deliveries(session):
                await asyncio.sleep(0.01)
        answer = await asyncio.wait_for(sending, 0.5 if override == "never" else 20)
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
    assert ([record.seq for record in chain.attempts], chain.accepted) == ([first.seq, second.seq], True)
    assert (second.meta["attempt"], second.meta["first"]) == (2, first.seq)
