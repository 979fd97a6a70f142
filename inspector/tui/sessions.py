"""Open and close the sessions of the app, one at a time, each with its own workbench."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from textual.app import App
from textual.screen import Screen

from inspector.capture import paths, recent_agents
from inspector.capture.private_files import CaptureError
from inspector.options import Options
from inspector.protocol.errors import FaultError
from inspector.session.connection import Connection
from inspector.session.session import Session
from inspector.session.settings import settings_from
from inspector.tui import lazy_loading
from inspector.tui.demo_agent import DemoAgent
from inspector.tui.notify import notify
from inspector.tui.render.content import plain
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.screens.connect import DEMO, ConnectScreen
from inspector.tui.screens.frame import BootScreen
from inspector.tui.screens.workbench import WorkbenchScreen

if TYPE_CHECKING:
    from inspector.session.compose.draft import Draft

_BEING_WRITTEN = "Another process is still writing this capture. Open it again to see new records."


class Sessions:
    """Opens sessions and captures, each on its own workbench, and closes the previous session."""

    def __init__(self, app: App[int], options: Options, glyphs: Glyphs, demo_agent: Callable[[], DemoAgent]) -> None:
        self._app = app
        self._options = options
        self._glyphs = glyphs
        self.workbench: WorkbenchScreen | None = None
        self._unsent: Draft | None = None
        self._opening = asyncio.Lock()
        self._demo_agent = demo_agent
        self._demo_url = ""
        self._begin_tour = options.tour
        # Load all style sheets now: each sheet that is loaded later styles all widgets again, which lasts 200 ms.
        app.stylesheet.read_all(sorted((Path(__file__).parent / "screens").glob("*.tcss")))

    async def connect(self, reference: str) -> None:
        """Connect to an agent, given by URL, card file or `DEMO`, in a new session."""
        async with self._opening:  # a cancelled attempt closes its session before the next begins
            if reference == DEMO:
                try:
                    reference = self._demo_url = await asyncio.to_thread(self._demo_agent().url)
                except FaultError as error:
                    self._app.exit(1, message=f"{error.fault.seen} {error.fault.hint}")
                    return
            await self._end()
            host = urlsplit(reference).netloc or reference
            path = self._options.capture or paths.new_capture_path(host, datetime.now().astimezone())
            try:
                session = Session(path, settings_from(self._options))
            except CaptureError as error:
                self._app.exit(1, message=str(error))
                return
            connecting = asyncio.create_task(session.connect(reference))  # while the workbench is made
            try:
                workbench = await self._show(session, reference)
                connection = await connecting
            except FaultError as error:
                workbench.show_fault(error.fault)
                return
            finally:
                connecting.cancel()
            await self._connected(workbench, connection, demo=reference == self._demo_url)

    async def _connected(self, workbench: WorkbenchScreen, connection: Connection, *, demo: bool) -> None:
        """Show the agent, store its card, and add it to the recent agents."""
        workbench.show_connection(connection)
        workbench.agent.compare(keep=not demo)
        if demo:
            begin, self._begin_tour = self._begin_tour, False
            await workbench.offer_tour(begin=begin)
        else:
            dialect = connection.choice.dialect.version if connection.choice else ""
            agent = recent_agents.RecentAgent(connection.reference, connection.card.name, dialect, time.time())
            problem = recent_agents.remember(agent, workbench.session.journal.redactor)
            if problem:
                notify(self._app, problem, "warning")
        await asyncio.to_thread(paths.prune, paths.captures_folder())

    async def open_recording(self, path: Path) -> None:
        """Show a capture; if it cannot be opened, report why and keep the current screen."""
        async with self._opening:
            being_written = paths.is_being_written(path)
            try:
                recording = await asyncio.to_thread(lazy_loading.recording, path)
            except CaptureError as error:
                await self._report_unreadable(str(error))
                return
            await self._end()
            workbench = await self._show(recording, path.name, view="chat")
            workbench.show_recording(recording)
            if being_written:
                notify(self._app, _BEING_WRITTEN, "warning")

    async def _report_unreadable(self, sentence: str) -> None:
        if self.workbench is None and self._options.recording is not None:
            self._app.exit(1, message=plain(sentence).plain)
            return
        if self.workbench is None:
            await self._replace(self._frame(), ConnectScreen())
        notify(self._app, sentence, "error")

    # Screens

    def _frame(self) -> Screen[Any]:
        """Return the workbench or the boot screen."""
        return next(screen for screen in self._app.screen_stack if isinstance(screen, BootScreen | WorkbenchScreen))

    async def _replace(self, screen: Screen[Any], by: Screen[None]) -> None:
        """Replace a screen by another screen, and close the dialogs over it."""
        while self._app.screen is not screen:
            await self._app.pop_screen()
        await self._app.switch_screen(by)

    async def _show(self, session: Session, reference: str, *, view: str = "") -> WorkbenchScreen:
        """Show a session on a new workbench, at `view` or the view that the user chose while it was loaded."""
        boot = self._frame()
        view = view or (boot.view if isinstance(boot, BootScreen) else "agent")
        workbench = WorkbenchScreen(
            session, reference, self._glyphs, view=view, options=self._options, unsent=self._unsent
        )
        workbench.set_classes(boot.classes)  # width classes; setting them later would style all widgets again
        self.workbench = workbench
        await self._replace(boot, workbench)
        await workbench.ready.wait()
        return workbench

    # Closing

    async def _end(self) -> None:
        """Replace the workbench by the boot screen, and close its session."""
        workbench = self.workbench
        if workbench is None:
            return
        self.workbench = None
        await workbench.all_views()
        await self._end_calls()
        self._unsent = workbench.chat.composer.draft
        await self._replace(workbench, BootScreen(self._glyphs, workbench.view))
        await workbench.session.close()

    async def _end_calls(self) -> None:
        """Cancel the running calls and wait, because they record their end before the capture is closed."""
        running = [worker for worker in self._app.workers if worker.group in ("calls", "push")]
        for worker in running:
            worker.cancel()
        await asyncio.gather(*(worker.wait() for worker in running), return_exceptions=True)

    async def close(self) -> None:
        """Close the session."""
        if self.workbench is not None:
            await self._end_calls()
            await self.workbench.session.close()
