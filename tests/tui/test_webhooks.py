"""The Webhooks view: response overrides, forms, diagnosis, comparison, resending and forwarding."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import httpx
import pyperclip
import pytest
from driving import Driver, Open
from joserfc.jwk import ECKey, KeySet
from players import deliver, playing
from puppets import Call

from inspector.capture.records import Kind
from inspector.protocol.model import PushConfig
from inspector.tui.screens.form import FormScreen
from inspector.tui.screens.text_dialog import TextDialog
from inspector.tui.views.webhooks import WebhooksView
from inspector.tui.widgets.detail_pane import DetailPane
from inspector.tui.widgets.fact_view import FactView
from inspector.tui.widgets.fields import LineInput
from inspector.tui.widgets.receiver_panes import RegistrationsPane
from inspector.wire.receiver.registration import Proof
from inspector.wire.receiver.response_override import read_override

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


async def test_a_response_override_is_set_shown_in_the_title_and_removed(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        hook = await listening(driver)
        await driver.press("O")
        await choose(driver, "500")
        await driver.type("2")
        await driver.press("enter", "enter")
        await driver.until("Deliveries ─ 0 ─ simulated error: 500, 2 more")
        assert [await deliver(hook, STATUS) for _ in range(3)] == [500, 500, 204]
        await driver.until(lambda: len(driver.records(Kind.DELIVERY)) == 3)
        await driver.settled()
        assert "simulated error" not in driver.screen
        assert "◐ working" in driver.line("attempt 3")
        assert driver.line("attempt 3").startswith("│▌")
        assert driver.line("token or Bearer").split()[1:6] == ["1", "t", "1", "0", "2"]
        await driver.press("O")
        await choose(driver, "never")
        await driver.press("enter", "enter")
        await driver.until("simulated error: never")
        await driver.press("O", "home", "enter")
        await driver.settled()
        assert not driver.session.push.receiver.overrides


async def test_the_number_of_a_registration_may_have_zeros_before_it(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        hook = await listening(driver)
        other = driver.session.push.register("u", version="1.0").registration
        await driver.press("O")
        await choose(driver, "500")
        await driver.press("enter")
        driver.app.screen.query_one("#field-registration", LineInput).value = f"0{other.number}"
        await driver.press("enter", "enter")
        await driver.until("simulated error")
        assert await deliver(hook, STATUS) == 204
        assert await deliver({"url": other.url, "token": other.token}, STATUS) == 500


async def test_a_registration_of_which_every_delivery_is_rejected_is_not_shown_as_working(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        hook = await listening(driver)
        assert await deliver(hook | {"token": "guessed"}, STATUS) == 401
        await driver.until("✕ every delivery was rejected")
        assert await deliver(hook, STATUS) == 204
        await driver.until("in use")


async def test_a_form_with_invalid_values_shows_the_error_and_stays_open(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await listening(driver)
        await driver.press("O")
        await choose(driver, "other")
        await driver.type("9000")
        await driver.press("enter", "enter", "enter")
        await driver.until("Invalid response.")
        await driver.press("escape")
        await driver.press("R")
        await choose(driver, "basic")
        await driver.press("enter")
        await driver.until("Enter the credentials.")
        await driver.press("escape")
        assert not isinstance(driver.app.screen, FormScreen)
        assert driver.session.push.auth.scheme == "Bearer"


async def test_a_webhook_is_registered_with_the_selected_authentication(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        await driver.ask("push")
        await driver.go(4)
        await driver.press("R")
        await choose(driver, "basic")
        field = driver.app.screen.query_one("#field-credentials", LineInput)
        assert field.password
        await driver.type("me")
        await driver.press("colon")
        await driver.type("secret")
        await driver.press("enter")
        await driver.until(lambda: driver.sent("CreateTaskPushNotificationConfig"))
        await driver.until(lambda: driver.session.push.registrations[0].stored)
        [hook] = driver.session.push.registrations
        assert hook.config.authentication.to_json() == {"scheme": "Basic", "credentials": "bWU6c2VjcmV0"}
        assert "bWU6c2VjcmV0" not in json.dumps(driver.sent())
        await driver.go(4)
        assert "token or Basic" in driver.line("stored by the agent")


async def test_a_jwt_needs_keys_that_can_be_read(open_app: Open, mock: str, tmp_path: Path):
    jwks = tmp_path / "k"
    async with open_app(mock, SIZE, run={"notifications": True}) as driver:
        await driver.connected()
        await driver.ask("push")
        await driver.go(4)
        for there in (False, True):
            if there:
                key = ECKey.generate_key("P-256", {"kid": "k"})
                jwks.write_text(json.dumps(KeySet([key]).as_dict(private=False)))
            await driver.press("R")
            await choose(driver, "jwt")
            driver.app.screen.query_one("#field-jwks", LineInput).value = str(jwks)
            await driver.press("enter", "enter", "enter")
            if not there:
                await driver.until("could not be read")
                assert not driver.session.push.registrations
        await driver.until(lambda: driver.session.push.registrations)
        assert driver.session.push.auth.proof is Proof.JWT


async def test_stream_push_and_responses_are_compared_with_the_retries(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await listening(driver)
        await driver.press("O")
        await choose(driver, "500")
        await driver.type("1")
        await driver.press("enter", "enter")
        await driver.ask("push")
        await driver.until(lambda: any("COMPLETED" in record.state for record in driver.records(Kind.DELIVERY)))
        await driver.go(4)
        await driver.press("c")
        await driver.until("1 retry")
        assert isinstance(driver.app.screen, TextDialog)
        assert " ms " in driver.line("completed  The summary is ready.")
        assert "by push" in driver.screen
        await driver.press("escape")
        assert not isinstance(driver.app.screen, TextDialog)
        retry = next(record for record in driver.records(Kind.DELIVERY) if record.meta["first"])
        view(driver).show_seq(retry.seq)
        await driver.until(lambda: view(driver).selected_record().seq == retry.seq)
        view(driver).action_first()
        await driver.until(lambda: view(driver).selected_record().seq == retry.meta["first"])


async def test_url_and_token_of_a_webhook_are_copied(open_app: Open, mock: str, monkeypatch: pytest.MonkeyPatch):
    async with open_app(mock, SIZE, run={"notifications": True}) as driver:
        copied: list[str] = []
        monkeypatch.setattr(pyperclip, "copy", copied.append)
        await driver.connected()
        await driver.go(4)
        view(driver).action_copy_webhook("url")
        await driver.until("There is no webhook yet. Press R to register one")
        hook = await listening(driver)
        await driver.press("Y")
        await driver.until("Token of the webhook")
        await driver.press("enter")
        await driver.press("Y", "down", "enter")
        await driver.until(lambda: len(copied) == 2)
        assert copied == [hook["url"], hook["token"]]
        await deliver(hook, STATUS)
        await driver.until(lambda: view(driver).selected_record() is not None)
        await driver.press("Y", "down", "down", "enter")
        await driver.until(lambda: len(copied) == 3)
        assert json.loads(copied[2]) == STATUS


async def test_diagnose_reports_the_cause_of_missing_deliveries(open_app: Open, mock: str):
    async with open_app(mock, SIZE, run={"notifications": True}) as driver:
        await driver.connected()
        await driver.go(4)
        await driver.press("w")
        await driver.until("No webhook has been registered")
        await driver.ask("push")
        await driver.go(4)
        await driver.press("R", "enter")
        await driver.until(lambda: driver.session.push.registrations and driver.session.push.registrations[0].stored)
        await driver.go(4)
        await driver.until("reachable   yes: the agent is on this machine")
        await driver.press("w")
        await driver.until("the task ended before the registration")
        assert "certain   the task ended" in driver.line("the task ended before the registration")
        assert "Send the next message with a webhook:" in driver.screen
        assert "ruled out" in driver.screen


@pytest.mark.parametrize("declared", [True, False])
async def test_diagnose_reports_that_no_task_was_returned(open_app: Open, declared: bool):
    async def answer(call: Call) -> Any:
        return call.result({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "hi"}]}})

    card = {"capabilities": {"streaming": False, "pushNotifications": declared}}
    async with playing(answer, card) as agent, open_app(agent.url, SIZE, run={"notifications": True}) as driver:
        await listening(driver)
        await driver.ask("hello")
        driver.session.push.registrations.pop(0)  # that of `listening`, for another task
        await driver.go(4)
        await driver.press("w")
        await driver.until("No message with a webhook" if declared else "The card does not declare")
        assert ("The card does not declare" in driver.screen) is not declared
        assert "No webhook has been registered" not in driver.screen


async def test_a_delivery_is_resent_and_new_deliveries_are_forwarded(open_app: Open, mock: str):
    async with open_app(mock, SIZE, run={"notifications": True}) as driver:
        hook = await listening(driver)
        mine = driver.session.push.register("mine")
        await deliver(hook, STATUS)
        await driver.until(lambda: len(driver.records(Kind.DELIVERY)) == 1)
        await driver.settled()
        await driver.press("e")
        await driver.until(lambda: isinstance(driver.app.screen, FormScreen))
        await driver.type("nowhere")
        await driver.press("enter")
        await driver.until("Enter a URL that starts with http")
        driver.app.screen.query_one(LineInput).value = mine.registration.url
        await driver.press("enter")
        await driver.until(lambda: driver.records(Kind.NOTE, event="forward"))
        assert driver.records(Kind.DELIVERY)[1].meta["registration"] == mine.registration.number
        view(driver).action_forward()
        await driver.until(lambda: isinstance(driver.app.screen, FormScreen))
        driver.app.screen.query_one(LineInput).value = "http://127.0.0.1:1/"
        await driver.press("enter")
        await driver.settled()
        assert "to http://127.0.0.1:1/" in driver.line("forwarding")
        await deliver(hook, STATUS)
        await driver.until(lambda: len(driver.records(Kind.NOTE, event="forward")) == 2)
        view(driver).action_forward()
        await driver.settled()
        assert "to http://127.0.0.1:1/" not in driver.screen


async def test_the_challenge_of_0_1_is_shown(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        hook = await listening(driver)
        async with httpx.AsyncClient() as client:
            assert (await client.get(f"{hook['url']}?validationToken=abc")).text == "abc"
        await driver.until("validation of the webhook")
        assert "200" in driver.line("validation of the webhook")


async def test_a_tunnel_is_proposed_but_not_started(open_app: Open, mock: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/nowhere")
    async with open_app(mock, SIZE) as driver:
        await listening(driver)
        view(driver).action_tunnel()
        await driver.until("Neither cloudflared, ngrok nor ssh")
        assert "--receiver-port" in driver.screen


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
