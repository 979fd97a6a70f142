"""Keys that are dimmed: a press reports why they cannot be used now."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from driving import Driver, Open
from textual import events
from textual.widgets._toast import Toast

from inspector.tui.widgets.artifact_pane import ArtifactPane
from inspector.tui.widgets.footer import KeyFooter

NOTICES = {"notifications": True}
ENDED = "the task is completed"
NO_TASK = "no task is selected"
NO_AGENT = "a capture has no agent"


async def notices(driver: Driver, key: str) -> list[str]:
    """Press a key, and return the notices about it."""
    driver.app.clear_notifications()
    await driver.press(key)
    return [notice.message for notice in driver.app._notifications]


async def check_reasons(driver: Driver, reasons: Mapping[str, str]) -> None:
    for key, reason in reasons.items():
        found = await notices(driver, key)
        assert [notice.partition(" is not available: ")[2] for notice in found] == [f"{reason}."], (key, found)


async def test_keys_of_the_agent_view_report_why_they_do_not_apply(open_app: Open, mock: str):
    async with open_app("http://127.0.0.1:1", (120, 36), run=NOTICES) as driver:
        await driver.until("Nothing listens at")
        await check_reasons(driver, dict.fromkeys(("slash", "v", "E"), "there is no card"))
    async with open_app(mock, (120, 36), run=NOTICES) as driver:
        await driver.connected()
        await driver.press("v", "v")
        await check_reasons(driver, {"slash": "press esc to go back to the card"})


async def test_keys_of_chat_report_what_is_missing(open_app: Open, mock: str):
    async with open_app(mock, (120, 36), run=NOTICES) as driver:
        await driver.connected()
        await driver.go(2)
        await driver.press("escape")
        no_text = "no message is written, press i to write one"
        await check_reasons(
            driver,
            {
                "x": NO_TASK,
                "s": NO_TASK,
                "c": NO_TASK,
                "full_stop": "no call is running",
                "ctrl+b": no_text,
                "S": "there is no artifact",
                "greater_than_sign": "there is no artifact",
            },
        )
        await driver.ask("report 1")
        await driver.press("escape")
        one_part = "there is only one part"
        reasons = {"x": ENDED, "s": ENDED, "m": "press t first, for time travel", "right_curly_bracket": one_part}
        await check_reasons(driver, {**reasons, "greater_than_sign": "the task has only one artifact"})
        driver.widget("#artifact", ArtifactPane).focus_body()
        await driver.pilot.pause()
        await check_reasons(driver, {"right_curly_bracket": one_part, "x": ENDED})
        assert await notices(driver, "t") == []


async def test_keys_of_tasks_report_which_task_they_need(open_app: Open, mock: str):
    async with open_app(mock, (120, 36), run=NOTICES) as driver:
        await driver.connected()
        await driver.go(3)
        await check_reasons(driver, dict.fromkeys(("r", "x", "s", "P"), NO_TASK))
        await driver.ask("report 1")
        await driver.go(3)
        await check_reasons(driver, dict.fromkeys(("x", "s", "P"), ENDED))
        assert await notices(driver, "r") == []


async def test_keys_that_need_an_agent_report_that_a_capture_has_none(open_app: Open, mock: str, tmp_path: Path):
    capture = tmp_path / "session.a2a"
    async with open_app(mock, capture=capture) as driver:
        await driver.connected()
        await driver.ask("report 1")
    async with open_app(None, (120, 36), recording=capture, run=NOTICES) as driver:
        await driver.until(lambda: driver.app.session is not None and len(driver.session.tasks) == 1)
        for view, keys in {2: "ixspIC", 3: "rxsPld", 4: "pROwe", 5: "pe"}.items():
            await driver.go(view)
            await driver.settled()
            shown = driver.lines[-1].split()
            assert "credentials" not in shown, "pinned only if the agent requires credentials"
            assert not {"write", "webhook", "register", "diagnose", "override", "refresh"} & set(shown)
            await check_reasons(driver, dict.fromkeys(keys, NO_AGENT))
        await driver.go(2)
        await driver.press("escape")
        await check_reasons(driver, {"b": "a capture cannot be changed"})


async def test_a_key_that_read_only_disables_is_reported_once(open_app: Open, mock: str):
    async with open_app(mock, (120, 36), read_only=True, run=NOTICES) as driver:
        await driver.connected()
        await driver.go(3)
        assert await notices(driver, "x") == [
            "x (cancel task) is not available: a2a-inspect was started with --read-only."
        ]


async def test_a_click_on_a_dimmed_key_reports_why(open_app: Open, mock: str):
    async with open_app(mock, (120, 36), run=NOTICES) as driver:
        await driver.connected()
        await driver.ask("report 1")
        await driver.go(3)
        await driver.settled()
        keys = driver.app.screen.query_one(KeyFooter)
        await driver.pilot.click(keys, offset=(keys.render().plain.index("x cancel") + 1, 0))
        await driver.until(lambda: driver.app._notifications)
        assert [notice.message for notice in driver.app._notifications] == [
            f"x (cancel task) is not available: {ENDED}."
        ]


@pytest.mark.usefixtures("all_views")
async def test_a_key_of_this_view_without_a_known_reason_is_not_available_now(open_app: Open):
    async with open_app("http://127.0.0.1:1", (120, 36), run=NOTICES) as driver:
        await driver.until("Nothing listens at")
        assert await notices(driver, "n") == ["n (next) is not available now."]


async def test_the_reason_of_a_key_replaces_that_of_the_key_before(open_app: Open, mock: str):
    async with open_app(mock, (80, 24), run=NOTICES) as driver:
        await driver.connected()
        await driver.go(2)
        await driver.press("escape")
        driver.app.notify("another notice", markup=False)
        for key, character in (("x", "x"), ("s", "s"), ("full_stop", ".")):  # without waiting between them
            driver.app.post_message(events.Key(key, character))
        await driver.settled()
        shown = [toast._notification.message.partition(": ")[2] for toast in driver.app.screen.query(Toast)]
        assert shown == ["", "no call is running."]
