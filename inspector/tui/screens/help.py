"""The help dialog: the keys of the focused widget and screen, and the symbols."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from inspector.protocol.lifecycle import State, short
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.screens.dialog import Dialog

_KEY = 14
_UNAVAILABLE, _NAVIGATION = "NOT AVAILABLE NOW", "NAVIGATION"
_MOVES = ("line_", "page_", "scroll_", "cursor_", "aside(")
"""Prefixes of the names of actions that only move the cursor."""


class HelpScreen(Dialog[None]):
    """Lists the keys of the screen below, the keys of the focused widget first, and the symbols."""

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1,question_mark", "leave", "close", id="help.close", tooltip="Close the help"),
    ]

    def __init__(self, below: Screen[Any], glyphs: Glyphs) -> None:
        super().__init__()
        self._below = below
        self._glyphs = glyphs

    def compose(self) -> ComposeResult:
        """Make the list."""
        with VerticalScroll(id="help"):
            yield Static(Content("\n").join([*self._keys(), Content(""), *self._symbols()]))

    def _keys(self) -> list[Content]:
        groups: dict[str, list[Content]] = {"KEYS": [], _UNAVAILABLE: [], _NAVIGATION: []}
        seen: set[str] = set()
        for active in self._below.active_bindings.values():
            binding = active.binding
            text = binding.tooltip or binding.description
            if not text or binding.action in seen or binding.system:
                continue
            seen.add(binding.action)
            only_moves = binding.action.startswith(_MOVES) or binding.id in ("lines.first", "lines.last")
            group = _UNAVAILABLE if not active.enabled else _NAVIGATION if only_moves else "KEYS"
            colours = ("$wire-sent", "$foreground") if active.enabled else ("$wire-quiet", "$wire-quiet")
            key = f"{self.app.get_key_display(binding):<{_KEY}}"
            groups[group].append(Content.assemble((key, colours[0]), (text, colours[1])))
        lines: list[Content] = []
        for name, keys in groups.items():
            if keys:
                lines += [*([Content("")] if lines else []), Content.styled(name, "bold $bar"), *keys]
        return lines

    def _symbols(self) -> list[Content]:
        glyphs = self._glyphs
        directions = [
            (glyphs.sent, "request", "$wire-sent"),
            (glyphs.poll, "poll (repeated GetTask)", "$wire-sent"),
            (glyphs.received, "response or streamed event", "$wire-received"),
            (glyphs.pushed, "push notification to the webhook", "$wire-pushed"),
            (glyphs.quiet, "keep-alive, note, end of exchange", "$wire-quiet"),
        ]
        lines = [Content.styled("SYMBOLS", "bold $bar")]
        lines += [Content.assemble((f"{symbol:<{_KEY}}", style), name) for symbol, name, style in directions]
        lines += [Content.assemble((f"{glyphs.states[state]:<{_KEY}}", "$foreground"), short(state)) for state in State]
        severities = [
            Content.assemble((f"{symbol:<{_KEY}}", "$state-warning"), f"finding: {severity.value}")
            for severity, symbol in glyphs.severities.items()
        ]
        return [*lines, *severities]
