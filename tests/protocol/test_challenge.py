"""Challenges of a 401, and redirects to login pages."""

from __future__ import annotations

import pytest

from inspector.protocol.challenge import Challenge, is_login_page, read_challenges


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Bearer", [("Bearer", {})]),
        ('Bearer Realm="a, b", error=invalid_token', [("Bearer", {"realm": "a, b", "error": "invalid_token"})]),
        ("Negotiate YII+/==", [("Negotiate", {})]),
        (r'Basic realm="say \"hi\""', [("Basic", {"realm": 'say "hi"'})]),
        (
            'Digest a = b ,, c="d", Bearer, Basic realm=x',
            [("Digest", {"a": "b", "c": "d"}), ("Bearer", {}), ("Basic", {"realm": "x"})],
        ),
        ('Negotiate abc, Bearer scope="a b"', [("Negotiate", {}), ("Bearer", {"scope": "a b"})]),
    ],
)
def test_challenges_are_read(text: str, expected: list[tuple[str, dict[str, str]]]):
    assert read_challenges(text) == tuple(Challenge(scheme, parameters) for scheme, parameters in expected)


@pytest.mark.parametrize(
    "text", ['Bearer realm="open', 'Bearer a="1" b="2"', '"Bearer"', "Bearer a=b c", "Bearer\trealm=x"]
)
def test_a_text_that_does_not_follow_the_grammar_has_no_challenges(text: str):
    assert read_challenges(text) is None


def test_a_long_hostile_header_is_read_in_linear_time():
    assert read_challenges('Bearer a="' + "\\" * 50_000) is None
    assert len(read_challenges(", ".join(["Bearer"] * 20_000)) or ()) == 20_000


@pytest.mark.parametrize(
    ("location", "url", "expected"),
    [
        ("https://login.example.com/start", "https://a.example/rpc", True),
        ("/accounts/sign-in?next=/rpc", "https://a.example/rpc", True),
        ("https://x.example/o?client_id=1&redirect_uri=y", "https://a.example/rpc", True),
        ("https://a.example/rpc/", "https://a.example/rpc", False),
        ("https://blogging.example/author", "https://a.example/rpc", False),
        ("https://a.example/auth/agent/", "https://a.example/auth/agent", False),
        ("", "https://a.example/rpc", False),
    ],
)
def test_a_redirect_to_a_login_page_is_recognised_by_its_words(location: str, url: str, expected: bool):
    assert is_login_page(location, url) is expected
