"""The card of an agent that is read over gRPC, because there is none over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from inspector.sample_agents.authentication import SECRET, Authenticator
from inspector.sample_agents.profile import Capability, Profile
from inspector.sample_agents.server import MockAgent

from inspector.capture.records import Kind, Record
from inspector.protocol.errors import FaultCode, FaultError, Whose
from inspector.session.card.lint import lint_reference
from inspector.session.compose.draft import text_draft
from inspector.session.doctor.doctor import Doctor
from inspector.session.doctor.steps import Timeouts
from inspector.session.session import Session
from inspector.session.settings import Settings

WITH_CARD = Profile(capabilities=frozenset(Capability))


@asynccontextmanager
async def serving(profile: Profile = WITH_CARD, authenticator: Authenticator | None = None) -> AsyncIterator[str]:
    """Serve the mock agent; return its gRPC address, `host:port`."""
    agent = MockAgent(profile, pace=0, authenticator=authenticator)
    await agent.start()
    try:
        yield agent.grpc_target
    finally:
        await agent.stop()


@asynccontextmanager
async def session(tmp_path: Path, **settings: Any) -> AsyncIterator[Session]:
    made = Session(tmp_path / "capture.a2a", Settings(**settings))
    try:
        yield made
    finally:
        await made.close()


async def fault_of(tmp_path: Path, reference: str, **settings: Any) -> FaultError:
    async with session(tmp_path, **settings) as made:
        with pytest.raises(FaultError) as raised:
            await made.connect(reference)
    return raised.value


def requests(made: Session) -> list[Record]:
    return list(made.journal.capture.select(kinds=(Kind.REQUEST,)))


async def test_a_card_is_read_over_grpc_and_calls_use_grpc(tmp_path: Path):
    async with serving() as target, session(tmp_path) as made:
        connection = await made.connect(f"grpc://{target}")
        assert (connection.card.name, connection.url) == ("Mock Agent", f"grpc://{target}")
        assert made.choice.binding.name == "GRPC"
        [attempt] = connection.attempts
        assert attempt.url == f"grpc://{target}/lf.a2a.v1.A2AService/GetExtendedAgentCard"
        call = made.send(text_draft("echo hi"), stream=False)
        assert await call.finish() is None
        assert [record.meta["url"].split("/")[-1] for record in requests(made)] == [
            "GetExtendedAgentCard",
            "SendMessage",
        ]
        refreshed = await made.refresh()
        assert refreshed.card == connection.card
        assert requests(made)[-1].meta["url"].endswith("GetExtendedAgentCard")


@pytest.mark.parametrize(("versions", "method"), [(("0.3",), "GetAgentCard"), (("1.0", "0.3"), "GetExtendedAgentCard")])
async def test_the_newest_service_of_the_agent_is_used(tmp_path: Path, versions: tuple[str, ...], method: str):
    async with serving(replace(WITH_CARD, versions=versions)) as target, session(tmp_path) as made:
        connection = await made.connect(f"grpc://{target}")
        assert connection.attempts[-1].url.endswith(method)
        assert len(connection.attempts) == 2 - len(versions) + 1
        assert made.choice.dialect.version == versions[0]


async def test_only_the_requested_version_is_tried(tmp_path: Path):
    async with serving() as target, session(tmp_path, version="0.3") as made:
        connection = await made.connect(f"grpc://{target}")
        assert connection.attempts[-1].url.endswith("/a2a.v1.A2AService/GetAgentCard")
        assert made.choice.dialect.version == "0.3"


async def test_a_port_without_http_is_asked_over_grpc_if_the_binding_is_preferred(tmp_path: Path):
    async with serving() as target:
        async with session(tmp_path / "a", transports=("GRPC",)) as made:
            connection = await made.connect(target)
            assert (connection.reference, connection.url) == (target, f"grpc://{target}")
            assert (await made.refresh()).url == f"grpc://{target}"
        error = await fault_of(tmp_path / "b", target)
        assert f"If it is its gRPC port, use grpc://{target}." in error.fault.hint


async def test_the_fault_of_a_preferred_binding_is_about_both(tmp_path: Path):
    error = await fault_of(tmp_path, "127.0.0.1:1", transports=("GRPC",))
    assert error.fault.code == FaultCode.UNREACHABLE
    assert error.fault.seen.count("refused") == 2


async def test_an_agent_without_an_extended_card_is_explained(tmp_path: Path):
    async with serving(Profile(versions=("1.0",))) as target:
        error = await fault_of(tmp_path, f"grpc://{target}")
    assert error.fault.code == FaultCode.CARD_NOT_FOUND
    assert error.fault.seen.startswith("No card over gRPC: The agent does not support")
    assert "Save its card in a file" in error.fault.hint


async def test_another_service_is_not_an_agent(tmp_path: Path):
    server = grpc.aio.server()
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        error = await fault_of(tmp_path, f"grpc://127.0.0.1:{port}")
    finally:
        await server.stop(None)
    assert error.fault.code == FaultCode.CARD_NOT_FOUND
    for service in ("lf.a2a.v1.A2AService", "a2a.v1.A2AService", "lf.a2a.v1.OPVSService"):
        assert f"/{service}/" in error.fault.seen


@pytest.mark.parametrize("reference", ["grpc://127.0.0.1:PORT", "grpc:/127.0.0.1:PORT"])
async def test_a_port_for_http_is_not_asked_for_every_version(tmp_path: Path, reference: str):
    agent = MockAgent(pace=0)
    url = await agent.start()
    try:
        error = await fault_of(tmp_path, reference.replace("PORT", url.rpartition(":")[2]))
    finally:
        await agent.stop()
    assert "does not use HTTP/2" in error.fault.seen
    assert error.fault.hint.startswith("Check that this is the gRPC port")
    assert error.fault.whose is Whose.YOURS


@pytest.mark.parametrize(
    "reference", ["grpc://", "grpc://[::1", "grpc://host:99999999", "grpc:///x", "GRPC://127.0.0.1:1"]
)
async def test_invalid_and_dead_addresses_are_faults(tmp_path: Path, reference: str):
    error = await fault_of(tmp_path, reference)
    assert error.fault.seen
    assert error.fault.hint


async def test_credentials_are_sent_for_the_card_only_after_the_agent_has_asked(tmp_path: Path):
    async with serving(authenticator=Authenticator("bearer", SECRET)) as target:
        error = await fault_of(tmp_path / "a", f"grpc://{target}")
        assert error.fault.code == FaultCode.CREDENTIALS_MISSING
        headers = {"Authorization": f"Bearer {SECRET}"}
        async with session(tmp_path / "b", headers=headers) as made:
            assert (await made.connect(f"grpc://{target}")).card.name == "Mock Agent"
            sent = ["authorization" in dict(record.meta["headers"]) for record in requests(made)]
            assert sent == [False, True]
        async with session(tmp_path / "c", headers=headers, auth_card=True) as made:
            await made.connect(f"grpc://{target}")
            assert len(requests(made)) == 1


async def test_the_card_is_linted_and_examined(tmp_path: Path):
    async with serving() as target, session(tmp_path) as made:
        found = await lint_reference(made, f"grpc://{target}")
        assert found.version == "1.0"
        assert [finding.rule for finding in found.findings] == ["CARD-090"]
        doctor = Doctor(made, f"grpc://{target}")
        steps = [step async for step in doctor.examine()]
        assert [step.name for step in steps[:4]] == ["name", "tcp", "card over GRPC", "card content"]
        assert doctor.report.passed


async def test_the_doctor_reads_the_card_over_grpc_if_that_is_requested(tmp_path: Path):
    async with serving() as target, session(tmp_path, transports=("GRPC",)) as made:
        doctor = Doctor(made, target)
        steps = [step async for step in doctor.examine()]
        assert {step.name: step.passed for step in steps[2:5]} == {
            "card at /.well-known/agent-card.json": None,
            "protocol": None,
            "card over GRPC": True,
        }
        assert doctor.report.passed


async def test_the_doctor_explains_a_port_without_a_card(tmp_path: Path):
    async with serving(Profile()) as target, session(tmp_path) as made:
        doctor = Doctor(made, f"grpc://{target}")
        steps = [step async for step in doctor.examine()]
        assert (steps[-1].name, steps[-1].passed) == ("card over GRPC", False)
        assert "Save its card in a file" in steps[-1].remedy


async def test_the_doctor_does_not_wait_for_ever(tmp_path: Path):
    async def never(_: Any, __: Any) -> bytes:
        await asyncio.sleep(60)
        return b""

    server = grpc.aio.server()
    handler = grpc.unary_unary_rpc_method_handler(never)
    methods = {"GetExtendedAgentCard": handler}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("lf.a2a.v1.A2AService", methods),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with session(tmp_path) as made:
            doctor = Doctor(made, f"grpc://127.0.0.1:{port}", timeouts=Timeouts(call=0.3))
            steps = [step async for step in doctor.examine()]
    finally:
        await server.stop(None)
    assert (steps[-1].name, steps[-1].message) == ("card over GRPC", "no response within 0.3 s")
