"""The last filter before the terminal: no control or invisible character and no dangerous link leaves the app."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderableType, RenderHook, RenderResult
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

REPLACEMENT = "\ufffd"
"""The replacement, one cell wide, for a dangerous character that has no control picture in Unicode."""

_JOINER = "\u200d"
_UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\uffa0\ufe00-\ufe0d\U000e0100-\U000e01ef"
"""Invisible characters that are printable for Python. Selectors of an emoji's look (U+FE0E, U+FE0F) are allowed."""
_FIND_UNSEEN = re.compile(f"[{_UNSEEN}]")
_CATEGORIES = frozenset({"Cf", "Cs", "Zl", "Zp"})
"""Characters that change the direction of text, are invisible, break lines, or cannot be encoded."""


class _Table(dict[int, str]):
    """What replaces each character, found on first use."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        # Terminals read C1 (U+0080 to U+009F) like ESC and a letter.
        is_bad = 0x80 <= code < 0xA0 or unicodedata.category(character) in _CATEGORIES or _FIND_UNSEEN.match(character)
        self[code] = REPLACEMENT if is_bad else character
        return self[code]


_C0 = {**{code: chr(0x2400 + code) for code in range(0x20)}, 0x7F: "\u2421"}
"""The pictures of control characters."""
_CLEAN = _Table(_C0)
_CLEAN_LINES = _Table(_C0 | {0x0A: "\n"})

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
        if not _harmless(segments):
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


def _harmless(segments: Iterable[Segment]) -> bool:
    """Return whether a line can be drawn as it is; its whole text is searched at once, because every line is."""
    texts: list[str] = []
    for text, style, control in segments:
        if control is not None or not (style is None or _harmless_style(style)):
            return False
        texts.append(text)
    return _is_visible("".join(texts))


def _is_visible(text: str) -> bool:
    return text.isprintable() and (text.isascii() or _FIND_UNSEEN.search(text) is None)


def _made_visible(text: str, table: Mapping[int, str]) -> str:
    """Replace the characters of the table; a joiner stays if it joins two pictographs to an emoji."""
    if _JOINER not in text:
        return text.translate(table)
    first, *others = text.split(_JOINER)
    pieces = [first.translate(table)]
    for before, after in zip((first, *others), others, strict=False):
        pieces.append(_JOINER if _is_pictograph(before[-1:]) and _is_pictograph(after[:1]) else REPLACEMENT)
        pieces.append(after.translate(table))
    return "".join(pieces)


def _is_pictograph(character: str) -> bool:
    """Return whether a character may be part of an emoji: a picture, a skin tone or a selector of its look."""
    return character == "\ufe0f" or (character != "" and unicodedata.category(character) in {"So", "Sk"})


def _cleaned(segments: list[Segment], table: Mapping[int, str]) -> Iterator[Segment]:
    """Yield the segments with the characters of the table replaced, without control segments."""
    for text, style, control in segments:
        if control is None:
            clean = text if _is_visible(text) else _made_visible(text, table)
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
