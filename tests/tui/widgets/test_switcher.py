"""A switcher whose children are removed, as while the app ends."""

from __future__ import annotations

from textual.app import App
from textual.widgets import Static

from inspector.tui.widgets.switcher import Switcher


async def test_one_child_is_shown():
    app: App[None] = App()
    async with app.run_test() as pilot:
        switcher = Switcher(Static(id="first"), Static(id="second"), initial="first")
        await app.mount(switcher)
        switcher.current = "second"
        await pilot.pause()
        assert [child.id for child in switcher.children if child.display] == ["second"]


async def test_a_choice_after_the_children_were_removed_is_ignored():
    app: App[None] = App()
    async with app.run_test():
        switcher = Switcher(Static(id="first"), Static(id="second"), initial="first")
        await app.mount(switcher)
        await switcher.query("*").remove()
        switcher.current = "second"
        await switcher.remove()
