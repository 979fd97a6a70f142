"""The calls of the Chat view: it follows their events, and returns a message that could not be sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual.worker import Worker, get_current_worker

from inspector.session.call import Call
from inspector.session.compose.draft import Draft
from inspector.session.exchanges import ExchangeSummary
from inspector.session.tasks import EVENT_CLASSES
from inspector.tui.notify import fault_in_words
from inspector.tui.widgets.chat_composer import ChatComposer


class ChatCalls:
    """Runs calls, each in its worker, until they end or are stopped.

    `show_task` is called with the id of the task as soon as it is known, `ended` after each call.
    """

    def __init__(self, composer: ChatComposer, *, show_task: Callable[[str], None], ended: Callable[[], None]) -> None:
        self._composer = composer
        self._show_task = show_task
        self._ended = ended
        self._running: dict[Call, Worker[Any]] = {}

    @property
    def is_busy(self) -> bool:
        """Whether a call is running."""
        return bool(self._running)

    @property
    def awaited(self) -> ExchangeSummary | None:
        """The newest running call that receives no stream: its response has not arrived yet."""
        found = (call.exchange.journal.exchanges.get(call.exchange.number) for call in reversed(self._running))
        return next((summary for summary in found if summary is not None and summary.pulse is None), None)

    def stop(self, exchange: int) -> None:
        """Stop the call with an exchange, or the newest call if that has ended; the agent is not asked."""
        newest_first = list(reversed(self._running))
        chosen = [call for call in newest_first if call.exchange.number == exchange] or newest_first
        if chosen:
            self._running[chosen[0]].cancel()

    async def send(self, call: Call, draft: Draft | None) -> None:
        """Run the call of a message; if it fails, the composer gets the `draft` back."""
        await self.follow(call)
        if draft is not None and call.fault is not None and not isinstance(call.exchange.answer, EVENT_CLASSES):
            self._composer.give_back(draft)

    async def follow(self, call: Call, *, automatic: bool = False) -> None:
        """Run a call to its end, and show its task; the fault of an `automatic` call is not shown."""
        if not automatic:
            self._composer.problem = ""
        self._composer.show_upload(call)
        self._running[call] = get_current_worker()
        self._composer.refresh_bindings()
        known = ""
        try:
            async for _ in call:
                if call.exchange.task_id != known:
                    known = call.exchange.task_id
                    self._show_task(known)
        finally:
            del self._running[call]
            self._composer.refresh_bindings()
        self._ended()
        if call.fault is not None and not automatic:
            self._composer.problem = fault_in_words(call.fault)
