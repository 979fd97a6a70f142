"""Search a capture: the records that match a filter, and their findings."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from inspector.capture.query import Mistake, Query, parse
from inspector.capture.store import Capture
from inspector.findings.finding import Finding
from inspector.mcp_server.results import refused

MOST_SEARCHED = 10_000
"""How many records with findings are read at most."""


class Found(NamedTuple):
    """Findings with the numbers of their records; `complete` is false if there are more."""

    findings: list[tuple[int, Finding]]
    complete: bool


def read_filter(text: str) -> Query:
    """Return the query of a filter; raises `ToolError` if it is not valid."""
    query = parse(text)
    if isinstance(query, Mistake):
        raise refused(f"The filter is not valid: {query.sentence}")
    return query


def hits(capture: Capture, query: Query, after: int = 0) -> Iterator[int]:
    """Yield the numbers of the records after `after` that match a query."""
    return (seq for page in capture.search(query, after=after) for seq in page.hits)


def find_findings(capture: Capture, filter_text: str = "", after: int = 0) -> Found:
    """Return the findings of the records after `after` that match a filter; raises `ToolError`."""
    query = read_filter(f"{filter_text} finding:any")
    numbers = list(islice(hits(capture, query, after), MOST_SEARCHED + 1))
    found = [(seq, finding) for seq in numbers[:MOST_SEARCHED] for finding in capture.get(seq).findings]
    return Found(found, complete=len(numbers) <= MOST_SEARCHED)
