"""Reproducible pictures of the screen, as text and as SVG, and their comparison.

`pytest tests/tui --update-snapshots` replaces the pictures in `pictures/`. A picture that differs is written to
`failed/`.
"""

from __future__ import annotations

import dataclasses
import difflib
import io
import re
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment, Segments
from rich.style import Style
from textual.app import App
from textual.strip import Strip

from inspector.session.stream_health import StreamHealth

PICTURES = Path(__file__).parent / "pictures"
FAILED = Path(__file__).parent / "failed"

_MAX_LINES = 60
"""The maximum number of lines of a difference that are shown."""


class Normaliser:
    """Replaces variable texts by constant texts of the same width; equal ids of a screen get equal replacements."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def line(self, text: str) -> str:
        """Return a line of the screen with constant texts."""
        for pattern, replace in _VARIABLE:
            text = pattern.sub(lambda match, replace=replace: replace(match[0]), text)  # type: ignore[misc]
        return _ID.sub(lambda match: self._numbered(match[0]), text)

    def _numbered(self, found: str) -> str:
        """Return the replacement of an id: each digit is the number of the id in the order of appearance."""
        number = self._ids.setdefault(found[:8], len(self._ids) + 1)
        return re.sub(r"[0-9a-f]", f"{number % 16:x}", found)


def _shaped_like(pattern: str) -> Callable[[str], str]:
    """Return a function that returns as many characters of a pattern as its argument has."""
    return lambda text: pattern[: len(text)]


def _right(value: str) -> Callable[[str], str]:
    """Return a function that right-justifies a value to the width of its argument."""
    return lambda text: value.rjust(len(text))


_VARIABLE: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
    (re.compile(r"\b20\d\d-\d\d-\d\dT[\d:.]*Z?"), _shaped_like("2026-11-20T13:35:50.637Z")),
    (re.compile(r"(?<=127\.0\.0\.1:)\d{1,5}"), _shaped_like("41241")),
    (re.compile(r"(?:(?<=\+0 ms  )|(?<=\d\d:\d\d:\d\d  ))  0 ms(?=  )"), lambda text: " " * len(text)),  # a gap
    (re.compile(r" *\b\d{1,2} s\b"), _right("0 s")),
    (re.compile(r"(?<= events   )[·▁-█][^│]*"), lambda text: "arrivals".ljust(len(text))[: len(text)]),
    (re.compile(r" *[+-]\d{1,5}ms\b"), _right("+0ms")),
    (re.compile(r"\+\d{1,4} ms\b"), _right("+0 ms")),
    (re.compile(r"(?<=\s)[\d.]{1,4}…(?=\s*$)"), _right("…")),  # a number that is cut
    # The end of an id whose beginning is covered by a dialog.
    (re.compile(r"(?<=  )[0-9a-f]{0,7}(?:-[0-9a-f]{4}){2,3}-[0-9a-f]+"), lambda text: re.sub(r"[0-9a-f]", "0", text)),
    (re.compile(r"(?<=[✓*] )[\d.]{1,4} m?s (?=after stream)"), lambda text: "0 ms ".rjust(len(text))[: len(text)]),
    (re.compile(r"(?<=│)[0-9a-f]{1,8}(?=  │)"), lambda text: "0" * len(text)),  # nearly covered by a dialog
    # The bar of an exchange, whose parts have different colours.
    (re.compile(r"(?<=  0 ms)[ ─━]+(?=│)"), lambda text: " " * len(text)),
    # The last line of an id in JSON, indented or not.
    (re.compile(r"(?<=  )[0-9a-f]{1,12}(?=\",)"), lambda text: "0" * len(text)),
    (re.compile(r"(?<=│)[0-9a-f]{1,12}(?=\", )"), lambda text: "0" * len(text)),
    (re.compile(r"(?<=/push/)[\w-]{1,32}"), _shaped_like("x" * 32)),
)
_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{0,12}){0,4}(?!\w)")


def constant_duration(seconds: float) -> str:
    """Return the same text for every duration, because the texts have different widths."""
    return "0 ms"


def with_constant_times(measure: Callable[..., StreamHealth | None]) -> Callable[..., StreamHealth | None]:
    """Measure streams, but with constant times: the border is drawn to the left of their texts of variable width."""

    @wraps(measure)
    def measured(*arguments: Any, **named: Any) -> StreamHealth | None:
        found = measure(*arguments, **named)
        if found is None:
            return None
        first_event = None if found.first_event is None else 0.012
        return dataclasses.replace(found, first_event=first_event, rate=100.0, gap=0.034, buffered="")

    return measured


def screen_lines(app: App[object]) -> list[Strip]:
    """Return the normalised lines of the screen, including the screens below a dialog."""
    compositor = app.screen._compositor
    compositor.render_update(full=True, screen_stack=app._background_screens)  # draws the screens below, too
    normaliser = Normaliser()
    return [_normalised(strip, normaliser) for strip in compositor.render_strips()]


def _normalised(strip: Strip, normaliser: Normaliser) -> Strip:
    text = strip.text
    steady = normaliser.line(text)
    assert cell_len(steady) == cell_len(text) and len(steady) == len(text), (text, steady)
    segments, start = [], 0
    for piece, own, _ in strip:
        shown, start = steady[start : start + len(piece)], start + len(piece)
        style = own and own.clear_meta_and_links()
        visible = shown.rstrip(" ")
        segments.append(Segment(visible, style))
        segments.append(Segment(shown[len(visible) :], style and _of_spaces(style)))
    return Strip(Segment.simplify(segment for segment in segments if segment.text))


def _of_spaces(style: Style) -> Style:
    """Return the part of a style that spaces show; a text whose length varies ends at another space each time."""
    return style if style.reverse or style.underline else Style(bgcolor=style.bgcolor)


def as_text(lines: Iterable[Strip]) -> str:
    """Return the lines as text without trailing spaces."""
    return "".join(f"{line.text.rstrip()}\n" for line in lines)


def as_svg(lines: Sequence[Strip], title: str) -> str:
    """Return the lines as SVG with one element per line."""
    console = Console(
        width=lines[0].cell_length,
        height=len(lines),
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        record=True,
        legacy_windows=False,
        safe_box=False,
    )
    console.print(Segments(segment for line in lines for segment in (*line, Segment.line())), end="")
    svg = console.export_svg(title=title, unique_id="screen")
    return re.sub(r">\s*<", ">\n<", svg).strip() + "\n"


class Snapshots:
    """Compares the screen with the stored pictures, or with `update` replaces them."""

    def __init__(self, *, update: bool, pictures: Path = PICTURES, failed: Path = FAILED) -> None:
        self._update = update
        self._pictures = pictures
        self._failed = failed

    def check(self, name: str, lines: Sequence[Strip], *, coloured: bool = True) -> None:
        """Fail with a text difference if the screen has changed; `coloured` compares the SVG, too."""
        pictures = {".txt": as_text(lines), **({".svg": as_svg(lines, name)} if coloured else {})}
        differences = [self._compare(name + suffix, picture) for suffix, picture in pictures.items()]
        found = next((difference for difference in differences if difference), "")
        assert not found, found

    def _compare(self, file: str, picture: str) -> str:
        """Return the difference between a picture and the stored picture, `""` if they are equal."""
        stored = self._pictures / file
        if self._update:
            stored.parent.mkdir(exist_ok=True)
            stored.write_text(picture, encoding="utf-8")
            return ""
        before = stored.read_text(encoding="utf-8") if stored.exists() else ""
        new = self._failed / file
        if picture == before:
            new.unlink(missing_ok=True)
            return ""
        new.parent.mkdir(exist_ok=True)
        new.write_text(picture, encoding="utf-8")
        lines = list(difflib.unified_diff(before.splitlines(), picture.splitlines(), "stored", "new", lineterm="", n=1))
        more = [f"... and {len(lines) - _MAX_LINES} lines more"] if len(lines) > _MAX_LINES else []
        return "\n".join([f"{file} has changed; the new picture is in {new}", *lines[:_MAX_LINES], *more])
