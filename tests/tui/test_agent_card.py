"""The card in the Agent view: findings, skills, hostile texts, responses that are not a card, and widths."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pyperclip
import pytest
from aiohttp import web
from aiohttp.test_utils import RawTestServer
from driving import Open
from players import playing
from puppets import CARD, CARD_PATH, done

from inspector.capture.card_history import store_card
from inspector.capture.records import Kind
from inspector.tui.widgets.card_editor import CardArea
from inspector.tui.widgets.card_view import CardView
from inspector.tui.widgets.json_view import JsonView

SIZE = (120, 50)


def skills(count: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {"id": f"s{i}", "name": f"Skill {i}", "description": f"Does *thing* {i}", "tags": [f"t{i}"]} | more
        for i in range(count)
    ]


# Overview


async def test_findings_are_shown_beside_their_rows(open_app: Open):
    odd = {"version": None, "defaultOutputModes": ["nonsense"], "skills": skills(1, name=None)}
    async with playing(card=odd) as agent, open_app(agent.url, SIZE) as driver:
        await driver.connected()
        lines = driver.lines
        modes = next(row for row, line in enumerate(lines) if line.strip("│ ▌").startswith("Output modes"))
        assert "nonsense" in lines[modes]
        assert "CARD-100" in lines[modes + 1]
        assert "version is missing" in driver.line("CARD-001")
        await driver.click("CARD-100", times=2)
        assert driver.section == "raw"
        assert driver.widget("#card-json", JsonView).pointer == "/defaultOutputModes/0"
        assert "~ CARD-100" in driver.line('"nonsense"')
        assert "RFC" in driver.screen or "§" in driver.screen, "the finding is explained at the cursor"
        await driver.press("escape")
        assert driver.section == "card"


async def test_a_capability_of_the_wrong_type_is_shown_as_invalid(open_app: Open):
    odd = {"capabilities": {"streaming": "yes", "pushNotifications": {"on": True}, "extendedAgentCard": False}}
    async with playing(card=odd) as agent, open_app(agent.url, SIZE) as driver:
        await driver.connected()
        assert '· streaming             invalid: "yes"  ' in driver.screen
        assert "· push notifications    invalid: {" in driver.screen
        assert "· extended card         no  " in driver.screen
        assert "not declared" not in driver.screen
        assert "expected a boolean, found 'yes'" in driver.words


async def test_authentication_and_unfetched_links_are_shown(open_app: Open):
    flow = {
        "authorizationUrl": "https://id.example/in",
        "tokenUrl": "https://id.example/token",
        "scopes": {"r": "read"},
    }
    card = {
        "securitySchemes": {
            "sso": {"oauth2SecurityScheme": {"description": "Ours alone", "flows": {"authorizationCode": flow}}},
            "old": {"oauth2SecurityScheme": {"flows": {"implicit": {}}}},
            "key": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}},
        },
        "securityRequirements": [{"schemes": {"sso": {"list": ["r"]}}}, {"schemes": {"key": {"list": []}}}],
        "capabilities": {"extensions": [{"uri": "urn:x:1", "required": True, "description": "Counts"}]},
        "provider": {"organization": "Ex", "url": "https://ex\u0430mple.org"},
        "iconUrl": "http://169.254.169.254/icon.png",
        "skills": skills(1, securityRequirements=[{"schemes": {"key": {"list": []}}}]),
    }
    async with playing(card=card) as agent, open_app(agent.url, (140, 60)) as driver:
        await driver.connected()
        for words in (
            "✕ OAuth 2.0 (authorizationCode) with r   missing",
            "✕ an API key in header X-API-Key   missing",
            "log in, or enter a secret (C)",
            "sso: OAuth 2.0 (authorizationCode). Ours alone",
            "  authorizationUrl  https://id.example/in",
            "  tokenUrl          https://id.example/token",
            f"{'urn:x:1':<22}{'required':<14}not requested   Counts",
            "(the host is xn--exmple-4nf.org)",
            "http://169.254.169.254/icon.png   not fetched",
            "✕ implicit is not used: deprecated",
            "requires ✕ an API key in header X-API-Key   missing",
        ):
            assert words in driver.screen, words
        assert len(driver.records(Kind.REQUEST)) == 1


async def test_observed_behaviour_is_shown_beside_declared_capabilities(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        assert "not tried yet" in driver.line("· streaming")
        await driver.ask("report 3")
        await driver.go(1)
        assert "1 stream with" in driver.line("✓ streaming")
        assert "SendStreamingMessage 1 succeeded" in driver.line("Observed calls")
        await driver.press("v", "v", "r")
        await driver.until(lambda: len(driver.sent()) == 2 and not driver.session.journal.exchanges.open)
        await driver.until("No extended card:")
        await driver.press("escape")
        await driver.until(lambda: "failed" in driver.line("· extended card"))


async def test_skills_are_folded_searched_and_tried(open_app: Open):
    many = skills(5000, examples=["do this", "do that"], inputModes=["image/png"])
    async with playing(card={"skills": many}) as agent, open_app(agent.url, SIZE) as driver:
        await driver.connected()
        assert "Skills   5,000" in driver.screen
        assert "▸ Skill 0" in driver.line("Does thing 0")
        await driver.press("end")
        assert "Skill 4999" in driver.screen
        await driver.press("slash")
        await driver.type("t4321 THING")
        assert "1 skill " in driver.lines[-1]
        await driver.press("enter")
        assert "Skills   1 of 5,000" in driver.screen
        assert driver.line("enter unfold or fold")
        await driver.press("enter")
        assert "id s4321   input modes image/png" in driver.screen
        assert "esc clear filter" in driver.lines[-1]
        await driver.press("escape")
        assert "Skills   5,000" in driver.screen
        assert "esc clear filter" not in driver.lines[-1]
        await driver.press("slash", "escape")
        assert "Skill 4320" in driver.screen or "Skill 0" in driver.screen
        await driver.press("slash")
        await driver.type("no such skill")
        assert "No match. Press esc" in driver.screen
        await driver.press("escape")
        await driver.press("right", "i")
        assert driver.composer.text == "do this"


async def test_arrow_keys_select_skills_and_enter_folds(open_app: Open):
    few = skills(3, examples=["do it"])
    async with playing(card={"skills": few}) as agent, open_app(agent.url, SIZE) as driver:
        await driver.connected()
        view = driver.widget("#card", CardView)
        await driver.press("right", "right")
        assert view.pointer == "/skills/1"
        await driver.press("left")
        assert view.pointer == "/skills/0"
        await driver.press("enter")
        assert "▸ Skill 0" in driver.screen
        assert driver.screen.count("→ do it") == 2
        await driver.press("i")
        assert driver.composer.text == "do it"


async def test_a_skill_without_an_example_shows_a_notification(open_app: Open):
    two = [*skills(1), *skills(1, id="other", examples=["do it"])]
    async with (
        playing(card={"skills": two}) as agent,
        open_app(agent.url, SIZE, run={"notifications": True}) as driver,
    ):
        await driver.connected()
        await driver.press("right", "i")
        await driver.until("has no example")
        assert driver.workbench.view == "agent"


async def test_without_examples_no_key_offers_one(open_app: Open):
    async with playing(card={"skills": skills(2)}) as agent, open_app(agent.url, SIZE) as driver:
        await driver.connected()
        assert "try the example" not in driver.screen
        assert not re.search(r"enter|\bi try", driver.lines[-1])
        await driver.press("right")
        assert "enter unfold or fold" in driver.lines[-1]
        await driver.press("i")
        assert driver.workbench.view == "agent"


async def test_enter_goes_to_the_next_folded_skill_if_there_is_no_example(open_app: Open):
    async with playing(card={"skills": skills(20)}) as agent, open_app(agent.url, SIZE) as driver:
        await driver.connected()
        assert "enter next skill" in driver.lines[-1]
        await driver.press("enter")
        assert driver.widget("#card", CardView).pointer == "/skills/0"


async def test_a_row_opens_its_pointer_in_the_raw_card(open_app: Open, mock: str):
    async with open_app(mock, SIZE) as driver:
        await driver.connected()
        await driver.press("right", "right", "v")
        assert driver.widget("#card-json", JsonView).pointer == "/skills/1"
        assert driver.lines[-2].endswith("/skills/1 ─╯"), "the pointer is in the lower border"
        await driver.press("escape")
        assert driver.widget("#card", CardView).pointer == "/skills/1"


async def test_copy_copies_the_value_of_the_selected_row(open_app: Open, monkeypatch: pytest.MonkeyPatch):
    async with playing(card={}) as agent, open_app(agent.url, SIZE) as driver:
        await driver.connected()
        copied: list[str] = []
        monkeypatch.setattr(pyperclip, "copy", copied.append)
        await driver.press("down", "down", "y")
        await driver.click("→ do it")
        await driver.press("y", "v", "home", "down", "y")
        assert copied == ["Answers as a test wants", "do it", "Puppet"]


# Responses that are not a card


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (json.dumps(CARD | {"supportedInterfaces": "many"}).encode(), "supportedInterfaces"),
        (b"\xef\xbb\xbf" + json.dumps(CARD).encode(), "byte order mark"),
        (b'{"name": NaN}', "NaN"),
        (b'{"name": "a", "skills": [', "ends within"),
        (json.dumps(CARD).encode("utf-16"), "CARD-007"),
        (b"[" * 100_000, "nested"),
    ],
    ids=["wrong type", "BOM", "NaN", "cut off", "UTF-16", "deep"],
)
async def test_a_response_that_is_not_a_card_is_shown_linted_and_edited(open_app: Open, body: bytes, said: str):
    answer = web.Response(body=body, content_type="application/json")
    async with playing(card=answer) as agent, open_app(agent.url, SIZE) as driver:
        await driver.until("show the response and its findings")
        await driver.press("v")
        assert driver.section == "raw"
        assert "the response that was received instead of a card" in driver.screen
        assert "! CARD-" in driver.screen
        assert said in driver.screen
        await driver.press("E")
        await driver.until("next finding")
        assert driver.widget("#edit-text", CardArea).text[0] in "{["
        await driver.press("escape", "escape")
        assert driver.section == "connecting"
        assert driver.session.connection is None


async def test_findings_about_capabilities_name_the_member_and_are_above_the_extensions(open_app: Open):
    wrong = {"streaming": "yes", "extensions": [{"uri": 7}]}
    async with playing(card=CARD | {"capabilities": wrong}) as agent, open_app(agent.url, SIZE) as driver:
        await driver.connected()
        await driver.settled()
        rows = [line.strip("│ ▌") for line in driver.lines]
        labels = [next(row for row, text in enumerate(rows) if text.startswith(label)) for label in ("Capab", "Exten")]
        of_streaming = next(row for row, text in enumerate(rows) if text.endswith("found 'yes' at"))
        assert rows[of_streaming + 1].startswith("/capabilities/streaming")
        assert labels[0] < of_streaming < labels[1]
        assert "at /capabilities/extensions/0/uri" in " ".join(rows[labels[1] :])


async def test_mistakes_in_other_members_do_not_prevent_a_call(open_app: Open):
    card = CARD | {"skills": ["many", {"id": "one", "name": "One", "tags": "t"}], "provider": "us"}
    async with (
        playing(done, card=card | {"securitySchemes": {"x": None}}) as agent,
        open_app(agent.url, SIZE) as driver,
    ):
        await driver.connected()
        await driver.settled()
        for found in ("'us'", "null", "'many'", "'t'"):
            assert re.search(f"! CARD-0.* has the wrong type: .* found {found}", driver.screen)
        await driver.ask("hello")


async def test_an_empty_card_is_an_invalid_card_of_the_agent(open_app: Open):
    async def answer(request: web.BaseRequest) -> web.Response:
        return web.json_response({}, status=200 if request.path == CARD_PATH else 404)

    async with RawTestServer(answer) as server, open_app(str(server.make_url("/")), SIZE) as driver:
        await driver.until("it is an empty object")
        assert "invalid card" in driver.lines[2]
        assert "the agent" in driver.line("Responsible")
        assert "name is missing" in driver.line("  Findings  ").replace("│", "")
        assert re.search(r"and \d+ more", driver.screen)
        assert "Correct the card" in driver.line("Next step")
        await driver.press("v")
        await driver.until("the response that was received instead of a card")


# Hostile cards


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40)], ids=str)
async def test_hostile_texts_are_shown_safely_in_every_section(open_app: Open, size):
    evil = "\x1b]52;c;aGk=\x07\u202e\x9b2J[/][@click=app.quit]x[/]" + "a" + "\u0301" * 5000
    skill = {"id": evil, "name": evil, "description": evil, "tags": [evil], "examples": [evil], "inputModes": [evil]}
    card = {
        "name": evil,
        "description": f"# {evil}\n[x](javascript:1) {evil}",
        "version": evil,
        "provider": {"organization": evil, "url": evil},
        "iconUrl": "http://169.254.169.254/x",
        "documentationUrl": f"https://exаmple.org/{evil}",
        "capabilities": {"extensions": [{"uri": evil, "required": True, "description": evil}]},
        "securitySchemes": {evil: {"httpAuthSecurityScheme": {"scheme": evil, "description": evil}}},
        "securityRequirements": [{"schemes": {evil: {"list": [evil]}}}],
        "defaultInputModes": [evil],
        "skills": [skill] * 3,
        "signatures": [{"protected": evil, "signature": evil}],
        evil: 1,
    }
    async with playing(card=card) as agent, open_app(agent.url, size) as driver:
        store_card(f"{agent.url}{CARD_PATH}", json.dumps({evil: evil, "skills": [skill]}).encode(), 1.0)
        await driver.connected()
        for key in ("end", "home", "v", "end", "v", "v", "enter", "end", "escape", "E", "escape", "escape"):
            await driver.press(key)
            assert not set("\x1b\x07\x9b\u202e") & set(driver.screen), key
        assert [record.operation for record in driver.records(Kind.REQUEST)] == ["GetAgentCard"], (
            "nothing is fetched unasked"
        )


async def test_a_long_description_is_folded_until_enter(open_app: Open):
    card = {"description": "\n\n".join(f"Paragraph {number}" for number in range(40))}
    async with playing(card=card) as agent, open_app(agent.url, (100, 120)) as driver:
        await driver.connected()
        assert "… 71 more lines, press enter to show them" in driver.screen
        assert "Interfaces" in driver.screen
        assert "Paragraph 9" not in driver.screen
        await driver.click("more lines", times=2)
        assert "Paragraph 39" in driver.screen
        await driver.click("press enter to show less", times=2)
        assert "Paragraph 9" not in driver.screen


# Widths and states


async def test_on_a_wide_screen_the_skills_have_a_pane_of_their_own(open_app: Open):
    few = skills(3, examples=["do it"])
    async with playing(card={"skills": few}) as agent, open_app(agent.url, (200, 50)) as driver:
        await driver.connected()
        assert driver.line("Interfaces")
        column, row = driver.place("▾ Skill 0")
        assert column > 90
        assert row < 6, "beside the facts, at the top"
        assert "Skills ─ 3" in driver.lines[2]
        await driver.press("slash")
        await driver.type("t2")
        await driver.press("enter")
        assert "Skill 2" in driver.screen
        assert "Skill 1" not in driver.screen
        assert "Interfaces" in driver.screen, "a search changes only the list of the skills"
        await driver.press("slash", "escape")
        await driver.click("→ do it")
        await driver.press("v")
        assert driver.widget("#card-json", JsonView).pointer == "/skills/0/examples"
        assert "Skills ─ 3" not in driver.screen, "the other representations have the whole width"
        await driver.press("escape")
        await driver.pilot.resize_terminal(120, 40)
        await driver.until("Skills   3")
        assert "Skills ─ 3" not in driver.screen
        await driver.pilot.resize_terminal(200, 50)
        await driver.until("Skills ─ 3")


async def test_descriptions_of_folded_skills_are_wrapped(open_app: Open):
    words = "Books flights and hotels, compares their prices and asks before it pays. "
    many = skills(20, description=words * 3 + "The end.")
    async with playing(card={"skills": many}) as agent, open_app(agent.url, (100, 50)) as driver:
        await driver.connected()
        assert driver.line("▸ Skill 0")
        assert driver.screen.count("The end.") >= 3, "nothing is cut"
        await driver.press("right", "enter")
        assert "▾ Skill 0" in driver.screen
        await driver.press("enter")
        assert "▸ Skill 0" in driver.screen
        await driver.press("right")
        assert driver.widget("#card", CardView).pointer == "/skills/1"


async def test_a_scheme_with_the_members_of_two_versions_is_described_once(open_app: Open):
    both = {"type": "mutualTLS", "description": "client certs", "mtlsSecurityScheme": {"description": "client certs"}}
    async with playing(card={"securitySchemes": {"tls": both}}) as agent, open_app(agent.url, SIZE) as driver:
        await driver.connected()
        assert "tls: a client certificate. client certs" in driver.screen
        assert driver.screen.count("client certs") == 1


async def test_an_interface_that_is_not_supported_names_the_reason(open_app: Open):
    interfaces = [
        {"url": "http://127.0.0.1:1/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
        {"url": "http://127.0.0.1:1/x", "protocolBinding": "PIGEON", "protocolVersion": "1.0"},
    ]
    async with playing(card={"supportedInterfaces": interfaces}) as agent, open_app(agent.url, SIZE) as driver:
        await driver.connected()
        assert "not supported: " in driver.line("PIGEON")
        assert "in use (preferred)" in driver.line("JSONRPC   ")


async def test_enter_on_the_authentication_opens_the_dialog(open_app: Open):
    card = {
        "securitySchemes": {"token": {"httpAuthSecurityScheme": {"scheme": "bearer"}}},
        "securityRequirements": [{"schemes": {"token": {"list": []}}}],
    }
    async with playing(card=card) as agent, open_app(agent.url, SIZE) as driver:
        await driver.connected()
        await driver.click("log in, or enter a secret (C)", times=2)
        await driver.until("Bearer token (header Authorization)")


@pytest.mark.parametrize("size", [(400, 200), (80, 24)])
async def test_a_card_of_ten_megabytes_with_thousands_of_skills_is_shown(open_app: Open, size: tuple[int, int]):
    skills = [
        {"id": f"s{number}", "name": f"Skill {number}", "description": "word " * 400, "tags": ["a"]}
        for number in range(5000)
    ]
    began = time.process_time()
    async with playing(card={"skills": skills}) as agent, open_app(agent.url, size) as driver:
        await driver.until("Skill 0")
        await driver.press("end", "home", "pagedown")
        await driver.press("6")
        await driver.until("CARD-039")
    assert time.process_time() - began < 12  # measured: 3 s for the larger size
