"""Redaction: secrets are masked before anything is recorded; everything else is unchanged."""

from __future__ import annotations

import json
import re
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.capture.redaction import MASK, Redactor

CANARY = "canary-7f3a/9+x=="


def encoded(raw: bytes) -> str:
    return b64encode(raw).decode()


@pytest.fixture(autouse=True, scope="module", params=["one by one", "together"])
def search(request: pytest.FixtureRequest) -> Iterator[str]:
    """Search known secrets one by one, and together as if they were many."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "together":
            patch.setattr("inspector.capture.redaction._MANY", 1)
        yield request.param


@pytest.fixture
def redactor() -> Redactor:
    return Redactor([CANARY])


# Headers


@pytest.mark.parametrize(
    ("name", "value", "masked"),
    [
        ("Authorization", "Bearer abc.def", "Bearer ****"),
        ("authorization", "Basic dXNlcjpwYXNz", "Basic ****"),
        ("Authorization", 'Digest username="u", response="r"', "Digest ****"),
        ("Authorization", "abc.def", "****"),
        ("Authorization", "sk_live_123 456", "****"),
        ("Proxy-Authorization", "Bearer abc", "Bearer ****"),
        ("X-Amz-Authorization", "abc", "****"),
        ("Cookie", "sid=1; theme=dark", "****"),
        ("Set-Cookie", "sid=1; HttpOnly", "****"),
        ("X-A2A-Notification-Token", "abc def", "****"),
        ("x-opvs-notification-token", "abc", "****"),
        ("X-API-Key", "abc", "****"),
        ("apikey", "abc", "****"),
        ("X-Client-Secret", "abc", "****"),
        ("Authorization", "", ""),
        ("WWW-Authenticate", 'Bearer realm="x"', 'Bearer realm="x"'),
        ("Content-Type", "application/json", "application/json"),
        ("Location", "/back?code=abc&state=1", "/back?code=****&state=1"),
        ("Referer", "https://u:p@host/?token=t", "https://****@host/?token=****"),
        ("Link", "<https://host/?sig=abc>; rel=next", "<https://host/?sig=****>; rel=next"),
        ("X-Echo", f"got {CANARY}!", "got ****!"),
        ("Echo-Bin", encoded(b"\n\x11" + CANARY.encode() + b"\xff"), encoded(b"\n\x11" + b"*" * 17 + b"\xff")),
        ("echo-bin", f"AAE=,{encoded(CANARY.encode())}", f"AAE=,{encoded(b'*' * 17)}"),
        ("echo-bin", f"left,{CANARY},right", "left,****,right"),
        ("echo-bin", "/w", "/w"),
        ("echo-bin", f"not base64: {CANARY}", "not base64: ****"),
    ],
)
def test_headers_are_masked_by_name_and_by_known_secrets(
    redactor: Redactor, name: str, value: str, masked: str
) -> None:
    assert redactor.headers([("A", "1"), (name, value)]) == (("A", "1"), (name, masked))


def test_a_secret_in_place_of_the_authentication_scheme_is_masked() -> None:
    assert Redactor(["hunter2"]).headers([("Authorization", "hunter2 x")]) == (("Authorization", "**** ****"),)


# URLs


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("http://host:9999/a?b=c#d", "http://host:9999/a?b=c#d"),
        ("http://user:pass@host/a@b", "http://****@host/a@b"),
        ("http://token@host", "http://****@host"),
        ("http://a@b@host/", "http://****@host/"),
        ("//user:pass@host/", "//****@host/"),
        ("user:pass@host:80/", "****@host:80/"),
        ("http://host/?q=a@b", "http://host/?q=a@b"),
        ("http://h/?token=a&access_token=b&api_key=c", "http://h/?token=****&access_token=****&api_key=****"),
        (
            "http://h/?KEY=a&Secret=b&passWord=c&sig=d&code=e",
            "http://h/?KEY=****&Secret=****&passWord=****&sig=****&code=****",
        ),
        ("http://h/?%74oken=a&api-key=b&X-Amz-Signature=c", "http://h/?%74oken=****&api-key=****&X-Amz-Signature=****"),
        ("http://h/?token=a;b?c=d&x=1", "http://h/?token=****&x=1"),
        ("http://h/?x=1;token=a", "http://h/?x=1;token=****"),
        ("http://h/#access_token=a&x=1", "http://h/#access_token=****&x=1"),
        ("http://h/?token=&token", "http://h/?token=&token"),
        ("http://h/?pageToken=abc&validationToken=d", "http://h/?pageToken=abc&validationToken=d"),
        ("http://[::1", "http://[::1"),
        ("", ""),
        ("?token=a", "?token=****"),
        (f"http://h/in/{CANARY}/path", "http://h/in/****/path"),
        ("http://h/canary-7f3a%2F9%2Bx%3D%3D", "http://h/****"),
        ("http://h/canary-7f3a%2f9%2bx%3d%3d", "http://h/****"),
    ],
)
def test_only_the_secrets_in_a_url_are_masked(redactor: Redactor, url: str, masked: str) -> None:
    assert redactor.url(url) == masked
    assert redactor.url(masked) == masked


@given(st.text())
def test_masking_a_text_or_a_url_never_raises(text: str) -> None:
    redactor = Redactor([CANARY])
    redactor.url(text)
    redactor.text(text)
    redactor.headers([(text, text)])


def test_known_secrets_and_secrets_in_urls_are_masked_in_a_text(redactor: Redactor) -> None:
    text = f"Cannot connect to http://u:p@h/?key=k ({CANARY}, {json.dumps(CANARY)}): refused"
    assert redactor.text(text) == 'Cannot connect to http://****@h/?key=**** (****, "****"): refused'


# Bodies


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b'{"token":"t","credentials":"c","nextPageToken":"p"}',
        b'{"capabilities":{"pushNotifications":true},"token":"t"}',
        b'{"text":"the password is in the safe","password":"","access_token":null,"client_secret":{}}',
        b'data: {"a": 1}\r\n\r\n',
        b"\xff\xfe\x00 not text",
        b'{"canary":"canary-7f3a/9+x="}',
    ],
)
def test_a_body_without_secrets_is_not_changed(redactor: Redactor, body: bytes) -> None:
    assert redactor.body(body) == body


@pytest.mark.parametrize(
    ("body", "masked"),
    [
        (b'{ "access_token" : "a\\"b\\\\", "x": 1 }', b'{ "access_token" : "****", "x": 1 }'),
        (b'{"refresh_token":"a","client_secret":"b"}', b'{"refresh_token":"****","client_secret":"****"}'),
        (b'{"password":1234.5e6,"n":1}', b'{"password":"****","n":1}'),
        (b'data: {"password":"a"}\n\n', b'data: {"password":"****"}\n\n'),
        (b'{"password":"cut off her', b'{"password":"****'),
        (
            b'{"text":"{\\"access_token\\": \\"a\\\\\\"b\\",\\"n\\":\\"\\"}","x":"y"}',
            b'{"text":"{\\"access_token\\": \\"****\\",\\"n\\":\\"\\"}","x":"y"}',
        ),
        (b"grant_type=x&client_secret=a%20b&scope=c", b"grant_type=x&client_secret=****&scope=c"),
        (b"password=a", b"password=****"),
        (b'{"url":"https://h/?access_token=a&x=1"}', b'{"url":"https://h/?access_token=****&x=1"}'),
        (
            b'{"pushNotificationConfig":{"url":"u","token":"t","authentication":{"credentials":"c","schemes":["Bearer"]}}}',
            b'{"pushNotificationConfig":{"url":"u","token":"****","authentication":{"credentials":"****","schemes":["Bearer"]}}}',
        ),
        (b'{"method":"CreateTaskPushNotificationConfig","params":{"token":"t"}}',) * 2,
    ],
)
def test_members_with_secrets_are_masked(redactor: Redactor, body: bytes, masked: bytes) -> None:
    masked = masked.replace(b'"token":"t"', b'"token":"****"')
    assert redactor.body(body) == masked
    assert redactor.body(masked) == masked


def test_a_bare_push_config_is_masked_if_the_caller_requests_it(redactor: Redactor) -> None:
    body = b'{"taskId":"1","url":"u","token":"t","authentication":{"scheme":"Bearer","credentials":"c"}}'
    masked = b'{"taskId":"1","url":"u","token":"****","authentication":{"scheme":"Bearer","credentials":"****"}}'
    assert redactor.body(body) == body
    assert redactor.body(body, push=True) == masked


@pytest.mark.parametrize(
    "spelling",
    [
        CANARY,
        CANARY.replace("/", "\\/"),
        CANARY.replace("+", "\\u002B").replace("=", "\\u003D"),
        CANARY.replace("+", "\\u002b").replace("=", "\\u003d"),
        "".join(f"\\u{ord(character):04x}" for character in CANARY),
        "canary-7f3a%2F9%2Bx%3D%3D",
    ],
)
def test_a_known_secret_is_masked_in_every_spelling_of_json_and_urls(redactor: Redactor, spelling: str) -> None:
    assert redactor.body(f'{{"a":"<{spelling}>"}}'.encode()) == b'{"a":"<****>"}'


@pytest.mark.parametrize("secret", ['quo"te\\d', "näh-ß-中", "😀😀😀😀", "new\nline\ttab", "lone \ud800 one"])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_secret_of_any_characters_is_masked_in_json(secret: str, ascii_only: bool) -> None:
    body = json.dumps({"a": f"x{secret}y"}, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    assert json.loads(Redactor([secret]).body(body)) == {"a": "x****y"}
    upper = re.sub(rb"\\u[0-9a-f]{4}", lambda found: b"\\u" + found[0][2:].upper(), body)
    assert json.loads(Redactor([secret]).body(upper)) == {"a": "x****y"}
    assert secret not in Redactor([secret]).text(f"x{secret}y")


@pytest.mark.parametrize("others", [0, 400])
def test_a_secret_is_masked_if_its_characters_are_escaped_in_different_ways(others: int) -> None:
    redactor = Redactor(["pässwörd-中", *(f"other-secret-{number}" for number in range(others))])
    for written in ("p\\u00e4sswörd-中", "p\\u00E4ssw\\u00f6rd-\\u4E2D", "pässwörd-\\u4e2d"):
        assert redactor.body(f'{{"a": "{written}"}}'.encode()) == b'{"a": "****"}'


@pytest.mark.parametrize("secret", ['quo"te-1', "back\\slash", "new\nline", "näh-ß-中"])
@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("others", [0, 400])
def test_a_secret_is_masked_in_json_in_a_string(secret: str, ascii_only: bool, others: int) -> None:
    redactor = Redactor([secret, *(f"other-secret-{number}" for number in range(others))])
    inner = json.dumps({"a": secret}, ensure_ascii=ascii_only)
    masked = redactor.body(json.dumps({"text": inner}, ensure_ascii=ascii_only).encode())
    assert json.loads(json.loads(masked)["text"]) == {"a": "****"}
    assert redactor.text(json.dumps(inner, ensure_ascii=ascii_only)) == json.dumps('{"a": "****"}')


def test_of_secrets_with_the_same_prefix_the_longest_is_masked_completely() -> None:
    redactor = Redactor(["abcd", "abcdefgh"])
    assert redactor.body(b'["abcdefgh","abcdef"]') == b'["****","****ef"]'
    assert redactor.text("abcdefgh abcdef") == "**** ****ef"


def test_masking_a_secret_that_looks_like_a_number_keeps_json_valid() -> None:
    redactor = Redactor(["1234", "-5.5e3"])
    body = b'{"pin":1234,"longer":51234.5,"text":"pin 1234, \\"1234","\\u12345":0,"other":123,"float":-5.5e3}'
    masked = redactor.body(body)
    assert json.loads(masked) == {
        "pin": MASK,
        "longer": MASK,
        "text": 'pin ****, "****',
        "\u12345": 0,
        "other": 123,
        "float": MASK,
    }


@pytest.mark.parametrize(
    ("body", "masked"),
    [
        (b'{"a":"line\\nsecret"}', b'{"a":"line\\n****"}'),
        (b'{"a":"\\\\nsecret"}', b'{"a":"\\\\****"}'),
        (b"DOMAIN\\nsecret", b"DOMAIN\\n****"),
        (b"DOMAIN\\xnsecret", b"DOMAIN\\x****"),
    ],
)
def test_an_escape_before_a_secret_stays_complete(body: bytes, masked: bytes) -> None:
    assert Redactor(["nsecret"]).body(body) == masked


def test_short_secrets_and_literals_of_json_are_not_masked() -> None:
    redactor = Redactor(["", "abc", "true", "null", "alse"])
    redactor.add("xyz")
    body = b'{"abc":true,"xyz":null,"x":false}'
    assert redactor.body(body) == body
    assert redactor.text("abc xyz true") == "abc xyz true"


def test_a_secret_that_is_added_later_is_masked_from_then_on(redactor: Redactor) -> None:
    assert redactor.body(b'"dXNlcjpwYXNz"') == b'"dXNlcjpwYXNz"'
    redactor.add("dXNlcjpwYXNz")
    assert redactor.body(b'"dXNlcjpwYXNz" "canary-7f3a/9+x=="') == b'"****" "****"'
    assert redactor.headers([("x", "dXNlcjpwYXNz")]) == (("x", "****"),)


# No quotes, backslashes or white space: a secret that is itself a piece of JSON cannot be cut out of JSON.
SECRETS = st.text(st.sampled_from("abnrtuefABF0123456789+-._=/%~é中😀"), min_size=4, max_size=8).filter("true".__ne__)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def leaves(value: object) -> list[str]:
    match value:
        case dict():
            return [*value, *(leaf for inner in value.values() for leaf in leaves(inner))]
        case list():
            return [leaf for inner in value for leaf in leaves(inner)]
        case _:
            return [str(value)]


@given(st.data(), st.lists(SECRETS, min_size=1, max_size=3), st.booleans(), st.booleans())
def test_masked_json_is_valid_and_contains_no_secret(data: st.DataObject, secrets, ascii_only, slashes) -> None:
    around = st.text(max_size=4)
    texts = [data.draw(around) + secret + data.draw(around) for secret in secrets]
    body = json.dumps([data.draw(VALUES), texts, dict.fromkeys(texts, 1)], ensure_ascii=ascii_only)
    raw = (body.replace("/", "\\/") if slashes else body).encode("utf-8", "surrogatepass")
    masked = json.loads(Redactor(secrets).body(raw))
    assert not [leaf for leaf in leaves(masked) for secret in secrets if secret in leaf]


@given(st.binary(max_size=200), st.lists(SECRETS, max_size=3))
def test_masking_other_bytes_never_raises_and_leaves_no_secret(raw: bytes, secrets: list[str]) -> None:
    raw = raw.replace(b"\\", b"/")
    for secret in secrets:
        raw = raw[:50] + secret.encode() + raw[50:]
    masked = Redactor(secrets).body(raw)
    assert not [secret for secret in secrets if secret.encode() in masked]


def test_a_large_hostile_body_is_masked_in_linear_time(redactor: Redactor) -> None:
    for piece in (b"\\", b'"', b'\\"', b'"password":"', b'\\"password\\":\\"\\\\', b"1", CANARY.encode()):
        body = piece * (200_000 // len(piece))
        assert CANARY.encode() not in redactor.body(body)
        redactor.body(body, push=True)


@pytest.mark.parametrize(
    "encode",
    [
        str,
        lambda text: json.dumps(text)[1:-1],
        lambda text: text.replace("/", r"\/"),
        lambda text: quote(text, safe=""),
    ],
)
def test_a_secret_of_200_kb_is_masked_without_a_pattern_for_each_character(encode: Callable[[str], str]):
    secret = 'long/"\u00e4 ' * 25_000
    redactor, started = Redactor([secret]), time.process_time()
    assert redactor.body(b"before " + encode(secret).encode() + b" after") == b"before **** after"
    assert time.process_time() - started < 5  # with a pattern: much more, and a gigabyte of memory


def test_a_masked_header_keeps_its_scheme_in_json():
    raw = b'{"Authorization": "Bearer ****", "text": "{\\"authorization\\": \\"Basic ****\\"}"}'
    assert Redactor().body(raw) == raw
    assert Redactor().body(b'{"authorization": "Bearer **** abc"}') == b'{"authorization": "****"}'


def test_patterns_grow_with_the_number_of_webhooks_not_with_its_square(monkeypatch: pytest.MonkeyPatch, search: str):
    if search == "together":
        monkeypatch.undo()
        monkeypatch.setattr("inspector.capture.redaction._MANY", 300)
    compiled: list[int] = []
    compile_pattern = re.compile
    monkeypatch.setattr(
        re, "compile", lambda pattern, *flags: compiled.append(len(pattern)) or compile_pattern(pattern, *flags)
    )

    def length(webhooks: int) -> int:
        compiled.clear()
        redactor = Redactor()
        for number in range(webhooks):
            token = f"{webhooks}-token-{number:04}-abcdefgh"
            redactor.add(token)
            assert token.encode() not in redactor.body(json.dumps({"text": token}).encode())
        return sum(compiled)

    assert length(40) < 2.5 * length(20)


@pytest.mark.parametrize(
    "text",
    [
        *("https://u:{{PASSWORD}}@h.example/", "https://h.example/?token={{TOKEN}}&x=1", "https://h/?x=1&sig={{S}}"),
        *('{"api_key": "{{KEY}}"}', '{"authorization": "Bearer {{TOKEN}}"}', r'"{\"password\": \"{{PASSWORD}}\"}"'),
    ],
)
def test_a_variable_of_a_snippet_is_not_a_secret(text: str):
    redactor = Redactor([CANARY])
    assert redactor.text(text) == text
    assert redactor.body(text.encode()) == text.encode()
    beside = text.replace("}}", f"}}}}{CANARY}")
    assert CANARY not in redactor.text(beside)
    assert CANARY.encode() not in redactor.body(beside.encode())


def test_a_header_that_is_a_variable_is_not_masked_but_known_secrets_are():
    redactor = Redactor(["canary"])
    kept = (("Authorization", "Bearer {{TOKEN}}"), ("X-Api-Key", "{{KEY}}"))
    assert redactor.headers(kept) == kept
    masked = redactor.headers([("X-Token", "x{{KEY}}"), ("X-Token", "canary {{KEY}}"), ("X-Token", "{{canary}}")])
    assert [value for _, value in masked] == [MASK, "**** {{KEY}}", "{{****}}"]


def test_values_of_secret_headers_are_learned_unless_they_are_short():
    redactor = Redactor()
    redactor.learn([("X-Api-Key", "abcdefgh"), ("Authorization", "Bearer ijklmnop"), ("X-Max-Tokens", "4096")])
    redactor.learn([("X-Team", "blue-team-of-the-day")])
    assert redactor.text("abcdefgh ijklmnop 4096 blue-team-of-the-day") == "**** **** 4096 blue-team-of-the-day"


@pytest.mark.parametrize("learned", [True, False], ids=["of a request", "of the user"])
def test_the_value_of_each_long_cookie_is_masked_where_it_is_repeated(learned: bool):
    redactor = Redactor()
    cookies = [("Cookie", 'theme=dark; session=s3cr3t-one; other="s3cr3t-two"; flag')]
    if learned:
        redactor.learn(cookies)
    else:
        redactor.add_headers(cookies)
    assert redactor.text("s3cr3t-one and s3cr3t-two in the dark") == "**** and **** in the dark"


def test_headers_of_the_user_are_masked_whatever_their_names():
    redactor = Redactor()
    redactor.add_headers([("X-Mine", "Custom abcd")])
    assert redactor.text("Custom abcd, abcd") == "****, ****"


def test_a_secret_in_a_json_pointer_is_masked():
    assert Redactor(["tok/en~1x"]).text("/result/tok~1en~01x/a: tok/en~1x") == "/result/****/a: ****"
