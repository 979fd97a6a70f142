"""One trial for each operation and for pushes: a session asks, and what the agent does about it must be right."""

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
HOOK = "http://127.0.0.1:9/nobody-calls-it"


class RefusedError(Exception):
    """The agent did not do what it was asked; the text is its answer in a few words."""


async def answer(turn: Call) -> object:
    """Make a call and return what the agent answered; raises `RefusedError` where it answered with a failure."""
    async with asyncio.timeout(SECONDS):
        fault = await turn.finish()
    if fault is not None:
        raise RefusedError(in_words(turn))
    return turn.exchange.answer


def in_words(turn: Call) -> str:
    """Say how a call failed: by the status of HTTP and the name of the error, with its code over JSON-RPC."""
    exchange, said = turn.exchange, turn.exchange.answer
    failed = exchange.head is not None and exchange.head.status >= 300
    words = [str(exchange.head.status)] if failed else []
    if isinstance(said, ProtocolError):
        words.append(said.name)
        words += [f"({said.code})"] if exchange.call.binding.name == "JSONRPC" else []
    elif failed:
        words.append(exchange.head.reason)
    return " ".join(words) or turn.fault.seen


async def until(session: Session, true: Callable[[], bool]) -> None:
    """Wait until something holds, looking again whenever the session has changed."""
    changed = asyncio.Event()
    unsubscribe = session.journal.subscribe(lambda _: changed.set())
    async with asyncio.timeout(SECONDS):
        while not true():
            changed.clear()
            await changed.wait()
    unsubscribe()


@asynccontextmanager
async def ticking(session: Session) -> AsyncIterator[TrackedTask]:
    """Keep a stream open whose task works until it is told to stop, and leave the stream in the end."""
    turn = session.send(text_draft("tick"), stream=True)
    following = asyncio.create_task(turn.finish())
    try:
        await until(session, lambda: following.done() or artifacts(session, turn) > 0)
        assert not following.done(), turn.fault
        yield session.tasks.get(turn.exchange.task_id)
    finally:
        following.cancel()
        await asyncio.wait([following])


def artifacts(session: Session, turn: Call) -> int:
    """Count the artifacts that came by a stream."""
    records = session.journal.capture.select()
    return sum(record.exchange == turn.exchange.number and record.event == "artifact" for record in records)


async def waiting_task(session: Session) -> str:
    """Start a task that waits for an answer, and return its id."""
    task = await answer(session.send(text_draft("input"), stream=False))
    assert isinstance(task, Task), task
    assert task.status.state == State.INPUT_REQUIRED
    return task.id


def push_config(task_id: str) -> PushConfig:
    """Make a configuration, with an id without hyphens: the SDK 0.2.16 knows no other over gRPC."""
    return PushConfig(task_id=task_id, id=uuid.uuid4().hex, url=HOOK, token="the-token")


def same(kept: object, config: PushConfig) -> bool:
    assert isinstance(kept, PushConfig), kept
    return (kept.task_id, kept.id, kept.url, kept.token) == (config.task_id, config.id, config.url, config.token)


def over_jsonrpc(session: Session) -> Choice:
    """Return the interface of the same agent over which every SDK does all that its version has."""
    return next(one for one in alternatives(session.connection.card) if one.binding.name == "JSONRPC")


async def registered(session: Session) -> PushConfig:
    """Start a task and register a webhook for it, by another way than the one on trial."""
    config = push_config(await waiting_task(session))
    kept = await answer(session.call(Operation.SET_PUSH, config, choice=over_jsonrpc(session)))
    assert same(kept, config)
    return config


async def send(session: Session) -> None:
    task = await answer(session.send(text_draft("stream 5"), stream=False))
    assert isinstance(task, Task), task
    assert task.status.state == State.COMPLETED
    assert "".join(part.text or "" for part in task.artifacts[0].parts) == CHUNKS


async def stream(session: Session) -> None:
    turn = session.send(text_draft("stream 5"), stream=True)
    await answer(turn)
    task = session.tasks.get(turn.exchange.task_id)
    assert task.answered.state == State.COMPLETED
    assert str(task.answered.artifacts["chunks"].text) == CHUNKS
    assert artifacts(session, turn) == 5


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
    kept = await answer(session.get(task.id))
    assert kept.status.state == State.CANCELED


async def subscribe(session: Session) -> None:
    async with ticking(session) as task:
        turn = session.subscribe(task.id)
        listening = asyncio.create_task(answer(turn))
        await until(session, lambda: listening.done() or artifacts(session, turn) > 0)
        await answer(session.send(text_draft(f"tock {task.id}"), stream=False))
        await listening
    assert turn.exchange.task_id == task.id
    assert turn.exchange.ending is Ending.COMPLETE
    assert isinstance(turn.exchange.answer, TaskStatusUpdateEvent), turn.exchange.answer
    assert turn.exchange.answer.status.state == State.COMPLETED


async def set_push(session: Session) -> None:
    config = push_config(await waiting_task(session))
    assert same(await answer(session.set_push(config)), config)


async def get_push(session: Session) -> None:
    config = await registered(session)
    assert same(await answer(session.get_push(config.task_id, config.id)), config)


async def list_push(session: Session) -> None:
    config = await registered(session)
    listed = await answer(session.list_push(config.task_id))
    assert isinstance(listed, PushConfigList), listed
    [kept] = listed.configs
    assert same(kept, config)


async def delete_push(session: Session) -> None:
    config = await registered(session)
    gone = await answer(session.delete_push(config.task_id, config.id))
    assert isinstance(gone, Deleted), gone
    asked = PushConfigRequest(task_id=config.task_id)
    left = await answer(session.call(Operation.LIST_PUSH, asked, choice=over_jsonrpc(session)))
    assert left.configs == []


async def extended_card(session: Session) -> None:
    card = await answer(session.extended_card())
    assert isinstance(card, AgentCard), card
    if "extended" not in [skill.id for skill in card.skills]:
        raise RefusedError("the public card")


async def pushes(session: Session) -> None:
    """Send with a webhook: what it is told must be what the stream tells."""
    await session.push.turn_on()
    turn = session.send(text_draft("push"), stream=True)
    await answer(turn)
    task = session.tasks.get(turn.exchange.task_id)
    await until(session, lambda: is_terminal(task.pushed.state))
    assert (task.pushed.state, task.answered.state) == (State.COMPLETED, State.COMPLETED)
    assert str(task.pushed.artifacts["chunks"].text) == str(task.answered.artifacts["chunks"].text) == CHUNKS
    assert turn.webhook.task_id == task.id
    assert (turn.webhook.accepted > 0, turn.webhook.refused) == (True, 0)


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
"""The columns of the table: the operation that each needs, and its trial."""
