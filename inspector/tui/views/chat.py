"""The Chat view: the timeline, the artifact, the detail of the selected record, and the composer."""

from __future__ import annotations

from typing import ClassVar

from textual import work
from textual.binding import BindingType
from textual.message import Message

from inspector.capture.records import Record
from inspector.protocol.lifecycle import is_terminal, short
from inspector.protocol.operations import Operation
from inspector.session.call import Call
from inspector.session.compose.draft import Draft, text_draft
from inspector.session.session import Session
from inspector.session.tasks import TrackedTask
from inspector.text.short_id import short_id
from inspector.tui import lazy_loading
from inspector.tui.keys import bind, key_of
from inspector.tui.notify import notify, notify_faults
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.render.task_diff import compared
from inspector.tui.render.text_lines import Paragraph
from inspector.tui.screens.menu import confirm
from inspector.tui.screens.text_dialog import TextDialog
from inspector.tui.views.base import NO_TASK, why_not_running
from inspector.tui.views.chat_calls import ChatCalls
from inspector.tui.views.chat_panes import ChatPanes
from inspector.tui.views.chat_selection import ChatSelection
from inspector.tui.views.chat_travel import TimeTravel
from inspector.tui.widgets.chat_composer import ChatComposer
from inspector.tui.widgets.composer import Destination
from inspector.tui.widgets.feed import Feed
from inspector.tui.widgets.task_lines import StreamLine
from inspector.tui.widgets.travel_line import TravelLine


class ChatView(ChatPanes):
    """Shows the conversation with the agent."""

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("write", "compose"),
        bind("stop", "stop"),
        bind("compose", "open_message", show=False),
        bind("history", "recall", show=False),
        bind("new-task", "new_task", show=False),
        bind("form", "form", show=False),
        bind("cancel", "cancel", "", "Cancel the task (CancelTask)", show=False),
        bind("subscribe", "reconnect", "reconnect", "Reconnect the stream"),
        bind("representation", "next_view", "view", "Show decoded, raw, hex, headers or diff"),
        bind("fold", "fold", "", "Fold or unfold runs of chunks", show=False),
        bind("back", "back", "", "Go back to the timeline"),
        bind("subscribe", "call('SUBSCRIBE')", show=False),
        bind("travel", "travel"),
        bind("previous-event", "step(-1)", show=False),
        bind("next-event", "step(1)", show=False),
        bind("mark", "travel_mark", show=False),
        bind("filter", "filter", "", "Filter the timeline"),
        bind("quit", "confirm_quit", "", "Quit a2a-inspect, after a question", show=False),
        bind("compare", "compare", "", "Compare stream, push and GetTask, or moments of time travel"),
        bind("save", "save", "", "Save this artifact, or all, as files", show=False),
        bind("next-artifact", "next_artifact(1)", show=False),
        bind("previous-artifact", "next_artifact(-1)", show=False),
        bind("next-part", "next_part(1)", show=False),
        bind("previous-part", "next_part(-1)", show=False),
        bind("statistics", "statistics", "", "Show stream statistics"),
        bind("reconnect", "auto_reconnect", "auto-reconnect", "Turn automatic reconnecting on or off"),
        bind("next-pane", "next_pane(1)", show=False),
        bind("previous-pane", "next_pane(-1)", show=False),
    ]

    CALLS: ClassVar[dict[str, Operation]] = {
        "cancel": Operation.CANCEL,
        "reconnect": Operation.SUBSCRIBE,
        "compare": Operation.GET,
    }
    NEEDS_AGENT = frozenset({"compose", "open_message", "recall", "new_task"})

    class ShowWanted(Message):
        """The Chat view has to be shown."""

    def __init__(self, session: Session, glyphs: Glyphs, *, id: str) -> None:
        super().__init__(session, glyphs, id=id)
        self.lists = self._timeline.lists
        self.stream = self._timeline.stream
        self._selection = ChatSelection(session)
        self._time_travel = TimeTravel(
            self,
            session,
            self._selection,
            line=self._travel,
            timeline=self._timeline,
            artifact=self._artifact,
            detail=self.detail,
        )
        self._calls = ChatCalls(self.composer, show_task=self._show_task_of_call, ended=self.refresh_view)

    def on_mount(self) -> None:
        """Name the keys that work for the destination of the message, whenever it changes."""
        self.watch(self.composer, "destination", self.show_title, init=False)

    def refresh_view(self) -> None:
        """Show new rows, the state of the task and its artifact; address the composer to a task that requires input."""
        self._timeline.refresh_rows()
        if self._timeline.feed.following:
            self._select(self._timeline.feed.cursor)  # the row may be a growing run of chunks
        if self._travel.travelling:
            self._travel.read_on()
        else:
            self._artifact.show(self.shown_task, self._selection.reply)
        chosen = self._task_at_cursor()
        self._tasks.refresh()
        self._task_feed.refresh_rows()
        self._show_in_list(chosen if self._task_feed.has_focus else self.shown_task)
        self.show_title()
        self.composer.push_on = self.session.push.on
        if self._selection.has_new_destination(self.composer.destination, kept=self.composer.keeps_destination):
            self.address_task()

    def _task_at_cursor(self) -> TrackedTask | None:
        """Return the task under the cursor of the task list."""
        return self._task_feed.item_of(self._tasks.tasks)

    def _show_in_list(self, task: TrackedTask | None) -> None:
        """Move the cursor of the task list to a task; new tasks are added before it."""
        tasks = self._tasks.tasks
        if task is not None and task.number <= len(tasks):
            self._task_feed.cursor = len(tasks) - task.number  # the newest task is first

    @property
    def shown_task(self) -> TrackedTask | None:
        """The task that is shown, if any."""
        return self._selection.task

    @property
    def call_task(self) -> str:
        """The id of the task that is shown."""
        return self.shown_task.id if self.shown_task is not None else ""

    def follow_task(self, task_id: str) -> None:
        """Show another task, and address the composer to it."""
        if task_id:
            self._selection.show_task(task_id)
        self.address_task()
        self.refresh_view()

    def open_task(self, task_id: str) -> None:
        """Show another task, with the cursor on its last row."""
        task = self.session.tasks.get(task_id)
        if task is None:
            return
        self._time_travel.leave()
        self._timeline.show_task(task)
        self.follow_task(task_id)

    def address_task(self) -> None:
        """Address the composer to the task if it requires input or authentication, else to its context."""
        destination = self._selection.destination()
        if destination is not None:
            self.composer.destination = destination

    def show_title(self) -> None:
        """Show the task, its state and its age."""
        self._timeline.reply_to = self.composer.destination.task_id if self.composer.has_focus_within else None
        self._timeline.stream.awaited = self._calls.awaited
        self._timeline.show_title(self.shown_task, self._travel.past, self.selected_record())

    def show_seq(self, seq: int) -> None:
        """Select the row of a record; remove a filter that hides it."""
        self._show_timeline()
        self._timeline.reveal(seq)

    # The selection

    def on_feed_highlighted(self, event: Feed.Highlighted) -> None:
        """Show the selected record, or the selected task."""
        if event.feed is self._task_feed:
            if event.feed.has_focus and event.index < len(self._tasks.tasks):
                self.open_task(self._tasks.tasks[event.index].id)
            return
        if event.feed is not self._timeline.feed:
            return
        self._select(event.index)
        if not self._travel.travelling:
            self._artifact.show(self.shown_task, self._selection.reply)
            if not self._task_feed.has_focus:
                self._show_in_list(self.shown_task)
            self.show_title()
        else:
            self._time_travel.follow_row(event.index)

    def _select(self, index: int) -> None:
        """Show the record of a row in the detail pane; if it is another record, every pane shows its task."""
        record = self._timeline.record(index)
        if record is None:
            return
        self.detail.show(record)
        shows_other = not self._travel.travelling and self._selection.select(record)
        moved = self._timeline.feed.has_focus or self._task_feed.has_focus
        if shows_other and (moved or not self.composer.keeps_destination):
            self.address_task()

    def selected_record(self) -> Record | None:
        """Return the record of the row under the cursor, even if the message about it was not handled yet."""
        self._catch_up()
        return super().selected_record()

    def _catch_up(self) -> None:
        """Select the row under the cursor, unless its detail, which may be any record of a run, is shown."""
        index, shown = self._timeline.feed.cursor, self.detail.record
        if index >= 0 and (shown is None or not self._timeline.holds(index, shown.seq)):
            self._select(index)

    def action_call(self, name: str) -> None:
        """Call an operation for the task of the selected row."""
        self._catch_up()
        super().action_call(name)

    def on_feed_opened(self, event: Feed.Opened) -> None:
        """Focus the detail of the selected row, or the timeline of the selected task."""
        if event.feed is self._timeline.feed:
            self.open_detail()
        elif event.index < len(self._tasks.tasks):
            self.open_task(self._tasks.tasks[event.index].id)
            self.focus_timeline()

    # Panes

    def on_descendant_focus(self) -> None:
        """Name the keys that work where the focus is now; a detail that was clicked stays on its record."""
        if self.detail.has_focus_within:
            self._timeline.feed.hold()
        self.show_title()

    def action_back(self) -> None:
        """Go back to the timeline; from there end the time travel, or clear the filter."""
        if not self._timeline.feed.has_focus:
            self.focus_timeline()
        elif self._travel.travelling:
            self._travel.action_leave()
        else:
            self._timeline.filter.action_clear()

    def action_confirm_quit(self) -> None:
        """Ask before the end: whoever begins to write a message without the composer may type this letter."""
        confirm(self, "Quit", "Quit a2a-inspect? What was recorded is kept.", self.app.exit)

    def action_compare(self) -> None:
        """Compare moments of the time travel, or ask the agent for the task and compare all sources."""
        self._catch_up()
        task_id = self.call_task
        if self._travel.travelling:
            self._travel.action_compare()
        elif task_id:
            title = f"Stream, push and GetTask: task {short_id(task_id)}"
            dialog = TextDialog(title, lambda: self._compare(task_id, dialog.width))
            self.app.push_screen(dialog)

    async def _compare(self, task_id: str, width: int) -> list[Paragraph]:
        comparison, problem = await lazy_loading.ask_and_compare(self.session, task_id)
        return compared(comparison, problem, self.glyphs, width)

    def action_cancel(self) -> None:
        """Cancel the task that is shown, if the user confirms."""
        self._catch_up()
        task = self.shown_task
        if task is not None:
            name = f"{short_id(task.id)} ({short(task.now.state)})"
            self.confirm_call("Cancel task", f"Cancel the task {name}?", Operation.CANCEL, task.id)

    # Time travel

    def action_travel(self) -> None:
        """Show the task at the selected row, or at its last record if the row belongs to another task."""
        self._catch_up()
        self._time_travel.enter()

    def action_step(self, by: int) -> None:
        """Show the task one event later or earlier; from the present, enter the time travel."""
        self._catch_up()
        self._time_travel.step(by)

    def action_travel_mark(self) -> None:
        """Mark the moment that is shown, or remove its mark."""
        self._travel.action_mark()

    def on_travel_line_moved(self, event: TravelLine.Moved) -> None:
        """Show the task as it was at a record."""
        self._time_travel.show(event)
        self.show_title()

    def on_travel_line_left(self, event: TravelLine.Left) -> None:
        """Show the task as it is now."""
        self._time_travel.show_present(focused=event.focused)
        self.refresh_view()

    # The stream

    def action_statistics(self) -> None:
        """Show the statistics of the stream."""

        async def write() -> list[Paragraph]:
            return self.stream.in_full()

        self.app.push_screen(TextDialog("Stream statistics", write, live=True))

    def on_stream_line_clicked(self) -> None:
        """Show the statistics of the stream."""
        self.action_statistics()

    def action_auto_reconnect(self) -> None:
        """Turn automatic reconnecting on or off."""
        self.stream.automatic = not self.stream.automatic
        how = "automatically" if self.stream.automatic else f"when you press {key_of('subscribe')}"
        notify(self, f"A disconnected stream is reconnected {how}.")
        self.refresh_view()

    # Calls

    @property
    def is_busy(self) -> bool:
        """Whether a call is running."""
        return self._calls.is_busy

    def send_text(self, text: str, *, stream: bool, answer: bool) -> None:
        """Send a text as a new message, or as an `answer` to the task that requires input."""
        if answer:
            self.address_task()
        destination = self.composer.destination if answer else Destination()
        call = self.composer.prepare(
            text_draft(text, task_id=destination.task_id, context_id=destination.context_id), stream=stream
        )
        if call is not None:
            self.drive(call)

    def on_chat_composer_call_prepared(self, event: ChatComposer.CallPrepared) -> None:
        """Send a message."""
        if event.elsewhere:
            self.post_message(self.ShowWanted())
        self.drive(event.call, event.draft)

    def drive(self, call: Call, draft: Draft | None = None) -> None:
        """Run a call in a worker, and follow its events; if it fails, the composer gets the `draft` back."""
        self._time_travel.leave()
        self._timeline.feed.action_last()
        self.run_worker(self._calls.send(call, draft), group="calls")

    async def follow(self, call: Call) -> None:
        """Run a call to its end, and show its task."""
        await self._calls.follow(call)

    @work(group="calls")
    async def on_stream_line_reconnect(self, event: StreamLine.Reconnect) -> None:
        """Make an automatic call; a fault of its response is shown only in the timeline."""
        subscribes = event.operation is Operation.SUBSCRIBE
        try:
            with notify_faults(self):
                call = (self.session.subscribe if subscribes else self.session.get)(event.task_id)
                await self._calls.follow(call, automatic=True)
        finally:
            self.stream.reconnecting.discard(event.task_id)
        self.refresh_view()

    def _show_task_of_call(self, task_id: str) -> None:
        """Follow the task of a call, except in time travel, or if a message to another task is being written."""
        destination = self.composer.destination
        is_other = destination.chosen or destination.task_id not in ("", task_id)
        follows = self._timeline.feed.following and not self._travel.travelling
        if follows and not (is_other and self.composer.keeps_destination):
            self.follow_task(task_id)

    def action_stop(self) -> None:
        """Stop the call of the selected row, or the newest call, without asking the agent."""
        record = self.selected_record()
        self._calls.stop(record.exchange if record is not None else 0)

    def action_reconnect(self) -> None:
        """Subscribe again to the task whose stream was disconnected."""
        if self.shown_task is not None:
            self.action_call("SUBSCRIBE")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable actions that are not possible in the state of the task."""
        lost = self.stream.lost
        if action == "reconnect":
            return lost
        if parameters == ("SUBSCRIBE",) and lost:
            return False
        if action in ("call", "cancel") and not self.session.recorded:
            running = self.shown_task is not None and not is_terminal(self.shown_task.now.state)
            return True if running else None
        if action == "stop":
            return self.is_busy
        if action == "form":
            return self.composer.has_form
        if action == "compare":
            return True if self.call_task else None
        if action == "copy_as":
            return True if self.selected_record() is not None else None
        if action == "travel_mark":
            return True if self._travel.travelling else None
        if action in ("save", "next_artifact", "next_part"):
            return self._artifact.check_action(action, parameters)
        if action == "back":
            return not self._timeline.feed.has_focus or self._travel.travelling or self._timeline.filtering
        return super().check_action(action, parameters)

    def disabled_reason(self, command: str) -> str:
        """Return why a command cannot be used now."""
        if reason := super().disabled_reason(command):
            return reason
        match command:
            case "save" | "next-artifact" | "previous-artifact" | "next-part" | "previous-part":
                return self._artifact.disabled_reason(command)
            case "cancel" | "subscribe":
                return why_not_running(self.shown_task)
            case "compare":
                return NO_TASK
            case "stop":
                return "no call is running"
            case "mark":
                return f"press {key_of('travel')} first, for time travel"
            case "send-once":
                return f"no message is written, press {key_of('write')} to write one"
            case "form":
                return "the agent has not asked for a form"
        return ""

    def selected_text(self) -> str:
        """Return the text of the artifact if it is focused, else the selected payload or value."""
        return self._artifact.selected_text() if self._artifact.has_focus_within else super().selected_text()
