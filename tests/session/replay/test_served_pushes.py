"""`mock --capture`: recorded pushes are sent again to the webhooks of the client."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from inspector.sample_agents.server import MockAgent
from scripted import OpenSession, eventually, records
from serving import closed, connected, quick, send, served

from inspector.capture.records import Kind, Record
from inspector.protocol.model import PushConfig
from inspector.protocol.operations import Operation
from inspector.session.compose.draft import text_draft
from inspector.session.session import Session


def deliveries(session: Session) -> list[Record]:
    return records(session, Kind.DELIVERY)


@pytest.mark.parametrize(("version", "binding"), [("1.0", "JSONRPC"), ("1.0", "GRPC"), ("0.3", "HTTP+JSON")])
async def test_pushes_are_sent_again_to_the_webhook_of_the_client(
    everything: MockAgent, open_session: OpenSession, version: str, binding: str
):
    async def push(session: Session) -> list[tuple[str, str, bool, list[Any]]]:
        await session.push.turn_on()
        await send(session, "push", stream=True)
        await eventually(lambda: deliveries(session) and deliveries(session)[-1].state == "TASK_STATE_COMPLETED")
        return [
            (record.event, record.state, record.meta["taken"], [check[:2] for check in record.meta["checks"]])
            for record in deliveries(session)
        ]

    first = await connected(open_session, everything.url, version, binding)
    recorded = await push(first)
    assert len(recorded) > 2
    assert all(taken for _, _, taken, _ in recorded)
    async with served(await closed(first)) as agent:
        again = await connected(open_session, agent.url, version, binding)
        assert await push(again) == recorded
        sent = deliveries(again)
        assert [record.size for record in sent] == [record.size for record in deliveries(first)]
        urls = {record.meta["target"] for record in sent}
        assert not urls & {record.meta["target"] for record in deliveries(first)}


async def test_a_webhook_that_is_registered_later_gets_the_pushes_that_follow(open_session: OpenSession):
    slow = MockAgent(pace=0.1, push_pause=0)  # however long the machine stalls, only one pause of the task is over
    await slow.start()

    async def register(session: Session) -> list[str]:
        call = session.call(Operation.SEND, quick("long 4"))
        await call.finish()
        task_id = call.exchange.task_id
        webhook = session.push.register(task_id)
        config = PushConfig(task_id=task_id, url=webhook.registration.url, token=webhook.registration.token)
        call = session.set_push(config)
        assert await call.finish() is None
        stored = call.exchange.answer
        assert isinstance(stored, PushConfig)
        assert (stored.url, stored.token) == (config.url, config.token)
        await eventually(lambda: deliveries(session) and deliveries(session)[-1].state == "TASK_STATE_COMPLETED")
        listed = session.list_push(task_id)
        await listed.finish()
        assert [item.url for item in listed.exchange.answer.configs] == [config.url]  # type: ignore[union-attr]
        return [record.state or record.event for record in deliveries(session) if record.meta["taken"]]

    try:
        first = await open_session(slow.url)
        await first.push.listen()
        recorded = await register(first)
    finally:
        await slow.stop()
    lines: list[str] = []
    async with served(await closed(first), lines=lines) as agent:
        again = await open_session(agent.url)
        await again.push.listen()
        assert await register(again) == recorded
        assert any(line.startswith("push #") and line.endswith("HTTP 204") for line in lines)


async def test_pushes_without_a_webhook_are_logged(everything: MockAgent, open_session: OpenSession):
    first = await open_session(everything.url)
    await first.push.turn_on()
    await send(first, "push", stream=True)
    await eventually(lambda: deliveries(first))
    lines: list[str] = []
    async with served(await closed(first), lines=lines) as agent:
        again = await open_session(agent.url)
        await send(again, "push", stream=True)
        await eventually(lambda: agent.counts[1] == 0)
        unsent = [line for line in lines if "not sent, because the client has no webhook for task" in line]
        assert len(unsent) == 1


async def test_pushes_keep_their_order_if_the_client_is_faster_than_the_recorded_client(open_session: OpenSession):
    async def cancel(session: Session, after: int) -> list[str]:
        await session.push.turn_on()
        call = session.send(text_draft("long 20"), stream=False)
        task = asyncio.create_task(call.finish())
        await eventually(lambda: len(deliveries(session)) >= after)
        await session.cancel(deliveries(session)[0].task).finish()
        await eventually(lambda: deliveries(session)[-1].state == "TASK_STATE_CANCELED")
        await task
        return [record.label or record.state for record in deliveries(session)]

    slow = MockAgent(pace=0.05, push_pause=0)
    await slow.start()
    try:
        first = await open_session(slow.url)
        recorded = await cancel(first, 8)
    finally:
        await slow.stop()
    async with served(await closed(first), pace=5) as agent:
        again = await open_session(agent.url)
        assert await cancel(again, 3) == recorded
