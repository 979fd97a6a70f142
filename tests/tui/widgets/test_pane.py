"""The border of a pane."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Button, Label

from inspector.tui.widgets.pane import Pane


class TwoPanes(App[None]):
    CSS = "$bar: red; .pane { border: solid green; } .pane.-focused { border: solid red; }"

    def compose(self) -> ComposeResult:
        with Pane("First", id="first"):
            yield Button(id="one")
            yield Button(id="two")
        with Pane("Second", id="second"):
            yield Label("no focus")
            yield Button(id="three")

    def focused_panes(self) -> list[str | None]:
        """Return the ids of the panes whose border shows the focus."""
        return [pane.id for pane in self.query(Pane) if pane.styles.border_top[1].hex == "#FF0000"]


async def test_the_border_shows_which_pane_has_the_focus():
    app = TwoPanes()
    async with app.run_test() as pilot:
        for focused, pane in (("one", "first"), ("two", "first"), ("three", "second")):
            app.query_one(f"#{focused}").focus()
            await pilot.pause()
            assert app.focused_panes() == [pane]
        app.set_focus(None)
        await pilot.pause()
        assert app.focused_panes() == []


async def test_a_pane_loses_the_focus_with_its_last_focusable_widget():
    app = TwoPanes()
    async with app.run_test() as pilot:
        app.query_one("#three").focus()
        await app.query_one("#three").remove()
        await pilot.pause()
        assert app.focused_panes() == ["first"], "Textual focuses the widget before it"
        await app.query("#one, #two").remove()
        await pilot.pause()
        assert app.focused_panes() == []
