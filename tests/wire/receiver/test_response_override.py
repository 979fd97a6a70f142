"""Response overrides: their syntax, their scope and count, and the responses that are sent."""

from __future__ import annotations

import asyncio
import time

import pytest
from receiving import Answer, opened

from inspector.wire.receiver import response_override
from inspector.wire.receiver.connection import ReceiverLimits
from inspector.wire.receiver.response_override import Manner, ResponseOverrides, read_override


@pytest.mark.parametrize(
    ("text", "words", "left"),
    [
        ("500", "500", None),
        ("500:2", "500", 2),
        ("202", "202", None),
        ("429", "429, retry after 1 s", None),
        ("429/30:1", "429, retry after 30 s", 1),
        ("503", "503, retry after 1 s", None),
        ("204@5s", "204 after 5 s", None),
        ("500@0.5:3", "500 after 0.5 s", 3),
        ("never", "never", None),
        (" RESET:1 ", "reset", 1),
        ("truncated", "truncated", None),
        ("302:1", "302", 1),
    ],
)
def test_an_override_is_parsed(text: str, words: str, left: int | None):
    read = read_override(text)
    assert read is not None
    assert (read.response.words, read.left) == (words, left)


def dialled(*texts: str) -> ResponseOverrides:
    overrides = ResponseOverrides()
    for text in texts:
        read = read_override(text)
        assert read is not None
        overrides.add(read)
    return overrides


def test_overrides_with_a_count_apply_first_and_then_the_last_without_a_count():
    overrides = dialled("500:2", "429", "never", "404:1")
    assert overrides.words == "500, 2 more; never; 404, 1 more"
    assert [overrides.next_response(None).words for _ in range(5)] == ["500", "500", "404", "never", "never"]


@pytest.mark.parametrize(
    "text", ["", "5", "99", "199", "600", "500:0", "500:", "500:-1", "maybe", "500 2", "1e3", "500@", "٥٠٠"]
)
def test_an_invalid_override_is_rejected(text: str):
    assert read_override(text) is None


def test_only_a_complete_response_of_success_accepts_a_delivery():
    taking = {"200": True, "202": True, "204@5": True, "302": False, "429": False, "500": False}
    assert {text: read_override(text).response.accepts for text in taking} == taking
    assert not any(read_override(manner.value).response.accepts for manner in Manner if manner is not Manner.WHOLE)


async def test_an_override_applies_to_its_registration_and_count():
    async with opened() as running:
        other = running.receiver.register()
        overrides = ResponseOverrides()
        overrides.add(read_override("500:2", other))
        overrides.add(read_override("202"))
        assert overrides.words == "500, 2 more for webhook 2; 202"
        statuses = [
            overrides.next_response(registration).status for registration in (running.registration, other, other, other)
        ]
        assert (statuses, overrides.words) == ([202, 500, 500, 202], "202")
        overrides.clear()
        assert (bool(overrides), overrides.next_response(other)) == (False, response_override.ACCEPT)


async def test_overrides_are_applied_in_order_and_reported():
    async with opened() as running:
        for text in ("500:1", "429/7:1", "302:1", "200:1"):
            running.receiver.overrides.add(read_override(text))
        answers = [await running.send(running.post()) for _ in range(5)]
        seen = await running.inbox.until(5)
    assert [response.status for response in answers] == [500, 429, 302, 200, 204]
    assert answers[1].headers["retry-after"] == "7"
    assert answers[2].headers["location"] == f"{running.registration.url}?redirected=1"
    assert [(delivery.status, delivery.override, delivery.accepted, delivery.refused) for delivery in seen] == [
        (500, "500", False, ""),
        (429, "429, retry after 7 s", False, ""),
        (302, "302", False, ""),
        (200, "200", True, ""),
        (204, "", True, ""),
    ]


async def test_a_rejected_delivery_does_not_use_an_override():
    async with opened() as running:
        running.receiver.overrides.add(read_override("500:1"))
        assert (await running.send(running.post(X_A2A_Notification_Token="wrong"))).status == 401
        assert (
            await running.send(running.head(method="GET", target=f"{running.registration.path}?validationToken=a"))
        ).status == 200
        assert (await running.send(running.post())).status == 500


async def test_a_delay_delays_the_response_and_not_the_report():
    async with opened() as running:
        running.receiver.overrides.add(read_override("204@0.2:1"))
        began = time.monotonic()
        answer = asyncio.create_task(running.send(running.post()))
        delivery = await running.inbox.one()
        assert not answer.done()
        assert (delivery.delay, delivery.accepted) == (0.2, True)
        assert (await answer).status == 204
        assert time.monotonic() - began >= 0.2


async def test_without_a_response_the_connection_stays_open_until_the_sender_closes_it():
    async with opened() as running:
        running.receiver.overrides.add(read_override("never:1"))
        reader, writer = await running.connect()
        writer.write(running.post())
        assert (await running.inbox.one()).status == 0
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), 0.1)
        writer.close()
        assert (await running.send(running.post())).status == 204


async def test_the_receiver_stops_although_responses_are_pending():
    async with opened() as running:
        running.receiver.overrides.add(read_override("never"))
        running.receiver.overrides.add(read_override("204@1000"))
        _, writer = await running.connect()
        writer.write(running.post())
        await running.inbox.one()
        async with asyncio.timeout(5):
            await running.receiver.stop()
        writer.close()


async def test_reset_resets_the_connection():
    async with opened() as running:
        running.receiver.overrides.add(read_override("reset:1"))
        reader, writer = await running.connect()
        writer.write(running.post())
        with pytest.raises(ConnectionResetError):
            await reader.read()
        assert (await running.inbox.one()).status == 0
        writer.close()


async def test_a_truncated_response_is_shorter_than_announced():
    async with opened() as running:
        running.receiver.overrides.add(read_override("truncated:1"))
        reader, writer = await running.connect()
        writer.write(running.post())
        with pytest.raises(asyncio.IncompleteReadError):
            await Answer.read(reader)
        delivery = await running.inbox.one()
        assert (delivery.status, delivery.accepted) == (200, False)
        writer.close()


async def test_a_followed_redirect_can_be_recognised():
    async with opened(ReceiverLimits()) as running:
        running.receiver.overrides.add(read_override("307:1"))
        first = await running.send(running.post())
        target = first.headers["location"].removeprefix(running.receiver.base_url)
        assert (await running.send(running.post(target=target))).status == 204
        assert (await running.inbox.until(2))[1].target.endswith("?redirected=1")
