"""The Textual app: its screens, and the keys of all screens. Each session is a tab, and one of them is shown."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.segment import Segments
from textual import actions, events, work
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.screen import Screen
from textual.theme import Theme, ThemeProvider

from inspector import PROGRAM
from inspector.agents_file import NamedAgent
from inspector.garbage_collection import freeze_loaded_modules
from inspector.protocol.errors import Fault, FaultError
from inspector.tui import lazy_loading
from inspector.tui.demo_agent import DemoAgent
from inspector.tui.key_order import KeyOrder, UserInput
from inspector.tui.keys import COMMANDS, READ_ONLY, UNBOUND, VIEW, Group, bind, group_of, key_of, shown_key, use_keys
from inspector.tui.lazy_strips import make_caches_lazily
from inspector.tui.notify import copy, notify
from inspector.tui.removed_widgets import is_caused_by_removal, is_on_removed_widget
from inspector.tui.render.glyphs import ASCII, UNICODE
from inspector.tui.render.output_filter import CleanOutput, OutputFilter
from inspector.tui.screens.connect import DEMO, ConnectScreen
from inspector.tui.screens.dialog import Dialog, Palette
from inspector.tui.screens.frame import BootScreen
from inspector.tui.screens.help import HelpScreen
from inspector.tui.sixteen_colours import SixteenColours
from inspector.tui.themes import fallback_variables, load_themes
from inspector.tui.views.registry import VIEWS
from inspector.tui.widgets.status_bar import StatusBar

if TYPE_CHECKING:
    from types import FrameType

    from rich.console import RenderableType
    from textual.actions import ActionParseResult
    from textual.dom import DOMNode
    from textual.driver import Driver

    from inspector.options import Options
    from inspector.session.session import Session
    from inspector.tui.screens.settings import SettingsScreen
    from inspector.tui.screens.workbench import WorkbenchScreen
    from inspector.tui.sessions import Sessions

make_caches_lazily()

DEFAULT_THEME = "dusk"
_TICK = 10.0
"""The seconds between two updates of the time until a token expires, and between two attempts to free memory."""


class InspectorApp(App[int | Fault]):
    """The interactive inspector in a terminal."""

    TITLE = PROGRAM
    CSS_PATH = "app.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]  # noqa: RUF012 - as App spells it
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("quit-always", "quit", show=False, priority=True),
        bind("suspend", "suspend_process", show=False),
        bind("help", "help"),
        bind("palette", "command_palette", show=False, priority=True),
    ]

    def __init__(
        self,
        options: Options,
        demo_agent: DemoAgent | None = None,
        options_of_agent: Callable[[NamedAgent], Options] | None = None,
    ) -> None:
        self._filter = OutputFilter()
        self._sixteen: SixteenColours | None = None
        super().__init__()
        self._key_order = KeyOrder(self, self._handle_input)
        self.options = options
        self.glyphs = ASCII if options.ascii else UNICODE
        self.use_keys(dict(options.changed_keys))
        self._sessions: Sessions | None = None
        self._demo_agent = demo_agent
        self._options_of_agent = options_of_agent
        self.error_console.push_render_hook(CleanOutput())

    def use_keys(self, changed: dict[str, str]) -> None:
        """Use other keys for some commands, as in the settings file."""
        use_keys(changed)
        self.set_keymap(changed)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the command to suspend in a browser and on Windows."""
        if action == "suspend_process":
            return self._driver is not None and self._driver.can_suspend
        return super().check_action(action, parameters)

    def get_key_display(self, binding: Binding) -> str:
        """Return the spelling of a key, the same as in sentences."""
        return shown_key(binding.key)

    def get_theme(self, theme_name: str) -> Theme | None:
        """Return a theme; Textual asks for it for each line, and would copy the dictionary of all themes twice."""
        return self._registered_themes.get(theme_name) or super().get_theme(theme_name)

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Clean the output before other filters change its colours."""
        others = [*super().get_line_filters(), *self._few_colours()]
        if others != self._filter.others:
            self._filter = OutputFilter(others)  # a new object, because a filter caches its results
        return [self._filter]

    def _few_colours(self) -> list[LineFilter]:
        """Return the filter for a terminal with 16 colours and the current theme, if it is needed."""
        theme = self.current_theme
        if self.console.color_system != "standard" or theme.ansi:
            return []
        if self._sixteen is None or self._sixteen.theme is not theme:
            self._sixteen = SixteenColours(theme)
        return [self._sixteen]

    def is_disabled(self, binding: Binding) -> bool:
        """Return whether `--read-only` disables the command of a binding."""
        return self.options.read_only and binding.id in READ_ONLY

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Run an action, unless it is that of a binding which `--read-only` disables."""
        bound = default_namespace._bindings if default_namespace is not None else ()
        disabled = next((each for _, each in bound if each.action == action and self.is_disabled(each)), None)
        if disabled is None:
            return await super().run_action(action, default_namespace, namespaces)
        name = f"{shown_key(disabled.key)} ({COMMANDS[disabled.id or ''].name})"
        notify(self, f"{name} is not available: a2a-inspect was started with --read-only.", "warning")
        return True

    async def on_event(self, event: events.Event) -> None:
        """Handle keys and clicks in their order; pause background work, so that their effect is drawn first."""
        if isinstance(event, events.Key | events.MouseDown) and self.workbench is not None:
            self.workbench.yield_to_input()
        if isinstance(event, UserInput) and not event.is_forwarded:
            await self._key_order.add(event)
        else:
            await super().on_event(event)

    async def _handle_input(self, event: UserInput) -> None:
        if not (isinstance(event, events.MouseEvent) and is_on_removed_widget(event, self)):
            await super().on_event(event)

    def _handle_exception(self, error: Exception) -> None:
        """Ignore errors about widgets that are already removed, or were never mounted."""
        if is_caused_by_removal(error, self):
            self.log(f"missing while it is removed: {error}")
        else:
            super()._handle_exception(error)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return default colours of the CSS variables of a2a-inspect, for themes that do not define them."""
        return fallback_variables(self.current_theme)

    def get_driver_class(self) -> type[Driver]:
        """Use our drivers where Textual would use its own for terminals and for the browser."""
        chosen = super().get_driver_class()
        if os.name == "nt":  # our drivers need termios
            return chosen
        if chosen.__name__ == "WebDriver":
            from inspector.tui.web_driver import BrowserDriver  # noqa: PLC0415 - only a visitor of `web` needs it

            return BrowserDriver
        if chosen.__name__ != "LinuxDriver":
            return chosen
        from inspector.tui.terminal_driver import TerminalDriver  # noqa: PLC0415 - does not exist on Windows

        return TerminalDriver

    def panic(self, *renderables: RenderableType) -> None:
        """Exit after an error with an exit code that is not 0, also if the error is not one of the event loop."""
        self._return_code = 1
        super().panic(*renderables)

    def _fatal_error(self) -> None:
        """Exit after a crash; the traceback omits local variables, because they may contain secrets."""
        from rich.traceback import Traceback  # noqa: PLC0415 - only a crash needs it

        self.bell()
        traceback = Traceback(show_locals=False, width=None)
        self._exit_renderables.append(Segments(self.console.render(traceback, self.console.options)))
        self._close_messages_no_wait()

    def _exit_on_signals(self) -> None:
        """Exit cleanly when the terminal is closed or the process is terminated."""
        loop = asyncio.get_running_loop()
        for number in ("SIGTERM", "SIGHUP"):
            if hasattr(signal, number):
                with suppress(NotImplementedError):  # event loops on Windows do not support signal handlers
                    loop.add_signal_handler(getattr(signal, number), self.exit, 128 + getattr(signal, number))
        if hasattr(signal, "SIGQUIT"):
            signal.signal(signal.SIGQUIT, self._quit_at_once)

    def _quit_at_once(self, number: int, _frame: FrameType | None) -> None:
        """Restore the terminal and let the signal end the process, also while the event loop is blocked."""
        restore = getattr(self._driver, "restore", None)
        try:
            if restore is not None:
                restore()
        finally:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    async def on_mount(self) -> None:
        """Load the themes, show the first screen, and load the sessions while the user chooses an agent."""
        self._exit_on_signals()
        # A timer of each session would keep it: asyncio keeps a cancelled timer until its time is over.
        self.set_interval(_TICK, self._tick)
        themes, problems = load_themes()
        for theme in themes:
            self.register_theme(theme)
        self.theme = DEFAULT_THEME
        wanted = self.options.theme
        if wanted and wanted in self.available_themes:
            self.theme = wanted
        elif wanted:
            notify(self, f"Unknown theme: {wanted}. Press {key_of('palette')} to choose from the available themes.")
        for problem in problems:
            notify(self, f"{problem.file}: {problem.sentence}", "warning")
        first = self.options.recording or (DEMO if self.options.demo else self.options.reference)
        if first:
            self.open(first)
        else:
            await self.push_screen(ConnectScreen())
            self.call_after_refresh(self.run_worker, _load_all, group="load", thread=True)

    # Sessions

    @property
    def session(self) -> Session | None:
        """The current session, None before an agent is chosen."""
        workbench = self.workbench
        return workbench.session if workbench is not None else None

    @property
    def workbench(self) -> WorkbenchScreen | None:
        """The screen of the current session, None before an agent is chosen."""
        return self._sessions.workbench if self._sessions is not None else None

    def _tick(self) -> None:
        if self.workbench is not None:
            self.workbench.show_expiry()
        if self._sessions is not None:
            self._sessions.free_closed()

    def on_connect_screen_chosen(self, event: ConnectScreen.Chosen) -> None:
        """Open the agent or the capture that was chosen, unless the options of the agent cannot be read."""
        chosen, options = event.chosen, event.options
        if isinstance(chosen, NamedAgent):
            if self._options_of_agent is None:
                raise ValueError("options_of_agent is required to open an agent of agents.toml")
            try:
                options = self._options_of_agent(chosen)
            except FaultError as error:
                notify(self, error.fault.sentence(), "error")
                return
            chosen = options.reference or ""
        self.open(chosen, options)

    def open(self, chosen: str | Path, options: Options | None = None) -> None:
        """Connect to an agent (URL or card file) or open a capture (path), after the frame is drawn.

        `options` are those for the agent, None for those of the app.
        """
        # In the context of the app: timeouts of the network keep the context, and so a workbench that is closed.
        self._show_frame().call_after_refresh(self.call_later, self._open, chosen, options)

    def _show_frame(self) -> Screen[Any]:
        """Close the screens over the workbench and return it; without a workbench, show and return the boot screen."""
        frames = (screen for screen in self.screen_stack if screen is self.workbench or isinstance(screen, BootScreen))
        frame = next(frames, None)
        if frame is None:
            frame = BootScreen(self.glyphs, "checks" if self.options.check_file is not None else "agent")
            self.switch_screen(frame) if isinstance(self.screen, ConnectScreen) else self.push_screen(frame)
            return frame
        while self.screen is not frame:
            self.pop_screen()
        return frame

    @work(group="connect", exclusive=True)
    async def _open(self, chosen: str | Path, options: Options | None) -> None:
        sessions_class = await asyncio.to_thread(_sessions_class)
        if self._sessions is None:
            self._sessions = sessions_class(self, self.options, self.glyphs, self._start_demo_agent)
        if isinstance(chosen, str):
            await self._sessions.connect(chosen, options)
        else:
            await self._sessions.open_recording(chosen)

    async def on_unmount(self) -> None:
        """Close the session and the built-in agent."""
        if self._sessions is not None:
            await self._sessions.close()
        if self._demo_agent is not None:
            await asyncio.to_thread(self._demo_agent.stop)

    def _start_demo_agent(self) -> DemoAgent:
        """Return the built-in agent, which is started on first use."""
        if self._demo_agent is None:
            self._demo_agent = DemoAgent()
        return self._demo_agent

    @work(group="connect", exclusive=True)
    async def on_agent_view_refresh_wanted(self) -> None:
        """Connect to the agent again."""
        if self._sessions is not None and self.workbench is not None:
            await self._sessions.connect_again(self.workbench)

    def on_agent_view_stop_wanted(self) -> None:
        """Cancel connecting."""
        if self._sessions is not None:
            self._sessions.stop_connecting()

    # Keys and commands of all screens

    def action_command_palette(self) -> None:
        """Show the command palette."""
        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())

    def search_themes(self) -> None:
        """Choose the theme, in a list that is filtered by typing."""
        self.push_screen(Palette(providers=[ThemeProvider], placeholder="Search for themes…"))

    def action_connect(self) -> None:
        """Choose another agent."""
        self.push_screen(ConnectScreen(can_go_back=True))

    async def action_connection(self, step: int) -> None:
        """Go to the next (1) or the previous (-1) agent or capture."""
        if self._sessions is not None:
            await self._sessions.step(step)

    @work(group="close")
    async def action_close_connection(self) -> None:
        """Close the current agent or capture."""
        if self._sessions is not None and self.workbench is not None:
            await self._sessions.close_tab(self.workbench)

    @work(group="tab", exclusive=True)
    async def on_status_bar_tab_clicked(self, event: StatusBar.TabClicked) -> None:
        """Go to the agent or capture whose name was clicked."""
        if self._sessions is not None:
            await self._sessions.step(event.step)

    def action_settings(self) -> None:
        """Show the settings."""
        if not isinstance(self.screen, Dialog):
            self.push_screen(lazy_loading.settings_screen())

    def on_settings_screen_keys_changed(self, event: SettingsScreen.KeysChanged) -> None:
        """Use the changed keys at once."""
        self.use_keys(event.keys)

    def action_help(self) -> None:
        """Show the help for the focused widget."""
        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen, self.glyphs))

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Return the commands of the palette: the themes, a screenshot, the views and the actions of the keys."""
        yield SystemCommand("Choose the theme", "Theme", self.action_change_theme)
        later = partial(self.set_timer, 0.1, self.deliver_screenshot)  # once the palette is closed
        yield SystemCommand("Save the screen as a picture (SVG)", "Screenshot", later)
        if screen is self.workbench and self.session is not None:
            path = str(self.session.journal.capture.path)
            about = "Copy the path of the capture, to export or show it in a shell"
            yield SystemCommand(about, "Capture", partial(copy, self, path))
            for view in VIEWS:
                go = partial(self.call_later, self.workbench.action_go, view.id)
                yield SystemCommand(f"Go to {view.title}", f"Show the {view.title} view", go)
        yield from self._commands_of_keys(screen)

    def _commands_of_keys(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Yield a command for each enabled key, except for keys that only move the cursor.

        The commands of the screen are included, also if the focused widget uses their keys.
        """
        offered: set[str] = set()
        commands = [(active.binding, active.node) for active in screen.active_bindings.values() if active.enabled]
        own = [binding for binding in screen.BINDINGS if isinstance(binding, Binding)]
        commands += [(binding, screen) for binding in own if screen.check_action(*actions.parse(binding.action)[1:])]
        for binding, node in commands:
            group = group_of(binding)
            if group is None or group is Group.MOVE or binding.id == "palette" or binding.action in offered:
                continue
            if self.is_disabled(binding):
                continue
            if not binding.tooltip or binding.tooltip in offered or (binding.id or "").startswith(VIEW):
                continue
            offered |= {binding.action, binding.tooltip}
            shown = "" if binding.key.startswith(UNBOUND) else f" (key {self.get_key_display(binding)})"
            key = f"{binding.description[:1].upper()}{binding.description[1:]}{shown}"
            action = binding.action
            yield SystemCommand(
                binding.tooltip, key, lambda action=action, node=node: self.call_later(self.run_action, action, node)
            )


def _sessions_class() -> type[Sessions]:
    """Import what the card needs; the import lasts 150 ms, so the first frame is drawn before."""
    from inspector.tui.sessions import Sessions  # noqa: PLC0415 - see above

    return Sessions


def _load_all() -> None:
    """Import the session and all views while the user chooses an agent or a capture."""
    from inspector.session.lazy_loading import load_features  # noqa: PLC0415 - the first frame is drawn before

    for view in VIEWS:
        view.load()
    _sessions_class()
    load_features()
    freeze_loaded_modules()
