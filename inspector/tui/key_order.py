"""The order in which keys are handled, also if several arrive at once."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from textual import events
from textual.app import App
from textual.dom import DOMNode

_LONGEST_WAIT = 1.0
"""The seconds after which the next key is handled although the one before is not."""

UserInput = events.InputEvent | events.Paste


class KeyOrder:
    """Handles each key, pasted text and click when the effect of the keys before it is known.

    Textual passes a key to the widget with the focus. If that widget does not use it, the key is passed to its parents,
    through the queue of each, and to the app last, where most bindings are found. Keys that arrive together, such as
    those of a script, of `tmux send-keys` or of a slow connection, would all go to the widget that has the focus now:
    what is typed after Tab would be added to the field before.

    The characters of a text and a key that is repeated do not wait: they need no more time than without this class.
    """

    def __init__(self, app: App[Any], handle: Callable[[UserInput], Awaitable[None]]) -> None:
        """Create the order for the input of an app; `handle` passes an event to its widget."""
        self._app = app
        self._handle = handle
        self._waiting: deque[UserInput] = deque()
        self._current: events.Key | None = None
        self._target: DOMNode | None = None
        self._limit: asyncio.TimerHandle | None = None

    async def add(self, event: UserInput) -> None:
        """Handle an event now, or after the key that is being handled."""
        if self._waiting or (self._current is not None and not self._continues(self._current, event)):
            self._waiting.append(event)
        else:
            await self._begin(event)

    def _continues(self, key: events.Key, event: UserInput) -> bool:
        """Return whether an event has the same effect before and after the effect of a key is known."""
        if not isinstance(event, events.Key):
            return False
        return event.key == key.key or (
            _is_character(key) and _is_character(event) and self._target is not None and _takes_text(self._target)
        )

    async def _begin(self, event: UserInput) -> None:
        if not isinstance(event, events.Key):
            await self._handle(event)
            return
        screen = self._app.screen
        self._target = target = self._app.focused or screen
        self._current = event
        if self._limit is not None:
            self._limit.cancel()
        self._limit = asyncio.get_running_loop().call_later(_LONGEST_WAIT, self._finish, event)

        def was_passed_on() -> None:
            # The messages that the widget sent when it handled the key are passed on in the same way.
            self._follow(target, self._app, lambda: self._after_opening(screen, event))

        await self._handle(event)
        self._follow(target, self._app, was_passed_on)

    def _follow(self, node: DOMNode, last: DOMNode, done: Callable[[], None]) -> None:
        """Call `done` when a widget and then each of its parents have handled the messages that they have now."""

        def handled() -> None:
            parent = node.parent
            if node is last or parent is None:
                done()
            else:
                self._follow(parent, last, done)

        if not node.call_later(handled):  # the widget is being removed
            handled()

    def _after_opening(self, before: DOMNode, event: events.Key) -> None:
        """Continue now, or if the key opened a screen, when it is mounted and has chosen the widget with the focus."""
        screen = self._app.screen
        if screen is before or not screen.call_later(self._finish, event):
            self._finish(event)

    def _finish(self, event: events.Key) -> None:
        self._app.call_later(self._end, event)

    async def _end(self, event: events.Key) -> None:
        """Handle the events that waited for a key, up to the next key."""
        if event is not self._current:  # another key came meanwhile, or the wait was too long
            return
        self._current = self._target = None
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
        while self._waiting and self._current is None:
            await self._begin(self._waiting.popleft())


def _is_character(key: events.Key) -> bool:
    return key.is_printable and "+" not in key.key  # Alt and a letter is printable, too


def _takes_text(widget: DOMNode) -> bool:
    from textual.widgets import Input, TextArea  # noqa: PLC0415 - the first frame and the card need neither

    return isinstance(widget, Input | TextArea)
