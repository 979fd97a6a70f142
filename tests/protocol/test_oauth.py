"""Read the messages of authorization servers, whatever they contain."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.protocol.oauth import issuer_matches, read_device, read_error, read_metadata, read_token


@pytest.mark.parametrize(
    ("issuer", "url", "matches"),
    [
        ("https://a.example", "https://a.example/.well-known/oauth-authorization-server", True),
        ("https://a.example/", "https://a.example/.well-known/oauth-authorization-server", True),
        ("https://a.example/t", "https://a.example/.well-known/oauth-authorization-server/t", True),
        ("https://a.example/t", "https://a.example/t/.well-known/openid-configuration", True),
        ("https://a.example/t", "https://a.example/.well-known/openid-configuration/t", True),
        ("https://a.example/t", "https://a.example/.well-known/oauth-authorization-server", False),
        ("https://a.example", "https://a.example/t/.well-known/openid-configuration", False),
        ("https://b.example", "https://a.example/.well-known/oauth-authorization-server", False),
        ("http://a.example", "https://a.example/.well-known/oauth-authorization-server", False),
        ("https://a.example", "https://a.example/metadata.json", True),
        ("https://b.example", "https://a.example/metadata.json", False),
        ("", "https://a.example/metadata.json", False),
        ("https://[", "https://a.example/metadata.json", False),
    ],
)
def test_an_issuer_is_bound_to_the_url_of_its_metadata(issuer: str, url: str, matches: bool):
    assert issuer_matches(issuer, url) is matches


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(60, 60), ("60", 60), (60.5, 60.5), (0, 0), (-1, None), (True, None), ("soon", None), (1e400, None), ([], None)],
)
def test_an_expiry_is_a_number_of_seconds(value: Any, seconds: float | None):
    assert read_token({"access_token": "t", "expires_in": value}).expires_in == seconds


def test_members_of_a_wrong_type_count_as_missing():
    token = read_token({"access_token": 1, "token_type": [], "scope": ["a"], "refresh_token": None})
    assert (token.access_token, token.token_type, token.scopes, token.refresh_token) == ("", "", None, "")
    assert read_metadata({"issuer": {}, "token_endpoint_auth_methods_supported": "none"}).client_authentication == ()
    assert read_metadata({"token_endpoint_auth_methods_supported": ["none", 1]}).client_authentication == ("none",)
    assert read_error({"error": 1}) is None
    assert read_error(None) is None


@pytest.mark.parametrize(("value", "interval"), [(None, 5), (0, 1), (3, 3), (1e9, 60), ("7", 7)])
def test_the_interval_of_polling_has_limits(value: Any, interval: float):
    assert read_device({"interval": value}).interval == interval
