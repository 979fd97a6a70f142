"""`show`: print the records of a capture, all or those that match a filter."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.capture.query import Query
from inspector.capture.records import Record
from inspector.capture.store import Capture
from inspector.cli.arguments import Invocation
from inspector.cli.debug_log import lines_of
from inspector.cli.errors import OK
from inspector.cli.findings import pieces_of
from inspector.cli.opened_capture import opened_capture, read_filter
from inspector.cli.output import Output
from inspector.cli.styles import Piece, Role, Styled
from inspector.session.exporters import RECORD_FORMATS
from inspector.session.exporters.json_lines import iso_time
from inspector.session.extension_use import VerificationResult, results_in
from inspector.session.payload import payload_json
from inspector.text.sanitise import clean

_RANGE_FACTOR = 4
"""If a page of hits spans fewer than this many records per hit, all records between the hits are read at once."""


def show(invocation: Invocation, out: Output) -> int:
    """Print the records of a capture that match a filter."""
    given = invocation.given
    query = read_filter(given.filter) or Query(())
    out.lines = out.json
    with opened_capture(given.file, out) as capture:
        records = _noticing_none(_with_payloads(capture, query), query, out)
        chosen = next((known for known in RECORD_FORMATS if known.name == given.output), None)
        if chosen is None:
            for record, payload in records:
                _print(record, payload, out, verbose=invocation.verbose)
        else:
            for piece in chosen.write(records):
                out.write(piece)
    return OK


def _noticing_none(
    records: Iterator[tuple[Record, bytes]], query: Query, out: Output
) -> Iterator[tuple[Record, bytes]]:
    """Yield the records, and report on stderr if there are none."""
    first = next(records, None)
    if first is not None:
        yield first
        yield from records
        return
    states = [f"{name} is not a state of a task" for name in query.unknown_states]
    reason = "no record matches the filter" if query.conditions else "the capture contains no records"
    out.warn("; ".join([reason, *states]))


def _with_payloads(capture: Capture, query: Query) -> Iterator[tuple[Record, bytes]]:
    for record in _hits(capture, query):
        yield record, payload_json(record, capture.request_of(record))


def _hits(capture: Capture, query: Query) -> Iterator[Record]:
    """Yield the hits of a query, read page by page."""
    for page in capture.search(query):
        hits = page.hits
        if hits and hits[-1] - hits[0] < _RANGE_FACTOR * len(hits):
            wanted = set(hits)
            after = hits[0] - 1
            records = capture.select(after=after, limit=hits[-1] - after)
            yield from (record for record in records if record.seq in wanted)
        else:
            yield from map(capture.get, hits)


_ROLES = {"valid": Role.GOOD, "not valid": Role.BAD}


def _outcome(result: VerificationResult) -> Piece:
    role = _ROLES.get(result.outcome)
    return result.outcome if role is None else Styled(result.outcome, role)


def _print(record: Record, payload: bytes, out: Output, *, verbose: bool) -> None:
    first, *others = lines_of(record, payload)
    exchange = f" of #{record.exchange}" if record.exchange not in (0, record.seq) else ""
    kind = "" if first.startswith(record.kind.value) else f"{record.kind.value} "
    out.field(f"#{record.seq}{exchange}", f"{iso_time(record.at)}  {kind}{first}")
    for line in others if verbose else ():
        out.write(f"  {clean(line)}\n")
    for result in results_in(record):
        out.field("  Verified", result.name, f", {result.what}: ", _outcome(result), f": {result.reason}")
    for finding in record.findings:
        out.field("  Finding", *pieces_of(finding))
