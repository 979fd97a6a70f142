"""The settings from a command line: joined headers, and which headers are secret."""

from __future__ import annotations

from inspector.options import Options
from inspector.session.settings import Settings, settings_from


def test_no_options_result_in_the_default_settings():
    assert settings_from(Options()) == Settings()


def test_every_option_is_in_the_settings():
    settings = settings_from(
        Options(
            api_key="k",
            trust=("x.example",),
            transports=("JSONRPC",),
            a2a_version="0.3",
            insecure=True,
            receiver_host="0.0.0.0",
            receiver_port=8080,
            public_url="https://x.example",
            timeout=3.0,
        )
    )
    assert (settings.api_key, settings.trusted, settings.transports) == ("k", ("x.example",), ("JSONRPC",))
    assert (settings.version, settings.insecure, settings.limits.read_seconds) == ("0.3", True, 3.0)
    assert (settings.receiver_host, settings.receiver_port, settings.public_url) == (
        "0.0.0.0",
        8080,
        "https://x.example",
    )


def test_a_bearer_token_is_an_authorization():
    assert settings_from(Options(bearer="x")).headers == {"Authorization": "Bearer x"}


def test_an_authorization_header_takes_precedence_over_a_bearer_token():
    options = Options(bearer="x", headers=(("authorization", "Basic y"),))
    assert settings_from(options).headers == {"authorization": "Basic y"}


def test_a_repeated_header_has_all_its_values():
    options = Options(
        svc_params=(("A2A-Extensions", "a"),), headers=(("X-A", "1"), ("a2a-extensions", "b"), ("x-a", "2"))
    )
    assert settings_from(options).headers == {"A2A-Extensions": "a, b", "X-A": "1, 2"}
    cookies = Options(headers=(("Cookie", "a=1"), ("cookie", "b=2")))
    assert settings_from(cookies).headers == {"Cookie": "a=1; b=2"}


def test_every_header_is_secret_unless_it_is_known_to_be_public():
    settings = Settings(headers={"Authorization": "a", "X-Custom": "b", "a2a-extensions": "c", "Traceparent": "d"})
    assert settings.secret_headers == {"Authorization": "a", "X-Custom": "b"}
    assert settings.credentials().plain == {"a2a-extensions": "c", "Traceparent": "d"}


def test_the_repr_shows_no_secret():
    assert "canary" not in repr(Settings(headers={"X-A": "canary"}, api_key="canary"))
