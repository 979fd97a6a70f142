"""The calls that the keys of the places ask for: made one after the other, each answer shown where it can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.capture.records import Kind
from inspector.protocol.card import AgentCard
from inspector.protocol.errors import FaultError
from inspector.protocol.model import Deleted, PushConfig, PushConfigList
from inspector.protocol.operations import Operation
from inspector.tui.task_calls import turns_for
from inspector.tui.views.agent import AgentPlace

if TYPE_CHECKING:
    from inspector.session.call import Call
    from inspector.tui.screens.workbench import WorkbenchScreen
    from inspector.tui.send_actions import Sender
    from inspector.tui.views.base import CallWanted


async def make(workbench: WorkbenchScreen, sender: Sender, wanted: CallWanted) -> None:
    """Make the calls behind a key, about the task that is named or else the one that is shown."""
    shown = workbench.talk.shown_task
    task_id = wanted.task_id or (shown.id if shown else "")
    try:
        turns = await turns_for(sender.session, wanted.operation, task_id)
    except FaultError as error:
        workbench.app.tell(error.fault)  # type: ignore[attr-defined]
        return
    for turn in turns:
        await sender.follow(turn)
        _show(workbench, sender, turn)


def _show(workbench: WorkbenchScreen, sender: Sender, turn: Call) -> None:
    """Show an answer that is not about the state of a task where it can be read."""
    place, answer = workbench.query_one(AgentPlace), turn.exchange.answer
    if turn.fault is not None:
        workbench.app.tell(turn.fault)  # type: ignore[attr-defined]
        if turn.exchange.call.operation is Operation.EXTENDED_CARD:
            place.show_no_extended(turn.fault)
    elif isinstance(answer, AgentCard):
        bodies = sender.session.journal.capture.select(kinds=(Kind.BODY,), exchange=turn.exchange.number)
        place.show_extended(sender.session.payload(bodies[-1]))
    elif isinstance(answer, Deleted):
        workbench.app.notify("The agent deleted a webhook of the task.", markup=False)
    elif isinstance(answer, PushConfig | PushConfigList):
        workbench.show_exchange(turn.exchange.number)
