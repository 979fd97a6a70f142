"""The requirements of the specification (sections 3, 4, 9, 10 and 11 of 1.0), and the rules that check them.

`spec_coverage.csv` paraphrases every sentence with MUST, MUST NOT, SHALL or REQUIRED, in the order of the
specification. It includes the sentences in `specification/a2a.proto` that these sections quote. A requirement that no
rule checks completely has a note with the reason. Source: the tags v1.0.0 and v1.0.1 of the specification.
"""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import NamedTuple


class Requirement(NamedTuple):
    """A requirement, the ids of the rules that check it, and a note if they do not check it completely."""

    section: str
    text: str
    rules: tuple[str, ...]
    note: str


def _read() -> tuple[Requirement, ...]:
    table = files("inspector.findings") / "spec_coverage.csv"
    _, *rows = csv.reader(table.read_text(encoding="utf-8").splitlines())
    return tuple(Requirement(section, text, tuple(rules.split()), note) for section, text, rules, note in rows)


REQUIREMENTS = _read()
