"""Why credentials were not accepted: the cause that is named, and its remedy."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.protocol.challenge import read_challenges
from inspector.protocol.errors import FaultCode, Whose
from inspector.session.denial import (
    CREDENTIALS_HINT,
    FORBIDDEN_HINT,
    MEANING_OF_STATUS,
    SentToken,
    explain_head,
    explain_token,
)
from inspector.wire.client.observations import Head

URL, NOW = "https://agent.example/rpc", 1_767_225_600.0


def head(status: int, **headers: str) -> Head:
    fields = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Head(NOW, status, "Reason", "HTTP/1.1", fields, streamed=False)


def sent(**claims: Any) -> SentToken:
    return SentToken(URL, claims, NOW)


CAUSES: list[tuple[int, str, dict[str, Any], str, str]] = [
    (401, "Bearer", {"exp": NOW - 300}, "expired 5m00s ago", "Get a new token."),
    (401, 'Bearer error="invalid_token", error_description="Token Expired"', {}, "has expired", "Get a new token."),
    (401, "Bearer", {"exp": NOW + 900, "iat": NOW + 600}, "valid only in 10m00s", "Compare the clock"),
    (403, 'Bearer error="insufficient_scope", scope="a b"', {"scope": "a"}, "the scope b.", "a token with the scope b"),
    (403, 'Bearer error="insufficient_scope", scope="a b"', {}, "the scope a b.", "a token with the scope a b"),
    (403, 'Bearer scope="a b"', {"scp": ["a"]}, "the scope b.", "a token with the scope b"),
    (403, 'Bearer error="insufficient_scope"', {}, "does not name", "on the card"),
    (401, "Bearer", {"aud": "https://other.example"}, "audience: https://other.example", "https://agent.example:443"),
    (401, 'Bearer error_description="wrong audience"', {}, "another audience.", "configure the audience"),
]


@pytest.mark.parametrize(("status", "challenge", "claims", "seen", "remedy"), CAUSES)
def test_the_cause_of_a_rejected_token_is_named(
    status: int, challenge: str, claims: dict[str, Any], seen: str, remedy: str
):
    fault = explain_head(head(status, www_authenticate=challenge), sent(**claims))
    assert fault is not None
    assert fault.seen.startswith(f"{MEANING_OF_STATUS[status]}: {status} Reason. The token ")
    assert seen in fault.seen
    assert remedy in fault.hint
    assert fault.whose is Whose.YOURS


@pytest.mark.parametrize(
    ("status", "claims"),
    [
        (401, {}),
        (403, {}),
        (401, {"exp": NOW + 60, "iat": NOW - 60, "aud": URL, "scope": "a"}),
        (401, {"aud": ["api://agent"], "exp": "soon", "scope": 5, "nbf": True}),
        (401, {"aud": 5, "iat": 10**400, "exp": -1}),
        (401, {"aud": {"a": 1}}),
    ],
)
def test_without_a_known_cause_only_the_challenge_is_quoted(status: int, claims: dict[str, Any]):
    fault = explain_head(head(status, www_authenticate='Bearer realm="x"'), sent(**claims))
    assert fault is not None
    assert fault.seen == f'{MEANING_OF_STATUS[status]}: {status} Reason, Bearer realm="x".'
    assert fault.hint == (FORBIDDEN_HINT if status == 403 else CREDENTIALS_HINT)


def test_a_url_in_the_challenge_is_left_out():
    metadata = 'resource_metadata="https://agent.example/.well-known/oauth-protected-resource"'
    for challenge, shown in (
        (f'Bearer realm="x", {metadata}', 'Bearer realm="x"'),
        (f'Bearer {metadata}, scope="a"', 'Bearer, scope="a"'),
        (f"Bearer {metadata}", "Bearer"),
    ):
        fault = explain_head(head(401, www_authenticate=challenge), sent())
        assert fault is not None
        assert fault.seen == f"The agent requires credentials: 401 Reason, {shown}."


def test_a_proxy_that_asks_for_credentials_is_not_the_agent():
    fault = explain_head(head(407, proxy_authenticate='Basic realm="proxy"'), sent())
    assert fault is not None
    assert fault.seen == 'The proxy requires credentials: 407 Reason, Basic realm="proxy".'
    assert "HTTPS_PROXY=" in fault.hint


def test_a_redirect_to_a_login_page_is_recognised():
    fault = explain_head(head(302, location="https://login.example/start"), sent())
    assert fault is not None
    assert (fault.whose, fault.code) == (Whose.AGENT, FaultCode.UNREACHABLE)
    assert "to a login page: https://login.example/start" in fault.seen
    assert "exclude the URL of the agent" in fault.hint


@pytest.mark.parametrize("status", [200, 302, 404, 500])
def test_other_responses_do_not_demand_credentials(status: int):
    assert explain_head(head(status, location="https://agent.example/rpc/"), sent()) is None


def test_the_words_of_a_grpc_status_name_the_cause():
    cause = explain_token(401, read_challenges("") or (), "Token has expired", SentToken())
    assert cause is not None
    assert cause.seen == "The token has expired."
