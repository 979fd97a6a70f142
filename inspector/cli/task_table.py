"""Print tasks as a table that fits the terminal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from inspector.cli import styles
from inspector.cli.output import Output
from inspector.cli.styles import Role, Styled
from inspector.protocol.lifecycle import short
from inspector.protocol.model import Message, Task
from inspector.text.sanitise import clean, crop, width_of
from inspector.text.units import timestamp_seconds

_GAP = "  "
_SHORT = 8
"""The width of an id that is cut."""
_LONGEST_STATE = 16
"""The most cells of a state in a terminal: agents may send states of any length."""
_LEAST_MESSAGE = 8
"""The least width of the message: if less is left, ids are cut or left out."""
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


class _Row(NamedTuple):
    id: str
    state: str
    age: str
    context: str
    message: str


_HEAD = _Row("ID", "STATE", "AGE", "CONTEXT", "MESSAGE")


class TaskTable:
    """Prints tasks page by page: the header once, and columns that become wider if a later page needs it."""

    def __init__(self, out: Output, width: int) -> None:
        self._out = out
        self._width = width
        self._natural = [len(name) for name in _HEAD]
        self._is_begun = False

    def show(self, tasks: Sequence[Task]) -> None:
        """Print a row for each task, after the header if this is the first page with tasks."""
        rows = [_row(task, time.time()) for task in tasks]
        for row in rows:
            self._natural = [max(width, width_of(cell)) for width, cell in zip(self._natural, row, strict=True)]
        widths = _fit(self._natural, self._width)
        if rows and not self._is_begun:
            self._is_begun = True
            self._print(_HEAD, [Role.HEADING] * len(_HEAD), widths)
        for task, row in zip(tasks, rows, strict=True):
            roles = [None, styles.state(task.status.state).role, Role.SOFT, Role.SOFT, None]
            self._print(row, roles, widths)
        self._out.flush()

    def _print(self, row: _Row, roles: Sequence[Role | None], widths: Sequence[int]) -> None:
        pieces: list[styles.Piece] = []
        columns = [(cell, role, width) for cell, role, width in zip(row, roles, widths, strict=True) if width]
        for number, (cell, role, width) in enumerate(columns, 1):
            text = crop(cell, width)
            pieces.append(Styled(text, role))
            if number < len(columns):
                pieces.append(" " * (width - width_of(text)) + _GAP)
        self._out.line(*pieces)


def _fit(natural: Sequence[int], width: int) -> list[int]:
    """Return the widths of the columns: the message gets the rest; the context is cut first, then the id.

    A column with the width 0 is left out.
    """
    task, state, age, context, message = natural
    state = min(state, _LONGEST_STATE)
    for task_width, context_width in (
        (task, context),
        (task, min(context, _SHORT)),
        (min(task, _SHORT), min(context, _SHORT)),
        (min(task, _SHORT), 0),
    ):
        widths = [task_width, state, age, context_width]
        rest = width - sum(column + len(_GAP) for column in widths if column)
        if rest >= min(message, _LEAST_MESSAGE):
            break
    return [*widths, max(min(message, rest), 0)]


def _row(task: Task, now: float) -> _Row:
    message = task.status.message or (task.history[-1] if task.history else None)
    cells = (task.id, short(task.status.state), _age(task.status.timestamp, now), task.context_id, _text(message))
    return _Row(*(clean(cell or "") or "-" for cell in cells))


def _text(message: Message | None) -> str:
    """Return the texts of a message on one line."""
    texts = [part.text for part in message.parts if part.text] if message is not None else []
    return " ".join(" ".join(texts).split())


def _age(timestamp: str | None, now: float) -> str:
    """Return the time since a status as text, `-` without a time; a time in the future is 0 s ago."""
    at = timestamp_seconds(timestamp)
    if at is None:
        return "-"
    seconds = max(int(now - at), 0)
    for unit, name in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= unit:
            return f"{seconds // unit:,} {name}"
    return f"{seconds} s"
