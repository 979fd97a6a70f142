"""Credentials belong to an origin and are sent only there."""

from __future__ import annotations

import pytest

from inspector.protocol.bindings.base import GrpcRequest, HttpRequest
from inspector.wire.client.credentials import Credentials, basic, origin, split_userinfo

HOME = "https://home.example:443"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://home.example/a?b#c", HOME),
        ("https://HOME.example:443", HOME),
        ("HTTPS://home.example", HOME),
        ("https://user:pw@home.example", HOME),
        ("http://home.example", "http://home.example:80"),
        ("https://home.example:8443", "https://home.example:8443"),
        ("http://[::1]:9000/x", "http://[::1]:9000"),
        ("/path", ""),
        ("home.example", ""),
        ("", ""),
        ("http://[", ""),
        ("http://h:port", ""),
        ("http://h:99999", ""),
        ("mailto:a@b", ""),
    ],
)
def test_an_origin_is_scheme_host_and_port(url: str, expected: str):
    assert origin(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "http://home.example/",
        "https://home.example:444/",
        "https://home.example.evil.example/",
        "https://home.example@evil.example/",
        "https://evil.example/#@home.example",
        "https://evil.example/?@home.example",
        "https://evil.example\\@home.example.evil.example/",
        "https://sub.home.example/",
        "https://home.example./",
        "https://home\t.example.evil.example/",
        "//home.example/",
        "",
        "http://[",
    ],
)
def test_credentials_are_not_sent_to_other_origins(url: str):
    credentials = Credentials({"Authorization": "Bearer secret"}, frozenset({HOME}), {"key": "secret"})
    request = HttpRequest("GET", url, {"Accept": "x"})
    assert not credentials.are_for(url)
    assert credentials.sign(request) == request


def test_credentials_are_sent_to_their_origin_and_replace_headers():
    credentials = Credentials({"authorization": "Bearer secret"}, frozenset({HOME}), {"key": "a b"})
    signed = credentials.sign(
        HttpRequest("POST", "https://home.example/x?y=1", {"Authorization": "old", "A": "b"}, b"{}")
    )
    assert signed == HttpRequest(
        "POST", "https://home.example/x?y=1&key=a+b", {"A": "b", "authorization": "Bearer secret"}, b"{}"
    )


def test_headers_without_credentials_are_sent_everywhere():
    credentials = Credentials({"X-Key": "secret"}, frozenset({HOME}), plain={"A2A-Extensions": "u"})
    assert dict(credentials.sign(HttpRequest("GET", "https://other.example/", {"a2a-extensions": "x"})).headers) == {
        "A2A-Extensions": "u"
    }
    assert dict(credentials.sign(HttpRequest("GET", "https://home.example/", {})).headers) == {
        "A2A-Extensions": "u",
        "X-Key": "secret",
    }


def test_credentials_are_not_sent_to_a_url_without_an_origin():
    assert not Credentials({"A": "b"}, frozenset({""})).are_for("")
    assert not Credentials({"A": "b"}, frozenset({""})).are_for("http://[")


@pytest.mark.parametrize(
    ("place", "url", "headers"),
    [
        (("header", "X-Key"), "https://home.example/", {"X-Key": "k/1"}),
        (("query", "key"), "https://home.example/?key=k%2F1", {}),
        (("cookie", "sid"), "https://home.example/", {"Cookie": "sid=k/1"}),
        (("nowhere", "X-Key"), "https://home.example/", {"X-Key": "k/1"}),
    ],
)
def test_an_api_key_is_added_at_its_location(place: tuple[str, str], url: str, headers: dict[str, str]):
    credentials = Credentials(origins=frozenset({HOME})).with_key("k/1", *place)
    signed = credentials.sign(HttpRequest("GET", "https://home.example/", {}))
    assert (signed.url, dict(signed.headers)) == (url, headers)
    assert credentials


@pytest.mark.parametrize(
    ("given", "place", "sent"),
    [
        ({"Cookie": "session=abc"}, ("cookie", "key"), {"Cookie": "session=abc; key=K"}),
        ({"cookie": "key=old; session=abc"}, ("cookie", "key"), {"Cookie": "session=abc; key=K"}),
        ({"Cookie": "key = old;; Key=other"}, ("cookie", "key"), {"Cookie": "Key=other; key=K"}),
        ({"Cookie": "session=abc"}, ("header", "X-Key"), {"Cookie": "session=abc", "X-Key": "K"}),
        ({"x-api-key": "given", "A": "b"}, ("header", "X-API-Key"), {"A": "b", "X-API-Key": "K"}),
        ({"Cookie": "session=abc"}, ("header", "cookie"), {"cookie": "session=abc; K"}),
    ],
)
def test_an_api_key_replaces_only_what_has_its_name(
    given: dict[str, str], place: tuple[str, str], sent: dict[str, str]
):
    credentials = Credentials(given, frozenset({HOME})).with_key("K", *place)
    assert credentials.headers_for(HOME) == sent
    entered = Credentials(origins=frozenset({HOME})).with_key("K", *place)
    assert Credentials(given, frozenset({HOME}), more=(entered,)).headers_for(HOME) == sent
    assert credentials.with_key("K", *place).headers_for(HOME) == sent


def test_no_api_key_changes_nothing():
    assert Credentials().with_key("", "header", "X-Key") == Credentials()
    assert not Credentials()


def test_the_repr_shows_no_secret():
    shown = repr(Credentials({"Authorization": "Bearer secret"}, frozenset({HOME}), {"key": "secret"}))
    assert "secret" not in shown


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("https://u:p@h:1/x?y=1", ("https://h:1/x?y=1", "u:p")),
        ("https://a@b@h/", ("https://h/", "a@b")),
        ("https://@h/", ("https://h/", "")),
        ("https://h/a@b", ("https://h/a@b", "")),
        ("http://[", ("http://[", "")),
    ],
)
def test_userinfo_is_removed_from_a_url(url: str, parts: tuple[str, str]):
    assert split_userinfo(url) == parts


def test_userinfo_becomes_basic_authentication():
    assert basic("us%20er:p%40ss") == "Basic dXMgZXI6cEBzcw=="
    assert basic("u:\udcff") == "Basic dTr/", "a byte of a terminal that is not UTF-8"


def test_userinfo_without_a_password_has_an_empty_password():
    assert basic("user") == basic("user:") == "Basic dXNlcjo="


def test_the_origin_of_an_ipv6_address_is_itself_a_url_with_this_origin():
    assert origin("http://[::1]:8080/rpc") == origin(origin("http://[::1]:8080/rpc")) == "http://[::1]:8080"


def test_headers_of_a_raw_request_have_priority_over_credentials():
    credentials = Credentials({"Authorization": "Bearer ours", "X-Key": "ours"}, frozenset({HOME}), {"key": "ours"})
    by_hand = HttpRequest("POST", f"{HOME}/", {"AUTHORIZATION": "theirs"})
    signed = credentials.sign(by_hand, keep_headers=True)
    assert signed.headers == {"AUTHORIZATION": "theirs", "X-Key": "ours"}
    assert signed.url == f"{HOME}/?key=ours"
    call = GrpcRequest(HOME.partition("//")[2], "/s/M", {"authorization": "theirs"}, b"", streaming=False, tls=True)
    assert credentials.sign_call(call, keep_headers=True).metadata["authorization"] == "theirs"
    assert credentials.sign_call(call).metadata["authorization"] == "Bearer ours"
