"""The limits of the task store."""

from __future__ import annotations

import asyncio

import pytest
from inspector.sample_agents.errors import CallError
from inspector.sample_agents.task_context import status_update
from inspector.sample_agents.task_store import MAX_BEHIND, ContentSize, Store, Subscription, TaskRecord, now

from inspector.protocol.lifecycle import State
from inspector.protocol.model import (
    Artifact,
    Message,
    Part,
    TaskArtifactUpdateEvent,
    TaskStatus,
    TaskStatusUpdateEvent,
)


def finish(record: TaskRecord, state: State = State.COMPLETED) -> TaskRecord:
    record.publish(status_update(record, state))
    return record


def chunk(record: TaskRecord, text: str, *, append: bool, artifact_id: str = "a") -> TaskArtifactUpdateEvent:
    artifact = Artifact(artifact_id=artifact_id, parts=[Part(text=text)])
    return TaskArtifactUpdateEvent(
        task_id=record.task_id, context_id=record.context_id, artifact=artifact, append=append
    )


async def test_the_oldest_ended_task_is_removed_first() -> None:
    store = Store(max_tasks=3)
    working, done, later = (store.create("c", "s") for _ in range(3))
    finish(done)
    finish(later)
    newest = store.create("c", "s")
    assert list(store) == [working, later, newest]
    with pytest.raises(CallError, match=done.task_id):
        store.find(done.task_id)


async def test_an_interrupted_task_is_removed_if_none_has_ended_and_its_streams_end() -> None:
    store = Store(max_tasks=2)
    waiting, working = finish(store.create("c", "s"), State.INPUT_REQUIRED), store.create("c", "s")
    reader = Subscription()
    waiting.subscribe(reader)
    newest = store.create("c", "s")
    assert list(store) == [working, newest]
    assert len(await reader.next_events()) == 1
    assert await reader.next_events() == []


async def test_a_store_full_of_running_tasks_rejects_new_tasks() -> None:
    store = Store(max_tasks=1)
    store.create("c", "s")
    with pytest.raises(CallError, match="Too many tasks"):
        store.create("c", "s")


async def test_large_tasks_are_removed_before_the_limit_of_tasks() -> None:
    store = Store(max_characters=1000)
    large = store.create("c", "s")
    large.receive(Message(parts=[Part(text="x" * 900)]))
    large.publish(chunk(large, "x" * 900, append=False))
    finish(large)
    small = store.create("c", "s")
    another = store.create("c", "s")
    assert list(store) == [small, another]


async def test_the_size_of_a_task_includes_status_messages_and_not_what_was_replaced() -> None:
    record = Store().create("c", "s")
    for _ in range(3):
        record.publish(chunk(record, "x" * 100, append=False))
    assert record.characters == 100
    record.publish(chunk(record, "x" * 100, append=True))
    status = TaskStatus(state=State.WORKING, message=Message(parts=[Part(text="y" * 50)]))
    for _ in range(2):
        record.publish(TaskStatusUpdateEvent(status=status))
    assert record.characters == 300
    task = record.snapshot().task()
    assert TaskRecord.restored(task, "s", 0, now(), ContentSize()).characters == 300


async def test_a_snapshot_does_not_change_with_the_task() -> None:
    record = Store().create("c", "s")
    record.receive(Message(message_id="1", parts=[Part(text="one")]))
    record.publish(chunk(record, "a", append=False))
    record.publish(chunk(record, "b", append=True))
    before = record.snapshot()
    record.receive(Message(message_id="2", parts=[Part(text="two")]))
    record.publish(chunk(record, "c", append=True))
    record.publish(chunk(record, "new", append=False))
    record.publish(chunk(record, "other", append=True, artifact_id="b"))
    finish(record)
    then, now = before.task(), record.snapshot().task()
    assert [[part.text for part in artifact.parts] for artifact in then.artifacts or ()] == [["a", "b"]]
    assert [[part.text for part in artifact.parts] for artifact in now.artifacts or ()] == [["new"], ["other"]]
    assert [message.message_id for message in then.history or ()] == ["1"]
    assert (then.status.state, now.status.state) == ("TASK_STATE_SUBMITTED", "TASK_STATE_COMPLETED")


async def test_an_ended_task_cannot_change() -> None:
    record = finish(Store().create("c", "s"))
    with pytest.raises(RuntimeError, match="ended"):
        finish(record, State.WORKING)


async def test_a_task_waits_for_a_slow_subscription() -> None:
    record = Store().create("c", "s")
    reader = Subscription()
    record.subscribe(reader)
    for number in range(MAX_BEHIND):
        record.publish(chunk(record, str(number), append=True))
    waiting = asyncio.create_task(reader.wait_for_space())
    await asyncio.sleep(0)
    assert not waiting.done()
    for _ in range(MAX_BEHIND):
        if waiting.done():
            break
        assert await reader.next_events()
        await asyncio.sleep(0)
    await asyncio.wait_for(waiting, 1)
