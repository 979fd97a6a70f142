"""The last line of the screen: the few keys that do something now, the most likely first."""

from __future__ import annotations

from typing import TypeAlias

from textual import events
from textual.binding import ActiveBinding
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

MOST = 8
"""How many keys are shown at most."""


_GAP = 3
_PINNED = ("unzoom", "help")

Key: TypeAlias = tuple[str, str, ActiveBinding | None]
"""A key, what it does, and its binding; None for enter, which the focused widget explains."""


class KeyFooter(Static):
    """Shows the keys that are bound where the focus is, nearest first; those that can do nothing now are grey.

    What enter does is said by the focused widget itself, in its `enter_hint`, because one binding serves many lists.
    """

    def on_mount(self) -> None:
        """Follow the bindings of the screen."""
        self.screen.bindings_updated_signal.subscribe(self, self._changed)
        self.call_after_refresh(self._changed, self.screen)

    def _changed(self, screen: Screen[object]) -> None:
        if screen is self.screen and self.is_attached:
            self.refresh()

    def on_resize(self) -> None:
        """Draw the keys that fit now."""
        self.refresh()

    def _keys(self) -> tuple[list[Key], list[Key]]:
        """Return what is shown where it fits, and the ways out and to the help, which are always shown."""
        hint = getattr(self.screen.focused, "enter_hint", "")
        keys: list[Key] = [("enter", hint, None)] if hint else []
        for active in self.screen.active_bindings.values():
            binding = active.binding
            if binding.show and not any(active.binding.action == other.binding.action for _, _, other in keys if other):
                keys.append((self.app.get_key_display(binding), binding.description, active))
        found = [[one for one in keys if one[2] and one[2].binding.action.endswith(what)] for what in _PINNED]
        others = [one for one in keys if not any(one in some for some in found)]
        pinned = [some[0] for some in found if some]
        return others[: MOST - len(pinned)], pinned

    def _shown(self) -> list[Key]:
        """Return the keys that fit, in the order in which they stand."""
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
            enabled = active is None or (active.enabled and not _why_not(active))
            style = "$bar" if enabled else "$wire-quiet"
            pieces.append(Content.assemble((key, style), (f" {what}", "$text-soft" if enabled else "$wire-quiet")))
        return Content("   ").join(pieces)

    async def on_click(self, event: events.Click) -> None:
        """Do what the key under the pointer does."""
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


def _width(key: Key) -> int:
    return len(key[0]) + 1 + len(key[1]) + _GAP


def _why_not(active: ActiveBinding) -> str:
    """Return why the agent cannot do what a key asks for, as far as the place of the key knows."""
    ask = getattr(active.node, "why_not", None)
    return str(ask(active.binding.action)) if ask else ""
