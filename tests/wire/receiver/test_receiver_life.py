"""The webhook receiver: starting, stopping, failing."""

import asyncio
import contextlib
import errno
import socket
from dataclasses import replace

import pytest
from ports import unused_port
from receiving import BODY, PATIENT, Answer, Inbox, RunningReceiver, opened

from inspector.protocol.errors import FaultError, Whose
from inspector.wire.receiver.server import Receiver


async def test_stop_closes_connections_and_leaves_no_task_and_no_socket():
    before = asyncio.all_tasks()
    inbox = Inbox()
    receiver = Receiver(inbox, limits=replace(PATIENT, linger=60))
    await receiver.start()
    running = RunningReceiver(receiver, inbox, receiver.register())
    address = receiver.address
    pairs = [await running.connect() for _ in range(5)]
    pairs[0][1].write(b"POST /x")
    pairs[1][1].write(running.head("Content-Length: 77") + BODY[:9])
    pairs[2][1].write(running.post())
    assert (await Answer.read(pairs[2][0])).status == 204
    pairs[3][1].write(running.head("Content-Length: 1001"))
    assert (await Answer.read(pairs[3][0])).status == 413
    async with asyncio.timeout(10):
        await receiver.stop()
    assert asyncio.all_tasks() == before
    assert not receiver.running
    for reader, writer in pairs:
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(10):
                assert await reader.read() == b""
        writer.close()
    with pytest.raises(OSError):
        await asyncio.open_connection(*address)
    assert {delivery.refused for delivery in inbox.all} == {
        "",
        "The receiver was stopped after 7 bytes of the head.",
        "The receiver was stopped after 9 bytes of the body.",
        "Content-Length is 1,001 bytes, the limit is 1,000.",
    }


@pytest.mark.parametrize("turns", range(8))
async def test_stop_is_possible_in_any_iteration_of_a_delivery(turns):
    failures = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: failures.append(context))
    inbox = Inbox()
    receiver = Receiver(inbox)
    await receiver.start()
    running = RunningReceiver(receiver, inbox, receiver.register())
    reader, writer = await running.connect()
    writer.write(running.head("Content-Length: 77", "Expect: 100-continue"))
    assert (await Answer.read(reader)).status == 100
    writer.write(BODY[:9])
    for _ in range(turns):
        await asyncio.sleep(0)
    await receiver.stop()
    writer.close()
    assert (await inbox.one()).refused.startswith("The receiver was stopped after")
    assert failures == []


async def test_a_restarted_receiver_has_no_registrations():
    inbox = Inbox()
    receiver = Receiver(inbox)
    await receiver.stop()
    await receiver.start()
    old = receiver.register()
    await receiver.start()
    await receiver.stop()
    await receiver.start()
    running = RunningReceiver(receiver, inbox, receiver.register())
    assert running.registration.number == 2
    assert (await running.send(running.post())).status == 204
    assert (await running.send(running.post(target=old.path, X_A2A_Notification_Token=old.token))).status == 404
    await receiver.stop()


async def test_a_receiver_that_was_not_started_has_no_address():
    receiver = Receiver(Inbox())
    for ask in (receiver.register, lambda: receiver.address, lambda: receiver.base_url):
        with pytest.raises(RuntimeError):
            ask()


async def test_it_listens_on_the_loopback_address_only():
    async with opened() as running:
        assert running.receiver.address[0] == "127.0.0.1"
        assert running.registration.url.startswith("http://127.0.0.1:")


async def test_a_port_in_use_is_reported_and_nothing_runs(running):
    other = Receiver(Inbox(), port=running.receiver.address[1])
    with pytest.raises(FaultError) as raised:
        await other.start()
    fault = raised.value.fault
    assert fault.seen == f"Port {running.receiver.address[1]} of 127.0.0.1 is in use."
    assert fault.whose is Whose.YOURS
    assert "another port" in fault.hint
    assert not other.running


@pytest.mark.parametrize(
    ("host", "port", "seen"),
    [
        ("192.0.2.1", 0, "192.0.2.1 is not an address of this machine."),
        ("localhost", 0, "localhost is not an IP address."),
        ("127.0.0.1", 70_000, "70000 is not a port."),
        ("127.0.0.1", -1, "-1 is not a port."),
    ],
)
async def test_an_invalid_listen_address_is_reported(host, port, seen):
    with pytest.raises(FaultError) as raised:
        await Receiver(Inbox(), host=host, port=port).start()
    assert raised.value.fault.seen == seen
    assert raised.value.fault.hint


@pytest.mark.parametrize(
    ("code", "seen"),
    [(errno.EACCES, "Listening on 127.0.0.1:80 is not permitted."), (errno.EMFILE, "Too many open files.")],
)
async def test_an_error_of_the_system_is_reported(monkeypatch, code, seen):
    def refuse(*_args, **_options):
        raise OSError(code, "Too many open files")

    monkeypatch.setattr(socket, "create_server", refuse)
    with pytest.raises(FaultError) as raised:
        await Receiver(Inbox(), port=80).start()
    assert seen in raised.value.fault.seen


async def test_an_invalid_public_url_is_reported_and_leaves_the_port_free():
    port = unused_port()
    with pytest.raises(FaultError):
        await Receiver(Inbox(), port=port, public_url="abc.example.org").start()
    async with opened(port=port) as running:
        assert running.receiver.address == ("127.0.0.1", port)


async def test_a_failing_callback_causes_500_and_the_receiver_continues(running):
    failures = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: failures.append(context["exception"]))

    def fail(delivery):
        running.inbox(delivery)
        raise OSError("disk full")

    receiver = Receiver(fail)
    await receiver.start()
    failing = RunningReceiver(receiver, running.inbox, receiver.register())
    answer = await failing.send(failing.post())
    assert (await failing.send(b"\x00\r\n\r\n")).status == 500
    await receiver.stop()
    asyncio.get_running_loop().set_exception_handler(None)
    assert (answer.status, answer.headers["connection"]) == (500, "close")
    assert answer.body == b"an internal error of the inspector occurred on this delivery"
    assert [str(failure) for failure in failures] == ["disk full"] * 2
    assert len(running.inbox.all) == 2
