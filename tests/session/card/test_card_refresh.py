"""Fetching a card again, what it was before, and what of it was seen to be so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from scripted import (
    CARD_PATH,
    Agent,
    Handle,
    Heard,
    OpenSession,
    answering,
    card_of,
    giving,
    message,
    records,
    redirecting,
    say,
    scripted,
    status,
    streaming,
    task,
)

from inspector.capture.card_history import SeenCard
from inspector.capture.records import Kind
from inspector.capture.store import Capture
from inspector.protocol.card import AgentCapabilities, AgentCard, AgentExtension
from inspector.protocol.errors import FaultCode, FaultError
from inspector.protocol.model import PushConfig
from inspector.protocol.operations import Operation
from inspector.session.card.changes import CardHistory, card_of_answer, extended_difference
from inspector.session.card.lint import lint_text, save_text
from inspector.session.card.observed import (
    CallCounts,
    ObservedBehaviour,
    calls_in_words,
    compare_capabilities,
    extension_statuses,
)
from inspector.session.session import Session
from inspector.wire.client.http_caching import caching_of
from inspector.wire.discovery import FoundCard, read_bytes


def tagged(agent: Agent, tag: str, **members: Any) -> None:
    """Serve a card that is not sent again to whoever has it."""
    card = card_of(f"{agent.url}/rpc", **members)

    async def handle(_: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        if heard.headers.get("If-None-Match") == tag:
            return web.Response(status=304, headers={"ETag": tag, "Cache-Control": "max-age=10"})
        return web.json_response(card, headers={"ETag": tag, "Cache-Control": "max-age=60", "Age": "50"})

    agent.routes[CARD_PATH] = handle


# Again


async def test_a_card_that_is_unchanged_is_not_sent_again(agent: Agent, open_session: OpenSession):
    tagged(agent, '"1"')
    session = await open_session(agent.url)
    before = session.connection
    after = await session.refresh()
    assert agent.heard[-1].headers["If-None-Match"] == '"1"'
    assert after.found is before.found
    assert (before.confirmed, after.confirmed > 0) == (0, True)
    assert caching_of(after.headers).fresh_until(after.confirmed) == after.confirmed + 10
    assert records(session, Kind.RESPONSE)[-1].meta["status"] == 304
    assert records(session, Kind.NOTE)[-1].label == "the card is unchanged"


async def test_a_card_that_says_nothing_of_caching_is_compared(agent: Agent, open_session: OpenSession):
    agent.routes[CARD_PATH] = giving(card_of(f"{agent.url}/rpc"))
    session = await open_session(agent.url)
    before = session.connection
    after = await session.refresh()
    assert not {"If-None-Match", "If-Modified-Since"} & agent.heard[-1].headers.keys()
    assert after.found is before.found
    assert after.confirmed == after.at > before.at


async def test_a_card_that_changed_is_taken_and_the_interface_in_use_stays(agent: Agent, open_session: OpenSession):
    rpc = {"url": f"{agent.url}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    old = rpc | {"protocolVersion": "0.3"}
    tagged(agent, '"1"', supportedInterfaces=[rpc, old])
    session = await open_session(agent.url, version="0.3")
    assert session.choice.dialect.version == "0.3"
    tagged(agent, '"2"', supportedInterfaces=[old | {"url": f"{agent.url}/new"}, old, rpc], name="Another")
    after = await session.refresh()
    assert (after.card.name, after.confirmed) == ("Another", 0)
    assert session.choice.interface is after.card.supported_interfaces[1]
    tagged(agent, '"3"', supportedInterfaces=[rpc | {"url": f"{agent.url}/new"}])
    await session.refresh()
    assert session.choice.interface.url == f"{agent.url}/new"


@pytest.mark.parametrize("name", ["Scripted", "Another"])
async def test_an_interface_that_is_chosen_while_the_card_is_fetched_again_is_kept(
    agent: Agent, open_session: OpenSession, name: str
):
    rpc = {"url": f"{agent.url}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    interfaces = [rpc, rpc | {"url": f"{agent.url}/other"}]
    agent.routes[CARD_PATH] = giving(card_of("", supportedInterfaces=interfaces))
    session = await open_session(agent.url)
    [_, other, *_] = session.connection.choices
    served = giving(card_of("", supportedInterfaces=interfaces, name=name))

    async def choose(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        session.use(other)
        session.propose(other)
        return await served(request, heard)

    agent.routes[CARD_PATH] = choose
    after = await session.refresh()
    assert (after.card.name, session.choice.interface.url) == (name, f"{agent.url}/other")
    assert [choice.reason for choice in session.connection.proposed] == ["proposed by the doctor"]


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (giving(b"", status=500), FaultCode.CARD_NOT_FOUND),
        (giving(b"", status=304), FaultCode.CARD_NOT_FOUND),
        (giving(b"<html>"), FaultCode.CARD_NOT_FOUND),
        (giving({"detail": "?"}), FaultCode.CARD_NOT_FOUND),
        (giving({}), FaultCode.CARD_INVALID),
        (redirecting("ftp://x"), FaultCode.CARD_NOT_FOUND),
    ],
    ids=["error", "304 unasked", "page", "no card", "empty card", "redirect to nowhere"],
)
async def test_a_card_that_is_gone_leaves_the_one_that_was_there(
    agent: Agent, open_session: OpenSession, answer: Handle, code: FaultCode
):
    agent.routes[CARD_PATH] = giving(card_of(f"{agent.url}/rpc"))
    session = await open_session(agent.url)
    before = session.connection
    agent.routes[CARD_PATH] = answer
    with pytest.raises(FaultError) as raised:
        await session.refresh()
    assert raised.value.fault.code == code
    assert session.connection is before


async def test_the_conditions_are_for_the_place_of_the_card_alone(agent: Agent, open_session: OpenSession):
    tagged(agent, '"1"')
    session = await open_session(agent.url)
    agent.routes[CARD_PATH] = redirecting("/cards/here")
    agent.serve_card("/cards/here", name="Moved")
    after = await session.refresh()
    assert (after.card.name, after.url) == ("Moved", f"{agent.url}/cards/here")
    assert ["If-None-Match" in one.headers for one in agent.heard] == [False, True, False]


async def test_a_file_is_read_again(open_session: OpenSession, tmp_path: Path):
    path = tmp_path / "card.json"
    path.write_text(json.dumps(card_of("http://127.0.0.1:1/")))
    session = await open_session(str(path))
    path.write_text(json.dumps(card_of("http://127.0.0.1:1/", name="Edited")))
    assert (await session.refresh()).card.name == "Edited"
    path.unlink()
    with pytest.raises(FaultError):
        await session.refresh()
    assert session.connection.card.name == "Edited"


async def test_without_an_agent_there_is_nothing_to_fetch(open_session: OpenSession):
    session = await open_session()
    with pytest.raises(FaultError, match="No agent is connected"):
        await session.refresh()


# In its place


async def test_json_in_the_place_of_a_card_is_linted_and_what_is_elsewhere_is_not(
    agent: Agent, open_session: OpenSession
):
    agent.routes[CARD_PATH] = giving(b'{"name": NaN}')
    agent.routes["/"] = giving({"welcome": "to the api"})
    session = await open_session()
    with pytest.raises(FaultError):
        await session.connect(agent.url)
    judged = {record.exchange for record in records(session, Kind.BODY) if record.findings}
    assert [record.meta["url"] for record in records(session, Kind.REQUEST) if record.seq in judged] == [
        f"{agent.url}{CARD_PATH}"
    ]


async def test_a_page_in_the_place_of_a_card_breaks_no_rule(agent: Agent, open_session: OpenSession):
    agent.routes[CARD_PATH] = giving(b"<!doctype html>", content_type="text/html")
    session = await open_session()
    with pytest.raises(FaultError):
        await session.connect(agent.url)
    assert session.journal.found == {}


# Before


def test_the_history_compares_with_every_version_but_the_one_of_now():
    history = CardHistory()
    assert history.earlier() == []
    history.load([SeenCard(b'{"version": "1"}', 1, 2), SeenCard(b"not JSON", 0, 1)])
    history.see(b'{"version": "2"}', 5)
    first, second = history.earlier()
    assert [one.pointer for one in first.changes] == ["/version"]
    assert (first.card.last, second.card.raw) == (2, b"not JSON")
    history.see(b'{"version": "1"}', 7)
    assert len(history) == 3
    assert [one.card.raw for one in history.earlier()] == [b'{"version": "2"}', b"not JSON"]


def found(**members: Any) -> FoundCard:
    card = read_bytes(json.dumps(card_of("http://a/", **members)).encode())
    assert isinstance(card, FoundCard)
    return card


def test_the_extended_card_is_compared_with_the_public_one_as_they_were_served():
    public = found(unheard="of")
    extended = card_of("http://a/", skills=[*card_of("")["skills"], {"id": "more"}])
    assert [
        one.pointer for one in extended_difference(public, card_of_answer({"jsonrpc": "2.0", "result": extended}))
    ] == [
        "/skills/1",
        "/unheard",
    ]
    assert extended_difference(public, card_of_answer(json.loads(public.raw))) == []


def test_cards_of_two_versions_are_compared_as_read():
    old = {"url": "http://a/", "protocolVersion": "0.3.0", "preferredTransport": "JSONRPC"}
    members = {name: value for name, value in card_of("").items() if name != "supportedInterfaces"}
    changed = extended_difference(found(), members | old | {"name": "Extended"})
    assert "/name" in [one.pointer for one in changed]
    assert not {"/url", "/preferredTransport"} & {one.pointer for one in changed}


# Observed


def observed_in(session: Session) -> ObservedBehaviour:
    observed = ObservedBehaviour()
    observed.catch_up(session.journal.capture)
    return observed


def capabilities(session: Session) -> dict[str, tuple[str, bool]]:
    return {
        capability.name: (capability.observed, capability.contradicts)
        for capability in compare_capabilities(session.connection.card, observed_in(session))
    }


def begin_over_grpc(capture: Capture, operation: str) -> dict[str, Any]:
    """Record a call and the head of its response; return the members of the next records."""
    call: dict[str, Any] = {"exchange": 1, "operation": operation}
    head = {"method": "POST", "url": "grpc://h:1/s/M", "headers": [], "binding": "GRPC", "dialect": "1.0"}
    capture.append(Kind.REQUEST, 1.0, operation=operation, meta=head)
    capture.append(Kind.RESPONSE, 1.0, meta={"status": 200, "reason": "", "http": "HTTP/2", "headers": []}, **call)
    return call


def test_a_message_over_grpc_that_cannot_be_read_is_a_failed_call(tmp_path: Path):
    trailers = {"code": 0, "name": "OK", "message": "", "headers": []}
    with Capture.create(tmp_path / "odd.a2a") as capture:
        call = begin_over_grpc(capture, "GetTask")
        capture.append(Kind.BODY, 1.0, event="unreadable", label="not a message", **call)
        capture.append(Kind.TRAILERS, 1.0, label="OK", meta=trailers, **call)
        end = {"how": "complete", "events": 1, "bytes": 1, "seconds": 0.1}
        capture.append(Kind.END, 1.0, meta=end, **call)
        observed = ObservedBehaviour()
        observed.catch_up(capture)
    assert calls_in_words(observed) == "GetTask 1 failed: not a message"


async def test_nothing_is_observed_before_the_first_call(agent: Agent, open_session: OpenSession):
    agent.serve_card()
    session = await open_session(agent.url)
    assert set(capabilities(session).values()) == {("", False)}
    assert calls_in_words(observed_in(session)) == ""


async def test_streams_are_counted_with_their_events(agent: Agent, open_session: OpenSession):
    agent.answer(streaming({"task": task("WORKING")}, status("COMPLETED")))
    session = await open_session(agent.url)
    observed = observed_in(session)
    for _ in range(2):
        await say(session, "hello")
    assert observed.catch_up(session.journal.capture) is True
    assert observed.catch_up(session.journal.capture) is False
    assert capabilities(session)["streaming"] == ("2 streams with 4 events", False)
    assert calls_in_words(observed) == "SendStreamingMessage 2 succeeded"


async def test_a_stream_whose_events_cannot_be_read_is_a_failed_call(agent: Agent, open_session: OpenSession):
    agent.answer(streaming(b"data: {\n\n", b"data: {\n\n"))
    session = await open_session(agent.url)
    await say(session, "hello")
    seen, contradicts = capabilities(session)["streaming"]
    assert seen.startswith("failed: ")
    assert contradicts
    assert calls_in_words(observed_in(session)).startswith("SendStreamingMessage 1 failed: ")


async def test_a_capability_is_confirmed_only_in_part_if_some_calls_fail(agent: Agent, open_session: OpenSession):
    agent.serve_card()
    session = await open_session(agent.url)
    for answer in (streaming({"task": task("WORKING")}, status("COMPLETED")), streaming(b"data: {\n\n")):
        agent.answer(answer)
        await say(session, "hello")
    [streams, *_] = compare_capabilities(session.connection.card, observed_in(session))
    assert (streams.observed, streams.is_uncertain) == ("1 of 2 streams succeeded, with 2 events", True)


async def test_a_refusal_for_lack_of_credentials_shows_nothing_about_a_capability(
    agent: Agent, open_session: OpenSession
):
    agent.serve_card()
    agent.routes["/rpc"] = giving({}, status=401)
    session = await open_session(agent.url)
    await say(session, "hello")
    seen, contradicts = capabilities(session)["streaming"]
    assert seen.startswith("not known: ")
    assert not contradicts


def test_a_refusal_over_grpc_shows_nothing_about_a_capability(tmp_path: Path):
    trailers = {"code": 16, "name": "UNAUTHENTICATED", "message": "", "headers": []}
    with Capture.create(tmp_path / "denied.a2a") as capture:
        call = begin_over_grpc(capture, "SendStreamingMessage")
        capture.append(Kind.TRAILERS, 1.0, event="error", label="UNAUTHENTICATED", meta=trailers, **call)
        capture.append(Kind.END, 1.0, meta={"how": "complete", "events": 0, "bytes": 1, "seconds": 0.1}, **call)
        observed = ObservedBehaviour()
        observed.catch_up(capture)
    [streams, *_] = compare_capabilities(found().card, observed)
    assert (streams.observed, streams.contradicts) == ("not known: UNAUTHENTICATED", False)


def test_a_webhook_that_is_registered_with_a_message_was_tried():
    card, observed = found().card, ObservedBehaviour(registered=1)
    push = compare_capabilities(card, observed)[1]
    assert (push.observed, push.is_uncertain) == ("1 webhook registered, no delivery yet", False)
    observed.operations[Operation.SET_PUSH.value] = CallCounts(failed=1, last_error="no")
    assert compare_capabilities(card, observed)[1].is_uncertain


async def test_a_declared_capability_that_fails_contradicts_the_card(agent: Agent, open_session: OpenSession):
    agent.routes["/rpc"] = answering(error={"code": -32004, "message": "not here"})
    agent.serve_card(capabilities={"streaming": True, "pushNotifications": True, "extendedAgentCard": True})
    session = await open_session(agent.url)
    await say(session, "hello")
    await session.set_push(PushConfig(task_id="t", url="http://127.0.0.1:1/")).finish()
    await session.extended_card().finish()
    await session.list_tasks().finish()
    failed = ("failed: -32004 UnsupportedOperationError: not here", True)
    assert capabilities(session) == {"streaming": failed, "push notifications": failed, "extended card": failed}
    assert "ListTasks 1 failed: -32004" in calls_in_words(observed_in(session))


async def test_a_declined_capability_that_works_contradicts_the_card(agent: Agent, open_session: OpenSession):
    agent.routes["/rpc"] = streaming(message("hi"))
    agent.serve_card(capabilities={"streaming": False})
    session = await open_session(agent.url)
    await say(session, "hello")
    assert capabilities(session)["streaming"] == ("1 stream with 1 event", True)


async def test_a_stream_with_only_an_error_is_a_failed_call(agent: Agent, open_session: OpenSession):
    error = b'data: {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"broken"}}\n\n'
    agent.answer(streaming(error))
    session = await open_session(agent.url)
    await say(session, "hello")
    assert capabilities(session)["streaming"][1] is True
    assert "broken" in capabilities(session)["streaming"][0]


@pytest.mark.parametrize(
    ("cut", "error"),
    [
        (True, "The stream broke off after 2 events"),
        (False, "STREAM-001 closed after 2 events, last state working"),
    ],
)
async def test_a_stream_that_ends_before_its_task_is_a_failed_call(
    agent: Agent, open_session: OpenSession, cut: bool, error: str
):
    agent.answer(streaming({"task": task("SUBMITTED")}, status("WORKING"), cut=cut))
    session = await open_session(agent.url)
    await say(session, "hello")
    assert capabilities(session)["streaming"] == (f"failed: {error}", True)
    assert calls_in_words(observed_in(session)) == f"SendStreamingMessage 1 failed: {error}"


async def test_streams_that_worked_are_counted_among_those_that_failed(agent: Agent, open_session: OpenSession):
    agent.answer(streaming({"task": task("WORKING")}, status("COMPLETED")))
    session = await open_session(agent.url)
    for _ in range(2):
        await say(session, "hello")
    agent.answer(streaming({"task": task("SUBMITTED")}, status("WORKING"), cut=True))
    await say(session, "hello")
    assert capabilities(session)["streaming"] == ("2 of 3 streams succeeded, with 4 events", False)
    calls = "SendStreamingMessage 2 succeeded, 1 failed: The stream broke off after 2 events"
    assert calls_in_words(observed_in(session)) == calls


async def test_a_response_without_a_stream_contradicts_the_card(agent: Agent, open_session: OpenSession):
    agent.answer(answering({"task": task("COMPLETED")}))
    session = await open_session(agent.url)
    await say(session, "hello")
    assert capabilities(session)["streaming"] == ("the response was not a stream", True)


async def test_extensions_are_activated_or_only_requested(agent: Agent, open_session: OpenSession):
    async def handle(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        answer = await answering({"task": task("COMPLETED")})(request, heard)
        answer.headers["A2A-Extensions"] = "urn:one"
        return answer

    agent.answer(handle)
    session = await open_session(agent.url, headers={"A2A-Extensions": "urn:one, urn:two"})
    await say(session, "hello")
    declared = [AgentExtension(uri="urn:one"), AgentExtension(uri="urn:three", required=True)]
    card = AgentCard(capabilities=AgentCapabilities(extensions=declared))
    one, three, two = extension_statuses(card, observed_in(session))
    assert (one.uri, one.in_words, one.contradicts) == ("urn:one", "requested 1, activated 1", False)
    assert (three.uri, three.in_words, three.required) == ("urn:three", "not requested", True)
    assert (two.uri, two.contradicts) == ("urn:two", True)
    assert two.in_words == "requested 1, not activated, not on the card"


# Edited


def test_a_text_is_linted_as_a_card():
    valid = lint_text(json.dumps(card_of("https://a.example/")))
    assert (valid.version, valid.problem) == ("1.0", "")
    assert "CARD-001" in {
        finding.rule for finding in lint_text(json.dumps(card_of("https://a.example/", name=None))).findings
    }
    for text in ("", "{", "[]", '"\ud800"', "{}"):
        assert lint_text(text).findings or lint_text(text).problem, text


def test_saving_does_not_overwrite_a_file_without_replace(tmp_path: Path):
    path = tmp_path / "card.json"
    save_text(path, "one\r\n")
    with pytest.raises(FileExistsError):
        save_text(path, "two")
    assert path.read_bytes() == b"one\r\n"
    save_text(path, "two", replace=True)
    assert path.read_bytes() == b"two"


async def test_the_findings_of_a_card_are_counted_when_they_change(agent: Agent, open_session: OpenSession):
    agent.serve_card(description="")
    session = await open_session(agent.url)
    counted = session.journal.found["CARD-027"]
    for members, count in (({"description": ""}, 1), ({}, 1), ({"description": ""}, 2), ({"description": ""}, 2)):
        agent.serve_card(**members)
        await session.connect(agent.url)
        assert len(counted) == count
    async with scripted() as another:
        another.serve_card(description="")
        await session.connect(another.url)
    assert len(counted) == 3
