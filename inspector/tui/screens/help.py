"""The help dialog: the keys that work now by group, those that do not, and a legend of the symbols."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.screen import Screen

from inspector.findings.finding import Severity
from inspector.protocol.lifecycle import State, short
from inspector.tui.keys import COMMANDS, UNBOUND, Group, bind, group_of, key_of
from inspector.tui.render.glyphs import SEVERITY_COLOURS, Glyphs
from inspector.tui.screens.dialog import FITTED, Dialog
from inspector.tui.widgets.text_block import TextBlock

_KEY = len("shift+tab")
"""The cells of the keys and symbols."""


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
        """Make two columns: the keys, and beside them the symbols and the keys that do nothing here."""
        with VerticalScroll(id="help-text", classes=FITTED), Horizontal():
            blocks, listed = self._keys()
            yield _Blocks(blocks)
            yield _Blocks([*self._symbols(), _other_keys(listed)])

    def _keys(self) -> tuple[list[list[Content]], set[str]]:
        """Return the keys that work now, as a block for each group, and the names of their commands."""
        lines: dict[Group, list[Content]] = {group: [_heading(group.value)] for group in Group}
        listed: set[str] = set()
        actions: set[str] = set()
        for key, active in self._below.active_bindings.items():
            binding, group = active.binding, group_of(active.binding)
            if group is None or not active.enabled or key.startswith(UNBOUND):
                continue
            listed.add(binding.id or "")
            if binding.action in actions:
                continue
            actions.add(binding.action)
            lines[group].append(_line(self.app.get_key_display(binding), binding.tooltip or binding.description))
        return list(lines.values()), listed

    def _symbols(self) -> list[list[Content]]:
        glyphs = self._glyphs
        directions = (
            (glyphs.sent, "request", "$wire-sent"),
            (glyphs.poll, "GetTask", "$wire-sent"),
            (glyphs.received, "response or streamed event", "$wire-received"),
            (glyphs.pushed, "push notification to the webhook; at the end of a row: pushed, too", "$wire-pushed"),
            (glyphs.quiet, "keep-alive, note, end of exchange", "$wire-quiet"),
            (glyphs.bookmark, "bookmark", "$foreground"),
            (glyphs.remark, "remark of a user", "$foreground"),
            ("+", "time since the message was sent", "$text-soft"),
        )
        severities = [
            _line(symbol, severity.value, f"${SEVERITY_COLOURS[severity]}")
            for severity, symbol in glyphs.severities.items()
        ]
        measures = (
            ("first", "time until the first event"),
            ("gap", "longest time between two events; of one event: time since the event before it"),
            ("wire", "received bytes, with protocol and JSON"),
            ("content", "bytes of the texts and files alone"),
        )
        return [
            [_heading("Rows"), *(_line(symbol, text, style) for symbol, text, style in directions)],
            [_heading("Measures of a stream"), *(_line(name, text, "$text-soft") for name, text in measures)],
            [
                _heading("Task states"),
                *(_line(glyphs.states[state], short(state), "$foreground") for state in State),
            ],
            [_heading("Findings"), *severities],
            [
                _heading("Checks of a delivery"),
                _line(glyphs.check, "passed", "$state-good"),
                _line(glyphs.cross, "failed", "$state-bad"),
                _line(glyphs.severities[Severity.WARNING], "late or repeated", "$state-warning"),
                _line(glyphs.quiet, "not checked, because nothing was expected or sent", "$wire-quiet"),
            ],
            [
                _heading("Results of tests"),
                _line(glyphs.check, "pass", "$state-good"),
                _line(glyphs.cross, "fail", "$state-bad"),
                _line("!", "error: the test could not be performed", "$state-bad"),
                _line(glyphs.quiet, "skip: the test does not apply; or not run", "$wire-quiet"),
                _line(glyphs.moving, "running", "$wire-received"),
                _line(glyphs.states[State.SUBMITTED], "waiting", "$wire-quiet"),
            ],
            [
                _heading("Duration of an exchange"),
                _line(glyphs.horizontal * 3, "until the head of the response", "$wire-received"),
                _line(glyphs.thick * 3, "until the end of the response", "$wire-received"),
            ],
        ]


def _other_keys(listed: Container[str]) -> list[Content]:
    """Return the keys that do nothing now: those of the commands that are not listed."""
    lines = [_heading("Not available here")]
    for name, command in COMMANDS.items():
        if name not in listed and command.keys and command.group not in (Group.EDIT, Group.MOVE):
            lines.append(_line(key_of(name), command.meaning, "$wire-quiet", "$wire-quiet"))
    return lines


class _Blocks(TextBlock):
    """Blocks of lines; what does not fit into a line is continued below its beginning, not below the key."""

    def __init__(self, blocks: list[list[Content]]) -> None:
        super().__init__(_joined(blocks))
        self._blocks = blocks

    def on_resize(self) -> None:
        """Wrap the lines for the new width."""
        self.update(_joined([[_wrapped(line, self.size.width) for line in block] for block in self._blocks]))


def _wrapped(line: Content, width: int) -> Content:
    """Return a line with its sentence wrapped beside the key."""
    indent = _KEY + 1
    key, sentence = line.divide([indent])[0], line.divide([indent])[-1]
    if line.cell_length <= width or width <= 2 * indent:
        return line
    lines = [piece.rstrip() for piece in sentence.wrap(width - indent)]
    return Content.assemble(key, Content("\n" + " " * indent).join(lines))


def _joined(blocks: list[list[Content]]) -> Content:
    """Return blocks of lines with a blank line after each; a block that is only a heading is left out."""
    return Content("\n").join(line for block in blocks if len(block) > 1 for line in (*block, Content("")))


def _heading(text: str) -> Content:
    return Content.styled(text, "bold $bar")


def _line(key: str, text: str, key_style: str = "bold $bar", style: str = "$foreground") -> Content:
    return Content.assemble((f"{key:<{_KEY}} ", key_style), (text, style))
