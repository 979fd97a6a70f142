"""The panes of the Webhooks view: the receiver, registrations, deliveries and their facts."""

from __future__ import annotations

import asyncio
import socket

import httpx
import pytest
from aiohttp import web
from driving import Open
from players import deliver, playing
from puppets import Call, done
from webhook_view import COMPLETED, SIZE, STATUS, listening, view

from inspector.capture.records import Kind
from inspector.protocol.model import PushConfig
from inspector.tui.widgets.detail_pane import DetailPane
from inspector.tui.widgets.fact_view import FactView
from inspector.tui.widgets.receiver_panes import RegistrationsPane
from inspector.wire.receiver.response_override import read_override


async def test_the_challenge_of_0_1_is_shown(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        hook = await listening(driver)
        async with httpx.AsyncClient() as client:
            assert (await client.get(f"{hook['url']}?validationToken=abc")).text == "abc"
        await driver.until("validation of the webhook")
        assert "200" in driver.line("validation of the webhook")


async def test_the_screen_recovers_if_the_end_of_a_refresh_is_not_reported(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        hook = await listening(driver)
        await driver.settled()
        driver.workbench._throttle._drawing = True  # as it stays when what was on top is closed in the middle of it
        await deliver(hook, STATUS)
        await driver.until("Deliveries ─ 1")
        assert driver.workbench._throttle.idle


async def test_each_check_has_a_column_and_narrow_screens_have_one_for_all(open_app: Open, mock: str):
    async with open_app(mock, (120, 36)) as driver:
        hook = await listening(driver)
        await deliver(hook, STATUS)
        await driver.until("◐ working")
        headings = driver.line("LATENCY").strip("│ ").split()
        assert headings == ["TIME", "LATENCY", "TASK", "EVENT", "TOKEN", "AUTH", "ORDER", "SCHEMA", "ANSWER"]
        row = driver.line("◐ working")
        marks = [row[driver.line("LATENCY").index(name)] for name in ("TOKEN", "AUTH", "ORDER", "SCHEMA")]
        assert marks == ["✓"] * 4
        await driver.pilot.resize_terminal(200, 50)
        await driver.until("SIGNATURE")
        await driver.pilot.resize_terminal(80, 24)
        await driver.until("CHECKS")
        assert "✓ passed" in driver.line("◐ working")
        assert "SCHEMA" not in driver.screen
        await deliver({**hook, "token": "wrong"}, STATUS)
        await driver.until("✕ token auth ")
        driver.session.push.overrides.add(read_override("500:1"))
        for _ in range(2):
            await deliver(hook, {"statusUpdate": {**STATUS["statusUpdate"], "metadata": {"n": 1}}})
        await driver.until("~ retry")


async def test_more_registrations_are_shown_while_their_pane_has_the_focus(open_app: Open, mock: str):
    async with open_app(mock, (80, 24)) as driver:
        await listening(driver)
        for number in range(2, 8):
            driver.session.push.register(f"task-{number}", version="1.0")
        driver.session.note("registered")
        await driver.until("Registrations ─ 7")
        await driver.settled()
        assert "token or Bearer" in driver.line("task-7")
        assert "task-4" not in driver.screen
        await driver.press("shift+tab")
        await driver.until("task-2")
        await driver.press("tab")
        await driver.until(lambda: "task-4" not in driver.screen)


async def test_all_facts_about_a_delivery_can_be_read(open_app: Open, mock: str):
    async with open_app(mock, (80, 24)) as driver:
        hook = await listening(driver)
        wrong = {"statusUpdate": {"taskId": 7, "status": {"state": "x" * 90, "timestamp": "y" * 90}, "kind": ["z"]}}
        await deliver(hook, wrong)
        await driver.until(lambda: driver.records(Kind.DELIVERY))
        await driver.settled()
        await driver.press("enter")
        notes = driver.widget("#detail-notes", FactView)
        await driver.until(lambda: notes.max_scroll_y > 0)
        shown = driver.screen
        await driver.press("shift+tab")
        assert notes.has_focus
        while notes.scroll_y < notes.max_scroll_y:
            await driver.press("down")
            shown += driver.screen
        [delivery] = driver.records(Kind.DELIVERY)
        for name in [*(check[0] for check in delivery.meta["checks"]), *(found.rule for found in delivery.findings)]:
            assert str(name) in shown, name


async def test_equal_pushes_and_chunks_share_a_row_until_they_are_unfolded(open_app: Open, mock: str):
    async with open_app(mock, (120, 36)) as driver:
        hook = await listening(driver)
        artifact = {"artifactUpdate": {"taskId": "t", "contextId": "c", "artifact": {"artifactId": "x", "parts": []}}}
        for update in (STATUS, artifact, STATUS):
            assert await deliver({**hook, "token": "wrong"}, update) == 401
        for n in range(4):
            part = {"artifactId": "a", "parts": [{"text": f"{n} "}]}
            chunk = {"taskId": "t", "contextId": "c", "artifact": part, "append": n > 0, "lastChunk": n == 3}
            assert await deliver(hook, {"artifactUpdate": chunk}) == 204
        await driver.until("Deliveries ─ 7")
        await driver.settled()
        assert "3 deliveries" in driver.line("rejected")
        assert "4 chunks" in driver.line("artifact")
        assert driver.screen.count("rejected  ") == 1
        await driver.press("f")
        await driver.until(lambda: driver.screen.count("rejected  ") == 3)
        assert "3 deliveries" not in driver.screen
        await driver.press("f")
        await driver.until("3 deliveries")


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_an_opened_delivery_stays_until_it_is_left(open_app: Open, mock: str, size: tuple[int, int]):
    async with open_app(mock, size) as driver:
        hook = await listening(driver)
        assert await deliver(hook, STATUS) == 204
        await driver.until("Deliveries ─ 1")
        await driver.press("enter")
        pane = driver.widget("#webhooks-detail", DetailPane)
        assert await deliver(hook, COMPLETED) == 204
        await driver.until(lambda: len(driver.records(Kind.DELIVERY)) == 2)
        await driver.settled()
        assert pane.record == driver.records(Kind.DELIVERY)[0]
        await driver.press("escape")
        assert pane.record == driver.records(Kind.DELIVERY)[1]


async def test_retries_of_a_delivery_have_rows_of_their_own(open_app: Open, mock: str):
    async with open_app(mock, (120, 36)) as driver:
        hook = await listening(driver)
        driver.session.push.overrides.add(read_override("500:2"))
        assert [await deliver(hook, STATUS) for _ in range(3)] == [500, 500, 204]
        await driver.until("Deliveries ─ 3")
        await driver.settled()
        assert driver.screen.count("◐ working") == 3
        assert "attempt 2" in driver.screen
        assert "attempt 3" in driver.screen


async def test_a_port_in_use_is_reported_in_the_pane_of_the_receiver(open_app: Open, mock: str):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        async with open_app(mock, (120, 36), receiver_port=port, run={"notifications": True}) as driver:
            await driver.connected()
            await driver.go(4)
            await driver.until("Receiver ─ not listening")
            await driver.press("p")
            await driver.until("Receiver ─ ✕ failed")
            assert driver.line("│Port").startswith(f"│Port {port} of 127.0.0.1 is in use.")
            assert "choose another port" in driver.screen
            taken.close()
            await driver.press("p")
            await driver.until("Receiver ─ ● listening ─ webhook with every message")
            assert "is in use" not in driver.line("│Port")


async def test_listed_webhooks_are_shown_among_the_registrations(open_app: Open, mock: str):
    async with open_app(mock, (120, 36), run={"notifications": True}) as driver:
        await listening(driver)
        await driver.ask("ask")
        [task] = driver.session.tasks.all()
        other = PushConfig(id="other", task_id=task.id, url="http://127.0.0.1:9/other", token="other-secret")
        await driver.session.set_push(other).finish()
        await driver.go(4)
        await driver.until("Deliveries ─ ")
        await driver.press("l")
        await driver.until(f"the agent returned 2 webhooks of task {task.id[:8]}")
        assert driver.workbench.view == "webhooks"
        assert "✓ stored by the agent" in driver.screen
        assert "not of this session: http://127.0.0.1:9/other" in driver.screen
        assert "other-secret" not in driver.screen
        await driver.press("shift+tab", "G")
        assert view(driver).call_task == task.id


async def test_deleting_webhooks_asks_first(open_app: Open, mock: str):
    async with open_app(mock, (120, 36), run={"notifications": True}) as driver:
        await listening(driver)
        await driver.ask("ask")
        await driver.go(4)
        await driver.until("Deliveries ─ ")
        await driver.until(lambda: view(driver).call_task == driver.session.tasks.all()[0].id)
        view(driver).action_delete()
        await driver.until("Delete all webhooks of task")
        await driver.press("escape")
        assert not driver.sent("DeleteTaskPushNotificationConfig")
        view(driver).action_delete()
        await driver.until("Delete all webhooks of task")
        await driver.press("enter")
        await driver.until(lambda: driver.sent("DeleteTaskPushNotificationConfig"))
        await driver.until("✕ deleted")


async def test_a_new_registration_does_not_move_the_cursor_to_another(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await listening(driver)
        pane = driver.widget("RegistrationsPane", RegistrationsPane)
        driver.session.journal.notify()
        await driver.until(lambda: len(pane.rows) == 1)
        driver.app.screen.set_focus(pane.feed)
        pane.feed.cursor = 0
        await driver.settled()
        first = pane.selected
        driver.session.push.register("u", version="1.0")
        driver.session.journal.notify()
        await driver.until(lambda: len(pane.rows) == 2)
        await driver.settled()
        assert first is not None and pane.selected is first


async def test_enter_on_a_registration_goes_to_its_last_delivery(open_app: Open, mock: str):
    async with open_app(mock, (120, 36)) as driver:
        first = await listening(driver)
        second = driver.session.push.register("u", version="1.0").registration
        await deliver(first, STATUS)
        event = {"statusUpdate": {**STATUS["statusUpdate"], "taskId": "u"}}
        await deliver({"url": second.url, "token": second.token}, event)
        await driver.until("Deliveries ─ 2")
        assert view(driver).selected_record().task == "u"
        await driver.press("shift+tab", "down", "enter")
        await driver.until(lambda: view(driver).selected_record().task == "t")


async def test_an_answer_about_webhooks_does_not_interrupt_a_user_who_went_elsewhere(open_app: Open):
    answered = asyncio.Event()

    async def answer(call: Call) -> web.StreamResponse:
        if call.rpc["method"] != "ListTaskPushNotificationConfigs":
            return await done(call)
        await answered.wait()
        return call.result({"configs": []})

    card = {"capabilities": {"streaming": False, "pushNotifications": True}}
    async with playing(answer, card) as agent, open_app(agent.url, run={"notifications": True}) as driver:
        await driver.connected()
        await driver.ask("hello")
        await driver.go(4)
        await driver.press("l", "alt+2", "i")
        await driver.until(lambda: "ListTaskPushNotificationConfigs" in agent.methods)
        answered.set()
        await driver.until("The agent returned webhooks")
        assert driver.workbench.view == "chat"
        await driver.type("ok")
        assert driver.composer.text == "ok"
        await driver.go(4)
        await driver.until("the agent returned 0 webhooks of task task-1")


async def test_a_webhook_is_registered_for_the_task_in_chat(open_app: Open, mock: str):
    async with open_app(mock, (120, 36), run={"notifications": True}) as driver:
        await driver.connected()
        await driver.go(4)
        await driver.press("R")
        await driver.until("No task is selected. Send a message")
        await driver.ask("ask")
        [task] = driver.session.tasks.all()
        await driver.go(4)
        await driver.press("w")
        await driver.until(f"Missing deliveries of task {task.id[:8]}")
        await driver.press("escape", "R")
        await driver.until(f"Register a webhook for task {task.id[:8]}")
