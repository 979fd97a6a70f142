"""The app: one session at a time, the screens over it, and what they have in common."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from rich.segment import Segments
from textual import events, work
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.screen import Screen

from inspector.tui import clipboard, lazy_loading
from inspector.tui.render.content import plain
from inspector.tui.render.glyphs import ASCII, UNICODE
from inspector.tui.render.output_filter import CleanOutput, OutputFilter
from inspector.tui.screens.connect import DEMO, ConnectScreen
from inspector.tui.screens.help import HelpScreen
from inspector.tui.screens.workbench import WorkbenchScreen
from inspector.tui.themes import fallback_variables, load_themes
from inspector.tui.widgets.view_tabs import PLACES

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.options import Options
    from inspector.protocol.errors import Fault
    from inspector.session.session import Session

DEFAULT_THEME = "dusk"
_WRITTEN = "Another process is writing this capture now. Open it again to see what came since."


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
        self.session: Session | None = None
        self._reference = ""
        self._connecting = asyncio.Lock()
        self._stop_demo: Callable[[], None] | None = None
        self._demo_url = ""
        self._tour_due = options.tour
        self.error_console.push_render_hook(CleanOutput())

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Clean what leaves the app before any other filter changes its colours."""
        others = super().get_line_filters()
        if others != self._filter.others:
            self._filter = OutputFilter(others)  # another one, because what it did to a strip is remembered by it
        return [self._filter]

    async def on_event(self, event: events.Event) -> None:
        """Let what a key or a click does be drawn before more is taken in and drawn."""
        if isinstance(event, events.Key | events.MouseDown) and (workbench := self._workbench()) is not None:
            workbench.give_way()
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
            self.notify(plain(f"There is no theme {wanted}; ctrl+p shows those there are.").plain, markup=False)
        for problem in problems:
            self.notify(plain(f"{problem.file}: {problem.sentence}").plain, severity="warning", markup=False)
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
        """Load what a session and its places need while the user chooses."""
        lazy_loading.load()
        lazy_loading.load_places()

    # Sessions

    def on_connect_screen_chosen(self, event: ConnectScreen.Chosen) -> None:
        """Connect to the agent that was chosen."""
        self.open(event.reference)

    def on_connect_screen_capture_chosen(self, event: ConnectScreen.CaptureChosen) -> None:
        """Open the capture that was chosen."""
        self.open_recording(event.path)

    def open(self, reference: str) -> None:
        """Show the workbench and look for an agent, behind the first paint."""
        self._reference = reference
        workbench = self._to_workbench()
        workbench.call_after_refresh(self._connect, workbench, reference)

    def open_recording(self, path: Path) -> None:
        """Show the workbench and what a capture holds, behind the first paint."""
        workbench = self._to_workbench()
        workbench.call_after_refresh(self._show_recording, workbench, path)

    def _workbench(self) -> WorkbenchScreen | None:
        return next((screen for screen in self.screen_stack if isinstance(screen, WorkbenchScreen)), None)

    def _to_workbench(self) -> WorkbenchScreen:
        workbench = self._workbench()
        if workbench is None:
            workbench = WorkbenchScreen(self.glyphs)
            self.switch_screen(workbench) if isinstance(self.screen, ConnectScreen) else self.push_screen(workbench)
        else:
            while self.screen is not workbench:
                self.pop_screen()
        return workbench

    @work(group="connect", exclusive=True)
    async def _show_recording(self, workbench: WorkbenchScreen, path: Path) -> None:
        async with self._connecting:
            await workbench.complete()
            await asyncio.to_thread(lazy_loading.load)
            from inspector.capture.private_files import CaptureError  # noqa: PLC0415 - loaded by now, behind the first paint

            try:
                recording, written = await asyncio.to_thread(lazy_loading.open_recording, path)
            except CaptureError as error:
                self._no_recording(str(error))
                return
            await self._end_session()
            self.session = recording
            workbench.show_recording(recording)
            if written:
                self.notify(_WRITTEN, severity="warning", markup=False)

    def _no_recording(self, sentence: str) -> None:
        """Say why a capture cannot be opened, where it was asked for."""
        if self.session is None and self.options.recording is not None:
            self.exit(1, message=plain(sentence).plain)
            return
        if self.session is None:
            self.switch_screen(ConnectScreen())
        self.notify(plain(sentence).plain, severity="error", markup=False)

    @work(group="connect", exclusive=True)
    async def _connect(self, workbench: WorkbenchScreen, reference: str) -> None:
        async with self._connecting:  # an attempt that is overtaken lets go of its session first
            await self._connect_to(workbench, reference)

    async def _connect_to(self, workbench: WorkbenchScreen, reference: str) -> None:
        await workbench.complete()
        await asyncio.to_thread(lazy_loading.load)
        from inspector.capture.private_files import CaptureError  # noqa: PLC0415 - loaded by now, behind the first paint
        from inspector.protocol.errors import FaultError  # noqa: PLC0415 - likewise

        if reference == DEMO:
            reference = await asyncio.to_thread(self._demo)
        await self._end_session()
        try:
            self.session = lazy_loading.open_session(self.options, reference)
        except CaptureError as error:
            self.exit(1, message=str(error))
            return
        workbench.attach(self.session, reference)
        try:
            connection = await self.session.connect(reference)
        except FaultError as error:
            workbench.show_fault(error.fault)
            return
        workbench.show_connection(connection)
        if workbench.cards is not None:
            workbench.cards.compare(keep=reference != self._demo_url)
        if reference == self._demo_url:
            due, self._tour_due = self._tour_due, False
            await workbench.offer_tour(begin=due)
        else:
            problem = lazy_loading.remember(self.session, connection)
            if problem:
                self.notify(plain(problem).plain, severity="warning", markup=False)
        await asyncio.to_thread(lazy_loading.tidy_captures)

    def _demo(self) -> str:
        """Start the built-in agent, once; it ends with the app."""
        if self._stop_demo is None:
            self._demo_url, self._stop_demo = lazy_loading.start_demo()
        return self._demo_url

    async def _end_session(self) -> None:
        if self.session is not None:
            session, self.session = self.session, None
            doing = [worker for worker in self.workers if worker.group in ("turns", "push")]
            for worker in doing:
                worker.cancel()
            # A call that is broken off records how it ended, so that has to be over before the capture is closed.
            await asyncio.gather(*(worker.wait() for worker in doing), return_exceptions=True)
            await session.close()

    async def on_unmount(self) -> None:
        """End the session and the built-in agent with the app."""
        await self._end_session()
        if self._stop_demo is not None:
            await asyncio.to_thread(self._stop_demo)

    def on_agent_place_refresh_wanted(self) -> None:
        """Fetch the card again; a recording has no agent that could be asked for it."""
        if self.session is None or not self.session.recorded:
            self.open(self._reference)

    def on_agent_place_other_wanted(self) -> None:
        """Choose another agent."""
        self.push_screen(ConnectScreen(can_go_back=True))

    # What every screen may ask for

    def tell(self, fault: Fault) -> None:
        """Say what went wrong where no record could tell it."""
        self.notify(plain(fault.sentence()).plain, severity="error", markup=False)

    def copy(self, text: str) -> None:
        """Copy a text, by the system's clipboard where there is one and by the terminal's else."""
        if not text:
            self.notify("Nothing is selected.", severity="warning", markup=False)
            return
        way = clipboard.copy(text, self.copy_to_clipboard)
        self.notify(f"Copied {len(text):,} characters {way}.", markup=False)

    def action_help(self) -> None:
        """Show what the keys do where the focus is."""
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen, self.glyphs))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Put every place into the palette, and what each key does where the focus is."""
        yield from super().get_system_commands(screen)
        if isinstance(screen, WorkbenchScreen):
            for place, name in PLACES:
                yield SystemCommand(f"Go to {name}", f"The place {name}", lambda place=place: screen.action_go(place))
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
