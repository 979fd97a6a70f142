"""What the data of known extensions in a payload means, as lines."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.protocol.extensions.known import Use
from inspector.protocol.extensions.outline import Line
from inspector.tui.render.text_lines import Paragraph

_INDENT = 2
_TEXT, _SOFT, _BAD = "line--text", "line--soft", "line--bad"


def extension_lines(uses: Sequence[Use]) -> list[Paragraph]:
    """Return an outline for each use of an extension, with the place of its data."""
    paragraphs: list[Paragraph] = []
    for use in uses:
        if paragraphs:
            paragraphs.append(Paragraph(("", _TEXT), "", _TEXT))
        paragraphs.append(Paragraph((f"{use.extension.name}  ", "line--strong"), use.place, _SOFT))
        paragraphs += outline_lines(use.outline.lines)
    return paragraphs


def outline_lines(lines: Sequence[Line]) -> list[Paragraph]:
    """Return the lines of an outline; each level is indented."""
    return [_paragraph(line) for line in lines]


def _paragraph(line: Line) -> Paragraph:
    indent = " " * (_INDENT * (line.depth + 1))
    style = _BAD if line.is_problem else _TEXT
    label = f"{indent}{line.label}  " if line.label else indent
    return Paragraph((label, _BAD if line.is_problem else _SOFT), line.text, style)
