"""The last filter before the terminal."""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.control import Control
from rich.segment import ControlType, Segment
from rich.style import Style
from rich.text import Text
from rich.traceback import Traceback
from textual.app import App, ComposeResult
from textual.color import Color
from textual.containers import VerticalScroll
from textual.content import Content
from textual.filter import LineFilter
from textual.widget import Widget
from textual.widgets import (
    Button,
    Checkbox,
    Collapsible,
    DataTable,
    Header,
    Label,
    Log,
    Markdown,
    OptionList,
    RichLog,
    Static,
    Tab,
    Tabs,
    TextArea,
    Tree,
)
from textual.widgets.option_list import Option

from inspector.tui.render.output_filter import CleanOutput, OutputFilter

BLACK = Color(0, 0, 0)
HOSTILE = "A\x1b[31mB\x9b2JC\x00D\x7fE\u202eF\ud800G"
DANGEROUS = [
    *map(chr, [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, 0xD800, 0xDC9B, 0xDFFF]),
    *"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
    *"\u00ad\u200b\u200c\u200d\u2060\u2063\ufeff\u034f\u115f\u1160\u17b4\u180b\u180e\u3164\uffa0\ufe00\U000e0041\U000e0100",
]


def filtered(*segments: Segment) -> list[Segment]:
    return OutputFilter().apply(list(segments), BLACK)


def text_of(segments: Sequence[Segment]) -> str:
    return "".join(segment.text for segment in segments)


def test_clean_segments_come_back_as_they_are():
    line = [Segment("Temperatur 1,1 °C → 世界 "), Segment("é", Style(bold=True)), Segment("x", Style(meta={"row": 1}))]
    assert OutputFilter().apply(line, BLACK) is line


@pytest.mark.parametrize("character", DANGEROUS, ids=ascii)
def test_a_dangerous_character_becomes_one_cell(character):
    clean = text_of(filtered(Segment(f"a{character}b      ")))
    assert clean[0] == "a"
    assert clean[2] == "b"
    assert unicodedata.category(clean[1]) == "So"
    assert cell_len(clean[1]) == 1


def test_an_emoji_of_several_characters_is_not_changed():
    family = "👩\u200d👩\u200d👧 👍🏽\u200d✔\ufe0f\u200d☂"
    assert text_of(filtered(Segment(f"\x07{family}   "))).strip() == f"␇{family}"
    assert text_of(filtered(Segment("a\u200db👩\u200d" + 9 * " "))).strip() == "a\ufffdb👩\ufffd"


def test_controls_have_pictures_of_their_own():
    assert text_of(filtered(Segment("\x1b]0;\x07\x00\n\t\x7f\x9b" + 7 * " "))) == "␛]0;␇␀␊␉␡\ufffd"


@pytest.mark.parametrize("text", ["👩‍👩‍👧 family", "e\u0301", "नमस्ते", "مرحبا", "a\u00a0b"])
def test_characters_that_only_need_a_sanitiser_stay(text):
    assert text_of(filtered(Segment(text))) == text


def test_a_line_stays_as_wide_as_it_was_so_that_its_neighbour_stays_in_its_place():
    line = filtered(Segment("ab\x1b[2J", Style(bold=True)), Segment(" 世界"), Segment("    "))
    assert text_of(line) == "ab␛[2J 世界   "
    assert sum(segment.cell_length for segment in line) == 14


def test_a_line_without_room_loses_its_end():
    assert text_of(filtered(Segment("\x1b[2Jab世"))) == "␛[2Jab "


def test_segments_that_are_nothing_but_controls_are_dropped():
    title = Control.title("evil").segment
    assert title.control is not None
    bell = Segment("\x07", None, [(ControlType.BELL,)])
    assert filtered(Segment("a"), title, bell, Segment("b")) == [Segment("a"), Segment("b")]


@given(st.lists(st.text(st.characters(codec=None), max_size=12), max_size=4))
def test_whatever_the_text_nothing_dangerous_is_left_and_the_width_is_kept(texts):
    before = [Segment(text) for text in texts]
    after = filtered(*before)
    assert not set(text_of(after)) & set(DANGEROUS)
    assert not {unicodedata.category(character) for character in text_of(after)} & {"Cc", "Cs", "Zl", "Zp"}
    assert sum(segment.cell_length for segment in after) == sum(segment.cell_length for segment in before)
    assert filtered(*after) == after


@pytest.mark.parametrize("link", ["https://example.org/a?b#c", "HTTP://example.org", "http://127.0.0.1:8080/"])
def test_a_link_to_the_web_is_kept(link):
    (segment,) = filtered(Segment("x", Style(link=link, bold=True)))
    assert segment.style is not None
    assert (segment.style.link, segment.style.bold) == (link, True)


@pytest.mark.parametrize(
    "link",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "vscode://open",
        "//example.org",
        " https://example.org",
        "https://example.org\x1b\\\x1b]52;c;aGk=\x07",
        "https://example.org\x9c",
        "https://еxample.org",
        "https:example.org",
    ],
    ids=ascii,
)
def test_any_other_link_is_taken_off_and_the_text_stays(link):
    (segment,) = filtered(Segment("x", Style(link=link, italic=True, color="red", meta={"row": 3})))
    assert segment.text == "x"
    assert segment.style == Style(italic=True, color="red", meta={"row": 3})
    assert segment.style is not None
    assert segment.style.link is None


@pytest.mark.parametrize(
    "meta",
    [
        {"@click": "app.quit"},
        {"@click": ("app.quit", ())},
        {"@click": "link('file:///etc/passwd')"},
        {"@click": "link('javascript:alert(1)')"},
        {"@click": "link('https://a'), app.quit()"},
        {"@click": "app.link('https://example.org')"},
        {"@click": 7},
        {"@mouse.down": "app.quit"},
        {"@mouse.down": "link('https://example.org')"},
        {"@click.shift": "app.quit"},
        {"@": "app.quit"},
    ],
    ids=str,
)
def test_a_handler_that_nobody_knows_is_taken_off_and_other_meta_stays(meta):
    (segment,) = filtered(Segment("x", Style(meta={**meta, "row": 3})))
    assert segment.style is not None
    assert segment.style.meta == {"row": 3}


@pytest.mark.parametrize(
    "meta",
    [
        {"@mouse.down": "grab"},
        {"@mouse.down": "scroll_up"},
        {"@mouse.down": "scroll_down"},
        {"@click": "link('https://example.org')"},
    ],
    ids=str,
)
def test_what_textual_itself_puts_into_cells_stays(meta):
    (segment,) = filtered(Segment("x", Style(meta=meta)))
    assert segment.style is not None
    assert segment.style.meta == meta


class Stage(App[None]):
    """One widget on a screen, with the filter or without."""

    def __init__(self, make: Callable[[], Widget], *, clean: bool) -> None:
        super().__init__()
        self._make = make
        self._clean = [OutputFilter()] if clean else []

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*self._clean, *super().get_line_filters()]

    def compose(self) -> ComposeResult:
        yield self._make()

    def drawn(self) -> str:
        """Return the text of every cell of every widget."""
        widgets = [widget for widget in self.screen.walk_children() if widget.size]
        lines = [line for widget in widgets for line in widget.render_lines(widget.outer_size.region)]
        assert all(line.cell_length == sum(cell_len(segment.text) for segment in line) for line in lines)
        return "".join(line.text for line in lines)


def with_border() -> Widget:
    widget = Static("x")
    widget.styles.border = ("solid", "red")
    widget.border_title = Content(HOSTILE)  # type: ignore[assignment]
    return widget


def table() -> Widget:
    widget: DataTable[Text] = DataTable()
    widget.add_column(Text(HOSTILE))
    widget.add_row(Text(HOSTILE))
    return widget


def tree() -> Widget:
    widget: Tree[None] = Tree(Text(HOSTILE))
    widget.root.add_leaf(Text(HOSTILE))
    widget.root.expand()
    return widget


class HostileLog(Log):
    def on_mount(self) -> None:
        self.write_line(HOSTILE)


class HostileRichLog(RichLog):
    def on_mount(self) -> None:
        self.write(Text(HOSTILE))


class HostileTitle(Header):
    def format_title(self) -> Content:
        return Content(HOSTILE)


WIDGETS: dict[str, Callable[[], Widget]] = {
    "Content": lambda: Static(Content(HOSTILE)),
    "Rich text": lambda: Static(Text(HOSTILE)),
    "plain string": lambda: Static(HOSTILE, markup=False),
    "border title": with_border,
    "Label": lambda: Label(Content(HOSTILE)),
    "Button": lambda: Button(Content(HOSTILE)),
    "Checkbox": lambda: Checkbox(Content(HOSTILE)),
    "Collapsible": lambda: Collapsible(Static(Content(HOSTILE)), collapsed=False),
    "Tabs": lambda: Tabs(Tab(Content(HOSTILE))),
    "OptionList": lambda: OptionList(Option(Content(HOSTILE))),
    "DataTable": table,
    "Tree": tree,
    "TextArea": lambda: TextArea(HOSTILE),
    "Markdown": lambda: Markdown(HOSTILE.replace("\ud800", "")),
    "Log": HostileLog,
    "RichLog": HostileRichLog,
    "Header": HostileTitle,
}


@pytest.mark.parametrize("make", WIDGETS.values(), ids=WIDGETS)
async def test_textual_lets_controls_through_in_this_widget_and_the_filter_does_not(make):
    seen = {}
    for clean in (False, True):
        app = Stage(make, clean=clean)
        async with app.run_test(size=(60, 12)) as pilot:
            await pilot.pause()
            seen[clean] = app.drawn()
    assert "\x1b[31m" in seen[False]
    assert not set(seen[True]) & set(DANGEROUS)
    assert "␛[31m" in seen[True]


def test_textual_itself_takes_away_five_controls_and_no_more():
    every = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))
    assert set(every) - set(Content(every).plain) == set("\x07\x08\x0b\x0c\r")
    assert set(every) - set(Text(every).plain) == set("\x07\x08\x0b\x0c\r")


class Bait(Static):
    """Agent text that was mistaken for markup."""

    def on_mount(self) -> None:
        self.update("[@click=app.exit('caught')]click me[/]")


@pytest.mark.parametrize(("clean", "result"), [(False, "caught"), (True, None)])
async def test_an_action_in_markup_runs_only_without_the_filter(clean, result):
    class Trap(Stage):
        def action_exit(self, result: str) -> None:
            self.exit(result)  # type: ignore[arg-type]

    app = Trap(Bait, clean=clean)
    async with app.run_test() as pilot:
        await pilot.click(Bait, offset=(2, 0))
        await pilot.pause()
    assert app.return_value == result


async def test_markdown_reports_links_to_the_web_only():
    clicked = []

    class Page(Stage):
        def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
            clicked.append(event.href)

    text = "[web](https://example.org/a)\n\n[passwd](file:///etc/passwd)\n\n[script](javascript:x)"
    app = Page(lambda: Markdown(text, open_links=False), clean=True)
    async with app.run_test() as pilot:
        for block in app.query("MarkdownParagraph"):
            await pilot.click(block, offset=(1, 0))
        await pilot.pause()
    assert clicked == ["https://example.org/a"]


async def test_scrollbars_still_work():
    def page() -> Widget:
        return VerticalScroll(Static("\n" * 200))

    app = Stage(page, clean=True)
    async with app.run_test(size=(40, 10)) as pilot:
        scroll = app.query_one(VerticalScroll)
        await pilot.click(offset=(39, 9))
        await pilot.pause()
        await pilot.wait_for_scheduled_animations()
        assert scroll.scroll_y > 0


@pytest.mark.parametrize("clean", [False, True])
def test_a_traceback_that_quotes_an_agent_is_printed_clean(clean):
    console = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=100)
    if clean:
        console.push_render_hook(CleanOutput())
    try:
        raise RuntimeError("agent said \x1b]52;c;aGk=\x1b\\ and \x9b2J")
    except RuntimeError:
        console.print(Traceback(show_locals=True))
    output = console.file.getvalue()  # type: ignore[attr-defined]
    uncoloured = re.sub(r"\x1b\[[\d;]*m", "", output)
    assert uncoloured != output, "its own colours stay"
    assert output.count("\n") > 5
    said = "agent said ␛]52;c;aGk=␛\\ and \ufffd2J" if clean else "agent said \x1b]52;c;aGk=\x1b\\ and \x9b2J"
    assert f"RuntimeError: {said}\n" in uncoloured
