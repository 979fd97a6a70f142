"""Webhooks: retries and duplicates, the state of registrations, forwarded deliveries."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from inspector.sample_agents.server import MockAgent
from joserfc.jwk import ECKey, KeySet
from scripted import (
    Agent,
    Heard,
    OpenSession,
    answering,
    artifact,
    drive,
    eventually,
    giving,
    records,
    say,
    scripted,
    status,
    task,
)

from inspector.capture.private_files import MissingRecordError
from inspector.capture.records import Kind, Record
from inspector.protocol.errors import FaultError
from inspector.protocol.lifecycle import is_terminal
from inspector.session.card.signing import given_keys
from inspector.session.compose.draft import text_draft
from inspector.session.push.attempts import chains, was_stalled
from inspector.session.push.webhook_registration import WebhookRegistration
from inspector.session.session import Session
from inspector.wire.receiver.registration import Proof, WebhookAuth
from inspector.wire.receiver.response_override import read_override


async def post(hook: WebhookRegistration, body: Any, **headers: str) -> int:
    """Deliver a body as an agent does, and return the status of the response, 0 for none."""
    sent = {"Content-Type": "application/json", "Authorization": f"Bearer {hook.registration.token}"} | headers
    async with aiohttp.ClientSession() as client:
        try:
            async with client.post(
                hook.registration.url, data=json.dumps(body).encode(), headers=sent, allow_redirects=False
            ) as response:
                return response.status
        except aiohttp.ClientError:
            return 0


def deliveries(session: Session) -> list[Record]:
    return records(session, Kind.DELIVERY)


def checks(record: Record) -> dict[str, tuple[bool | None, str]]:
    return {name: (good, said) for name, good, said in record.meta["checks"]}


def override(session: Session, *texts: str) -> None:
    for text in texts:
        session.push.receiver.overrides.add(read_override(text))


@pytest.fixture
async def hook(open_session: OpenSession) -> tuple[Session, WebhookRegistration]:
    session = await open_session()
    await session.push.receiver.start()
    return session, session.push.register("t", version="1.0")


# Response overrides, and the retries after them


async def test_a_failed_delivery_is_not_folded_but_its_retry_is(hook: tuple[Session, WebhookRegistration]):
    session, one = hook
    override(session, "500:1", "429/3:1", "reset:1")
    chunk = artifact("once")
    assert [await post(one, chunk) for _ in range(4)] == [500, 429, 0, 204]
    assert str(session.tasks.get("t").pushed.artifacts["a"].text) == "once"
    assert (one.accepted, one.failing, one.refused) == (1, 3, 0)
    first = deliveries(session)[0].seq
    assert [(record.meta["attempt"], record.meta["first"]) for record in deliveries(session)] == [
        (1, 0),
        (2, first),
        (3, first),
        (4, first),
    ]
    assert checks(deliveries(session)[1])["order"][1].endswith(f" after attempt 1; the first attempt is #{first}")
    [chain] = chains(deliveries(session))
    assert ([attempt.answer for attempt in chain.attempts], chain.accepted) == (
        ["500", "429, retry after 3 s", "reset", "204"],
        True,
    )
    said = r"3 retries, after [\d.]+ m?s, [\d.]+ m?s, [\d.]+ m?s, although Retry-After was 3 s: accepted"
    assert re.match(said, chain.words(0))


async def test_the_same_bytes_after_an_accepted_delivery_are_not_a_retry(hook: tuple[Session, WebhookRegistration]):
    session, one = hook
    for _ in range(3):
        await post(one, status("WORKING"))
    first, *again = deliveries(session)
    assert checks(first)["order"] == (True, "in order")
    assert [checks(record)["order"] for record in again] == [
        (None, f"replay: the same bytes came as #{first.seq}, which was accepted")
    ] * 2
    assert chains(deliveries(session)) == []


async def test_requests_to_unknown_paths_are_not_retries_and_have_no_finding(
    hook: tuple[Session, WebhookRegistration],
):
    session, one = hook
    base = one.registration.url.rpartition("/push/")[0]
    async with aiohttp.ClientSession() as client:
        for path in ("/", "/favicon.ico", "/wp-login.php"):
            assert (await client.get(base + path)).status == 404
        assert (await client.put(one.registration.url)).status == 405
        assert (await client.post(one.registration.url)).status == 401
    assert [record.meta["attempt"] for record in deliveries(session)] == [1] * 5
    assert session.journal.found == {"PUSH-001": [5], "PUSH-007": [4]}


async def test_a_push_without_timestamp_has_a_latency_only_for_a_new_state(
    hook: tuple[Session, WebhookRegistration],
):
    session, one = hook
    for said in ("one", "two", "three"):
        await post(one, status("WORKING", said))
    assert [record.meta["latency"] for record in deliveries(session)] == [None] * 3


@pytest.mark.parametrize(("registered", "found"), [("0.3", True), ("0.2", True), ("1.0", False), ("", False)])
async def test_a_body_shaped_like_another_version_is_a_finding(open_session: OpenSession, registered: str, found: bool):
    session = await open_session()
    await session.push.receiver.start()
    await post(session.push.register("t", version=registered), status("WORKING"))
    assert ("PUSH-006" in session.journal.found) is found


async def test_the_same_bytes_at_another_webhook_are_another_delivery(hook: tuple[Session, WebhookRegistration]):
    session, one = hook
    other = session.push.register("t")
    override(session, "500:1")
    assert [await post(each, status("WORKING")) for each in (one, other)] == [500, 204]
    assert deliveries(session)[1].meta["attempt"] == 1
    [chain] = chains(deliveries(session))
    assert (chain.accepted, chain.gaps) == (False, ())
    assert chain.words(chain.attempts[0].at + 42) == "no retry for 42.0 s"


async def test_a_late_delivery_is_marked(hook: tuple[Session, WebhookRegistration]):
    session, one = hook
    for body in (status("WORKING"), status("COMPLETED"), status("WORKING", "old")):
        await post(one, body)
    assert [checks(record)["order"] for record in deliveries(session)] == [
        (True, "in order"),
        (True, "in order"),
        (None, "late: the task had ended"),
    ]


async def test_the_retries_of_an_agent_are_grouped(mock: MockAgent, open_session: OpenSession):
    session = await open_session(mock.url)
    await session.push.turn_on()
    override(session, "503:2")
    call = await say(session, "push")
    tracked = session.tasks.get(call.exchange.task_id)
    await eventually(lambda: is_terminal(tracked.pushed.state))
    [chain] = chains(deliveries(session))
    assert ([attempt.answer for attempt in chain.attempts], chain.accepted) == (
        ["503, retry after 1 s", "503, retry after 1 s", "204"],
        True,
    )


async def test_an_agent_that_gives_up_is_recognised(mock: MockAgent, open_session: OpenSession):
    session = await open_session(mock.url)
    await session.push.turn_on()
    override(session, "500")
    await say(session, "push")
    await eventually(lambda: mock.push_counts.given_up)
    assert all(not chain.accepted for chain in chains(deliveries(session)))
    assert len(chains(deliveries(session))[0].attempts) == 3


async def test_a_delayed_response_shows_whether_the_task_was_stalled(slow_mock: MockAgent, open_session: OpenSession):
    session = await open_session(slow_mock.url)
    await session.push.turn_on()
    override(session, "500@0.4:1")
    call = await say(session, "push")
    await eventually(lambda: chains(deliveries(session)))
    [chain] = chains(deliveries(session))
    heard = [record for record in records(session, Kind.FRAME) if record.task == call.exchange.task_id]
    delayed = chain.attempts[0]
    assert delayed.delay == pytest.approx(0.4)
    during, late = ([heard[0]._replace(at=delayed.at + seconds)] for seconds in (0.2, 1000))
    assert was_stalled(chain, during) is False
    assert was_stalled(chain, []) is None
    assert was_stalled(chain, late) is True


# Registrations


async def test_a_challenge_is_answered_and_recorded_but_not_counted(hook: tuple[Session, WebhookRegistration]):
    session, one = hook
    override(session, "500:1")
    url = f"{one.registration.url}?validationToken=abc"
    async with aiohttp.ClientSession() as client, client.get(url) as answer:
        assert (answer.status, await answer.text()) == (200, "abc")
    [record] = deliveries(session)
    assert (record.event, record.meta["challenge"], record.findings) == ("challenge", True, ())
    assert (one.accepted, one.refused, one.failing) == (0, 0, 0)
    assert "schema" not in checks(record)


@pytest.mark.parametrize(
    ("auth", "authentication"),
    [
        (WebhookAuth(Proof.TOKEN), None),
        (WebhookAuth(), {"scheme": "Bearer", "credentials": "T"}),
        (WebhookAuth(scheme="Basic", credentials="C-C-C"), {"scheme": "Basic", "credentials": "C-C-C"}),
        (WebhookAuth.of("api-key", "C-C-C"), {"scheme": "ApiKey", "credentials": "C-C-C"}),
        (WebhookAuth.of("hmac", "C-C-C"), {"scheme": "HMAC-SHA256", "credentials": "C-C-C"}),
        (WebhookAuth(Proof.JWT), {"scheme": "Bearer"}),
    ],
    ids=lambda value: value.proof if isinstance(value, WebhookAuth) else "",
)
async def test_the_configuration_contains_the_chosen_authentication(
    open_session: OpenSession, auth: WebhookAuth, authentication: Any
):
    session = await open_session()
    await session.push.receiver.start()
    made = session.push.register("t", auth=auth, token="T")
    assert made.config.to_json() == {"url": made.registration.url, "token": "T"} | (
        {"authentication": authentication} if authentication else {}
    )
    assert "C-C-C" not in f"{made!r} {made.registration.auth.words}"


async def test_several_webhooks_of_a_task_are_distinguished_and_deleted_separately(
    mock: MockAgent, open_session: OpenSession
):
    session = await open_session(mock.url)
    await session.push.turn_on()
    call = await say(session, "push")
    task_id = call.exchange.task_id
    [inline] = session.push.registrations
    second = session.push.register(task_id)
    config = second.config.model_copy(update={"task_id": task_id, "id": "second"})
    await drive(session.set_push(config))
    assert (second.stored, second.config_id) == (True, "second")
    await drive(session.list_push(task_id))
    assert (inline.stored, second.stored) == (True, True)
    assert inline.config_id
    await drive(session.delete_push(task_id, "second"))
    assert (inline.deleted, second.deleted, second.problem) == (False, True, "deleted")
    await drive(session.list_push(task_id))
    assert (inline.live, second.stored) == (True, False)
    inline.config_id = "first"
    named = session.push.register(task_id)
    await drive(session.set_push(named.config.model_copy(update={"task_id": task_id, "id": task_id})))
    await drive(session.delete_push(task_id, task_id))
    assert (inline.deleted, named.deleted) == (False, True)


async def test_the_webhook_of_a_failed_message_is_marked(agent: Agent, open_session: OpenSession):
    agent.answer(answering(error={"code": -32003, "message": "no"}))
    session = await open_session(agent.url)
    await session.push.turn_on()
    call = session.send(text_draft("hello"), stream=False)
    assert await call.finish() is not None
    [one] = session.push.registrations
    assert (one.live, one.problem) == (False, "registration failed")
    assert one.failed


async def test_a_webhook_that_the_agent_did_not_store_is_replaced(agent: Agent, open_session: OpenSession):
    agent.answer(answering({"task": task("WORKING")}))
    session = await open_session(agent.url)
    await session.push.turn_on()
    await say(session, stream=False)
    agent.answer(answering({"configs": []}))
    await drive(session.list_push("t"))
    [one] = session.push.registrations
    assert (one.stored, one.problem) == (False, "not stored")
    another = session.push.plan("m", "t")
    assert another is not None
    assert session.push.plan("m", "t") is another, "planned is not registered yet"
    session.push.confirm(another)
    assert session.push.plan("m", "t") is None


async def test_jwt_keys_are_fetched_from_a_url_and_the_request_is_recorded(agent: Agent, open_session: OpenSession):
    session = await open_session()
    key = ECKey.generate_key("P-256", {"kid": "k"})
    agent.routes["/jwks"] = giving(KeySet([key]).as_dict(private=False))
    found = await given_keys(session, f"{agent.url}/jwks")
    assert [key.kid for key in found.keys] == ["k"]
    assert records(session, Kind.REQUEST)[0].operation == "GetKeys"
    agent.routes["/empty"] = giving({"keys": []})
    for path in ("/empty", "/nowhere"):
        with pytest.raises(FaultError) as raised:
            await given_keys(session, agent.url + path)
        assert "returned no key" in raised.value.fault.seen


@pytest.mark.parametrize(
    "body",
    [
        {"statusUpdate": {"contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}},
        {"artifactUpdate": {"contextId": "c", "artifact": {"artifactId": "a", "parts": [{"text": "a"}]}}},
        {"task": {"contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}},
        {"message": {"messageId": "m", "role": "ROLE_AGENT"}},
    ],
    ids=lambda body: next(iter(body)),
)
async def test_an_update_without_its_required_members_is_a_finding(
    hook: tuple[Session, WebhookRegistration], body: Any
):
    session, one = hook
    await post(one, body)
    [record] = deliveries(session)
    assert [finding.rule for finding in record.findings] == ["DATA-001"]
    [check] = [line for line in record.meta["checks"] if line[0] == "task"]
    assert check[2] == ("a message outside of any task" if "message" in body else "no task is named")


# Forwarding


@pytest.fixture
async def handler() -> AsyncIterator[Agent]:
    """A handler of the user."""
    async with scripted() as one:
        yield one


async def accepting(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
    return web.Response(status=202)


async def test_a_delivery_is_sent_again_with_its_bytes_and_its_headers(
    hook: tuple[Session, WebhookRegistration], handler: Agent, closed_port: int
):
    session, one = hook
    handler.routes["/mine?secret=1"] = handler.routes["/mine"] = accepting
    only_here = {"Connection": "keep-alive, X-Hop", "X-Hop": "1", "Proxy-Connection": "keep-alive"}
    await post(one, status("WORKING"), **{"X-Trace": "a b", "x-trace-2": "é"}, **only_here)
    [record] = deliveries(session)
    done = await session.push.relay.resend(record.seq, f"{handler.url}/mine")
    [heard] = [request for request in handler.heard if request.path == "/mine"]
    assert (done.status, heard.method, heard.json) == (202, "POST", status("WORKING"))
    assert heard.headers["Authorization"] == f"Bearer {one.registration.token}"
    assert not {"X-Hop", "Proxy-Connection"} & set(heard.headers)
    assert (heard.headers["X-Trace"], heard.headers["Host"]) == ("a b", handler.url.removeprefix("http://"))
    note = records(session, Kind.NOTE)[-1]
    assert (note.event, note.task, note.meta["status"]) == ("forward", "t", 202)
    assert note.label.startswith(f"#{record.seq} sent again to {handler.url}/mine: 202 after ")
    done = await session.push.relay.resend(record.seq, f"http://127.0.0.1:{closed_port}/mine")
    assert done.problem == f"no connection to 127.0.0.1:{closed_port} (Connection refused)"
    unknown = await session.push.relay.resend(record.seq, "http://no-such-host.invalid/mine")
    assert unknown.problem.startswith("no connection to no-such-host.invalid:80 (")
    assert "Unknown error" not in unknown.problem
    over_tls = await session.push.relay.resend(record.seq, handler.url.replace("http:", "https:"))
    assert "not permitted" not in over_tls.problem
    assert done.problem in {note.meta.get("problem") for note in records(session, Kind.NOTE)}


async def test_only_accepted_deliveries_are_forwarded_in_order(
    hook: tuple[Session, WebhookRegistration], handler: Agent
):
    session, one = hook
    handler.routes["/mine"] = accepting
    session.push.relay.url = f"{handler.url}/mine"
    override(session, "500:1")
    for said in ("refused by us", "1", "2", "3"):
        await post(one, status("WORKING", said))
    await post(one, status("WORKING"), Authorization="Bearer guessed")
    await eventually(lambda: not session.push.relay.waiting)
    said = [request.json["statusUpdate"]["status"]["message"]["parts"][0]["text"] for request in handler.heard]
    assert said == ["1", "2", "3"]
    session.push.relay.url = ""
    await post(one, status("WORKING", "4"))
    assert len(handler.heard) == 3


async def test_forwarding_continues_if_a_result_cannot_be_recorded(
    hook: tuple[Session, WebhookRegistration], handler: Agent, monkeypatch: pytest.MonkeyPatch
):
    """After a failure of the disk, the records of waiting deliveries are lost."""
    session, one = hook
    handler.routes["/mine"] = accepting

    def lost(seq: int) -> Record:
        raise MissingRecordError(f"There is no record {seq}.")

    monkeypatch.setattr(session.journal.capture, "get", lost)
    session.push.relay.url = f"{handler.url}/mine"
    for _ in range(2):
        await post(one, status("WORKING"))
    async with asyncio.timeout(5):
        await session.push.relay.drain()
    assert len(handler.heard) == 2


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://nobody.invalid/"])
async def test_an_unreachable_handler_is_reported_without_an_error(hook: tuple[Session, WebhookRegistration], url: str):
    session, one = hook
    await post(one, status("WORKING"))
    done = await session.push.relay.resend(deliveries(session)[0].seq, url)
    assert (done.status, bool(done.problem)) == (0, True)


async def test_a_redirect_of_the_handler_is_reported_and_not_followed(
    hook: tuple[Session, WebhookRegistration], handler: Agent
):
    async def away(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": "/mine"})

    session, one = hook
    handler.routes |= {"/away": away, "/mine": accepting}
    await post(one, status("WORKING"))
    assert (await session.push.relay.resend(deliveries(session)[0].seq, f"{handler.url}/away")).status == 307
    assert [request.path for request in handler.heard] == ["/away"]


async def test_only_deliveries_can_be_sent_again(hook: tuple[Session, WebhookRegistration]):
    session, _ = hook
    with pytest.raises(FaultError) as raised:
        await session.push.relay.resend(999, "http://127.0.0.1:1/")
    assert raised.value.fault.hint
