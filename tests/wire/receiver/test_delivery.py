"""The checks of a delivery, as functions of its head and body."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.errors import FaultError, Whose
from inspector.wire.receiver.checks import Check, Report
from inspector.wire.receiver.delivery import BodyOutcome, BodyRead, Delivery, IncomingRequest, RequestHead, read_head
from inspector.wire.receiver.listen_address import ListenAddress
from inspector.wire.receiver.registration import Registration
from inspector.wire.receiver.verdict import PushBody, PushRequest, check_body, check_head

TOKEN = "kX4v-9f_Tz0aQmB7"
REGISTRATION = Registration(3, "/push/secret-path", TOKEN, "http://127.0.0.1:9000/push/secret-path", 0.0)
PLACE = ListenAddress.at("127.0.0.1", 9000)
GOOD = (("Host", "127.0.0.1:9000"), ("Content-Type", "application/json"), ("X-A2A-Notification-Token", TOKEN))


def judged(head: RequestHead, registration=REGISTRATION, place: ListenAddress = PLACE) -> Report:
    return check_head(PushRequest(head, registration, place))


def refusal(head: RequestHead, registration=REGISTRATION) -> tuple[int, str]:
    return judged(head, registration)[2:]


def body_checks(read: BodyRead, *, refused: bool = False) -> tuple[Check, ...]:
    return check_body(PushBody(PushRequest(RequestHead("POST", "/", GOOD), REGISTRATION, PLACE), read, refused)).checks


def checked(
    name: str, *headers: tuple[str, str], method: str = "POST", place: ListenAddress = PLACE, registration=REGISTRATION
) -> Check:
    head = RequestHead(method, REGISTRATION.path, headers)
    return next(check for check in judged(head, registration, place).checks if check.name == name)


@pytest.mark.parametrize("name", ["X-A2A-Notification-Token", "x-a2a-notification-token", "X-OPVS-Notification-Token"])
@pytest.mark.parametrize("times", [1, 2])
def test_the_token_is_accepted_in_the_headers_of_a2a_and_opvs(name, times):
    assert checked("token", *[(name, TOKEN)] * times).good is True


@pytest.mark.parametrize("value", [f"Bearer {TOKEN}", f"bearer  {TOKEN}", f"BEARER {TOKEN} "])
def test_the_credentials_are_accepted_with_the_registered_scheme(value):
    assert checked("authorization", ("Authorization", value)).good is True
    assert checked("token", ("Authorization", value)).good is None


@pytest.mark.parametrize(
    "given",
    [
        TOKEN[:-1],
        TOKEN + "x",
        TOKEN.lower(),
        "",
        "é" + TOKEN,
        "тоkен",
        "\udcff".encode("utf-8", "surrogatepass").decode("latin-1"),
    ],
)
@pytest.mark.parametrize("place", ["X-A2A-Notification-Token", "X-OPVS-Notification-Token", "Authorization"])
def test_a_wrong_token_is_rejected_and_its_header_is_named(place, given):
    bearer = place == "Authorization"
    check = checked("authorization" if bearer else "token", (place, f"Bearer {given}" if bearer else given))
    assert check.good is False
    assert place in check.text
    assert TOKEN not in check.text


def test_a_correct_token_does_not_make_up_for_a_wrong_token():
    both = (("X-A2A-Notification-Token", TOKEN), ("X-OPVS-Notification-Token", "other"))
    assert checked("token", *both).text == (
        "X-OPVS-Notification-Token does not match the token of registration 3, but X-A2A-Notification-Token matches"
    )
    wrong = (("X-A2A-Notification-Token", TOKEN), ("Authorization", "Bearer secret"))
    assert refusal(RequestHead("POST", REGISTRATION.path, (*GOOD[:2], *wrong))) == (
        401,
        "Authorization does not match the credentials of registration 3",
    )


@pytest.mark.parametrize("value", [TOKEN, f"Basic {TOKEN}", f"Bearer{TOKEN}", f"{TOKEN} Bearer"])
def test_correct_credentials_with_another_scheme_are_rejected_and_not_quoted(value):
    check = checked("authorization", ("Authorization", value))
    assert check.good is False
    assert TOKEN not in check.text


def test_a_missing_scheme_before_correct_credentials_is_named():
    check = checked("authorization", ("Authorization", TOKEN))
    assert check.text == "Authorization has the credentials of registration 3 without the scheme Bearer"
    assert checked("authorization", ("Authorization", TOKEN[:-1])).text.startswith("Authorization does not match")


def test_a_repeated_token_with_different_values_is_rejected():
    check = checked("token", ("X-A2A-Notification-Token", TOKEN), ("X-A2A-Notification-Token", "other"))
    assert check.good is False
    assert check.text == "X-A2A-Notification-Token was sent 2 times with different values"


def test_a_missing_token_is_rejected_with_the_expected_headers():
    check = checked("token")
    assert check.good is False
    assert "X-A2A-Notification-Token, X-OPVS-Notification-Token, Authorization" in check.text


def test_the_token_is_not_checked_without_a_registration():
    assert checked("token", ("X-A2A-Notification-Token", TOKEN), registration=None).good is None
    assert checked("path", registration=None).good is False


@pytest.mark.parametrize(
    ("value", "good"),
    [
        ("application/json", True),
        ("Application/JSON; charset=utf-8", True),
        ("application/a2a+json", True),
        ("application/jsonp", False),
        ("text/plain", False),
        ("", False),
    ],
)
def test_the_content_type_has_to_be_json(value, good):
    assert checked("content-type", ("Content-Type", value)).good is good


def test_a_missing_content_type_is_reported():
    assert checked("content-type").good is False


@pytest.mark.parametrize(
    ("public_url", "host", "good"),
    [
        (None, "127.0.0.1:9000", True),
        (None, "127.0.0.1", False),
        (None, "127.0.0.1:9001", False),
        (None, "localhost:9000", False),
        (None, "evil.example:9000", False),
        (None, "127.0.0.1.evil.example:9000", False),
        ("https://abc.example.org/x/", "abc.example.org", True),
        ("https://abc.example.org/x/", "ABC.example.org:443", True),
        ("https://abc.example.org/x/", "127.0.0.1:9000", True),
        ("https://abc.example.org/x/", "abc.example.org:9000", False),
        ("https://abc.example.org/x/", "www.abc.example.org", False),
        ("http://host.example:9000", "host.example:9000", True),
        ("http://host.example:9000", "host.example", False),
        ("http://[2001:db8::1]:9000", "[2001:db8::1]:9000", True),
        ("https://b\u00fccher.example", "xn--bcher-kva.example", True),
        ("https://b\u00fccher.example", "bcher.example", False),
    ],
)
def test_host_has_to_be_the_bound_address_or_the_public_name(public_url, host, good):
    assert checked("host", ("Host", host), place=ListenAddress.at("127.0.0.1", 9000, public_url)).good is good


@pytest.mark.parametrize(
    ("bound", "host", "good"),
    [
        ("0.0.0.0", "192.0.2.7:9000", True),
        ("0.0.0.0", "[2001:db8::1]:9000", True),
        ("0.0.0.0", "192.0.2.7:9001", False),
        ("0.0.0.0", "evil.example:9000", False),
        ("0.0.0.0", "192.0.2.7", False),
        ("::", "[::1]:9000", True),
        ("192.0.2.7", "192.0.2.8:9000", False),
        ("192.0.2.7", "192.0.2.7:9000", True),
        ("::1", "[::1]:9000", True),
    ],
)
def test_a_receiver_on_all_addresses_accepts_any_address_as_host_but_no_name(bound, host, good):
    assert checked("host", ("Host", host), place=ListenAddress.at(bound, 9000)).good is good


@pytest.mark.parametrize(
    ("host", "port", "tls", "good"),
    [
        ("192.0.2.7", 80, False, True),
        ("192.0.2.7:80", 80, False, True),
        ("[2001:db8::1]", 80, False, True),
        ("192.0.2.7", 443, True, True),
        ("192.0.2.7", 443, False, False),
        ("192.0.2.7:81", 80, False, False),
        ("evil.example", 80, False, False),
    ],
)
def test_the_default_port_may_be_omitted_after_any_address(host, port, tls, good):
    assert checked("host", ("Host", host), place=ListenAddress.at("0.0.0.0", port, tls=tls)).good is good


def test_a_repeated_host_is_rejected():
    assert checked("host", ("Host", "127.0.0.1:9000"), ("Host", "127.0.0.1:9000")).good is False


def test_the_default_port_may_be_omitted_in_host():
    assert checked("host", ("Host", "127.0.0.1"), place=ListenAddress.at("127.0.0.1", 80)).good is True


def test_the_base_url_can_be_reached():
    assert ListenAddress.at("127.0.0.1", 9000).base_url == "http://127.0.0.1:9000"
    assert ListenAddress.at("0.0.0.0", 9000).base_url == "http://127.0.0.1:9000"
    assert ListenAddress.at("::", 9000).base_url == "http://[::1]:9000"
    assert ListenAddress.at("127.0.0.1", 9000, "https://abc.example.org/x/").base_url == "https://abc.example.org/x"


@pytest.mark.parametrize(
    "url",
    [
        "abc.example.org",
        "ftp://abc.example.org",
        "http://",
        "http://x:99999",
        "http://[::1",
        "http://u:pw@x",
        "http://x/?q",
        "http://x/#f",
    ],
)
def test_an_invalid_public_url_is_a_usage_error(url):
    with pytest.raises(FaultError) as raised:
        ListenAddress.at("127.0.0.1", 9000, url)
    assert raised.value.fault.whose is Whose.YOURS
    assert "public url" in raised.value.fault.seen
    assert raised.value.fault.hint
    assert "pw" not in str(raised.value)


@pytest.mark.parametrize(
    ("header", "value", "good"),
    [
        ("Content-Encoding", "identity", True),
        ("Transfer-Encoding", "chunked", True),
        ("Content-Encoding", "gzip", False),
        ("Content-Encoding", "identity, br", False),
        ("Transfer-Encoding", "gzip, chunked", False),
    ],
)
def test_an_encoded_body_is_rejected(header, value, good):
    assert checked("encoding", (header, value)).good is good


def test_an_origin_is_rejected_even_if_it_is_null():
    assert checked("origin", ("Origin", "null")).good is False
    assert checked("origin").good is True


@pytest.mark.parametrize(("method", "echo"), [("GET", "abc"), ("POST", ""), ("HEAD", "")])
def test_the_challenge_of_0_1_is_recognised(method, echo):
    head = RequestHead(method, f"{REGISTRATION.path}?a=b&validationToken=abc", GOOD)
    assert PushRequest(head, REGISTRATION, PLACE).echo == echo


def test_a_get_without_a_challenge_is_rejected():
    assert refusal(RequestHead("GET", f"{REGISTRATION.path}?validationtoken=abc", GOOD))[0] == 405


def test_the_status_with_the_highest_priority_rejects_a_delivery():
    def status(*drop: str, registration=REGISTRATION, method="POST", more=()):
        headers = tuple(pair for pair in GOOD if pair[0] not in drop)
        return refusal(RequestHead(method, REGISTRATION.path, headers + more), registration)[0]

    assert status() == 204
    assert status("Content-Type") == 204
    assert status("X-A2A-Notification-Token") == 401
    assert status("X-A2A-Notification-Token", more=(("Content-Encoding", "gzip"),)) == 415
    assert status("X-A2A-Notification-Token", method="PUT") == 405
    assert status(registration=None, method="PUT") == 404
    assert status(registration=None, more=(("Origin", "http://x"),)) == 403
    assert status("Host", registration=None, more=(("Origin", "http://x"),)) == 421


@pytest.mark.parametrize(
    "body", [b"", b"{", b"<html>", b'{"a": NaN}', "{}".encode("utf-16"), b"\xff", b"[" * 200_000, b"1" * 5_000]
)
def test_a_body_that_is_not_json_is_reported_without_an_exception(body):
    size, json = body_checks(BodyRead(body, BodyOutcome.WHOLE))
    assert (size.name, size.good) == ("size", True)
    assert (json.name, json.good) == ("json", False)


def test_an_incomplete_body_is_not_checked_as_json():
    size, json = body_checks(BodyRead(b"{}", BodyOutcome.SLOW, "slow"))
    assert (size.good, size.text, json.good) == (False, "slow", None)
    size, _ = body_checks(BodyRead(b"{}", BodyOutcome.CUT, "cut"), refused=True)
    assert size.good is None


def test_a_long_header_is_quoted_partly():
    assert len(checked("origin", ("Origin", "x" * 5_000)).text) < 200


def test_no_repr_shows_a_secret():
    head = RequestHead("POST", REGISTRATION.path, GOOD)
    delivery: Delivery = IncomingRequest("127.0.0.1:1").delivery(
        head,
        BodyRead(TOKEN.encode(), BodyOutcome.WHOLE),
        status=204,
        refused="",
        registration=REGISTRATION,
        checks=judged(head).checks,
    )
    assert TOKEN not in repr(delivery)
    assert "secret-path" not in repr(delivery)


def test_an_invalid_head_is_read_as_far_as_possible():
    head, rest = read_head(b"POST /push/x?a=b c HTTP/1.1\r\nHost: a\r\nno colon\r\nX: b\x01\xff \r\n\r\n{}")
    assert (head.method, head.target) == ("POST", "/push/x?a=b c")
    assert head.headers == (("Host", "a"), ("no colon", ""), ("X", "b\x01ÿ"))
    assert rest == b"{}"


@given(st.binary(max_size=300))
def test_any_bytes_can_be_read_as_a_head(seen):
    head, rest = read_head(seen)
    for value in (head.method, head.target, *(part for pair in head.headers for part in pair)):
        value.encode("utf-8")
    assert seen.endswith(rest)


_names = st.sampled_from(
    ["Host", "Origin", "Authorization", "X-A2A-Notification-Token", "Content-Type", "Content-Encoding"]
)


@given(st.lists(st.tuples(_names, st.text(st.characters(exclude_categories=["Cs"]), max_size=40))))
def test_any_head_can_be_checked(headers):
    report = judged(RequestHead("POST", "/", tuple(headers)))
    checks = report.checks
    assert [check.name for check in checks] == [
        "path",
        "token",
        "authorization",
        "method",
        "host",
        "origin",
        "encoding",
        "content-type",
    ]
    assert all(check.text for check in checks if check.name != "content-type")
    assert report.status in {401, 403, 415, 421}
