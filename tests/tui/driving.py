"""Use the app like a person: press keys, click, and wait for texts on the screen."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import fields
from functools import partial
from typing import Any, TypeVar

import idle
from snapshots import Snapshots, screen_lines
from textual import events
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from inspector.capture.records import Kind, Record, is_login
from inspector.cli.agent_options import options_of_selected
from inspector.options import Options
from inspector.protocol.errors import Fault
from inspector.session.session import Session
from inspector.tui.app import InspectorApp
from inspector.tui.screens.workbench import WorkbenchScreen
from inspector.tui.widgets.artifact_pane import ArtifactPane
from inspector.tui.widgets.composer import Composer
from inspector.tui.widgets.feed import Feed

TIMEOUT = 20.0
"""The maximum seconds to wait for a condition."""

SIZE = (110, 30)
"""The default screen size: wide enough for two columns."""

W = TypeVar("W", bound=Widget)


class Driver:
    """A running app, with methods to use it and to read its screen."""

    def __init__(self, app: InspectorApp, pilot: Pilot[int | Fault]) -> None:
        self.app = app
        self.pilot = pilot

    # The screen

    @property
    def lines(self) -> list[str]:
        """The lines of the screen without trailing spaces."""
        return [strip.text.rstrip() for strip in idle.draw(self.app.screen)]

    @property
    def screen(self) -> str:
        """The screen as text."""
        return "\n".join(self.lines)

    @property
    def words(self) -> str:
        """The text of the screen without frames, scroll bars and line breaks."""
        return " ".join(re.sub(r"[│▌▁-█]", " ", self.screen).split())

    def line(self, what: str) -> str:
        """Return the first line that contains a text, `""` if there is none."""
        return next((line for line in self.lines if what in line), "")

    def place(self, what: str) -> tuple[int, int]:
        """Return the column and the row where a text starts; all characters before it must be one cell wide."""
        row = next((row for row, line in enumerate(self.lines) if what in line), None)
        assert row is not None, f"not on the screen: {what!r}\n{self.screen}"
        return self.lines[row].index(what), row

    async def until(self, what: str | Callable[[], Any], seconds: float = TIMEOUT) -> Any:
        """Wait until a text is on the screen or a condition is true, and return its value."""
        deadline = time.monotonic() + seconds
        while not (outcome := what in self.screen if isinstance(what, str) else what()):
            assert time.monotonic() < deadline, f"not seen within {seconds} s: {what!r}\n{self.screen}"
            await asyncio.sleep(0.02)  # pilot.pause() would add work for every widget
        await self.pilot.pause()
        return outcome

    async def settled(self) -> None:
        """Wait until the screen stops changing."""
        workbench = next((screen for screen in self.app.screen_stack if isinstance(screen, WorkbenchScreen)), None)
        before, now = "", "not read"
        deadline = time.monotonic() + TIMEOUT
        while before != now:
            assert time.monotonic() < deadline, f"the screen keeps changing\n{self.screen}"
            await asyncio.sleep(0.02)
            if workbench is None or workbench._throttle.idle:
                await self.pilot.pause()
                before, now = now, self.screen

    async def snap(self, snapshots: Snapshots, name: str, *, coloured: bool = True) -> None:
        """Compare the screen with the picture of a name."""
        for area in self.app.screen.query("TextArea, Input"):
            area.cursor_blink = False  # type: ignore[attr-defined]
        await self.settled()
        width, height = self.app.size
        snapshots.check(f"{name}-{width}x{height}", screen_lines(self.app), coloured=coloured)

    # The session

    @property
    def session(self) -> Session:
        """The session of the app."""
        assert self.app.session is not None
        return self.app.session

    def records(self, *kinds: Kind, event: str = "") -> list[Record]:
        """Return the records of some kinds (default: all), optionally of one event."""
        found = self.session.journal.capture.select(kinds=kinds or tuple(Kind))
        return [record for record in found if event in ("", record.event)]

    def sent(self, operation: str = "") -> list[Any]:
        """Return the bodies of the sent requests, parsed as JSON, without those of logins."""
        wanted = [record for record in self.records(Kind.REQUEST) if record.raw and operation in ("", record.operation)]
        return [json.loads(record.raw) for record in wanted if not is_login(record)]

    # Actions

    async def press(self, *keys: str) -> None:
        """Press keys and wait until they are handled."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        """Type a text character by character."""
        await self.press(*({" ": "space"}.get(letter, letter) for letter in text))

    async def paste(self, text: str) -> None:
        """Paste a text, which needs a hundredth of the time of typing it."""
        self.app.post_message(events.Paste(text))
        await self.pilot.pause()

    async def click(self, what: str, *, aside: int = 0, times: int = 1) -> None:
        """Click on a text of the screen, `aside` cells to the right of its start."""
        column, row = self.place(what)
        await self.pilot.click(offset=(column + aside, row), times=times)
        await self.pilot.pause()

    async def connected(self) -> None:
        """Wait until the agent is connected and its card is shown."""
        await self.until(lambda: self.app.session is not None and self.app.session.connection is not None)
        await self.until(lambda: self.section == "card")

    async def go(self, number: int) -> None:
        """Go to the view with a number."""
        await self.press(f"alt+{number}")

    async def write(self) -> None:
        """Go to Chat and focus the composer."""
        await self.go(2)
        await self.press("i")

    async def say(self, text: str) -> None:
        """Write a message in Chat and send it."""
        await self.go(2)
        self.composer.fill(text)
        await self.press("enter")

    async def done(self, calls: int = 1) -> None:
        """Wait until a number of calls were made and all of them have ended."""
        await self.until(lambda: len(self.sent()) >= calls and not self.session.journal.exchanges.open)
        await self.settled()

    async def ask(self, text: str) -> None:
        """Send a message and wait until the call has ended."""
        before = len(self.sent())
        await self.say(text)
        await self.done(before + 1)

    async def run_command(self, command: str) -> None:
        """Run a command by its id, as the actions menu does."""
        bindings = self.app.screen.active_bindings.values()
        active = next(active for active in bindings if active.binding.id == command and active.enabled)
        await self.app.run_action(active.binding.action, active.node)
        await self.pilot.pause()

    # Parts of the app

    def widget(self, selector: str, kind: type[W]) -> W:
        """Return a widget of the workbench."""
        return self.app.screen.query_one(selector, kind)

    @property
    def workbench(self) -> WorkbenchScreen:
        """The workbench, which must be on top."""
        assert isinstance(self.app.screen, WorkbenchScreen)
        return self.app.screen

    @property
    def composer(self) -> Composer:
        """The composer."""
        return self.widget("#composer", Composer)

    @property
    def timeline(self) -> Feed:
        """The timeline of Chat."""
        return self.widget("#timeline", Feed)

    @property
    def section(self) -> str | None:
        """The section of the Agent view that is shown, None if the screen has no Agent view (yet)."""
        switchers = self.app.screen.query("#agent ContentSwitcher").results(ContentSwitcher)
        return next((switcher.current for switcher in switchers), None)

    def enabled(self, key: str) -> bool | None:
        """Return whether a key is enabled, None if it is not bound."""
        active = self.app.screen.active_bindings.get(key)
        return None if active is None else active.enabled


Open = Callable[..., AbstractAsyncContextManager[Driver]]
"""Opens the app with a reference, a screen size and members of `Options`; `run` is passed to `run_test`."""


@asynccontextmanager
async def driving(options: Options, size: tuple[int, int] = SIZE, **more: Any) -> AsyncIterator[Driver]:
    """Run the app, and exit it cleanly at the end."""
    prior = {field.name for field in fields(Options) if getattr(options, field.name) != field.default}
    app = InspectorApp(options, options_of_agent=partial(options_of_selected, options, prior))
    app.animation_level = "none"
    async with app.run_test(size=size, **more) as pilot:
        yield Driver(app, pilot)


def artifact_text(driver: Driver) -> str:
    """Return the text in the pane of the artifact."""
    return driver.widget("#artifact", ArtifactPane).selected_text()
