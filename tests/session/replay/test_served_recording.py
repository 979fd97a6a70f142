"""`mock --capture`: a recording that is served has the same bytes, and explains requests that it does not contain."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
import trustme
from aiohttp import web
from certificates import write_pem
from inspector.sample_agents.authentication import Authenticator
from inspector.sample_agents.profile import Capability, Profile
from inspector.sample_agents.server import MockAgent
from inspector.sample_agents.tls import Tls
from scripted import CARD_PATH, Agent, Heard, OpenSession, records
from serving import WAYS, closed, connected, outcome, quick, send, served

from inspector.capture.records import Kind, Record
from inspector.protocol.card import AgentCard
from inspector.protocol.errors import ProtocolError
from inspector.protocol.model import Message, Task
from inspector.protocol.operations import Operation
from inspector.protocol.selection import alternatives
from inspector.session.compose.draft import Draft, text_part
from inspector.session.session import Session


async def converse(session: Session) -> None:
    """Use every kind of call: streams, messages, follow-ups, tasks and errors."""
    await send(session, "report 3", stream=True)
    await send(session, "echo hello")
    asked = await send(session, "ask", stream=True)
    task_id = asked.exchange.task_id
    await session.get(task_id).finish()
    await send(session, "blue", stream=True, task_id=task_id)
    await session.get(task_id).finish()
    await session.get("unknown").finish()


def responses(session: Session) -> list[list[bytes]]:
    """Return the payloads of each response, with names in place of the ids that the client creates."""
    found: dict[int, list[bytes]] = {}
    names: dict[bytes, bytes] = {}
    for record in records(session):
        if record.operation == "GetAgentCard" or not record.exchange:
            continue
        if record.kind is Kind.REQUEST:
            found[record.seq] = []
            chosen = [("request", record.meta["id"]), ("message", message_id(session, record))]
            for name, value in chosen:
                if value:
                    names.setdefault(str(value).encode(), f"{name} {len(found)}".encode())
        elif record.kind in (Kind.FRAME, Kind.BODY, Kind.TRAILERS):
            found[record.exchange].append(payload(session, record))
            if session.choice.dialect.traits.names_tasks and record.task:
                names.setdefault(record.task.encode(), f"task {len(found)}".encode())
    return [[named(raw, names) for raw in raws] for raws in found.values()]


def payload(session: Session, record: Record) -> bytes:
    if record.kind is Kind.TRAILERS:
        return json.dumps([record.meta["code"], record.meta["message"]]).encode()
    return session.payload(record) if session.choice.binding.name == "GRPC" else record.raw


def message_id(session: Session, request: Record) -> str:
    sent = session.payload(request).partition(b'"messageId":"')[2]
    return sent.partition(b'"')[0].decode()


def named(raw: bytes, names: dict[bytes, bytes]) -> bytes:
    for value, name in names.items():
        raw = raw.replace(b'"' + value + b'"', b'"' + name + b'"')
    return raw


@pytest.mark.parametrize(("version", "binding"), WAYS)
async def test_a_recording_is_served_with_the_same_bytes(
    everything: MockAgent, open_session: OpenSession, version: str, binding: str
):
    first = await connected(open_session, everything.url, version, binding)
    await converse(first)
    recorded = responses(first)
    async with served(await closed(first)) as agent:
        again = await connected(open_session, agent.url, version, binding)
        assert (again.choice.dialect.version, again.choice.binding.name) == (version, binding)
        await converse(again)
        assert responses(again) == recorded
        assert sum(map(len, recorded)) > 10
        assert [record.findings for record in records(again, Kind.FRAME)] == [
            record.findings for record in records(first, Kind.FRAME)
        ]


async def recorded_conversation(everything: MockAgent, open_session: OpenSession, version: str, binding: str) -> Path:
    session = await connected(open_session, everything.url, version, binding)
    await send(session, "report 3", stream=True)
    await send(session, "echo hello")
    return await closed(session)


@pytest.mark.parametrize(("version", "binding"), WAYS[:6])
async def test_an_unknown_request_gets_an_error_with_the_nearest_recorded_requests(
    everything: MockAgent, open_session: OpenSession, version: str, binding: str
):
    path = await recorded_conversation(everything, open_session, version, binding)
    lines: list[str] = []
    async with served(path, lines=lines) as agent:
        session = await connected(open_session, agent.url, version, binding)
        call = await send(session, "echo hallo")
        error = call.exchange.answer
        assert isinstance(error, ProtocolError)
        assert error.name == "UnsupportedOperationError"
        assert f"SendMessage ({version} {binding})" in error.message
        nearest = error.message.partition("Nearest recorded requests: ")[2]
        assert 'message.parts[0].text: recorded "echo hello", received "echo hallo"' in nearest.partition("#")[2]
        assert nearest.index("echo hello") < nearest.index("SendStreamingMessage")
        streamed = await send(session, "report 4", stream=True)
        assert isinstance(streamed.exchange.answer, ProtocolError)
        assert streamed.exchange.answer.name == "UnsupportedOperationError"
        assert streamed.exchange.head.streamed == (binding != "HTTP+JSON")
        assert not [record.findings for record in records(session, Kind.FRAME, Kind.BODY)[1:] if record.findings]
        assert any(line.startswith(f"not recorded: SendMessage ({version} {binding}); nearest: #") for line in lines)
        assert session.journal.exchanges.get(call.exchange.number).status in (200, 400, 501, 9, 12)  # type: ignore[union-attr]


async def test_a_long_error_fits_into_the_trailers_of_grpc(everything: MockAgent, open_session: OpenSession):
    def message(letter: str) -> Draft:
        return Draft(parts=tuple(text_part(f"{number} {letter * 300}") for number in range(4)))

    first = await open_session(everything.url, transports=("GRPC",))
    for letter in "\u4e00\u4e8c\u4e09":
        await first.send(message(letter), stream=False).finish()
    async with served(await closed(first)) as agent:
        session = await open_session(agent.url, transports=("GRPC",))
        call = session.send(message("\u56db"), stream=False)
        await call.finish()
        error = call.exchange.answer
        assert isinstance(error, ProtocolError)
        assert error.name == "UnsupportedOperationError"
        assert "Nearest recorded requests: #" in error.message


async def test_a_stream_has_the_pauses_of_the_recording(everything: MockAgent, open_session: OpenSession):
    session = await connected(open_session, everything.url, "1.0", "JSONRPC")
    slow = MockAgent(pace=1)
    await slow.start()
    try:
        session = await open_session(slow.url)
        await send(session, "report 5", stream=True)
    finally:
        await slow.stop()
    path = await closed(session)
    spans = {}
    for pace in (0.0, 1.0, 3.0):
        async with served(path, pace=pace) as agent:
            again = await open_session(agent.url)
            await send(again, "report 5", stream=True)
            frames = records(again, Kind.FRAME)
            spans[pace] = frames[-1].at - frames[0].at
    recorded = [record.at for record in records(session, Kind.FRAME)]
    whole = recorded[-1] - recorded[0]
    # A busy machine can only make a span longer.
    assert spans[0.0] < spans[3.0]
    assert 0.8 * whole < spans[1.0]
    assert 2.5 * whole < spans[3.0]


async def test_repeated_requests_get_the_responses_in_their_order(everything: MockAgent, open_session: OpenSession):
    slow = MockAgent(pace=0.1)  # however long the machine stalls, only one pause of the task is over
    await slow.start()
    try:
        session = await open_session(slow.url)
        states = []
        call = session.call(Operation.SEND, quick("long 3"))
        await call.finish()
        task_id = call.exchange.task_id
        for _ in range(1000):
            states.append(state_of(await got(session, task_id)))
            if states[-1] == "TASK_STATE_COMPLETED":
                break
            await asyncio.sleep(0.02)
    finally:
        await slow.stop()
    assert len(set(states)) > 1
    async with served(await closed(session)) as agent:
        again = await open_session(agent.url)
        for _ in range(2):  # the task begins again with its first message
            call = again.call(Operation.SEND, quick("long 3"))
            await call.finish()
            assert call.exchange.task_id == task_id
            replayed = [state_of(await got(again, task_id)) for _ in range(len(states) + 2)]
            assert replayed == [*states, "TASK_STATE_COMPLETED", "TASK_STATE_COMPLETED"]


async def got(session: Session, task_id: str) -> Task:
    call = session.get(task_id)
    await call.finish()
    assert isinstance(call.exchange.answer, Task)
    return call.exchange.answer


def state_of(task: Task) -> str:
    return task.status.state


async def test_a_response_that_was_cut_off_is_cut_off_again(open_session: OpenSession, agent: Agent):
    async def cut(request: web.BaseRequest, heard: Heard) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "500"})
        await response.prepare(request)
        await response.write(b'{"jsonrpc":"2.0","id":"' + heard.json["id"].encode() + b'","result":{')
        assert request.transport is not None
        request.transport.close()
        return response

    agent.answer(cut)
    first = await open_session(agent.url)
    calls = [await send(first, "hello")]
    async with served(await closed(first)) as replayed:
        again = await open_session(replayed.url)
        calls.append(await send(again, "hello"))
    assert [call.fault.code for call in calls] == [calls[0].fault.code] * 2
    assert outcome(again, calls[1]) == outcome(first, calls[0])
    lengths = [dict(head.meta["headers"])["Content-Length"] for head in records(again, Kind.RESPONSE)[-1:]]
    assert lengths == ["500"]


async def test_calls_with_and_without_credentials_get_their_recorded_responses(open_session: OpenSession):
    agent = MockAgent(pace=0, authenticator=Authenticator("bearer", "open-sesame", ()))
    await agent.start()
    try:
        first = await open_session(agent.url)
        await send(first, "echo a")
        first.credentials.entered.add_bearer(agent.url, "open-sesame")
        await send(first, "echo a")
    finally:
        await agent.stop()
    lines: list[str] = []
    async with served(await closed(first), lines=lines) as replayed:
        again = await open_session(replayed.url, headers={"Authorization": "Bearer any"})
        allowed = await send(again, "echo a")
        assert isinstance(allowed.exchange.answer, Message)
        denied = await send(await open_session(replayed.url), "echo a")
        assert denied.exchange.head.status == 401
        assert not [line for line in lines if "credentials" in line]


async def test_the_card_of_a_file_is_served_at_the_well_known_path(
    everything: MockAgent, open_session: OpenSession, tmp_path: Path
):
    file = tmp_path / "card.json"
    async with aiohttp.ClientSession() as client, client.get(everything.url + CARD_PATH) as response:
        file.write_bytes(await response.read())
    first = await open_session(str(file))
    await send(first, "echo hello")
    async with served(await closed(first)) as replayed:
        again = await open_session(replayed.url)
        assert again.choice.interface.url == f"{replayed.url}/"
        call = await send(again, "echo hello")
        assert isinstance(call.exchange.answer, Message)


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON", "GRPC"])
async def test_a_context_of_the_client_replaces_the_recorded_context(
    everything: MockAgent, open_session: OpenSession, binding: str
):
    async def chat(session: Session, context: str) -> set[str]:
        await send(session, "echo one", context_id=context)
        await send(session, "ask", stream=True, context_id=context)
        return {record.context for record in records(session, Kind.BODY, Kind.FRAME) if record.event != "card"}

    first = await open_session(everything.url, transports=(binding,))
    assert await chat(first, "recorded") == {"recorded"}
    async with served(await closed(first)) as replayed:
        for context in ("a longer context of the client", "short"):
            again = await open_session(replayed.url, transports=(binding,))
            assert await chat(again, context) == {context}


async def test_a_recording_is_served_over_tls(open_session: OpenSession, everything: MockAgent, tmp_path: Path):
    first = await open_session(everything.url)
    await send(first, "echo hello")
    path = await closed(first)
    certificate, key = write_pem(tmp_path, "server", trustme.CA().issue_cert("127.0.0.1"))
    async with served(path, tls=Tls(certificate, key)) as replayed:
        again = await open_session(replayed.url, insecure=True)
        call = await send(again, "echo hello")
        assert isinstance(call.exchange.answer, Message)
        urls = [way.interface.url for way in alternatives(again.connection.card)]  # type: ignore[union-attr]
        assert f"https://{replayed.grpc_target}" in urls
        assert all(url.startswith("https://127.0.0.1") for url in urls)


@pytest.mark.parametrize(
    ("version", "binding"), [("1.0", "JSONRPC"), ("1.0", "HTTP+JSON"), ("1.0", "GRPC"), ("0.2", "JSONRPC")]
)
async def test_the_extended_card_has_the_urls_of_the_server(open_session: OpenSession, version: str, binding: str):
    agent = MockAgent(Profile((version,), capabilities=frozenset(Capability)), pace=0)
    await agent.start()
    try:
        first = await open_session(agent.url, transports=(binding,))
        await first.extended_card().finish()
    finally:
        await agent.stop()
    async with served(await closed(first)) as replayed:
        again = await open_session(replayed.url, transports=(binding,))
        call = again.extended_card()
        await call.finish()
        card = call.exchange.answer
        assert isinstance(card, AgentCard)
        urls = {item.protocol_binding: item.url for item in card.supported_interfaces}
        assert urls["JSONRPC"] == f"{replayed.url}/"
        assert urls.get("HTTP+JSON", replayed.url) == replayed.url
        assert urls["GRPC"] == (replayed.grpc_target if version == "1.0" else f"http://{replayed.grpc_target}")


async def test_a_card_has_its_recorded_headers_and_an_etag_of_its_bytes(
    everything: MockAgent, open_session: OpenSession
):
    first = await open_session(everything.url)
    await send(first, "echo hello")
    path = await closed(first)
    async with served(path) as replayed, aiohttp.ClientSession() as client:
        async with client.get(replayed.url + CARD_PATH) as response:
            headers, etag = response.headers, response.headers["ETag"]
            assert (response.status, headers["Cache-Control"]) == (200, "public, max-age=300")
        async with client.get(replayed.url + CARD_PATH, headers={"If-None-Match": etag}) as response:
            assert response.status == 304
        async with client.get(f"{replayed.url}/.well-known/agent.json") as response:
            assert response.status == 200
        recorded = dict(records(first, Kind.RESPONSE)[0].meta["headers"])
        assert (headers["Last-Modified"], headers["Vary"]) == (recorded["Last-Modified"], recorded["Vary"])


async def test_versions_of_a_recording_are_served_at_their_paths(everything: MockAgent, open_session: OpenSession):
    first = await open_session(everything.url)
    assert first.connection is not None
    ways = {(way.dialect.version, way.binding.name): way for way in alternatives(first.connection.card)}
    await send(first, "echo hello")
    first.use(ways["0.3", "JSONRPC"])
    await send(first, "echo hello")
    recorded = [record.raw for record in records(first, Kind.BODY)[1:]]
    async with served(await closed(first)) as replayed, aiohttp.ClientSession() as client:
        for request, body in zip(records(first, Kind.REQUEST)[1:], recorded, strict=True):
            url = replayed.url + urlsplit(request.meta["url"]).path
            headers = {
                name: value for name, value in request.meta["headers"] if name in ("Content-Type", "A2A-Version")
            }
            async with client.post(url, data=request.raw, headers=headers) as response:
                assert await response.read() == body
