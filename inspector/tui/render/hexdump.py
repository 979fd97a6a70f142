"""Bytes as they came: as hexadecimal rows, or as text with its line ends visible."""

from __future__ import annotations

from inspector.tui.render.text_lines import LIMIT, Line, WrappedText

_SIZES = (16, 8, 4)
"""How many bytes a row may hold."""

_TEXT = bytes.maketrans(bytes(range(256)), bytes(code if 0x20 <= code < 0x7F else 0x2E for code in range(256)))


class HexDump:
    """Rows of `offset  hexadecimal  ASCII`, as many bytes in each as the width allows."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._digits = max(4, len(f"{len(raw):x}"))
        self._size = _SIZES[0]

    def layout(self, width: int, keep: int) -> int:
        """Choose the bytes per row and return the row of the byte that began the row `keep`."""
        offset = keep * self._size
        self._size = next((size for size in _SIZES if self._cells(size) <= width), _SIZES[-1])
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

    def _cells(self, size: int) -> int:
        return self._digits + 2 + 3 * size + 2 + size


def raw_text(raw: bytes, *, limit: int = LIMIT) -> WrappedText:
    """Return bytes as text, what is not UTF-8 as U+FFFD and every line end as `␍␊`."""
    text = raw[:limit].decode("utf-8", "replace").replace("\r", "␍").replace("\n", "␊\n")
    lines = WrappedText(text, words=False, style="line--text", limit=len(text))
    lines.skip(max(0, len(raw) - limit))
    return lines
