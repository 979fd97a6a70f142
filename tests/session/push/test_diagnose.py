"""The diagnosis of missing deliveries: each cause by its evidence, and the diagnosis with real agents."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from inspector.sample_agents.server import MockAgent
from scripted import Agent, OpenSession, answering, drive, eventually, say, scripted, streaming, task

from inspector.capture.records import Kind, Record
from inspector.capture.store import Capture
from inspector.protocol.lifecycle import State
from inspector.session.push.causes import Evidence, Likely, causes
from inspector.session.push.diagnose import examine
from inspector.session.push.webhook_registration import WebhookRegistration
from inspector.wire.reach import reachable
from inspector.wire.receiver.registration import Registration
from inspector.wire.receiver.response_override import read_override

NOW = 1_800_000_000.0


def registration(**members: Any) -> WebhookRegistration:
    return WebhookRegistration(Registration(1, "/push/p", "token", "http://127.0.0.1:9/push/p", NOW), "t", **members)


_NUMBERS = count(1)


def delivery(**meta: Any) -> Record:
    usual = {"taken": True, "challenge": False, "refused": "", "dialled": "", "status": 204, "registration": 1}
    return Record(next(_NUMBERS), NOW, Kind.DELIVERY, state=meta.pop("state", ""), meta=usual | meta)


ALL_RULED_OUT = Evidence(
    agent="http://10.0.0.5:80/rpc",
    advertised="https://abc.example.org",
    declared=True,
    registrations=(registration(),),
    stored=1,
    asked="ListTaskPushNotificationConfigs",
    state=State.COMPLETED,
    ended=NOW + 5,
    now=NOW + 60,
)


@pytest.mark.parametrize(
    ("changed", "name", "likely"),
    [
        ({"registrations": ()}, "not registered", Likely.CERTAIN),
        (
            {"registrations": (registration(failed="Push to loopback addresses is refused."),)},
            "the agent refuses the address",
            Likely.CERTAIN,
        ),
        ({"agent_down": "Nothing listens at 127.0.0.1:9."}, "the agent cannot be reached", Likely.CERTAIN),
        (
            {
                "registrations": (),
                "configs": ("http://127.0.0.1:9/x",),
                "advertised": "http://127.0.0.1:9/x",
                "unheard": ("http://127.0.0.1:9/x",),
            },
            "the agent cannot reach the receiver",
            Likely.CERTAIN,
        ),
        (
            {"registrations": (registration(failed="Internal error."),)},
            "the agent refused the registration",
            Likely.CERTAIN,
        ),
        ({"declared": False}, "the agent does not support push", Likely.LIKELY),
        ({"declared": None}, "the agent does not support push", Likely.POSSIBLE),
        ({"stored": 0}, "the agent did not store the registration", Likely.CERTAIN),
        (
            {"stored": 0, "deliveries": (delivery(taken=False, status=401, refused="No token came."),)},
            "the receiver answered with an error and the agent gave up",
            Likely.CERTAIN,
        ),
        ({"other_tasks": 2}, "the agent pushes the updates of another task", Likely.CERTAIN),
        ({"stored": None}, "the agent did not store the registration", Likely.POSSIBLE),
        ({"registrations": (registration(deleted=True),)}, "the registration was deleted", Likely.CERTAIN),
        ({"ended": NOW - 5}, "the task ended before the registration", Likely.CERTAIN),
        (
            {"advertised": "http://127.0.0.1:9", "agent": "https://agent.example.org"},
            "the agent cannot reach the receiver",
            Likely.LIKELY,
        ),
        ({"advertised": "http://0.0.0.0:9"}, "the agent cannot reach the receiver", Likely.LIKELY),
        (
            {"advertised": "http://127.0.0.1:9", "agent": "http://127.0.0.1:8"},
            "the agent refuses the address",
            Likely.LIKELY,
        ),
        (
            {"deliveries": (delivery(taken=False, status=401, refused="No token came."),)},
            "the receiver answered with an error and the agent gave up",
            Likely.CERTAIN,
        ),
        (
            {"deliveries": (delivery(taken=False, status=500, dialled="500"),)},
            "the receiver answered with an error and the agent gave up",
            Likely.CERTAIN,
        ),
        (
            {"advertised": "https://abc.example.org", "tls_failures": ("the sender does not trust our certificate",)},
            "the agent does not trust our certificate",
            Likely.LIKELY,
        ),
        ({"unknown_paths": 3}, "the agent posts to another path", Likely.LIKELY),
        ({}, "the agent sent no delivery", Likely.POSSIBLE),
        ({"others_arrived": True}, "the agent sent no delivery", Likely.LIKELY),
        (
            {"others_arrived": True, "advertised": "http://127.0.0.1:9", "agent": "http://127.0.0.1:8"},
            "the agent sent no delivery",
            Likely.LIKELY,
        ),
        ({"ended": None, "state": State.WORKING}, "the agent pushes only when the task ends", Likely.POSSIBLE),
    ],
)
def test_each_cause_is_found_by_its_evidence(changed: dict[str, Any], name: str, likely: Likely):
    found = causes(replace(ALL_RULED_OUT, **changed))
    assert found[0].likely is likely
    cause = next(cause for cause in found if cause.name == name)
    assert cause.likely is likely
    assert cause.evidence
    assert cause.remedy.endswith((".", "?"))


@pytest.mark.parametrize("arrived", [{"others_arrived": True}, {"unknown_paths": 2}])
def test_requests_of_the_agent_rule_out_a_refused_address_and_an_unreachable_receiver(arrived: dict[str, Any]):
    known = replace(ALL_RULED_OUT, advertised="http://127.0.0.1:9", agent="http://127.0.0.1:8", **arrived)
    likely = {cause.name: cause.likely for cause in causes(known)}
    assert likely["the agent refuses the address"] is Likely.RULED_OUT
    assert likely["the agent cannot reach the receiver"] is Likely.RULED_OUT


def test_a_failed_tls_handshake_rules_out_a_refused_address_and_an_unreachable_receiver():
    known = replace(
        ALL_RULED_OUT, advertised="https://127.0.0.1:9", agent="http://127.0.0.1:8", tls_failures=("no trust",)
    )
    found = causes(known)
    likely = {cause.name: cause.likely for cause in found}
    assert found[0].name == "the agent does not trust our certificate"
    assert likely["the agent refuses the address"] is Likely.RULED_OUT
    assert likely["the agent cannot reach the receiver"] is Likely.RULED_OUT


def test_an_agent_on_this_machine_may_be_in_a_container_until_a_delivery_arrives():
    known = replace(ALL_RULED_OUT, advertised="http://127.0.0.1:9", agent="http://127.0.0.1:8")
    far = next(cause for cause in causes(known) if cause.name == "the agent cannot reach the receiver")
    assert (far.likely, "container" in far.evidence) == (Likely.POSSIBLE, True)
    came = causes(replace(known, deliveries=(delivery(),)))
    far = next(cause for cause in came if cause.name == "the agent cannot reach the receiver")
    assert far.likely is Likely.RULED_OUT


def test_causes_without_evidence_are_ruled_out():
    found = {cause.name: cause.likely for cause in causes(ALL_RULED_OUT)}
    assert found.pop("the agent cannot reach the receiver") is Likely.POSSIBLE  # only a delivery proves a tunnel works
    assert found.pop("the agent sent no delivery") is Likely.POSSIBLE
    assert set(found.values()) == {Likely.RULED_OUT}


@pytest.mark.parametrize(
    ("state", "likely"),
    [("", Likely.POSSIBLE), (State.COMPLETED, Likely.POSSIBLE), (State.WORKING, Likely.RULED_OUT)],
)
def test_push_of_a_running_task_proves_that_it_was_registered_before_the_end(state: str, likely: Likely):
    known = replace(ALL_RULED_OUT, registrations=(), configs=("http://127.0.0.1:9/x",))
    found = {cause.name: cause.likely for cause in causes(replace(known, deliveries=(delivery(state=state),)))}
    assert found["the task ended before the registration"] is likely


@pytest.mark.parametrize("declared", [False, None])
def test_accepted_deliveries_prove_that_the_agent_supports_push(declared: bool | None):
    found = causes(replace(ALL_RULED_OUT, declared=declared, deliveries=(delivery(state=State.COMPLETED),)))
    assert {cause.likely for cause in found} == {Likely.RULED_OUT}


@pytest.mark.parametrize(
    ("state", "pushed", "missing"),
    [
        (State.COMPLETED, (State.WORKING,), State.COMPLETED),
        (State.COMPLETED, (State.WORKING, State.COMPLETED), ""),
        (State.COMPLETED, (), ""),
        (State.WORKING, (State.SUBMITTED,), ""),
    ],
)
def test_the_end_of_a_task_is_missing_if_only_other_events_were_pushed(state: str, pushed: Any, missing: str):
    deliveries = tuple(delivery(state=each) for each in pushed)
    assert replace(ALL_RULED_OUT, state=state, deliveries=deliveries).missing_end == missing


def test_a_pushed_state_of_a_running_task_proves_that_the_agent_does_not_wait_for_the_end():
    running = replace(ALL_RULED_OUT, ended=None, state=State.WORKING, deliveries=(delivery(state=State.WORKING),))
    assert {cause.likely for cause in causes(running)} == {Likely.RULED_OUT}


def test_an_error_before_accepted_deliveries_is_only_possible():
    known = replace(ALL_RULED_OUT, deliveries=(delivery(taken=False, status=500, dialled="500"), delivery()))
    found = {cause.name: cause.likely for cause in causes(known)}
    assert found["the receiver answered with an error and the agent gave up"] is Likely.POSSIBLE


@pytest.mark.parametrize(
    ("advertised", "agent", "came", "good"),
    [
        ("http://127.0.0.1:9", "http://127.0.0.1:8", False, True),
        ("http://127.0.0.1:9", "http://localhost:8", False, True),
        ("http://127.0.0.1:9", "https://agent.example.org", False, False),
        ("http://127.0.0.1:9", "http://10.0.0.5", False, False),
        ("http://127.0.0.1:9", "https://agent.example.org", True, True),
        ("http://127.0.0.1:9", "", False, None),
        ("http://10.0.0.4:9", "http://10.0.0.5", False, None),
        ("http://10.0.0.4:9", "http://agent.example.org", False, False),
        ("http://100.64.0.4:9", "http://agent.example.org", False, False),
        ("http://100.64.0.4:9", "http://100.64.0.5", False, None),
        ("http://169.254.0.4:9", "http://10.0.0.5", False, None),
        ("http://0.0.0.0:9", "http://127.0.0.1", False, False),
        ("https://abc.example.org", "http://agent.example.org", False, None),
        ("", "http://127.0.0.1:8", False, False),
    ],
)
def test_reachable_compares_the_addresses_of_receiver_and_agent(
    advertised: str, agent: str, came: bool, good: bool | None
):
    found = reachable(advertised, agent, came=came)
    assert found.good is good
    assert found.words


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


def test_an_accepted_retry_is_no_delivery_that_the_agent_gave_up():
    retried = (
        delivery(taken=False, status=500, dialled="500"),
        delivery(first=1),
        delivery(taken=False, status=429, dialled="429"),
    )
    deliveries = tuple(each._replace(seq=seq) for seq, each in enumerate(retried, 1))
    known = replace(ALL_RULED_OUT, deliveries=deliveries)
    [gave_up] = [cause for cause in causes(known) if "gave up" in cause.name]
    assert (gave_up.likely, gave_up.evidence) == (
        Likely.CERTAIN,
        "1 not accepted, the last with 429: response override: 429",
    )
    known = replace(ALL_RULED_OUT, deliveries=deliveries[:2])
    [gave_up] = [cause for cause in causes(known) if "gave up" in cause.name]
    assert gave_up.likely is Likely.RULED_OUT


@pytest.mark.parametrize("later", [{"first": 1, "status": 500, "dialled": "500"}, {"again": 1, "refused": "Replayed."}])
def test_a_delivery_that_was_accepted_first_was_not_given_up(later: dict[str, Any]):
    deliveries = (delivery()._replace(seq=1), delivery(taken=False, **later)._replace(seq=2))
    [gave_up] = [cause for cause in causes(replace(ALL_RULED_OUT, deliveries=deliveries)) if "gave up" in cause.name]
    assert gave_up.likely is Likely.RULED_OUT


@pytest.mark.parametrize("live", [0, 1])
def test_one_webhook_of_several_without_a_listener_is_only_possible(live: int):
    urls = ("http://127.0.0.1:9/a", "http://127.0.0.1:10/b")
    known = replace(
        ALL_RULED_OUT, registrations=(), configs=urls, advertised=urls[0], unheard=(urls[1 - live],), deliveries=()
    )
    [unreachable] = [cause for cause in causes(known) if cause.name == "the agent cannot reach the receiver"]
    assert (unreachable.likely, unreachable.evidence) == (Likely.POSSIBLE, f"nothing listens at {urls[1 - live]}")


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
