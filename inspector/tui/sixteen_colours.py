"""The 16 colours of simple terminals: the nearest of them is often unreadable, so the colours are chosen by meaning."""

from __future__ import annotations

import colorsys
from functools import lru_cache

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.theme import Theme

from inspector.tui.themes import contrast, fallback_variables

_RGB = (
    *((0, 0, 0), (170, 0, 0), (0, 170, 0), (170, 85, 0), (0, 0, 170), (170, 0, 170), (0, 170, 170), (170, 170, 170)),
    *((85, 85, 85), (255, 85, 85), (85, 255, 85), (255, 255, 85), (85, 85, 255), (255, 85, 255), (85, 255, 255)),
    (255, 255, 255),
)
"""The values for which Rich writes the numbers 0 to 15; numbers themselves cannot be dimmed below a dialog."""

BLACK, SILVER, GREY, WHITE = 0, 7, 8, 15
"""Numbers of colours; terminals with 8 background colours draw a white background as silver."""

_SECTORS = ((20, "red"), (75, "yellow"), (165, "green"), (225, "cyan"), (260, "blue"), (335, "purple"), (360, "red"))
"""The end of each range of hues in degrees, and its name."""

_TEXT_ON_BLACK = {"red": 9, "yellow": 11, "green": 10, "cyan": 14, "blue": 14, "purple": 13}
_TEXT_ON_WHITE = {"red": 1, "yellow": 3, "green": BLACK, "cyan": 4, "blue": 4, "purple": 5}  # 2 and 6 are too light
_FILL_ON_BLACK = {"red": (WHITE, 1), "green": (BLACK, 2), "cyan": (BLACK, 6), "blue": (BLACK, 6), "purple": (WHITE, 5)}
_FILL_ON_WHITE = {
    "red": (WHITE, 1),
    "green": (WHITE, BLACK),
    "cyan": (WHITE, 4),
    "blue": (WHITE, 4),
    "purple": (WHITE, 5),
}

_COLOURED = 0.25
"""The minimum difference between the channels of a colour, from 0 to 1, that is not a grey."""

_NOTICEABLE = 3.0
"""The minimum contrast of what is not a quiet line, or below a dialog."""

_FILLED = 1.6
"""The minimum contrast with the background of the screen at which another background is kept."""


class SixteenColours(LineFilter):
    """Replaces the colours of a theme: the selected row and the current tab become blocks, quiet text a grey.

    Backgrounds that differ little from that of the screen become equal to it.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        variables = {**fallback_variables(theme), **theme.to_color_system().generate(), **theme.variables}
        self._dark = theme.dark
        self._background = Color.parse(variables["background"])
        cursors = [Color.parse(variables[name]) for name in ("cursor", "block-cursor-background")]
        self._selected = frozenset(colour.rgb for cursor in cursors for colour in (cursor, cursor.monochrome))
        self._colours = lru_cache(1024)(self._chosen)  # most screens have fewer than 100 pairs

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - as LineFilter
        """Return the segments in the terminal's own colours."""
        return [Segment(text, self._replaced(style), control) for text, style, control in segments]

    def _replaced(self, style: Style | None) -> Style | None:
        if style is None or style.bgcolor is None:
            return style
        ground = style.bgcolor
        text = ground if style.color is None else style.color  # blank cells can have a background only
        return style + (self._colours(ground, text) if style.reverse else self._colours(text, ground))

    def _chosen(self, text: RichColor, ground: RichColor) -> Style:
        """Return the style that replaces a text colour and a background."""
        numbers = self._numbers(Color.from_rich_color(text), Color.from_rich_color(ground))
        text, ground = (RichColor.from_rgb(*_RGB[number]) for number in numbers)
        return Style(color=text, bgcolor=ground, reverse=False, dim=False)

    def _numbers(self, text: Color, ground: Color) -> tuple[int, int]:
        """Return the numbers of the colours of a text and of its background."""
        hue = _hue(ground)
        if ground.rgb in self._selected or (contrast(ground, self._background) >= _FILLED and not hue):
            return (BLACK, SILVER) if self._dark else (WHITE, BLACK)
        fills = _FILL_ON_BLACK if self._dark else _FILL_ON_WHITE
        if contrast(ground, self._background) >= _FILLED and hue in fills:
            return fills[hue]
        if contrast(ground, self._background) >= _FILLED:
            text, ground = ground, self._background  # a text on yellow, which differs most among terminals
        screen = BLACK if self._dark else WHITE
        if contrast(text, ground) < _NOTICEABLE:  # borders, and what is below a dialog
            return (GREY if self._dark else SILVER), screen
        if hue := _hue(text):
            return (_TEXT_ON_BLACK if self._dark else _TEXT_ON_WHITE)[hue], screen
        bright = contrast(text, ground) >= 10
        if self._dark:
            return (WHITE if bright else SILVER), screen
        return (BLACK if bright else GREY), screen


def _hue(colour: Color) -> str:
    """Return the name of a hue, `""` for a grey."""
    parts = colour.normalized
    hue, _, _ = colorsys.rgb_to_hsv(*parts)
    if max(parts) - min(parts) < _COLOURED:
        return ""
    return next(name for end, name in _SECTORS if hue * 360 <= end)
