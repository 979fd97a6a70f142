"""What the preview shows is what the tap records, byte for byte, and what the agent gets."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.server import MockAgent
from scripted import Agent, OpenSession, answering, drive, streaming, task

from inspector.capture.records import Kind, Record
from inspector.protocol.dialects.registry import ALL, supports_binding
from inspector.protocol.errors import Fault
from inspector.session.call import Call
from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_draft
from inspector.session.session import Session
from inspector.wire.client.observations import Sent

VERSIONS = ("1.0", "0.3", "0.2", "0.1", "opvs")
BINDINGS = ("JSONRPC", "HTTP+JSON", "GRPC")
SPOKEN = sorted({(one.version, binding) for one in ALL for binding in BINDINGS if supports_binding(one, binding)})
EXTENSION = "https://example.com/ext/v1"
TEXT = "echo a < b & c\tä\u2028\U0001f600\r\n"
SECRET = "open-sesame-and-more"


@pytest.fixture
async def every() -> AsyncIterator[MockAgent]:
    """A mock agent that serves every version."""
    agent = MockAgent(Profile(VERSIONS), pace=0, push_pause=0)
    await agent.start()
    yield agent
    await agent.stop()


async def on(open_session: OpenSession, mock: MockAgent, version: str, binding: str, **settings: Any) -> Session:
    place = "" if version == "1.0" else f"/{'opvs' if version == 'opvs' else f'v{version}'}"
    trusted = (mock.url, f"http://{mock.grpc_target}")
    session = await open_session(transports=(binding,), version=version, trusted=trusted, **settings)
    await session.connect(f"{mock.url}{place}")
    assert (session.choice.dialect.version, session.choice.binding.name) == (version, binding)
    return session


def rich(text: str, **members: Any) -> Draft:
    """Make a draft with a bit of everything that every version has a place for."""
    parts = (
        DraftPart(PartKind.TEXT, text, metadata='{"a": [1, "<&>"]}'),
        DraftPart(PartKind.LINK, "https://files.example/a%20b.png?x=1&y=2"),
        DraftPart(PartKind.DATA, '{"n": 1.5, "s": "\\u2028", "nested": {"deep": [null, true]}}'),
    )
    params = (("X-Of-Mine", "plain words"), ("Traceparent", "00-1-2-01"))
    return Draft(
        parts,
        metadata='{"trace": "\\"quoted\\""}',
        extensions=(EXTENSION, "urn:second"),
        accepted_output_modes=("text/plain", "image/*"),
        history_length=3,
        svc_params=params,
        **members,
    )


async def shown_and_recorded(session: Session, turn: Call) -> tuple[Sent, Record]:
    shown = turn.preview()
    assert isinstance(shown, Sent)
    await drive(turn)
    return shown, session.journal.capture.get(turn.exchange.number)


def same(shown: Sent, record: Record) -> None:
    assert record.kind is Kind.REQUEST
    assert shown.method == record.meta["method"]
    assert shown.url == record.meta["url"]
    assert [tuple(pair) for pair in record.meta["headers"]] == list(shown.headers)
    assert shown.body == record.raw


@pytest.mark.parametrize("stream", [False, True], ids=["at once", "streamed"])
@pytest.mark.parametrize(("version", "binding"), SPOKEN)
async def test_the_preview_is_what_the_tap_records(
    every: MockAgent, open_session: OpenSession, version: str, binding: str, stream: bool
):
    session = await on(open_session, every, version, binding)
    turn = session.send(rich(TEXT), stream=stream)
    shown, record = await shown_and_recorded(session, turn)
    same(shown, record)
    assert turn.fault is None
    assert json.loads(session.payload(record)), "it can be read"
    header = session.choice.dialect.extensions_header
    named = {name.lower(): value for name, value in shown.headers}
    assert named.get(header.lower() or "-") == (f"{EXTENSION}, urn:second" if header else None)
    assert named["x-of-mine"] == "plain words"


@pytest.mark.parametrize("stream", [False, True], ids=["at once", "streamed"])
@pytest.mark.parametrize(("version", "binding"), SPOKEN)
async def test_with_push_and_credentials_both_mask_the_same(
    every: MockAgent, open_session: OpenSession, version: str, binding: str, stream: bool
):
    session = await on(open_session, every, version, binding, headers={"Authorization": f"Bearer {SECRET}"})
    await session.push.turn_on()
    turn = session.send(text_draft(f"echo {SECRET}"), stream=stream)
    shown, record = await shown_and_recorded(session, turn)
    same(shown, record)
    assert turn.webhook is not None
    told = session.payload(record).decode()
    assert turn.webhook.config.url in told, "the webhook goes along"
    for secret in (SECRET, turn.webhook.config.token):
        assert secret not in told
        assert secret not in f"{shown} {record.meta}"
    assert ("authorization", "Bearer ****") in [(name.lower(), value) for name, value in shown.headers]


async def test_the_agent_gets_what_was_shown(agent: Agent, open_session: OpenSession):
    agent.answer(answering({"task": task("COMPLETED")}))
    session = await open_session(agent.url)
    turn = session.send(rich(TEXT), stream=False)
    shown = turn.preview()
    assert isinstance(shown, Sent)
    await drive(turn)
    [call] = agent.calls
    assert call.body == shown.body
    assert f"{agent.url}{call.path}" == shown.url
    told = {name.lower(): value for name, value in call.headers.items()}
    assert {name.lower(): value for name, value in shown.headers}.items() <= told.items()


async def test_a_preview_costs_the_agent_and_the_capture_nothing(agent: Agent, open_session: OpenSession):
    agent.answer(answering({"task": task("COMPLETED")}))
    session = await open_session(agent.url)
    await session.push.turn_on()
    records, heard = len(session.journal.capture), len(agent.heard)
    for _ in range(3):
        session.send(text_draft("x", message_id="m"), stream=True).preview()
    assert (len(session.journal.capture), len(agent.heard)) == (records, heard)
    assert list(session.push.registrations) == [], "a webhook is registered when its message goes out"


async def test_the_webhook_that_is_shown_is_the_one_that_is_registered(agent: Agent, open_session: OpenSession):
    agent.answer(answering({"task": task("COMPLETED")}))
    session = await open_session(agent.url)
    await session.push.turn_on()
    draft = text_draft("x")
    before = session.send(draft, stream=False).webhook
    turn = session.send(draft, stream=False)
    assert turn.webhook is before
    await drive(turn)
    assert list(session.push.registrations) == [before]
    assert session.push.registrations[0].task_id == "t"
    [call] = agent.calls
    config = call.json["params"]["configuration"]["taskPushNotificationConfig"]
    assert config["url"] == before.config.url
    again = session.send(draft, stream=False)
    assert again.webhook is not before, "a message that is sent again has a webhook of its own"


async def test_the_ids_that_are_shown_are_sent_and_renewed_for_another_message(agent: Agent, open_session: OpenSession):
    agent.answer(answering({"task": task("COMPLETED")}))
    session = await open_session(agent.url)
    draft = text_draft("x", message_id="mine")
    for sent in (draft, draft, draft.with_new_ids()):
        await drive(session.send(sent, stream=False))
    first, retry, other = (call.json for call in agent.calls)
    assert first == retry
    assert first["params"]["message"]["messageId"] == "mine"
    assert other["params"]["message"]["messageId"] != "mine"
    assert other["id"] != first["id"]


async def test_a_message_without_an_id_can_be_sent_on_purpose(agent: Agent, open_session: OpenSession):
    agent.answer(answering({"task": task("COMPLETED")}))
    session = await open_session(agent.url)
    await drive(session.send(text_draft("x", message_id=""), stream=False))
    assert "messageId" not in agent.calls[-1].json["params"]["message"]


async def test_what_is_sent_knowingly_is_said_to_be_deliberate(agent: Agent, open_session: OpenSession):
    agent.answer(streaming({"task": task("COMPLETED")}))
    session = await open_session(agent.url)
    turn = session.send(text_draft(""), stream=True, keep_warnings=True)
    await drive(turn)
    record = session.journal.capture.get(turn.exchange.number)
    assert record.meta["deliberate"] == ["This part is empty; the agent may refuse it."]
    plain = await drive(session.send(text_draft(""), stream=True))
    assert "deliberate" not in session.journal.capture.get(plain.exchange.number).meta


async def test_a_service_parameter_stands_above_what_the_protocol_sets(agent: Agent, open_session: OpenSession):
    agent.answer(answering({"task": task("COMPLETED")}))
    session = await open_session(agent.url)
    params = (("a2a-version", "9.9"), ("a2a-extensions", "only:this"), ("Accept", "text/odd"))
    turn = session.send(text_draft("x", extensions=(EXTENSION,), svc_params=params), stream=False)
    shown, record = await shown_and_recorded(session, turn)
    same(shown, record)
    names = [name.lower() for name, _ in shown.headers]
    assert len(names) == len(set(names)), "no header is repeated"
    headers = {name.lower(): value for name, value in agent.calls[-1].headers.items()}
    assert (headers["a2a-version"], headers["a2a-extensions"], headers["accept"]) == ("9.9", "only:this", "text/odd")


async def test_an_api_key_in_the_url_is_masked_in_both(agent: Agent, open_session: OpenSession):
    agent.answer(answering({"task": task("COMPLETED")}))
    scheme = {"k": {"apiKeySecurityScheme": {"name": "key", "location": "query"}}}
    agent.serve_card(securitySchemes=scheme, securityRequirements=[{"schemes": {"k": {"list": []}}}])
    session = await open_session(agent.url, api_key=SECRET)
    turn = session.send(text_draft("x"), stream=False)
    shown, record = await shown_and_recorded(session, turn)
    same(shown, record)
    assert shown.url.endswith("?key=****")
    assert agent.calls[-1].path.endswith(f"?key={SECRET}")


async def test_a_url_that_cannot_be_asked_is_said_before_anything_is_sent(open_session: OpenSession, tmp_path: Path):
    interface = {"url": "http://agent.example:port/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    card = {"name": "n", "description": "d", "version": "1", "supportedInterfaces": [interface]}
    (tmp_path / "card.json").write_text(json.dumps(card))
    session = await open_session(str(tmp_path / "card.json"))
    turn = session.send(text_draft("x"), stream=False)
    shown = turn.preview()
    assert isinstance(shown, Fault)
    assert "is not a valid URL" in shown.seen
    assert await turn.finish() is not None, "sending it says so as well"


async def test_the_tenant_of_the_interface_gives_way_to_that_of_the_message(
    every: MockAgent, open_session: OpenSession
):
    session = await on(open_session, every, "1.0", "HTTP+JSON")
    turn = session.send(text_draft("x", tenant="acme & co"), stream=False)
    shown = turn.preview()
    assert isinstance(shown, Sent)
    assert shown.url == f"{session.choice.interface.url.rstrip('/')}/acme%20%26%20co/message:send"
    shown, record = await shown_and_recorded(session, turn)
    same(shown, record)
