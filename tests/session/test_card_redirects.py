"""Redirects of the card: which are followed, and what they get of the credentials."""

from __future__ import annotations

from typing import Any

import pytest
from scripted import (
    CARD_PATH,
    OLD_CARD_PATH,
    Agent,
    OpenSession,
    giving,
    records,
    redirecting,
    refused,
)

from inspector.capture.records import Kind
from inspector.protocol.errors import FaultCode, FaultError, Whose
from inspector.wire import private_address

BEARER = {"Authorization": "Bearer canary-4711"}


def tries_of(session: Any) -> list[tuple[str, str]]:
    return [(attempt.url, attempt.outcome) for attempt in session.connection.attempts]


def secrets_heard(agent: Agent) -> list[bool]:
    return ["canary" in f"{request.path} {request.headers} {request.body!r}" for request in agent.heard]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_to_the_same_origin_is_followed_with_credentials(
    agent: Agent, open_session: OpenSession, status: int
):
    agent.routes[CARD_PATH] = redirecting("/cards/here", status)
    agent.serve_card("/cards/here")
    session = await open_session(agent.url, headers=BEARER, auth_card=True)
    assert tries_of(session) == [(f"{agent.url}/cards/here", "found")]
    assert secrets_heard(agent) == [True, True]
    assert len(records(session, Kind.REQUEST)) == 2


async def test_a_redirect_to_another_origin_is_followed_without_credentials(
    agent: Agent, stranger: Agent, open_session: OpenSession
):
    agent.routes[CARD_PATH] = redirecting(f"{stranger.url}/card?next=1")
    stranger.routes["/card"] = redirecting(f"{agent.url}/cards/back")
    agent.serve_card("/cards/back")
    session = await open_session(agent.url, headers=BEARER | {"A2A-Extensions": "u"}, auth_card=True)
    assert session.connection.url == f"{agent.url}/cards/back"
    assert secrets_heard(stranger) == [False]
    assert stranger.heard[0].headers["A2A-Extensions"] == "u"
    assert secrets_heard(agent) == [True, True]


async def test_a_card_to_which_the_path_of_an_agent_redirects_is_its_card(agent: Agent, open_session: OpenSession):
    agent.routes[f"/mine{CARD_PATH}"] = redirecting("/cards/here")
    agent.serve_card("/cards/here")
    session = await open_session(f"{agent.url}/mine")
    assert session.connection.url == f"{agent.url}/cards/here"
    assert session.connection.elsewhere == ""
    agent.serve_card("/cards/here", name="Renamed")
    after = await session.refresh()
    assert (after.name, after.elsewhere) == ("Renamed", "")


@pytest.mark.parametrize(
    "answer",
    [giving(b"\xff\xfe{}"), giving([1, 2]), giving(None), giving(b""), redirecting(f"/mine{CARD_PATH}")],
    ids=["not UTF-8", "list", "null", "empty", "redirects without end"],
)
async def test_the_card_of_the_host_is_not_used_instead_of_a_broken_card(
    agent: Agent, open_session: OpenSession, answer: Any
):
    """A message would be sent to another agent."""
    agent.routes[f"/mine{CARD_PATH}"] = answer
    agent.serve_card()
    with pytest.raises(FaultError) as raised:
        await open_session(f"{agent.url}/mine")
    assert raised.value.fault.code in (FaultCode.CARD_NOT_FOUND, FaultCode.CARD_INVALID)
    assert "has no interface below this path" in raised.value.fault.hint


async def test_a_redirect_loop_ends(agent: Agent, open_session: OpenSession):
    agent.routes["/loop.json"] = redirecting("/loop.json")
    fault = await refused(open_session, f"{agent.url}/loop.json")
    assert "more than 5 redirects" in fault.seen
    assert len(agent.heard) == 6


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "javascript:alert(1)", "http://[", "ftp://x/", "//[/x", "data:,x", "http://h:p/"]
)
async def test_a_redirect_to_another_scheme_is_not_followed(agent: Agent, open_session: OpenSession, location: str):
    agent.routes["/card.json"] = redirecting(location)
    fault = await refused(open_session, f"{agent.url}/card.json")
    assert (fault.whose, fault.code) == (Whose.AGENT, FaultCode.CARD_NOT_FOUND)
    assert location in fault.seen


async def test_a_redirect_to_an_unreachable_host_does_not_end_the_search(agent: Agent, open_session: OpenSession):
    agent.routes[CARD_PATH] = redirecting("http://no-such-host.invalid/card")
    agent.serve_card(OLD_CARD_PATH)
    session = await open_session(agent.url)
    assert "no-such-host.invalid could not be resolved" in tries_of(session)[0][1]
    assert tries_of(session)[1][1] == "found"


@pytest.mark.parametrize(
    "location",
    [
        *("http://169.254.169.254/card", "http://10.0.0.1/card", "http://[fd00::1]/card", "http://2852039166/card"),
        *("http://[::ffff:169.254.169.254]/card", "//192.168.0.1:8000/card", "http://[fe80::1]/card"),
    ],
)
async def test_a_redirect_to_a_private_address_is_not_followed_unasked(
    agent: Agent, open_session: OpenSession, location: str
):
    agent.routes["/card.json"] = redirecting(location)
    fault = await refused(open_session, f"{agent.url}/card.json")
    assert (fault.whose, fault.code) == (Whose.YOURS, FaultCode.CARD_NOT_FOUND)
    assert "private address" in fault.seen
    assert "which was not followed" in fault.seen
    assert "--trust http://" in fault.hint


async def test_a_redirect_to_this_machine_is_followed_from_this_machine_or_if_it_is_trusted(
    agent: Agent, stranger: Agent, open_session: OpenSession, monkeypatch: pytest.MonkeyPatch
):
    agent.routes[CARD_PATH] = redirecting(f"{stranger.url}/card")
    stranger.serve_card("/card")
    assert (await open_session(agent.url)).connection.url == f"{stranger.url}/card"
    # As if the agent had a public address.
    monkeypatch.setattr(private_address, "_is_this_machine", lambda address: False)
    agent.routes[CARD_PATH] = redirecting(f"{stranger.url.replace('127.0.0.1', 'localhost')}/card")
    fault = await refused(open_session, f"{agent.url}{CARD_PATH}")
    assert "private address" in fault.seen
    trusted = fault.hint.partition("--trust ")[2].rstrip(".")
    assert (await open_session(agent.url, trusted=(trusted,))).connection.url.endswith("/card")


async def test_a_redirect_to_a_name_that_only_the_proxy_can_resolve_is_not_followed_unasked(
    agent: Agent, open_session: OpenSession, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("http_proxy", agent.url)  # the agent has the role of the proxy, which receives whole URLs
    monkeypatch.setenv("no_proxy", "")
    agent.routes["/card.json"] = redirecting("http://intern.invalid/metadata")
    fault = await refused(open_session, "http://agent.invalid/card.json")
    assert "a name that only the proxy can resolve" in fault.seen
    assert "--trust http://intern.invalid:80" in fault.hint
    assert {heard.headers["Host"] for heard in agent.heard} == {"agent.invalid"}


async def test_a_redirect_without_location_is_not_a_card(agent: Agent, open_session: OpenSession):
    agent.routes["/card.json"] = giving(b"", status=302)
    assert "302" in (await refused(open_session, f"{agent.url}/card.json")).seen
