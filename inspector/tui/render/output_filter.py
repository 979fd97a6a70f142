"""The last filter before the terminal: whatever slipped through on the way, no control character leaves the app."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderableType, RenderHook, RenderResult
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

REPLACEMENT = "\ufffd"
"""What stands, one cell wide, for a character that has no picture of its own."""

_OTHERS = (
    *range(0x80, 0xA0),  # C1: a terminal reads U+009B like ESC [
    *(0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)),  # turn the writing round
    *(0x2028, 0x2029),  # some terminals break the line
    *range(0xD800, 0xE000),  # no encoding has them
)
_CLEAN: Mapping[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20)},  # U+2400 and on are pictures of C0
    0x7F: "\u2421",
    **dict.fromkeys(_OTHERS, REPLACEMENT),
}
_CLEAN_LINES = {code: picture for code, picture in _CLEAN.items() if code != 0x0A}

_SCROLLBAR = frozenset({"grab", "scroll_up", "scroll_down"})
"""The actions of Textual's own scrollbars, under `@mouse.down`."""


class OutputFilter(LineFilter):
    """Gives back the cells of a line as wide as they were, with pictures for controls and without dangerous links.

    It goes before all others: they change nothing but colours, and drop the mark by which control segments are known.
    `others` are applied by this one, because Textual makes a strip of every line for each filter.
    """

    def __init__(self, others: Sequence[LineFilter] = ()) -> None:
        super().__init__()
        self.others = others

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments, the same list if there is nothing to do."""
        if not all(_harmless(segment) for segment in segments):
            width = sum(segment.cell_length for segment in segments)
            segments = Segment.adjust_line_length(list(_cleaned(segments, _CLEAN)), width)
        for other in self.others:
            segments = other.apply(segments, background)
        return segments


class CleanOutput(RenderHook):
    """Cleans what a Rich console prints, line ends excepted: `console.push_render_hook(CleanOutput())`.

    For `App.error_console`, which prints tracebacks when the app has crashed and the filter is gone.
    """

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        """Return the renderables, each in a wrapper."""
        return [_Cleaned(renderable) for renderable in renderables]


class _Cleaned:
    """A renderable whose segments come out clean."""

    def __init__(self, renderable: RenderableType) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from _cleaned(list(console.render(self._renderable, options)), _CLEAN_LINES)


def _harmless(segment: Segment) -> bool:
    text, style, control = segment
    return control is None and text.isprintable() and (style is None or _harmless_style(style))


def _cleaned(segments: list[Segment], table: Mapping[int, str]) -> Iterator[Segment]:
    """Yield the segments with the characters of the table replaced, without the ones that are nothing but controls."""
    for text, style, control in segments:
        if control is None:
            clean = text if text.isprintable() else text.translate(table)
            yield Segment(clean, style if style is None or _harmless_style(style) else _clean_style(style))


def _harmless_style(style: Style) -> bool:
    # Nearly every cell has some meta (where a selection starts); reading it means unpickling, so look before reading.
    return style._link is None and (style._meta is None or b"@" not in style._meta)


@lru_cache(1024)
def _clean_style(style: Style) -> Style:
    """Return the style without handlers that nobody knows and without links that do not go to the web."""
    meta = {key: value for key, value in style.meta.items() if not key.startswith("@") or _is_known(key, value)}
    link = style.link if style.link is not None and _is_web(style.link) else None
    return style.clear_meta_and_links() + Style(meta=meta or None, link=link)


def _is_known(handler: str, action: object) -> bool:
    """Say whether a cell may do this: what a scrollbar does, or what Textual's Markdown does at a link to the web.

    Anything else came from markup, and so perhaps from an agent.
    """
    if not isinstance(action, str):
        return False
    if handler == "@click":
        address = action[len("link('") : -len("')")]
        return _is_web(address) and action == f"link({address!r})"
    return handler == "@mouse.down" and action in _SCROLLBAR


def _is_web(link: str) -> bool:
    return link.isascii() and link.isprintable() and link.lower().startswith(("http://", "https://"))
