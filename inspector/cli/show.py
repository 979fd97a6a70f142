"""`show`: the records of a capture, all of them or those that a filter leaves, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inspector.capture.paths import is_being_written
from inspector.capture.private_files import CaptureError
from inspector.capture.query import Mistake, Query, parse
from inspector.capture.records import Record
from inspector.capture.store import Capture
from inspector.cli.arguments import Invocation
from inspector.cli.debug_log import lines_of
from inspector.cli.errors import OK, usage
from inspector.cli.findings import in_words
from inspector.cli.output import Output
from inspector.session.exporters import RECORD_FORMATS
from inspector.session.exporters.json_lines import iso_time
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
            records = ((record, payload_json(record, _request(capture, record))) for record in _hits(capture, query))
            _print_all(records, given.output, out, verbose=invocation.verbose)
    except CaptureError as error:
        raise usage(str(error)) from error
    return OK


def _request(capture: Capture, record: Record) -> Record:
    return capture.get(record.exchange) if record.exchange else record


def _print_all(records: Iterable[tuple[Record, bytes]], form: str, out: Output, *, verbose: bool) -> None:
    chosen = next((one for one in RECORD_FORMATS if one.name == form), None)
    if chosen is not None:
        for piece in chosen.write(records):
            out.write(piece)
        return
    for record, payload in records:
        _print(record, payload, out, verbose=verbose)


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
    first, *others = lines_of(record, payload)
    exchange = f" of #{record.exchange}" if record.exchange not in (0, record.seq) else ""
    kind = "" if first.startswith(record.kind.value) else f"{record.kind.value} "
    out.field(f"#{record.seq}{exchange}", f"{iso_time(record.at)}  {kind}{first}")
    for line in others if verbose else ():
        out.write(f"  {clean(line)}\n")
    for finding in record.findings:
        out.field("  Finding", in_words(finding))
