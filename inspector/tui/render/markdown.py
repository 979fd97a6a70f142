"""Markdown as lines, of limited length, without links to follow or images to fetch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from inspector.tui.render.markdown_table import Cell, table_lines
from inspector.tui.render.text_lines import DEFAULT_WIDTH, LONGEST, Line, Piece, wrap_pieces

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MOST = 40_000
"""The most characters of a growing text that are shown as Markdown."""
_DEEPEST = 12
"""The most marks of quotes and lists at the beginning of a line; deeper nesting is shown as plain text."""

_MARKUP = re.compile(r"[`*_\[\]<>&\\~|\x00-\x1f]|^[\s#+=\-\d]|\s$")
"""Text without a match is the same with and without Markdown."""

_TABLE_HEAD = re.compile(r"[^\n|]*+\|[^\n]*+\n[ :|-]++\n")
"""The headings of a table, with the line below them."""

_TEXT, _STRONG, _EMPHASIS, _CODE, _LINK, _MUTED = (
    f"card--{name}" for name in ("text", "strong", "emphasis", "code", "link", "muted")
)


def markdown_lines(text: str, width: int, *, keep_breaks: bool = True) -> list[Line]:
    """Lay out Markdown for a width, with links and images as their addresses, and HTML as text.

    With `keep_breaks`, each line of a paragraph begins a new line, as the authors of cards expect. More than `LONGEST`
    characters are cut and shown as plain text.
    """
    if len(text) > LONGEST or any(_depth(line) > _DEEPEST for line in text.splitlines()):
        more = f" … {len(text) - LONGEST:,} more characters" if len(text) > LONGEST else ""
        return wrap_pieces([(text[:LONGEST], _TEXT), (more, _MUTED)], width)
    if text and not _MARKUP.search(text):
        return wrap_pieces([(text, _TEXT)], width)
    return _Layout(width, keep_breaks=keep_breaks).lines(_parser().parse(text))


def in_one_line(text: str, width: int) -> str:
    """Return the beginning of Markdown as plain text, cut a little beyond the width."""
    lines = markdown_lines(text[: 4 * width], 2 * width)
    return " ".join("".join(piece for piece, _ in line).strip() for line in lines)


class GrowingMarkdown:
    """Growing Markdown as lines: a complete block is laid out once, the last block whenever text is appended.

    A block ends at an empty line or is fenced code; a block of more than `LONGEST` characters is cut between lines.
    Characters beyond `limit` are only counted, and a last line shows the count.
    """

    def __init__(self, text: str = "", *, limit: int = MOST) -> None:
        self._limit = limit
        self._width = DEFAULT_WIDTH
        self._taken = self._missing = 0
        self._ended: list[str] = []
        self._lines: list[Line] = []
        self._block = self._partial = self._fence = ""
        self._waits = False
        self._open: list[Line] = []
        self.append(text)

    def append(self, text: str) -> None:
        """Add text at the end."""
        kept = text[: self._limit - self._taken]
        self._taken += len(kept)
        self._missing += len(text) - len(kept)
        lines = (self._partial + kept).split("\n")
        self._partial = lines.pop()
        for line in lines:
            self._take(f"{line}\n")
        while len(self._partial) > LONGEST:
            self._take(self._partial[:LONGEST])
            self._partial = self._partial[LONGEST:]
        self._show_open()

    def layout(self, width: int, keep: int) -> int:
        """Lay everything out for a width; `keep` stays as near as the new number of lines allows."""
        if width != self._width:
            before, self._width, self._lines = max(1, len(self)), width, []
            for block in self._ended:
                self._lines += self._laid_out(block)
            self._show_open()
            keep = keep * len(self) // before
        return min(keep, max(0, len(self) - 1))

    def __len__(self) -> int:
        return len(self._lines) + len(self._open) + bool(self._missing)

    def line(self, index: int) -> Line:
        """Return one line."""
        if index < len(self._lines):
            return self._lines[index]
        index -= len(self._lines)
        if index < len(self._open):
            return self._open[index]
        return [(f"… {self._missing:,} more characters are not shown as Markdown", "line--note")]

    def _take(self, line: str) -> None:
        """Add a complete line, and end the block if it ends there."""
        if len(self._block) + len(line) > LONGEST:
            self._end(cut=True)
        if self._fence:
            self._block += line
            if line.strip().startswith(self._fence) and not line.strip().strip(self._fence[0]):
                self._fence = ""
                self._end()
        elif not line.strip():
            self._waits = bool(self._block)
        else:
            if self._waits and not (line[0] in " \t" and _is_list(self._block)):
                self._end()
            elif self._waits:
                self._block += "\n"
            self._waits = False
            if marker := _fence_of(line):
                self._end()
                self._fence = marker
            self._block += line

    def _end(self, *, cut: bool = False) -> None:
        if self._block:
            self._ended.append(self._block)
            self._lines += self._laid_out(self._block)
        self._block = (f"{self._fence}\n" if self._fence else _table_head(self._block)) if cut else ""

    def _laid_out(self, block: str) -> list[Line]:
        gap: list[Line] = [[("", _TEXT)]] if self._lines else []
        return [*gap, *markdown_lines(block, self._width, keep_breaks=False)]

    def _show_open(self) -> None:
        rest = self._block + ("\n" if self._waits and self._partial else "") + self._partial
        self._open = self._laid_out(rest) if rest.strip() else []


def _table_head(block: str) -> str:
    """Return the headings of the table that a block is, `""` if it is not a table."""
    head = _TABLE_HEAD.match(block)
    return head[0] if head else ""


def _is_list(block: str) -> bool:
    first = block.lstrip()[:4]
    return first[:2] in ("- ", "* ", "+ ") or first.partition(".")[0].isdecimal()


def _fence_of(line: str) -> str:
    """Return the mark of the fence that a line opens, `""` if it opens none."""
    text = line.lstrip(" ")
    if len(line) - len(text) > 3 or text[:3] not in ("```", "~~~"):
        return ""
    return text[: len(text) - len(text.lstrip(text[0]))]


def _depth(line: str) -> int:
    marks = line[: len(line) - len(line.lstrip(" \t>*+-"))]
    return len(marks.replace(" ", "").replace("\t", "")) + marks.count("\t")


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - 15 ms, which most cards do not need

    # These rules would hide text.
    return MarkdownIt("commonmark").enable("table").disable(["escape", "entity", "reference"])


class _Layout:
    """Lays out the blocks of a document, each after the marks of the quotes and lists around it."""

    def __init__(self, width: int, *, keep_breaks: bool) -> None:
        self._width = width
        self._keep_breaks = keep_breaks
        self._lines: list[Line] = []
        self._marks: list[Piece] = []
        self._item: str = ""
        self._numbers: list[int | None] = []
        self._gap = False
        self._table: list[list[Cell]] = []

    def lines(self, tokens: list[Token]) -> list[Line]:
        style = _TEXT
        for token in tokens:
            match token.type:
                case "inline":
                    self._add_inline(token, style)
                case "heading_open":
                    style = _STRONG
                case "heading_close":
                    style = _TEXT
                    self._gap = True
                case "paragraph_close":
                    self._gap = not token.hidden
                case "fence" | "code_block" | "html_block" | "hr":
                    self._add_block(token)
                    self._gap = True
                case _:
                    self._nest(token)
        return self._lines

    def _add_inline(self, token: Token, style: str) -> None:
        """Add a paragraph, or the content of a cell of a table."""
        is_heading = len(self._table) == 1
        pieces = list(_inline(token, _STRONG if is_heading else style, keep_breaks=self._keep_breaks))
        if self._table:
            self._table[-1][-1] = self._table[-1][-1]._replace(pieces=pieces)
        else:
            self._add(pieces)

    def _add_table(self) -> None:
        """Lay out the rows that were read, after the marks of the quotes and lists around them."""
        self._break()
        rows, self._table = self._table, []
        first = [*self._marks[:-1], (self._item, _MUTED)] if self._item else self._marks
        indent = sum(len(text) for text, _ in self._marks)
        for number, line in enumerate(table_lines(rows, self._width - indent)):
            self._lines.append([*(self._marks if number else first), *line])
        self._item = ""
        self._gap = True

    def _add_block(self, token: Token) -> None:
        if token.type == "hr":
            self._add([("-" * 8, _MUTED)])
            return
        if token.type != "html_block" and token.info.strip():
            self._add([(token.info, _MUTED)])
        self._add([(token.content.rstrip("\n"), _TEXT if token.type == "html_block" else _CODE)])

    def _nest(self, token: Token) -> None:
        match token.type:
            case "tr_open":
                self._table.append([])
            case "th_open" | "td_open":
                self._table[-1].append(Cell((), str(token.attrs.get("style", "")).removeprefix("text-align:")))
            case "table_close":
                self._add_table()
            case "blockquote_open":
                self._break()
                self._marks.append(("| ", _MUTED))
            case "bullet_list_open" | "ordered_list_open":
                ordered = token.type == "ordered_list_open"
                self._numbers.append(int(token.attrs.get("start", 1)) if ordered else None)
            case "list_item_open":
                number = self._numbers[-1]
                self._item = "- " if number is None else f"{number}. "
                self._numbers[-1] = None if number is None else number + 1
                self._marks.append((" " * len(self._item), _TEXT))
            case "blockquote_close":
                self._marks.pop()
                self._gap = True
            case "list_item_close":
                self._marks.pop()
                self._item = ""
            case "bullet_list_close" | "ordered_list_close":
                self._numbers.pop()
                self._gap = True

    def _add(self, pieces: list[Piece]) -> None:
        self._break()
        first = [*self._marks[:-1], (self._item, _MUTED)] if self._item else self._marks
        self._lines += wrap_pieces(pieces, self._width, first=first, rest=self._marks)
        self._item = ""

    def _break(self) -> None:
        """Add an empty line after the end of a block."""
        if self._gap and self._lines:
            self._lines.append(self._marks[:-1] if self._item else list(self._marks))
        self._gap = False


def _inline(token: Token, style: str, *, keep_breaks: bool) -> Iterator[Piece]:
    """Yield the runs of a paragraph."""
    styles, target = [style], ""
    for child in token.children or ():
        match child.type:
            case "text" | "html_inline":
                yield child.content, styles[-1]
            case "code_inline":
                yield child.content, _CODE
            case "softbreak" | "hardbreak":
                yield "\n" if keep_breaks or child.type == "hardbreak" else " ", styles[-1]
            case "image":
                yield f"[picture: {child.content}]", _MUTED
                yield f" {child.attrs.get('src', '')}", _MUTED
            case "link_open":
                target = str(child.attrs.get("href", ""))
                styles.append(_LINK)
            case "link_close":
                styles.pop()
                yield f" ({target})", _MUTED
            case "strong_open" | "em_open":
                styles.append(_STRONG if child.type == "strong_open" else _EMPHASIS)
            case "strong_close" | "em_close":
                styles.pop()
            case _:
                yield child.content, styles[-1]
