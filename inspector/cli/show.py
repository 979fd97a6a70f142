"""`show`: the records of a capture, all of them or those that a filter leaves, in their order."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import UTC, datetime

from inspector.capture.paths import is_being_written
from inspector.capture.private_files import CaptureError
from inspector.capture.query import Mistake, Query, parse
from inspector.capture.records import Record
from inspector.capture.store import Capture
from inspector.cli.arguments import Invocation
from inspector.cli.debug_log import lines_of
from inspector.cli.errors import OK, usage
from inspector.cli.findings import as_json
from inspector.cli.findings import in_words as finding_in_words
from inspector.cli.output import Output, dump
from inspector.findings.finding import Finding
from inspector.findings.rules import RULES
from inspector.protocol.jsonvalue import parse as parse_json
from inspector.protocol.model import Json, Unreadable
from inspector.session.payload import payload_json
from inspector.session.replay.validation import validated
from inspector.text.sanitise import clean

_TOGETHER = 4
"""Hits are read with what stands between them where that is at most so many times as much."""


def show(invocation: Invocation, out: Output) -> int:
    """Print the records of a capture that a filter leaves."""
    given = invocation.given
    query = parse(" ".join(given.filter))
    if isinstance(query, Mistake):
        raise usage(query.sentence, "show --help says what a filter is; docs/filter.md has all its words.")
    out.lines = out.json
    written = is_being_written(given.file)
    try:
        with Capture.open(given.file, validated) as capture:
            if written:
                out.warn("Another process is writing this capture now; this is what it holds so far.")
            for record in _hits(capture, query):
                request = capture.get(record.exchange) if record.exchange else record
                _print(record, payload_json(record, request), out, verbose=invocation.verbose)
    except CaptureError as error:
        raise usage(str(error)) from error
    return OK


def _hits(capture: Capture, query: Query) -> Iterator[Record]:
    """Return the hits of a query, page by page."""
    for page in capture.search(query):
        hits = page.hits
        if hits and hits[-1] - hits[0] < _TOGETHER * len(hits):
            wanted = set(hits)
            after = hits[0] - 1
            records = capture.select(after=after, limit=hits[-1] - after)
            yield from (record for record in records if record.seq in wanted)
        else:
            yield from map(capture.get, hits)


def _print(record: Record, payload: bytes, out: Output, *, verbose: bool) -> None:
    if out.json:
        out.write(f"{dump(_whole(record, payload))}\n")
        return
    first, *others = lines_of(record, payload)
    exchange = f" of #{record.exchange}" if record.exchange not in (0, record.seq) else ""
    kind = "" if first.startswith(record.kind.value) else f"{record.kind.value} "
    out.field(f"#{record.seq}{exchange}", f"{_time(record.at)}  {kind}{first}")
    for line in others if verbose else ():
        out.write(f"  {clean(line)}\n")
    for finding in record.findings:
        out.field("  Finding", _in_words(finding))


def _whole(record: Record, payload: bytes) -> dict[str, Json]:
    """Return a record with all that it holds; a payload that is no JSON is there as its bytes in Base64."""
    value = parse_json(payload) if payload else None
    said: dict[str, Json] = {
        "seq": record.seq,
        "at": _time(record.at),
        "kind": record.kind.value,
        "exchange": record.exchange,
        "operation": record.operation,
        "event": record.event,
        "task": record.task,
        "context": record.context,
        "state": record.state,
        "label": record.label,
        "size": record.size,
        "meta": dict(record.meta),
        "findings": [_finding(one) for one in record.findings],
        "payload": None if isinstance(value, Unreadable) else value,
    }
    if isinstance(value, Unreadable):
        said["raw"] = base64.b64encode(record.raw).decode("ascii")
    return said


def _finding(finding: Finding) -> dict[str, Json]:
    """Return a finding with what its rule says, where this version knows it."""
    if finding.rule in RULES:
        return as_json(finding)
    return {"id": finding.rule, "severity": finding.severity.value, "pointer": finding.pointer, "seen": finding.seen}


def _in_words(finding: Finding) -> str:
    if finding.rule in RULES:
        return finding_in_words(finding)
    return f"{finding.severity.value} {finding.rule} {finding.pointer}: {finding.seen}"


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
