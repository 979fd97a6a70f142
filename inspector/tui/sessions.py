"""The sessions of the app, one at a time: opened, shown on a workbench of their own, and ended in order."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from textual.app import App
from textual.screen import Screen

from inspector.capture import paths, recent_agents
from inspector.capture.private_files import CaptureError
from inspector.options import Options
from inspector.protocol.errors import FaultError
from inspector.session.compose.draft import Draft
from inspector.session.connection import Connection
from inspector.session.replay.recording import Recording
from inspector.session.session import Session
from inspector.session.settings import settings_from
from inspector.tui import lazy_loading
from inspector.tui.notify import notify
from inspector.tui.render.content import plain
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.screens.connect import DEMO, ConnectScreen
from inspector.tui.screens.frame import BootScreen
from inspector.tui.screens.workbench import WorkbenchScreen

_GARBAGE = (20_000, 20, 50)
"""The thresholds of the collector: a screen that is drawn makes thousands of objects, hardly one of them in a cycle."""
_WRITTEN = "Another process is writing this capture now. Open it again to see what came since."


class Sessions:
    """Opens sessions and captures, each on a workbench of its own, and closes the one before."""

    def __init__(self, app: App[int], options: Options, glyphs: Glyphs) -> None:
        self._app = app
        self._options = options
        self._glyphs = glyphs
        self.workbench: WorkbenchScreen | None = None
        self._written: Draft | None = None
        self._opening = asyncio.Lock()
        self._stop_demo: Callable[[], None] | None = None
        self._demo_url = ""
        self._begin_tour = options.tour
        # Textual styles every widget there is anew when a screen brings a file of its own: a fifth of a second.
        app.stylesheet.read_all(sorted((Path(__file__).parent / "screens").glob("*.tcss")))
        # What is loaded stays. To look through all of it again and again for garbage holds up keys for a tenth of a
        # second. Once only: what is frozen is never freed, and another app would freeze what the first one left.
        if not gc.get_freeze_count():
            gc.freeze()
            gc.set_threshold(*_GARBAGE)

    async def connect(self, reference: str) -> None:
        """Look for the agent of a reference in a new session."""
        async with self._opening:  # an attempt that is overtaken closes its session first
            if reference == DEMO:
                reference = await asyncio.to_thread(self._demo)
            await self._end()
            try:
                session = self._open_session(reference)
            except CaptureError as error:
                self._app.exit(1, message=str(error))
                return
            workbench = await self._show(session, reference)
            try:
                connection = await session.connect(reference)
            except FaultError as error:
                workbench.show_fault(error.fault)
                return
            await self._connected(workbench, connection, demo=reference == self._demo_url)

    def _open_session(self, reference: str) -> Session:
        """Make a session with a capture of its own; raises `CaptureError` where the file cannot be made."""
        host = urlsplit(reference).netloc or reference
        path = self._options.capture or paths.new_capture_path(host, datetime.now().astimezone())
        return Session(path, settings_from(self._options))

    async def _connected(self, workbench: WorkbenchScreen, connection: Connection, *, demo: bool) -> None:
        """Show the agent, and keep what later sessions ask for: its card and its place among the recent ones."""
        workbench.show_connection(connection)
        workbench.agent.compare(keep=not demo)
        if demo:
            begin, self._begin_tour = self._begin_tour, False
            await workbench.offer_tour(begin=begin)
        else:
            dialect = connection.choice.dialect.generation if connection.choice else ""
            agent = recent_agents.RecentAgent(connection.reference, connection.card.name, dialect, time.time())
            problem = recent_agents.remember(agent, workbench.session.journal.redactor)
            if problem:
                notify(self._app, problem, "warning")
        await asyncio.to_thread(paths.prune, paths.captures_folder())

    def _demo(self) -> str:
        """Start the built-in agent in a thread, once; it ends with the app."""
        if self._stop_demo is None:
            stack = ExitStack()
            self._demo_url = stack.enter_context(lazy_loading.demo_agent())
            self._stop_demo = stack.close
        return self._demo_url

    async def open_recording(self, path: Path) -> None:
        """Show what a capture holds; where it cannot be opened, say why and stay where the user asked for it."""
        async with self._opening:
            written = paths.is_being_written(path)
            try:
                recording = await asyncio.to_thread(Recording, path)
            except CaptureError as error:
                await self._no_recording(str(error))
                return
            await self._end()
            workbench = await self._show(recording, path.name)
            workbench.show_recording(recording)
            if written:
                notify(self._app, _WRITTEN, "warning")

    async def _no_recording(self, sentence: str) -> None:
        if self.workbench is None and self._options.recording is not None:
            self._app.exit(1, message=plain(sentence).plain)
            return
        if self.workbench is None:
            await self._replace(self._frame(), ConnectScreen())
        notify(self._app, sentence, "error")

    # Screens

    def _frame(self) -> Screen[Any]:
        """Return the workbench, or the boot screen in its place."""
        return next(one for one in self._app.screen_stack if isinstance(one, BootScreen | WorkbenchScreen))

    async def _replace(self, screen: Screen[Any], by: Screen[None]) -> None:
        """Put another screen in the place of one, and close the dialogs over it."""
        while self._app.screen is not screen:
            await self._app.pop_screen()
        await self._app.switch_screen(by)

    async def _show(self, session: Session, reference: str) -> WorkbenchScreen:
        """Show a session on a workbench of its own, at the view that is wanted by now."""
        boot = self._frame()
        view = boot.view if isinstance(boot, BootScreen) else ""
        workbench = WorkbenchScreen(session, reference, self._glyphs, view=view or "agent", options=self._options)
        workbench.set_classes(boot.classes)  # those that say how wide the screen is: other ones would style it anew
        self.workbench = workbench
        await self._replace(boot, workbench)
        await workbench.ready.wait()
        workbench.chat.composer.take_over(self._written)
        return workbench

    # The end

    async def _end(self) -> None:
        """Close the session that is shown, after its workbench is gone."""
        workbench = self.workbench
        if workbench is None:
            return
        self.workbench = None
        await workbench.ready.wait()
        await self._end_calls()
        self._written = workbench.chat.composer.draft
        await self._replace(workbench, BootScreen(self._glyphs, workbench.view))
        await workbench.session.close()

    async def _end_calls(self) -> None:
        """Break off what is under way, and wait: a call records how it ended before the capture is closed."""
        doing = [worker for worker in self._app.workers if worker.group in ("turns", "push")]
        for worker in doing:
            worker.cancel()
        await asyncio.gather(*(worker.wait() for worker in doing), return_exceptions=True)

    async def close(self) -> None:
        """End the session and the built-in agent with the app."""
        if self.workbench is not None:
            await self._end_calls()
            await self.workbench.session.close()
        if self._stop_demo is not None:
            await asyncio.to_thread(self._stop_demo)
