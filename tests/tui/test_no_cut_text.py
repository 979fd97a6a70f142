"""No text is cut beside free space: an ellipsis never stands before blanks that could have shown the text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from checking import asking, check_file, finished, loaded
from driving import Driver, Open

from inspector.tui.views.registry import VIEWS

SIZES = [(120, 36), (100, 30), (200, 50)]
DIALOGS = {"f1": "╭─ Help", "comma": "╭─ Settings", "a": "╭─", "C": "╭─ Credentials", "d": "passed", "Y": "╭─ Copy"}
"""The keys of dialogs, and a text that each shows."""


def wasted(lines: list[str]) -> list[str]:
    """Return the lines with an ellipsis before free space: three blanks (two part columns) or the line of a border."""
    return [line for line in lines if re.search(r"… {3,}|… ?─{3,}", line)]


async def fill(driver: Driver, folder: Path) -> None:
    """Make several tasks, a question, an artifact with files, pushes, a finding, and tests with long names."""
    await driver.connected()
    await driver.press("p")
    await driver.until(lambda: driver.session.push.on)
    for text in ("report 20", "file", "ask", "push", "careless"):
        await driver.press("ctrl+r")
        await driver.ask(text)
    tests = [asking(f"{number:03}-{'long' * (number // 4)}", name="words " * 4 * number) for number in range(1, 20)]
    view = await loaded(driver, check_file(folder, *tests))
    await driver.press("u")
    await finished(driver, view)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_no_view_cuts_a_text_beside_free_space(open_app: Open, mock: str, tmp_path: Path, size: tuple[int, int]):
    async with open_app(mock, size) as driver:
        await fill(driver, tmp_path)
        found: dict[str, list[str]] = {}
        for number, view in enumerate(VIEWS, 1):
            await driver.go(number)
            await driver.settled()
            if view.id == "chat":
                await driver.press("escape")
                for _ in range(12):
                    await driver.press("up")
                    found[f"{view.title} at row {driver.timeline.cursor}"] = wasted(driver.lines)
            found[view.title] = wasted(driver.lines)
        await driver.go(2)
        await driver.press("escape")
        for key, text in DIALOGS.items():
            await driver.press(key)
            await driver.until(text)
            await driver.settled()
            found[f"the dialog of {key}"] = wasted(driver.lines)
            await driver.press("escape")
        cut = {view: lines for view, lines in found.items() if lines}
        assert not cut, "\n".join(f"{view}: {line}" for view, lines in cut.items() for line in lines)


def test_an_ellipsis_beside_blanks_is_noticed():
    assert wasted(["text that is c…     1.2 kB"])
    assert wasted(["╭─ title that is c… ────╮"])
    assert not wasted(
        ["text that is c…  1.2 kB", "text that is c… │", "no ellipsis     here", "╭─ title that is c… ─╮"]
    )
