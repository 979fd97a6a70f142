"""The form for the answer to an agent's question, with the fields of the schema that the agent sent."""

from __future__ import annotations

from driving import Driver, Open
from textual.containers import VerticalScroll
from textual.widgets import Input


async def asked(driver: Driver) -> None:
    """Connect, and wait for the agent's question."""
    await driver.connected()
    await driver.ask("form")
    await driver.until("alt+i form")


async def open_form(driver: Driver) -> None:
    """Open the form for the answer to the question."""
    await driver.press("alt+i")
    await driver.until("Form: the agent's question")


async def test_the_form_of_the_agent_is_filled_in_and_sent_as_data(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await asked(driver)
        task = driver.composer.destination.task_id
        await open_form(driver)
        await driver.type("Ada")
        await driver.press("enter", "enter", "enter", "enter")
        await driver.until("City is required.")
        await driver.press("shift+tab", "shift+tab")
        await driver.type("Bern")
        await driver.press("enter", "enter", "enter")
        await driver.until('with  { "name": "Ada", "city": "Bern"')
        await driver.press("enter")
        await driver.done(2)
        message = driver.sent()[-1]["params"]["message"]
        assert message["taskId"] == task
        assert message["parts"][0]["data"] == {"name": "Ada", "city": "Bern", "express": False, "parcels": 1}
        await driver.until("● completed")


async def test_a_form_that_is_closed_keeps_its_values(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await asked(driver)
        await open_form(driver)
        assert "enter send" not in driver.lines[-1], "keys that do nothing behind a dialog"
        await driver.type("Ada")
        await driver.press("escape")
        await driver.until(lambda: "Form: the agent's question" not in driver.screen)
        assert "enter send" in driver.lines[-1]
        await open_form(driver)
        await driver.until("Ada")
        await driver.press("tab")
        await driver.type("Bern")
        await driver.press("enter", "enter", "enter")
        await driver.until('with  { "name": "Ada", "city": "Bern"')
        await open_form(driver)
        assert "Ada" not in driver.widget("#form-fields", VerticalScroll).query(Input).first().value


async def test_the_form_is_opened_from_the_timeline(open_app: Open, mock: str):
    async with open_app(mock, (120, 40)) as driver:
        await asked(driver)
        await driver.press("escape")
        await driver.until("Press i to write a message.")
        await open_form(driver)
        await driver.type("Ada")
        await driver.press("enter")
        await driver.type("Bern")
        await driver.press("enter", "enter", "enter")
        await driver.until('with  { "name": "Ada", "city": "Bern"')
        await driver.press("enter")
        await driver.until("● completed")
