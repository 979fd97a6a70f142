"""The key that makes a check file of what is selected, and shows it in Checks."""

from __future__ import annotations

from pathlib import Path

import pytest
from driving import Driver, Open
from players import deliver
from textual.widgets import Input
from webhook_view import STATUS, listening

from inspector.session.check.reading import parse_document

NORMAL = (120, 40)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def report(driver: Driver) -> None:
    """Send a message, and wait for the end of its task."""
    await driver.connected()
    await driver.go(2)
    await driver.say("report 3")
    await driver.until("completed")


async def test_a_check_of_the_selected_exchange_is_written_shown_and_passes(open_app: Open, mock: str, folder: Path):
    async with open_app(mock, NORMAL) as driver:
        await report(driver)
        await driver.go(5)
        await driver.press("M")
        await driver.until("Make a check")
        await driver.press("enter", "enter")
        await driver.until("acts.yaml ─ 1 test")
        [path] = folder.glob("*.acts.yaml")
        document = parse_document(path.read_text(), path.name)
        assert [step.id for test in document.suites[0].tests for step in test.steps] == ["stream"]
        await driver.press("u")
        await driver.until("✓ pass")


async def test_a_check_of_a_task_has_all_its_exchanges(open_app: Open, mock: str, folder: Path):
    async with open_app(mock, NORMAL) as driver:
        await report(driver)
        await driver.go(3)
        await driver.press("r")
        await driver.press("M")
        await driver.until("all exchanges of the task (2)")
        await driver.press("enter", "enter")
        await driver.until("acts.yaml ─ 1 test")
        [path] = folder.glob("*.acts.yaml")
        steps = parse_document(path.read_text(), path.name).suites[0].tests[0].steps
        assert [step.id for step in steps] == ["stream", "get"]


async def test_a_task_that_is_known_from_pushes_only_has_no_exchanges(open_app: Open, mock: str, folder: Path):
    async with open_app(mock, NORMAL) as driver:
        hook = await listening(driver)
        await driver.go(2)
        await driver.say("echo hello")
        await driver.until("hello")
        await driver.go(4)
        await deliver(hook, STATUS)
        await driver.until("◐ working")
        await driver.press("M")
        await driver.until("Make a check")
        assert "all exchanges (1)" in driver.screen
        assert "of the task" not in driver.screen
        await driver.press("enter", "enter")
        await driver.until("acts.yaml ─ 1 test")


async def test_an_existing_file_is_not_replaced(open_app: Open, mock: str, folder: Path):
    async with open_app(mock, NORMAL) as driver:
        await driver.connected()
        await driver.go(2)
        await driver.say("echo hello")
        await driver.until("hello")
        await driver.go(5)
        await driver.press("M")
        await driver.until("Make a check")
        for name in folder.iterdir():
            assert name.suffix != ".yaml"
        made = next(line for line in driver.lines if ".acts.yaml" in line)
        name = next(word for word in made.split() if word.endswith(".acts.yaml"))
        (folder / name).write_text("mine")
        await driver.press("enter", "enter")
        await driver.until("Choose another name.")
        assert (folder / name).read_text() == "mine"


async def test_without_a_request_there_is_nothing_to_check(open_app: Open, mock: str):
    async with open_app(mock, NORMAL, run={"notifications": True}) as driver:
        await driver.connected()
        await driver.go(3)
        await driver.press("M")
        await driver.until("No message or task was")


@pytest.mark.parametrize(("typed", "said"), [("~nosuch/x.yaml", "unknown user in path"), ("x" * 300, "too long")])
async def test_a_path_that_cannot_exist_is_rejected(open_app: Open, mock: str, typed: str, said: str):
    async with open_app(mock, NORMAL) as driver:
        await report(driver)
        await driver.go(5)
        await driver.press("M")
        await driver.until("Make a check")
        driver.app.screen.query_one("#field-path", Input).value = typed
        await driver.press("enter", "enter")
        await driver.until(said)
