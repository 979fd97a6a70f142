"""Registrations and deliveries: checks, records, and the task of a delivery."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from inspector.sample_agents.server import MockAgent
from scripted import (
    CARD_PATH,
    Agent,
    OpenSession,
    answering,
    artifact,
    drive,
    eventually,
    giving,
    message,
    old_card_of,
    records,
    rules,
    say,
    status,
    streaming,
    task,
)

from inspector.capture.records import Kind, Record, arrival
from inspector.capture.store import Capture
from inspector.findings.rule_set import Rule
from inspector.findings.rules import RULES
from inspector.protocol.errors import FaultError
from inspector.protocol.lifecycle import State, is_terminal
from inspector.session.compose.draft import text_draft
from inspector.session.push.matching import reconcile
from inspector.session.session import Session

OLD_TASK = {"kind": "task", "id": "t", "contextId": "c", "status": {"state": "completed"}}


async def post(session: Session, body: Any, *, hook: int = -1, token: str | None = None, **headers: str) -> int:
    """Deliver a body to a webhook of the session as an agent does, and return the status of the response."""
    registration = session.push.registrations[hook].registration
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"Content-Type": "application/json", "Authorization": f"Bearer {token or registration.token}"} | headers
    async with aiohttp.ClientSession() as client, client.post(registration.url, data=raw, headers=sent) as response:
        return response.status


def deliveries(session: Session) -> list[Record]:
    return records(session, Kind.DELIVERY)


def checks(record: Record) -> dict[str, tuple[bool | None, str]]:
    return {name: (good, said) for name, good, said in record.meta["checks"]}


@pytest.fixture
async def pushed(agent: Agent, open_session: OpenSession) -> Session:
    """A session with push on and one message sent, which was answered with the working task t."""
    agent.answer(answering({"task": task("WORKING")}))
    session = await open_session(agent.url)
    await session.push.turn_on()
    await say(session, stream=False, blocking=False)
    return session


# Registrations


async def test_a_message_registers_its_own_webhook(agent: Agent, pushed: Session):
    sent = agent.calls[0].json["params"]["configuration"]["taskPushNotificationConfig"]
    [webhook] = pushed.push.registrations
    assert sent == {
        "url": webhook.registration.url,
        "token": webhook.registration.token,
        "authentication": {"scheme": "Bearer", "credentials": webhook.registration.token},
    }
    assert sent["url"].startswith("http://127.0.0.1:")
    assert webhook.task_id == "t"


async def test_a_0_3_message_registers_a_0_3_configuration(agent: Agent, open_session: OpenSession):
    agent.routes["/rpc"] = answering(OLD_TASK)
    agent.routes[CARD_PATH] = giving(old_card_of(f"{agent.url}/rpc"))
    session = await open_session(agent.url)
    await session.push.turn_on()
    await say(session, stream=False)
    sent = agent.calls[0].json["params"]["configuration"]["pushNotificationConfig"]
    assert sent["authentication"]["schemes"] == ["Bearer"]
    assert sent["token"] == session.push.registrations[0].registration.token


async def test_a_task_is_registered_once(agent: Agent, pushed: Session):
    await say(pushed, task_id="t", stream=False)
    await say(pushed, task_id="u", stream=False)
    await say(pushed, stream=False)
    configs = ["taskPushNotificationConfig" in request.json["params"]["configuration"] for request in agent.calls]
    assert configs == [True, False, True, True]


async def test_a_message_without_push_registers_nothing(agent: Agent, pushed: Session):
    pushed.push.turn_off()
    await say(pushed, stream=False)
    assert "taskPushNotificationConfig" not in agent.calls[-1].json["params"]["configuration"]
    assert pushed.push.receiver.running
    assert await post(pushed, status("COMPLETED")) == 204


async def test_a_receiver_that_cannot_listen_raises_a_fault(open_session: OpenSession):
    first = await open_session()
    await first.push.turn_on()
    second = await open_session(receiver_port=first.push.receiver.address[1])
    with pytest.raises(FaultError) as raised:
        await second.push.turn_on()
    assert raised.value.fault.hint
    assert not second.push.on


# Deliveries that are accepted


async def test_a_delivery_is_folded_into_its_task(pushed: Session):
    assert await post(pushed, status("COMPLETED", "done")) == 204
    [record] = deliveries(pushed)
    assert (record.event, record.task, record.context, record.state) == ("status", "t", "c", State.COMPLETED)
    assert (record.label, record.exchange, record.findings) == ("done", 0, ())
    assert (record.meta["status"], record.meta["refused"], record.meta["registration"]) == (204, "", 1)
    assert json.loads(record.raw) == status("COMPLETED", "done")
    verdict = checks(record)
    assert (verdict["token"][0], verdict["authorization"][0]) == (None, True)
    assert verdict["schema"] == (True, "A2A 1.0")
    assert verdict["task"] == (True, "task known")
    tracked = pushed.tasks.get("t")
    assert (tracked.pushed.state, tracked.answered.state, tracked.now.state) == (
        State.COMPLETED,
        State.WORKING,
        State.COMPLETED,
    )
    assert (pushed.push.registrations[0].accepted, pushed.push.registrations[0].refused) == (1, 0)


async def test_a_delivery_may_overtake_the_response_that_names_its_task(agent: Agent, open_session: OpenSession):
    async def rpc(request: web.BaseRequest, heard: Any) -> web.StreamResponse:
        assert await post(session, status("WORKING")) == 204
        return await answering({"task": task("COMPLETED")})(request, heard)

    agent.answer(rpc)
    session = await open_session(agent.url)
    await session.push.turn_on()
    await say(session, stream=False)
    kinds = [record.kind for record in records(session) if record.kind in (Kind.DELIVERY, Kind.BODY)]
    assert kinds[-2:] == [Kind.DELIVERY, Kind.BODY]
    assert checks(deliveries(session)[0])["task"] == (True, "first event of this task")
    assert (session.push.registrations[0].task_id, rules(session)) == ("t", set())


async def test_a_bare_0_3_task_is_read_as_0_3(pushed: Session):
    pushed.push.registrations[0].version = "0.3"
    assert await post(pushed, OLD_TASK) == 204
    [record] = deliveries(pushed)
    assert (record.event, record.state) == ("task", State.COMPLETED)
    good, said = checks(record)["schema"]
    assert good
    assert "0.3" in said
    assert pushed.tasks.get("t").pushed.state == State.COMPLETED
    assert rules(pushed) == set()


async def test_a_0_3_task_without_kind_is_read(pushed: Session):
    pushed.push.registrations[0].version = "0.3"
    await post(pushed, {name: member for name, member in OLD_TASK.items() if name != "kind"})
    assert deliveries(pushed)[0].event == "task"
    assert rules(pushed) == {"DATA-001"}


@pytest.mark.parametrize(
    "rule", [rule for rule in RULES.values() if rule.id.startswith("PUSH-")], ids=lambda rule: rule.id
)
@pytest.mark.parametrize("side", ["passing", "failing"])
async def test_the_examples_of_every_push_rule_break_it_or_pass(open_session: OpenSession, rule: Rule, side: str):
    example: Any = getattr(rule, side)
    session = await open_session()
    await session.push.receiver.start()
    webhook = session.push.register(example["registration"]["task"], version=example["registration"]["protocolVersion"])
    token = webhook.registration.token
    headers = {name: value.replace("{token}", token) for name, value in example["delivery"]["headers"].items()}
    async with aiohttp.ClientSession() as client:
        raw = json.dumps(example["delivery"]["body"]).encode()
        async with client.post(webhook.registration.url, data=raw, headers=headers):
            pass
    assert rules(session) == ({rule.id} if side == "failing" else set())


async def test_a_message_belongs_to_no_task(pushed: Session):
    await post(pushed, message("hello"))
    assert checks(deliveries(pushed)[0])["task"] == (None, "a message outside of any task")
    assert (deliveries(pushed)[0].task, rules(pushed)) == ("t", set())


@pytest.mark.parametrize("known", [True, False])
async def test_a_delivery_for_another_task_is_a_finding(agent: Agent, pushed: Session, known: bool):
    if known:
        agent.routes["/rpc"] = answering(task("WORKING", id="u"))
        await drive(pushed.get("u"))
    await post(pushed, status("WORKING", id="u"), hook=0)
    record = deliveries(pushed)[-1]
    assert checks(record)["task"] == (False, "another task" if known else "unknown task")
    assert [finding.rule for finding in record.findings] == ["PUSH-002"]
    assert "registered for t, pushed for u" in record.findings[0].seen


@pytest.mark.parametrize(
    "body", [b"{}", b"[1]", b'"x"', b"{oops", b"", b'{"task": {"id": 5}}', b'{"a": NaN}', b'"\\ud800"']
)
async def test_an_unreadable_body_is_a_finding_and_recorded(pushed: Session, body: bytes):
    assert await post(pushed, body) == 204
    [record] = deliveries(pushed)
    assert (record.event, record.raw, record.task) == ("unreadable", body, "t")
    assert rules(pushed) == {"PUSH-003"}
    assert checks(record)["schema"][0] is False


async def test_a_delivery_that_is_recorded_later_keeps_the_time_of_its_arrival(pushed: Session):
    now = time.time()
    await post(pushed, status("WORKING", "first"))
    pushed.journal.append(Kind.NOTE, now + 60, label="a record of later events")
    await post(pushed, status("WORKING", "second"))
    first, second = deliveries(pushed)
    assert arrival(first) - now == pytest.approx(0, abs=5)
    assert second.at == now + 60, "the times in a capture never decrease"
    assert arrival(second) - now == pytest.approx(0, abs=5)
    assert all(found.first < now + 30 for found in (await reconcile(pushed.journal.capture, "t")).updates)


async def test_an_unknown_state_is_a_finding(pushed: Session):
    await post(pushed, status("pondering"))
    [found] = deliveries(pushed)[0].findings
    assert (found.rule, found.pointer) == ("STREAM-009", "/statusUpdate/status/state")


async def test_a_repeated_or_late_delivery_is_not_a_finding(pushed: Session):
    for body in (status("WORKING"), status("COMPLETED"), status("COMPLETED"), status("WORKING")):
        assert await post(pushed, body) == 204
    assert (len(deliveries(pushed)), rules(pushed)) == (4, set())


async def test_an_artifact_that_is_streamed_and_pushed_is_not_duplicated(agent: Agent, open_session: OpenSession):
    agent.answer(streaming({"task": task("WORKING")}, artifact("once"), status("COMPLETED")))
    session = await open_session(agent.url)
    await session.push.turn_on()
    await say(session)
    for body in ({"task": task("WORKING")}, artifact("once"), status("COMPLETED")):
        await post(session, body)
    tracked = session.tasks.get("t")
    assert [str(account.artifacts["a"].text) for account in (tracked.answered, tracked.pushed)] == ["once", "once"]
    assert (tracked.now, rules(session)) == (tracked.answered, set())


# Deliveries that are refused


@pytest.mark.parametrize(
    ("headers", "token", "code"),
    [({}, "wrong", 401), ({"Origin": "http://evil.example"}, None, 403), ({"Host": "evil.example"}, None, 421)],
    ids=["wrong token", "a browser", "another host"],
)
async def test_a_refused_delivery_is_recorded_and_not_folded(
    pushed: Session, headers: dict[str, str], token: str | None, code: int
):
    assert await post(pushed, status("COMPLETED"), token=token, **headers) == code
    [record] = deliveries(pushed)
    assert (record.kind, record.task, record.meta["status"]) == (Kind.DELIVERY, "t", code)
    assert record.label == record.meta["refused"] != ""
    assert [finding.rule for finding in record.findings] == ["PUSH-001" if code == 401 else "PUSH-007"]
    assert "schema" not in checks(record)
    tracked = pushed.tasks.get("t")
    assert (tracked.pushed.events, tracked.now.state) == (0, State.WORKING)
    assert (pushed.push.registrations[0].accepted, pushed.push.registrations[0].refused) == (0, 1)


async def test_a_delivery_to_an_unknown_path_is_recorded(pushed: Session):
    url = pushed.push.receiver.base_url + "/push/nobody"
    async with aiohttp.ClientSession() as client, client.post(url, json=status("COMPLETED")) as response:
        assert response.status == 404
    [record] = deliveries(pushed)
    assert (record.meta["registration"], rules(pushed)) == (0, {"PUSH-007"})
    assert pushed.push.registrations[0].refused == 0


# Together with a real agent


async def test_pushes_and_stream_of_the_mock_agent_agree(mock: MockAgent, open_session: OpenSession, version: str):
    session = await open_session(mock.url, version=version)
    await session.push.turn_on()
    call = await say(session, "push")
    tracked = session.tasks.get(call.exchange.task_id)
    await eventually(lambda: is_terminal(tracked.pushed.state))
    [webhook] = session.push.registrations
    assert webhook.task_id == tracked.id
    assert tracked.pushed.state == tracked.answered.state == State.COMPLETED
    assert {checks(record)["token"][0] for record in deliveries(session)} == {True}
    assert rules(session) == set()


async def test_a_task_that_is_only_pushed_is_shown_as_pushed(mock: MockAgent, open_session: OpenSession):
    session = await open_session(mock.url)
    await session.push.turn_on()
    call = await drive(session.send(text_draft("push", blocking=False), stream=False))
    tracked = session.tasks.get(call.exchange.task_id)
    await eventually(lambda: is_terminal(tracked.pushed.state))
    assert tracked.now is tracked.pushed
    assert rules(session) == set()


# Secrets


async def test_tokens_are_not_in_the_capture(pushed: Session, agent: Agent):
    token = pushed.push.registrations[0].registration.token
    await post(pushed, status("COMPLETED", f"you sent me {token}"))
    await post(pushed, status("COMPLETED"), token="wrong-" + token)
    path = Path(pushed.journal.capture.path)
    await pushed.close()
    kept = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert token.encode() not in kept
    assert b"you sent me ****" in kept
    assert token in agent.calls[0].body.decode()


async def test_a_delivery_in_progress_when_the_session_ends_is_recorded(pushed: Session):
    registration = pushed.push.registrations[0].registration
    host, port = pushed.push.receiver.address
    reader, writer = await asyncio.open_connection(host, port)
    lines = [
        f"POST {registration.path} HTTP/1.1",
        f"Host: {host}:{port}",
        f"Authorization: Bearer {registration.token}",
        "Content-Type: application/json",
        "Content-Length: 100",
        "Expect: 100-continue",
    ]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
    assert b"100 Continue" in await reader.readline()
    await pushed.close()
    writer.close()
    with Capture.open(pushed.journal.capture.path) as capture:
        [record] = capture.select(kinds={Kind.DELIVERY})
    assert "stopped" in record.meta["refused"]
