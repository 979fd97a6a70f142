"""Readability of the drawn screen: with all colours, 256 and 16 of them, and without colours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from checking import asking, check_file, finished, loaded
from driving import Driver, Open
from rich._palettes import STANDARD_PALETTE
from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import Monochrome
from textual.strip import Strip
from textual.theme import BUILTIN_THEMES, Theme
from textual.widget import Widget

from inspector.tui.screens.dialog import Dialog
from inspector.tui.sixteen_colours import SixteenColours
from inspector.tui.themes import MEANINGS, READABLE, contrast, fallback_variables, load_themes
from inspector.tui.views.registry import VIEWS
from inspector.tui.widgets.cursor import CursorView

NOTICEABLE = 3.0
"""The minimum contrast of symbols, and of the frame of the focused pane with other frames (WCAG 2.2, 1.4.11)."""
QUIET = 1.3
"""The minimum contrast of the frames of other panes, which are decoration."""

FRAME = frozenset("─│╭╮╰╯━┃┏┓┗┛")
"""Lines that are decoration, unless they are the frame of the focused pane."""

SHIPPED = load_themes()[0]
TERMINALS: Mapping[str, Mapping[str, str]] = {
    "all colours": {"TERM": "xterm-256color", "COLORTERM": "truecolor"},
    "no colours": {"TERM": "xterm-256color", "COLORTERM": "truecolor", "NO_COLOR": "1"},
    "16 colours": {"TERM": "linux"},
}


ratio = cache(contrast)


class Cell(NamedTuple):
    """A character of the screen in the colours in which the terminal draws it."""

    character: str
    text: Color
    ground: Color

    @property
    def contrast(self) -> float:
        return ratio(self.text, self.ground)

    @property
    def drawn(self) -> bool:
        """Whether the character is a line or a block instead of a text."""
        return "─" <= self.character <= "▟"


@cache
def shown(colour: RichColor | None, system: ColorSystem) -> Color:
    """Return a colour as a terminal with a colour system draws it."""
    assert colour is not None and not colour.is_default, "the terminal chooses the colour"
    drawn = colour.downgrade(system)
    rgb = STANDARD_PALETTE[drawn.number] if system is ColorSystem.STANDARD else drawn.get_truecolor()  # type: ignore[index]
    return Color(*rgb)


def cells(strip: Strip, system: ColorSystem) -> Iterator[Cell]:
    for text, own, _ in strip:
        style = own or Style()
        text_colour = style.bgcolor if text.isspace() else style.color
        colours = shown(text_colour, system), shown(style.bgcolor, system)
        if style.dim:
            colours = colours[0].blend(colours[1], 0.5), colours[1]
        yield from (Cell(character, *(reversed(colours) if style.reverse else colours)) for character in text)


def screen(driver: Driver, system: ColorSystem) -> list[list[Cell]]:
    """Return the cells of the screen."""
    return [list(cells(strip, system)) for strip in driver.app.screen._compositor.render_strips()]


def faint(driver: Driver, system: ColorSystem) -> set[str]:
    """Return the texts and symbols that cannot be read; those below a dialog and scrollbars do not count."""
    current = driver.app.screen
    region = current.query_one(".dialog").region if isinstance(current, Dialog) else current.region
    bars = [view.vertical_scrollbar.region for view in current.query(Widget) if view.show_vertical_scrollbar]
    found: set[str] = set()
    for y, line in enumerate(screen(driver, system)):
        for x, cell in enumerate(line):
            if cell.character.isspace() or not region.contains(x, y) or any(bar.contains(x, y) for bar in bars):
                continue
            least = (QUIET if cell.character in FRAME else NOTICEABLE) if cell.drawn else READABLE
            if cell.contrast < least:
                text = "".join(cell.character for cell in line).strip()
                found.add(f"{cell.character!r} {cell.contrast:.1f} {cell.text.hex} on {cell.ground.hex} in: {text}")
    return found


def assert_selection(driver: Driver, system: ColorSystem) -> None:
    """The row under the cursor, which can have several lines, differs from the others by a mark or a fill."""
    view = driver.app.focused
    assert isinstance(view, CursorView), view
    x, y, width, _ = view.content_region
    lines = screen(driver, system)
    drawn = [line[x : x + width] for line in lines[y : y + view.size.height]]
    indices = [view.index_at(view.top + number) for number in range(len(drawn))]
    row = drawn[indices.index(view.cursor)]
    others = [line for line, index in zip(drawn, indices, strict=True) if index != view.cursor]
    mark = row[0].character == "▌" and row[0].contrast >= NOTICEABLE
    fill = contrast(row[0].ground, others[0][-1].ground) >= READABLE
    assert mark or fill
    assert not any(line[0].character == "▌" for line in others)
    assert row[width // 2].ground != others[0][width // 2].ground


def assert_focus(driver: Driver, system: ColorSystem, *, thick: bool) -> None:
    """The frame of the focused pane differs from the other frames by its brightness, without colours by its shape."""
    lines = screen(driver, system)
    panes = [pane for pane in driver.app.screen.query(".pane") if pane.display and pane.region.area]
    corners = {
        pane: lines[pane.region.y][pane.region.x]
        for pane in panes
        if driver.app.screen.region.contains_region(pane.region)
    }
    [focused] = [pane for pane in corners if pane.has_focus_within]
    assert corners[focused].contrast >= NOTICEABLE
    for pane, corner in corners.items():
        if pane is not focused:
            assert (corner.character != corners[focused].character) == thick
            assert ratio(corner.text, corners[focused].text) >= 2


async def fill(driver: Driver, folder: Path) -> None:
    """Make tasks in several states, pushes, a finding, and tests with several results, and filter nothing."""
    await driver.connected()
    await driver.press("p")
    await driver.until(lambda: driver.session.push.on)
    for text in ("fail", "careless", "ask", "report 5"):
        await driver.press("ctrl+r")
        await driver.ask(text)
    tests = (asking("001"), asking("002", "TASK_STATE_FAILED"), asking("003", transport="[grpc]"))
    view = await loaded(driver, check_file(folder, *tests))
    await driver.press("u")
    await finished(driver, view)


@pytest.mark.parametrize(
    "terminal",
    [
        "all colours",
        *(pytest.param(name, marks=pytest.mark.slow) for name in TERMINALS if name != "all colours"),
    ],
)
async def test_every_view_is_readable_and_shows_selection_and_focus(
    open_app: Open, mock: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, terminal: str
):
    monkeypatch.delenv("COLORTERM")
    for name, value in TERMINALS[terminal].items():
        monkeypatch.setenv(name, value)
    systems = [ColorSystem.STANDARD] if terminal.startswith("16") else [ColorSystem.TRUECOLOR, ColorSystem.EIGHT_BIT]
    found: dict[str, set[str]] = {}
    async with open_app(mock, (120, 36)) as driver:
        await fill(driver, tmp_path)
        for theme in (theme.name for theme in SHIPPED):
            driver.app.theme = theme
            for number, view in enumerate(VIEWS, 1):
                await driver.go(number)
                await driver.press("escape")
                if view.id != "agent":
                    await driver.press("up")
                await driver.settled()
                for system in systems:
                    found[f"{theme}, {view.title}, {system.name}"] = faint(driver, system)
                    assert_focus(driver, system, thick=terminal == "no colours")
                    if view.id != "agent":
                        assert_selection(driver, system)
            for key, text in (("f1", "╭─ Help"), ("a", "╭─"), ("d", "passed")):
                await driver.press(key)
                await driver.until(text)
                await driver.settled()
                for system in systems:
                    found[f"{theme}, {key}, {system.name}"] = faint(driver, system)
                await driver.press("escape")
    problems = [f"{where}: {text}" for where, texts in found.items() for text in sorted(texts)]
    assert not problems, "\n".join(problems)


# The filter for 16 colours

ALL = [*SHIPPED, *(theme for theme in BUILTIN_THEMES.values() if not theme.ansi)]
TEXTS = ["foreground", *(name for name in MEANINGS if name not in {"rule", "cursor"})]


def variables(theme: Theme) -> dict[str, Color]:
    """Return the colours of a theme that the views use."""
    values = {**fallback_variables(theme), **theme.to_color_system().generate(), **theme.variables}
    return {name: Color.parse(values[name]) for name in ("foreground", "background", *MEANINGS)}


def in_sixteen(theme: Theme, text: Color, ground: Color, *, grey: bool = False, reverse: bool = False) -> Cell:
    """Return a character as drawn with 16 colours."""
    line = [Segment("x", Style(color=text.rich_color, bgcolor=ground.rich_color, reverse=reverse))]
    line = Monochrome().apply(line, ground) if grey else line
    [cell] = cells(Strip(SixteenColours(theme).apply(line, ground)), ColorSystem.STANDARD)
    return cell


@pytest.mark.parametrize("grey", [False, True], ids=["colours", "greys"])
@pytest.mark.parametrize("theme", ALL, ids=lambda theme: theme.name)
def test_texts_of_every_theme_are_readable_in_16_colours(theme: Theme, grey: bool):
    seen = variables(theme)
    screen_ground = in_sixteen(theme, seen["foreground"], seen["background"], grey=grey).ground
    for name in TEXTS:
        plain = in_sixteen(theme, seen[name], seen["background"], grey=grey)
        selected = in_sixteen(theme, seen[name], seen["cursor"], grey=grey)
        block = in_sixteen(theme, seen[name], seen["background"], grey=grey, reverse=True)
        for cell in (plain, selected, block):
            assert cell.contrast >= READABLE, (name, cell)
        assert plain.ground == screen_ground
        assert ratio(selected.ground, screen_ground) >= READABLE, name


@pytest.mark.parametrize("theme", SHIPPED, ids=lambda theme: theme.name)
def test_states_directions_and_the_accent_keep_a_colour_in_16_colours(theme: Theme):
    seen = variables(theme)
    cell = {name: in_sixteen(theme, seen[name], seen["background"]) for name in TEXTS}
    assert cell["state-bad"].text not in {cell[name].text for name in TEXTS if name not in ("state-bad", "json-number")}
    assert len({cell[name].text for name in ("wire-sent", "wire-received", "wire-pushed")}) == 3
    assert len({cell[name].text for name in ("state-good", "state-warning", "state-bad")}) == 3
    assert cell["bar"].text not in {cell[name].text for name in ("foreground", "text-soft", "wire-quiet")}
    assert cell["foreground"].contrast > cell["text-soft"].contrast
