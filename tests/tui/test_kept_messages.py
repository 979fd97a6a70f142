"""Messages that are kept: those that were sent, snippets and unsent drafts."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from composing import opened
from driving import Open
from textual.widgets import Input, OptionList

from inspector.session.compose.draft import Draft, DraftPart, PartKind, text_draft, text_part
from inspector.tui.screens.form import FormScreen
from inspector.tui.screens.workbench import WorkbenchScreen


async def test_a_sent_message_is_found_edited_and_sent_again(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("echo the first")
        await driver.ask("echo the second")
        await driver.press("ctrl+up")
        await driver.until("Sent messages and snippets")
        await driver.until("echo the first")
        await driver.type("first")
        await driver.until(lambda: "echo the second" not in "\n".join(driver.lines[10:30]))
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.app.screen, WorkbenchScreen))
        assert driver.composer.text == "echo the first"
        ids = [call["params"]["message"]["messageId"] for call in driver.sent()]
        await driver.press("ctrl+up")
        await driver.until("Sent messages and snippets")
        await driver.until("echo the second")
        await driver.press("ctrl+s")
        await driver.done(3)
        again = driver.sent()[-1]["params"]["message"]
        assert again["parts"] == [{"text": "echo the second"}]
        assert again["messageId"] not in ids


async def test_a_written_message_is_kept_if_an_earlier_message_cannot_be_sent_again(
    open_app: Open, mock: str, tmp_path: Path
):
    notes = tmp_path / "notes.txt"
    notes.write_text("the notes")
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.write()
        driver.composer.take(Draft((text_part("echo the file"), DraftPart(PartKind.FILE, str(notes)))))
        await driver.press("enter")
        await driver.done(1)
        notes.unlink()
        await driver.type("half a word")
        await driver.press("ctrl+up")
        await driver.until("Sent messages and snippets")
        await driver.until("echo the file")
        await driver.press("ctrl+s")
        await driver.until(lambda: driver.composer.text == "echo the file")
        await driver.press("ctrl+up")
        await driver.until("half a word")


async def test_variables_of_sent_messages_are_kept_and_the_draft_is_saved_to_history(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("echo {{literally}}")
        await driver.type("half a word")
        await driver.press("ctrl+up")
        await driver.until("Sent messages and snippets")
        await driver.until("echo {{literally}}")
        await driver.press("enter")
        await driver.until(lambda: driver.composer.text == "echo {{literally}}")
        await driver.press("ctrl+up")
        await driver.until("half a word")


async def test_a_snippet_is_saved_and_its_variables_are_filled_in(
    open_app: Open, mock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("city", "Basel")
    async with open_app(mock, (120, 40)) as driver:
        await opened(driver, text_draft("go to {{city}} by {{means}}"))
        await driver.press("f9")
        await driver.until("Save as snippet")
        driver.app.screen.query_one(Input).value = "~nosuch/trip"
        await driver.press("enter")
        await driver.until(lambda: not isinstance(driver.app.screen, FormScreen))
        for _ in range(2):
            await driver.press("f9")
            await driver.until("Save as snippet")
            driver.app.screen.query_one(Input).value = "trip"
            await driver.press("enter")
            await driver.until((tmp_path / "trip.a2a.toml").exists)
        await driver.until("trip.a2a.toml exists; press enter again to replace it")
        await driver.press("enter", "escape")
        await driver.until(lambda: isinstance(driver.app.screen, WorkbenchScreen))
        driver.composer.take(None)
        await driver.press("ctrl+up")
        await driver.until("trip")
        await driver.press("enter")
        await driver.until("Variables of the snippet")
        await driver.until("Basel")
        await driver.press("enter")
        await driver.type("train")
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.app.screen, WorkbenchScreen))
        assert driver.composer.text == "go to Basel by train"


async def test_a_sent_message_is_removed_from_the_list_and_restored(open_app: Open, mock: str, home: Path):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("echo the first")
        await driver.ask("echo the second")
        stored = home / "state" / "sent.jsonl"
        await driver.until(lambda: stored.exists() and len(stored.read_bytes().splitlines()) == 2)
        before = stored.read_bytes()
        await driver.press("ctrl+up")
        await driver.until("echo the first")
        listed = driver.app.screen.query_one(OptionList)
        await driver.press("down", "down", "delete")
        await driver.until(lambda: listed.option_count == 1)
        assert b"the first" not in stored.read_bytes()
        await driver.until("Undo: remove echo the first (^z)")
        await driver.press("escape", "ctrl+up")
        await driver.until("Undo: remove echo the first (^z)")
        await driver.press("ctrl+z")
        await driver.until(lambda: stored.read_bytes() == before)
        await driver.until(lambda: driver.app.screen.query_one(OptionList).option_count == 2)


async def test_a_deleted_snippet_is_restored(
    open_app: Open, mock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "trip.a2a.toml"
    file.write_text('title = "Trip"\n[[part]]\ntext = "go to Basel"\n')
    async with open_app(mock, (120, 40), run={"notifications": True}) as driver:
        await driver.connected()
        await driver.go(2)
        await driver.press("ctrl+up")
        await driver.until("Trip: go to Basel")
        await driver.press("down", "delete")
        await driver.until("Undo: delete trip.a2a.toml")
        assert not file.exists()
        file.write_text("# another file")
        await driver.press("ctrl+z")
        await driver.until("Not restored")
        assert file.read_text() == "# another file"
        file.unlink()
        await driver.press("ctrl+z")
        await driver.until("Trip: go to Basel")
        assert "go to Basel" in file.read_text()


async def test_a_search_without_a_result_says_so(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await driver.connected()
        await driver.ask("echo the first")
        await driver.press("ctrl+up")
        await driver.until("echo the first")
        await driver.type("nothing like it")
        await driver.until("No message contains these words.")
        await driver.press("enter", "ctrl+s", "delete")
        assert len(driver.sent()) == 1


async def test_a_draft_is_restored_and_removed_after_sending(open_app: Open, mock: str, home: Path):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.write()
        await driver.type("half a sent")
        await driver.until(lambda: [*(home / "state" / "drafts").glob("*.toml")])
        kept = next((home / "state" / "drafts").glob("*.toml"))
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.go(2)
        await driver.until("Unsent message: half a sent")
        await driver.press("ctrl+up", "enter")
        await driver.done()
        await driver.until(lambda: not kept.exists())
