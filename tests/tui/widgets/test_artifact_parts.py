"""The parts of an artifact as sections that grow, its chunks as lines, and a search in lines of any kind."""

from __future__ import annotations

from typing import Any

from inspector.protocol.assemble import AssembledArtifact
from inspector.protocol.model import Artifact
from inspector.tui.render.artifact_parts import ChunkLines, Sections
from inspector.tui.render.hexdump import raw_text
from inspector.tui.render.highlight import HIT, HighlightedLines
from inspector.tui.render.text_lines import Paragraph, Paragraphs

LIKE = Artifact.model_validate({"artifactId": "a", "parts": [{"text": ""}]})


def extend(artifact: AssembledArtifact, *parts: dict[str, Any]) -> None:
    artifact.extend(Artifact.model_validate({"artifactId": "a", "parts": list(parts)}))


def test_sections_grow_with_the_artifact():
    artifact = AssembledArtifact("a")
    sections = Sections(artifact)
    seen: list[list[tuple[str, str]]] = []
    for part in ({"text": "one"}, {"text": " two"}, {"data": 1}, {"text": "x", "metadata": {}}, {"text": "y"}):
        extend(artifact, part)
        sections.update()
        seen.append(
            [(section.kind, sections.text_of(section) if section.kind == "text" else "") for section in sections.all]
        )
    assert seen[1] == [("text", "one two")]
    assert seen[-1] == [("text", "one two"), ("data", ""), ("text", "xy")]
    artifact.append_texts(LIKE, ("z",))
    sections.update()
    assert sections.text_of(sections.all[-1]) == "xyz"
    assert sections.text_of(sections.all[-1], 2) == "z"


def test_texts_of_other_types_are_separate_sections():
    artifact = AssembledArtifact("a")
    extend(artifact, {"text": "a"}, {"text": "b", "mediaType": "text/markdown"}, {"raw": "AAAA", "end": 5, "start": 1})
    sections = Sections(artifact)
    sections.update()
    assert [(section.kind, section.start, section.end) for section in sections.all] == [
        ("text", 0, 1),
        ("text", 1, 2),
        ("file", 0, 0),
    ]


def test_a_replaced_artifact_has_new_sections():
    artifact = AssembledArtifact("a")
    extend(artifact, {"text": "old"})
    sections = Sections(artifact)
    artifact.replace(Artifact.model_validate({"artifactId": "a", "parts": [{"text": "new"}]}))
    assert not sections.fits(artifact)
    assert list(artifact.cuts) == [0]


def test_every_chunk_is_a_line():
    artifact = AssembledArtifact("a")
    extend(artifact, {"text": "ab\n"})
    extend(artifact, {"data": 1})
    extend(artifact, {"text": "cd"})
    artifact.append_texts(LIKE, ("cd",))
    lines = ChunkLines(artifact)
    shown = ["".join(text for text, _ in lines.line(index)).split() for index in range(len(lines))]
    assert shown == [
        ["1", "0", "+3", "'ab\\n'"],
        ["2", "3", "+0", "no", "text"],
        ["3", "3", "+2", "'cd'"],
        ["4", "5", "+2", "repeated", "'cd'"],
    ]


def test_a_search_finds_hits_across_rows_and_highlights_hits_within_a_row():
    lines = HighlightedLines(raw_text(b"0123456789 needle 0123456789"))
    lines.layout(14, 0)
    assert lines.find("NEEDLE") == 1
    assert lines.next_hit(0, 1, here=True) == (0, 1)
    lines.layout(40, 0)
    assert ("needle", HIT) in lines.line(0)
    assert lines.find("") == 0
    assert lines.next_hit(0, 1) is None


def test_next_hit_works_in_both_directions():
    lines = HighlightedLines(Paragraphs([Paragraph(("", "x"), f"row {n % 2}", "line--text") for n in range(6)]))
    lines.layout(40, 0)
    assert lines.find("row 1") == 3
    assert [lines.next_hit(line, 1) for line in (0, 1, 5)] == [(1, 1), (3, 2), (1, 1)]
    assert [lines.next_hit(line, -1) for line in (5, 1)] == [(3, 2), (5, 3)]
