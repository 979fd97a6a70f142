"""The other sections of the Agent view: the raw, extended and earlier card, a copy that is edited, and signatures."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest
import rfc8785
from aiohttp import web
from driving import Open
from joserfc.jwk import ECKey
from joserfc.jws import JWSRegistry
from players import playing
from puppets import CARD, CARD_PATH, Call
from textual.widgets import Input

from inspector.capture.card_history import cards_folder, store_card
from inspector.capture.records import Kind
from inspector.tui.widgets.card_editor import LARGEST, CardArea
from inspector.tui.widgets.json_view import JsonView

SIZE = (120, 50)
EXTENDED = {"extendedAgentCard": True, "streaming": True}


async def members_only(call: Call) -> web.StreamResponse:
    """Serve an extended card, and nothing else."""
    if call.rpc["method"] != "GetExtendedAgentCard":
        return call.error(-32601, "no such method")
    more = [*CARD["skills"], {"id": "secret", "name": "Secret", "description": "For members", "tags": ["vip"]}]
    return call.result(CARD | {"name": "Extended", "supportedInterfaces": [], "skills": more})


# Raw


async def test_the_source_of_the_card_is_shown_above_the_raw_card(open_app: Open):
    async with playing(card={}) as agent, open_app(f"{agent.url}/some/path", SIZE) as driver:
        await driver.connected()
        await driver.press("v")
        for words in ("source", "tried", "404", "served", "application/json", "A2A 1.0 card", "caching"):
            assert words in driver.screen, words
        assert "Content-Type: application/json" in driver.screen
        await driver.press("slash")
        await driver.type("puppet")
        assert "1 of 1" in driver.lines[-1]
        await driver.press("enter")
        assert driver.widget("#card-json", JsonView).pointer == "/name"


async def test_sections_are_selected_by_key_and_by_mouse(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        for words, wanted in (
            ("raw", "raw"),
            ("extended", "extended"),
            ("changes", "changes"),
            ("E: edit", "edit"),
        ):
            await driver.click(f" {words} ", aside=2)
            assert driver.section == wanted
            assert driver.app.focused is not None
        await driver.click("─ card raw", aside=3)
        assert driver.section == "card"
        steps = [("v", "raw"), ("v", "extended"), ("v", "changes"), ("v", "card"), ("E", "edit"), ("v", "edit")]
        for key, wanted in steps:
            await driver.press(key)
            assert driver.section == wanted
        await driver.press("escape", "escape")
        assert driver.section == "card"


# Extended and earlier cards


async def test_the_extended_card_is_compared_with_the_public_one(open_app: Open):
    async with playing(members_only, card={"capabilities": EXTENDED}) as agent, open_app(agent.url, SIZE) as driver:
        await driver.connected()
        await driver.press("v", "v", "r")
        await driver.until("from the public card to the extended card")
        assert "+ skills / secret" in driver.screen
        assert '"Puppet"  →  "Extended"' in driver.line("~ name")
        await driver.run_command("raw-card")
        assert "extended card" in driver.lines[-2]
        assert '"name": "Extended"' in driver.screen
        await driver.press("v")
        assert driver.section == "extended"
        await driver.press("escape", "v")
        assert '"name": "Puppet"' in driver.screen
        agent.card |= {"name": "Extended"}
        await driver.press("r")
        await driver.until(lambda: "Extended" in driver.lines[0])
        await driver.press("v")
        await driver.settled()
        assert driver.section == "extended"
        assert "+ skills / secret" in driver.screen
        assert not driver.line("~ name")


async def test_a_refreshed_card_is_compared_and_an_unchanged_card_is_reported(open_app: Open, tmp_path: Path):
    path = tmp_path / "card.json"
    interface = {"url": "http://127.0.0.1:1/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    card = CARD | {"supportedInterfaces": [interface]}
    path.write_text(json.dumps(card))
    async with open_app(str(path), SIZE, run={"notifications": True}) as driver:
        await driver.connected()
        first = driver.session
        await driver.press("v", "v", "v")
        assert "No other card of this agent is stored." in driver.words
        another = CARD["skills"][0] | {"id": "another"}
        path.write_text(json.dumps(card | {"name": "Renamed", "skills": [*CARD["skills"], another]}))
        await driver.press("r")
        await driver.until("2 changes since the card seen")
        assert '"Puppet"  →  "Renamed"' in driver.line("~ name")
        assert "changes 2" in driver.line("─ card raw")
        assert "Renamed" in driver.lines[0]
        assert driver.session is first
        await driver.press("r")
        await driver.until("The card is unchanged.")
        path.write_text(json.dumps(card | {"name": "Again"}))
        await driver.press("r")
        await driver.until("1 of 2 earlier cards")
        await driver.run_command("older-card")
        assert "2 of 2" in driver.screen
        assert '"Puppet"  →  "Again"' in driver.line("~ name")


async def test_a_stored_earlier_card_is_compared(open_app: Open):
    async with playing(card={"version": "2.0.0"}) as agent:
        url = f"{agent.url}{CARD_PATH}"
        store_card(url, json.dumps(CARD).encode(), 1_790_000_000)
        async with open_app(agent.url, SIZE) as driver:
            await driver.connected()
            await driver.until("changes 2")
            await driver.press("v", "v", "v")
            assert "since the card seen 2026-09-2" in driver.screen
            assert '"1.0.0"  →  "2.0.0"' in driver.line("~ version")
            assert "+ supportedInterfaces" in driver.screen
        async with open_app(agent.url, SIZE) as driver:
            await driver.connected()
            await driver.until("changes 2")
    kept = [path.read_bytes() for path in cards_folder().glob("*/*.json")]
    assert len(kept) == 2


async def test_stored_cards_contain_no_secrets(open_app: Open):
    bearer = "canary-4711-secret"
    card = {"description": f"repeats {bearer}"}
    async with playing(card=card) as agent, open_app(agent.url, SIZE, bearer=bearer) as driver:
        await driver.connected()
        await driver.until(lambda: list(cards_folder().glob("*/*.json")))
        await driver.settled()
    [kept] = cards_folder().glob("*/*.json")
    assert b"repeats ****" in kept.read_bytes()


async def test_an_unwritable_state_folder_keeps_the_comparison_in_the_session(open_app: Open, home: Path):
    (home / "state").mkdir(parents=True)
    (home / "state" / "cards").write_text("in the way")
    async with playing(card={}) as agent, open_app(agent.url, SIZE, run={"notifications": True}) as driver:
        await driver.connected()
        await driver.until("Cannot read the earlier cards")


async def test_a_failed_refresh_is_reported_and_keeps_the_card(open_app: Open):
    async with playing(card={}) as agent, open_app(agent.url, SIZE, run={"notifications": True}) as driver:
        await driver.connected()
        agent.card = web.Response(status=503, text="down")
        await driver.press("r")
        await driver.until("No card was found at")
        assert "Puppet" in driver.lines[0]
        assert driver.section == "card"


# Editing


async def test_a_copy_is_edited_linted_and_saved(open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    async with playing(card={"version": None}) as agent, open_app(agent.url, SIZE) as driver:
        await driver.connected()
        await driver.press("E")
        await driver.until("version is missing")
        area = driver.widget("#edit-text", CardArea)
        assert area.text.startswith('{\n  "name": "Puppet"'), "a card on one line is laid out"
        area.text = area.text.replace('"version": null', '"version": "1.0.0"')
        await driver.until(lambda: "version is missing" not in driver.screen)
        area.text = area.text.replace('"text/plain"', '"plain"', 1)
        await driver.until("CARD-100")
        await driver.press("f6")
        row, _ = area.cursor_location
        assert area.text.split("\n")[row].strip().startswith('"plain"')
        await driver.press("ctrl+s")
        assert "save as" in driver.screen
        await driver.press("enter")
        await driver.until("saved puppet-card.json")
        assert "a2a-inspect mock --card puppet-card.json" in driver.screen
        assert (tmp_path / "puppet-card.json").read_text() == area.text
        area.text = "{"
        await driver.until("ends within an object")
        await driver.press("ctrl+s", "enter")
        await driver.until("exists; press enter again to replace it")
        assert (tmp_path / "puppet-card.json").read_text() != "{"
        await driver.press("enter")
        await driver.until("saved puppet-card.json")
        assert (tmp_path / "puppet-card.json").read_text() == "{"


async def test_an_unwritable_path_is_reported(open_app: Open, mock: str, tmp_path: Path):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        await driver.press("E", "ctrl+s")
        driver.widget("#edit-path", Input).value = str(tmp_path / "none" / "card.json")
        await driver.press("enter")
        await driver.until("not saved:")
        driver.widget("#edit-path", Input).value = "~nosuch/card.json"
        await driver.press("enter")
        await driver.until("unknown user in path")
        await driver.press("escape")
        assert isinstance(driver.app.focused, CardArea)


async def test_an_edited_copy_is_kept_and_a_finding_selects_its_text(open_app: Open):
    async with playing(card={"defaultInputModes": ["nonsense"]}) as agent, open_app(agent.url, SIZE) as driver:
        await driver.connected()
        await driver.press("E")
        await driver.until("CARD-100")
        await driver.press("x")
        await driver.press("escape")
        assert driver.line("enter go to the text")
        await driver.press("escape")
        assert driver.section == "card"
        await driver.press("E")
        area = driver.widget("#edit-text", CardArea)
        assert area.text.startswith("x")
        await driver.press("ctrl+z")
        await driver.until("CARD-100")
        await driver.press("escape", "enter")
        assert area.has_focus
        assert '"nonsense"' in area.text.split("\n")[area.cursor_location[0]]


async def test_a_card_that_is_too_large_to_edit_is_reported(open_app: Open):
    large = {"description": "x" * LARGEST}
    async with playing(card=large) as agent, open_app(agent.url, SIZE, run={"notifications": True}) as driver:
        await driver.connected()
        await driver.press("E")
        await driver.until("The card has 1,0")
        assert driver.section == "card"


# Signatures


async def test_keys_of_signatures_are_fetched_only_on_request(open_app: Open):
    key = ECKey.generate_key("P-256", {"kid": "ours"})

    async def keys(call: Call) -> web.StreamResponse:
        return web.json_response({"keys": [key.as_dict(private=False)]})

    def base64url(raw: bytes) -> str:
        return urlsafe_b64encode(raw).decode().rstrip("=")

    async with playing(keys, card={}) as agent:
        header = {"alg": "ES256", "kid": "ours", "typ": "JOSE", "jku": f"{agent.url}/rpc"}
        protected = base64url(json.dumps(header).encode())
        message = f"{protected}.{base64url(rfc8785.dumps(agent.whole_card()))}".encode()
        signature = base64url(JWSRegistry.algorithms["ES256"].sign(message, key))
        agent.card = {"signatures": [{"protected": protected, "signature": signature}]}
        async with open_app(agent.url, SIZE) as driver:
            await driver.connected()
            await driver.until("· no key   ES256 ours")
            assert "fetch the keys, from the origin of the card only, and verify" in driver.screen
            assert [record.operation for record in driver.records(Kind.REQUEST)] == ["GetAgentCard"]
            await driver.click("fetch the keys", times=2)
            await driver.until("✓ valid    ES256 ours")
            assert "over the card as served" in driver.screen
            driver.workbench.use(driver.session.choice)
            await driver.settled()
            assert "✓ valid    ES256 ours" in driver.screen
            agent.card |= {"version": "9"}
            await driver.press("r")
            await driver.until(lambda: "no key" in driver.line("Signatures"))
            await driver.run_command("verify")
            await driver.until("✕ wrong    ES256 ours")


async def test_verify_is_disabled_without_signatures(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        assert "none" in driver.line("Signatures")
        assert not any(active.binding.id == "verify" for active in driver.app.screen.active_bindings.values())
