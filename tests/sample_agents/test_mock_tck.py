"""The behaviours for the compatibility kits, selected by messageId or first word."""

from __future__ import annotations

from typing import Any

import pytest
from inspector.sample_agents.server import MockAgent
from mock_peer import Peer, eventually, say, state_of, text_of

from inspector.protocol.model import Message, Part, TaskArtifactUpdateEvent
from inspector.protocol.operations import Operation


@pytest.fixture(params=[("1.0", "JSONRPC"), ("1.0", "GRPC"), ("0.3", "JSONRPC")], ids=" ".join)
def way(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Three combinations are enough: the behaviours do not depend on them."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(params=["id", "word"])
def with_prefix(request: pytest.FixtureRequest) -> Any:
    """Return a function that creates a request with a prefix in its messageId or its text."""

    def made(prefix: str, **members: Any) -> Any:
        sent = say(prefix if request.param == "word" else "hello", **members)
        if request.param == "word":
            return sent
        message = sent.message.model_copy(update={"message_id": f"{prefix}-3f2a"})
        return sent.model_copy(update={"message": message})

    return made


@pytest.mark.parametrize(
    ("prefix", "state"),
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
async def test_the_prefix_selects_the_state(peer: Peer, with_prefix: Any, prefix: str, state: str) -> None:
    assert state_of(await peer.call(Operation.SEND, with_prefix(prefix))) == state


@pytest.mark.parametrize(
    ("prefix", "part"),
    [
        ("tck-artifact-text", {"text": "Generated text content"}),
        ("tck-artifact-file", {"raw": "R2VuZXJhdGVkIGZpbGUgY29udGVudA==", "filename": "output.txt"}),
        ("tck-artifact-file-url", {"url": "https://example.com/output.txt", "filename": "output.txt"}),
        ("tck-artifact-data", {"data": {"key": "value", "count": 42}}),
    ],
)
async def test_the_prefix_selects_the_part_of_the_artifact(
    peer: Peer, with_prefix: Any, prefix: str, part: dict[str, Any]
) -> None:
    task: Any = await peer.call(Operation.SEND, with_prefix(prefix))
    received = task.artifacts[0].parts[0]
    assert {name: getattr(received, name) for name in part} == part
    assert state_of(task) == "completed"


async def test_a_message_is_answered_with_a_message(peer: Peer, with_prefix: Any) -> None:
    answer = await peer.call(Operation.SEND, with_prefix("tck-message-response"))
    assert isinstance(answer, Message)
    assert text_of(answer.parts) == "Direct message response"


@pytest.mark.parametrize(
    ("prefix", "text"),
    [
        ("tck-stream-001", ["Stream hello from TCK"]),
        ("tck-stream-002", []),
        ("tck-stream-003", ["Stream task lifecycle"]),
        ("tck-stream-ordering-001", ["Ordered output"]),
        ("tck-stream-artifact-text", ["Streamed text content"]),
        ("tck-stream-artifact-chunked", ["chunk-1 ", "chunk-2"]),
    ],
)
async def test_the_prefix_selects_the_content_of_the_stream(
    peer: Peer, with_prefix: Any, prefix: str, text: list[str]
) -> None:
    events: list[Any] = [item async for item in peer.stream(Operation.STREAM, with_prefix(prefix))]
    chunks = [event for event in events if isinstance(event, TaskArtifactUpdateEvent)]
    assert [text_of(chunk.artifact.parts) for chunk in chunks] == text
    assert [bool(chunk.last_chunk) for chunk in chunks] == [False] * (len(text) - 1) + [True] * bool(text)
    assert len({chunk.artifact.artifact_id for chunk in chunks}) <= 1
    assert [state_of(event) for event in events][-1] == "completed"


async def test_each_message_to_a_task_selects_its_own_behaviour(peer: Peer, with_prefix: Any) -> None:
    asked: Any = await peer.call(Operation.SEND, with_prefix("tck-input-required"))
    again: Any = await peer.call(Operation.SEND, with_prefix("tck-input-required", task_id=asked.id))
    assert (again.id, again.context_id, state_of(again)) == (asked.id, asked.context_id, "input_required")
    done: Any = await peer.call(Operation.SEND, with_prefix("tck-complete-task", task_id=asked.id))
    assert (done.context_id, state_of(done)) == (asked.context_id, "completed")
    assert sum(message.role == "ROLE_USER" for message in done.history) == 3


@pytest.mark.parametrize("identity", ["test-1", "test-get-message-id-3f", "a-message-id"])
async def test_the_kit_for_0_3_gets_tasks_that_ask_for_input(peer: Peer, identity: str) -> None:
    request = say("hello")
    request = request.model_copy(update={"message": request.message.model_copy(update={"message_id": identity})})
    assert state_of(await peer.call(Operation.SEND, request)) == "input_required"


async def test_a_task_to_subscribe_to_keeps_running(slow_peer: Peer, slow_agent: MockAgent) -> None:
    message = Message(message_id="test-resubscribe-message-id-1", role="ROLE_USER", parts=[Part(text="hello")])
    request = say("x").model_copy(update={"message": message})
    stream = slow_peer.stream(Operation.STREAM, request)
    first: Any = await anext(stream)
    await eventually(lambda: slow_agent.store.find(first.id).status.state == "TASK_STATE_WORKING")
    assert slow_agent.running == 1
    await stream.aclose()  # type: ignore[attr-defined]
