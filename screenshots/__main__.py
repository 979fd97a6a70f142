"""Run the app with the mock agent and write the screenshots of the README; a second run changes nothing but web.png."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from inspector.sample_agents.server import MockAgent
from textual.pilot import Pilot

from inspector.options import Options
from inspector.protocol.errors import Fault
from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_part
from inspector.tui.app import InspectorApp
from inspector.tui.screens.compose import ComposeScreen
from inspector.tui.views.checks import ChecksView
from inspector.tui.widgets.composer import Composer
from inspector.tui.widgets.feed import Feed
from screenshots.browser import take_picture
from screenshots.stage import BEAT, STAGED, steady

FOLDER = Path(__file__).parent
CHECKS = Path("screenshots/checks.yaml")
"""Relative, because its path is in the screenshots."""
SIZES = {"": (120, 36), "-80x24": (80, 24)}
"""The size for each suffix of a file name; the first is that of the app at its start."""
THEMES = {"dark": "dusk", "light": "paper"}
PATIENCE = 15.0
"""The longest wait for a condition, in seconds."""


async def until(pilot: Pilot[int | Fault], condition: Callable[[], bool]) -> None:
    """Run the app until a condition holds."""
    for _ in range(int(PATIENCE / 0.02)):
        await pilot.pause(0.02)
        if condition():
            await pilot.pause(BEAT / 4)
            return
    raise TimeoutError(f"the condition was not met within {PATIENCE:g} s")


class Stage:
    """One run of the app, with methods to send messages and write screenshots."""

    def __init__(self, app: InspectorApp, pilot: Pilot[int | Fault], suffix: str) -> None:
        self.app = app
        self.pilot = pilot
        self._suffix = suffix

    def recorded(self, kind: str, event: str = "") -> int:
        """Return the number of records of a kind, and of an event unless it is `""`."""
        session = self.app.session
        records = session.journal.capture.select() if session else []
        return sum(record.kind == kind and event in ("", record.event) for record in records)

    async def send(self, text: str) -> None:
        """Write a message and send it."""
        await self.pilot.press(
            "alt+2", "escape", "i", *("space" if letter == " " else letter for letter in text), "enter"
        )

    async def shoot(self, name: str) -> None:
        """Write a screenshot for each size, if it differs from the existing one."""
        for suffix, size in SIZES.items():
            await self.pilot.resize_terminal(*size)
            await self._resized(size)
            path = FOLDER / f"{name}-{self._suffix}{suffix}.svg"
            picture = steady(self.app.export_screenshot(title="a2a-inspect"))
            if not path.exists() or path.read_text(encoding="utf-8") != picture:
                path.write_text(picture, encoding="utf-8")
                print(f"wrote {path.name}")
        await self.pilot.resize_terminal(*SIZES[""])
        await self._resized(SIZES[""])

    async def _resized(self, size: tuple[int, int]) -> None:
        await until(self.pilot, lambda: tuple(self.app.size) == size)

    async def done(self, ended: int) -> None:
        """Wait until a number of exchanges has ended."""
        await until(self.pilot, lambda: self.recorded("end") == ended)

    async def go(self, view: int) -> None:
        """Show a view, and wait until it is drawn."""
        await self.pilot.press(f"alt+{view}")
        await until(self.pilot, lambda: True)


async def play(stage: Stage) -> None:
    """Use the main features and take the screenshots: several tasks, pushes and a finding."""
    pilot = stage.pilot
    await until(pilot, lambda: bool(stage.app.session and stage.app.session.connection))
    await stage.shoot("agent")
    await pilot.press("p")
    await until(pilot, lambda: stage.recorded("note") == 2)
    await compose(stage)
    await stage.send("careless")
    await stage.done(2)
    await pilot.press("ctrl+r")
    await stage.send("ask")
    await stage.done(3)
    await pilot.press("ctrl+r")
    await stage.send("report")
    await until(pilot, lambda: stage.recorded("delivery", "artifact") > 6)
    await stage.shoot("chat")
    await stage.done(4)
    for view, name in ((3, "tasks"), (4, "webhooks")):
        await stage.go(view)
        await stage.shoot(name)
    await stage.go(5)
    await pilot.press("end")
    await until(pilot, lambda: True)
    await stage.shoot("traffic")
    await stage.go(6)
    await stage.shoot("findings")
    await check(stage)


async def check(stage: Stage) -> None:
    """Take the screenshot of a test that failed."""
    pilot = stage.pilot
    await stage.go(7)
    view = stage.app.screen.query_one(ChecksView)
    view.load_file(CHECKS)
    await until(pilot, lambda: bool(view.query_one(Feed).line_count))
    await pilot.press("u")
    await until(pilot, lambda: view.is_running)
    await until(pilot, lambda: not view.is_running)
    await pilot.press("down", "down", "down")
    await stage.shoot("checks")


async def compose(stage: Stage) -> None:
    """Take the screenshot of a message with three parts, without sending it."""
    pilot = stage.pilot
    parts = (
        text_part("What is in this photo? Answer in five lines."),
        DraftPart(PartKind.LINK, "https://files.example/harbour.jpg"),
        DraftPart(PartKind.DATA, '{\n  "lines": 5\n}'),
    )
    await pilot.press("alt+2")
    composer = stage.app.screen.query_one(Composer)
    composer.take(Draft(parts, message_id="b1946ac9-2de5-4f2a-9b8e-8f2d3c6a7e10"))
    await pilot.press("ctrl+o")
    await until(pilot, lambda: isinstance(stage.app.screen, ComposeScreen))
    await until(pilot, lambda: True)
    await stage.shoot("compose")
    await pilot.press("escape")
    await until(pilot, lambda: not isinstance(stage.app.screen, ComposeScreen))
    composer.take(None)


async def main(play: Callable[[Stage], Awaitable[None]] = play) -> None:
    """Take the screenshots in every theme."""
    for suffix, theme in THEMES.items():
        agent = MockAgent(behaviours=STAGED)
        url = await agent.start()
        app = InspectorApp(Options(reference=url, theme=theme))
        app.animation_level = "none"
        async with app.run_test(size=SIZES[""]) as pilot:
            await play(Stage(app, pilot, suffix))
        await agent.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        os.environ["A2A_INSPECT_HOME"] = home
        os.environ["COLORTERM"] = "truecolor"  # the pictures do not depend on this terminal
        asyncio.run(main())
        asyncio.run(take_picture(FOLDER / "web.png"))
