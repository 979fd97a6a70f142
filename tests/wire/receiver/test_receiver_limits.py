"""The webhook receiver on real sockets: deliveries that are rejected for size, time or format."""

import asyncio
import contextlib
import logging
from dataclasses import replace

import pytest
from receiving import BODY, QUICK, Answer, opened, results

from inspector.wire.receiver.server import ReceiverLimits


async def test_a_content_length_over_the_limit_is_answered_with_413_at_once(running):
    answer = await running.send(running.head("Content-Length: 1073741824"))
    assert answer.status == 413
    delivery = await running.inbox.one()
    assert delivery.refused == "Content-Length is 1,073,741,824 bytes, the limit is 1,000."
    assert (results(delivery)["size"], results(delivery)["json"]) == (False, None)


async def test_a_body_of_exactly_the_limit_is_accepted(running):
    assert (await running.send(running.post(b'"' + b"x" * 998 + b'"'))).status == 204


async def test_an_endless_body_is_cut_at_the_limit_and_its_beginning_recorded():
    async with opened(replace(QUICK, seconds=60)) as running:  # the limit of bytes, not that of time
        reader, writer = await running.connect()
        writer.write(running.head("Transfer-Encoding: chunked"))
        chunk = b"40\r\n" + b"x" * 64 + b"\r\n"
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(10):
                while not running.inbox.all:
                    writer.write(chunk)
                    await writer.drain()
                    await asyncio.sleep(0)
        assert (await Answer.read(reader)).status == 413
        delivery = await running.inbox.one()
        assert (delivery.body, delivery.refused) == (b"x" * 100, "The body is longer than 1,000 bytes.")
        async with asyncio.timeout(10):
            assert await reader.read() == b""
        writer.close()


async def test_a_rejected_sender_can_finish_its_body_and_read_the_response():
    async with opened(ReceiverLimits(body=1000, rejected_body=100, linger=60)) as running:
        reader, writer = await running.connect()
        writer.write(running.head(f"Content-Length: {1 << 22}"))
        writer.write(b"x" * (1 << 22))
        answer = await Answer.read(reader)
        async with asyncio.timeout(10):
            await writer.drain()
            assert await reader.read() == b""
        writer.close()
        assert (answer.status, answer.headers["connection"]) == (413, "close")
        assert len((await running.inbox.one()).body) <= 100


async def test_bodies_that_are_too_long_together_are_answered_with_503():
    async with opened(ReceiverLimits(body=1000, all_bodies=500)) as running:
        assert (await running.send(running.post(b"x" * 501))).status == 503
        assert (await running.inbox.one()).refused == "Too many long bodies are being received."
        assert (await running.send(running.post(b"1" * 500))).status == 204


@pytest.mark.parametrize(
    "lines",
    [
        ["a: b"] * 100_000,
        ["a: b"] * 21,
        ["a: " + "x" * 3_000],
        [f"a: {'x' * 400}"] * 6,
        ["x" * 3_000],
    ],
)
async def test_a_head_that_is_too_long_is_answered_with_431_and_its_beginning_recorded(running, lines):
    reader, writer = await running.connect()
    writer.write(running.head(*lines))
    assert (await Answer.read(reader)).status == 431
    writer.close()
    delivery = await running.inbox.one()
    assert (delivery.status, delivery.method, delivery.target) == (431, "POST", running.registration.path)
    assert delivery.headers[0] == ("Host", running.host)
    assert sum(len(name) + len(value) for name, value in delivery.headers) <= 2_000


async def test_a_target_that_is_too_long_is_answered_with_431(running):
    assert (await running.send(running.post(target="/" + "x" * 3_000))).status == 431
    assert (await running.inbox.one()).target.startswith("/xxx")


@pytest.mark.parametrize("pieces", [[b"P"], [b"POST /x HTTP/1.1\r\n", b"Host: a\r\n"]])
async def test_a_slow_head_is_answered_with_408(quick, pieces):
    assert (await quick.send(*pieces)).status == 408
    delivery = await quick.inbox.one()
    assert delivery.refused == "The head was incomplete after 0.2 s."
    assert delivery.method == ("POST" if len(pieces) > 1 else "P")


async def test_the_time_limit_applies_to_every_head_of_a_connection(quick):
    reader, writer = await quick.connect()
    writer.write(quick.post())
    assert (await Answer.read(reader)).status == 204
    writer.write(b"POST /x HT")
    assert (await Answer.read(reader)).status == 408
    writer.close()
    assert (await quick.inbox.until(2))[1].target == "/x HT"


async def test_a_rejected_head_does_not_time_out_as_well(quick):
    assert (await quick.send(b"x" * 3_000)).status == 431
    assert (await quick.send(b"POST")).status == 408  # its clock runs out after that of the first
    assert [delivery.status for delivery in quick.inbox.all] == [431, 408]


async def test_a_head_in_small_slow_parts_is_answered_with_408(quick):
    reader, writer = await quick.connect()
    answer = asyncio.create_task(Answer.read(reader))
    async with asyncio.timeout(10):
        for number in range(10_000):
            if answer.done():
                break
            writer.write(b"POST /x HTTP/1.1\r\n" if number == 0 else b"a")
            await asyncio.sleep(0.01)
    assert (await answer).status == 408
    writer.close()


async def test_a_slow_body_is_answered_with_408_and_its_beginning_recorded(quick):
    assert (await quick.send(quick.head("Content-Length: 77"), BODY[:9])).status == 408
    delivery = await quick.inbox.one()
    assert delivery.refused == "Only 9 bytes of the body were received within 0.2 s."
    assert (delivery.body, results(delivery)["size"]) == (BODY[:9], False)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "The sender uses TLS, but this receiver uses plain http"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "Not valid HTTP"),
        (b"BREW /pot HTTP/1.1\r\n\r\n", "Not valid HTTP: Invalid method"),
        (b"POST /x HTTP/1.1\nHost: a\n\n", "Not valid HTTP"),
        (b"POST /x HTTP/1.1\r\n\r\n", "Missing 'Host'"),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "Duplicate 'Host'"),
        (
            b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "Not valid",
        ),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", "Not valid HTTP: Invalid character"),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nX: canary\x00\r\n\r\n", "Not valid HTTP"),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nX: canary\x1b]0;t\x07\r\n\r\n", "Not valid HTTP"),
        (b"POST /\xff HTTP/1.1\r\nHost: a\r\n\r\n", "Not valid HTTP"),
    ],
)
async def test_invalid_http_is_answered_with_400_and_reported_without_logging(running, caplog, raw, words):
    caplog.set_level(logging.DEBUG)
    assert (await running.send(raw)).status == 400
    delivery = await running.inbox.one()
    assert delivery.status == 400
    assert words in delivery.refused
    assert "canary" not in delivery.refused
    assert delivery.refused.isprintable()
    assert delivery.checks == ()
    assert [record for record in caplog.records if record.name != "asyncio"] == []


async def test_invalid_http_is_recorded_as_far_as_it_can_be_read(running):
    await running.send(running.post(X_Bad="a\x1bb"))
    delivery = await running.inbox.one()
    assert (delivery.method, delivery.target, delivery.body) == ("POST", running.registration.path, BODY)
    assert ("X-Bad", "a\x1bb") in delivery.headers


@pytest.mark.parametrize("pieces", [[b"zz\r\nabc"], [b"3\r\nabc\r\n", b"zz\r\n"], [b"3\r\nabcd\r\n"]])
async def test_malformed_chunks_are_answered_with_400_without_waiting_for_more(running, pieces):
    reader, writer = await running.connect()
    writer.write(running.head("Transfer-Encoding: chunked", "Expect: 100-continue"))
    assert (await Answer.read(reader)).status == 100  # the error has to hit a body that is being read
    for piece in pieces:
        writer.write(piece)
    assert (await Answer.read(reader)).status == 400
    writer.close()
    assert "chunked body is malformed" in (await running.inbox.one()).refused


async def test_invalid_bytes_after_an_accepted_delivery_are_a_separate_delivery(running):
    reader, writer = await running.connect()
    for raw, status in ((running.post(), 204), (b"\x00\x01\x02\r\n\r\n", 400)):
        writer.write(raw)
        assert (await Answer.read(reader)).status == status
    writer.close()
    good, bad = await running.inbox.until(2)
    assert (good.refused, bad.status, bad.body) == ("", 400, b"")


async def test_a_body_longer_than_its_content_length_is_rejected_and_recorded_completely(running):
    raw = running.head(f"Content-Length: {len(BODY) - 2}") + BODY
    assert (await running.send(raw)).status == 400
    delivery = await running.inbox.one()
    assert (delivery.target, delivery.body) == (running.registration.path, BODY)
    assert delivery.refused.startswith("Not valid HTTP")


@pytest.mark.parametrize("sent", [1, 40, -5])
async def test_a_delivery_whose_sender_disconnects_is_reported(running, sent):
    raw = running.post()
    _, writer = await running.connect()
    writer.write(raw[: sent if sent > 0 else len(raw) + sent])
    writer.close()
    delivery = await running.inbox.one()
    assert delivery.status == 0
    part = "72 bytes of the body" if sent < 0 else f"{sent} bytes of the head"
    assert delivery.refused == f"The connection was closed after {part}."


async def test_a_rejected_delivery_whose_sender_disconnects_has_the_reason_of_the_rejection(running):
    _, writer = await running.connect()
    writer.write(running.post(X_A2A_Notification_Token="wrong")[:-5])
    writer.close()
    delivery = await running.inbox.one()
    assert (delivery.status, delivery.refused[:25]) == (0, "X-A2A-Notification-Token ")


async def test_a_silent_connection_is_closed_and_not_reported(quick):
    reader, writer = await quick.connect()
    writer.write(b"\r\n")
    async with asyncio.timeout(10):
        assert await reader.read() == b""
    writer.close()
    assert quick.inbox.all == []


async def test_an_idle_connection_is_closed_after_its_delivery(quick):
    reader, writer = await quick.connect()
    writer.write(quick.post())
    assert (await Answer.read(reader)).status == 204
    async with asyncio.timeout(10):
        assert await reader.read() == b""
    writer.close()
    assert len(quick.inbox.all) == 1


async def test_a_connection_over_the_limit_is_answered_with_503_until_another_is_closed():
    async with opened(ReceiverLimits(connections=2)) as running:
        pairs = [await running.connect() for _ in range(2)]
        for reader, writer in pairs:
            writer.write(running.post())
            assert (await Answer.read(reader)).status == 204
        reader, writer = await running.connect()
        answer = await Answer.read(reader)
        writer.close()
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert (await running.inbox.until(3))[2].refused == "Too many connections are open."
        pairs[0][1].close()
        async with asyncio.timeout(10):
            while (await running.send(running.post())).status != 204:
                await asyncio.sleep(0.01)
        pairs[1][1].close()
