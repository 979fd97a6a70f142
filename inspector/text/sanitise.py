"""The border of the screen: hostile text in, text out that a terminal can only draw."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from rich.cells import cell_len, set_cell_size

MARKS = 4
"""How many combining marks one letter may carry; no language needs more."""

TAB = 4
"""Cells from one tab stop to the next."""

_ELLIPSIS = "…"
_LONE = "◌"
"""The base that Unicode gives to a mark that stands alone."""

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_PRESENTATION = "\ufe0e\ufe0f"
_KEYCAP = "\u20e3"
_SHORT = 64
_INPUT_PER_CELL = 8
"""How many characters of input are worth a look for one cell of a line: a letter with its marks, and some more."""


class Cleaner:
    """Cleans one text that arrives in pieces, so that a letter and its accents may arrive apart.

    With `newlines`, LF and CR LF break lines and tabs become spaces; without, they become tokens like the rest.
    """

    def __init__(self, *, newlines: bool = False) -> None:
        self._newlines = newlines
        self._base = ""
        self._marks = 0
        self._column = 0

    def go_back(self, last: str, column: int) -> None:
        """Go on as if what came so far ended with this letter, which carries no marks, so far from the line's start."""
        self._base, self._marks, self._column = last, 0, column

    def feed(self, text: str) -> str:
        """Return the next piece, clean."""
        if text.isascii() and text.isprintable():
            if text:
                self._base, self._marks = text[-1], 0
                self._column += len(text)
            return text
        if self._newlines:
            text = text.replace("\r\n", "\n")
        alphabet = set(text)
        marks = {character for character in alphabet if _is_mark(character)}
        if marks:
            text = self._thin(text, marks)
        else:
            self._base, self._marks = text[-1], 0
        tokens = {ord(character): token for character in alphabet if (token := _token(character))}
        if self._newlines:
            tokens.pop(0x0A, None)
            tokens.pop(0x09, None)
        text = text.translate(tokens) if tokens else text
        return self._break(text) if self._newlines else text

    def _thin(self, text: str, marks: set[str]) -> str:
        """Take away the marks that are too many for one base, saying how many, and give lone ones a base."""
        kept: list[str] = []
        surplus = 0
        for at, character in enumerate(text):
            if character not in marks:
                if surplus:
                    kept.append(f"‹+{surplus} marks›")
                    surplus = 0
                self._base, self._marks = character, 0
                kept.append(character)
            elif character in _PRESENTATION and self._is_presentation(text[at + 1 : at + 2]):
                continue
            elif character in _PRESENTATION:
                kept.append(character)
            elif self._base in {"", "\n"}:
                self._base, self._marks = _LONE, 1
                kept.append(_LONE + character)
            elif self._marks < MARKS:
                self._marks += 1
                kept.append(character)
            else:
                surplus += 1
        if surplus:
            kept.append(f"‹+{surplus} marks›")
        return "".join(kept)

    def _is_presentation(self, after: str) -> bool:
        """Say whether a variation selector here only asks for a picture, which terminals measure differently."""
        if self._marks or not self._base:
            return False
        return unicodedata.category(self._base) in {"So", "Sm"} or after == _KEYCAP

    def _break(self, text: str) -> str:
        """Expand the tabs of a piece that begins where the last one ended."""
        start = self._column % TAB
        text = (" " * start + text).expandtabs(TAB)[start:] if "\t" in text else text
        last = text.rfind("\n")
        self._column = len(text) - last - 1 if last >= 0 else self._column + len(text)
        return text


def clean(text: str, *, newlines: bool = False, limit: int | None = None) -> str:
    """Return `text` with everything that a terminal could obey, hide or reorder as visible tokens.

    Controls become their pictures (`␛`), other such characters their number (`‹U+202E›`), and combining marks that are
    too many a count. At most `limit` characters are looked at; `…` says that there were more.
    """
    if limit is not None and len(text) > limit:
        return Cleaner(newlines=newlines).feed(text[: max(0, limit)]) + _ELLIPSIS
    if text.isascii() and text.isprintable():
        return text
    return _clean_short(text, newlines) if len(text) <= _SHORT else Cleaner(newlines=newlines).feed(text)


@lru_cache(maxsize=4096)
def _clean_short(text: str, newlines: bool) -> str:
    """Remember the short ones: the same glyphs and words stand in every row."""
    return Cleaner(newlines=newlines).feed(text)


def clean_line(text: str, width: int) -> str:
    """Return `text` clean, on one line of at most `width` cells, with `…` where it is cut."""
    if width <= 0:
        return ""
    return crop(clean(text, limit=width * _INPUT_PER_CELL), width)


def crop(text: str, width: int) -> str:
    """Return clean text cut to `width` cells (at least 1), the last of them `…` if something is missing."""
    # A cell takes a letter and its marks at most, so what is behind this many characters cannot be seen.
    text = text[: (width + 1) * (MARKS + 1)]
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1) + _ELLIPSIS


@lru_cache(maxsize=4096)
def _token(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if unicodedata.category(character) in _HIDDEN or _is_ignorable(code):
        return f"‹U+{code:04X}›"
    return ""


def _is_ignorable(code: int) -> bool:
    """Say whether a letter or mark is drawn as nothing at all (Unicode: Default_Ignorable_Code_Point)."""
    return (
        code in {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0}
        or 0x180B <= code <= 0x180F
        or 0xFE00 <= code <= 0xFE0F
        or 0xE0100 <= code <= 0xE01EF
    )


@lru_cache(maxsize=4096)
def _is_mark(character: str) -> bool:
    """Say whether a character is drawn onto the one before it: marks, skin tones, the later letters of old Hangul."""
    return unicodedata.category(character).startswith("M") or (
        cell_len(character) == 0 and unicodedata.category(character) not in _HIDDEN
    )
