"""A secret in every place where one can occur is nowhere on the disk and in no view of the app."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from canary import HELD, LOCATED, SEEN, URLS, leaks, parrot, secret_card, with_secrets
from composing import opened
from driving import Driver, Open
from players import playing
from textual.widgets import Input

from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_part
from inspector.settings_file import SETTINGS

SIZE = (160, 45)
HEADERS = (("X-Custom", HELD),)


def assert_hidden(driver: Driver) -> None:
    shown = f"{driver.screen}\n{driver.app.title} {driver.app.sub_title}"
    assert not [line for line in shown.splitlines() if HELD in line]


async def test_the_app_stores_and_shows_no_secret(open_app: Open, home: Path):
    async with playing(parrot, card=secret_card()) as agent:
        reference = with_secrets(agent)
        async with open_app(reference, SIZE, bearer=HELD, api_key=HELD, headers=HEADERS) as driver:
            await driver.connected()
            assert_hidden(driver)
            await driver.ask(f"look at {URLS[1]}")
            assert HELD in agent.calls[-1].request.headers["Authorization"]
            for view in (1, 4, 5, 6):  # Chat and Tasks show content of the task, which is not masked (docs/captures.md)
                await driver.go(view)
                await driver.settled()
                assert_hidden(driver)
            await driver.go(2)
            await driver.press("ctrl+o")
            await driver.settled()
            await driver.press("escape")
            await driver.go(5)
            for _ in range(6):
                await driver.press("down")
                await driver.settled()
                assert_hidden(driver)
    assert len(list(home.rglob("*"))) > 3
    assert not leaks(home, HELD, LOCATED)
    [capture] = home.rglob("*.a2a")
    assert capture.stem.endswith(f"_{agent.url.removeprefix('http://').replace(':', '-')}")


WRITTEN = Draft(
    (
        text_part(f"my key is {HELD}, see {URLS[1]}"),
        DraftPart(PartKind.LINK, URLS[0], metadata=SEEN),
        DraftPart(PartKind.DATA, SEEN),
        DraftPart(PartKind.DATA, '{"password": "{{PASSWORD}}"}'),
    ),
    metadata=SEEN,
    request_metadata=SEEN,
    svc_params=(("X-Api-Key", LOCATED), ("Authorization", "Bearer {{TOKEN}}"), ("X-Team", HELD)),
)
"""A message with secrets and with variables."""


async def test_what_is_written_is_stored_without_secrets(
    open_app: Open, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    async with (
        playing(parrot, card=secret_card()) as agent,
        open_app(agent.url, (120, 40), bearer=HELD, run={"notifications": True}) as driver,
    ):
        await opened(driver, WRITTEN)
        await driver.press("f9")
        await driver.until("Save as snippet")
        driver.app.screen.query_one(Input).value = "saved"
        await driver.press("enter")
        await driver.until("Its secrets were replaced by ****.")
        await driver.press("escape")
        await driver.until("Timeline")
        drafts = home / "state" / "drafts"
        await driver.until(lambda: [*drafts.glob("*.toml")])  # another file is one that is being written
        [draft] = drafts.glob("*.toml")
        assert draft.read_text().count("****") > 20
        assert not leaks(tmp_path, HELD, LOCATED)
        await driver.press("i", "enter")
        history = home / "state" / "sent.jsonl"
        await driver.until(lambda: history.exists() and b"****" in history.read_bytes())
        await driver.done()
        assert HELD in agent.calls[-1].body.decode(), "the agent gets the message as it was written"
        await driver.press("ctrl+up")
        await driver.until("my key is ****")
    snippet = tomllib.loads((tmp_path / "saved.a2a.toml").read_text())
    assert snippet["part"][3]["data"] == '{"password": "{{PASSWORD}}"}'
    assert snippet["request"]["params"] == {"X-Api-Key": "****", "Authorization": "Bearer {{TOKEN}}", "X-Team": "****"}
    assert not leaks(tmp_path, HELD, LOCATED)


async def test_a_secret_that_a_variable_inserts_is_neither_stored_nor_shown(
    open_app: Open, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("API_TOKEN", HELD)
    (tmp_path / "told.a2a.toml").write_text('[[part]]\ntext = "use {{API_TOKEN}} for {{what}}"\n')
    async with playing(parrot) as agent, open_app(agent.url, (120, 40)) as driver:
        await driver.connected()
        await driver.go(2)
        await driver.press("ctrl+up")
        await driver.until("told")
        await driver.press("enter")
        await driver.until("Variables of the snippet")
        assert_hidden(driver)
        await driver.press("enter")
        await driver.type("this")
        await driver.press("enter")
        await driver.until(lambda: driver.composer.text == f"use {HELD} for this")
        await driver.press("i", "enter")
        await driver.done()
        assert HELD in agent.calls[-1].body.decode()
    assert b"use **** for this" in (home / "state" / "sent.jsonl").read_bytes()
    assert not leaks(tmp_path, HELD)


async def test_a_changed_setting_stores_no_secret(open_app: Open, home: Path):
    """The credentials in use are not written, and a passphrase cannot be typed into the settings."""
    row = next(row for row, setting in enumerate(SETTINGS) if setting.name == "client-passphrase")
    async with playing(parrot) as agent, open_app(with_secrets(agent), SIZE, bearer=HELD, api_key=HELD) as driver:
        await driver.connected()
        await driver.press("comma", "down", "enter")
        settings = home / "settings.toml"
        await driver.until(settings.exists)
        await driver.press(*["down"] * (row - 1), "enter")
        await driver.until("Environment variable with the passphrase")
        driver.app.screen.query_one(Input).value = LOCATED
        await driver.press("enter")
        await driver.until("Allowed: the name of an environment variable")
        assert_hidden(driver)
    assert settings.read_text() == "[screen]\nascii = true\n"
    assert not leaks(home, HELD, LOCATED)
