"""What the data of known extensions in a payload means, as lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from inspector.protocol.extensions.known import Use
from inspector.protocol.extensions.outline import Line
from inspector.session.extension_use import VerificationResult, results_of
from inspector.session.journal import Journal
from inspector.tui.render.text_lines import BLANK, Paragraph

_INDENT = 2
_OUTCOMES = ("not valid", "valid", "not verified")
_TEXT, _SOFT, _BAD = "line--text", "line--soft", "line--bad"


def extension_lines(uses: Sequence[Use], journal: Journal) -> list[Paragraph]:
    """Return an outline for each use of an extension, with the place of its data, and what was verified in it."""
    paragraphs: list[Paragraph] = []
    for use in uses:
        if paragraphs:
            paragraphs.append(BLANK)
        paragraphs.append(Paragraph((f"{use.extension.name}  ", "line--strong"), use.place, _SOFT))
        results = results_of(use.value, journal) if use.extension.has_signatures else []
        paragraphs += outline_lines((*_summary(results), *use.outline.lines, *_verified_lines(results or ())))
    return paragraphs


def _summary(results: Sequence[VerificationResult] | None) -> list[Line]:
    """Return how many signatures, hashes and times have each outcome; they were verified when they were recorded."""
    if results is None:
        return [Line(0, "verified", "nothing: it has no signature, or was recorded without checks")]
    if not results:
        return []
    counts = Counter(result.outcome for result in results)
    words = ", ".join(f"{counts[outcome]} {outcome}" for outcome in _OUTCOMES if outcome in counts)
    return [Line(0, "verified", words, any(result.is_problem for result in results))]


def _verified_lines(results: Sequence[VerificationResult]) -> list[Line]:
    lines, name = [], ""
    for result in results:
        if result.name != name:
            name = result.name
            lines.append(Line(0, "verified", name))
        lines.append(Line(1, result.what, f"{result.outcome}: {result.reason}", result.is_problem))
    return lines


def outline_lines(lines: Sequence[Line]) -> list[Paragraph]:
    """Return the lines of an outline; each level is indented."""
    return [_paragraph(line) for line in lines]


def _paragraph(line: Line) -> Paragraph:
    indent = " " * (_INDENT * (line.depth + 1))
    style = _BAD if line.is_problem else _TEXT
    label = f"{indent}{line.label}  " if line.label else indent
    return Paragraph((label, _BAD if line.is_problem else _SOFT), line.text, style)
