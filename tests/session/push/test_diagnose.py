"""The diagnosis of missing deliveries with real agents, and with the captures of other runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from inspector.sample_agents.server import MockAgent
from scripted import Agent, OpenSession, answering, drive, eventually, say, scripted, streaming, task

from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.session.push.causes import Likely
from inspector.session.push.diagnose import examine
from inspector.wire.receiver.response_override import read_override

NOW = 1_800_000_000.0


async def test_every_cause_is_ruled_out_for_an_agent_that_pushes(mock: MockAgent, open_session: OpenSession):
    session = await open_session(mock.url)
    await session.push.turn_on()
    call = await say(session, "push")
    await eventually(lambda: session.push.registrations[0].accepted >= 3)
    found = await examine(session, call.exchange.task_id)
    assert found.accepted >= 3
    assert {cause.likely for cause in found.causes} == {Likely.RULED_OUT}


async def test_a_task_without_a_webhook_is_diagnosed(mock: MockAgent, open_session: OpenSession):
    session = await open_session(mock.url)
    call = await say(session, "push")
    found = await examine(session, call.exchange.task_id)
    assert [(cause.name, cause.likely) for cause in found.causes] == [("not registered", Likely.CERTAIN)]


async def test_a_registration_after_the_end_of_the_task_is_diagnosed(mock: MockAgent, open_session: OpenSession):
    session = await open_session(mock.url)
    call = await say(session, "push")
    task_id = call.exchange.task_id
    await session.push.receiver.start()
    made = session.push.register(task_id)
    await drive(session.set_push(made.config.model_copy(update={"task_id": task_id})))
    found = await examine(session, task_id)
    assert (found.accepted, found.causes[0].name) == (0, "the task ended before the registration")


@pytest.mark.parametrize("stream", [False, True])
async def test_a_slow_clock_of_the_agent_does_not_move_the_end_before_the_registration(
    agent: Agent, open_session: OpenSession, *, stream: bool
):
    ended = task("COMPLETED")
    ended["status"]["timestamp"] = "2020-01-01T00:00:00Z"
    if stream:
        agent.answer(streaming({"task": task("WORKING")}, {"task": ended}))
    else:
        agent.answer(answering({"task": ended}))
    session = await open_session(agent.url)
    await session.push.turn_on()
    await say(session, stream=stream)
    found = await examine(session, "t")
    likely = {cause.name: cause.likely for cause in found.causes}
    assert likely["the task ended before the registration"] is Likely.RULED_OUT


async def test_an_agent_that_does_not_store_registrations_is_diagnosed(agent: Agent, open_session: OpenSession):
    agent.answer(answering({"task": task("WORKING")}))
    session = await open_session(agent.url)
    await session.push.turn_on()
    await say(session, stream=False)
    agent.answer(answering({"configs": []}))
    found = await examine(session, "t")
    assert (found.causes[0].name, found.causes[0].likely) == (
        "the agent did not store the registration",
        Likely.CERTAIN,
    )


async def test_an_agent_that_gave_up_after_errors_of_the_receiver_is_diagnosed(
    mock: MockAgent, open_session: OpenSession
):
    session = await open_session(mock.url)
    await session.push.turn_on()
    session.push.receiver.overrides.add(read_override("500"))
    call = await say(session, "push")
    await eventually(lambda: mock.push_counts.given_up >= 2)
    found = await examine(session, call.exchange.task_id)
    assert (found.accepted, found.causes[0].name) == (0, "the receiver answered with an error and the agent gave up")
    assert "500" in found.causes[0].evidence


async def test_a_missing_registration_is_only_possible_if_the_agent_answers_with_an_error(
    agent: Agent, open_session: OpenSession
):
    agent.answer(answering({"task": task("WORKING")}))
    session = await open_session(agent.url)
    await session.push.turn_on()
    await say(session, stream=False)
    agent.answer(answering(error={"code": -32603, "message": "broken"}))
    found = {cause.name: cause for cause in (await examine(session, "t")).causes}
    cause = found["the agent did not store the registration"]
    assert (cause.likely, "broken" in cause.evidence) == (Likely.POSSIBLE, True)


async def test_deliveries_to_another_run_are_read_from_its_capture(
    mock: MockAgent, open_session: OpenSession, tmp_path: Path
):
    before = await open_session(mock.url)
    await before.push.turn_on()
    call = await say(before, "push")
    task_id = call.exchange.task_id
    accepted = 7  # submitted, four times working, an artifact, completed
    await eventually(lambda: mock.push_counts.delivered == accepted)  # closing would refuse a delivery that comes then
    await before.close()
    path = before.journal.capture.path
    broken = tmp_path / "broken.a2a"
    broken.write_bytes(b"no capture")
    session = await open_session(mock.url)
    found = await examine(session, task_id, [broken, path])
    assert found.accepted == accepted
    likely = {cause.name: cause.likely for cause in found.causes}
    assert likely["the agent refuses the address"] is Likely.RULED_OUT
    assert likely["the receiver answered with an error and the agent gave up"] is Likely.RULED_OUT
    assert "the agent posts to another path" not in likely
    assert f"1 capture read (1 could not be read): {accepted} deliveries found" in found.not_checked[0]


WHOLE: dict[str, Any] = {
    "method": "POST",
    "target": "/push/x",
    "headers": [],
    "peer": "127.0.0.1:9",
    "status": 204,
    "refused": "",
    "dialled": "",
    "delay": 0.0,
    "taken": True,
    "challenge": False,
    "seconds": 0.1,
    "registration": 1,
    "asked": "",
    "attempt": 1,
    "first": 0,
    "gap": 0.0,
    "checks": [],
}
"""What is recorded about an accepted delivery."""


async def test_all_deliveries_to_another_run_are_read(mock: MockAgent, open_session: OpenSession, tmp_path: Path):
    """Errors at the beginning do not show that the agent gave up."""
    with Capture.create(tmp_path / "many.a2a") as capture:
        for taken in [False] * 600 + [True] * 20:
            status = 204 if taken else 500
            capture.append(Kind.DELIVERY, NOW, task="t", meta=WHOLE | {"taken": taken, "status": status})
    session = await open_session(mock.url)
    found = await examine(session, "t", [tmp_path / "many.a2a"])
    assert found.accepted == 20
    likely = {cause.name: cause.likely for cause in found.causes}
    assert likely["the receiver answered with an error and the agent gave up"] is Likely.POSSIBLE


@pytest.mark.parametrize(
    "damaged", [{"method": []}, {"registration": {}}, {"headers": None}, {"headers": [["a"]]}, {"target": 1}]
)
async def test_a_damaged_delivery_of_another_run_is_ignored(
    mock: MockAgent, open_session: OpenSession, tmp_path: Path, damaged: dict[str, Any]
):
    rejected = {"taken": False, "refused": "No token.", "status": 401}
    with Capture.create(tmp_path / "damaged.a2a") as capture:
        for members in ({"taken": True}, rejected | damaged, {"taken": True, **damaged}):
            capture.append(Kind.DELIVERY, NOW, task="t", meta=WHOLE | members)
    session = await open_session(mock.url)
    assert (await examine(session, "t", [tmp_path / "damaged.a2a"])).accepted == 1


async def test_a_run_without_the_webhook_reports_what_it_cannot_check(mock: MockAgent, open_session: OpenSession):
    before = await open_session(mock.url)
    await before.push.turn_on()
    call = await say(before, "push")
    session = await open_session(mock.url)
    found = await examine(session, call.exchange.task_id)
    assert found.not_checked[0].endswith("no capture was read.")
    assert "before the task ended" in found.not_checked[1]
    assert (await examine(before, call.exchange.task_id)).not_checked == []


async def test_no_webhook_is_only_possible_if_the_agent_does_not_list_its_webhooks(
    agent: Agent, open_session: OpenSession
):
    agent.answer(answering({"task": task("WORKING")}))
    session = await open_session(agent.url)
    await say(session, stream=False)
    agent.answer(answering(error={"code": -32603, "message": "broken"}))
    found = {cause.name: cause.likely for cause in (await examine(session, "t")).causes}
    assert found["not registered"] is Likely.POSSIBLE


async def test_a_url_of_this_machine_without_a_listener_is_diagnosed(mock: MockAgent, open_session: OpenSession):
    before = await open_session(mock.url)
    await before.push.turn_on()
    call = await say(before, "push")
    session = await open_session(mock.url)
    likely = {cause.name: cause for cause in (await examine(session, call.exchange.task_id)).causes}
    assert likely["the agent cannot reach the receiver"].likely is not Likely.CERTAIN
    await before.close()
    first = (await examine(session, call.exchange.task_id)).causes[0]
    assert (first.name, first.likely) == ("the agent cannot reach the receiver", Likely.CERTAIN)
    assert first.evidence.startswith("nothing listens at http://127.0.0.1:")


async def test_an_unreachable_agent_is_the_first_cause(open_session: OpenSession):
    async with scripted() as agent:
        agent.answer(answering({"task": task("WORKING")}))
        session = await open_session(agent.url)
        await say(session, stream=False)
    first = (await examine(session, "t")).causes[0]
    assert (first.name, first.likely) == ("the agent cannot be reached", Likely.CERTAIN)


async def test_requests_of_other_senders_are_not_counted_as_those_of_the_agent(
    mock: MockAgent, open_session: OpenSession
):
    session = await open_session(mock.url)
    await session.push.turn_on()
    call = await say(session, "push")
    [webhook] = session.push.registrations
    await eventually(lambda: webhook.accepted >= 7)
    url, base = webhook.registration.url, session.push.receiver.base_url
    async with httpx.AsyncClient(headers={"User-Agent": "scanner/1"}) as scanner:
        assert (await scanner.post(f"{base}/wp-login.php", json={"log": "admin"})).status_code == 404
        assert (await scanner.get(url)).status_code == 405
        assert (await scanner.post(url, json={"log": "admin"})).status_code == 401
        other = {"statusUpdate": {"taskId": "x", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}
        assert (await scanner.post(f"{base}/push/x", json=other)).status_code == 404
    found = await examine(session, call.exchange.task_id)
    assert {cause.likely for cause in found.causes} == {Likely.RULED_OUT}
    assert found.others == "4 requests of other senders not counted, the last: POST /push/x from 127.0.0.1 scanner/1"
    first = [record for record in session.journal.capture.select(kinds=(Kind.DELIVERY,)) if record.meta["refused"]][:2]
    assert [record.findings for record in first] == [(), ()]


async def test_an_event_of_the_task_at_another_path_is_counted(mock: MockAgent, open_session: OpenSession):
    session = await open_session(mock.url)
    await session.push.turn_on()
    call = await say(session, "push")
    event = {"taskId": call.exchange.task_id, "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}
    async with httpx.AsyncClient() as proxy:
        await proxy.post(f"{session.push.receiver.base_url}/hooks/x", json={"statusUpdate": event})
    likely = {cause.name: cause for cause in (await examine(session, call.exchange.task_id)).causes}
    assert likely["the agent posts to another path"].likely is Likely.LIKELY
    assert likely["the agent posts to another path"].evidence == "1 event of this task came to unregistered paths"


async def test_pushes_about_another_task_are_a_cause_and_not_accepted(agent: Agent, open_session: OpenSession):
    agent.answer(answering({"task": task("WORKING")}))
    session = await open_session(agent.url)
    await session.push.turn_on()
    await say(session, stream=False)
    [webhook] = session.push.registrations
    headers = {"Authorization": f"Bearer {webhook.registration.token}"}
    async with httpx.AsyncClient(headers=headers) as client:
        for state in ("WORKING", "COMPLETED"):
            await client.post(webhook.registration.url, json={"task": task(state) | {"id": "other"}})
    agent.answer(answering({"configs": [{"url": webhook.registration.url}]}))
    found = await examine(session, "t")
    assert (found.accepted, found.missing_end) == (0, "")
    first = found.causes[0]
    assert (first.name, first.likely) == ("the agent pushes the updates of another task", Likely.CERTAIN)
    assert first.evidence == "2 updates at this webhook named another task"
    likely = {cause.name: cause for cause in found.causes}
    assert likely["the task ended before the registration"].evidence == "the task is working"


async def test_deliveries_at_the_path_of_a_listed_webhook_are_found_in_captures(
    agent: Agent, open_session: OpenSession, tmp_path: Path
):
    with Capture.create(tmp_path / "one.a2a") as capture:
        for named, target in (("other", "/push/x"), ("other", "http://a/push/x?b"), ("", "/push/x")):
            capture.append(Kind.DELIVERY, NOW, task=named, meta=WHOLE | {"target": target})
        capture.append(Kind.DELIVERY, NOW, task="other", meta=WHOLE | {"target": "/push/elsewhere"})
    agent.answer(answering({"configs": [{"url": "http://127.0.0.1:9/behind/a/proxy/push/x"}]}))
    session = await open_session(agent.url)
    found = await examine(session, "t", [tmp_path / "one.a2a"])
    assert found.accepted == 1
    likely = {cause.name: cause for cause in found.causes}
    assert likely["the agent pushes the updates of another task"].evidence.startswith("2 updates")
