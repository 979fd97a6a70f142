"""The line of time travel: the moment of a task that is shown, its position, and the keys to go to other moments."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import ClassVar

from rich.cells import cell_len
from textual import events, work
from textual.app import RenderResult
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.worker import Worker

from inspector.capture.private_files import CaptureError
from inspector.lazy_dataclass import dataclass
from inspector.session.replay.moments import Moments
from inspector.session.replay.task_diff import compare_tasks
from inspector.session.session import Session
from inspector.session.tasks import TrackedTask
from inspector.text.units import duration
from inspector.tui.keys import bind
from inspector.tui.notify import notify
from inspector.tui.render.content import plain
from inspector.tui.render.detail import title
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.task_diff import what_changed
from inspector.tui.render.text_lines import Paragraph, without_head
from inspector.tui.screens.text_dialog import TextDialog

_LEAPS = 20
"""The number of leaps from the first moment to the last."""
_NARROWEST = 8
"""The minimum width of the bar in cells."""


class TravelLine(Widget, can_focus=True):
    """Shows a moment of a task and goes to other moments; hidden while the present task is shown.

    The moments are read in the background: the first step into a long stream needs a second, the others a few
    milliseconds.
    """

    DEFAULT_CSS = """
    TravelLine {
        height: 1;
        display: none;
        color: $state-warning;
        text-wrap: nowrap;
        text-overflow: ellipsis;
        &.-open { display: block; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("previous-event", "step(-1)", "back", "One event back"),
        bind("left", "step(-1)", "back", "One event back", show=False),
        bind("next-event", "step(1)", "forward", "One event forward"),
        bind("right", "step(1)", "forward", "One event forward", show=False),
        bind("first", "first", "", "The first event of the task", show=False),
        bind("last", "last", "", "The last event of the task", show=False),
        bind("page-up", "leap(-1)", "far back", "A twentieth of the events back", show=False),
        bind("page-down", "leap(1)", "far forward", "A twentieth of the events forward", show=False),
        bind("mark", "mark"),
        bind("compare", "compare", "diff", "Changes since the mark, or until now"),
        bind("open", "compare", "diff", "Changes since the mark, or until now", show=False),
        bind("back", "leave", "now", "Back to the task as it is now"),
        bind("travel", "leave", "now", "Back to the task as it is now", show=False),
    ]

    @dataclass
    class Moved(Message):
        """Another moment is shown: the task at that time, and the record that changed it."""

        task: TrackedTask
        seq: int

    @dataclass
    class Left(Message):
        """The present task is shown again; `focused` is whether the line had the focus."""

        focused: bool

    def __init__(self, session: Session, glyphs: Glyphs) -> None:
        super().__init__()
        self._session = session
        self._glyphs = glyphs
        self._moments: Moments | None = None
        self._reading: Worker[None] | None = None
        self._wanted = self._by = 0
        self._index = -1
        self._mark: int | None = None
        self._bar = (0, 0)
        self.past: TrackedTask | None = None

    @property
    def seq(self) -> int:
        """The record of the moment that is shown, 0 for none."""
        return self._moments.seq(self._index) if self._moments is not None and self._index >= 0 else 0

    @property
    def travelling(self) -> bool:
        """Whether a moment is shown or being read."""
        return self._moments is not None

    def enter(self, task_id: str, seq: int, *, by: int = 0, focus: bool = True) -> None:
        """Show a task `by` events after the time of a record, and focus the line."""
        if self._moments is None or self._moments.task_id != task_id:
            self._forget()
            self._moments = Moments(self._session.journal, task_id)
        self.add_class("-open")
        if focus:
            self.screen.set_focus(self)
        self.go_to(seq, by)

    def go_to(self, seq: int, by: int = 0) -> None:
        """Show the task at its last event up to a record, or `by` events later, as soon as the records are read."""
        self._wanted, self._by = seq, by
        self._go_to_wanted()
        self.read_on()

    def _forget(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
        self._moments, self._reading, self._mark, self.past = None, None, None, None
        self._index, self._wanted = -1, 0

    def read_on(self) -> None:
        """Read new moments in the background."""
        busy = self._reading is not None and not self._reading.is_finished
        if self._moments is not None and not self._moments.complete and not busy:
            self._reading = self._read(self._moments)

    @work(group="travel", exclusive=True)
    async def _read(self, moments: Moments) -> None:
        more = True
        try:
            while more and moments is self._moments:
                more = moments.read()
                self._go_to_wanted()
                self.refresh()
                await asyncio.sleep(0)
        except CaptureError as error:
            self._give_up(str(error))

    def _go_to_wanted(self) -> None:
        """Go to the wanted moment, if everything up to it has been read."""
        moments = self._moments
        if moments is None or not self._wanted or not (moments.complete or moments.through >= self._wanted):
            return
        wanted, self._wanted = self._wanted, 0
        self._go(moments.index_of(wanted) + self._by)

    def _give_up(self, why: str) -> None:
        """Report why the moment cannot be shown, and return to the present task."""
        notify(self, why, "error")
        self.action_leave()

    def _go(self, index: int) -> None:
        moments = self._moments
        if moments is None or not len(moments):
            return
        self._wanted = 0
        index = max(0, min(index, len(moments) - 1))
        if index == self._index:
            return
        try:
            task = moments.at(index)
        except CaptureError as error:  # the disk was full, or the file is damaged
            self._give_up(str(error))
            return
        self._index, self.past = index, task
        self.refresh()
        self.post_message(self.Moved(task, moments.seq(index)))

    # Drawing

    def _time(self, index: int) -> str:
        """Return a moment as text: the number of its record, and the time since the last sent message."""
        if self._moments is None:
            return ""
        seq, journal = self._moments.seq(index), self._session.journal
        record = journal.capture.get(seq)
        began = journal.send_of(record)
        return f"#{seq} {duration(max(0.0, record.at - began))}" if began is not None else f"#{seq}"

    def render(self) -> RenderResult:
        """Draw the moment, the bar and the mark."""
        moments, session = self._moments, self._session
        if moments is None:
            return ""
        known = len(session.journal.capture)
        if self._index < 0:
            self._bar = (0, 0)
            if moments.complete:
                return Content.styled("As of ?   no record of this task", "bold")
            return Content.styled(f"As of ...   reading {moments.through / max(1, known):.0%}", "bold")
        event = title(session.journal.capture.get(self.seq)).partition(" ")[2]
        head = Content.assemble((f"As of {self._time(self._index)}", "bold reverse"), ("  ", ""), plain(event))
        place = f"  {self._index + 1:,} of {len(moments):,}"
        mark = f"  mark {self._time(self._mark)}" if self._mark is not None else ""
        room = self.size.width - cell_len(head.plain) - len(place) - 2
        tail = f"{place}{mark}" if room - len(mark) >= _NARROWEST else place
        width = self.size.width - cell_len(head.plain) - len(tail) - 2
        if width < _NARROWEST:
            self._bar = (0, 0)
            return Content.assemble(head, (tail, "$text-soft"))
        self._bar = (cell_len(head.plain) + 2, width)
        return Content.assemble(head, ("  ", ""), *self._drawn(width, len(moments)), (tail, "$text-soft"))

    def _drawn(self, width: int, count: int) -> list[tuple[str, str]]:
        """Draw the bar, the moment in it and the mark."""

        def cell(index: int) -> int:
            return round(index * (width - 1) / max(1, count - 1))

        here, rule = cell(self._index), self._glyphs.horizontal
        signs = [(rule, "$state-warning")] * here + [(rule, "$rule")] * (width - here)
        if self._mark is not None:
            signs[cell(self._mark)] = (self._glyphs.vertical, "bold $wire-pushed")
        signs[here] = (self._glyphs.light, "bold $state-warning")
        return signs

    # Keys and clicks

    def action_step(self, by: int) -> None:
        """Go forward or back by some events, from the wanted moment if it has not been read yet."""
        if self._wanted:
            self._by += by
        else:
            self._go(self._index + by)

    def action_leap(self, direction: int) -> None:
        """Go forward or back by a part of all events."""
        count = len(self._moments) if self._moments is not None else 0
        self.action_step(direction * max(2, count // _LEAPS))

    def action_first(self) -> None:
        """Go to the first event."""
        self._go(0)

    def action_last(self) -> None:
        """Go to the last event that is known."""
        self._go(len(self._moments) - 1 if self._moments is not None else 0)

    def action_mark(self) -> None:
        """Mark the moment, or remove its mark."""
        self._mark = None if self._mark == self._index or self._index < 0 else self._index
        self.refresh()
        self.refresh_bindings()

    def action_compare(self) -> None:
        """Show what changed between the mark and this moment, or between this moment and now."""
        if self._moments is None or self._index < 0:
            return
        moments, first = self._moments, self._index
        last: int | None = None
        if self._mark is not None and self._mark != self._index:
            first, last = sorted((self._mark, self._index))
        until = "now" if last is None else self._time(last)
        name = f"Changes: {self._time(first)} {self._glyphs.sent} {until}"
        self.app.push_screen(TextDialog(name, lambda: self._changes(moments, first, last)))

    async def _changes(self, moments: Moments, first: int, last: int | None) -> list[Paragraph]:
        while last is None and moments.read():  # noqa: ASYNC110 - let other coroutines run
            await asyncio.sleep(0)
        last = len(moments) - 1 if last is None else last
        before, after = moments.at(first), moments.at(last)
        found = compare_tasks(before.now, after.now)
        # Events that a push repeats do not change the task, but they are events between the moments, too.
        lines = what_changed(replace(found, events=last - first), self._glyphs)
        pushed = compare_tasks(before.pushed, after.pushed)
        if found.is_empty and not pushed.is_empty:
            heading = without_head("Compared with earlier pushes only:", "line--soft")
            lines += [heading, *what_changed(pushed, self._glyphs)]
        return lines

    def action_leave(self) -> None:
        """Return to the present task."""
        focused = self.has_focus
        self._forget()
        self.remove_class("-open")
        self.post_message(self.Left(focused))

    def on_click(self, event: events.Click) -> None:
        """Go to the clicked moment of the bar."""
        start, width = self._bar
        at = event.get_content_offset(self)
        if at is not None and self._moments is not None and start <= at.x < start + width:
            self._go(round((at.x - start) * (len(self._moments) - 1) / max(1, width - 1)))
