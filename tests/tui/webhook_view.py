"""The Webhooks view in tests: a receiver that listens, and deliveries."""

from __future__ import annotations

from typing import Any

from driving import Driver

from inspector.tui.screens.form import FormScreen
from inspector.tui.views.webhooks import WebhooksView

SIZE = (140, 40)
STATUS = {"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}
COMPLETED = {"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_COMPLETED"}}}


async def listening(driver: Driver) -> dict[str, str]:
    """Turn push on in the Webhooks view, and return a new registration."""
    await driver.connected()
    await driver.go(4)
    await driver.press("p")
    await driver.until(lambda: driver.session.push.on)
    hook = driver.session.push.register("t", version="1.0")
    return {"url": hook.registration.url, "token": hook.registration.token}


def view(driver: Driver) -> Any:
    """Return the Webhooks view."""
    return driver.workbench.query_one(WebhooksView)


async def choose(driver: Driver, words: str) -> None:
    """Select a row of a form."""
    assert isinstance(driver.app.screen, FormScreen)
    for _ in range(20):
        if driver.app.screen._choice().value == words:
            break
        await driver.press("down")
    await driver.press("enter")
