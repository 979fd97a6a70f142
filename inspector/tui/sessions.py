"""Open and close the sessions of the app, each with a workbench in a tab; one change follows the other."""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from textual.app import App
from textual.screen import Screen

from inspector.capture import paths, recent_agents
from inspector.capture.private_files import CaptureError
from inspector.options import Options
from inspector.protocol.errors import Fault, FaultCode, FaultError, Whose
from inspector.session.catalog_listing import CatalogFoundError
from inspector.session.connection import Connection
from inspector.session.session import Session
from inspector.session.settings import Settings, settings_from
from inspector.text.units import duration
from inspector.tui import lazy_loading
from inspector.tui.demo_agent import DemoAgent
from inspector.tui.keys import key_of
from inspector.tui.notify import notify
from inspector.tui.render.glyphs import Glyphs
from inspector.tui.screens.catalog import CatalogScreen, unchosen_fault
from inspector.tui.screens.connect import DEMO, ConnectScreen
from inspector.tui.screens.frame import BootScreen
from inspector.tui.screens.workbench import WorkbenchScreen
from inspector.tui.session_memory import free_closed_widgets
from inspector.tui.trust import follow_redirect, refused_fault
from inspector.wire.client.client_certificate import PassphraseError
from inspector.wire.discovery import PrivateRedirectError, name_of

if TYPE_CHECKING:
    from inspector.session.compose.draft import Draft
    from inspector.session.replay.recording import Recording

Result = TypeVar("Result")
_ATTEMPTS_TO_FREE = 8
"""How often to try to free the memory of a closed session."""
_BEING_WRITTEN = "Another process is still writing this capture. Open it again to see new records."


class Sessions:
    """Opens sessions and captures, each on its own workbench; the workbenches are shown as tabs."""

    def __init__(
        self, app: App[int | Fault], options: Options, glyphs: Glyphs, demo_agent: Callable[[], DemoAgent]
    ) -> None:
        self._app = app
        self._options = options
        self._chosen_capture = options.capture
        self._glyphs = glyphs
        self._workbenches: list[WorkbenchScreen] = []
        self.workbench: WorkbenchScreen | None = None
        """The workbench of the current tab."""
        self._opening = asyncio.Lock()
        self._closed = weakref.WeakSet[WorkbenchScreen]()
        """The closed workbenches whose memory has not been freed yet."""
        self._attempts_to_free = 0
        self._demo_agent = demo_agent
        self._demo_url = ""
        self._passphrases: dict[Path | None, str] = {}
        """The passphrases of client certificates, once the user has entered them."""
        self._begin_tour = options.tour
        self._attempt: asyncio.Task[Connection] | None = None
        self._changes = set[asyncio.Task[Any]]()
        """The tasks that show or close a session now."""
        self._left: WorkbenchScreen | None = None
        """The tab that is shown again if nothing can be opened."""
        # Load all style sheets now: each sheet that is loaded later styles all widgets again, which lasts 200 ms.
        app.stylesheet.read_all(sorted((Path(__file__).parent / "screens").glob("*.tcss")))

    async def connect(self, reference: str, options: Options | None = None) -> None:
        """Connect to an agent, given by URL, card file or `DEMO`, in a new session.

        The session gets a tab of its own, unless the current tab has the same agent and options, or no agent at all.
        `options` are those for the agent, None for those of the app.
        """
        async with self._change():  # a cancelled attempt closes its session before the next begins
            if reference == DEMO:
                reference = self._demo_url = await asyncio.to_thread(self._demo_agent().url)
            options = options or self._options
            settings = await self._settings(options)
            unsent = await self._to_its_end(self._leave(reference, options))
            session = Session(self._capture_path(reference), settings)
            self._attempt = asyncio.create_task(session.connect(reference))  # while the workbench is made
            try:
                workbench = await self._to_its_end(self._show(session, reference, options, unsent))
                await self._finish(workbench, self._attempt)
            finally:
                await self._end_attempt()

    async def _settings(self, options: Options) -> Settings:
        """Return the settings; ask for the passphrase of a client certificate once. Raises `FaultError`."""
        while True:
            try:
                return settings_from(options, self._passphrases.get(options.client_cert, ""))
            except PassphraseError as error:
                values = await self._app.push_screen_wait(lazy_loading.passphrase_form(error))
                if values is None or not values["passphrase"]:
                    raise
                self._passphrases[options.client_cert] = values["passphrase"]

    async def connect_again(self, workbench: WorkbenchScreen) -> None:
        """Fetch the card again in the same session, because there is none."""
        async with self._opening:
            await self._connect_again(workbench)

    async def _connect_again(self, workbench: WorkbenchScreen) -> None:
        workbench.show_connecting()
        self._attempt = asyncio.create_task(workbench.session.connect(workbench.reference))
        try:
            await self._finish(workbench, self._attempt)
        finally:
            await self._end_attempt()

    def stop_connecting(self) -> None:
        """Cancel the running attempt to connect."""
        if self._attempt is not None:
            self._attempt.cancel()

    async def _end_attempt(self) -> None:
        """Cancel the attempt to connect, and wait until its connection is closed."""
        attempt, self._attempt = self._attempt, None
        if attempt is not None:
            attempt.cancel()
            await asyncio.wait({attempt})

    async def _finish(self, workbench: WorkbenchScreen, attempt: asyncio.Task[Connection]) -> None:
        """Wait for the end of an attempt to connect, and show its result."""
        began = time.monotonic()
        await asyncio.wait({attempt})
        if attempt.cancelled():
            seen = f"Connecting was canceled after {duration(time.monotonic() - began)}."
            workbench.show_fault(Fault(Whose.YOURS, FaultCode.TIMEOUT, seen))
            return
        try:
            connection = attempt.result()
        except PrivateRedirectError as error:
            workbench.show_fault(refused_fault(error))
            if await follow_redirect(self._app, workbench.session, error.redirect):
                await self._connect_again(workbench)
            return
        except CatalogFoundError as error:
            workbench.show_fault(unchosen_fault(error))
            await self._app.push_screen(CatalogScreen(error.listing, workbench.options))
            return
        except FaultError as error:
            workbench.show_fault(error.fault)
            return
        await self._connected(workbench, connection, demo=workbench.reference == self._demo_url)

    def _capture_path(self, reference: str) -> Path:
        """Return the file for a new session: the file that the user chose for the first, else a new file."""
        chosen, self._chosen_capture = self._chosen_capture, None
        return chosen or paths.new_capture_path(name_of(reference), datetime.now().astimezone())

    async def _connected(self, workbench: WorkbenchScreen, connection: Connection, *, demo: bool) -> None:
        """Show the agent, store its card, and add it to the recent agents."""
        workbench.show_connection(connection)
        self._select(self.workbench)  # the name of the agent is known now
        workbench.agent.compare(keep=not demo)
        if demo and workbench.session.may_send:  # the tour sends messages
            begin, self._begin_tour = self._begin_tour, False
            await workbench.offer_tour(begin=begin)
        if not demo:
            dialect = connection.choice.dialect.version if connection.choice else ""
            agent = recent_agents.RecentAgent(connection.reference, connection.card.name, dialect, time.time())
            problem = recent_agents.remember(agent, workbench.session.journal.redactor)
            if problem:
                notify(self._app, problem, "warning")
        keep, most = self._options.keep_captures, self._options.keep_megabytes * 2**20
        await asyncio.to_thread(paths.prune, paths.captures_folder(), keep=keep, most_bytes=most)

    async def open_recording(self, path: Path) -> None:
        """Show a capture; if it cannot be opened, report why and keep the current screen."""
        async with self._change():
            being_written = paths.is_being_written(path)
            recording = await asyncio.to_thread(lazy_loading.recording, path)
            await self._to_its_end(self._show_recording(recording, str(path)))
            if being_written:
                notify(self._app, _BEING_WRITTEN, "warning")

    async def _show_recording(self, recording: Recording, path: str) -> None:
        unsent = await self._leave(path, self._options)
        workbench = await self._show(recording, path, self._options, unsent, view="chat")
        workbench.show_recording(recording)

    async def _report(self, fault: Fault) -> None:
        """Report why nothing was opened.

        Exit with the fault if the app was started with the demo or a capture, and nothing is open.
        """
        options = self._options
        if not self._workbenches and (options.demo or options.recording or options.capture):
            self._app.exit(fault)
            return
        if self.workbench is None:
            back = self._left or (self._workbenches[-1] if self._workbenches else None)
            await self._to_its_end(self._switch(back))
        notify(self._app, fault.sentence(), "error")

    # Tabs

    def _select(self, workbench: WorkbenchScreen | None) -> None:
        """Remember the current tab, and show the tabs in each of them."""
        self.workbench = workbench
        names = [each.name_of_tab for each in self._workbenches]
        for each in self._workbenches:
            each.show_tabs(names, self._workbenches.index(each))

    async def go_to(self, workbench: WorkbenchScreen) -> None:
        """Show another tab."""
        if self._attempt is not None:
            notify(self._app, f"An agent is being connected: {key_of('back')} cancels it.")
        elif workbench is not self.workbench and not self._opening.locked():
            await self._to_its_end(self._switch(workbench))
            workbench.refresh_view()

    async def step(self, step: int) -> None:
        """Show the next (1) or the previous (-1) tab."""
        if self.workbench is not None:
            index = self._workbenches.index(self.workbench) + step
            await self.go_to(self._workbenches[index % len(self._workbenches)])

    async def close_tab(self, workbench: WorkbenchScreen) -> None:
        """Close the session of a tab if it is still the current one; show the tab before it, or the connect screen."""
        self.stop_connecting()
        async with self._change():
            if workbench is self.workbench:
                await self._to_its_end(self._close_tab(workbench))

    async def _close_tab(self, workbench: WorkbenchScreen) -> None:
        index = self._workbenches.index(workbench)
        await self._end_session(workbench)
        await self._switch(self._workbenches[max(0, index - 1)] if self._workbenches else None)

    async def _switch(self, tab: WorkbenchScreen | None) -> None:
        """Show a tab, or the connect screen if there is none, instead of the current frame."""
        await self._replace(self._frame(), tab or ConnectScreen())
        self._select(tab)

    # Screens

    def _frame(self) -> Screen[Any]:
        """Return the workbench or the boot screen."""
        return next(screen for screen in self._app.screen_stack if isinstance(screen, BootScreen | WorkbenchScreen))

    async def _replace(self, screen: Screen[Any], by: Screen[None]) -> None:
        """Replace a screen by another screen, and close the dialogs over it."""
        while self._app.screen is not screen:
            await self._app.pop_screen()
        await self._app.switch_screen(by)

    async def _leave(self, reference: str, options: Options) -> Draft | None:
        """Show the boot screen; close the session of the current tab if it has this agent and options, or no agent.

        A session with a running call stays. Returns the unsent message of a closed session.
        """
        workbench = self.workbench
        if workbench is None:
            return None
        is_same = (workbench.reference, workbench.options) == (reference, options)
        is_idle = not workbench.session.journal.exchanges.open
        if (is_same and is_idle) or workbench.is_without_agent:
            await workbench.mounted("chat")
            unsent = workbench.chat.composer.draft
            await self._end_session(workbench)
            return unsent
        await self._replace(workbench, BootScreen(self._glyphs, workbench.view))
        self.workbench, self._left = None, workbench
        return None

    async def _show(
        self, session: Session, reference: str, options: Options, unsent: Draft | None, *, view: str = ""
    ) -> WorkbenchScreen:
        """Show a session on a new workbench, at `view` or the view that the user chose while it was loaded."""
        boot = self._frame()
        view = view or (boot.view if isinstance(boot, BootScreen) else "agent")
        workbench = WorkbenchScreen(session, reference, self._glyphs, view=view, options=options, unsent=unsent)
        workbench.set_classes(boot.classes)  # width classes; setting them later would style all widgets again
        self._workbenches.append(workbench)
        self._app.install_screen(workbench, f"session {id(workbench)}")  # it stays while another tab is shown
        self._select(workbench)
        self._left = None
        await self._replace(boot, workbench)
        await workbench.ready.wait()
        return workbench

    async def _to_its_end(self, change: Coroutine[Any, Any, Result]) -> Result:
        """Show or close a session completely, even if this is cancelled: half of a change would stay on the screen."""
        task = asyncio.create_task(change)
        self._changes.add(task)
        task.add_done_callback(self._changes.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait({task})
            if not task.cancelled() and task.exception() and self._app.return_code is None:
                task.result()  # raises its error; an app that ends has removed the views that a change needs
            raise

    # Closing

    async def _end_session(self, workbench: WorkbenchScreen) -> None:
        """Replace the workbench by the boot screen, close its session, and remove its tab."""
        try:
            await workbench.mounted("chat")
            await self._end_calls(workbench)
            await workbench.chat.composer.keep_draft()
            await self._replace(workbench, BootScreen(self._glyphs, workbench.view))
            self._workbenches.remove(workbench)
            self._select(None)
            self._app.uninstall_screen(workbench)
            await workbench.remove()
        finally:
            await workbench.session.close()
        if self._left is workbench:
            self._left = None
        self._closed.add(workbench)
        self._attempts_to_free = _ATTEMPTS_TO_FREE

    @asynccontextmanager
    async def _change(self) -> AsyncIterator[None]:
        """Open or close sessions, one at a time; report a fault, and free the memory of those that were closed.

        Faults are a client certificate or a proxy that cannot be used, or a capture that cannot be read or written.
        """
        async with self._opening:
            try:
                yield
            except FaultError as error:
                await self._report(error.fault)
            except CaptureError as error:
                await self._report(Fault(Whose.YOURS, FaultCode.USAGE, str(error), error.hint))
            finally:
                self._app.call_later(self.free_closed)  # here, locals still refer to the session

    def free_closed(self) -> None:
        """Free the memory of closed sessions. The app repeats this, because a cancelled timer keeps its widget a while.

        asyncio removes a cancelled timer, such as the timeout of a request, when its time is over.
        """
        if self._closed and self._attempts_to_free:
            self._attempts_to_free -= 1
            free_closed_widgets(self._app)

    async def _end_calls(self, workbench: WorkbenchScreen) -> None:
        """Cancel the running calls of a session, and wait until their end is recorded."""
        running = [worker for worker in self._app.workers if worker.group in ("calls", "push", "tour", "checks")]
        running = [worker for worker in running if worker.node is workbench or workbench in worker.node.ancestors]
        for worker in running:
            worker.cancel()
        await asyncio.gather(*(worker.wait() for worker in running), return_exceptions=True)

    async def close(self) -> None:
        """Close all sessions, also one that is being shown or closed."""
        await self._end_attempt()
        changes = set(self._changes)
        for change in changes:
            change.cancel()
        if changes:
            await asyncio.wait(changes)
        for workbench in self._workbenches:
            await self._end_calls(workbench)
            if workbench.views.has("chat"):
                await workbench.chat.composer.keep_draft()
            await workbench.session.close()
