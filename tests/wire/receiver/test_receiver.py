"""The webhook receiver on real sockets: accepted deliveries, rejected heads, and the report of both."""

import asyncio
import gzip
import json
import time
from email.utils import parsedate_to_datetime
from urllib.parse import unquote_plus

import aiohttp
import httpx
import pytest
from receiving import BODY, DATA, Answer, opened, results, text_of

from inspector.wire.receiver.server import ReceiverLimits

# What is accepted


async def test_an_accepted_delivery_is_answered_with_204_and_reported_unchanged(running):
    before = time.time()
    answer = await running.send(running.post(target=f"{running.registration.path}?a=b%20c", X_Twice="one") + b"")
    delivery = await running.inbox.one()
    assert (answer.status, answer.body) == (204, b"")
    assert (delivery.status, delivery.refused, delivery.registration) == (204, "", running.registration)
    assert (delivery.method, delivery.target, delivery.body) == ("POST", f"{running.registration.path}?a=b%20c", BODY)
    assert before <= delivery.at <= time.time()
    assert delivery.seconds >= 0
    assert delivery.peer.startswith("127.0.0.1:")
    assert results(delivery) == {"authorization": None} | dict.fromkeys(
        ["path", "token", "method", "host", "origin", "encoding", "content-type", "size", "json"], True
    )


@pytest.mark.parametrize(
    ("version", "asked", "expected", "stays"),
    [("1.1", (), None, True), ("1.1", ("Connection: close",), "close", False), ("1.0", (), None, False)],
    ids=["plain", "asked to close", "HTTP/1.0"],
)
async def test_the_connection_is_closed_or_kept_as_the_sender_requests(running, version, asked, expected, stays):
    request = (
        running.head(f"Content-Length: {len(BODY)}", *asked).replace(b"HTTP/1.1", f"HTTP/{version}".encode()) + BODY
    )
    reader, writer = await running.connect()
    writer.write(request)
    answer = await Answer.read(reader)
    assert (answer.status, answer.headers["server"], answer.headers["x-content-type-options"]) == (
        204,
        "a2a-inspect",
        "nosniff",
    )
    assert abs(parsedate_to_datetime(answer.headers["date"]).timestamp() - time.time()) < 5
    assert answer.headers.get("connection") == expected
    if stays:
        writer.write(running.post())
        assert (await Answer.read(reader)).status == 204
    else:
        assert await reader.read() == b""
    writer.close()


async def test_headers_keep_their_order_their_spelling_and_their_duplicates(running):
    raw = running.head("x-B: 2", "X-a: ÿé", "x-b: 1", "X-B:", f"Content-Length: {len(BODY)}").replace(
        b"\xc3\xbf", b"\xff"
    )
    await running.send(raw + BODY)
    delivery = await running.inbox.one()
    assert delivery.headers[3:] == (("x-B", "2"), ("X-a", "ÿÃ©"), ("x-b", "1"), ("X-B", ""), ("Content-Length", "77"))


@pytest.mark.parametrize("chunks", [[BODY], [BODY[:5], BODY[5:6], BODY[6:]]])
async def test_a_chunked_body_is_joined(running, chunks):
    framed = [b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks]
    answer = await running.send(running.head("Transfer-Encoding: chunked"), *framed, b"0\r\n\r\n")
    assert answer.status == 204
    assert (await running.inbox.one()).body == BODY


@pytest.mark.parametrize("name", ["push_0_2", "push_0_3", "push_1_0", "push_opvs"])
async def test_recorded_deliveries_of_every_version_are_accepted_byte_for_byte(name):
    raw = (DATA / f"{name}.http").read_bytes()
    host = raw.partition(b"Host: ")[2].partition(b"\r\n")[0].decode()
    async with opened(ReceiverLimits(), public_url=f"http://{host}") as running:
        assert (await running.send(raw)).status == 404
        token = running.registration.token.encode()
        ours = raw.replace(b"/hook", running.registration.path.encode(), 1)
        for old in (b"tok-1", b"tok-2", b"Bearer secret"):
            ours = ours.replace(old, b"Bearer " + token if old.startswith(b"Bearer") else token, 1)
        assert (await running.send(ours)).status == 204
        strange, good = await running.inbox.until(2)
    assert (strange.refused, strange.registration) == ("No registration has this path.", None)
    assert strange.body == good.body == raw.partition(b"\r\n\r\n")[2]
    came = name == "push_1_0"  # the others send the token header alone
    assert results(good).pop("authorization") is (True if came else None)
    assert all(good for check, good in results(good).items() if check != "authorization")
    assert [pair for pair in good.headers if pair not in strange.headers] == [
        pair for pair in good.headers if running.registration.token in pair[1]
    ]


async def test_a_recorded_delivery_with_wrong_credentials_and_a_correct_token_is_rejected():
    raw = (DATA / "push_1_0.http").read_bytes()
    async with opened(public_url="http://127.0.0.1:9460") as running:
        raw = raw.replace(b"/hook", running.registration.path.encode(), 1).replace(
            b"tok-2", running.registration.token.encode(), 1
        )
        assert (await running.send(raw)).status == 401
        assert (await running.inbox.one()).refused == (
            "Authorization does not match the credentials of registration 1."
        )


async def test_the_challenge_of_0_1_is_answered_and_reported():
    async with opened(ReceiverLimits(), public_url="http://127.0.0.1:9160") as running:
        raw = (DATA / "push_0_1_challenge.http").read_bytes().replace(b"/hook", running.registration.path.encode(), 1)
        answer = await running.send(raw)
        challenge = await running.inbox.one()
    assert (answer.status, answer.body) == (200, b"f31bfb59-8268-4e88-9499-31b0490aa591")
    assert (answer.headers["content-type"], answer.headers["x-content-type-options"]) == (
        "text/plain; charset=utf-8",
        "nosniff",
    )
    assert (challenge.challenge, challenge.refused, challenge.status) == (True, "", 200)
    assert "ownership challenge of A2A 0.1" in text_of(challenge, "method")
    assert "content-type" not in results(challenge)


@pytest.mark.parametrize(
    ("value", "status"),
    [("%3Cscript%3E", 200), ("abc%20d%2B%3D+e", 200), ("x" * 1025, 405), ("\x01", 400), ("%0d%0a", 405), ("", 405)],
    ids=["what looks like markup", "spelled for a url", "too long", "a control character", "a line end", "nothing"],
)
async def test_a_challenge_is_echoed_decoded_or_rejected(running, value, status):
    raw = running.head(method="GET", target=f"{running.registration.path}?validationToken={value}")
    answer = await running.send(raw)
    assert answer.status == status
    assert (answer.body == unquote_plus(value).encode()) is (status == 200)


@pytest.mark.parametrize(("changed", "status"), [({"Origin": "http://evil.example"}, 403), ({"Host": "evil"}, 421)])
async def test_a_challenge_by_a_browser_or_for_another_host_is_rejected(running, changed, status):
    raw = running.head(method="GET", target=f"{running.registration.path}?validationToken=abc", **changed)
    assert (await running.send(raw)).status == status


async def test_a_challenge_of_an_unknown_path_is_rejected(running):
    assert (await running.send(running.head(method="GET", target="/push/x?validationToken=abc"))).status == 404


async def test_a_public_url_with_a_path_is_advertised_and_matched_with_and_without_it():
    async with opened(public_url="https://abc.example.org/hooks/") as running:
        assert running.registration.url == f"https://abc.example.org/hooks{running.registration.path}"
        for target in (running.registration.path, f"/hooks{running.registration.path}"):
            assert (await running.send(running.post(target=target, Host="abc.example.org"))).status == 204
        assert (await running.send(running.post(target=f"/other{running.registration.path}"))).status == 404


async def test_a_wrong_content_type_and_invalid_json_are_reported_and_not_rejected(running):
    assert (await running.send(running.post(b"<p>", Content_Type="text/html"))).status == 204
    delivery = await running.inbox.one()
    assert delivery.refused == ""
    assert {name for name, good in results(delivery).items() if good is False} == {"content-type", "json"}


async def test_one_connection_carries_many_deliveries_even_pipelined(running):
    reader, writer = await running.connect()
    writer.write(running.post(b"1") + running.post(b"2") + b"\r\n" + running.post(b"3"))
    statuses = [(await Answer.read(reader)).status for _ in range(3)]
    writer.write(running.post(b"4"))
    statuses.append((await Answer.read(reader)).status)
    writer.close()
    assert statuses == [204] * 4
    assert [delivery.body for delivery in await running.inbox.until(4)] == [b"1", b"2", b"3", b"4"]


@pytest.mark.parametrize("turns", range(8))
async def test_the_body_of_a_pipelined_delivery_is_not_read_as_a_head(turns):
    async with opened(ReceiverLimits(head=400, body=1000)) as running:
        reader, writer = await running.connect()
        writer.write(running.post(b"1") + running.head("Content-Length: 900"))
        for _ in range(turns):  # the second body comes in another turn of the receiver's each time
            await asyncio.sleep(0)
        writer.write(b"2" * 900)
        assert [(await Answer.read(reader)).status for _ in range(2)] == [204, 204]
        writer.close()


async def test_a_delivery_of_a_sender_that_does_not_wait_is_reported(running):
    _, writer = await running.connect()
    writer.write(running.post())
    writer.close()
    assert (await running.inbox.one()).refused == ""


async def test_a_request_with_expect_100_continue_is_continued(running):
    reader, writer = await running.connect()
    writer.write(running.head("Expect: 100-continue", f"Content-Length: {len(BODY)}"))
    assert (await Answer.read(reader)).status == 100
    writer.write(BODY)
    assert (await Answer.read(reader)).status == 204
    writer.close()
    assert (await running.inbox.one()).body == BODY


async def test_a_rejected_request_with_expect_100_continue_is_not_continued(running):
    answer = await running.send(running.head("Expect: 100-continue", "Content-Length: 77", target="/push/nowhere"))
    assert answer.status == 404
    assert (await running.inbox.one()).body == b""


async def test_many_clients_at_once_lose_no_delivery():
    async with opened(ReceiverLimits()) as running, aiohttp.ClientSession() as session, httpx.AsyncClient() as client:
        headers = {"Authorization": f"Bearer {running.registration.token}"}

        async def by_aiohttp(number: int) -> int:
            async with session.post(running.registration.url, json={"n": number}, headers=headers) as answer:
                return answer.status

        async def by_httpx(number: int) -> int:
            return (await client.post(running.registration.url, json={"n": number}, headers=headers)).status_code

        statuses = await asyncio.gather(*(by_aiohttp(n) for n in range(300)), *(by_httpx(n) for n in range(300, 400)))
        assert set(statuses) == {204}
        assert sorted(json.loads(delivery.body)["n"] for delivery in running.inbox.all) == list(range(400))


async def test_two_receivers_have_separate_registrations(running):
    async with opened() as other:
        assert other.receiver.address != running.receiver.address
        assert (await other.send(other.post(target=running.registration.path))).status == 404
        assert (await other.send(other.post(X_A2A_Notification_Token=running.registration.token))).status == 401
        assert (await other.send(other.post())).status == 204
        assert (await running.send(running.post())).status == 204
    assert (len(other.inbox.all), len(running.inbox.all)) == (3, 1)


async def test_registrations_are_numbered_and_share_no_secret(running):
    second = running.receiver.register()
    assert (running.registration.number, second.number) == (1, 2)
    assert len({running.registration.token, second.token, running.registration.path, second.path}) == 4
    assert min(len(second.token), len(second.path.rpartition("/")[2])) >= 22
    assert second.url == running.receiver.base_url + second.path
    assert (await running.send(running.post(target=second.path))).status == 401
    assert (await running.send(running.post(target=second.path, X_A2A_Notification_Token=second.token))).status == 204


# What is refused for its head


async def test_a_wrong_token_is_answered_with_401_and_never_quoted(running):
    answer = await running.send(running.post(X_A2A_Notification_Token="canary-1234"))
    delivery = await running.inbox.one()
    assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert (delivery.status, delivery.registration, delivery.body) == (401, running.registration, BODY)
    assert delivery.refused == "X-A2A-Notification-Token does not match the token of registration 1."
    assert results(delivery)["token"] is False
    for text in (delivery.refused, answer.body.decode(), *(check.text for check in delivery.checks)):
        assert "canary" not in text
        assert running.registration.token not in text


async def test_repeated_tokens_that_differ_are_answered_with_401(running):
    raw = (
        running.head(f"X-A2A-Notification-Token: {running.registration.token}x", f"Content-Length: {len(BODY)}") + BODY
    )
    assert (await running.send(raw)).status == 401
    assert "2 times with different values" in (await running.inbox.one()).refused


async def test_a_removed_registration_is_answered_with_404(running):
    running.receiver.forget(running.registration)
    running.receiver.forget(running.registration)
    assert (await running.send(running.post())).status == 404
    assert (await running.inbox.one()).registration is None


@pytest.mark.parametrize(
    "target", ["/", "/push/", "{path}/", "{path}x", "//{path}", "http://127.0.0.1/x{path}", "{path}%20"]
)
async def test_a_path_that_only_resembles_a_registration_is_answered_with_404(running, target):
    assert (await running.send(running.post(target=target.format(path=running.registration.path)))).status == 404
    assert (await running.inbox.one()).refused == "No registration has this path."


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])
async def test_any_other_method_is_answered_with_405(running, method):
    answer = await running.send(running.head(method=method))
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert (await running.inbox.one()).method == method


@pytest.mark.parametrize(
    ("method", "target", "more"),
    [("CONNECT", "127.0.0.1:80", []), ("GET", None, ["Connection: Upgrade", "Upgrade: websocket"])],
)
async def test_connect_and_upgrade_are_rejected(running, method, target, more):
    assert (await running.send(running.head(*more, method=method, target=target))).status in {404, 405}
    assert (await running.inbox.one()).refused


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "localhost:{port}", "127.0.0.1", ""])
async def test_another_host_is_answered_with_421(running, host):
    assert (await running.send(running.post(Host=host.format(port=running.receiver.address[1])))).status == 421
    delivery = await running.inbox.one()
    assert delivery.refused.startswith("Host is ")
    assert delivery.registration == running.registration


async def test_http_1_0_without_a_host_is_answered_with_421(running):
    raw = running.post(Host=None).replace(b"HTTP/1.1", b"HTTP/1.0")
    assert (await running.send(raw)).status == 421
    assert (await running.inbox.one()).refused == "No Host received."


async def test_a_browser_is_answered_with_403_and_gets_no_cors_header(running):
    preflight = running.head("Access-Control-Request-Method: POST", method="OPTIONS", Origin="http://evil.example")
    for raw in (preflight, running.post(Origin="null"), running.post(Origin=f"http://{running.host}")):
        answer = await running.send(raw)
        assert answer.status == 403
        assert not [name for name in answer.headers if name.startswith("access-control")]
    assert all("browser" in delivery.refused for delivery in await running.inbox.until(3))


async def test_no_response_contains_a_version_of_software(running):
    for raw in (running.post(), running.post(target="/"), b"\x00\r\n\r\n"):
        answer = await running.send(raw)
        assert answer.headers["server"] == "a2a-inspect"
        assert b"aiohttp" not in answer.body


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "gzip, gzip", "nonsense"])
async def test_an_encoded_body_is_answered_with_415_and_not_decoded(running, encoding):
    bomb = gzip.compress(b"0" * 50_000)
    assert (await running.send(running.post(bomb, Content_Encoding=encoding))).status == 415
    delivery = await running.inbox.one()
    assert delivery.body == bomb[:100]
    assert encoding in delivery.refused


async def test_a_generated_token_can_be_the_value_of_an_option(running, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("secrets.token_urlsafe", lambda size: "-" * size)
    assert not running.receiver.register().token.startswith("-")


async def test_a_request_with_the_whole_url_is_accepted(running):
    """A sender behind a proxy may write it (RFC 9112 section 3.2.2)."""
    target = f"http://{running.host}{running.registration.path}"
    answer = await running.send(running.head(f"Content-Length: {len(BODY)}", target=f"{target}?a=b") + BODY)
    assert answer.status == 204
    delivery = await running.inbox.one()
    assert (delivery.refused, delivery.registration) == ("", running.registration)
