"""A closed session is freed: nothing keeps its workbench, its widgets, or its capture."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from driving import Driver, Open
from test_several_agents import connect
from textual.widget import Widget

from inspector.tui.screens.connect import ConnectScreen


def parts(driver: Driver) -> dict[str, Any]:
    """Return weak references to the session of the current tab, its capture, and all of its widgets."""
    session, workbench = driver.session, driver.workbench
    named = {"session": session, "capture": session.journal.capture, "workbench": workbench}
    widgets = {f"{widget}": widget for widget in workbench.query(Widget)}
    return {name: weakref.ref(part) for name, part in (named | widgets).items()}


def alive(references: dict[str, Any]) -> list[str]:
    """Return the names of the objects that still exist."""
    return [name for name, reference in references.items() if reference() is not None]


async def reconnect(driver: Driver, mock: str) -> None:
    before = id(driver.session)
    await driver.press("o")
    await driver.until("Connect to an agent")
    await driver.type(mock)
    await driver.press("enter")
    await driver.until(lambda: driver.app.session is not None and id(driver.app.session) != before)
    await driver.connected()


async def test_reconnecting(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.ask("report 2")
        for view in range(1, 7):
            await driver.go(view)
        await driver.press("escape")
        old = parts(driver)
        await reconnect(driver, mock)
        gc.collect()
        print(alive(old))
        if alive(old):
            import asyncio, time
            t=time.monotonic()
            while alive(old) and time.monotonic()-t<100:
                await asyncio.sleep(1); gc.collect()
                print(time.monotonic()-t, len(alive(old)), alive(old)[:3])
        assert not alive(old)
