"""The panes of the Chat view: their layout, the focus, and the actions that one pane performs."""

from __future__ import annotations

from collections.abc import Callable

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from inspector.session.session import Session
from inspector.text.short_id import SHORT_ID
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.row_sources import TaskListRows
from inspector.tui.views.bookmark_view import BookmarkView
from inspector.tui.widgets.artifact_pane import ArtifactPane
from inspector.tui.widgets.chat_composer import ChatComposer
from inspector.tui.widgets.feed import Column, Feed, Headings
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.timeline_pane import TimelinePane
from inspector.tui.widgets.travel_line import TravelLine

TASK_COLUMNS = (Column("STATE", 16), Column("ID", SHORT_ID), Column("LAST MESSAGE"))
"""The columns of the task list."""


class ChatPanes(BookmarkView):
    """Shows timeline, artifact, detail and composer; a wide screen adds the tasks, a narrow one shows one pane."""

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:
        super().__init__(session, glyphs, id=id)
        self._travel = TravelLine(session, glyphs)
        self._timeline = TimelinePane(session, glyphs, id="timeline-pane")
        self._artifact = ArtifactPane(session, glyphs, id="artifact")
        self._tasks = TaskListRows(session.tasks.all, glyphs)
        self._task_feed = Feed(TASK_COLUMNS, self._tasks, id="task-column", follow=False, empty="No tasks yet.")
        self.composer = ChatComposer(session, id="composer")

    def compose(self) -> ComposeResult:
        """Make the panes and the composer."""
        yield self._travel
        with Horizontal(id="panes"):
            yield self._timeline
            with Vertical(id="right-pane"):
                yield self._artifact
                yield self.detail
            with Pane("Tasks", id="tasks-pane"):
                yield Headings(self._task_feed)
                yield self._task_feed
        yield self.composer

    # The focus

    def focus_first(self) -> None:
        """Focus the timeline, so that the keys of views and actions are not typed into the message."""
        self.focus_timeline()

    def focus_timeline(self) -> None:
        """Show and focus the timeline; it follows its end again if it did before the detail was opened."""
        self._show_timeline()
        self._timeline.feed.resume()
        self.screen.set_focus(self._timeline.feed)

    def open_detail(self) -> None:
        """Focus the detail pane, which is a page of its own on a narrow screen, and stays on its record."""
        self._timeline.feed.hold()
        self.remove_class("-artifact")
        super().open_detail()

    @on(events.DescendantFocus)
    def _show_focused_artifact(self) -> None:
        """Make the artifact pane the page of a narrow screen if it is focused, as the detail pane."""
        self.set_class(self._artifact.has_focus_within, "-artifact")

    def _show_timeline(self) -> None:
        """Show the timeline on a narrow screen, which has room for one pane."""
        self.remove_class("-second", "-artifact")

    def action_next_pane(self, step: int) -> None:
        """Focus the next pane in a direction; on a narrow screen it replaces the pane that is shown."""
        panes: list[tuple[Widget, Callable[[], None]]] = [
            (self._timeline, self.focus_timeline),
            (self._artifact, self._open_artifact),
            (self.detail, self.open_detail),
        ]
        if self.screen.has_class("-wide"):
            panes.append((self._task_feed, self._focus_tasks))
        if self.session.may_send:
            panes.append((self.composer, self.action_compose))
        focused = [index for index, (pane, _) in enumerate(panes) if pane.has_focus_within or pane.has_focus]
        index = focused[0] + step if focused else 0
        panes[index % len(panes)][1]()

    def _focus_tasks(self) -> None:
        self.screen.set_focus(self._task_feed)

    def _open_artifact(self) -> None:
        """Focus the artifact pane, which is a page of its own on a narrow screen."""
        self.remove_class("-second")
        self.add_class("-artifact")
        self._artifact.focus_body()

    def on_composer_left(self) -> None:
        """Focus the timeline."""
        self.focus_timeline()

    def action_compose(self) -> None:
        """Focus the composer."""
        self._show_timeline()
        self._timeline.feed.resume()
        self.composer.focus_text()

    def on_paste(self, event: events.Paste) -> None:
        """Paste into the message, whatever has the focus."""
        if self.session.may_send and not self.composer.has_focus_within:
            event.stop()
            self.action_compose()
            self.composer.paste(event.text)

    # Actions of one pane

    def action_open_message(self) -> None:
        """Show all parts and options of the message."""
        self.composer.action_open()

    def action_recall(self) -> None:
        """Show the sent messages and the snippets."""
        self.composer.action_recall()

    def action_new_task(self) -> None:
        """Write the next message to a new task in a new context."""
        self.composer.action_new_task()

    def action_form(self) -> None:
        """Fill in the form of the agent, and go to the composer, which gets its data."""
        self.action_compose()
        self.composer.action_form()

    def action_fold(self) -> None:
        """Fold the runs of chunks, or unfold them."""
        self._timeline.fold()

    def action_filter(self) -> None:
        """Open the filter."""
        self._show_timeline()
        self._timeline.filter.open()

    def action_save(self) -> None:
        """Save the artifact that is shown, or all of the task, as files."""
        self._artifact.action_save()

    def action_next_artifact(self, step: int) -> None:
        """Show the next artifact in a direction."""
        self._artifact.action_next_artifact(step)

    def action_next_part(self, step: int) -> None:
        """Show the next part of the artifact in a direction."""
        self._artifact.action_next_part(step)
