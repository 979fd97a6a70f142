"""The last filter before the terminal: no control character and no dangerous link leaves the app."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderableType, RenderHook, RenderResult
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

REPLACEMENT = "\ufffd"
"""The replacement, one cell wide, for a dangerous character that has no control picture in Unicode."""

_OTHERS = (
    *range(0x80, 0xA0),  # C1: a terminal reads U+009B like ESC [
    *(0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)),  # change the direction of text
    *(0x2028, 0x2029),  # some terminals break the line
    *range(0xD800, 0xE000),  # surrogates, which cannot be encoded
)
_CLEAN: Mapping[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20)},  # U+2400 to U+241F are the pictures of C0
    0x7F: "\u2421",
    **dict.fromkeys(_OTHERS, REPLACEMENT),
}
_CLEAN_LINES = {code: picture for code, picture in _CLEAN.items() if code != 0x0A}

_SCROLLBAR = frozenset({"grab", "scroll_up", "scroll_down"})
"""The actions of Textual's own scrollbars, under `@mouse.down`."""


class OutputFilter(LineFilter):
    """Replaces control characters and removes dangerous links in a line, keeping its width.

    It runs before other filters, because they remove the flag of control segments. It applies the `others` itself,
    because Textual would build a new strip of every line for each filter.
    """

    def __init__(self, others: Sequence[LineFilter] = ()) -> None:
        super().__init__()
        self.others = others

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the filtered segments, the same list if nothing changes."""
        if not all(_harmless(segment) for segment in segments):
            width = sum(segment.cell_length for segment in segments)
            segments = Segment.adjust_line_length(list(_cleaned(segments, _CLEAN)), width)
        for other in self.others:
            segments = other.apply(segments, background)
        return segments


class CleanOutput(RenderHook):
    """Sanitises what a Rich console prints: tracebacks of a crashed app are printed without the `OutputFilter`."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Wrap each renderable."""
        return [_Cleaned(renderable) for renderable in renderables]


class _Cleaned:
    """A renderable whose segments are sanitised."""

    def __init__(self, renderable: RenderableType) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from _cleaned(list(console.render(self._renderable, options)), _CLEAN_LINES)


def _harmless(segment: Segment) -> bool:
    text, style, control = segment
    return control is None and text.isprintable() and (style is None or _harmless_style(style))


def _cleaned(segments: list[Segment], table: Mapping[int, str]) -> Iterator[Segment]:
    """Yield the segments with the characters of the table replaced, without control segments."""
    for text, style, control in segments:
        if control is None:
            clean = text if text.isprintable() else text.translate(table)
            yield Segment(clean, style if style is None or _harmless_style(style) else _clean_style(style))


def _harmless_style(style: Style) -> bool:
    # Nearly every cell has meta data (for selections); the bytes are checked first, because reading it is slow.
    return style._link is None and (style._meta is None or b"@" not in style._meta)


@lru_cache(1024)
def _clean_style(style: Style) -> Style:
    """Return the style without unknown handlers and without links to anything but the web."""
    meta = {key: value for key, value in style.meta.items() if not key.startswith("@") or _is_known(key, value)}
    link = style.link if style.link is not None and _is_web(style.link) else None
    return style.clear_meta_and_links() + Style(meta=meta or None, link=link)


def _is_known(handler: str, action: object) -> bool:
    """Return whether an action is that of a scrollbar or of a web link in Textual's Markdown.

    Any other action is from markup, which may be from an agent.
    """
    if not isinstance(action, str):
        return False
    if handler == "@click":
        address = action[len("link('") : -len("')")]
        return _is_web(address) and action == f"link({address!r})"
    return handler == "@mouse.down" and action in _SCROLLBAR


def _is_web(link: str) -> bool:
    return link.isascii() and link.isprintable() and link.lower().startswith(("http://", "https://"))
