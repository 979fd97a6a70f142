"""Check each operation and pushes with a session; the result must be correct."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from inspector.protocol.card import AgentCard
from inspector.protocol.errors import ProtocolError
from inspector.protocol.lifecycle import State, is_terminal
from inspector.protocol.model import (
    Deleted,
    PushConfig,
    PushConfigList,
    PushConfigRequest,
    Task,
    TaskList,
    TaskStatusUpdateEvent,
)
from inspector.protocol.operations import Operation
from inspector.protocol.selection import Choice, alternatives
from inspector.session.call import Call
from inspector.session.compose.draft import text_draft
from inspector.session.session import Session
from inspector.session.tasks import TrackedTask
from inspector.wire.client.observations import Ending

SECONDS = 20
CHUNKS = "".join(f"chunk {number} " for number in range(1, 6))
WEBHOOK_URL = "http://127.0.0.1:9/never-called"


class RefusedError(Exception):
    """Raised if the agent rejects an operation; the text is its error."""


async def answer(call: Call) -> object:
    """Make a call and return the response; raises `RefusedError` for an error response."""
    async with asyncio.timeout(SECONDS):
        fault = await call.finish()
    if fault is not None:
        raise RefusedError(describe_failure(call))
    return call.exchange.answer


def describe_failure(call: Call) -> str:
    """Describe a failed call: HTTP status and name of the error, with its code over JSON-RPC."""
    exchange, response = call.exchange, call.exchange.answer
    failed = exchange.head is not None and exchange.head.status >= 300
    words = [str(exchange.head.status)] if failed else []
    if isinstance(response, ProtocolError):
        words.append(response.name)
        words += [f"({response.code})"] if exchange.context.binding.name == "JSONRPC" else []
    elif failed:
        words.append(exchange.head.reason)
    return " ".join(words) or call.fault.seen


async def until(session: Session, condition: Callable[[], bool]) -> None:
    """Wait until a condition is true; check it after each change of the session."""
    changed = asyncio.Event()
    unsubscribe = session.journal.subscribe(lambda _: changed.set())
    async with asyncio.timeout(SECONDS):
        while not condition():
            changed.clear()
            await changed.wait()
    unsubscribe()


@asynccontextmanager
async def ticking(session: Session) -> AsyncIterator[TrackedTask]:
    """Keep a stream of a running task open, and close it at the end; a message `tock TASK` ends the task."""
    call = session.send(text_draft("tick"), stream=True)
    following = asyncio.create_task(call.finish())
    try:
        await until(session, lambda: following.done() or artifacts(session, call) > 0)
        assert not following.done(), call.fault
        yield session.tasks.get(call.exchange.task_id)
    finally:
        following.cancel()
        await asyncio.wait([following])


def artifacts(session: Session, call: Call) -> int:
    """Return the number of artifact updates in a stream."""
    records = session.journal.capture.select()
    return sum(record.exchange == call.exchange.number and record.event == "artifact" for record in records)


async def waiting_task(session: Session) -> str:
    """Start a task that asks for input and return its id."""
    task = await answer(session.send(text_draft("input"), stream=False))
    assert isinstance(task, Task), task
    assert task.status.state == State.INPUT_REQUIRED
    return task.id


def push_config(task_id: str) -> PushConfig:
    """Return a push configuration; its id has no hyphens, as SDK 0.2.16 requires over gRPC."""
    return PushConfig(task_id=task_id, id=uuid.uuid4().hex, url=WEBHOOK_URL, token="the-token")


def same(stored: object, config: PushConfig) -> bool:
    assert isinstance(stored, PushConfig), stored
    return (stored.task_id, stored.id, stored.url, stored.token) == (
        config.task_id,
        config.id,
        config.url,
        config.token,
    )


def over_jsonrpc(session: Session) -> Choice:
    """Return the JSON-RPC interface of the agent: over it, every SDK implements all operations."""
    return next(choice for choice in alternatives(session.connection.card) if choice.binding.name == "JSONRPC")


async def registered(session: Session) -> PushConfig:
    """Start a task and register a webhook for it over JSON-RPC."""
    config = push_config(await waiting_task(session))
    stored = await answer(session.call(Operation.SET_PUSH, config, choice=over_jsonrpc(session)))
    assert same(stored, config)
    return config


async def send(session: Session) -> None:
    task = await answer(session.send(text_draft("stream 5"), stream=False))
    assert isinstance(task, Task), task
    assert task.status.state == State.COMPLETED
    assert "".join(part.text or "" for part in task.artifacts[0].parts) == CHUNKS


async def stream(session: Session) -> None:
    call = session.send(text_draft("stream 5"), stream=True)
    await answer(call)
    task = session.tasks.get(call.exchange.task_id)
    assert task.answered.state == State.COMPLETED
    assert str(task.answered.artifacts["chunks"].text) == CHUNKS
    assert artifacts(session, call) == 5


async def get(session: Session) -> None:
    task_id = await waiting_task(session)
    task = await answer(session.get(task_id))
    assert isinstance(task, Task), task
    assert (task.id, task.status.state) == (task_id, State.INPUT_REQUIRED)


async def list_tasks(session: Session) -> None:
    task_id = await waiting_task(session)
    listed = await answer(session.list_tasks())
    assert isinstance(listed, TaskList), listed
    assert task_id in [task.id for task in listed.tasks]


async def cancel(session: Session) -> None:
    async with ticking(session) as task:
        canceled = await answer(session.cancel(task.id))
        assert isinstance(canceled, Task), canceled
        assert (canceled.id, canceled.status.state) == (task.id, State.CANCELED)
    stored = await answer(session.get(task.id))
    assert stored.status.state == State.CANCELED


async def subscribe(session: Session) -> None:
    async with ticking(session) as task:
        call = session.subscribe(task.id)
        listening = asyncio.create_task(answer(call))
        await until(session, lambda: listening.done() or artifacts(session, call) > 0)
        await answer(session.send(text_draft(f"tock {task.id}"), stream=False))
        await listening
    assert call.exchange.task_id == task.id
    assert call.exchange.ending is Ending.COMPLETE
    assert isinstance(call.exchange.answer, TaskStatusUpdateEvent), call.exchange.answer
    assert call.exchange.answer.status.state == State.COMPLETED


async def set_push(session: Session) -> None:
    config = push_config(await waiting_task(session))
    try:
        stored = await answer(session.set_push(config))
    except RefusedError:
        if not session.has_push_body:
            raise
        stored = await answer(session.set_push(config, whole_body=True))  # as the Python SDK 0.3 reads it
    assert same(stored, config)


async def get_push(session: Session) -> None:
    config = await registered(session)
    assert same(await answer(session.get_push(config.task_id, config.id)), config)


async def list_push(session: Session) -> None:
    config = await registered(session)
    listed = await answer(session.list_push(config.task_id))
    assert isinstance(listed, PushConfigList), listed
    [stored] = listed.configs
    assert same(stored, config)


async def delete_push(session: Session) -> None:
    config = await registered(session)
    deleted = await answer(session.delete_push(config.task_id, config.id))
    assert isinstance(deleted, Deleted), deleted
    request = PushConfigRequest(task_id=config.task_id)
    remaining = await answer(session.call(Operation.LIST_PUSH, request, choice=over_jsonrpc(session)))
    assert remaining.configs == []


async def extended_card(session: Session) -> None:
    card = await answer(session.extended_card())
    assert isinstance(card, AgentCard), card
    if "extended" not in [skill.id for skill in card.skills]:
        raise RefusedError("the public card")


async def pushes(session: Session) -> None:
    """Send with a webhook: pushes and stream must have the same content."""
    await session.push.turn_on()
    call = session.send(text_draft("push"), stream=True)
    await answer(call)
    task = session.tasks.get(call.exchange.task_id)
    await until(session, lambda: is_terminal(task.pushed.state))
    assert (task.pushed.state, task.answered.state) == (State.COMPLETED, State.COMPLETED)
    assert str(task.pushed.artifacts["chunks"].text) == str(task.answered.artifacts["chunks"].text) == CHUNKS
    assert call.webhook.task_id == task.id
    assert (call.webhook.accepted > 0, call.webhook.refused) == (True, 0)


Trial = Callable[[Session], Awaitable[None]]

TRIALS: dict[str, tuple[Operation, Trial]] = {
    "send": (Operation.SEND, send),
    "stream": (Operation.STREAM, stream),
    "get": (Operation.GET, get),
    "list": (Operation.LIST, list_tasks),
    "cancel": (Operation.CANCEL, cancel),
    "subscribe": (Operation.SUBSCRIBE, subscribe),
    "set push": (Operation.SET_PUSH, set_push),
    "get push": (Operation.GET_PUSH, get_push),
    "list push": (Operation.LIST_PUSH, list_push),
    "delete push": (Operation.DELETE_PUSH, delete_push),
    "extended card": (Operation.EXTENDED_CARD, extended_card),
    "pushes": (Operation.STREAM, pushes),
}
"""The columns of the table: the operation of each column and its check."""
