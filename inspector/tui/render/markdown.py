"""Markdown as lines: read safely, within a budget, with nothing in it that could be followed or fetched."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from inspector.tui.render.source import Line, Piece
from inspector.tui.render.styled import wrap_pieces

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONGEST = 4000
"""How many characters are read as Markdown; a longer text is shown as it is, cut there."""

_DEEPEST = 12
"""How many marks of quotes and lists a line may begin with; more are no structure that anybody reads."""

_TEXT, _STRONG, _EMPHASIS, _CODE, _LINK, _MUTED = (
    f"card--{name}" for name in ("text", "strong", "emphasis", "code", "link", "muted")
)


def markdown_lines(text: str, width: int) -> list[Line]:
    """Lay out Markdown for a width; links show where they lead, pictures their address, HTML stands as text."""
    if len(text) > LONGEST or any(_depth(line) > _DEEPEST for line in text.splitlines()):
        more = f" … {len(text) - LONGEST:,} more characters" if len(text) > LONGEST else ""
        return wrap_pieces([(text[:LONGEST], _TEXT), (more, _MUTED)], width)
    return _Layout(width).lines(_parser().parse(text))


def in_one_line(text: str, width: int) -> str:
    """Return the beginning of Markdown as plain words, a little more than fits a width."""
    lines = markdown_lines(text[: 4 * width], 2 * width)
    return " ".join("".join(piece for piece, _ in line).strip() for line in lines)


def _depth(line: str) -> int:
    marks = line[: len(line) - len(line.lstrip(" \t>*+-"))]
    return len(marks.replace(" ", "").replace("\t", "")) + marks.count("\t")


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - a card that is long in coming should not wait for it

    # What these rules take away could be meant to be overlooked.
    return MarkdownIt("commonmark").disable(["escape", "entity", "reference"])


class _Layout:
    """Puts the blocks of a document below one another, each behind the marks of what it stands in."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._lines: list[Line] = []
        self._marks: list[Piece] = []
        self._item: str = ""
        self._numbers: list[int | None] = []
        self._gap = False

    def lines(self, tokens: list[Token]) -> list[Line]:
        style = _TEXT
        for token in tokens:
            match token.type:
                case "inline":
                    self._add(list(_inline(token, style)))
                case "heading_open":
                    style = _STRONG
                case "heading_close":
                    style = _TEXT
                    self._gap = True
                case "paragraph_close":
                    self._gap = not token.hidden
                case "fence" | "code_block":
                    if token.info.strip():
                        self._add([(token.info, _MUTED)])
                    self._add([(token.content.rstrip("\n"), _CODE)])
                    self._gap = True
                case "html_block":
                    self._add([(token.content.rstrip("\n"), _TEXT)])
                    self._gap = True
                case "hr":
                    self._add([("-" * 8, _MUTED)])
                    self._gap = True
                case _:
                    self._nest(token)
        return self._lines

    def _nest(self, token: Token) -> None:
        match token.type:
            case "blockquote_open":
                self._break()
                self._marks.append(("| ", _MUTED))
            case "bullet_list_open":
                self._numbers.append(None)
            case "ordered_list_open":
                self._numbers.append(int(token.attrs.get("start", 1)))
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
            case _:
                pass

    def _add(self, pieces: list[Piece]) -> None:
        self._break()
        first = [*self._marks[:-1], (self._item, _MUTED)] if self._item else self._marks
        self._lines += wrap_pieces(pieces, self._width, first=first, rest=self._marks)
        self._item = ""

    def _break(self) -> None:
        """Leave a line free where a block ended."""
        if self._gap and self._lines:
            self._lines.append(self._marks[:-1] if self._item else list(self._marks))
        self._gap = False


def _inline(token: Token, style: str) -> Iterator[Piece]:
    """Give the runs of a paragraph."""
    styles, target = [style], ""
    for child in token.children or ():
        match child.type:
            case "text" | "html_inline":
                yield child.content, styles[-1]
            case "code_inline":
                yield child.content, _CODE
            case "softbreak" | "hardbreak":  # whoever writes a card means the break
                yield "\n", styles[-1]
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
