"""The sanitiser: replace everything in a text that a terminal could obey, hide or reorder."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache

MARKS = 4
"""The most combining marks of one letter; no language needs more."""
TAB = 4
"""The distance of tab stops."""

_ELLIPSIS = "…"
_LONE = "◌"
"""The base for a combining mark without a base."""

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_PRESENTATION = "\ufe0e\ufe0f"
_KEYCAP = "\u20e3"
_KEYS = "0123456789#*"
_ZWJ = "\u200d"
_JOINTS = _PRESENTATION + _ZWJ
_SKIN_TONES = "".join(map(chr, range(0x1F3FB, 0x1F400)))
_MOST_JOINTS, _LONGEST_STEP = 10, 3
"""The most joiners and selectors of a sequence, and the largest distance between two of them."""
_SHORT = 64
_INPUT_PER_CELL = 8
"""The number of characters that are sanitised for one cell of a line: a letter with its marks, and a reserve."""


class Cleaner:
    """Sanitises a text piece by piece; a letter and its marks may be in different pieces.

    With `newlines`, LF and CR LF break lines and tabs become spaces; otherwise they become tokens. With `emoji`, the
    invisible characters of valid emoji sequences stay; their width differs between terminals, so not in columns.
    """

    def __init__(self, *, newlines: bool = False, emoji: bool = False) -> None:
        self._newlines = newlines
        self._emoji = emoji
        self._base = ""
        self._marks = 0
        self._column = 0

    def go_back(self, last: str, column: int) -> None:
        """Continue as if the text before ended with this letter, without marks, in this column."""
        self._base, self._marks, self._column = last, 0, column

    def feed(self, text: str) -> str:
        """Sanitise the next piece."""
        if text.isascii() and text.isprintable():
            if text:
                self._base, self._marks = text[-1], 0
                self._column += len(text)
            return text
        if not self._emoji or text.isascii():
            return self._feed(text)
        pieces: list[str] = []
        done = 0
        for at in _emoji_joints(text):
            pieces += [self._feed(text[done:at]), text[at]]
            done = at + 1
        return "".join([*pieces, self._feed(text[done:])])

    def _feed(self, text: str) -> str:
        if not text:
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
        """Replace excessive marks with their number, and add a base to marks without one."""
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
        """Return whether a variation selector only selects an emoji, whose width differs between terminals."""
        if self._marks or not self._base:
            return False
        return unicodedata.category(self._base) in {"So", "Sm"} or after == _KEYCAP

    def _break(self, text: str) -> str:
        """Expand the tabs of a piece from the current column."""
        start = self._column % TAB
        text = (" " * start + text).expandtabs(TAB)[start:] if "\t" in text else text
        last = text.rfind("\n")
        self._column = len(text) - last - 1 if last >= 0 else self._column + len(text)
        return text


def _emoji_joints(text: str) -> Iterator[int]:
    """Return the positions of the joiners and variation selectors in emoji sequences that do not hide anything."""
    last, run = -1, 0
    for at, character in enumerate(text):
        if character not in _JOINTS:
            continue
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        if character == _ZWJ:
            base = text[max(0, at - 3) : at].rstrip(_PRESENTATION + _SKIN_TONES)[-1:]
            is_valid = _is_pictograph(base) and _is_pictograph(after)
        else:
            is_valid = _is_pictograph(before) or (after == _KEYCAP and before in _KEYS)
        run = (run if 0 <= at - last <= _LONGEST_STEP else 0) + 1
        last = at
        if is_valid and run <= _MOST_JOINTS:
            yield at


def _is_pictograph(character: str) -> bool:
    """Return whether a character is an emoji that can be part of a sequence."""
    if not character or character in _SKIN_TONES or unicodedata.category(character) not in {"So", "Sm"}:
        return False
    code = ord(character)
    return (
        0x2190 <= code <= 0x2BFF or 0x1F000 <= code <= 0x1FAFF or code in {0xA9, 0xAE, 0x3030, 0x303D, 0x3297, 0x3299}
    )


def clean(text: str, *, newlines: bool = False, emoji: bool = False, limit: int | None = None) -> str:
    """Return `text` with visible tokens for everything that a terminal could obey, hide or reorder.

    Control characters become their pictures (`␛`), others their code point (`‹U+202E›`), excessive combining marks
    their number. With `limit` the text is cut there and ends with `…`. `newlines` and `emoji` are those of `Cleaner`.
    """
    if limit is not None and len(text) > limit:
        return Cleaner(newlines=newlines).feed(text[: max(0, limit)]) + _ELLIPSIS
    if text.isascii() and text.isprintable():
        return text
    if emoji:
        return Cleaner(newlines=newlines, emoji=True).feed(text)
    return _clean_short(text, newlines) if len(text) <= _SHORT else Cleaner(newlines=newlines).feed(text)


@lru_cache(maxsize=4096)
def _clean_short(text: str, newlines: bool) -> str:
    """Cache short texts, because the same words are in every row."""
    return Cleaner(newlines=newlines).feed(text)


def clean_line(text: str, width: int) -> str:
    """Return `text` sanitised, on one line of at most `width` cells, with `…` if it is cut."""
    if width <= 0:
        return ""
    return crop(clean(text, limit=width * _INPUT_PER_CELL), width)


def crop(text: str, width: int) -> str:
    """Return sanitised text cut to `width` cells (at least 1), with `…` if it is cut."""
    # A cell shows at most a letter and its marks, so later characters are not visible.
    text = text[: (width + 1) * (MARKS + 1)]
    if text.isascii():
        return text if len(text) <= width else text[: width - 1] + _ELLIPSIS
    cell_len, set_cell_size = _cell_functions()
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1) + _ELLIPSIS


def without_middle(text: str, width: int) -> str:
    """Return sanitised text cut to `width` cells, with its beginning, `…` and its end if it is cut."""
    if width_of(text) <= width:
        return text
    beginning = crop(text, width // 2 + 1).removesuffix(_ELLIPSIS) if width > 2 else ""
    end = len(text)
    room = width - width_of(beginning) - 1
    while end > 0 and (room := room - width_of(text[end - 1])) >= 0:
        end -= 1
    return f"{beginning}{_ELLIPSIS}{text[end:]}"


def width_of(text: str) -> int:
    """Return the width of sanitised text on one line, in cells."""
    return len(text) if text.isascii() else _cell_functions()[0](text)


@cache
def _cell_functions() -> tuple[Callable[[str], int], Callable[[str, int], str]]:
    """Import Rich on first use: commands that print ASCII only do not need it."""
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415 - see above

    return cell_len, set_cell_size


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
    """Return whether a character is invisible (Unicode: Default_Ignorable_Code_Point)."""
    return (
        code in {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0}
        or 0x180B <= code <= 0x180F
        or 0xFE00 <= code <= 0xFE0F
        or 0xE0100 <= code <= 0xE01EF
    )


@lru_cache(maxsize=4096)
def _is_mark(character: str) -> bool:
    """Return whether a character is drawn onto the character before it: marks, skin tones, letters of old Hangul."""
    if character.isascii():
        return False
    category = unicodedata.category(character)
    if category.startswith("M"):
        return True
    cell_len, _ = _cell_functions()
    return cell_len(character) == 0 and category not in _HIDDEN
