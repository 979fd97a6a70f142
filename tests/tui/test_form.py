"""Forms: the keys that go to their fields, and the error below them."""

from __future__ import annotations

from driving import Open

from inspector.tui.screens.form import Choice, Field, FormScreen, PickScreen


async def test_the_arrow_keys_go_to_the_fields_and_the_choices_of_a_form(open_app: Open, mock: str):
    fields = [Field(name, name) for name in ("first", "second", "third")]
    choices = [Choice("two", "two", ("first", "third")), Choice("none", "none")]
    async with open_app(mock) as driver:
        await driver.connected()

        def focused() -> str:
            assert driver.app.focused is not None
            return str(driver.app.focused.id)

        for given, keys, expected in (
            ((), "down down down up", "second"),
            ((), "up", "first"),
            (choices, "enter down up", "field-first"),
            (choices, "enter down down", "field-third"),
            (choices, "enter up", "choices"),
        ):
            driver.app.push_screen(FormScreen("Arrows", fields, given))
            await driver.until("Arrows")
            await driver.press(*keys.split())
            assert focused().removeprefix("" if given else "field-") == expected, keys
            await driver.press("escape")


async def test_the_error_of_a_long_form_is_visible(open_app: Open, mock: str):
    fields = [Field(f"f{number}", f"field {number}") for number in range(40)]
    async with open_app(mock, (80, 24)) as driver:
        await driver.connected()
        driver.app.push_screen(FormScreen("Long", fields, check=lambda _: "Field 3 is required."))
        await driver.until("field 0")
        assert "field 39" not in driver.screen
        await driver.press("shift+tab", "enter")
        await driver.until("field 39")
        assert "Field 3 is required." in driver.screen
        assert "esc close" in driver.screen


async def test_a_value_that_is_selected_and_typed_is_returned_once(open_app: Open, mock: str):
    returned: list[tuple[str, ...] | None] = []
    async with open_app(mock) as driver:
        await driver.connected()
        driver.app.push_screen(PickScreen("Extensions", ["urn:a", "urn:b"], ["urn:a"]), returned.append)
        await driver.until("Extensions")
        await driver.press("tab")
        await driver.type("urn:a, urn:c, urn:c")
        await driver.press("enter")
        await driver.until(lambda: returned)
    assert returned == [("urn:a", "urn:c")]
