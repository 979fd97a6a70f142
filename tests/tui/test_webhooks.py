"""The Webhooks view: response overrides, forms, diagnosis, comparison, resending and forwarding."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pyperclip
import pytest
from driving import Driver, Open
from joserfc.jwk import ECKey, KeySet
from players import deliver

from inspector.capture.records import Kind
from inspector.tui.screens.form import FormScreen
from inspector.tui.screens.text_dialog import TextDialog
from inspector.tui.views.webhooks import WebhooksView
from inspector.tui.widgets.fields import LineInput
from inspector.wire.receiver.registration import Proof

SIZE = (140, 40)
STATUS = {"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}}


async def listening(driver: Driver) -> dict[str, str]:
    """Turn push on in the Webhooks view, and return a new registration."""
    await driver.connected()
    await driver.go(4)
    await driver.press("p")
    await driver.until(lambda: driver.session.push.on)
    hook = driver.session.push.register("t", version="1.0")
    return {"url": hook.registration.url, "token": hook.registration.token}


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
        await driver.press("f")
        await choose(driver, "500")
        await driver.type("2")
        await driver.press("enter", "enter")
        await driver.until("responses overridden: 500, 2 more")
        assert [await deliver(hook, STATUS) for _ in range(3)] == [500, 500, 204]
        await driver.until(lambda: len(driver.records(Kind.DELIVERY)) == 3)
        await driver.settled()
        assert "overridden" not in driver.line("DELIVERIES")
        assert "x3" in driver.line("▌")
        assert "2 failed by an override" in driver.screen
        await driver.press("f")
        await choose(driver, "never")
        await driver.press("enter", "enter")
        await driver.until("responses overridden: never")
        await driver.press("f", "home", "enter")
        await driver.settled()
        assert not driver.session.push.receiver.overrides


async def test_a_form_with_invalid_values_shows_the_error_and_stays_open(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await listening(driver)
        await driver.press("f")
        await choose(driver, "other")
        await driver.type("9000")
        await driver.press("enter", "enter", "enter")
        await driver.until("Invalid response.")
        await driver.press("escape")
        await driver.press("s")
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
        await driver.press("s")
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
        assert "expects token, Basic" in driver.screen


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
            await driver.press("s")
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
        await driver.press("f")
        await choose(driver, "500")
        await driver.type("1")
        await driver.press("enter", "enter")
        await driver.ask("push")
        await driver.until(lambda: any("COMPLETED" in record.state for record in driver.records(Kind.DELIVERY)))
        await driver.go(4)
        await driver.press("c")
        await driver.until("1 retry")
        assert isinstance(driver.app.screen, TextDialog)
        assert driver.line("completed").split()[-1] == "ms"
        assert "by push" in driver.screen
        await driver.press("escape")
        assert not isinstance(driver.app.screen, TextDialog)
        retry = next(record for record in driver.records(Kind.DELIVERY) if record.meta["first"])
        driver.workbench.query_one(WebhooksView).show_seq(retry.seq)
        await driver.until(lambda: driver.workbench.query_one(WebhooksView).selected_record().seq == retry.seq)
        await driver.press("o")
        await driver.until(
            lambda: driver.workbench.query_one(WebhooksView).selected_record().seq == retry.meta["first"]
        )


async def test_url_and_token_of_a_webhook_are_copied(open_app: Open, mock: str, monkeypatch: pytest.MonkeyPatch):
    async with open_app(mock, SIZE, run={"notifications": True}) as driver:
        copied: list[str] = []
        monkeypatch.setattr(pyperclip, "copy", copied.append)
        await driver.connected()
        await driver.go(4)
        await driver.press("U")
        await driver.until("There is no webhook yet")
        await listening(driver)
        hooks = [driver.session.push.register("t") for _ in range(2)]
        await driver.press("U", "K")
        assert copied == [hooks[1].registration.url, hooks[1].registration.token]


async def test_diagnose_reports_the_cause_of_missing_deliveries(open_app: Open, mock: str):
    async with open_app(mock, SIZE, run={"notifications": True}) as driver:
        await driver.connected()
        await driver.go(4)
        await driver.press("w")
        await driver.until("No webhook has been registered")
        await driver.ask("push")
        await driver.go(4)
        await driver.press("s", "enter")
        await driver.until(lambda: driver.session.push.registrations and driver.session.push.registrations[0].stored)
        await driver.go(4)
        await driver.until("reachable   yes: the agent is on this machine")
        await driver.press("w")
        await driver.until("the task ended before the registration")
        assert "certain   the task ended" in driver.line("the task ended before the registration")
        assert "Send the next message with a webhook (p)" in driver.screen
        assert "ruled out" in driver.screen


async def test_a_delivery_is_resent_and_new_deliveries_are_forwarded(open_app: Open, mock: str):
    async with open_app(mock, SIZE, run={"notifications": True}) as driver:
        hook = await listening(driver)
        mine = driver.session.push.register("mine")
        await deliver(hook, STATUS)
        await driver.until(lambda: len(driver.records(Kind.DELIVERY)) == 1)
        await driver.settled()
        await driver.press("t")
        await driver.until(lambda: isinstance(driver.app.screen, FormScreen))
        await driver.type("nowhere")
        await driver.press("enter")
        await driver.until("Enter a URL that starts with http")
        driver.app.screen.query_one(LineInput).value = mine.registration.url
        await driver.press("enter")
        await driver.until(lambda: driver.records(Kind.NOTE, event="forward"))
        assert driver.records(Kind.DELIVERY)[1].meta["registration"] == mine.registration.number
        await driver.press("F")
        driver.app.screen.query_one(LineInput).value = "http://127.0.0.1:1/"
        await driver.press("enter")
        await driver.settled()
        assert "forwarding to http://127.0.0.1:1/" in driver.screen
        await deliver(hook, STATUS)
        await driver.until(lambda: len(driver.records(Kind.NOTE, event="forward")) == 2)
        await driver.press("F")
        await driver.settled()
        assert "forwarding to" not in driver.screen


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
        await driver.press("u")
        await driver.until("Neither cloudflared, ngrok nor ssh")
        assert "--receiver-port" in driver.screen


async def test_the_screen_recovers_if_the_end_of_a_refresh_is_not_reported(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        hook = await listening(driver)
        await driver.settled()
        driver.workbench._throttle._drawing = True  # as it stays when what was on top is closed in the middle of it
        await deliver(hook, STATUS)
        await driver.until("DELIVERIES   1")
        assert driver.workbench._throttle.idle
