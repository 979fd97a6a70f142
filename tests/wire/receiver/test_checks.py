"""Results of checks are reused within their scope, and otherwise every check runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import aiohttp
import pytest
from ports import unused_port

from inspector.wire.receiver.checks import BoundedCache, Check, CheckResult, KnownResults, Scope, Stage
from inspector.wire.receiver.delivery import Delivery
from inspector.wire.receiver.registration import WebhookAuth
from inspector.wire.receiver.server import Receiver, Registration
from inspector.wire.receiver.verdict import BODY, REQUEST


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


async def post(client: aiohttp.ClientSession, registration: Registration, body: bytes = b"{}", **headers: str) -> int:
    """Post a delivery whose head is the same each time, unless headers are given."""
    sent = {"X-A2A-Notification-Token": registration.token, "Content-Type": "application/json", **headers}
    async with client.post(registration.url, data=body, headers=sent) as answer:
        return answer.status


@contextmanager
def added(
    stage: Stage[Any], scope: Scope, result: CheckResult | None = None, *, status: int = 0
) -> Iterator[list[Any]]:
    """Add a check to a stage for a while, and collect what it was run with."""
    runs: list[Any] = []

    @stage.check("added", scope, status=status)
    def check(subject: Any) -> CheckResult | None:
        runs.append(subject)
        return result

    yield runs
    stage.checks = stage.checks[:-1]


def checks(delivery: Delivery) -> dict[str, bool | None]:
    return {check.name: check.good for check in delivery.checks}


@pytest.mark.parametrize("stage", [REQUEST, BODY], ids=["request", "body"])
async def test_a_delivery_check_runs_each_time_and_a_head_check_for_each_new_head(receiver, client, came, stage):
    registration = receiver.register()
    assert [await post(client, registration) for _ in range(3)] == [204] * 3
    with added(stage, Scope.HEAD) as heads, added(stage, Scope.DELIVERY) as deliveries:
        for _ in range(50):
            await post(client, registration)
        assert (len(heads), len(deliveries)) == (1, 50)
        await post(client, registration, **{"X-Other": "head"})
        assert (len(heads), len(deliveries)) == (2, 51)


@pytest.mark.parametrize("scope", Scope)
async def test_a_check_that_is_added_later_rejects_a_verified_head(receiver, client, came, scope):
    registration = receiver.register()
    assert await post(client, registration) == 204
    with added(REQUEST, scope, CheckResult(False, "not today"), status=403):
        assert [await post(client, registration) for _ in range(2)] == [403, 403]
    assert came[-1].refused == "Not today."
    assert came[-1].checks[-3] == Check("added", False, "not today")


async def test_a_verified_head_is_rejected_after_its_registration_was_removed(receiver, client, came):
    registration = receiver.register()
    assert [await post(client, registration) for _ in range(2)] == [204, 204]
    receiver.forget(registration)
    assert await post(client, registration) == 404
    assert came[-1].registration is None


async def test_bodies_with_the_same_head_are_checked_separately(receiver, client, came):
    registration = receiver.register()
    assert [await post(client, registration, body) for body in (b"{}", b"[}", b"{}")] == [204] * 3
    assert [checks(delivery)["json"] for delivery in came] == [True, False, True]
    assert [delivery.body for delivery in came] == [b"{}", b"[}", b"{}"]


async def test_a_head_with_one_wrong_header_does_not_reuse_results(receiver, client, came):
    registration, other = receiver.register(), receiver.register()
    assert await post(client, registration) == 204
    assert await post(client, registration, **{"X-A2A-Notification-Token": other.token}) == 401
    assert await post(client, registration, Origin="http://a.example") == 403
    assert await post(client, registration) == 204
    assert [delivery.refused == "" for delivery in came] == [True, False, False, True]


async def test_a_proof_for_one_delivery_is_verified_each_time(receiver, client, came):
    registration = receiver.register(WebhookAuth.of("hmac", "a secret of both"))
    signed = {"X-A2A-Signature": "f" * 64}
    assert [await post(client, registration, **signed) for _ in range(2)] == [401, 401]
    assert [checks(delivery)["signature"] for delivery in came] == [False, False]


async def test_rejected_heads_are_not_cached(receiver, client):
    registration = receiver.register()
    with added(REQUEST, Scope.HEAD) as heads:
        assert [await post(client, registration, Origin="http://a.example") for _ in range(3)] == [403] * 3
        assert len(heads) == 3


async def test_restarting_clears_the_cache(came):
    receiver = Receiver(came.append, port=unused_port())
    await receiver.start()
    registration = receiver.register()
    async with aiohttp.ClientSession() as client:
        assert await post(client, registration) == 204
    await receiver.stop()
    await receiver.start()
    try:
        async with aiohttp.ClientSession() as client:
            assert await post(client, registration) == 404
    finally:
        await receiver.stop()


def test_the_cache_keeps_the_last_keys():
    cache: BoundedCache[int, str] = BoundedCache(3)
    for number in range(5):
        cache.keep(number, str(number))
    cache.keep(4, "again")
    assert [cache.get(number) for number in range(5)] == [None, None, "2", "3", "again"]


async def test_many_deliveries_over_many_connections_are_each_reported_once(receiver, came):
    registration = receiver.register()
    async with aiohttp.ClientSession() as client:
        statuses = await asyncio.gather(*(post(client, registration, b'{"n":%d}' % number) for number in range(200)))
    assert statuses == [204] * 200
    assert sorted(delivery.body for delivery in came) == sorted(b'{"n":%d}' % number for number in range(200))


def test_a_check_runs_only_when_it_applies_and_a_stage_reuses_its_report_when_nothing_has_to_run():
    stage: Stage[int] = Stage()
    ran: list[str] = []

    @stage.check("head", Scope.HEAD)
    def head(subject: int) -> CheckResult:
        ran.append("head")
        return CheckResult(True, "good")

    @stage.check("delivery", Scope.DELIVERY, when=lambda subject: subject > 0)
    def delivery(subject: int) -> CheckResult:
        ran.append("delivery")
        return CheckResult(True, str(subject))

    known, other = KnownResults(), KnownResults()
    reports = [stage.run(0, known) for _ in range(2)]
    assert (reports[0] is reports[1], ran) == (True, ["head"])
    assert [check.text for number in (1, 2) for check in stage.run(number, other).checks] == ["good", "1", "good", "2"]
    assert ran == ["head", "head", "delivery", "delivery"]
