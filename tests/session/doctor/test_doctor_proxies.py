"""The doctor behind proxies and at wrong ports: it names the cause, and its remedy is right."""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest
import trustme
from inspector.sample_agents.profile import ALL, Profile
from inspector.sample_agents.server import MockAgent
from proxies import Habits, http2_only, proxy

from inspector.findings.rules import RULES
from inspector.protocol.card import AgentCard, AgentInterface
from inspector.protocol.errors import FaultCode
from inspector.protocol.selection import options
from inspector.session import stream_health
from inspector.session.doctor import message_check
from inspector.session.doctor.candidates import bypass
from inspector.session.doctor.doctor import Doctor
from inspector.session.doctor.steps import Report, Step, Timeouts
from inspector.session.session import Session
from inspector.session.settings import Settings

HURRIED = Timeouts(call=5.0, work=5.0, push=0.3)


@pytest.fixture
async def session(tmp_path: Path) -> AsyncIterator[Session]:
    made = Session(tmp_path / "capture", Settings(insecure=True))
    yield made
    await made.close()


@pytest.fixture
async def upstream() -> AsyncIterator[str]:
    """A correct agent, whose stream of the message `long 5` lasts about half a second."""
    mock = MockAgent(pace=0.1, profile=Profile(versions=("1.0",), capabilities=ALL))
    yield await mock.start()
    await mock.stop()


@pytest.fixture
def tls() -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    return context


async def examine(session: Session, reference: str, message: str = "") -> Report:
    doctor = Doctor(session, reference, message, timeouts=HURRIED)
    async for _ in doctor.examine():
        pass
    return doctor.report


async def behind(session: Session, upstream: str, habits: Habits, message: str = "long 5") -> Report:
    async with proxy(upstream, habits) as url:
        return await examine(session, url, message)


def the(report: Report, name: str) -> Step:
    [step] = [step for step in report.steps if step.name == name]
    return step


def failed(report: Report) -> list[str]:
    return [step.name for step in report.steps if step.passed is False]


@pytest.mark.parametrize(
    "habits", [Habits(), Habits(gzip=True), Habits(prefix="/agents/one")], ids=["plain", "gzip", "prefix"]
)
async def test_an_agent_behind_a_correct_proxy_is_valid(session: Session, upstream: str, habits: Habits):
    report = await behind(session, upstream, habits)
    assert failed(report) == []
    assert report.proposals == []
    assert the(report, "task").message == "GetTask returns completed, with the content of the stream"
    assert "the task is completed" in the(report, "streaming").message


async def test_a_stream_that_is_cut_is_a_failure_with_its_rule(
    session: Session, upstream: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(message_check, "_SHORTEST_LIMIT", 0.0)  # the stream of a test is short
    report = await behind(session, upstream, Habits(cut_at="TASK_STATE_WORKING"))
    step = the(report, "streaming")
    assert step.passed is False
    assert "STREAM-001" in step.message
    assert "the task is working" in step.message
    assert re.match(r"The response ended after [\d.]+ m?s, before the task: check for a proxy", step.remedy)
    assert [row.matches for row in report.comparisons if row.feature == "streaming"] == [False]


async def test_no_proxy_is_suspected_if_a_stream_ends_within_milliseconds(session: Session, upstream: str):
    step = the(await behind(session, upstream, Habits(cut_at="TASK_STATE_WORKING")), "streaming")
    assert step.remedy == f"{RULES['STREAM-001'].remedy} Requirements: a2a-inspect rules STREAM-001"


async def test_a_buffered_stream_is_a_failure(session: Session, upstream: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stream_health, "_SILENCE", 0.3)  # the stream of a test is short
    report = await behind(session, upstream, Habits(buffer=True))
    assert failed(report) == ["streaming"]
    assert "; buffered: nothing for" in the(report, "streaming").message
    assert "proxy that buffers" in the(report, "streaming").remedy


@pytest.mark.parametrize("media_type", ["text/plain", "application/octet-stream"])
async def test_events_with_another_media_type_are_named(session: Session, upstream: str, media_type: str):
    step = the(await behind(session, upstream, Habits(media_type=media_type)), "streaming")
    assert step.passed is False
    assert step.message.endswith(f" has the Content-Type {media_type}, but its body is a stream of events.")
    assert step.remedy.startswith("Send Content-Type: text/event-stream.")


async def test_a_card_that_bypasses_the_proxy_is_named(session: Session, upstream: str):
    report = await behind(session, upstream, Habits(prefix="/agents/one", card_url=""), "")
    step = the(report, "interface 1 address")
    assert step.passed
    assert "/agents/one, where the card is: calls do not pass through a proxy there" in step.message
    assert "URLs of the proxy" in step.remedy


@pytest.mark.parametrize(
    ("url", "is_below"),
    [
        ("https://agent.example/agents/one/a2a", True),
        ("https://agent.example:443/agents/one", True),
        ("HTTPS://Agent.Example/agents/one/", True),
        ("https://agent.example:8443/agents/one/a2a", False),
        ("http://agent.example/agents/one/a2a", False),
        ("https://agent.example/agents/oneself", False),
    ],
)
def test_an_interface_below_the_card_may_be_written_otherwise(url: str, is_below: bool):
    card = AgentCard(supported_interfaces=[AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version="1.0")])
    note = bypass(options(card)[0], "https://agent.example/agents/one/.well-known/agent-card.json")
    assert (note == "") is is_below


async def test_an_interface_below_the_path_of_the_proxy_is_proposed(session: Session, upstream: str):
    async with proxy(upstream, Habits(prefix="/agents/one", card_url="http://{netloc}")) as url:
        report = await examine(session, url)
    assert "interface 1 as 1.0 over JSONRPC" in failed(report)
    proposed = report.proposals[0]
    assert proposed.choice.interface.url.startswith(f"{url}/")
    assert proposed.reason.endswith(f"but the interface responded at {proposed.choice.interface.url}")


async def test_an_internal_host_is_replaced_in_a_proposal(session: Session, upstream: str):
    async with proxy(upstream, Habits(card_url="http://agent.internal:8080")) as url:
        report = await examine(session, url)
    step = the(report, "interface 1 address")
    assert "valid only in the network of the agent" in step.message
    assert step.remedy.startswith(f"Advertise the public address, perhaps {url}/")
    assert report.proposals[0].reason == "the card has agent.internal, but the interface responded at 127.0.0.1"


async def test_http_on_a_card_behind_tls_is_corrected(session: Session, upstream: str, tls: ssl.SSLContext):
    async with proxy(upstream, Habits(tls=tls, card_url="http://{netloc}")) as url:
        report = await examine(session, url)
    step = the(report, "interface 1 as 1.0 over JSONRPC")
    assert step.passed is False
    assert step.remedy == "Correct the URL on the card. Use https:// instead of http://."
    assert report.proposals[0].choice.interface.url.startswith(f"{url}/")


async def test_http_at_a_port_with_tls_is_corrected(session: Session, upstream: str, tls: ssl.SSLContext):
    async with proxy(upstream, Habits(tls=tls)) as url:
        assert (await examine(session, url)).passed
        report = await examine(session, url.replace("https://", "http://"))
    step = the(report, "protocol")
    assert (step.message, step.remedy) == ("The port uses TLS.", "Use https:// instead of http://.")
    assert report.fault is not None
    assert report.fault.code == FaultCode.UNREACHABLE


async def test_https_at_a_port_without_tls_is_corrected(session: Session, upstream: str):
    report = await examine(session, upstream.replace("http://", "https://"))
    assert failed(report) == ["tls"]
    assert the(report, "tls").message.endswith("The port uses no TLS.")
    assert the(report, "tls").remedy == "Use http:// instead of https://."


async def test_the_port_of_grpc_is_recognised(session: Session):
    server = grpc.aio.server()
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        report = await examine(session, f"http://127.0.0.1:{port}")
    finally:
        await server.stop(grace=None)
    assert the(report, "protocol").message == "The port uses only HTTP/2, without TLS."
    assert "gRPC port" in the(report, "protocol").remedy


@pytest.mark.parametrize(
    ("binding", "url", "seen", "remedy"),
    [
        ("JSONRPC", "http://127.0.0.1:{grpc}/", "The port uses only HTTP/2, without TLS.", "use the port for HTTP"),
        ("GRPC", "https://127.0.0.1:{grpc}", "The port uses no TLS.", "Use grpc:// or http:// instead of grpcs://"),
        ("GRPC", "127.0.0.1:{http}", "127.0.0.1:{http} does not use HTTP/2.", "Check that this is the gRPC port"),
        ("JSONRPC", "https://127.0.0.1:{http}", "The port uses no TLS.", "Use http:// instead of https://."),
    ],
)
async def test_a_wrong_port_or_scheme_on_the_card_is_named(
    session: Session, upstream: str, tmp_path: Path, binding: str, url: str, seen: str, remedy: str
):
    await session.connect(upstream)
    card = json.loads(session.connection.found.raw)
    [target] = [item["url"] for item in card["supportedInterfaces"] if item["protocolBinding"] == "GRPC"]
    ports = {"grpc": target.rpartition(":")[2], "http": upstream.rpartition(":")[2]}
    interface = {"url": url.format(**ports), "protocolBinding": binding, "protocolVersion": "1.0"}
    path = tmp_path / "card.json"
    path.write_text(json.dumps(card | {"supportedInterfaces": [interface]}))
    step = the(await examine(session, str(path)), f"interface 1 as 1.0 over {binding}")
    assert step.passed is False
    assert step.message.endswith(seen.format(**ports))
    assert remedy in step.remedy


@pytest.mark.parametrize("secure", [False, True], ids=["http", "https"])
async def test_a_port_with_http_2_only_is_recognised(session: Session, tls: ssl.SSLContext, secure: bool):
    tls.set_alpn_protocols(["h2"])
    async with http2_only(tls if secure else None) as url:
        report = await examine(session, url)
    assert the(report, "protocol").message.startswith("The port uses only HTTP/2, with")
    assert "allow HTTP/1.1" in the(report, "protocol").remedy


async def test_a_missing_operation_of_a_reached_agent_is_named(session: Session, upstream: str):
    step = the(await behind(session, upstream, Habits(missing=("SendStreamingMessage",))), "streaming")
    assert step.message == 'The interface returned 404 Not Found: {"detail":"Not Found"}.'
    assert step.remedy.startswith("The interface responded to GetTask, so that its URL is correct: the agent does not")
    assert "SendStreamingMessage" in step.remedy


async def test_the_words_of_the_agent_in_an_error_are_shown(session: Session, upstream: str):
    words = "KeyError: 'OPENAI_API_KEY' is not set"
    step = the(await behind(session, upstream, Habits(broken={"SendStreamingMessage": words})), "streaming")
    assert step.message == f"The interface returned 500 Internal Server Error: {words}."
