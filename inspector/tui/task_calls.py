"""The calls behind the keys of the places: from the name of an operation to the turns that make it."""

from __future__ import annotations

from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.model import PushConfig, PushConfigList
from inspector.protocol.operations import Operation
from inspector.session.call import Call
from inspector.session.session import Session

_WITHOUT_TASK = frozenset({Operation.LIST, Operation.EXTENDED_CARD})


async def turns_for(session: Session, operation: str, task_id: str) -> list[Call]:
    """Prepare an operation; raises `FaultError` with the sentence for the user where it is not possible.

    Deleting the webhooks of a task asks for them first, because only the agent knows them all.
    """
    wanted = Operation(operation)
    if not task_id and wanted not in _WITHOUT_TASK:
        raise FaultError(Fault(Whose.YOURS, FaultCode.USAGE, "No task is selected.", "Send a message first."))
    match wanted:
        case Operation.GET:
            return [session.get(task_id)]
        case Operation.CANCEL:
            return [session.cancel(task_id)]
        case Operation.SUBSCRIBE:
            return [session.subscribe(task_id)]
        case Operation.LIST:
            return [session.list_tasks()]
        case Operation.EXTENDED_CARD:
            return [session.extended_card()]
        case Operation.GET_PUSH:
            return [session.get_push(task_id, _config_id(session, task_id))]
        case Operation.LIST_PUSH:
            return [session.list_push(task_id)]
        case Operation.DELETE_PUSH:
            return [session.delete_push(task_id, one.id or task_id) for one in await _webhooks(session, task_id)]
        case Operation.SET_PUSH:
            return [session.set_push(await _webhook(session, task_id))]
        case _:
            raise ValueError(f"{wanted} is not asked for by a key")


async def switch_push(session: Session) -> None:
    """Turn push on, starting the receiver, or off; raises `FaultError` where the receiver cannot listen."""
    push, connection = session.push, session.connection
    if push.on:
        push.turn_off()
        session.note("push off: new messages register no webhook")
        return
    await push.turn_on()
    host, port = push.receiver.address
    session.note(f"push on: the receiver listens on {host}:{port}")
    if connection is not None and not connection.card.capabilities.push_notifications:
        session.note("the card does not declare push notifications: none may come")


def _config_id(session: Session, task_id: str) -> str:
    """Return what the agent calls the last webhook of a task; generations without such ids take that of the task."""
    return next((hook.config_id for hook in reversed(session.push.hooks.of_task(task_id)) if hook.config_id), task_id)


async def _webhook(session: Session, task_id: str) -> PushConfig:
    """Register a webhook of our own for a task, starting the receiver if need be."""
    await session.push.listen()
    hook = session.push.register(task_id, generation=session.choice.dialect.generation)
    return hook.config.model_copy(update={"task_id": task_id})


async def _webhooks(session: Session, task_id: str) -> list[PushConfig]:
    """Ask the agent for the webhooks of a task."""
    turn = session.list_push(task_id)
    fault = await turn.finish()
    if fault is not None:
        raise FaultError(fault)
    answer = turn.exchange.answer
    configs = answer.configs if isinstance(answer, PushConfigList) else []
    if not configs:
        raise FaultError(Fault(Whose.YOURS, FaultCode.USAGE, "The agent has no webhook for this task."))
    return configs
