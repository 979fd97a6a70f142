"""A copy of a card being edited: what is wrong with it now, and where it is saved."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from inspector.findings.finding import Finding
from inspector.findings.lint import lint
from inspector.wire import discovery
from inspector.wire.discovery import FoundCard


@dataclass(frozen=True, slots=True)
class Judged:
    """What a text is as a card: the generation whose shape it has, or why it is none, and what is wrong with it."""

    generation: str
    problem: str
    findings: tuple[Finding, ...]


def judge(text: str) -> Judged:
    """Judge a text as a card in a file is judged."""
    raw = text.encode("utf-8", "surrogatepass")
    found = discovery.read_bytes(raw)
    generation = found.dialect.generation if isinstance(found, FoundCard) else ""
    return Judged(generation, "" if isinstance(found, FoundCard) else found, tuple(lint(raw).findings))


def save(path: Path, text: str, *, replace: bool = False) -> None:
    """Write a text to a file; without `replace`, an existing one raises `FileExistsError`. Raises `OSError`."""
    with path.open("w" if replace else "x", encoding="utf-8", errors="surrogatepass", newline="") as file:
        file.write(text)
