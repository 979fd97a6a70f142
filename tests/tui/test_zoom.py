"""The maximised pane: it has the whole screen, and the focus never leaves what is shown."""

from __future__ import annotations

import pytest
from driving import Open

from inspector.tui.widgets.pane import Pane

SIZES = ((80, 24), (110, 30), (200, 50))


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_the_maximised_timeline_has_the_whole_screen(open_app: Open, mock: str, size: tuple[int, int]):
    async with open_app(mock, size=size) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.press("escape", "z")
        await driver.settled()
        width, height = size
        pane = driver.workbench.maximized
        assert pane is not None
        assert (pane.region.x, pane.region.width) == (0, width)
        assert pane.region.height == height - 2  # between the status bar and the footer
        assert "Mock Agent" in driver.lines[0]
        assert driver.lines[1].startswith("╭─ Timeline")
        assert driver.lines[1].endswith("╮")
        assert driver.line("following").endswith("╯")
        await driver.press("z")
        await driver.until("write a message")


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_tab_maximises_the_next_pane_and_the_composer_restores(open_app: Open, mock: str, size: tuple[int, int]):
    async with open_app(mock, size=size) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.press("escape", "z")
        seen = ["Timeline"]
        while driver.workbench.maximized is not None:
            assert f"╭─ {seen[-1]}" in driver.lines[1]
            assert driver.workbench.focused is not None
            assert driver.workbench.focused.is_in_maximized_view
            assert "╱" not in driver.screen
            await driver.press("tab")
            await driver.settled()
            seen.append(driver.lines[1].partition("╭─ ")[2].partition(" ")[0])
            assert len(seen) < 6, seen
        assert seen[:2] == ["Timeline", "Artifact"]
        assert driver.composer.has_focus_within


async def test_the_next_maximised_pane_has_its_new_size_in_the_first_layout(open_app: Open, mock: str):
    async with open_app(mock, size=(200, 50)) as driver:
        await driver.connected()
        await driver.go(2)
        screen = driver.workbench
        tasks = driver.widget("#tasks-pane", Pane)
        assert tasks.region.width == 46
        screen.maximize(driver.widget("#artifact", Pane))
        screen._compositor._full_map_invalidated = True  # as on a busy machine: a region that is read is computed
        screen.maximize(tasks)
        placements = screen.arrange(screen.size).placements
        assert [place.region.width for place in placements if place.widget is tasks] == [200]


async def test_another_view_restores_the_maximised_pane(open_app: Open, mock: str):
    async with open_app(mock) as driver:
        await driver.connected()
        await driver.ask("report 2")
        await driver.press("escape", "z", "5")
        await driver.until("Exchanges")
        await driver.settled()
        assert driver.workbench.maximized is None
        assert "1 Agent" in driver.lines[1]
