"""The Webhooks view: response overrides, forms, diagnosis, comparison, resending and forwarding."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyperclip
import pytest
from driving import Open
from joserfc.jwk import ECKey, KeySet
from players import deliver, playing
from puppets import Call
from webhook_view import SIZE, STATUS, choose, listening, view

from inspector.capture.records import Kind
from inspector.tui.screens.form import FormScreen
from inspector.tui.screens.text_dialog import TextDialog
from inspector.tui.widgets.fields import LineInput
from inspector.wire.receiver.registration import Proof


async def test_a_receiver_host_that_is_a_name_is_reported(open_app: Open, mock: str):
    async with open_app(mock, SIZE, receiver_host="localhost") as driver:
        await driver.connected()
        await driver.go(4)
        await driver.until("Address: localhost, not an IP address.")
        await driver.press("p")
        await driver.until("localhost is not an IP address.")


async def test_the_status_bar_shows_an_address_of_ipv6_as_in_a_url(open_app: Open, mock: str):
    async with open_app(mock, (200, 40), receiver_host="::1") as driver:
        await driver.connected()
        await driver.press("p")
        await driver.until("webhook [::1]:")


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
        assert re.search(r" [\d.]+ m?s ", driver.line("completed  The summary is ready."))
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
        await driver.until("No response to a message with a webhook" if declared else "The card does not declare")
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


async def test_a_tunnel_is_proposed_but_not_started(open_app: Open, mock: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/nowhere")
    async with open_app(mock, SIZE) as driver:
        await listening(driver)
        view(driver).action_tunnel()
        await driver.until("Neither cloudflared, ngrok nor ssh")
        assert "--receiver-port" in driver.screen
