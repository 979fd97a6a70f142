"""A closed session is freed: nothing keeps its workbench, its widgets, its capture, or the session itself."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest
from driving import Driver, Open
from textual.widget import Widget

from inspector.tui.screens.connect import ConnectScreen
from inspector.tui.views.registry import ALL_VIEWS


def parts(driver: Driver) -> dict[str, weakref.ref[Any]]:
    """Return weak references to the session of the current tab, its capture, and the widgets with their lines."""
    session, widgets = driver.session, [driver.workbench, *driver.workbench.query(Widget)]
    found = [session, session.journal.capture, *widgets, *(widget._styles_cache for widget in widgets)]
    return {f"{number} {type(part).__name__}": weakref.ref(part) for number, part in enumerate(found)}


def alive(references: dict[str, weakref.ref[Any]]) -> list[str]:
    """Return the names of the objects that still exist."""
    gc.collect()
    return [name for name, reference in references.items() if reference() is not None]


async def open_another(driver: Driver, reference: str) -> None:
    """Open an agent or a capture as a user does, and wait for its session."""
    before = id(driver.workbench)
    await driver.press("o")
    await driver.until("Connect to an agent")
    await driver.paste(reference)
    await driver.press("enter")
    await driver.until(lambda: driver.app.workbench is not None and id(driver.app.workbench) != before)
    await driver.until(lambda: driver.app.screen is driver.app.workbench)
    await driver.workbench.mounted(*ALL_VIEWS)
    await driver.settled()


async def use(driver: Driver) -> None:
    """Send a message, and show every view."""
    await driver.ask("report 2")
    for view in range(1, 7):
        await driver.go(view)
    await driver.press("escape")


async def test_connecting_again_frees_the_session_before(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await use(driver)
        old = parts(driver)
        await open_another(driver, mock)
        await driver.until(lambda: not alive(old))


@pytest.mark.parametrize("kind", ["agent", "capture"])
async def test_closing_a_tab_frees_its_session(open_app: Open, mock: str, slow_mock: str, kind: str):
    async with open_app(mock) as driver:
        await driver.connected()
        path = Path(driver.session.journal.capture.path)
        await open_another(driver, slow_mock if kind == "agent" else str(path))
        old, first = parts(driver), driver.app._sessions._workbenches[0]
        await driver.press("X")
        await driver.until(lambda: driver.app.workbench is first)
        await driver.settled()
        await driver.until(lambda: not alive(old))


async def test_closing_the_last_tab_frees_its_session(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.workbench.mounted(*ALL_VIEWS)
        old = parts(driver)
        await driver.press("X")
        await driver.until(lambda: isinstance(driver.app.screen, ConnectScreen))
        await driver.until(lambda: not alive(old))
