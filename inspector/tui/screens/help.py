"""The help dialog: the keys that work now by group, those that do not, and a legend of the symbols."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from inspector.protocol.lifecycle import State, short
from inspector.tui.keys import COMMANDS, UNBOUND, Group, bind, group_of
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.rows import SEVERITY_COLOURS
from inspector.tui.screens.dialog import Dialog

_KEY = 12
_ORDER = (Group.SEND, Group.INSPECT, Group.TASK, Group.GO_TO, Group.EDIT, Group.MOVE)
_TWO_COLUMNS = 96
"""The width from which the groups are shown in two columns."""


class HelpScreen(Dialog[None]):
    """Lists the keys of the screen below by group, and the symbols."""

    FRAME = "help"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("back", "leave", "close", "Close the help"),
        bind("quit", "leave", "close", "Close the help", show=False),
        bind("help", "leave", "close", "Close the help", show=False),
    ]

    def __init__(self, below: Screen[Any], glyphs: Glyphs) -> None:
        super().__init__("Help")
        self._below = below
        self._glyphs = glyphs

    def body(self) -> ComposeResult:
        """Make the text."""
        with VerticalScroll(id="help-text"):
            yield Static(self._text())

    def _text(self) -> Content:
        blocks = [*self._keys(), self._other_keys(), *self._symbols()]
        blocks = [block for block in blocks if len(block) > 1]
        if self.app.size.width < _TWO_COLUMNS:
            return Content("\n").join(line for block in blocks for line in (*block, Content("")))
        half, left = sum(map(len, blocks)) / 2, 0
        first: list[Content] = []
        second: list[Content] = []
        for block in blocks:
            (first if left < half else second).extend([*block, Content("")])
            left += len(block) + 1
        rows = max(len(first), len(second))
        wide = max(cell_len(line.plain) for line in first) + 3
        first += [Content("")] * (rows - len(first))
        second += [Content("")] * (rows - len(second))
        pairs = zip(first, second, strict=True)
        lines = (Content.assemble(one, " " * (wide - cell_len(one.plain)), two) for one, two in pairs)
        return Content("\n").join(lines)

    def _keys(self) -> list[list[Content]]:
        """Return the keys that work now, as a block for each group."""
        lines: dict[Group, list[Content]] = {group: [_heading(group.value)] for group in _ORDER}
        self._listed: set[str] = set()
        for key, active in self._below.active_bindings.items():
            binding, group = active.binding, group_of(active.binding)
            if group is None or not active.enabled or key.startswith(UNBOUND) or binding.action in self._listed:
                continue
            self._listed |= {binding.action, binding.id or ""}
            lines[group].append(_line(self.app.get_key_display(binding), binding.tooltip or binding.description))
        return list(lines.values())

    def _other_keys(self) -> list[Content]:
        """Return the keys that do nothing now."""
        lines = [_heading("Not available here")]
        for name, command in COMMANDS.items():
            if name not in self._listed and command.keys and command.group not in (Group.EDIT, Group.MOVE):
                key = self.app.get_key_display(Binding(command.keys.partition(",")[0], name))
                lines.append(_line(key, command.meaning, "$wire-quiet", "$wire-quiet"))
        return lines

    def _symbols(self) -> list[list[Content]]:
        glyphs = self._glyphs
        directions = (
            (glyphs.sent, "request", "$wire-sent"),
            (glyphs.poll, "GetTask", "$wire-sent"),
            (glyphs.received, "response or streamed event", "$wire-received"),
            (glyphs.pushed, "push notification to the webhook", "$wire-pushed"),
            (glyphs.quiet, "keep-alive, note, end of exchange", "$wire-quiet"),
            (glyphs.bookmark, "bookmark", "$foreground"),
            (glyphs.remark, "note of a user", "$foreground"),
        )
        severities = [
            _line(symbol, severity.value, f"${SEVERITY_COLOURS[severity]}")
            for severity, symbol in glyphs.severities.items()
        ]
        return [
            [_heading("Rows"), *(_line(symbol, text, style) for symbol, text, style in directions)],
            [
                _heading("Task states"),
                *(_line(glyphs.states[state], short(state), "$foreground") for state in State),
            ],
            [_heading("Findings"), *severities],
        ]


def _heading(text: str) -> Content:
    return Content.styled(text, "bold $bar")


def _line(key: str, text: str, key_style: str = "$wire-sent", style: str = "$foreground") -> Content:
    return Content.assemble((f"{key:<{_KEY}}", key_style), (text, style))
