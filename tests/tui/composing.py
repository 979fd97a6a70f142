"""Helpers for tests of the compose screen."""

from __future__ import annotations

from driving import Driver

from inspector.session.compose.draft import Draft
from inspector.tui.screens.compose import ComposeScreen


async def opened(driver: Driver, draft: Draft | None = None) -> ComposeScreen:
    """Open the compose screen with a draft."""
    await driver.connected()
    await driver.go(2)
    if draft is not None:
        driver.composer.take(draft)
    await driver.press("ctrl+o")
    await driver.until("Message outline")
    screen = driver.app.screen
    assert isinstance(screen, ComposeScreen)
    return screen


def kinds(screen: ComposeScreen) -> list[tuple[str, str]]:
    return [(str(part.kind), part.value) for part in screen.draft.parts]


def parts_of(driver: Driver) -> list[dict[str, object]]:
    found: list[dict[str, object]] = driver.sent()[-1]["params"]["message"]["parts"]
    return found
