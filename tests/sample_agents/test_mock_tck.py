"""What the compatibility kits ask for, by the id of a message or by its first word."""

from __future__ import annotations

from typing import Any

import pytest
from inspector.sample_agents.server import MockAgent
from mock_peer import Peer, eventually, say, state_of, text_of

from inspector.protocol.model import Message, Part, TaskArtifactUpdateEvent
from inspector.protocol.operations import Operation


@pytest.fixture(params=[("1.0", "JSONRPC"), ("1.0", "GRPC"), ("0.3", "JSONRPC")], ids=" ".join)
def way(request: pytest.FixtureRequest) -> tuple[str, str]:
    """A few ways are enough: the kit's behaviours know nothing of them."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(params=["id", "word"])
def signed(request: pytest.FixtureRequest) -> Any:
    """Return what makes a request with a sign, in either place."""

    def made(sign: str, **members: Any) -> Any:
        named = say(sign if request.param == "word" else "hello", **members)
        if request.param == "word":
            return named
        message = named.message.model_copy(update={"message_id": f"{sign}-3f2a"})
        return named.model_copy(update={"message": message})

    return made


@pytest.mark.parametrize(
    ("sign", "state"),
    [
        ("tck-complete-task", "completed"),
        ("tck-input-required", "input_required"),
        ("tck-auth-required", "auth_required"),
        ("tck-reject-task", "rejected"),
        ("tck-task-failure", "failed"),
        ("tck-multi-turn", "input_required"),
        ("tck-whatever", "completed"),
    ],
)
async def test_a_task_comes_into_the_state_that_the_sign_says(peer: Peer, signed: Any, sign: str, state: str) -> None:
    assert state_of(await peer.call(Operation.SEND, signed(sign))) == state


@pytest.mark.parametrize(
    ("sign", "part"),
    [
        ("tck-artifact-text", {"text": "Generated text content"}),
        ("tck-artifact-file", {"raw": "R2VuZXJhdGVkIGZpbGUgY29udGVudA==", "filename": "output.txt"}),
        ("tck-artifact-file-url", {"url": "https://example.com/output.txt", "filename": "output.txt"}),
        ("tck-artifact-data", {"data": {"key": "value", "count": 42}}),
    ],
)
async def test_an_artifact_has_the_part_that_the_sign_says(
    peer: Peer, signed: Any, sign: str, part: dict[str, Any]
) -> None:
    task: Any = await peer.call(Operation.SEND, signed(sign))
    given = task.artifacts[0].parts[0]
    assert {name: getattr(given, name) for name in part} == part
    assert state_of(task) == "completed"


async def test_a_message_is_answered_with_a_message(peer: Peer, signed: Any) -> None:
    answer = await peer.call(Operation.SEND, signed("tck-message-response"))
    assert isinstance(answer, Message)
    assert text_of(answer.parts) == "Direct message response"


@pytest.mark.parametrize(
    ("sign", "text"),
    [
        ("tck-stream-001", ["Stream hello from TCK"]),
        ("tck-stream-002", []),
        ("tck-stream-003", ["Stream task lifecycle"]),
        ("tck-stream-ordering-001", ["Ordered output"]),
        ("tck-stream-artifact-text", ["Streamed text content"]),
        ("tck-stream-artifact-chunked", ["chunk-1 ", "chunk-2"]),
    ],
)
async def test_a_stream_brings_what_the_sign_says(peer: Peer, signed: Any, sign: str, text: list[str]) -> None:
    events: list[Any] = [item async for item in peer.stream(Operation.STREAM, signed(sign))]
    chunks = [event for event in events if isinstance(event, TaskArtifactUpdateEvent)]
    assert [text_of(chunk.artifact.parts) for chunk in chunks] == text
    assert [bool(chunk.last_chunk) for chunk in chunks] == [False] * (len(text) - 1) + [True] * bool(text)
    assert len({chunk.artifact.artifact_id for chunk in chunks}) <= 1
    assert [state_of(event) for event in events][-1] == "completed"


async def test_each_turn_does_what_its_own_sign_says_in_the_context_of_its_task(peer: Peer, signed: Any) -> None:
    asked: Any = await peer.call(Operation.SEND, signed("tck-input-required"))
    again: Any = await peer.call(Operation.SEND, signed("tck-input-required", task_id=asked.id))
    assert (again.id, again.context_id, state_of(again)) == (asked.id, asked.context_id, "input_required")
    done: Any = await peer.call(Operation.SEND, signed("tck-complete-task", task_id=asked.id))
    assert (done.context_id, state_of(done)) == (asked.context_id, "completed")
    assert sum(message.role == "ROLE_USER" for message in done.history) == 3


@pytest.mark.parametrize("identity", ["test-1", "test-get-message-id-3f", "a-message-id"])
async def test_the_kit_for_0_3_gets_tasks_that_go_on(peer: Peer, identity: str) -> None:
    request = say("hello")
    request = request.model_copy(update={"message": request.message.model_copy(update={"message_id": identity})})
    assert state_of(await peer.call(Operation.SEND, request)) == "input_required"


async def test_a_task_to_subscribe_to_stays_at_work(slow_peer: Peer, slow_agent: MockAgent) -> None:
    message = Message(message_id="test-resubscribe-message-id-1", role="ROLE_USER", parts=[Part(text="hello")])
    request = say("x").model_copy(update={"message": message})
    stream = slow_peer.stream(Operation.STREAM, request)
    first: Any = await anext(stream)
    await eventually(lambda: slow_agent.store.find(first.id).status.state == "TASK_STATE_WORKING")
    assert slow_agent.running == 1
    await stream.aclose()  # type: ignore[attr-defined]
