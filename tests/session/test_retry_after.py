"""The hint about when to try again: seconds, dates, and values that are ignored."""

from __future__ import annotations

import pytest
from scripted import Agent, OpenSession, giving, say

from inspector.session.retry_after import retry_hint
from inspector.wire.client.observations import Head

NOW = 1_767_225_600.0


def head(status: int, **headers: str) -> Head:
    fields = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Head(NOW, status, "Reason", "HTTP/1.1", fields, streamed=False)


@pytest.mark.parametrize(
    ("headers", "hint"),
    [
        ({"retry_after": "5"}, "Try again in 5 s (Retry-After)."),
        ({"Retry_After": " 300 "}, "Try again in 5m00s (Retry-After)."),
        ({"retry_after": "0"}, "Try again now (Retry-After)."),
        ({"retry_after": "Thu, 01 Jan 2026 00:00:30 GMT"}, "Try again in 30 s (Retry-After)."),
        (
            {"retry_after": "Thu, 01 Jan 2026 09:02:00 GMT", "date": "Thu, 01 Jan 2026 09:00:00 GMT"},
            "Try again in 2m00s (Retry-After).",
        ),
        ({"retry_after": "Wed, 31 Dec 2025 00:00:00 GMT"}, "Try again now (Retry-After)."),
        ({"retry_after": "soon"}, ""),
        ({"retry_after": "9" * 400}, ""),
        ({"retry_after": "Thu, 01 Jan 99999 00:00:00 GMT"}, ""),
        ({"retry_after": "-5"}, ""),
        ({}, ""),
    ],
)
def test_the_header_is_read_as_seconds_or_as_a_date(headers: dict[str, str], hint: str):
    assert retry_hint(head(503, **headers)) == hint


def test_other_statuses_have_no_such_hint():
    assert retry_hint(head(429, retry_after="5")) == "Try again in 5 s (Retry-After)."
    assert retry_hint(head(500, retry_after="5")) == ""


@pytest.mark.parametrize(
    "body", [b"slow down", b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "slow down"}}']
)
async def test_a_call_that_was_refused_has_the_hint(agent: Agent, open_session: OpenSession, body: bytes):
    agent.answer(giving(body, status=429, headers={"Retry-After": "7"}))
    session = await open_session(agent.url)
    fault = (await say(session, stream=True)).fault
    assert fault is not None
    assert "slow down" in fault.seen
    assert fault.hint == "Try again in 7 s (Retry-After)."
