"""A view of many lines: it draws the visible lines, and follows the end until the user scrolls up."""

from __future__ import annotations

import re
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.cache import LRUCache
from textual.css.styles import RenderStyles
from textual.dom import DOMNode
from textual.geometry import Region, Size
from textual.reactive import Reactive, reactive, var
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from inspector.text.sanitise import clean
from inspector.tui.keys import bind
from inspector.tui.render.text_lines import LineSource, WrappedText

_CACHED = 1024
"""The number of drawn lines that are cached, enough for several screens."""

_LONGEST = 4096
"""The most characters of a piece of a line that are drawn."""

_COPIED = 100_000
"""The most lines of a selection that are copied."""


def _parts(css: str) -> frozenset[str]:
    return frozenset(re.findall(r"\.(\w+--[\w-]+)", css))


class LineView(ScrollView, can_focus=True):
    """Draws the visible lines of a source.

    With `follow`, the view stays at the end while the source grows. It stops following when the user moves up, and
    starts again at the end; meanwhile `unseen` counts the lines that were added below.

    A subclass declares the styles of its lines in `DEFAULT_CSS` only: every class `name--part` in it is one of its
    parts. Parts are component classes whose styles are computed when a line is drawn in them. Textual would compute the
    styles of all of them, up to 25 in a view, for every change of a style.
    """

    ALLOW_SELECT = True

    DEFAULT_CSS = """
    LineView {
        background: $background;
        color: $foreground;
        overflow-x: auto;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
        & > .line--text { color: $foreground; }
        & > .line--soft { color: $text-soft; }
        & > .line--quiet { color: $wire-quiet; }
        & > .line--note { color: $text-soft; text-style: italic; }
        & > .line--empty { color: $text-soft; }
    }
    """

    PARTS: ClassVar[frozenset[str]] = _parts(DEFAULT_CSS)

    BINDINGS: ClassVar[list[BindingType]] = [
        bind("up", "line_step(-1)", "Up", show=False),
        bind("down", "line_step(1)", "Down", show=False),
        bind("page-up", "page_step(-1)", "Page up", show=False),
        bind("page-down", "page_step(1)", "Page down", show=False),
        bind("first", "first", "First", show=False),
        bind("last", "last", "Last", show=False),
        bind("left", "aside(-8)", "", "Scroll to the left", show=False),
        bind("scroll-left", "aside(-8)", show=False),
        bind("right", "aside(8)", "", "Scroll to the right", show=False),
        bind("scroll-right", "aside(8)", show=False),
    ]

    virtual_size = Reactive(Size(0, 0))
    """The size of the content. Unlike in other widgets, a change of it does not cause a layout of the whole screen."""

    following: var[bool] = var(False, init=False)
    """Whether the view stays at the end while the source grows."""

    unseen: var[int] = var(0, init=False)
    """How many lines were added below since the view stopped following."""

    empty: reactive[str] = reactive("")
    """The sentence that is shown while there are no lines."""

    def __init_subclass__(cls, **options: bool) -> None:
        cls.PARTS |= _parts(cls.__dict__.get("DEFAULT_CSS", ""))
        super().__init_subclass__(**options)

    def __init__(
        self,
        source: LineSource | None = None,
        *,
        follow: bool = False,
        empty: str = "",
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.source: LineSource = WrappedText(style="line--text") if source is None else source
        self._follow = follow
        self._seen = 0
        self._laid_out = 0
        self._place: tuple[int, int] | None = None
        self._sentence: WrappedText | None = None
        self._top: int | None = None
        self._strips: LRUCache[int, Strip] = LRUCache(_CACHED)
        self.set_reactive(LineView.following, follow)
        self.set_reactive(LineView.empty, empty)

    @property
    def line_count(self) -> int:
        """How many lines there are."""
        return len(self.source)

    def show(self, source: LineSource) -> None:
        """Draw another source: its beginning or, with `follow`, its end."""
        self.source = source
        self._laid_out = 0
        self._top = None
        if self.is_attached:
            self.scroll_to(0, 0, animate=False, force=True)
        self._seen = 0
        self.following = self._follow
        self.refresh_source()

    def refresh_source(self) -> None:
        """Draw the visible lines again, because the source grew or changed."""
        self._strips.clear()
        if not self.is_attached:
            return
        self._fit()
        self._resize_content()
        if self.following:
            self._to_end()
        self._settle()
        self.refresh()

    # The position

    @property
    def top(self) -> int:
        """The line at the top of the view; while following, that of the last page, even if not scrolled there yet."""
        return self.max_scroll_y if self.following else self.scroll_offset.y

    @property
    def _body_width(self) -> int:
        """The width of a line; one cell stays free, so that no text touches the scrollbar."""
        return max(0, self.scrollable_size.width - 1)

    def _fit(self) -> None:
        """Lay the source out for the width of the view, and store the new number of the line at the top."""
        width = self._body_width
        if width > 0 and width != self._laid_out:
            self._laid_out = width
            self._strips.clear()
            self._top = self.source.layout(width, self.scroll_offset.y)

    @property
    def _content_height(self) -> int:
        """How many lines of the screen the content needs."""
        return self.line_count

    def _resize_content(self) -> None:
        size = Size(self.virtual_size.width, self._content_height)
        if size != self.virtual_size:
            self.virtual_size = size

    def _holds_tail(self) -> bool:
        """Return whether a view that is at the end stays at the end when lines are added."""
        return True

    def _to_end(self) -> None:
        self.scroll_to(y=self.max_scroll_y, animate=False, force=True)

    def _settle(self) -> None:
        """Determine whether the view follows the end, and how many lines have not been seen."""
        at_end = self.scroll_y >= self.max_scroll_y
        followed, self.following = self.following, self._follow and at_end and self._holds_tail()
        if followed and not self.following:
            self._seen = self.line_count  # lines that the source already has, even if not drawn yet, are not new
        bottom = self.virtual_size.height if at_end else self.scroll_offset.y + self.size.height
        self._seen = min(max(self._seen, bottom), self.line_count)
        self.unseen = self.line_count - self._seen if self._follow else 0

    def watch_virtual_size(self, size: Size) -> None:
        """Update the scrollbars; a layout is needed only if the size of the view depends on its content."""
        styles = self.styles
        if styles.overflow_x == "auto":
            self.show_horizontal_scrollbar = size.width > self.scrollable_size.width
        if styles.overflow_y == "auto":
            self.show_vertical_scrollbar = size.height > self.size.height
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.window_virtual_size = size.height
        if styles.auto_dimensions:
            self.refresh(layout=True)

    def watch_empty(self) -> None:
        """Discard the wrapped sentence."""
        self._sentence = None

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Stop following the end, or follow it again."""
        super().watch_scroll_y(old_value, new_value)
        self._settle()

    def on_mount(self) -> None:
        """Set the size of the content before the first layout."""
        self._resize_content()

    def on_show(self) -> None:
        """Apply what changed while the view was hidden and had no size."""
        self.on_resize()

    def on_resize(self) -> None:
        """Fit the lines to the new width, and keep the line at the top or, while following, stay at the end."""
        following = self.following
        unseen = self.unseen
        self._fit()
        self._resize_content()
        # The lines may be wrapped differently, so the number of unseen lines is an estimate.
        self._seen = max(0, self.line_count - unseen)
        if following:
            self._to_end()
        elif self._top is not None:
            self.scroll_to(y=self._top, animate=False, force=True)
        self._top = None
        self._settle()
        self.refresh()

    def notify_style_update(self) -> None:
        """Discard lines that were drawn in other colours, and draw again if the style of a part has changed."""
        super().notify_style_update()
        self._strips.clear()
        before = self._component_styles.copy()
        self._component_styles.clear()
        if any(self._styles_of(part) != style for part, style in before.items()):
            self.refresh()

    def get_component_styles(self, *names: str) -> RenderStyles:
        """Return the combined style of parts. Raises `KeyError` if the style sheet of the class does not name one."""
        for part in self.PARTS.intersection(names):
            self._styles_of(part)
        return super().get_component_styles(*names)

    def _styles_of(self, part: str) -> RenderStyles:
        styles = self._component_styles.get(part)
        if styles is None:
            node = DOMNode(classes=part)
            node._attach(self)
            self.app.stylesheet.apply(node, animate=False)
            styles = self._component_styles[part] = node.styles
        return styles

    # Keys

    def action_line_step(self, lines: int) -> None:
        """Move down by some lines, up if they are negative."""
        self._move_to(self.scroll_offset.y + lines)

    def action_page_step(self, pages: int) -> None:
        """Move down by some pages, up if they are negative."""
        self.action_line_step(pages * max(1, self.size.height - 1))

    def action_first(self) -> None:
        """Move to the first line."""
        self._move_to(0)

    def _move_to(self, line: int) -> None:
        self._top = None  # a resize event that has not arrived yet must not move the view back
        self.scroll_to(y=line, animate=False)

    def action_last(self) -> None:
        """Move to the last line and follow the end."""
        self._to_end()
        self._settle()

    def action_aside(self, cells: int) -> None:
        """Move sideways."""
        self.scroll_to(x=self.scroll_offset.x + cells, animate=False)

    # Drawing

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw lines of the screen. Their position is computed once, because that is as slow as drawing a line."""
        self._place = self._placed()
        strips = super().render_lines(crop)
        self._place = None
        return strips

    def _placed(self) -> tuple[int, int]:
        """Return the line at the top of the view and the width of a line."""
        # A frame may be drawn before the view receives its resize event.
        self._fit()
        return self.top, self._body_width

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        top, width = self._place or self._placed()
        index = top + y
        if self.line_count == 0:
            return self._draw_empty(y)
        if index >= self._content_height or width <= 0:
            return Strip.blank(self.size.width, self.visual_style.rich_style)
        return self._draw(index)

    def _draw(self, index: int) -> Strip:
        style = self.visual_style.rich_style
        return Strip(self._segments(index, style, self.size.width), self.size.width)

    def _segments(self, index: int, style: Style, total: int) -> list[Segment]:
        """Draw the visible part of one line, padded in `style` to `total` cells."""
        strip = self._strip(index)
        left, width = self.scroll_offset.x, self._laid_out
        letters = 0
        selection = self.text_selection if self.ALLOW_SELECT else None
        if selection is not None and (span := selection.get_span(index)) is not None:
            strip = self._select(strip, *span)
        if left:
            letters = len(strip.crop(0, left).text)
            strip = strip.crop(left)
        segments = list(strip)
        cells = strip.cell_length
        if cells > width:
            segments = [*strip.crop(0, width - 1), Segment("…", self.style_of("line--quiet"))]
            cells = width
        segments.append(Segment(" " * max(1, total - cells), style))
        segments = list(Segment.apply_style(segments, style))
        if self.ALLOW_SELECT:
            segments = list(Strip(segments).apply_offsets(letters, index))
        return segments

    def _strip(self, index: int) -> Strip:
        """Return one whole line in the styles of its pieces."""
        strip = self._strips.get(index)
        if strip is None:
            segments = [
                Segment(clean(text, limit=_LONGEST), self.style_of(style)) for text, style in self.source.line(index)
            ]
            strip = Strip([segment for segment in segments if segment.text])
            self._strips[index] = strip
            if strip.cell_length > max(self.virtual_size.width, self._laid_out):
                self.call_next(self._widen, strip.cell_length)
        return strip

    def _widen(self, cells: int) -> None:
        """Allow scrolling to the end of the widest line that was drawn."""
        width = cells + self.scrollable_size.width - self._body_width
        if width > self.virtual_size.width:
            self.virtual_size = Size(width, self.virtual_size.height)

    def style_of(self, component: str) -> Style:
        """Return the style of a component class, with a background only if the class itself defines a background."""
        return self.get_component_rich_style(component, partial=True)

    def _select(self, strip: Strip, start: int, end: int) -> Strip:
        """Style the characters from `start` to `end` (-1: the end of the line) as selected."""
        text = strip.text
        left = cell_len(text[:start])
        right = strip.cell_length if end < 0 else cell_len(text[:end])
        if left >= right:
            return strip
        selected = Strip(
            Segment.apply_style(
                strip.crop(left, right), post_style=self.screen.get_component_rich_style("screen--selection")
            )
        )
        return Strip.join([strip.crop(0, left), selected, strip.crop(right)])

    def _draw_empty(self, y: int) -> Strip:
        """Draw one screen line of an empty view, which shows the sentence in its middle."""
        width, height = self.size
        text = self._sentence
        if text is None:
            text = self._sentence = WrappedText(self.empty, style="line--empty")
        text.layout(min(width - 4, 100), 0)
        row = y - max(0, (height - len(text)) // 2)
        if not 0 <= row < len(text):
            return Strip.blank(width, self.visual_style.rich_style)
        segments = [Segment(piece, self.style_of(style)) for piece, style in text.line(row) if piece]
        strips = Strip.align([Strip(segments)], self.visual_style.rich_style, width, 1, "center", "top")
        return next(iter(strips)).crop_extend(0, width, None).apply_style(self.visual_style.rich_style)

    # Selecting with the mouse

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002 - read when lines are drawn
        """Draw the selection."""
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text, and the separator between it and the text of the next widget."""
        start = 0 if selection.start is None else selection.start.y
        stop = self.line_count if selection.end is None else min(selection.end.y + 1, self.line_count)
        parts: list[str] = []
        for index in range(start, min(stop, start + _COPIED)):
            span = selection.get_span(index)
            if span is not None:
                parts.append(self._text(index)[span[0] : span[1] if span[1] >= 0 else None])
        if stop > start + _COPIED:
            parts.append(f"… {stop - start - _COPIED:,} more lines are not copied")
        return "".join(parts).removesuffix("\n"), "\n"

    def _text(self, index: int) -> str:
        """Return one line as copied text, with its line break."""
        return self._strip(index).text + "\n"
