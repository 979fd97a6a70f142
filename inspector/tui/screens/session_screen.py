"""The screen of a session: the frame, the views, and the state that they show."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual import events, work
from textual.widget import Widget

from inspector.capture.private_files import CaptureError
from inspector.garbage_collection import freeze_loaded_modules
from inspector.options import Options
from inspector.protocol.errors import Fault
from inspector.protocol.selection import Choice
from inspector.session.connection import Connection
from inspector.session.lazy_loading import load_features
from inspector.session.session import Session
from inspector.tui.notify import notify
from inspector.tui.refresh_throttle import RefreshThrottle
from inspector.tui.render.glyphs import PHASE, Glyphs
from inspector.tui.screens.frame import FrameScreen
from inspector.tui.views.agent import AgentView
from inspector.tui.views.base import View
from inspector.tui.views.registry import ALL_VIEWS
from inspector.tui.views.view_switcher import ViewSwitcher
from inspector.tui.widgets.status_bar import CREDENTIALS_NEEDED, Status, TabName
from inspector.wire.discovery import name_of

if TYPE_CHECKING:  # loaded after the card is shown
    from inspector.session.compose.draft import Draft
    from inspector.session.replay.recording import Recording
    from inspector.tui.views.chat import ChatView

_CLOCK = 1.0
"""How often the duration of a task is drawn while no call is running, in seconds."""
_LOOP_ITERATIONS = 4
"""How many event-loop iterations to wait after each part of a capture, because handling a key needs several."""


class SessionScreen(FrameScreen):
    """Shows a session in several views; the workbench adds what can be done with it."""

    CSS_PATH = "workbench.tcss"
    has_other_tabs = False
    """Whether other agents or captures are open, too."""
    ALLOW_IN_MAXIMIZED_VIEW = "StatusBar, KeyFooter"

    def __init__(
        self, session: Session, reference: str, glyphs: Glyphs, *, view: str, options: Options, unsent: Draft | None
    ) -> None:
        self.views = ViewSwitcher(session, glyphs, view)
        super().__init__(glyphs, view, "connecting", self.views)
        self.session = session
        self.reference = reference
        self._glyphs = glyphs
        self.options = options
        self._unsent = unsent
        self._streams: bool | None = None
        self._doing = ("busy", "connecting")
        self.agent = self.views.agent
        self._throttle = RefreshThrottle(self.status_bar, self.refresh_view)
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
        self.ready.set()
        self.agent.show_connecting(self.reference)
        self._show_status()
        self.watch_view(self.view)
        self.refresh_bindings()

    @work(group="views")
    async def mount_other_views(self) -> None:
        """Mount the views besides Agent, and load everything else, so that no key has to wait for it."""
        await self.mounted(*ALL_VIEWS)
        await asyncio.to_thread(load_features)
        freeze_loaded_modules()

    async def mounted(self, *views: str) -> None:
        """Mount views that are not mounted yet."""
        await self.ready.wait()
        for view in views:
            await self.views.add(view, self._set_up)

    async def show_view(self, view: str) -> None:
        """Show a view, and wait until it is mounted."""
        self.view = view
        await self.mounted(view)

    def _set_up(self, view: View) -> None:
        """Set up a view that was mounted."""
        if view.id == "chat":
            self.chat.stream.automatic = self.options.resubscribe
            self.chat.composer.offer_draft(self._unsent)
            self._show_connection_in_chat()
            self.set_interval(PHASE, partial(self._tick, calling=True))
            self.set_interval(_CLOCK, partial(self._tick, calling=False))
        elif view.id == "webhooks":
            self.views.webhooks.task_in_chat = lambda: self.chat.call_task if self.views.has("chat") else ""
        elif view.id == "checks":
            self.views.checks.variables = dict(self.options.check_variables)
            if self.options.check_file is not None:
                self.views.checks.load_file(self.options.check_file)

    def on_unmount(self) -> None:
        """Stop following the session."""
        self._unsubscribe()

    def _tick(self, *, calling: bool) -> None:
        """Draw the sign and the duration of a running task, unless the whole screen is about to be drawn.

        Without a running call, only the duration changes, and more slowly.
        """
        shown = self.is_current and self.view == "chat"
        if shown and (self.session.journal.exchanges.open > 0) is calling and self._throttle.idle:
            self.chat.show_title()

    def show_expiry(self) -> None:
        """Show how long the token of a login is still valid."""
        if self.session.credentials.token is not None:
            self._show_status()

    # The state of the session

    def show_recording(self, recording: Recording) -> None:
        """Show a capture while and after it is read."""
        self._doing = ("off", "capture")
        self.agent.show_recording()
        self._read(recording)

    @work(group="calls")
    async def _read(self, recording: Recording) -> None:
        """Read a capture in parts, so that keys are handled between two parts."""
        await self.mounted(*ALL_VIEWS)
        if self.view == "chat":
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
        self.call_after_refresh(self.mount_other_views)

    def _show_connection_in_chat(self) -> None:
        connection = self.session.connection
        if connection is not None and self.views.has("chat"):
            streams = bool(connection.card.capabilities.streaming)
            if streams is not self._streams:  # otherwise the setting of the user stays
                self.chat.composer.stream = self._streams = streams
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
        """Show why no agent is connected, in the Agent view; a user who reads the requests in Traffic stays there."""
        self._doing = ("bad", CREDENTIALS_NEEDED if fault.denied else "no agent")
        self.agent.show_fault(fault)
        if self.view != "traffic":
            self.view = "agent"
        self.refresh_view()
        self.call_after_refresh(self.mount_other_views)

    def use(self, choice: Choice) -> None:
        """Use the interface that was chosen."""
        self.session.use(choice)
        if self.session.connection is not None:
            self.show_connection(self.session.connection)

    # The tab of the session

    @property
    def name_of_tab(self) -> TabName:
        """The name of the agent or of the capture, and the name in `agents.toml`, or else the host and port."""
        connection = self.session.connection
        place = name_of(self.session.agent_url if connection is not None else self.reference)
        if self.reference == self.options.reference:
            place = self.options.agent_name or place
        name = connection.card.name if connection is not None else ""
        return TabName(name or place or self.reference, place)

    @property
    def is_without_agent(self) -> bool:
        """Whether the connection failed, or has not been made yet; never for a capture."""
        return self.session.connection is None and not self.session.recorded

    def show_tabs(self, names: Sequence[TabName], current: int) -> None:
        """Show the names of all sessions, this one highlighted."""
        self.status_bar.show_tabs(names, current)
        self.has_other_tabs = len(names) > 1
        self.refresh_bindings()

    # The views

    def refresh_view(self) -> None:
        """Update the current view and the status."""
        if not self.ready.is_set() or self not in self.app.screen_stack:
            return
        self.views.view.refresh_view()
        self._show_status()

    def _show_status(self) -> None:
        light, doing = self._doing
        session = self.session
        shown = self.name_of_tab.name if session.recorded else session.journal.redactor.url(self.reference)
        denied = self.status_bar.denied
        self.status_bar.show(Status.of(session, light, doing, shown))
        if denied is not self.status_bar.denied:
            self.refresh_bindings()

    def watch_view(self, view: str) -> None:
        """Show another view and focus it."""
        super().watch_view(view)
        self.minimize()
        if self.ready.is_set():
            self.views.show(view)
            if not self.views.has(view):
                self.run_worker(self.mounted(view), group="views")

    async def action_go(self, view: str) -> None:
        """Go to a view, and wait until it is mounted, so that the next keys are for that view.

        Chat and Tasks show the same task: the task that was selected in the one is selected in the other.
        """
        before, self.view = self.view, view
        if self.ready.is_set():
            await self.mounted(view)
        self.views.carry_task(before, view)

    def yield_to_input(self) -> None:
        """Pause drawing and deliveries for a moment, so that a key is handled first."""
        self._throttle.yield_to_input()
        self.session.push.yield_to_input()

    def validate_maximized(self, pane: Widget | None) -> Widget | None:
        """Give a pane the styles of a maximised pane before the screen maximises it.

        Textual adds the class later, after a change of other styles that may compute the layout of the screen. That
        layout, with the size of the pane beside other panes, would be kept, because the styles of a pane only
        invalidate the layout of its parent.
        """
        if pane is not None:
            pane.add_class("-maximized")
        return pane

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
        # In the composer, the key that restores the panes is a letter.
        if self.views.has("chat") and self.chat.composer in event.widget.ancestors:
            self.minimize()
        else:
            self.maximize(event.widget)
        self.refresh_bindings()
