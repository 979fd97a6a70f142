"""What a head allows to say is worked out once for senders that repeat theirs, and never for longer than it is true."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest

from inspector.wire.receiver.delivery import Delivery, RequestHead
from inspector.wire.receiver.registration import Demand, Proof
from inspector.wire.receiver.server import Receiver, Registration
from inspector.wire.receiver.verdict import Verdict
from inspector.wire.receiver.verified_heads import Examined, Heads


@pytest.fixture
async def came() -> list[Delivery]:
    return []


@pytest.fixture
async def receiver(came: list[Delivery]) -> AsyncIterator[Receiver]:
    made = Receiver(came.append)
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as made:
        yield made


async def post(client: aiohttp.ClientSession, hook: Registration, body: bytes = b"{}", **headers: str) -> int:
    """Post a delivery whose head is the same each time, unless headers are given."""
    sent = {"X-A2A-Notification-Token": hook.token, "Content-Type": "application/json", **headers}
    async with client.post(hook.url, data=body, headers=sent) as answer:
        return answer.status


def checks(delivery: Delivery) -> dict[str, bool | None]:
    return {one.name: one.good for one in delivery.checks}


async def test_a_head_that_was_good_is_refused_once_its_registration_is_gone(receiver, client, came):
    hook = receiver.register()
    assert [await post(client, hook) for _ in range(2)] == [204, 204]
    receiver.forget(hook)
    assert await post(client, hook) == 404
    assert came[-1].registration is None


async def test_another_body_behind_the_same_head_has_a_verdict_of_its_own(receiver, client, came):
    hook = receiver.register()
    assert [await post(client, hook, body) for body in (b"{}", b"[}", b"{}")] == [204] * 3
    assert [checks(one)["json"] for one in came] == [True, False, True]
    assert [one.body for one in came] == [b"{}", b"[}", b"{}"]


async def test_a_head_with_one_thing_wrong_is_not_taken_for_the_good_one(receiver, client, came):
    hook, other = receiver.register(), receiver.register()
    assert await post(client, hook) == 204
    assert await post(client, hook, **{"X-A2A-Notification-Token": other.token}) == 401
    assert await post(client, hook, Origin="http://a.example") == 403
    assert await post(client, hook) == 204
    assert [one.refused == "" for one in came] == [True, False, False, True]


async def test_a_proof_that_is_made_for_one_delivery_is_verified_each_time(receiver, client, came):
    hook = receiver.register(Demand.of_hmac("a secret of both"))
    signed = {"X-A2A-Signature": "f" * 64}
    assert [await post(client, hook, **signed) for _ in range(2)] == [401, 401]
    assert [checks(one)["signature"] for one in came] == [False, False]


async def test_restarting_forgets_what_was_good(came, unused_tcp_port):
    receiver = Receiver(came.append, port=unused_tcp_port)
    await receiver.start()
    hook = receiver.register()
    async with aiohttp.ClientSession() as client:
        assert await post(client, hook) == 204
    await receiver.stop()
    await receiver.start()
    try:
        async with aiohttp.ClientSession() as client:
            assert await post(client, hook) == 404
    finally:
        await receiver.stop()


def examined(registration: Registration | None, refused: str = "") -> Examined:
    head, status = RequestHead("POST", "/push/x", ()), 401 if refused else 204
    return Examined(head, registration, Verdict(()), status, refused, declared=2, asks=False)


def registration(demand: Demand) -> Registration:
    return Registration(1, "/push/x", "token", "http://127.0.0.1:1/push/x", 0.0, demand)


@pytest.mark.parametrize(
    "one",
    [
        examined(None),
        examined(registration(Demand()), "the token is wrong"),
        examined(registration(Demand(Proof.JWT))),
        examined(registration(Demand(Proof.HMAC))),
    ],
)
def test_what_is_not_good_for_the_next_delivery_too_is_not_kept(one):
    heads = Heads()
    heads.keep(("POST", "/push/x", ()), one)
    assert heads.get(("POST", "/push/x", ())) is None


def test_only_the_last_few_hundred_heads_are_kept():
    heads, one = Heads(), examined(registration(Demand()))
    for number in range(300):
        heads.keep(("POST", f"/push/x?{number}", ()), one)
    assert heads.get(("POST", "/push/x?0", ())) is None
    assert heads.get(("POST", "/push/x?299", ())) is one


async def test_many_deliveries_over_many_connections_are_each_reported_once(receiver, came):
    hook = receiver.register()
    async with aiohttp.ClientSession() as client:
        statuses = await asyncio.gather(*(post(client, hook, b'{"n":%d}' % number) for number in range(200)))
    assert statuses == [204] * 200
    assert sorted(one.body for one in came) == sorted(b'{"n":%d}' % number for number in range(200))
