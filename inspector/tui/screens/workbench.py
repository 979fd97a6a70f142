"""The workbench: the main screen of a session, with the views and the calls that they request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from textual import events, work
from textual.binding import BindingType
from textual.worker import Worker

from inspector.capture.private_files import CaptureError
from inspector.capture.records import Kind, Record
from inspector.options import Options
from inspector.protocol.card import AgentCard
from inspector.protocol.errors import Fault
from inspector.protocol.model import Deleted, PushConfig, PushConfigList
from inspector.protocol.operations import Operation
from inspector.protocol.selection import Choice, alternatives
from inspector.session.connection import Connection
from inspector.session.session import Session
from inspector.tui import lazy_loading
from inspector.tui.keys import bind
from inspector.tui.notify import DENIED, copy, notify, notify_fault, notify_faults
from inspector.tui.refresh_throttle import RefreshThrottle
from inspector.tui.render.glyphs import PHASE, Glyphs
from inspector.tui.screens.dialog import ask
from inspector.tui.screens.frame import LAST_KEYS, FrameScreen
from inspector.tui.screens.interfaces import InterfacesScreen
from inspector.tui.screens.menu import show_actions
from inspector.tui.task_calls import calls_for, switch_push
from inspector.tui.views.agent import AgentView
from inspector.tui.views.base import CallWanted
from inspector.tui.views.switcher import ViewSwitcher
from inspector.tui.widgets.card_view import CardView
from inspector.tui.widgets.status_bar import Status, TabName

if TYPE_CHECKING:  # loaded after the card is shown
    from inspector.session.call import Call
    from inspector.session.compose.draft import Draft
    from inspector.session.replay.recording import Recording
    from inspector.tui.tour import Send
    from inspector.tui.views.chat import ChatView
    from inspector.tui.views.findings import FindingsView
    from inspector.tui.views.tasks import TasksView
    from inspector.tui.widgets.tour import Tour

_LOOP_ITERATIONS = 4
"""How many event-loop iterations to wait after each part of a capture, because handling a key needs several."""
_NEEDS_AGENT = frozenset({"push", "doctor", "send_again", "interfaces", "credentials"})
"""The actions that need an agent, and are disabled in a capture."""


class WorkbenchScreen(FrameScreen):
    """Shows a session in several views, and makes the calls that the views request."""

    CSS_PATH = "workbench.tcss"
    ALLOW_IN_MAXIMIZED_VIEW = "StatusBar, KeyFooter"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("actions", "actions"),
        bind("webhook", "push"),
        bind("copy", "copy"),
        bind("zoom", "unzoom", "restore", "Restore the pane"),
        bind("zoom", "zoom", show=False),
        bind("interface", "interfaces", show=False),
        bind("credentials", "credentials", show=False),
        bind("translate", "translate", show=False),
        bind("send-again", "send_again", "", "Send the selected message again", show=False),
        bind("doctor", "doctor", show=False),
        bind("connect", "app.connect", show=False),
        # Textual's scrolling widgets use these keys, too.
        bind("next-connection", "app.connection(1)", show=False, priority=True),
        bind("previous-connection", "app.connection(-1)", show=False, priority=True),
        bind("next-pane", "app.focus_next", show=False),
        bind("previous-pane", "app.focus_previous", show=False),
        bind("close-connection", "app.close_connection"),
        bind("tour", "tour", "", "Start the guided tour, or focus it", show=False),
        *LAST_KEYS,
    ]

    def __init__(
        self, session: Session, reference: str, glyphs: Glyphs, *, view: str, options: Options, unsent: Draft | None
    ) -> None:
        self.views = ViewSwitcher(session, glyphs, view)
        super().__init__(glyphs, view, "connecting", self.views)
        self.session = session
        self.reference = reference
        self._glyphs = glyphs
        self._options = options
        self._unsent = unsent
        self._doing = ("busy", "connecting")
        self.agent = self.views.agent
        self._throttle = RefreshThrottle(self.status_bar, self.refresh_view)
        self._tour: Tour | None = None
        self._has_tour = False
        self._others: Worker[None] | None = None
        self.ready = asyncio.Event()
        """Set when the Agent view is mounted."""

    @property
    def chat(self) -> ChatView:
        """The Chat view, which must be mounted."""
        return self.views.chat

    def on_mount(self) -> None:
        """Add the Agent view after the frame is shown, because showing a screen styles all of its widgets again."""
        self._unsubscribe = self.session.journal.subscribe(lambda _: self._throttle.request())
        self.call_after_refresh(self._add_agent)

    async def _add_agent(self) -> None:
        await self.views.add_agent()
        self._others = self._add_others()
        self.ready.set()
        self.agent.show_connecting(self.reference)
        self._show_status()
        self.watch_view(self.view)
        self.refresh_bindings()

    @work(group="views")
    async def _add_others(self) -> None:
        async for view in self.views.add_others():
            if view.id == "chat":
                self.chat.stream.automatic = self._options.resubscribe
                self.chat.composer.offer_draft(self._unsent)
                self._show_connection_in_chat()
        self.set_interval(PHASE, self._tick)

    async def all_views(self) -> None:
        """Wait until all views are mounted, which are needed for calls."""
        await self.ready.wait()
        self.views.request_others()
        if self._others is not None:
            await self._others.wait()

    def on_unmount(self) -> None:
        """Stop following the session."""
        self._unsubscribe()

    def _tick(self) -> None:
        """Animate the title of a running task, unless the whole screen is about to be drawn."""
        shown = self.is_current and self.view == "chat"
        if shown and self.session.journal.exchanges.open and self._throttle.idle:
            self.chat.show_title()

    # The state of the session

    def show_recording(self, recording: Recording) -> None:
        """Show a capture while and after it is read."""
        self._doing = ("off", "capture")
        self.agent.show_recording()
        self._read(recording)

    @work(group="calls")
    async def _read(self, recording: Recording) -> None:
        """Read a capture in parts, so that keys are handled between two parts."""
        await self.all_views()
        self.chat.action_back()
        try:
            for _ in recording.read():
                self._doing = ("busy", f"capture, {recording.part_read:.0%} read")
                for _ in range(_LOOP_ITERATIONS):
                    await asyncio.sleep(0)
            self._doing = ("off", "capture")
        except CaptureError as error:
            self._doing = ("bad", f"capture, {recording.part_read:.0%} read")
            notify(self, str(error), "error")
        tasks = recording.tasks.all()
        if tasks and not self.chat.call_task:
            self.chat.follow_task(tasks[0].id)
        self.refresh_view()

    def show_connection(self, connection: Connection) -> None:
        """Show the agent that was found."""
        self._doing = ("good", "connected") if connection.choice else ("bad", "no interface")
        self.agent.show_connection(connection)
        self._show_connection_in_chat()
        self.refresh_view()
        self.call_after_refresh(self.views.request_others)

    def _show_connection_in_chat(self) -> None:
        connection = self.session.connection
        if connection is not None and self.views.has_chat:
            self.chat.composer.stream = connection.card.capabilities.streaming is not False
            self.run_worker(self.chat.composer.restore_draft(), group="draft left")

    def on_agent_view_connected(self, event: AgentView.Connected) -> None:
        """Show the new card of the agent."""
        self.show_connection(event.connection)

    def show_connecting(self) -> None:
        """Show that the card is fetched again, because there was none."""
        self._doing = ("busy", "connecting")
        self.agent.show_connecting(self.reference)
        self._show_status()

    def show_fault(self, fault: Fault) -> None:
        """Show why there is no agent."""
        self._doing = ("bad", "credentials needed" if fault.code in DENIED else "no agent")
        self.agent.show_fault(fault)
        self.refresh_view()
        self.call_after_refresh(self.views.request_others)

    def use(self, choice: Choice) -> None:
        """Use the interface that was chosen."""
        self.session.use(choice)
        if self.session.connection is not None:
            self.show_connection(self.session.connection)

    # The tab of the session

    @property
    def name_of_tab(self) -> TabName:
        """The name of the agent, or of the capture, and the host and port of the agent."""
        connection = self.session.connection
        url = urlsplit(self.session.agent_url if connection is not None else self.reference)
        name = connection.card.name if connection is not None else ""
        return TabName(name or url.netloc or self.reference, url.netloc.rpartition("@")[2])

    @property
    def is_without_agent(self) -> bool:
        """Whether the connection failed, or has not been made yet; never for a capture."""
        return self.session.connection is None and not self.session.recorded

    def show_tabs(self, names: Sequence[TabName], current: int) -> None:
        """Show the names of all sessions, this one highlighted."""
        self.status_bar.show_tabs(names, current)

    # The views

    def refresh_view(self) -> None:
        """Update the current view and the status."""
        if not self.ready.is_set() or self not in self.app.screen_stack:
            return
        self.views.view.refresh_view()
        self._show_status()
        if self._tour is not None:
            self._tour.look()

    def _show_status(self) -> None:
        light, doing = self._doing
        reference = self.session.journal.redactor.url(self.reference)
        self.status_bar.show(Status.of(self.session, light, doing, reference))

    def watch_view(self, view: str) -> None:
        """Show another view and focus it."""
        super().watch_view(view)
        self.minimize()
        if self.ready.is_set():
            self.views.show(view)

    async def action_go(self, view: str) -> None:
        """Go to a view, and wait until it is mounted, so that the next keys are for that view."""
        self.view = view
        if self.ready.is_set() and self.views.view.id != view:
            await self.all_views()

    def yield_to_input(self) -> None:
        """Pause drawing and deliveries for a moment, so that a key is handled first."""
        self._throttle.yield_to_input()
        self.session.push.yield_to_input()

    def action_zoom(self) -> None:
        """Maximise the focused pane."""
        if self.focused is not None:
            self.maximize(self.focused)
        self.refresh_bindings()

    def action_unzoom(self) -> None:
        """Restore the maximised pane."""
        self.minimize()
        self.refresh_bindings()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Maximise the pane that gets the focus instead of the maximised pane, or restore all for the composer."""
        if self.maximized is None or event.widget.is_in_maximized_view:
            return
        if self.views.has_chat and self.chat.composer in event.widget.ancestors:  # the key to restore is a letter there
            self.minimize()
        else:
            self.maximize(event.widget)
        self.refresh_bindings()

    # Actions on the session and the selected record

    def action_copy(self) -> None:
        """Copy the selected text, or the selected item of the view."""
        copy(self, self.get_selected_text() or self.views.view.selected_text())

    def action_actions(self) -> None:
        """Show everything that can be done with the selected item."""
        show_actions(self, self.views.view.selection_title)

    def on_cursor_view_menu_wanted(self) -> None:
        """Show the actions for the line that was clicked with the right button."""
        self.action_actions()

    def action_interfaces(self) -> None:
        """Choose the interface and the protocol version to use."""
        if self.session.connection is not None:
            ask(self, InterfacesScreen(self.session.connection, "Interfaces"), self.use)

    def action_credentials(self) -> None:
        """Enter credentials for the agent."""
        ask(self, lazy_loading.credentials_screen(self.session), self._use_credentials)

    def on_agent_view_credentials_wanted(self) -> None:
        """Enter credentials for the agent."""
        self.action_credentials()

    def _use_credentials(self, values: dict[str, str]) -> None:
        """Use the credentials for new requests, and fetch the card again if there is none."""
        lazy_loading.use_credentials(self.session, values)
        if self.session.connection is None:
            self.agent.post_message(AgentView.RefreshWanted())
            return
        self.agent.show_authentication()
        sent = bool(self.session.entered)
        notify(self, "New requests are sent with the credentials." if sent else "The credentials were removed.")

    def on_status_bar_interface_clicked(self) -> None:
        """Choose the interface."""
        self.action_interfaces()

    def action_translate(self) -> None:
        """Translate the selected record to other protocol versions."""
        record = self.views.view.selected_record()
        if record is not None:
            self._translate(record)

    def _translate(self, record: Record, step: str = "", then: Callable[[None], None] | None = None) -> None:
        screen = lazy_loading.translate_screen(record, self.session.journal.request_of(record), step)
        if screen is not None:
            self.app.push_screen(screen, then)
        else:
            notify(self, "This record contains no A2A object that can be translated.")

    def action_send_again(self) -> None:
        """Send the message of the selected record again, over an interface that the user chooses."""
        record = self.views.view.selected_record()
        if self.session.connection is None:
            return
        if record is None or not record.exchange:
            notify(self, "Select a sent message or its response.")
            return
        exchange = record.exchange
        menu = InterfacesScreen(self.session.connection, "Send again: choose the interface")
        ask(self, menu, lambda choice: self._send_again(exchange, choice))

    def _send_again(self, exchange: int, choice: Choice) -> None:
        with notify_faults(self):
            call = self.session.send_again(exchange, choice)
            self.view = "chat"
            self.chat.drive(call)

    def action_doctor(self) -> None:
        """Run the doctor, also if the connection to the agent failed."""
        ask(self, lazy_loading.doctor_screen(self.session, self.reference, self._glyphs), self.use)

    @work(group="push", exclusive=True)
    async def action_push(self) -> None:
        """Turn push notifications on, which starts the receiver, or off."""
        with notify_faults(self):
            await switch_push(self.session)

    # Messages of the views

    async def on_card_view_tried(self, event: CardView.Tried) -> None:
        """Put an example into the composer."""
        await self.action_go("chat")
        self.chat.composer.fill(event.example)

    def on_chat_view_show_wanted(self) -> None:
        """Show the Chat view, because a call was started."""
        self.view = "chat"

    def on_tasks_view_opened(self, event: TasksView.Opened) -> None:
        """Show a task in the Chat view."""
        self.view = "chat"
        self.chat.open_task(event.task_id)
        self.chat.focus_timeline()

    def on_findings_view_record_wanted(self, event: FindingsView.RecordWanted) -> None:
        """Show a record."""
        self.view = "traffic"
        self.views.traffic.show_seq(event.seq)

    @work(group="calls")
    async def on_call_wanted(self, event: CallWanted) -> None:
        """Make the calls of an operation in sequence."""
        calls: list[Call] = []
        with notify_faults(self):
            await self.all_views()
            calls = await calls_for(self.session, event.operation, event.task_id or self.chat.call_task)
        for call in calls:
            await self.chat.follow(call)
            self._show_answer(call)

    def _show_answer(self, call: Call) -> None:
        """Show an error, or a response that no other view shows."""
        answer, number = call.exchange.answer, call.exchange.number
        if call.fault is not None:
            notify_fault(self, call.fault)
            if call.exchange.call.operation is Operation.EXTENDED_CARD:
                self.agent.show_no_extended(call.fault)
        elif isinstance(answer, AgentCard):
            bodies = self.session.journal.capture.select(kinds=(Kind.BODY,), exchange=number)
            self.agent.show_extended(self.session.payload(bodies[-1]))
        elif isinstance(answer, Deleted):
            notify(self, "The agent deleted a webhook of the task.")
        elif isinstance(answer, PushConfig | PushConfigList):
            self.view = "webhooks"
            self.views.webhooks.show_configs(answer, call.exchange.call.task_id)

    # The tour

    async def offer_tour(self, *, begin: bool) -> None:
        """Enable the key of the tour, because this is the demo agent, and start the tour if `begin`."""
        self._has_tour = True
        self.refresh_bindings()
        if begin:
            await self.action_tour()

    async def action_tour(self) -> None:
        """Start the tour; if it is running, move the focus between it and the view."""
        if self._tour is None:
            self._tour = lazy_loading.tour(self.session.journal)
            await self.mount(self._tour, before=self._footer)
        elif not self._tour.has_focus:
            self._tour.focus()
        else:
            self.views.view.focus_first()

    async def on_tour_left(self) -> None:
        """End the tour."""
        if self._tour is not None:
            tour, self._tour = self._tour, None
            await tour.remove()
        self.views.view.focus_first()

    def on_tour_shown(self, event: Tour.Shown) -> None:
        """Show the view and the record of a step of the tour."""
        step = event.step
        self.view = step.view
        if step.section:
            self.call_next(self.agent.show_section, step.section)
        if event.found:
            self.views.view.show_seq(event.found)
        if event.focused and self._tour is not None:
            self._tour.focus()
        record = self.views.view.selected_record()
        if step.translate and record is not None and (tour := self._tour) is not None:
            self._translate(record, step.text, lambda _: tour.action_move("on"))

    async def on_tour_send_wanted(self, event: Tour.SendWanted) -> None:
        """Send the message of a step, unless a call is running, which may have sent it already."""
        await self.all_views()
        if not self.chat.is_busy and not self.session.journal.exchanges.open:
            self._send_for_tour(event.tour, event.send)

    @work(group="tour", exclusive=True)
    async def _send_for_tour(self, tour: Tour, send: Send) -> None:
        self._use_version(send.version)
        if self.session.push.on != send.push:
            await self.action_push().wait()
        self.view = tour.step.view
        tour.focus()
        if not self.chat.is_busy:
            self.chat.send_text(send.text, stream=send.stream, answer=send.answer)

    def _use_version(self, version: str) -> None:
        """Use the first interface with a protocol version, unless the current interface has it."""
        connection = self.session.connection
        if connection is not None and self.session.choice.dialect.version != version:
            choices = (choice for choice in alternatives(connection.card) if choice.dialect.version == version)
            if (choice := next(choices, None)) is not None:
                self.use(choice)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide the tour unless the agent is the demo, and disable actions that need an agent in a capture."""
        if not self.ready.is_set() and action != "go":
            return None
        if action == "tour":
            return self._has_tour
        if action == "actions":
            return self._tour is None or not self._tour.has_focus
        if action in ("zoom", "unzoom"):
            return (self.maximized is not None) is (action == "unzoom")
        if action in _NEEDS_AGENT and self.session.recorded:
            return None
        return super().check_action(action, parameters)
