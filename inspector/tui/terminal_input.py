"""Split what a terminal sends into text, pastes and replies, so that no bytes stop the app or act as keys unasked."""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import NamedTuple

READ = 4096
"""The number of bytes of one read; after a full read, a sequence may continue in the next one."""

_PASTE = "\x1b[200~"
_PASTE_END = "\x1b[201~"
_STRING = re.compile(r"\x1b(?:\[200~|[\]P_^X](?=[^\x1b]))")
"""The start of a paste or of a control string: OSC, DCS, APC, PM and SOS, which terminals send as replies only.

Escape and one of these characters alone are a key with Alt.
"""
_STRING_END = re.compile(r"\x07|\x1b\\|\x9c|[\x18\x1a]")
_CUT = len(_PASTE)


class Paste(NamedTuple):
    """A pasted text."""

    text: str


class TerminalInput:
    """Decodes the bytes from a terminal.

    Bytes that are not UTF-8 become U+FFFD. Replies that were not requested are removed: the BEL at the end of a reply
    would be the key Ctrl+G. A paste is one text, whatever control characters it contains.
    """

    def __init__(self) -> None:
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._held = ""  # the start of a sequence at the end of a full read
        self._pasted: list[str] | None = None
        self._in_string = False

    def feed(self, raw: bytes) -> Iterator[str | Paste]:
        """Yield the texts to be read as keys, and the pastes."""
        text = self._held + self._decode(raw)
        self._held = ""
        if len(raw) == READ:
            text, self._held = _without_cut(text)
        yield from self._split(text)

    def idle(self) -> Iterator[str | Paste]:
        """Yield what was held back; a string without an end has ended when the terminal sends nothing more."""
        self._in_string = False
        text, self._held = self._held, ""
        if text:
            yield from self._split(text)

    def _split(self, text: str) -> Iterator[str | Paste]:
        position = 0
        while position < len(text):
            if self._pasted is not None:
                position, pasted = self._read_paste(text, position, self._pasted)
                if pasted is not None:
                    self._pasted = None
                    yield pasted
            elif self._in_string:
                end = _STRING_END.search(text, position)
                position = end.end() if end else len(text)
                self._in_string = end is None
            else:
                start = _STRING.search(text, position)
                if keys := text[position : start.start() if start else len(text)]:
                    yield keys
                position = start.end() if start else len(text)
                if start is not None and start[0] == _PASTE:
                    self._pasted = []
                else:
                    self._in_string = start is not None

    def _read_paste(self, text: str, position: int, pasted: list[str]) -> tuple[int, Paste | None]:
        """Read a paste from a position; return the next position, and the paste if it is complete."""
        end = text.find(_PASTE_END, position)
        pasted.append(text[position : end if end >= 0 else len(text)])
        if end < 0:
            return len(text), None
        # NUL cannot be typed, and many programs end a text there.
        return end + len(_PASTE_END), Paste("".join(pasted).replace("\0", ""))


def _without_cut(text: str) -> tuple[str, str]:
    """Return a text without the start of a sequence at its end, and that start."""
    at = text.rfind("\x1b", -_CUT)
    return (text, "") if at < 0 else (text[:at], text[at:])
