"""The calls of the Chat view: it follows their events, and returns a message that could not be sent."""

from __future__ import annotations

from collections.abc import Callable

from inspector.session.call import Call
from inspector.session.compose.draft import Draft
from inspector.session.tasks import EVENTS
from inspector.tui.notify import fault_in_words
from inspector.tui.widgets.chat_composer import ChatComposer


class ChatCalls:
    """Runs calls to their end.

    `show_task` is called with the id of the task as soon as it is known, `ended` after each call.
    """

    def __init__(self, composer: ChatComposer, *, show_task: Callable[[str], None], ended: Callable[[], None]) -> None:
        self._composer = composer
        self._show_task = show_task
        self._ended = ended
        self._running = 0

    @property
    def is_busy(self) -> bool:
        """Whether a message is being sent or its response is being received."""
        return self._running > 0

    async def send(self, call: Call, draft: Draft | None) -> None:
        """Run the call of a message; if it fails, the composer gets the `draft` back."""
        self._running += 1
        try:
            await self.follow(call)
        finally:
            self._running -= 1
        if draft is not None and call.fault is not None and not isinstance(call.exchange.answer, EVENTS):
            self._composer.give_back(draft)

    async def follow(self, call: Call) -> None:
        """Run a call to its end, and show its task."""
        self._composer.problem = ""
        self._composer.show_upload(call)
        known = ""
        async for _ in call:
            if call.exchange.task_id != known:
                known = call.exchange.task_id
                self._show_task(known)
        self._ended()
        self._composer.problem = fault_in_words(call.fault) if call.fault else ""
        self._composer.refresh_bindings()
