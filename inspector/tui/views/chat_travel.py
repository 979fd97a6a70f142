"""Time travel in the Chat view: all panes show the task as it was at an earlier event."""

from __future__ import annotations

from textual.widget import Widget

from inspector.session.session import Session
from inspector.tui.notify import notify
from inspector.tui.views.chat_selection import ChatSelection
from inspector.tui.widgets.artifact_pane import ArtifactPane
from inspector.tui.widgets.detail_pane import DetailPane
from inspector.tui.widgets.timeline_pane import TimelinePane
from inspector.tui.widgets.travel_line import TravelLine


class TimeTravel:
    """Moves the line of moments with the timeline, and shows its moments in the panes of a view."""

    def __init__(
        self,
        view: Widget,
        session: Session,
        selection: ChatSelection,
        *,
        line: TravelLine,
        timeline: TimelinePane,
        artifact: ArtifactPane,
        detail: DetailPane,
    ) -> None:
        self._view = view
        self._session = session
        self._selection = selection
        self._line = line
        self._timeline = timeline
        self._artifact = artifact
        self._detail = detail

    def step(self, by: int) -> None:
        """Show the task some events later or earlier; from the present, enter the time travel."""
        if self._line.travelling:
            if self._timeline.feed.has_focus:
                self._view.screen.set_focus(self._line)
            self._line.action_step(by)
        else:
            self.enter(by)

    def enter(self, by: int = 0) -> None:
        """Show the task `by` events after the selected row, or after its last record if the row is about another."""
        task, record = self._selection.task, self._detail.record
        if task is None:
            notify(self._view, "There is no task yet. Send a message first.")
            return
        own = record is not None and self._selection.task_of(record) == task.id
        seq = record.seq if record is not None and own else len(self._session.journal.capture)
        in_pane = self._artifact.has_focus_within or self._detail.has_focus_within
        self._line.enter(task.id, seq, by=by, focus=not (by and in_pane))

    def follow_row(self, index: int) -> None:
        """Go to the moment of a row of the timeline that the user selected."""
        record = self._timeline.record(index)
        # Without the focus, the time travel has moved the cursor.
        if self._timeline.feed.has_focus and record is not None and not self._timeline.holds(index, self._line.seq):
            self._line.go_to(record.seq)

    def show(self, moment: TravelLine.Moved) -> None:
        """Show the task as it was at a record."""
        self._view.add_class("-past")
        self._artifact.show(moment.task)
        if not self._timeline.feed.has_focus:
            self._timeline.show_seq(moment.seq)
            self._detail.show(self._session.journal.capture.get(moment.seq))

    def show_present(self, *, focused: bool) -> None:
        """Show the task as it is now; the timeline gets the focus if the line of moments was `focused`."""
        self._view.remove_class("-past")
        if focused:
            self._view.screen.set_focus(self._timeline.feed)

    def leave(self) -> None:
        """Return to the present, if a moment is shown."""
        if self._line.travelling:
            self._line.action_leave()
