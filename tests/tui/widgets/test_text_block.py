"""A text whose height follows each update."""

from __future__ import annotations

from textual.app import App, ComposeResult

from inspector.tui.widgets.text_block import TextBlock


class BlockApp(App[None]):
    def compose(self) -> ComposeResult:
        yield TextBlock("one")


async def test_the_height_follows_two_updates_with_a_layout_between_them():
    async with BlockApp().run_test() as pilot:
        block = pilot.app.query_one(TextBlock)
        await pilot.pause()
        assert block.size.height == 1
        block.update("one\ntwo")
        pilot.app.screen._clear_arrangement_cache()  # as a change of another widget does
        pilot.app.screen._refresh_layout()
        block.update("one\ntwo\nthree")
        await pilot.pause()
        await pilot.pause()
        assert block.size.height == 3
