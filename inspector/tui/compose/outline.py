"""The outline of a message: its parts and its options, one a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rich.cells import cell_len
from textual.message import Message

from inspector.lazy_dataclass import dataclass
from inspector.session.compose.draft import Draft, DraftPart, PartKind
from inspector.text.sanitise import clean_line
from inspector.text.typed_path import typed_path
from inspector.text.units import size
from inspector.tui.render.drafts import part_in_words
from inspector.tui.render.text_lines import Line
from inspector.tui.widgets.cursor import CursorView

ADD = "add"
PART = "parts/"
"""The prefix of the keys of parts; the index of the part follows."""
KINDS = {
    PartKind.TEXT: "text          plain text",
    PartKind.FILE: "file          a local file, sent in the message",
    PartKind.LINK: "file by URL   a file that the agent downloads",
    PartKind.DATA: "data          a JSON value",
}
"""The kinds of parts that can be added, in words."""
_PART_LABEL = 10
"""The width of the numbers and kinds of the parts in cells."""
_GAP = 2
_MARK = 2
"""The width of the mark of a row in cells."""
LABELS = {
    "task": "task id",
    "context": "context id",
    "references": "reference tasks",
    "extensions": "extensions",
    "metadata": "metadata",
    "id": "message id",
    "modes": "accepted output modes",
    "history": "history length",
    "blocking": "return immediately",
    "push": "push notification config",
    "stream": "streaming",
    "tenant": "tenant",
    "request_metadata": "metadata",
    "params": "service parameters",
}
"""The names of the options: the terms of the protocol."""
_OLD_BLOCKING = "blocking"
"""The name of the opposite of `return immediately` before A2A 1.0."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line: `key` is the part or option that enter opens, `""` for a heading; `more` is shown at the right."""

    key: str
    label: str
    value: str = ""
    more: str = ""
    default: bool = False
    label_width: int = _PART_LABEL


def rows_of(draft: Draft, *, stream: bool, push: str, agent_tenant: str, version: str) -> list[Row]:
    """Return the rows of a message; `push` describes the webhook that is registered with it."""
    parts = [
        Row(f"{PART}{index}", f"{index + 1} {part.kind}", part_in_words(part), size_of(part))
        for index, part in enumerate(draft.parts)
    ]
    history = "" if draft.history_length is None else str(draft.history_length)
    params = ", ".join(f"{name}: {value}" for name, value in draft.svc_params)
    message = [
        _row("task", draft.task_id, "none: starts a new task"),
        _row("context", draft.context_id, "that of the task" if draft.task_id else "none: starts a new context"),
        _row("references", ", ".join(draft.references), "none"),
        _row("extensions", ", ".join(draft.extensions), "none"),
        _row("metadata", draft.metadata, "none"),
        Row("id", LABELS["id"], draft.message_id, default=True),
    ]
    configuration = [
        _row("modes", ", ".join(draft.accepted_output_modes), "agent default"),
        _row("history", history, "agent default"),
        _blocking_row(draft, version),
        Row("push", LABELS["push"], push, default=push == "none"),
    ]
    request = [
        Row("stream", LABELS["stream"], "on" if stream else "off"),
        _row("tenant", draft.tenant, agent_tenant or "none"),
        _row("request_metadata", draft.request_metadata, "none"),
        _row("params", params, "none"),
    ]
    return [
        Row("", "Parts"),
        *parts,
        Row(ADD, "+", "add a part", default=True),
        *_section("Message", message),
        *_section("Configuration", configuration),
        *_section("Request", request),
    ]


def _section(heading: str, rows: Sequence[Row]) -> Iterator[Row]:
    """Yield a heading and its rows, whose values are aligned."""
    yield Row("", heading)
    width = max(len(row.label) for row in rows) + _GAP
    for row in rows:
        yield replace(row, label_width=width)


def _row(key: str, value: str, default: str) -> Row:
    return Row(key, LABELS[key], value or default, default=not value)


def _blocking_row(draft: Draft, version: str) -> Row:
    if version.startswith("0."):
        return Row("blocking", _OLD_BLOCKING, "yes" if draft.blocking else "no")
    return Row("blocking", LABELS["blocking"], "no" if draft.blocking else "yes")


def size_of(part: DraftPart) -> str:
    """Describe the size of a part; for a file, its present size on the disk."""
    if part.kind is PartKind.LINK:
        return ""
    if part.kind is PartKind.FILE:
        try:
            return size(typed_path(part.value).stat().st_size) if part.value else ""
        except OSError:
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
        mark = self._marks.get(row.key, "")
        tail = f"  {row.more}" if row.more else ""
        room = max(0, self._width - _MARK - row.label_width - len(tail))
        value = clean_line(row.value, room)
        pad = " " * max(0, room - cell_len(value))
        return [
            (f"{mark:<{_MARK}}", "outline--error" if mark == "!" else "outline--warning"),
            (f"{row.label:<{row.label_width}}", "line--soft"),
            (value, "line--quiet" if row.default else "line--text"),
            (f"{pad}{tail}", "line--soft"),
        ]

    def index_of(self, key: str) -> int | None:
        """Return the line of a key, None if there is none."""
        return next((index for index, row in enumerate(self.rows) if row.key == key), None)


class OutlineView(CursorView):
    """The parts and the options of a message, one a line."""

    DEFAULT_CSS = """
    OutlineView {
        overflow-x: hidden;
        scrollbar-gutter: auto;
        & > .outline--head { color: $text-soft; text-style: bold; }
        & > .outline--error { color: $state-bad; }
        & > .outline--warning { color: $state-warning; }
    }
    """
    enter_hint = "edit"

    class Highlighted(Message):
        """The cursor is on another row."""

    class Opened(Message):
        """The user wants to edit the row under the cursor."""

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self.item_of(self.source.rows) if isinstance(self.source, Outline) else None

    def action_line_step(self, lines: int) -> None:
        """Move the cursor down by some lines, up if they are negative, and past a heading."""
        super().action_line_step(lines)
        if self.row is not None and not self.row.key:
            super().action_line_step(-1 if lines < 0 and self.cursor > 0 else 1)

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
