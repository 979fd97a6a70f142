"""gRPC: metadata of calls, and the statuses and details of errors in each release."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import grpc.aio
import pytest
from inspector.sample_agents.extension import URI
from inspector.sample_agents.profile import Profile
from inspector.sample_agents.server import MAX_BODY, MockAgent
from mock_peer import Peer, eventually, peer_for, say

from inspector.protocol.bindings import protobuf
from inspector.protocol.bindings.grpc import DETAILS
from inspector.protocol.errors import ProtocolError
from inspector.protocol.model import Message, Part, SendRequest, Task, TaskRequest
from inspector.protocol.operations import Operation

SERVICE = "/lf.a2a.v1.A2AService/"


async def error_of(agent: MockAgent, method: str, raw: bytes, *metadata: tuple[str, str]) -> Any:
    """Return the error of a unary call."""
    async with grpc.aio.insecure_channel(agent.grpc_target) as channel:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await channel.unary_unary(SERVICE + method)(raw, metadata=metadata)
    return caught.value


def reason(error: Any) -> str:
    raw = dict(error.trailing_metadata())[DETAILS]
    status: Any = protobuf.read("status", "Status", raw)
    assert status["details"][0]["domain"] == "a2a-protocol.org"
    assert (status["code"], status["message"]) == (error.code().value[0], error.details())
    return str(status["details"][0]["reason"])


def request(name: str, value: Any) -> bytes:
    return protobuf.write("v1_0", name, value)


@pytest.mark.parametrize("release", ["1.0.0", "1.0.1"])
async def test_errors_have_the_status_of_their_release(session: aiohttp.ClientSession, release: str) -> None:
    agent = MockAgent(Profile(("1.0",), release), pace=0)
    await agent.start()
    try:
        over = (await peer_for(session, agent, "1.0", "GRPC").send("fail")).id
        moved = grpc.StatusCode.UNIMPLEMENTED if release == "1.0.0" else grpc.StatusCode.FAILED_PRECONDITION
        get = request("GetTaskRequest", {"id": "x"})
        for method, raw, metadata, status, why in (
            ("GetTask", get, (), grpc.StatusCode.NOT_FOUND, "TASK_NOT_FOUND"),
            ("GetTask", get, (("a2a-version", "99.0"),), moved, "VERSION_NOT_SUPPORTED"),
            ("GetExtendedAgentCard", b"", (), moved, "UNSUPPORTED_OPERATION"),
            (
                "CancelTask",
                request("CancelTaskRequest", {"id": over}),
                (),
                grpc.StatusCode.FAILED_PRECONDITION,
                "TASK_NOT_CANCELABLE",
            ),
            ("SendMessage", b"", (), grpc.StatusCode.INVALID_ARGUMENT, "INVALID_PARAMS"),
            ("SendMessage", b"\xff\xff", (), grpc.StatusCode.INVALID_ARGUMENT, "INVALID_PARAMS"),
        ):
            error = await error_of(agent, method, raw, *metadata)
            assert (error.code(), reason(error)) == (status, why)
            assert "Traceback" not in error.details()
    finally:
        await agent.stop()


async def test_a_call_without_version_has_that_of_its_service(agent: MockAgent) -> None:
    async with grpc.aio.insecure_channel(agent.grpc_target) as channel:
        for metadata in ((), (("a2a-version", "1.0"),), (("a2a-version", "1.7"),)):
            assert await channel.unary_unary(SERVICE + "ListTasks")(b"", metadata=metadata)


async def test_an_unknown_method_and_an_unknown_service_are_unimplemented(agent: MockAgent) -> None:
    for method in ("Explode", "../lf.a2a.v2.A2AService/GetTask"):
        assert (await error_of(agent, method, b"")).code() is grpc.StatusCode.UNIMPLEMENTED


async def test_a_too_large_message_is_rejected(agent: MockAgent) -> None:
    error = await error_of(agent, "SendMessage", b"\x00" * (MAX_BODY + 1))
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_the_message_of_a_0_3_error_starts_with_its_name(
    agent: MockAgent, session: aiohttp.ClientSession
) -> None:
    answer = await peer_for(session, agent, "0.3", "GRPC").task("x")
    assert isinstance(answer, ProtocolError)
    assert answer.message == "TaskNotFoundError: Task 'x' does not exist."
    assert answer.data is None


async def test_an_error_before_a_stream_ends_the_call_without_a_message(
    agent: MockAgent, session: aiohttp.ClientSession
) -> None:
    peer = peer_for(session, agent, "1.0", "GRPC")
    items = [item async for item in peer.stream(Operation.SUBSCRIBE, TaskRequest(id="x"))]
    assert [item.code for item in items if isinstance(item, ProtocolError)] == [-32001]
    assert len(items) == 1


async def test_members_unknown_to_protobuf_are_omitted(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    part = Part.model_validate({"text": "ask", "invented": 1})
    message = Message.model_validate({"messageId": "m", "role": "ROLE_USER", "parts": [part], "own": {"x": 1}})
    task = await peer_for(session, agent, "1.0").call(Operation.SEND, SendRequest(message=message))
    assert isinstance(task, Task)
    seen = await peer_for(session, agent, "1.0", "GRPC").task(task.id)
    assert seen.history[0].parts == [Part(text="ask")]


async def test_the_extension_numbers_the_events_of_a_stream(agent: MockAgent, session: aiohttp.ClientSession) -> None:
    peer = peer_for(session, agent, "1.0", "GRPC")
    peer.headers = {"A2A-Extensions": URI}
    assert [event.metadata[URI] for event in await peer.events("report 3")] == [1, 2, 3, 4, 5, 6]
    peer.headers = {}
    assert all(event.metadata is None for event in await peer.events("report 3"))


async def test_a_disconnected_client_leaves_no_subscription(
    slow_agent: MockAgent, session: aiohttp.ClientSession
) -> None:
    peer = peer_for(session, slow_agent, "1.0", "GRPC")

    async def read(peer: Peer) -> None:
        async for _ in peer.stream(Operation.STREAM, say("long 3600")):
            pass

    reading = asyncio.create_task(read(peer))
    await eventually(lambda: any(record.subscriptions for record in slow_agent.store))
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    await eventually(
        lambda: all(subscription.ended for record in slow_agent.store for subscription in record.subscriptions)
    )
