"""The views Tasks, Webhooks, Traffic and Findings, and the links between them."""

from __future__ import annotations

import aiohttp
from driving import Driver, Open
from players import deliver, misbehave, playing
from puppets import task

from inspector.capture.records import Kind
from inspector.tui.widgets.detail_pane import DetailPane
from inspector.tui.widgets.feed import Feed


async def test_tasks_are_listed_with_their_states_updated_and_opened(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.go(3)
        assert "No tasks yet" in driver.screen
        assert [driver.enabled(key) for key in "rxs"] == [False, False, False]
        await driver.ask("report 2")
        await driver.press("ctrl+r")
        await driver.ask("ask")
        asked, reported = driver.session.tasks.all()
        await driver.go(3)
        await driver.settled()
        assert asked.id[:8] in driver.line("◔ input-required")
        assert reported.id[:8] in driver.line("● completed")
        assert f"task       {asked.id}" in driver.screen
        assert driver.line("states   ").count("→") == 2
        assert [driver.enabled(key) for key in "rxs"] == [True, True, True]
        await driver.press("down")
        assert f"task       {reported.id}" in driver.screen
        assert "● completed" in driver.line("states   ")
        assert [driver.enabled(key) for key in "rxs"] == [True, False, False]
        await driver.press("r")
        await driver.done(3)
        assert (driver.sent()[2]["method"], driver.sent()[2]["params"]["id"]) == ("GetTask", reported.id)
        await driver.press("enter")
        assert driver.workbench.view == "chat"
        assert reported.id[:8] in driver.line("Timeline")
        assert f"to task {asked.id[:8]}" not in driver.screen
        await driver.go(3)
        await driver.press("up", "enter")
        assert f"to task {asked.id[:8]}" in driver.screen
        await driver.ask("at eight")
        assert driver.sent()[3]["params"]["message"]["taskId"] == asked.id
        assert asked.now.state == "TASK_STATE_COMPLETED"
        await driver.press("ctrl+r")
        await driver.ask("ask")
        await driver.go(3)
        await driver.press("home", "x", "enter")
        await driver.done(6)
        assert driver.sent()[5]["method"] == "CancelTask"
        assert driver.sent()[5]["params"]["id"] == driver.session.tasks.all()[0].id
        assert "⊘ canceled" in driver.screen


async def pushed(driver: Driver) -> dict[str, str]:
    """Turn push on, send a message, and return its webhook with the token."""
    await driver.press("p")
    await driver.until(lambda: driver.session.push.on)
    await driver.say("anything")
    [hook] = await driver.until(lambda: driver.session.push.registrations)
    return {"url": hook.registration.url, "token": hook.registration.token}


async def test_deliveries_are_checked_and_rejected_deliveries_are_shown_with_the_reason(open_app: Open):
    async with playing(misbehave) as agent, open_app(agent.url, (140, 40)) as driver:
        await driver.connected()
        await driver.go(4)
        assert "not listening" in driver.screen
        assert "No deliveries yet. Press p to start the receiver" in driver.screen
        webhook = await pushed(driver)
        await driver.go(4)
        assert "Receiver ─ ● listening ─ webhook with every message" in driver.screen
        assert f"address     {webhook['url'].split('/')[2]}" in driver.screen
        assert await deliver(webhook, {"task": task("WORKING")}) in (200, 202, 204)
        assert await deliver(webhook | {"token": "guessed"}, {"task": task("WORKING")}) == 401
        assert await deliver(webhook, {"task": task("WORKING", id="another-task")}) in (200, 202, 204)
        assert await deliver(webhook, "no event at all") in (200, 202, 204)
        async with aiohttp.ClientSession() as session:
            for method, url in (("GET", webhook["url"]), ("POST", webhook["url"].replace("/push/", "/elsewhere/"))):
                async with session.request(method, url) as answer:
                    assert answer.status in (404, 405)
        await driver.until(lambda: len(driver.records(Kind.DELIVERY)) == 6)
        await driver.settled()
        assert "Deliveries ─ 6" in driver.screen
        assert driver.line("token or Bearer").split()[1:9] == ["1", "task-1", "3", "2", "0", "token", "or", "Bearer"]
        found = [[finding.rule for finding in record.findings] for record in driver.records(Kind.DELIVERY)]
        assert found == [[], ["PUSH-001"], ["PUSH-002"], ["PUSH-003"], [], []]
        await driver.press("home", "down")
        assert "! PUSH-001  A push notification" in driver.screen
        assert "✕ token: X-A2A-Notification-Token" in driver.screen
        assert driver.line("rejected  X-A2A").strip("│ ").split()[-6:] == ["✕", "·", "·", "·", "401", "!"]
        await driver.press("down")
        assert "✕ task: unknown task" in driver.screen
        await driver.press("enter")
        assert "another-task" in driver.screen
        assert driver.widget("#webhooks-detail", DetailPane).has_focus_within
        await driver.press("escape")
        assert driver.widget("#deliveries", Feed).has_focus


async def test_another_agent_starts_with_empty_views(open_app: Open, tmp_path):
    async with playing(misbehave) as agent, open_app(agent.url) as driver:
        await driver.connected()
        await driver.ask("misbehave")
        for number in (6, 5, 3):
            await driver.go(number)
            await driver.settled()
        card = tmp_path / "card.json"
        assert driver.session.connection is not None
        card.write_bytes(driver.session.connection.found.raw)
        first = driver.session
        driver.app.open(str(card))
        await driver.until(lambda: driver.app.session not in (None, first))
        await driver.connected()
        for number, sign in (
            (2, "connected to Puppet"),
            (3, "No tasks yet"),
            (5, "Select an exchange above"),
            (6, "No findings"),
        ):
            await driver.go(number)
            await driver.settled()
            assert sign in driver.screen
            assert "misbehave" not in driver.screen
            assert "RPC-001" not in driver.screen
            assert "artifact  " not in driver.screen


async def test_a_narrow_screen_names_the_current_view_and_numbers_the_others(open_app: Open, mock: str):
    async with open_app(mock, (60, 16)) as driver:
        await driver.connected()
        assert driver.lines[1].split() == ["1", "Agent", "2", "3", "4", "5", "6", "7"]
        await driver.pilot.click(offset=(driver.lines[1].index("6") + 1, 1))
        await driver.until("6 Findings")
        assert driver.lines[1].split() == ["1", "2", "3", "4", "5", "6", "Findings", "7"]
