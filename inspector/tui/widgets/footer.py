"""The last line of the screen: the most useful keys that are bound now."""

from __future__ import annotations

from typing import TypeAlias

from textual import events
from textual.binding import ActiveBinding
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from inspector.tui.keys import lacks_agent, why_not

MOST = 8
"""The most keys that are shown."""

_GAP = 3
_PINNED = ("unzoom", "credentials(True)", "close_tab(True)", "actions", "help")

Key: TypeAlias = tuple[str, str, ActiveBinding | None]
"""A key, its action in words, and its binding; enter has None, because the focused widget describes enter."""


class KeyFooter(Static):
    """Shows the keys that are bound at the focus, nearest first; keys that are disabled now are grey.

    In a capture, keys that need an agent are left out.
    The focused widget describes enter in its `enter_hint`, because many lists share one binding. Behind a dialog, which
    has a footer of its own, the line is empty.
    """

    def on_mount(self) -> None:
        """Follow the bindings of the screen."""
        self.screen.bindings_updated_signal.subscribe(self, self._changed)
        self.call_after_refresh(self._changed, self.screen)

    def _changed(self, screen: Screen[object]) -> None:
        if self.is_attached and screen is self.screen:
            self.refresh()

    def on_resize(self) -> None:
        """Draw the keys that fit."""
        self.refresh()

    def _keys(self) -> tuple[list[Key], list[Key]]:
        """Return the keys that are shown if they fit, and the pinned keys, which are always shown."""
        focused = self.screen.focused
        hint = getattr(focused, "enter_hint", "") if getattr(focused, "line_count", 1) else ""
        keys: list[Key] = [("enter", hint, None)] if hint else []
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if not binding.show or lacks_agent(active):
                continue
            if not any(active.binding.action == other.binding.action for _, _, other in keys if other):
                keys.append((self.app.get_key_display(binding), binding.description, active))
        found = [[key for key in keys if key[2] and key[2].binding.action.endswith(action)] for action in _PINNED]
        others = [key for key in keys if not any(key in group for group in found)]
        pinned = [group[0] for group in found if group]
        return others[: MOST - len(pinned)], pinned

    def _shown(self) -> list[Key]:
        """Return the keys that fit, in their order."""
        if not self.screen.is_active:
            return []
        others, pinned = self._keys()
        room = self.content_size.width - sum(map(_width, pinned))
        shown: list[Key] = []
        for key in others:
            room -= _width(key)
            if room < 0:
                break
            shown.append(key)
        return [*shown, *pinned]

    def render(self) -> Content:
        """Draw the keys."""
        pieces: list[Content] = []
        for key, what, active in self._shown():
            enabled = active is None or (active.enabled and not why_not(active))
            style = "bold $bar" if enabled else "$wire-quiet"
            pieces.append(Content.assemble((key, style), (f" {what}", "$text-soft" if enabled else "$wire-quiet")))
        return Content("   ").join(pieces)

    async def on_click(self, event: events.Click) -> None:
        """Run the action of the key under the pointer."""
        at = event.get_content_offset(self)
        end = 0
        for key in self._shown():
            start, end = end, end + _width(key)
            if at is not None and start <= at.x < end - _GAP:
                active = key[2]
                if active is None:
                    self.app.simulate_key("enter")
                elif active.enabled:
                    await self.app.run_action(active.binding.action, active.node)
                else:
                    self.app.simulate_key(active.binding.key)  # the screen reports why it does nothing


def _width(key: Key) -> int:
    return len(key[0]) + 1 + len(key[1]) + _GAP
