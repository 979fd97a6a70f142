"""The settings screen: themes and keys are used at once, and everything is written to the file."""

from __future__ import annotations

import re
from pathlib import Path

from driving import Open

from inspector.settings_file import load
from inspector.tui.keys import key_of, problem_of

KEYS_PAGE = Path(__file__).parents[2] / "docs" / "keys.md"


async def test_a_theme_that_is_chosen_is_used_and_stored(open_app: Open, mock: str, home: Path):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.press("comma")
        await driver.until("screen.theme")
        await driver.press("enter")
        await driver.until("paper")
        await driver.click("paper")
        await driver.until(lambda: driver.app.theme == "paper")
        assert load(home / "settings.toml").values == {"theme": "paper"}
        await driver.until("file")


async def test_a_key_that_is_changed_works_at_once_and_after_the_next_start(open_app: Open, mock: str, home: Path):
    async with open_app(mock, (110, 40)) as driver:
        await driver.connected()
        await driver.press("comma")
        row = next(index for index, line in enumerate(driver.lines) if "keys.webhook" in line)
        await driver.pilot.click(offset=(20, row), times=2)
        await driver.until("Register a webhook with every message, or stop")
        await driver.press(*["backspace"] * 5, "i", "enter")
        await driver.until("already the key of 'write'")
        await driver.press("backspace", *"f10", "enter")
        await driver.until(lambda: load(home / "settings.toml").keys == {"webhook": "f10"})
        await driver.press("escape", "f10")
        await driver.until(lambda: driver.session.push.on)
        assert key_of("webhook") == "f10"
    changed = tuple(load(home / "settings.toml").keys.items())
    async with open_app(mock, changed_keys=changed) as driver:
        await driver.connected()
        await driver.press("p")
        assert not driver.session.push.on
        await driver.press("f10")
        await driver.until(lambda: driver.session.push.on)


async def test_a_wrong_value_is_refused_and_the_default_can_be_restored(open_app: Open, mock: str, home: Path):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.press("comma", *["down"] * 11, "enter")
        await driver.until("Port for webhooks")
        await driver.type("70000")
        await driver.press("enter")
        await driver.until("Allowed: a whole number from 0 to 65535.")
        await driver.press(*["backspace"] * 5)
        await driver.type("9000")
        await driver.press("enter")
        await driver.until(lambda: load(home / "settings.toml").values == {"receiver_port": 9000})
        await driver.press("delete")
        await driver.until(lambda: load(home / "settings.toml").values == {})


async def test_an_empty_field_restores_the_default_of_a_number(open_app: Open, mock: str, home: Path):
    async with open_app(mock) as driver:
        await driver.connected()
        (home / "settings.toml").write_text("[receiver]\nport = 9000\n", encoding="utf-8")
        await driver.press("comma", *["down"] * 11, "enter")
        await driver.until("Port for webhooks")
        await driver.press(*["backspace"] * 4, "enter")
        await driver.until(lambda: load(home / "settings.toml").values == {})
        await driver.until("SETTING")


async def test_a_damaged_file_is_reported_and_not_overwritten(open_app: Open, mock: str, home: Path):
    async with open_app(mock) as driver:
        await driver.connected()
        (home / "settings.toml").write_text("[screen\n", encoding="utf-8")
        await driver.press("comma")
        await driver.until(lambda: "toml:1:" in "".join(line.strip(" │") for line in driver.lines))
        await driver.press("down", "enter")
        await driver.until("cannot")
        assert (home / "settings.toml").read_text(encoding="utf-8") == "[screen\n"


def test_the_example_of_the_documentation_is_valid(tmp_path: Path):
    [example] = re.findall("^```toml\n(.*?)^```", KEYS_PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    (tmp_path / "settings.toml").write_text(example, encoding="utf-8")
    assert problem_of(load(tmp_path / "settings.toml").keys) is None


def test_mistakes_in_keys_are_found():
    assert problem_of({"cancel": "ctrl+x", "webhook": "f10"}) is None
    assert problem_of({"cancle": "q"}) == (
        "cancle",
        "'cancle' is not a command",
        "the commands of docs/keys.md, for example cancel",
    )
    assert (problem_of({"cancel": "p"}) or ("", "", ""))[1] == "'p' is already the key of 'webhook'"
    assert problem_of({"cancel": "p", "webhook": "x"}) is None
    assert (problem_of({"cancel": "no key"}) or ("", "", ""))[1] == "'no key' is not a key"
