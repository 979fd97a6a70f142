"""The table of tasks: its rows, their order and the filter by words; and the facts about the selected task."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from inspector.protocol.assemble import AssembledTask, Move
from inspector.protocol.lifecycle import INTERRUPTED, State, is_terminal, short
from inspector.session.message_label import label_of
from inspector.session.polling import Poll, Polls
from inspector.session.task_requests import TaskRequests
from inspector.session.tasks import TrackedTask
from inspector.text.sanitise import clean_line, width_of
from inspector.text.short_id import short_id
from inspector.text.units import duration, size, timestamp_seconds
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.rows import Cells, state_cell, state_style
from inspector.tui.render.task_notice import illegal
from inspector.tui.render.text_lines import ItemLines, Line, Piece, hang, labelled, wrap_pieces
from inspector.tui.render.times import ago

_DEFAULT_ORDER = "AGE"
_LABEL = 11
_REQUEST_SHARE = 2 / 5
"""The part of the width that requests get at least if both they and the messages are too long."""
_MESSAGE = len("LAST MESSAGE")
"""The least cells for the messages: their heading."""
FIELDS = ("task", "context", "state", "request", "message")
"""The fields that a word of the filter can name."""
_NEEDS_USER, _RUNNING, _FAILED, _DONE = range(4)


def began(task: TrackedTask) -> float:
    """Return the time of the first record of a task, or the timestamp of its state if that is earlier."""
    stamp = timestamp_seconds(task.now.status.timestamp)
    return task.first_seen if stamp is None else min(stamp, task.first_seen)


def updated(task: TrackedTask) -> float:
    """Return the timestamp of the state; without one, or while a stream is open, the time of the last event."""
    stamp = timestamp_seconds(task.now.status.timestamp)
    return task.now.updated if stamp is None or task.stream else stamp


def last_message(account: AssembledTask) -> str:
    """Return the text of the last message of the agent."""
    return label_of(account.messages[-1]) if account.messages else ""


def _urgency(state: str) -> tuple[int, str]:
    """Order states: those that wait for the user first, then running, failed and completed tasks."""
    if state in INTERRUPTED:
        return _NEEDS_USER, short(state)
    if not is_terminal(state):
        return _RUNNING, short(state)
    return (_DONE if state == State.COMPLETED else _FAILED), short(state)


class ListedPages(NamedTuple):
    """The pages that the agent has listed: the number of tasks, the total if the agent named it, the next page.

    `loading` is whether the next page was requested.
    """

    listed: int
    total: int | None
    next_page_token: str
    loading: bool = False

    @property
    def has_more(self) -> bool:
        """Return whether the next page can be requested."""
        return bool(self.next_page_token) and not self.loading


class TaskTable:
    """The rows of the tasks that match, in order; `refresh` reads them anew.

    A task matches if its ids, state or texts contain each of the `words`; `state:failed` is searched in the state only,
    and the other `FIELDS` are used in the same way. `column` is the heading of the column that determines the order:
    the youngest or the most first, texts by letter; `reverse` reverses it.
    """

    def __init__(
        self, tasks: Callable[[], list[TrackedTask]], requests: TaskRequests, polls: Polls, glyphs: Glyphs
    ) -> None:
        self._all = tasks
        self._requests = requests
        self._polls = polls
        self._glyphs = glyphs
        self._keys: Mapping[str, Callable[[TrackedTask], Any]] = {
            "STATE": lambda task: _urgency(task.now.state),
            "ID": lambda task: task.id,
            "CONTEXT": lambda task: task.now.context_id,
            "AGE": lambda task: -began(task),
            "UPDATED": lambda task: -updated(task),
            "ARTIFACTS": lambda task: -len(task.now.artifacts),
            "REQUEST": lambda task: self._requests.of(task).casefold(),
            "LAST MESSAGE": lambda task: last_message(task.now).casefold(),
        }
        self.words = ""
        self.column = _DEFAULT_ORDER
        self.reverse = False
        self.tasks: list[TrackedTask] = []
        self.total = 0
        self.refresh()

    @property
    def is_default_order(self) -> bool:
        """Whether the tasks are in the order in which they began, the newest first."""
        return self.column == _DEFAULT_ORDER and not self.reverse

    @property
    def columns(self) -> Sequence[str]:
        """The headings of the columns."""
        return tuple(self._keys)

    def refresh(self) -> None:
        """Read the tasks, and sort those that match."""
        found = self._all()
        self.total = len(found)
        if self.words:
            words = [word.partition(":") for word in self.words.casefold().split()]
            found = [task for task in found if self._matches(task, words)]
        found.sort(key=self._keys[self.column])
        self.tasks = found[::-1] if self.reverse else found

    def _matches(self, task: TrackedTask, words: Sequence[tuple[str, str, str]]) -> bool:
        """Return whether a task contains all words, each divided at its first colon."""
        account = task.now
        texts = (task.id, account.context_id, short(account.state), self._requests.of(task), last_message(account))
        fields = {name: text.casefold() for name, text in zip(FIELDS, texts, strict=True)}
        anywhere = "\n".join(fields.values())
        return all(
            value in fields[name] if value and name in fields else f"{name}{colon}{value}" in anywhere
            for name, colon, value in words
        )

    def index_of(self, task_id: str) -> int | None:
        """Return the row of a task, None if it does not match."""
        return next((index for index, task in enumerate(self.tasks) if task.id == task_id), None)

    def request_width(self, free: int) -> int:
        """Return the width of the longest request; if requests and messages do not fit in `free` cells, less."""
        request = _longest((self._requests.of(task) for task in self.tasks), free)
        share = int(free * _REQUEST_SHARE)
        if request <= share:
            return request
        message = _longest((last_message(task.now) for task in self.tasks), free - share)
        return min(request, free - max(message, _MESSAGE))

    def __len__(self) -> int:
        return len(self.tasks)

    def row(self, index: int) -> Cells:
        """Return the cells of one task, in the order of `columns`."""
        task, now = self.tasks[index], time.time()
        account = task.now
        artifacts = str(len(account.artifacts)) if account.artifacts or task.artifacts_known else "-"
        state, style = state_cell(account.state, self._glyphs)
        polled = f" {self._glyphs.poll}" if self._polls.get(task.id) is not None else ""
        return (
            (state + polled, style),
            (short_id(task.id), "feed--text"),
            (short_id(account.context_id), "feed--muted"),
            (ago(now - began(task)), "feed--muted"),
            (ago(now - updated(task)), "feed--muted"),
            (artifacts, "feed--text" if account.artifacts else "feed--quiet"),
            (self._requests.of(task), "feed--sent"),
            (last_message(account), "feed--text"),
        )


def _longest(texts: Iterator[str], limit: int) -> int:
    """Return the width of the longest text in cells, at most `limit`."""
    longest = 0
    for text in texts:
        if longest >= limit:
            break
        longest = max(longest, width_of(clean_line(text, limit)))
    return longest


class TaskFacts(ItemLines[None]):
    """The facts about a task: its full ids, its states with their durations, its texts and artifacts; a `LineSource`.

    `now` is the time until which a state lasts that has not ended.
    """

    def __init__(self, task: TrackedTask, request: str, poll: Poll | None, glyphs: Glyphs, now: float) -> None:
        super().__init__()
        self._task = task
        self._request = request
        self._poll = poll
        self._glyphs = glyphs
        self._now = now

    def _build(self, width: int) -> Iterator[tuple[Line, None]]:
        account = self._task.now
        head = ("states".ljust(_LABEL), "line--soft")
        states = state_durations(account.moves, self._now, self._glyphs)
        yield from (
            (line, None) for line in wrap_pieces(states, width, first=[head], rest=[(" " * _LABEL, "line--soft")])
        )
        artifacts = (f"{found.name or found.artifact_id} {size(found.size)}" for found in account.artifacts.values())
        poll = f"every {self._poll.every:g} s, {self._poll.times:,} so far" if self._poll is not None else ""
        facts = (
            ("task", self._task.id),
            ("context", account.context_id),
            ("polled", poll),
            ("request", self._request),
            ("message", last_message(account)),
            ("artifacts", ", ".join(artifacts)),
        )
        for label, text in facts:
            yield from ((line, None) for line in (hang(labelled(label, text, _LABEL), width) if text else ()))


def state_durations(moves: Sequence[Move], now: float, glyphs: Glyphs) -> list[Piece]:
    """Return the states, each with how long it lasted; illegal transitions are marked."""
    wrong = set(illegal(moves))
    pieces: list[Piece] = []
    for index, move in enumerate(moves):
        if index:
            mark = glyphs.cross if index in wrong else ""
            pieces.append((f" {mark}{glyphs.sent} ", "line--bad" if mark else "line--quiet"))
        pieces.append((state_cell(move.state, glyphs)[0], state_style(move.state).replace("feed", "line")))
        if index < len(moves) - 1:
            pieces.append((f" {duration(moves[index + 1].at - move.at)}", "line--soft"))
        elif not is_terminal(move.state):
            pieces.append((f" {duration(max(0.0, now - move.at))} so far", "line--soft"))
    return pieces
