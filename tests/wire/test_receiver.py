"""The webhook receiver on real sockets: what it accepts, what it refuses, and that it reports both."""

import asyncio
import contextlib
import errno
import gzip
import json
import logging
import socket
import time
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote_plus

import aiohttp
import httpx
import pytest

from inspector.protocol.errors import FaultError, Whose
from inspector.wire.receiver import Delivery, Receiver, ReceiverLimits, Registration

DATA = Path(__file__).parent / "data"
BODY = b'{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}'
QUICK = ReceiverLimits(body=1000, kept=100, held=5000, head=2000, headers=20, seconds=0.2, idle=0.2, linger=0.2)
PATIENT = ReceiverLimits(body=1000, kept=100, head=2000, headers=20, seconds=60, idle=60)


class Inbox:
    """What a receiver has reported, with a way to wait for more."""

    def __init__(self) -> None:
        self.all: list[Delivery] = []
        self._news = asyncio.Event()

    def __call__(self, delivery: Delivery) -> None:
        self.all.append(delivery)
        self._news.set()

    async def until(self, count: int) -> list[Delivery]:
        async with asyncio.timeout(10):
            while len(self.all) < count:
                self._news.clear()
                await self._news.wait()
        return self.all

    async def one(self) -> Delivery:
        (delivery,) = await self.until(1)
        return delivery


@dataclass
class Desk:
    """A running receiver with one registration."""

    receiver: Receiver
    inbox: Inbox
    hook: Registration

    @property
    def host(self) -> str:
        return "{}:{}".format(*self.receiver.address)

    def head(self, *more: str, method: str = "POST", target: str | None = None, **changed: str | None) -> bytes:
        """Build the head of a good delivery with some headers changed, dropped (None) or added."""
        headers: dict[str, str | None] = {
            "Host": self.host,
            "X-A2A-Notification-Token": self.hook.token,
            "Content-Type": "application/json",
        }
        headers |= {name.replace("_", "-"): value for name, value in changed.items()}
        lines = [f"{method} {target or self.hook.path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers.items() if value is not None]
        return "\r\n".join([*lines, *more, "", ""]).encode("utf-8")

    def post(self, body: bytes = BODY, **changed: str | None) -> bytes:
        return self.head(f"Content-Length: {len(body)}", **changed) + body

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(*self.receiver.address)

    async def send(self, *pieces: bytes) -> "Answer":
        """Send raw bytes, each piece in a segment of its own, and return the first answer."""
        reader, writer = await self.connect()
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
            return await Answer.read(reader, to_head=pieces[0].startswith(b"HEAD"))
        finally:
            writer.close()


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @classmethod
    async def read(cls, reader: asyncio.StreamReader, *, to_head: bool = False) -> "Answer":
        async with asyncio.timeout(10):
            first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")[:-2]
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            body = b"" if to_head else await reader.readexactly(int(headers.get("content-length", 0)))
        return cls(int(first.split()[1]), headers, body)


@contextlib.asynccontextmanager
async def opened(limits: ReceiverLimits = PATIENT, **options):
    inbox = Inbox()
    receiver = Receiver(inbox, limits=limits, **options)
    await receiver.start()
    try:
        yield Desk(receiver, inbox, receiver.register())
    finally:
        await receiver.stop()


@pytest.fixture
async def desk():
    async with opened() as desk:
        yield desk


@pytest.fixture
async def quick():
    async with opened(QUICK) as desk:
        yield desk


def verdict(delivery: Delivery) -> dict[str, bool | None]:
    return {check.name: check.good for check in delivery.checks}


def said(delivery: Delivery, name: str) -> str:
    return next(check.said for check in delivery.checks if check.name == name)


# What is accepted


async def test_a_good_delivery_is_answered_with_204_and_reported_as_it_came(desk):
    before = time.time()
    answer = await desk.send(desk.post(target=f"{desk.hook.path}?a=b%20c", X_Twice="one") + b"")
    delivery = await desk.inbox.one()
    assert (answer.status, answer.body) == (204, b"")
    assert (delivery.status, delivery.refused, delivery.registration) == (204, "", desk.hook)
    assert (delivery.method, delivery.target, delivery.body) == ("POST", f"{desk.hook.path}?a=b%20c", BODY)
    assert before <= delivery.at <= time.time()
    assert delivery.seconds >= 0
    assert delivery.peer.startswith("127.0.0.1:")
    assert verdict(delivery) == {"authorization": None} | dict.fromkeys(
        ["path", "token", "method", "host", "origin", "encoding", "content-type", "size", "json"], True
    )


async def test_headers_keep_their_order_their_spelling_and_their_duplicates(desk):
    raw = desk.head("x-B: 2", "X-a: ÿé", "x-b: 1", "X-B:", f"Content-Length: {len(BODY)}").replace(b"\xc3\xbf", b"\xff")
    await desk.send(raw + BODY)
    delivery = await desk.inbox.one()
    assert delivery.headers[3:] == (("x-B", "2"), ("X-a", "ÿÃ©"), ("x-b", "1"), ("X-B", ""), ("Content-Length", "77"))


@pytest.mark.parametrize("chunks", [[BODY], [BODY[:5], BODY[5:6], BODY[6:]]])
async def test_a_chunked_body_is_put_together(desk, chunks):
    framed = [b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks]
    answer = await desk.send(desk.head("Transfer-Encoding: chunked"), *framed, b"0\r\n\r\n")
    assert answer.status == 204
    assert (await desk.inbox.one()).body == BODY


@pytest.mark.parametrize("name", ["push_0_2", "push_0_3", "push_1_0", "push_opvs"])
async def test_recorded_deliveries_of_every_generation_are_accepted_byte_for_byte(name):
    raw = (DATA / f"{name}.http").read_bytes()
    host = raw.partition(b"Host: ")[2].partition(b"\r\n")[0].decode()
    async with opened(ReceiverLimits(), public_url=f"http://{host}") as desk:
        assert (await desk.send(raw)).status == 404
        token = desk.hook.token.encode()
        ours = raw.replace(b"/hook", desk.hook.path.encode(), 1)
        for old in (b"tok-1", b"tok-2", b"Bearer secret"):
            ours = ours.replace(old, b"Bearer " + token if old.startswith(b"Bearer") else token, 1)
        assert (await desk.send(ours)).status == 204
        strange, good = await desk.inbox.until(2)
    assert (strange.refused, strange.registration) == ("No registration has this path.", None)
    assert strange.body == good.body == raw.partition(b"\r\n\r\n")[2]
    came = name == "push_1_0"  # the others send the token header alone
    assert verdict(good).pop("authorization") is (True if came else None)
    assert all(good for check, good in verdict(good).items() if check != "authorization")
    assert [pair for pair in good.headers if pair not in strange.headers] == [
        pair for pair in good.headers if desk.hook.token in pair[1]
    ]


async def test_a_recorded_delivery_with_other_credentials_beside_the_token_is_refused():
    raw = (DATA / "push_1_0.http").read_bytes()
    async with opened(public_url="http://127.0.0.1:9460") as desk:
        raw = raw.replace(b"/hook", desk.hook.path.encode(), 1).replace(b"tok-2", desk.hook.token.encode(), 1)
        assert (await desk.send(raw)).status == 401
        assert (await desk.inbox.one()).refused == ("Authorization does not carry the credentials of registration 1.")


async def test_the_challenge_of_the_first_generation_is_answered_and_shown():
    async with opened(ReceiverLimits(), public_url="http://127.0.0.1:9160") as desk:
        raw = (DATA / "push_0_1_challenge.http").read_bytes().replace(b"/hook", desk.hook.path.encode(), 1)
        answer = await desk.send(raw)
        challenge = await desk.inbox.one()
    assert (answer.status, answer.body) == (200, b"f31bfb59-8268-4e88-9499-31b0490aa591")
    assert (answer.headers["content-type"], answer.headers["x-content-type-options"]) == (
        "text/plain; charset=utf-8",
        "nosniff",
    )
    assert (challenge.challenge, challenge.refused, challenge.status) == (True, "", 200)
    assert "ownership challenge of A2A 0.1" in said(challenge, "method")
    assert "content-type" not in verdict(challenge)


@pytest.mark.parametrize(
    ("value", "status"),
    [("%3Cscript%3E", 200), ("abc%20d%2B%3D+e", 200), ("x" * 1025, 405), ("\x01", 400), ("%0d%0a", 405), ("", 405)],
    ids=["what looks like markup", "spelled for a url", "too long", "a control character", "a line end", "nothing"],
)
async def test_a_challenge_is_echoed_as_it_was_meant_or_not_at_all(desk, value, status):
    raw = desk.head(method="GET", target=f"{desk.hook.path}?validationToken={value}")
    answer = await desk.send(raw)
    assert answer.status == status
    assert (answer.body == unquote_plus(value).encode()) is (status == 200)


@pytest.mark.parametrize(("changed", "status"), [({"Origin": "http://evil.example"}, 403), ({"Host": "evil"}, 421)])
async def test_a_challenge_by_a_browser_or_for_another_host_is_refused(desk, changed, status):
    raw = desk.head(method="GET", target=f"{desk.hook.path}?validationToken=abc", **changed)
    assert (await desk.send(raw)).status == status


async def test_a_challenge_of_an_unknown_path_is_refused(desk):
    assert (await desk.send(desk.head(method="GET", target="/push/x?validationToken=abc"))).status == 404


async def test_a_public_url_with_a_path_is_advertised_and_matched_with_and_without_it():
    async with opened(public_url="https://abc.example.org/hooks/") as desk:
        assert desk.hook.url == f"https://abc.example.org/hooks{desk.hook.path}"
        for target in (desk.hook.path, f"/hooks{desk.hook.path}"):
            assert (await desk.send(desk.post(target=target, Host="abc.example.org"))).status == 204
        assert (await desk.send(desk.post(target=f"/other{desk.hook.path}"))).status == 404


async def test_another_content_type_and_a_body_that_is_no_json_are_shown_and_not_refused(desk):
    assert (await desk.send(desk.post(b"<p>", Content_Type="text/html"))).status == 204
    delivery = await desk.inbox.one()
    assert delivery.refused == ""
    assert {name for name, good in verdict(delivery).items() if good is False} == {"content-type", "json"}


async def test_one_connection_carries_many_deliveries_even_pipelined(desk):
    reader, writer = await desk.connect()
    writer.write(desk.post(b"1") + desk.post(b"2") + b"\r\n" + desk.post(b"3"))
    statuses = [(await Answer.read(reader)).status for _ in range(3)]
    writer.write(desk.post(b"4"))
    statuses.append((await Answer.read(reader)).status)
    writer.close()
    assert statuses == [204] * 4
    assert [delivery.body for delivery in await desk.inbox.until(4)] == [b"1", b"2", b"3", b"4"]


@pytest.mark.parametrize("turns", range(8))
async def test_the_body_of_a_pipelined_delivery_is_never_taken_for_a_head(turns):
    async with opened(ReceiverLimits(head=400, body=1000)) as desk:
        reader, writer = await desk.connect()
        writer.write(desk.post(b"1") + desk.head("Content-Length: 900"))
        for _ in range(turns):  # the second body comes in another turn of the receiver's each time
            await asyncio.sleep(0)
        writer.write(b"2" * 900)
        assert [(await Answer.read(reader)).status for _ in range(2)] == [204, 204]
        writer.close()


async def test_a_sender_that_leaves_without_waiting_is_heard_all_the_same(desk):
    _, writer = await desk.connect()
    writer.write(desk.post())
    writer.close()
    assert (await desk.inbox.one()).refused == ""


async def test_a_sender_that_asks_before_it_sends_is_told_to_go_on(desk):
    reader, writer = await desk.connect()
    writer.write(desk.head("Expect: 100-continue", f"Content-Length: {len(BODY)}"))
    assert (await Answer.read(reader)).status == 100
    writer.write(BODY)
    assert (await Answer.read(reader)).status == 204
    writer.close()
    assert (await desk.inbox.one()).body == BODY


async def test_a_sender_that_asks_before_it_sends_to_nowhere_is_refused_at_once(desk):
    answer = await desk.send(desk.head("Expect: 100-continue", "Content-Length: 77", target="/push/nowhere"))
    assert answer.status == 404
    assert (await desk.inbox.one()).body == b""


async def test_a_crowd_of_real_clients_loses_nothing():
    async with opened(ReceiverLimits()) as desk, aiohttp.ClientSession() as session, httpx.AsyncClient() as client:
        headers = {"Authorization": f"Bearer {desk.hook.token}"}

        async def by_aiohttp(number: int) -> int:
            async with session.post(desk.hook.url, json={"n": number}, headers=headers) as answer:
                return answer.status

        async def by_httpx(number: int) -> int:
            return (await client.post(desk.hook.url, json={"n": number}, headers=headers)).status_code

        statuses = await asyncio.gather(*(by_aiohttp(n) for n in range(300)), *(by_httpx(n) for n in range(300, 400)))
        assert set(statuses) == {204}
        assert sorted(json.loads(one.body)["n"] for one in desk.inbox.all) == list(range(400))


async def test_two_receivers_do_not_know_each_others_registrations(desk):
    async with opened() as other:
        assert other.receiver.address != desk.receiver.address
        assert (await other.send(other.post(target=desk.hook.path))).status == 404
        assert (await other.send(other.post(X_A2A_Notification_Token=desk.hook.token))).status == 401
        assert (await other.send(other.post())).status == 204
        assert (await desk.send(desk.post())).status == 204
    assert (len(other.inbox.all), len(desk.inbox.all)) == (3, 1)


async def test_registrations_are_numbered_and_share_no_secret(desk):
    second = desk.receiver.register()
    assert (desk.hook.number, second.number) == (1, 2)
    assert len({desk.hook.token, second.token, desk.hook.path, second.path}) == 4
    assert min(len(second.token), len(second.path.rpartition("/")[2])) >= 22
    assert second.url == desk.receiver.base_url + second.path
    assert (await desk.send(desk.post(target=second.path))).status == 401
    assert (await desk.send(desk.post(target=second.path, X_A2A_Notification_Token=second.token))).status == 204


# What is refused for its head


async def test_a_wrong_token_is_answered_with_401_and_reported_with_its_body_but_never_named(desk):
    answer = await desk.send(desk.post(X_A2A_Notification_Token="canary-1234"))
    delivery = await desk.inbox.one()
    assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert (delivery.status, delivery.registration, delivery.body) == (401, desk.hook, BODY)
    assert delivery.refused == "X-A2A-Notification-Token does not carry the token of registration 1."
    assert verdict(delivery)["token"] is False
    for text in (delivery.refused, answer.body.decode(), *(check.said for check in delivery.checks)):
        assert "canary" not in text
        assert desk.hook.token not in text


async def test_repeated_tokens_that_differ_are_answered_with_401(desk):
    raw = desk.head(f"X-A2A-Notification-Token: {desk.hook.token}x", f"Content-Length: {len(BODY)}") + BODY
    assert (await desk.send(raw)).status == 401
    assert "2 times with differing values" in (await desk.inbox.one()).refused


async def test_a_forgotten_path_is_answered_with_404(desk):
    desk.receiver.forget(desk.hook)
    desk.receiver.forget(desk.hook)
    assert (await desk.send(desk.post())).status == 404
    assert (await desk.inbox.one()).registration is None


@pytest.mark.parametrize(
    "target", ["/", "/push/", "{path}/", "{path}x", "//{path}", "http://127.0.0.1{path}", "{path}%20"]
)
async def test_a_path_that_only_resembles_a_registration_is_answered_with_404(desk, target):
    assert (await desk.send(desk.post(target=target.format(path=desk.hook.path)))).status == 404
    assert (await desk.inbox.one()).refused == "No registration has this path."


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])
async def test_any_other_method_is_answered_with_405(desk, method):
    answer = await desk.send(desk.head(method=method))
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert (await desk.inbox.one()).method == method


@pytest.mark.parametrize(
    ("method", "target", "more"),
    [("CONNECT", "127.0.0.1:80", []), ("GET", None, ["Connection: Upgrade", "Upgrade: websocket"])],
)
async def test_nobody_gets_a_tunnel(desk, method, target, more):
    assert (await desk.send(desk.head(*more, method=method, target=target))).status in {404, 405}
    assert (await desk.inbox.one()).refused


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "localhost:{port}", "127.0.0.1", ""])
async def test_a_foreign_host_is_answered_with_421(desk, host):
    assert (await desk.send(desk.post(Host=host.format(port=desk.receiver.address[1])))).status == 421
    delivery = await desk.inbox.one()
    assert delivery.refused.startswith("Host is ")
    assert delivery.registration == desk.hook


async def test_http_1_0_without_a_host_is_answered_with_421(desk):
    raw = desk.post(Host=None).replace(b"HTTP/1.1", b"HTTP/1.0")
    assert (await desk.send(raw)).status == 421
    assert (await desk.inbox.one()).refused == "No Host came."


async def test_a_browser_is_answered_with_403_and_gets_no_cors_header(desk):
    preflight = desk.head("Access-Control-Request-Method: POST", method="OPTIONS", Origin="http://evil.example")
    for raw in (preflight, desk.post(Origin="null"), desk.post(Origin=f"http://{desk.host}")):
        answer = await desk.send(raw)
        assert answer.status == 403
        assert not [name for name in answer.headers if name.startswith("access-control")]
    assert all("browser" in delivery.refused for delivery in await desk.inbox.until(3))


async def test_no_answer_names_a_version_of_anything(desk):
    for raw in (desk.post(), desk.post(target="/"), b"\x00\r\n\r\n"):
        answer = await desk.send(raw)
        assert answer.headers["server"] == "a2a-inspect"
        assert b"aiohttp" not in answer.body


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "gzip, gzip", "nonsense"])
async def test_an_encoded_body_is_answered_with_415_and_never_unpacked(desk, encoding):
    bomb = gzip.compress(b"0" * 50_000)
    assert (await desk.send(desk.post(bomb, Content_Encoding=encoding))).status == 415
    delivery = await desk.inbox.one()
    assert delivery.body == bomb[:100]
    assert encoding in delivery.refused


# What is refused for its size, its pace or its form


async def test_a_declared_length_over_the_limit_is_answered_with_413_before_the_body_comes(desk):
    answer = await desk.send(desk.head("Content-Length: 1073741824"))
    assert answer.status == 413
    delivery = await desk.inbox.one()
    assert delivery.refused == "The head declares 1,073,741,824 bytes of body, and at most 1,000 are taken."
    assert (verdict(delivery)["size"], verdict(delivery)["json"]) == (False, None)


async def test_a_body_of_exactly_the_limit_is_taken(desk):
    assert (await desk.send(desk.post(b'"' + b"x" * 998 + b'"'))).status == 204


async def test_an_endless_body_is_cut_at_the_limit_and_its_beginning_kept(quick):
    reader, writer = await quick.connect()
    writer.write(quick.head("Transfer-Encoding: chunked"))
    chunk = b"40\r\n" + b"x" * 64 + b"\r\n"
    with contextlib.suppress(ConnectionError):
        async with asyncio.timeout(10):
            while not quick.inbox.all:
                writer.write(chunk)
                await writer.drain()
                await asyncio.sleep(0)
    assert (await Answer.read(reader)).status == 413
    delivery = await quick.inbox.one()
    assert (delivery.body, delivery.refused) == (b"x" * 100, "The body is longer than 1,000 bytes.")
    async with asyncio.timeout(10):
        assert await reader.read() == b""
    writer.close()


async def test_a_refused_sender_may_finish_its_body_and_read_the_answer():
    async with opened(ReceiverLimits(body=1000, kept=100, linger=60)) as desk:
        reader, writer = await desk.connect()
        writer.write(desk.head(f"Content-Length: {1 << 22}"))
        writer.write(b"x" * (1 << 22))
        answer = await Answer.read(reader)
        async with asyncio.timeout(10):
            await writer.drain()
            assert await reader.read() == b""
        writer.close()
        assert (answer.status, answer.headers["connection"]) == (413, "close")
        assert len((await desk.inbox.one()).body) <= 100


async def test_bodies_that_together_hold_too_much_are_answered_with_503():
    async with opened(ReceiverLimits(body=1000, held=500)) as desk:
        assert (await desk.send(desk.post(b"x" * 501))).status == 503
        assert (await desk.inbox.one()).refused == "Too many long bodies came at once."
        assert (await desk.send(desk.post(b"1" * 500))).status == 204


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
async def test_too_much_of_a_head_is_answered_with_431_and_its_beginning_shown(desk, lines):
    reader, writer = await desk.connect()
    writer.write(desk.head(*lines))
    assert (await Answer.read(reader)).status == 431
    writer.close()
    delivery = await desk.inbox.one()
    assert (delivery.status, delivery.method, delivery.target) == (431, "POST", desk.hook.path)
    assert delivery.headers[0] == ("Host", desk.host)
    assert sum(len(name) + len(value) for name, value in delivery.headers) <= 2_000


async def test_a_target_that_is_too_long_is_answered_with_431(desk):
    assert (await desk.send(desk.post(target="/" + "x" * 3_000))).status == 431
    assert (await desk.inbox.one()).target.startswith("/xxx")


@pytest.mark.parametrize("pieces", [[b"P"], [b"POST /x HTTP/1.1\r\n", b"Host: a\r\n"]])
async def test_a_slow_head_is_answered_with_408(quick, pieces):
    assert (await quick.send(*pieces)).status == 408
    delivery = await quick.inbox.one()
    assert delivery.refused == "The head had not come whole after 0.2 s."
    assert delivery.method == ("POST" if len(pieces) > 1 else "P")


async def test_the_clock_runs_for_every_head_of_a_connection(quick):
    reader, writer = await quick.connect()
    writer.write(quick.post())
    assert (await Answer.read(reader)).status == 204
    writer.write(b"POST /x HT")
    assert (await Answer.read(reader)).status == 408
    writer.close()
    assert (await quick.inbox.until(2))[1].target == "/x HT"


async def test_a_head_that_was_refused_is_not_late_as_well(quick):
    assert (await quick.send(b"x" * 3_000)).status == 431
    assert (await quick.send(b"POST")).status == 408  # its clock runs out after that of the first
    assert [delivery.status for delivery in quick.inbox.all] == [431, 408]


async def test_a_head_that_trickles_in_is_answered_with_408(quick):
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


async def test_a_slow_body_is_answered_with_408_and_what_came_is_kept(quick):
    assert (await quick.send(quick.head("Content-Length: 77"), BODY[:9])).status == 408
    delivery = await quick.inbox.one()
    assert delivery.refused == "Only 9 bytes of the body had come after 0.2 s."
    assert (delivery.body, verdict(delivery)["size"]) == (BODY[:9], False)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "TLS came to a port that speaks plain http"),
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
async def test_what_is_no_http_is_answered_with_400_and_reported_without_a_word_in_the_log(desk, caplog, raw, words):
    caplog.set_level(logging.DEBUG)
    assert (await desk.send(raw)).status == 400
    delivery = await desk.inbox.one()
    assert delivery.status == 400
    assert words in delivery.refused
    assert "canary" not in delivery.refused
    assert delivery.refused.isprintable()
    assert delivery.checks == ()
    assert [record for record in caplog.records if record.name != "asyncio"] == []


async def test_what_is_no_http_is_shown_as_far_as_it_can_be_read(desk):
    await desk.send(desk.post(X_Bad="a\x1bb"))
    delivery = await desk.inbox.one()
    assert (delivery.method, delivery.target, delivery.body) == ("POST", desk.hook.path, BODY)
    assert ("X-Bad", "a\x1bb") in delivery.headers


@pytest.mark.parametrize("pieces", [[b"zz\r\nabc"], [b"3\r\nabc\r\n", b"zz\r\n"], [b"3\r\nabcd\r\n"]])
async def test_malformed_chunks_are_answered_with_400_without_waiting_for_more(desk, pieces):
    reader, writer = await desk.connect()
    writer.write(desk.head("Transfer-Encoding: chunked", "Expect: 100-continue"))
    assert (await Answer.read(reader)).status == 100  # the error has to hit a body that is being read
    for piece in pieces:
        writer.write(piece)
    assert (await Answer.read(reader)).status == 400
    writer.close()
    assert "chunks of the body are malformed" in (await desk.inbox.one()).refused


async def test_garbage_after_a_good_delivery_is_a_refused_delivery_of_its_own(desk):
    reader, writer = await desk.connect()
    for raw, status in ((desk.post(), 204), (b"\x00\x01\x02\r\n\r\n", 400)):
        writer.write(raw)
        assert (await Answer.read(reader)).status == status
    writer.close()
    good, bad = await desk.inbox.until(2)
    assert (good.refused, bad.status, bad.body) == ("", 400, b"")


async def test_a_body_longer_than_its_declared_length_is_refused_and_shown_whole(desk):
    raw = desk.head(f"Content-Length: {len(BODY) - 2}") + BODY
    assert (await desk.send(raw)).status == 400
    delivery = await desk.inbox.one()
    assert (delivery.target, delivery.body) == (desk.hook.path, BODY)
    assert delivery.refused.startswith("Not valid HTTP")


@pytest.mark.parametrize("sent", [1, 40, -5])
async def test_a_delivery_that_breaks_off_is_reported_though_nobody_can_be_answered(desk, sent):
    raw = desk.post()
    _, writer = await desk.connect()
    writer.write(raw[: sent if sent > 0 else len(raw) + sent])
    writer.close()
    delivery = await desk.inbox.one()
    assert delivery.status == 0
    part = "72 bytes of the body" if sent < 0 else f"{sent} bytes of the head"
    assert delivery.refused == f"The connection broke off after {part}."


async def test_a_refused_delivery_that_breaks_off_says_why_it_was_refused(desk):
    _, writer = await desk.connect()
    writer.write(desk.post(X_A2A_Notification_Token="wrong")[:-5])
    writer.close()
    delivery = await desk.inbox.one()
    assert (delivery.status, delivery.refused[:25]) == (0, "X-A2A-Notification-Token ")


async def test_a_connection_that_never_says_anything_is_closed_and_not_reported(quick):
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


async def test_one_connection_too_many_is_answered_with_503_and_makes_room_when_another_leaves():
    async with opened(ReceiverLimits(connections=2)) as desk:
        pairs = [await desk.connect() for _ in range(2)]
        for reader, writer in pairs:
            writer.write(desk.post())
            assert (await Answer.read(reader)).status == 204
        reader, writer = await desk.connect()
        answer = await Answer.read(reader)
        writer.close()
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert (await desk.inbox.until(3))[2].refused == "Too many connections are open."
        pairs[0][1].close()
        async with asyncio.timeout(10):
            while (await desk.send(desk.post())).status != 204:
                await asyncio.sleep(0.01)
        pairs[1][1].close()


# Starting, stopping, failing


async def test_stop_breaks_off_what_is_open_and_leaves_no_task_and_no_socket():
    before = asyncio.all_tasks()
    inbox = Inbox()
    receiver = Receiver(inbox, limits=replace(PATIENT, linger=60))
    await receiver.start()
    desk = Desk(receiver, inbox, receiver.register())
    address = receiver.address
    pairs = [await desk.connect() for _ in range(5)]
    pairs[0][1].write(b"POST /x")
    pairs[1][1].write(desk.head("Content-Length: 77") + BODY[:9])
    pairs[2][1].write(desk.post())
    assert (await Answer.read(pairs[2][0])).status == 204
    pairs[3][1].write(desk.head("Content-Length: 1001"))
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
        "The head declares 1,001 bytes of body, and at most 1,000 are taken.",
    }


@pytest.mark.parametrize("turns", range(8))
async def test_stop_may_come_in_any_turn_of_a_delivery(turns):
    failures = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: failures.append(context))
    inbox = Inbox()
    receiver = Receiver(inbox)
    await receiver.start()
    desk = Desk(receiver, inbox, receiver.register())
    reader, writer = await desk.connect()
    writer.write(desk.head("Content-Length: 77", "Expect: 100-continue"))
    assert (await Answer.read(reader)).status == 100
    writer.write(BODY[:9])
    for _ in range(turns):
        await asyncio.sleep(0)
    await receiver.stop()
    writer.close()
    assert (await inbox.one()).refused.startswith("The receiver was stopped after")
    assert failures == []


async def test_a_stopped_receiver_can_be_started_again_and_has_forgotten_its_registrations():
    inbox = Inbox()
    receiver = Receiver(inbox)
    await receiver.stop()
    await receiver.start()
    old = receiver.register()
    await receiver.start()
    await receiver.stop()
    await receiver.start()
    desk = Desk(receiver, inbox, receiver.register())
    assert desk.hook.number == 2
    assert (await desk.send(desk.post())).status == 204
    assert (await desk.send(desk.post(target=old.path, X_A2A_Notification_Token=old.token))).status == 404
    await receiver.stop()


async def test_nothing_can_be_asked_of_a_receiver_that_never_ran():
    receiver = Receiver(Inbox())
    for ask in (receiver.register, lambda: receiver.address, lambda: receiver.base_url):
        with pytest.raises(RuntimeError):
            ask()


async def test_it_listens_on_the_loopback_address_only():
    async with opened() as desk:
        assert desk.receiver.address[0] == "127.0.0.1"
        assert desk.hook.url.startswith("http://127.0.0.1:")


async def test_a_port_in_use_is_a_clear_fault_and_nothing_runs(desk):
    other = Receiver(Inbox(), port=desk.receiver.address[1])
    with pytest.raises(FaultError) as raised:
        await other.start()
    fault = raised.value.fault
    assert fault.seen == f"Port {desk.receiver.address[1]} of 127.0.0.1 is in use."
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
async def test_a_place_where_nobody_can_listen_is_a_clear_fault(host, port, seen):
    with pytest.raises(FaultError) as raised:
        await Receiver(Inbox(), host=host, port=port).start()
    assert raised.value.fault.seen == seen
    assert raised.value.fault.hint


@pytest.mark.parametrize(
    ("code", "seen"),
    [(errno.EACCES, "Listening at 127.0.0.1:80 is not permitted."), (errno.EMFILE, "Too many open files.")],
)
async def test_what_the_system_refuses_is_a_clear_fault(monkeypatch, code, seen):
    def refuse(*_args, **_options):
        raise OSError(code, "Too many open files")

    monkeypatch.setattr(socket, "create_server", refuse)
    with pytest.raises(FaultError) as raised:
        await Receiver(Inbox(), port=80).start()
    assert seen in raised.value.fault.seen


async def test_a_useless_public_url_is_a_clear_fault_and_leaves_the_port_free(unused_port):
    with pytest.raises(FaultError):
        await Receiver(Inbox(), port=unused_port, public_url="abc.example.org").start()
    async with opened(port=unused_port) as desk:
        assert desk.receiver.address == ("127.0.0.1", unused_port)


@pytest.fixture
def unused_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


async def test_a_failing_listener_is_answered_for_with_500_and_the_receiver_goes_on(desk):
    failures = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: failures.append(context["exception"]))

    def fail(delivery):
        desk.inbox(delivery)
        raise OSError("disk full")

    receiver = Receiver(fail)
    await receiver.start()
    failing = Desk(receiver, desk.inbox, receiver.register())
    answer = await failing.send(failing.post())
    assert (await failing.send(b"\x00\r\n\r\n")).status == 500
    await receiver.stop()
    asyncio.get_running_loop().set_exception_handler(None)
    assert (answer.status, answer.headers["connection"]) == (500, "close")
    assert answer.body == b"the inspector failed on this delivery"
    assert [str(failure) for failure in failures] == ["disk full"] * 2
    assert len(desk.inbox.all) == 2
