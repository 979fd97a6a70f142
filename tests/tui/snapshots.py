"""Pictures of the screen that come out the same every time, as text and as SVG, and how they are compared.

`pytest tests/tui --update-snapshots` takes over what is shown now. A picture that differs is left in `failed/`, beside
the folder `pictures/` with those that are right.
"""

from __future__ import annotations

import difflib
import io
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment, Segments
from rich.style import Style
from textual.app import App
from textual.strip import Strip

PICTURES = Path(__file__).parent / "pictures"
FAILED = Path(__file__).parent / "failed"

_MOST_LINES = 60
"""How many lines of a difference are shown."""


class Normaliser:
    """Replaces what varies from run to run by something as wide; the same id is the same again within one screen."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def line(self, text: str) -> str:
        """Return one line of the screen without what varies."""
        for pattern, replace in _VARYING:
            text = pattern.sub(lambda match, replace=replace: replace(match[0]), text)  # type: ignore[misc]
        return _ID.sub(lambda match: self._numbered(match[0]), text)

    def _numbered(self, found: str) -> str:
        """Return the id that an id has in pictures: all digits are its number in the order of appearance."""
        number = self._ids.setdefault(found[:8], len(self._ids) + 1)
        return re.sub(r"[0-9a-f]", f"{number % 16:x}", found)


def _shaped_like(pattern: str) -> Callable[[str], str]:
    """Return what gives as much of a pattern as there is of the text."""
    return lambda text: pattern[: len(text)]


def _right(value: str) -> Callable[[str], str]:
    """Return what puts a value at the right end of the cells that the text takes with the spaces before it."""
    return lambda text: value.rjust(len(text))


_VARYING: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
    (re.compile(r"\b20\d\d-\d\d-\d\dT[\d:.]*Z?"), _shaped_like("2026-11-20T13:35:50.637Z")),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), _shaped_like("13:35:50")),
    (re.compile(r"(?<=127\.0\.0\.1:)\d{1,5}"), _shaped_like("41241")),
    (re.compile(r"\+\d{1,2}\.\d{3}\b"), lambda text: " " * len(text)),  # a short gap is not shown at all
    (re.compile(r" *\b\d{1,2}\.\d{3}\b(?!\.)"), _right("0.000")),
    (re.compile(r" *\b\d{1,2} s\b"), _right("0 s")),
    (re.compile(r"(?<= events   )[·▁-█][^│]*"), lambda text: "how it flowed".ljust(len(text))[: len(text)]),
    (re.compile(r" *[+-]\d{1,5}ms\b"), _right("+0ms")),
    (re.compile(r"(?<=\s)[\d.]{1,4}…(?=\s*$)"), _right("…")),  # a number that is cut
    # The end of an id whose beginning is under what is on top.
    (re.compile(r"(?<=  )[0-9a-f]{0,7}(?:-[0-9a-f]{4}){2,3}-[0-9a-f]+"), lambda text: re.sub(r"[0-9a-f]", "0", text)),
    (re.compile(r"(?<=/push/)[\w-]{1,32}"), _shaped_like("x" * 32)),
)
_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{0,12}){0,4}(?!\w)")


def screen_lines(app: App[object]) -> list[Strip]:
    """Return what is on the screen, every screen of the stack included, normalised."""
    compositor = app.screen._compositor
    compositor.render_update(full=True, screen_stack=app._background_screens)  # says which screens lie below
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
    """Return the lines as a text, without the spaces at their ends."""
    return "".join(f"{line.text.rstrip()}\n" for line in lines)


def as_svg(lines: Sequence[Strip], title: str) -> str:
    """Return the lines as a picture, an element a line."""
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
    """Compares the screen with the pictures that are kept, or takes it over as the new ones."""

    def __init__(self, *, update: bool, pictures: Path = PICTURES, failed: Path = FAILED) -> None:
        self._update = update
        self._pictures = pictures
        self._failed = failed

    def check(self, name: str, lines: Sequence[Strip], *, coloured: bool = True) -> None:
        """Fail with a difference in text unless a screen looks as it did; `coloured` compares the colours too."""
        faces = {".txt": as_text(lines), **({".svg": as_svg(lines, name)} if coloured else {})}
        differences = [self._compare(name + suffix, face) for suffix, face in faces.items()]
        found = next((difference for difference in differences if difference), "")
        assert not found, found

    def _compare(self, file: str, face: str) -> str:
        """Return how a face differs from the one that is kept, `""` if it does not."""
        kept = self._pictures / file
        if self._update:
            kept.parent.mkdir(exist_ok=True)
            kept.write_text(face, encoding="utf-8")
            return ""
        before = kept.read_text(encoding="utf-8") if kept.exists() else ""
        new = self._failed / file
        if face == before:
            new.unlink(missing_ok=True)
            return ""
        new.parent.mkdir(exist_ok=True)
        new.write_text(face, encoding="utf-8")
        lines = list(
            difflib.unified_diff(before.splitlines(), face.splitlines(), "kept", "shown now", lineterm="", n=1)
        )
        more = [f"... and {len(lines) - _MOST_LINES} lines more"] if len(lines) > _MOST_LINES else []
        return "\n".join([f"{file} is not as it was; what is shown now is in {new}", *lines[:_MOST_LINES], *more])
