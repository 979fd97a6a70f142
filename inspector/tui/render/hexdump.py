"""Bytes as hexadecimal rows, or as text with visible line ends."""

from __future__ import annotations

from inspector.tui.render.text_lines import LIMIT, Line, WrappedText

_SIZES = (16, 8, 4)
"""The possible numbers of bytes in a row."""

_TEXT = bytes.maketrans(bytes(range(256)), bytes(code if 0x20 <= code < 0x7F else 0x2E for code in range(256)))


class HexDump:
    """Rows of `offset  hexadecimal  ASCII`, as many bytes in each as the width allows."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._digits = max(4, len(f"{len(raw):x}"))
        self._size = _SIZES[0]

    def layout(self, width: int, keep: int) -> int:
        """Choose the bytes per row, and return the new row that contains the first byte of the old row `keep`."""
        offset = keep * self._size
        room = width - self._digits - 4
        self._size = next((size for size in _SIZES if 4 * size <= room), _SIZES[-1])
        return offset // self._size

    def __len__(self) -> int:
        return (len(self._raw) + self._size - 1) // self._size

    def line(self, index: int) -> Line:
        """Return one row."""
        offset = index * self._size
        part = self._raw[offset : offset + self._size]
        half = self._size // 2
        digits = f"{part[:half].hex(' ')}  {part[half:].hex(' ')}"
        return [
            (f"{offset:0{self._digits}x}  ", "line--quiet"),
            (digits.ljust(3 * self._size + 2), "line--text"),
            (part.translate(_TEXT).decode("ascii"), "line--soft"),
        ]


def raw_text(raw: bytes, *, limit: int = LIMIT) -> WrappedText:
    """Return bytes as text, with U+FFFD for invalid UTF-8 and `␍␊` for line ends."""
    text = raw[:limit].decode("utf-8", "replace").replace("\r", "␍").replace("\n", "␊\n")
    lines = WrappedText(text, words=False, style="line--text", limit=len(text))
    lines.skip(max(0, len(raw) - limit))
    return lines
