"""The outline of a message: its parts and its options, one a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import BindingType
from textual.message import Message

from inspector.session.compose.draft import Draft, DraftPart, PartKind
from inspector.text.sanitise import clean_line
from inspector.text.units import size
from inspector.tui.keys import bind
from inspector.tui.render.drafts import part_in_words
from inspector.tui.render.text_lines import Line
from inspector.tui.widgets.cursor import CursorView

ADD = "add"
PART = "parts/"
"""The prefix of the keys of parts; the index of the part follows."""
LABEL = 19
"""The width of the names of the options in cells."""
PART_LABEL = 12
"""The width of the names of the parts in cells."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line: `key` is the part or option that enter opens, `""` for a heading; `more` is shown at the right."""

    key: str
    label: str
    value: str = ""
    more: str = ""
    default: bool = False


def rows_of(draft: Draft, *, stream: bool, push: str, agent_tenant: str) -> list[Row]:
    """Return the rows of a message; `push` describes the webhook that is registered with it."""
    parts = [
        Row(f"{PART}{index}", f"{index + 1} {part.kind}", part_in_words(part), _size_of(part))
        for index, part in enumerate(draft.parts)
    ]
    history = "" if draft.history_length is None else str(draft.history_length)
    return [
        Row("", "PARTS"),
        *parts,
        Row(ADD, "+", "add a part", default=True),
        Row("", "MESSAGE"),
        _row("task", "task", draft.task_id, "new task"),
        _row("context", "context", draft.context_id, "context of the task" if draft.task_id else "new context"),
        _row("references", "reference tasks", ", ".join(draft.references), "none"),
        _row("extensions", "extensions", ", ".join(draft.extensions), "none"),
        _row("metadata", "metadata", draft.metadata, "none"),
        Row("id", "message id", draft.message_id, default=True),
        Row("", "RESPONSE"),
        Row("stream", "response", "streaming" if stream else "no streaming"),
        Row("blocking", "return immediately", "no" if draft.blocking else "yes"),
        _row("modes", "output modes", ", ".join(draft.accepted_output_modes), "agent default"),
        _row("history", "history length", history, "agent default"),
        Row("push", "push", push, default=push == "off"),
        Row("", "REQUEST"),
        _row("tenant", "tenant", draft.tenant, agent_tenant or "none"),
        _row("request_metadata", "metadata", draft.request_metadata, "none"),
        _row("params", "service parameters", ", ".join(f"{name}: {value}" for name, value in draft.svc_params), "none"),
    ]


def _row(key: str, label: str, value: str, default: str) -> Row:
    return Row(key, label, value or default, default=not value)


def _size_of(part: DraftPart) -> str:
    """Describe the size of a part; for a file, its present size on the disk."""
    if part.kind is PartKind.LINK:
        return ""
    if part.kind is PartKind.FILE:
        try:
            return size(Path(part.value).expanduser().stat().st_size) if part.value else ""
        except (OSError, ValueError, RuntimeError):
            return "?"
    return size(len(part.value.encode("utf-8", "surrogatepass")))


class Outline:
    """The rows as a `LineSource`; `marks` has `!` (problem) or `~` (warning) for the keys of rows."""

    def __init__(self, rows: Sequence[Row], marks: Mapping[str, str]) -> None:
        self.update(rows, marks)
        self._width = 0

    def update(self, rows: Sequence[Row], marks: Mapping[str, str]) -> None:
        """Replace the rows."""
        self.rows = rows
        self._marks = marks

    def __len__(self) -> int:
        return len(self.rows)

    def layout(self, width: int, keep: int) -> int:
        """Remember the width; every row is one line."""
        self._width = width
        return keep

    def line(self, index: int) -> Line:
        """Return a row: its name, its value, its size and its mark."""
        row = self.rows[index]
        if not row.key:
            return [(row.label, "outline--head")]
        mark = self._marks.get(row.key, " ")
        tail = f"{row.more:>7} " if row.more else ""
        label = PART_LABEL if row.key == ADD or row.key.startswith(PART) else LABEL
        room = max(0, self._width - label - len(tail) - 2)
        value = clean_line(row.value, room)
        pad = " " * max(0, room - cell_len(value) + 1)
        return [
            (f"{row.label:<{label}}", "line--soft"),
            (value, "line--quiet" if row.default else "line--text"),
            (f"{pad}{tail}", "line--soft"),
            (mark, "outline--error" if mark == "!" else "outline--warning"),
        ]

    def index_of(self, key: str) -> int | None:
        """Return the line of a key, None if there is none."""
        return next((index for index, row in enumerate(self.rows) if row.key == key), None)


class OutlineView(CursorView):
    """The parts and the options of a message, one a line."""

    DEFAULT_CSS = """
    OutlineView {
        overflow-x: hidden;
        & > .outline--head { color: $text-soft; text-style: bold; }
        & > .outline--error { color: $state-bad; }
        & > .outline--warning { color: $state-warning; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("undo", "screen.put_back", "restore", "Restore the part that was removed last"),
        bind("duplicate", "screen.duplicate"),
        bind("remove", "screen.remove", "", "Remove the part"),
        bind("part-up", "screen.shift(-1)", show=False),
        bind("part-down", "screen.shift(1)", show=False),
    ]
    enter_hint = "edit"

    class Highlighted(Message):
        """The cursor is on another row."""

    class Opened(Message):
        """The user wants to edit the row under the cursor."""

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        source = self.source
        return source.rows[self.cursor] if isinstance(source, Outline) and 0 <= self.cursor < len(source) else None

    def go_to(self, key: str) -> None:
        """Put the cursor on the row of a key."""
        index = self.source.index_of(key) if isinstance(self.source, Outline) else None
        if index is not None:
            self.cursor = index

    def _highlighted(self) -> None:
        self.post_message(self.Highlighted())

    def _opened(self) -> None:
        self.post_message(self.Opened())

    @property
    def part(self) -> int | None:
        """The index of the part under the cursor, None for another row."""
        row = self.row
        return int(row.key.removeprefix(PART)) if row is not None and row.key.startswith(PART) else None
