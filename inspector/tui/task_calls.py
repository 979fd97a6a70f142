"""Prepare the calls of operations that the user requests with a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.protocol.model import PushConfig, PushConfigList
from inspector.protocol.operations import Operation
from inspector.session.session import Session

if TYPE_CHECKING:
    from inspector.session.call import Call


SELECT_TASK = "Send a message, or open a task in Tasks."
"""What to do if no task is selected."""


async def calls_for(session: Session, operation: Operation, task_id: str) -> list[Call]:
    """Return the calls of an operation, not started; raises `FaultError` if the operation is not possible.

    Before webhooks are deleted, the agent is asked for the list, because only the agent knows all of them.
    """
    if not task_id and operation is not Operation.EXTENDED_CARD:
        raise FaultError(Fault(Whose.YOURS, FaultCode.USAGE, "No task is selected.", SELECT_TASK))
    match operation:
        case Operation.GET:
            return [session.get(task_id)]
        case Operation.CANCEL:
            return [session.cancel(task_id)]
        case Operation.SUBSCRIBE:
            return [session.subscribe(task_id)]
        case Operation.EXTENDED_CARD:
            return [session.extended_card()]
        case Operation.GET_PUSH:
            webhooks = reversed(session.push.registrations.of_task(task_id))
            # Protocol versions without webhook ids use the task id.
            config_id = next((webhook.config_id for webhook in webhooks if webhook.config_id), task_id)
            return [session.get_push(task_id, config_id)]
        case Operation.LIST_PUSH:
            return [session.list_push(task_id)]
        case Operation.DELETE_PUSH:
            return [session.delete_push(task_id, config.id or task_id) for config in await _configs(session, task_id)]
        case Operation.SET_PUSH:
            await session.push.listen()
            webhook = session.push.register(task_id, version=session.choice.dialect.version)
            return [session.set_push(webhook.config.model_copy(update={"task_id": task_id}))]
        case _:
            raise ValueError(f"no key calls {operation}")


async def switch_push(session: Session) -> None:
    """Turn push notifications on, which starts the receiver, or off; raises `FaultError` if it cannot listen."""
    push, connection = session.push, session.connection
    if push.on:
        push.turn_off()
        session.note("push off: new messages do not register a webhook")
        return
    await push.turn_on()
    host, port = push.receiver.address
    session.note(f"push on: the receiver listens on {host}:{port}")
    if connection is not None and not connection.card.capabilities.push_notifications:
        session.note("the card does not declare push notifications: the agent may not send any")


async def _configs(session: Session, task_id: str) -> list[PushConfig]:
    """Get the webhooks of a task from the agent; raises `FaultError` if there are none."""
    call = session.list_push(task_id)
    fault = await call.finish()
    if fault is not None:
        raise FaultError(fault)
    answer = call.exchange.answer
    configs = answer.configs if isinstance(answer, PushConfigList) else []
    if not configs:
        raise FaultError(Fault(Whose.YOURS, FaultCode.USAGE, "The agent has no webhook for this task."))
    return configs
