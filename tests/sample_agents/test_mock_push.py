"""Pushes: one POST for each event, in order, with the token, in the version of the registration."""

from __future__ import annotations

import asyncio
import tomllib
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from inspector.sample_agents.scenario.catalog import BUILT_IN_FOLDER
from inspector.sample_agents.server import MockAgent
from mock_peer import Peer, Webhook, eventually, immediately, peer_for, say, state_of

from inspector.protocol.model import (
    AuthenticationInfo,
    PushConfig,
    PushConfigRequest,
    SendConfiguration,
    Task,
    TaskRequest,
    Unreadable,
)
from inspector.protocol.operations import Operation

STATES = ["submitted", *["working"] * 4, "artifact", "completed"]


@pytest.fixture(params=["1.0", "0.3", "0.2", "opvs"])
def way(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Each version with webhooks; pushes do not depend on the binding."""
    return str(request.param), "JSONRPC"


def inline(config: PushConfig, **members: Any) -> SendConfiguration:
    return SendConfiguration(task_push_notification_config=config, **members)


def token_header(peer: Peer) -> str:
    return f"X-{'OPVS' if peer.dialect.version == 'opvs' else 'A2A'}-Notification-Token"


def decoded(peer: Peer, bodies: list[Any]) -> list[Any]:
    events = [peer.dialect.decode_push(body) for body in bodies]
    assert not any(isinstance(event, Unreadable) for event in events)
    return events


async def test_every_event_is_pushed_in_order_with_its_token(
    slow_agent: MockAgent, slow_peer: Peer, webhook: Webhook
) -> None:
    authentication = AuthenticationInfo(scheme="Bearer", credentials="s3cret")
    config = webhook.config(token="t-1", authentication=authentication)
    task = await slow_peer.send("push", configuration=inline(config))
    await eventually(lambda: len(webhook.bodies) == len(STATES))
    events = decoded(slow_peer, webhook.bodies)
    if slow_peer.dialect.version in ("1.0", "opvs"):
        assert [state_of(event) for event in events] == STATES
        assert [next(iter(body)) for body in webhook.bodies][:2] == ["task", "statusUpdate"]
    else:
        assert all(isinstance(event, Task) for event in events)
        assert [state_of(event) for event in events] == ["submitted", *["working"] * 5, "completed"]
        assert [len(event.artifacts or ()) for event in events] == [0] * 5 + [1, 1]
        assert {body["kind"] for body in webhook.bodies} == {"task"}
        assert events[-1] == task
    for headers in webhook.headers:
        assert headers["Content-Type"] == "application/json"
        assert headers[token_header(slow_peer)] == "t-1"
        assert headers["Authorization"] == "Bearer s3cret"
    assert await eventually(lambda: slow_agent.push_counts.delivered == len(STATES))


def test_the_scenario_describes_how_many_deliveries_it_causes() -> None:
    scenario = tomllib.loads((BUILT_IN_FOLDER / "push.toml").read_text(encoding="utf-8"))
    assert "seven deliveries" in scenario["description"]
    assert len(STATES) == 7


async def test_a_push_without_credentials_has_no_headers_for_them(peer: Peer, webhook: Webhook) -> None:
    await peer.send("fail", configuration=inline(webhook.config()))
    await eventually(lambda: len(webhook.bodies) == 3)
    assert all({"X-A2A-Notification-Token", "Authorization"}.isdisjoint(headers) for headers in webhook.headers)


async def test_a_webhook_registered_later_gets_the_later_events(peer: Peer, webhook: Webhook) -> None:
    asked = await peer.send("ask")
    await peer.call(Operation.SET_PUSH, webhook.config(task_id=asked.id))
    await peer.send("18:00", task_id=asked.id)
    await eventually(lambda: len(webhook.bodies) == 4)
    assert state_of(decoded(peer, webhook.bodies)[-1]) == "completed"


async def test_a_webhook_may_be_registered_with_a_later_message(peer: Peer, webhook: Webhook) -> None:
    asked = await peer.send("ask")
    await peer.send("18:00", task_id=asked.id, configuration=inline(webhook.config()))
    await eventually(lambda: len(webhook.bodies) == 4)


async def test_every_webhook_of_a_task_gets_every_event(peer: Peer, webhook: Webhook) -> None:
    asked = await peer.send("ask")
    for name in ("one", "two"):
        await peer.call(Operation.SET_PUSH, webhook.config(task_id=asked.id, id=name, token=name))
    await peer.send("18:00", task_id=asked.id)
    await eventually(lambda: len(webhook.bodies) == 8)
    for name in ("one", "two"):
        pairs = zip(webhook.headers, webhook.bodies, strict=True)
        mine = [body for headers, body in pairs if headers[token_header(peer)] == name]
        assert state_of(decoded(peer, mine)[-1]) == "completed"
        assert len(mine) == 4


async def test_each_webhook_gets_pushes_of_its_version(
    agent: MockAgent, session: aiohttp.ClientSession, webhook: Webhook
) -> None:
    new, old = peer_for(session, agent, "1.0"), peer_for(session, agent, "0.3")
    asked = await new.send("ask")
    await new.call(Operation.SET_PUSH, webhook.config(task_id=asked.id, id="new", token="1.0"))
    await old.call(Operation.SET_PUSH, webhook.config(task_id=asked.id, id="old", token="0.3"))
    await new.call(Operation.CANCEL, TaskRequest(id=asked.id))
    await eventually(lambda: len(webhook.bodies) == 2)
    pairs = zip(webhook.headers, webhook.bodies, strict=True)
    bodies = {headers["X-A2A-Notification-Token"]: body for headers, body in pairs}
    assert list(bodies["1.0"]) == ["statusUpdate"]
    assert (bodies["0.3"]["kind"], bodies["0.3"]["status"]["state"]) == ("task", "canceled")


async def test_a_push_is_sent_three_times_at_most(agent: MockAgent, peer: Peer, webhook: Webhook) -> None:
    webhook.status = 500
    await peer.send("fail", configuration=inline(webhook.config()))
    await eventually(lambda: agent.push_counts.given_up == 3)
    assert len(webhook.bodies) == 9
    assert webhook.bodies[0] == webhook.bodies[1] == webhook.bodies[2] != webhook.bodies[3]
    assert (agent.push_counts.delivered, agent.push_counts.retried) == (0, 6)


async def test_a_webhook_that_recovers_gets_the_rest(slow_agent: MockAgent, slow_peer: Peer, webhook: Webhook) -> None:
    webhook.status = 503
    await slow_peer.send("push", configuration=inline(webhook.config(), return_immediately=True))
    await eventually(lambda: slow_agent.push_counts.given_up)
    webhook.status = 200
    await eventually(lambda: slow_agent.push_counts.given_up + slow_agent.push_counts.delivered == len(STATES))
    assert state_of(decoded(slow_peer, webhook.bodies)[-1]) == "completed"


async def test_an_unreachable_webhook_does_not_delay_the_task(agent: MockAgent, peer: Peer) -> None:
    task = await peer.send("push", configuration=inline(PushConfig(url="http://127.0.0.1:1/nobody")))
    assert state_of(task) == "completed"
    await eventually(lambda: agent.push_counts.given_up == len(STATES))


async def test_a_redirect_is_not_followed(agent: MockAgent, peer: Peer, webhook: Webhook) -> None:
    async def away(_: web.Request) -> web.Response:
        return web.Response(status=307, headers={"Location": webhook.url})

    application = web.Application()
    application.router.add_post("/away", away)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/away"
    await peer.send("fail", configuration=inline(PushConfig(url=url, token="t")))
    await eventually(lambda: agent.push_counts.given_up == 3)
    await runner.cleanup()
    assert webhook.bodies == []


@pytest.mark.usefixtures("pauses")
async def test_a_deleted_webhook_gets_no_more_pushes(slow_peer: Peer, webhook: Webhook) -> None:
    started = await slow_peer.send("long 3600", configuration=inline(webhook.config(), return_immediately=True))
    await eventually(lambda: len(webhook.bodies) == 2)
    await slow_peer.call(Operation.DELETE_PUSH, PushConfigRequest(task_id=started.id, id=started.id))
    await slow_peer.call(Operation.CANCEL, TaskRequest(id=started.id))
    await slow_peer.call(Operation.SET_PUSH, webhook.config(task_id=started.id))
    assert len(webhook.bodies) == 2


async def test_many_events_are_all_pushed_in_1_0_and_merged_in_0_3(
    agent: MockAgent, peer: Peer, webhook: Webhook
) -> None:
    done = await peer.send("report 1000", configuration=inline(webhook.config()))
    final = await eventually(
        lambda: webhook.bodies and state_of(peer.dialect.decode_push(webhook.bodies[-1])) == "completed"
    )
    assert final
    if peer.dialect.version in ("1.0", "opvs"):
        assert len(webhook.bodies) == 1003
    else:
        events = decoded(peer, webhook.bodies)
        lengths = [len(event.artifacts[0].parts) if event.artifacts else 0 for event in events]
        assert events[-1] == done
        assert lengths == sorted(lengths)
        assert len(events) < 1003


async def test_a_response_message_is_not_pushed(agent: MockAgent, peer: Peer, webhook: Webhook) -> None:
    await peer.send("echo hi", configuration=inline(webhook.config()))
    await peer.send("fail", configuration=inline(webhook.config()))
    await eventually(lambda: agent.push_counts.delivered == 3)
    assert "echo" not in str(webhook.bodies)


async def test_stopping_drops_the_queued_pushes(session: aiohttp.ClientSession) -> None:
    reached = asyncio.Event()

    async def hang(_: web.Request) -> web.Response:
        reached.set()
        await asyncio.sleep(3600)
        return web.Response()

    application = web.Application()
    application.router.add_post("/", hang)
    runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    agent = MockAgent(pace=0)
    await agent.start()
    peer = peer_for(session, agent, "1.0")
    config = PushConfig(url=f"http://127.0.0.1:{runner.addresses[0][1]}/")
    await peer.call(Operation.SEND, say("push", configuration=inline(config, return_immediately=True)))
    await asyncio.wait_for(reached.wait(), 10)
    await asyncio.wait_for(agent.stop(), 5)
    await runner.cleanup()
    assert agent.push_counts.delivered == 0


async def test_the_webhook_of_a_send_that_returns_immediately_is_stored(slow_peer: Peer, webhook: Webhook) -> None:
    started = await slow_peer.send(
        "long 3600", configuration=immediately(task_push_notification_config=webhook.config())
    )
    config = await slow_peer.call(Operation.GET_PUSH, PushConfigRequest(task_id=started.id, id=started.id))
    assert isinstance(config, PushConfig)
    assert config.url == webhook.url


async def test_pushes_of_0_3_are_tasks_for_every_binding(
    agent: MockAgent, session: aiohttp.ClientSession, webhook: Webhook
) -> None:
    peer = peer_for(session, agent, "0.3", "GRPC")
    task = await peer.send("push", configuration=inline(webhook.config()))
    await eventually(lambda: len(webhook.bodies) == len(STATES))
    assert {(body["kind"], body["id"]) for body in webhook.bodies} == {("task", task.id)}
