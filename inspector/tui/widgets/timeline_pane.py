"""The timeline: the state of the task in its title, notices, the filter, and under them the events in rows."""

from __future__ import annotations

import time
from bisect import bisect_right

from rich.cells import cell_len
from textual.app import ComposeResult

from inspector.capture.records import Kind, Record, is_probe
from inspector.protocol.assemble import AssembledTask
from inspector.protocol.lifecycle import State, short
from inspector.session.record_list import RecordList
from inspector.session.session import Session
from inspector.session.tasks import TrackedTask
from inspector.text.short_id import short_id
from inspector.text.units import duration
from inspector.tui.keys import key_of
from inspector.tui.render.annotations import Annotations
from inspector.tui.render.glyphs import PHASE, Glyphs
from inspector.tui.render.key_hints import KEY_STYLE
from inspector.tui.render.row_sources import TimelineRows
from inspector.tui.render.rows import is_send, state_colour
from inspector.tui.render.timeline_rows import NOTE_WIDTH
from inspector.tui.widgets.feed import Column
from inspector.tui.widgets.filter_line import FilterLine
from inspector.tui.widgets.pane import Chip, NextChip, Pane
from inspector.tui.widgets.task_lines import NoticeLine, StreamLine
from inspector.tui.widgets.wrapping_feed import WrappingFeed

COLUMNS = (
    Column("time", 8, "right"),
    Column("gap", 6, "right", min_total_width=110),
    Column("way", 1, shrinks=True),
    Column("kind", 10, min_total_width=40, shrinks=True),
    Column("task", 4, shrinks=True),
    Column("state", 24, shrinks=True),
    Column("text"),
    Column("finding", 1, shrinks=True),
    Column("note", NOTE_WIDTH, "right", min_total_width=50, shrinks=True),
)

_NOT_SHOWN = frozenset({"doctor", "bookmark", "unbookmark", "remark", "unremark"})
"""Events of notes that are not part of a conversation."""

_BORDER = 9
"""The cells of the lower border that are not text: the corners, and the rule between two words."""

_SIDE_BY_SIDE = 64
"""How many rows, from the nearest row backwards, are searched for the run that contains a chunk."""


def belongs(record: Record) -> bool:
    """Return whether a record is part of the conversation.

    Not part of it are card fetches, what the doctor does, and head, trailers and end of a successful response.

    Bookmarks and remarks are shown on the rows of their records.
    """
    if record.operation == "GetAgentCard" or record.event in _NOT_SHOWN or is_probe(record):
        return False
    match record.kind:
        case Kind.RESPONSE:
            return bool(record.meta["status"] >= 300)
        case Kind.TRAILERS:
            return bool(record.meta["code"])
        case Kind.END:
            return record.meta["how"] != "complete" or bool(record.findings)
        case _:
            return True


def _is_listed_folded(record: Record) -> bool:
    """Return whether a record has a row while runs are folded: keep-alives are counted in the row of their request."""
    return belongs(record) and record.kind is not Kind.KEEPALIVE


class TimelinePane(Pane):
    """Shows the records of a session that belong to the conversation, all of them or those that match a filter."""

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:
        super().__init__("Timeline", id=id)
        self._session = session
        self._glyphs = glyphs
        self._annotations = Annotations(session)
        # Both lists are kept, because reading a million records again is too slow for a key press.
        self._wholes = {
            True: RecordList(_is_listed_folded, folded=True, begins=is_send),
            False: RecordList(belongs, begins=is_send),
        }
        for whole in self._wholes.values():
            session.journal.subscribe(whole.offer, replay=True)
        self._folded = True
        self._list = self._whole
        self._rows = self._rows_of(self._list)
        self.reply_to: str | None = (
            None  # the task that the composer replies to, None unless the composer has the focus
        )
        self._titled: tuple[TrackedTask | None, TrackedTask | None, Record | None] = (None, None, None)
        self._notice = NoticeLine(glyphs)
        self.stream = StreamLine(session, glyphs)
        self.filter = FilterLine(session, belongs)
        self.feed = WrappingFeed(COLUMNS, self._rows, enter_hint="open", id="timeline", empty=self._nothing_yet)

    def compose(self) -> ComposeResult:
        """Make the notices, the filter and the rows."""
        yield self._notice
        yield self.stream
        yield self.filter
        yield self.feed

    @property
    def filtering(self) -> bool:
        """Whether a filter is active."""
        return self._list is not self._whole

    @property
    def _nothing_yet(self) -> str:
        if self._session.recorded:
            return "The capture contains no events."
        # The first event of a session is the connection.
        return f"No agent is connected. Press {key_of('connect')} to connect to one."

    @property
    def _whole(self) -> RecordList:
        """The rows without a filter."""
        return self._wholes[self._folded]

    def _rows_of(self, records: RecordList) -> TimelineRows:
        return TimelineRows(self._session.journal, records, self._glyphs, self._annotations)

    def refresh_rows(self) -> None:
        """Draw the rows that were added or changed."""
        self.feed.refresh_rows()
        self.filter.look()

    # Rows

    def lists(self, record: Record) -> bool:
        """Return whether a record has a row, if there is no filter."""
        return _is_listed_folded(record) if self._folded else belongs(record)

    def record(self, index: int) -> Record | None:
        """Return the last record of a row, None if there is no such row."""
        return self._rows.record(index) if 0 <= index < len(self._rows) else None

    def holds(self, index: int, seq: int) -> bool:
        """Return whether a record may be in a row: it is between the first and the last record of its run."""
        return self._list[index].first <= seq <= self._list[index].last

    def show_seq(self, seq: int) -> None:
        """Move the cursor to the row of a record, or to the nearest row before it."""
        nearest = self._list.index_of(seq)
        if nearest is not None:
            # If several runs grow at the same time, the record may be in a row before the nearest row.
            earlier = range(nearest, max(-1, nearest - _SIDE_BY_SIDE), -1)
            self.feed.cursor = next((row for row in earlier if self.holds(row, seq)), nearest)

    def reveal(self, seq: int) -> None:
        """Move the cursor to the row of a record; remove the filter if it hides the record."""
        self.show_seq(seq)
        if self.filtering and not (self._list and self.holds(self.feed.cursor, seq)):
            self.filter.action_clear()
            self._show_list(self._whole, seq)

    def show_task(self, task: TrackedTask) -> None:
        """Move the cursor to the last row about a task, if a row near its last event is about it."""
        capture, rows, last = self._session.journal.capture, self._list, task.now.updated
        end = bisect_right(range(len(rows)), last, key=lambda row: capture.get(rows[row].first).at)
        near = range(end - 1, max(-1, end - 1 - _SIDE_BY_SIDE), -1)
        found = next((row for row in near if rows[row].records and capture.get(rows[row].last).task == task.id), None)
        if found is not None:
            self.feed.cursor = found

    def _show_list(self, rows: RecordList, keep: int = 0) -> None:
        self._list, self._rows = rows, self._rows_of(rows)
        self.feed.empty = f"No match. Press {key_of('back')} to show all rows." if self.filtering else self._nothing_yet
        self.feed.show_rows(self._rows)
        if keep:
            self.show_seq(keep)

    def fold(self) -> None:
        """Fold the runs of chunks, or unfold them."""
        keep = self._seq_to_keep()
        self._folded = not self._folded
        self.filter.fold(folded=self._folded)
        self._show_list(self._whole if self.filter.hits is None else self.filter.hits, keep)

    def _seq_to_keep(self) -> int:
        """Return the record under the cursor, 0 if the feed follows its end."""
        record = None if self.feed.following else self.record(self.feed.cursor)
        return record.seq if record is not None else 0

    # The filter

    def on_filter_line_changed(self) -> None:
        """Show the hits of the new filter, or all rows if it was removed."""
        hits, keep = self.filter.hits, self._seq_to_keep()
        self._show_list(*((self._whole, keep) if hits is None else (hits, 0)))
        self.show_title(*self._titled)
        self.refresh_bindings()

    def on_filter_line_found(self) -> None:
        """Show the new hits."""
        self.feed.refresh_rows()
        self.show_title(*self._titled)

    def on_filter_line_left(self) -> None:
        """Focus the hits."""
        self.screen.set_focus(self.feed)

    # The lines above the rows

    def show_title(self, task: TrackedTask | None, past: TrackedTask | None, record: Record | None) -> None:
        """Show a task, its state and its duration, as it is now or as it was in the `past`.

        The stream is that of the present task, or of the selected `record`.
        """
        session, self._titled = self._session, (task, past, record)
        shown = past or task
        account = shown.now if shown is not None else None
        replying = account is not None and self.reply_to == account.id
        stream = session.journal.exchanges.stream_of(account.id) if account is not None else None
        listening = stream is not None and stream.seconds is None and not session.journal.exchanges.recorded
        writing = self.reply_to is not None
        self._notice.show(account, past=past is not None, writing=writing, replying=replying, listening=listening)
        self.stream.writing = writing
        self.stream.show(session.tasks.get(past.id) if past is not None else task, record)
        chips: list[Chip] = []
        if account is not None and account.moves:
            ended = past is not None or session.recorded
            now = account.updated if ended else time.time()
            chips += self._state(account, now, moving=not ended and session.journal.exchanges.open > 0)
        if self.filtering:
            count = len(self._whole) - self._whole.separators
            chips.append(Chip(f"{len(self._list) - self._list.separators:,} of {count:,} rows", "$bar"))
        self.set_title(*chips, note=self._note())

    def _note(self) -> list[Chip]:
        """Return the note in the lower border: whether the list follows the newest row, and the state of the stream."""
        key = NextChip(key_of("last"), KEY_STYLE, "follow")
        if self.feed.following:
            follow = [Chip(f"{self._glyphs.light} following", "$state-good")]
        elif self.feed.unseen:
            follow = [Chip(f"{self.feed.unseen:,} new below, press", "$wire-received", "follow"), key]
        elif self.feed.cursor >= self.feed.line_count - 1:
            follow = []
        else:
            follow = [Chip("not following, press", "$wire-quiet", "follow"), key]
        room = self.size.width - cell_len(" ".join(chip.text for chip in follow)) - _BORDER
        return [*follow, *self.stream.measures(room)]

    def chosen(self, target: str) -> None:
        """Follow the newest row, or show the statistics of the stream."""
        if target == "follow":
            self.feed.action_last()
        else:
            self.post_message(StreamLine.Clicked())

    def _state(self, account: AssembledTask, now: float, *, moving: bool) -> list[Chip]:
        state = f"{self._sign(account.state, moving=moving)} {short(account.state)}"
        return [
            Chip(short_id(account.id)),
            Chip(state, f"bold {state_colour(account.state)}"),
            Chip(duration(account.seconds(now)), "$text-soft"),
        ]

    def _sign(self, state: str, *, moving: bool) -> str:
        """Return the glyph of a state; that of a running task is the only animated sign on the screen."""
        phases = self._glyphs.moving
        if state == State.WORKING and moving and self.app.animation_level != "none":
            return phases[int(time.monotonic() / PHASE) % len(phases)]
        return self._glyphs.state_glyph(state)
