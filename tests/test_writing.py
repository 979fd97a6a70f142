"""Texts of the product are written in plain English: docstrings, comments, messages, help texts and documentation."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
STRINGS = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}  # from Python 3.12 on
SOURCES = ("inspector", "sample_agents", "benchmarks", "screenshots")

PATTERNS = {
    "is no X: write 'is not an X'": r"(?<![Tt]here )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b)\w+",
    "tell: write report, send, contain, record": r"\b(?:tell|tells|told|telling)\b",
    "stand: write is, appear": r"\b(?:stands|stood)\b|\bstand (?:in|at|on|for|beside|before|behind)\b",
    "nobody": r"\bnobody\b",
    "come to nothing: write fail": r"\b(?:comes?|came) to nothing\b",
    "what it is about: write about, topic": r"\bwhat (?:it|they|this) (?:is|are) about\b",
    "one as a noun: name the thing": r"\bfor one in\b|\b(?:every|each|another|no|which) one\b(?! of\b)|\bones\b",
    "by itself: write automatically": r"\bby itself\b",
    "of ours: write our": r"\bof (?:ours|theirs)\b",
    "go on: write continue": r"\b(?:go|goes|went|going|gone) on\b",
    "is due: write is expected": r"\b(?:is|are|was|were) due\b",
    "say: write print, return, report, contain": r"\b(?:say|says|said|saying)\b",
    "give and take: write return, accept": r"\b(?:gives|takes)\b",
    "at work: write running": r"\bat work\b",
    "sound: write valid": r"\bsound\b",
    "mend: write fix": r"\bmend(?:s|ed|ing)?\b",
    "generation: write protocol version": r"\b(?<!if)(?<!current)[Gg]enerations?\b",
}
"""What to write instead, and the pattern. Code in backquotes and in indented examples is not searched."""

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("inspector/findings/stream/order.py", "adds exactly 1 to generation"): "the member of A2A 1.1",
    ("docs/rules.md", "adds exactly 1 to generation"): "the member of A2A 1.1",
    ("sample_agents/versions.py", "current generation is"): "the message of the specification of A2A 1.1",
    ("sample_agents/versions.py", "Task generation mismatch"): "the beginning of this message",
}
"""A file and a phrase in it: why it stays."""


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """Return the texts in a file with the number of their line: strings of several words, and comments."""
    if path.suffix == ".md":
        fenced = False
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            fenced ^= line.startswith("```")
            if not fenced and not line.startswith("    "):
                yield number, line
        return
    for token in tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline):
        if token.type == tokenize.COMMENT or (token.type in STRINGS and re.search(r"\w \w", token.string)):
            for offset, line in enumerate(token.string.splitlines()):
                yield token.start[0] + offset, line


@cache
def texts() -> list[tuple[str, int, str]]:
    """Return the file, the line and the content of each text."""
    sources = (path for folder in SOURCES for path in sorted((ROOT / folder).rglob("*.py")))
    return [
        (str(path.relative_to(ROOT)), number, re.sub(r"`[^`]*`", "``", text))
        for path in (*sources, ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md")))
        for number, text in texts_of(path)
    ]


@pytest.mark.parametrize("advice", PATTERNS)
def test_no_text_has_a_phrase_that_is_hard_to_understand(advice: str):
    pattern = re.compile(PATTERNS[advice])
    found = [
        f"{path}:{number}: {text.strip()[:120]}"
        for path, number, text in texts()
        if pattern.search(text) and not any(path == file and phrase in text for file, phrase in EXCEPTIONS)
    ]
    assert not found, "\n".join([advice, *found[:30], f"{len(found)} places"])


@pytest.mark.parametrize(("file", "phrase"), EXCEPTIONS)
def test_every_exception_is_still_needed(file: str, phrase: str):
    needed = [text for path, _, text in texts() if path == file and phrase in text]
    assert any(re.search(pattern, text) for text in needed for pattern in PATTERNS.values())


def test_loop_variables_are_named_after_their_items():
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for folder in SOURCES
        for path in sorted((ROOT / folder).rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"\bfor one in\b|\blambda one\b", line)
    ]
    assert not found, "\n".join(found)


PAGES = {path: path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))}
"""The pages of the documentation."""


def anchors(text: str) -> set[str]:
    """Return the anchors of the headings of a page, numbered if they are equal, as code hosts name them."""
    counts: dict[str, int] = {}
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        counts[anchor] = counts.get(anchor, 0) + 1
    return {f"{anchor}-{number}" if number else anchor for anchor in counts for number in range(counts[anchor])}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_and_named_files_exist(page: Path):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", PAGES[page]):
        linked = (page.parent / target).resolve() if target else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(PAGES[linked]), f"{target}#{anchor}"
    folders = ("tests/(?!acts`)", *(f"{folder}/" for folder in SOURCES))
    for name in re.findall(rf"`((?:{'|'.join(folders)})[\w./]+)`", PAGES[page]):
        assert page.name == "extending.md" or (ROOT / name).exists(), name
