"""The app: one session at a time, the screens over it, and what they have in common."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from rich.segment import Segments
from textual import events, work
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.screen import Screen

from inspector.tui.notify import notify
from inspector.tui.render.glyphs import ASCII, UNICODE
from inspector.tui.render.output_filter import CleanOutput, OutputFilter
from inspector.tui.screens.connect import DEMO, ConnectScreen
from inspector.tui.screens.frame import BootScreen
from inspector.tui.screens.help import HelpScreen
from inspector.tui.themes import fallback_variables, load_themes
from inspector.tui.views.registry import VIEWS

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.options import Options
    from inspector.session.session import Session
    from inspector.tui.screens.workbench import WorkbenchScreen
    from inspector.tui.sessions import Sessions

DEFAULT_THEME = "dusk"


class InspectorApp(App[int]):
    """The inspector in a terminal."""

    TITLE = "a2a-inspect"
    CSS_PATH = "app.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]  # noqa: RUF012 - as App spells it
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "quit", id="app.quit", tooltip="Leave the inspector", show=False, priority=True),
        Binding("f1", "help", "help", id="app.help", tooltip="What the keys do here"),
    ]

    def __init__(self, options: Options) -> None:
        self._filter = OutputFilter()
        super().__init__()
        self.options = options
        self.glyphs = ASCII if options.ascii else UNICODE
        self._sessions: Sessions | None = None
        self._reference = ""
        self.error_console.push_render_hook(CleanOutput())

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Clean what leaves the app before any other filter changes its colours."""
        others = super().get_line_filters()
        if others != self._filter.others:
            self._filter = OutputFilter(others)  # another one, because what it did to a strip is remembered by it
        return [self._filter]

    async def on_event(self, event: events.Event) -> None:
        """Let what a key or a click does be drawn before more is taken in and drawn."""
        if isinstance(event, events.Key | events.MouseDown) and self.workbench is not None:
            self.workbench.give_way()
        await super().on_event(event)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Give our meanings a colour in themes that do not know them."""
        return fallback_variables(self.current_theme)

    def _fatal_error(self) -> None:
        """End after a crash with a traceback that, unlike Textual's own, shows no variables: they may hold secrets."""
        from rich.traceback import Traceback  # noqa: PLC0415 - loads what colours code, which only a crash needs

        self.bell()
        traceback = Traceback(show_locals=False, width=None)
        self._exit_renderables.append(Segments(self.console.render(traceback, self.console.options)))
        self._close_messages_no_wait()

    def _leave_on_signals(self) -> None:
        """Leave in order when the terminal is closed or the process is asked to end, so that nothing stays behind."""
        loop = asyncio.get_running_loop()
        for number in ("SIGTERM", "SIGHUP"):
            if hasattr(signal, number):
                with suppress(NotImplementedError):  # loops on Windows take no signal handlers
                    loop.add_signal_handler(getattr(signal, number), lambda: self.exit(1))

    async def on_mount(self) -> None:
        """Take up the themes, and show the first screen."""
        self._leave_on_signals()
        themes, problems = load_themes()
        for theme in themes:
            self.register_theme(theme)
        self.theme = DEFAULT_THEME
        wanted = self.options.theme
        if wanted and wanted in self.available_themes:
            self.theme = wanted
        elif wanted:
            notify(self, f"There is no theme {wanted}; ctrl+p shows those there are.")
        for problem in problems:
            notify(self, f"{problem.file}: {problem.sentence}", "warning")
        if self.options.recording is not None:
            self.open_recording(self.options.recording)
        elif self.options.demo:
            self.open(DEMO)
        elif self.options.reference:
            self.open(self.options.reference)
        else:
            await self.push_screen(ConnectScreen())
            self.call_after_refresh(self._warm_up)

    @work(thread=True, group="load")
    def _warm_up(self) -> None:
        """Load what a session and its views need while the user chooses."""
        _sessions_class()

    # Sessions

    @property
    def session(self) -> Session | None:
        """The session that is shown."""
        workbench = self.workbench
        return workbench.session if workbench is not None else None

    @property
    def workbench(self) -> WorkbenchScreen | None:
        """The screen of the session."""
        return self._sessions.workbench if self._sessions is not None else None

    def on_connect_screen_chosen(self, event: ConnectScreen.Chosen) -> None:
        """Connect to the agent that was chosen."""
        self.open(event.reference)

    def on_connect_screen_capture_chosen(self, event: ConnectScreen.CaptureChosen) -> None:
        """Open the capture that was chosen."""
        self.open_recording(event.path)

    def open(self, reference: str) -> None:
        """Look for an agent, behind the first paint."""
        self._reference = reference
        self._show_frame().call_after_refresh(self._connect, reference)

    def open_recording(self, path: Path) -> None:
        """Show what a capture holds, behind the first paint."""
        self._show_frame().call_after_refresh(self._open_recording, path)

    def _show_frame(self) -> Screen[Any]:
        """Close what is over the workbench and return it; where there is none, show its frame."""
        frame = next((one for one in self.screen_stack if one is self.workbench or isinstance(one, BootScreen)), None)
        if frame is None:
            frame = BootScreen(self.glyphs)
            self.switch_screen(frame) if isinstance(self.screen, ConnectScreen) else self.push_screen(frame)
            return frame
        while self.screen is not frame:
            self.pop_screen()
        return frame

    @work(group="connect", exclusive=True)
    async def _connect(self, reference: str) -> None:
        await (await self._load()).connect(reference)

    @work(group="connect", exclusive=True)
    async def _open_recording(self, path: Path) -> None:
        await (await self._load()).open_recording(path)

    async def _load(self) -> Sessions:
        """Load what a session and its views need."""
        sessions = await asyncio.to_thread(_sessions_class)
        if self._sessions is None:
            self._sessions = sessions(self, self.options, self.glyphs)
        return self._sessions

    async def on_unmount(self) -> None:
        """End the session and the built-in agent with the app."""
        if self._sessions is not None:
            await self._sessions.close()

    def on_agent_view_refresh_wanted(self) -> None:
        """Look for the agent again."""
        self.open(self._reference)

    def on_agent_view_other_wanted(self) -> None:
        """Choose another agent."""
        self.push_screen(ConnectScreen(can_go_back=True))

    # What every screen offers

    def action_help(self) -> None:
        """Show what the keys do where the focus is."""
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen, self.glyphs))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Put every place into the palette, and what each key does where the focus is."""
        yield from super().get_system_commands(screen)
        if screen is self.workbench:
            for view in VIEWS:
                go = partial(setattr, screen, "view", view.id)
                yield SystemCommand(f"Go to {view.title}", f"The place {view.title}", go)
            yield from self._commands_of_keys(screen)
        yield SystemCommand(
            "Connect", "Connect to another agent", lambda: self.push_screen(ConnectScreen(can_go_back=True))
        )

    def _commands_of_keys(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Offer what the keys do that can do something now; those that only move the cursor are none to choose."""
        offered: set[str] = set()
        for active in screen.active_bindings.values():
            binding, node = active.binding, active.node
            if not active.enabled or binding.system or not binding.description or binding.action in offered:
                continue
            if not binding.tooltip or (binding.id or "").startswith(("lines.", "place.")):
                continue
            offered.add(binding.action)
            key = f"{binding.description.capitalize()}, the key {self.get_key_display(binding)}"
            action = binding.action
            yield SystemCommand(
                binding.tooltip, key, lambda action=action, node=node: self.call_later(self.run_action, action, node)
            )


def _sessions_class() -> type[Sessions]:
    """Import the session, the clients under it and the views: 400 ms, so that it is done behind the first paint."""
    from inspector.tui.sessions import Sessions  # noqa: PLC0415 - see above

    return Sessions
