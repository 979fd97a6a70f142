"""Reads the events in recorded bytes."""

from __future__ import annotations

from collections.abc import Callable

from inspector.capture.records import Kind, Record
from inspector.protocol.assemble import TextAppended
from inspector.protocol.model import Json, Wire
from inspector.protocol.sse import Frame
from inspector.session.frame_reader import FrameReader
from inspector.session.journal import Journal
from inspector.session.replay.translate import canonical


class RecordReader:
    """Reads what the records of a capture carry, in their order; each stream has a `FrameReader` of its own."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._streams: dict[int, FrameReader[Wire | None]] = {}

    def read(self, record: Record) -> Wire | TextAppended | None:
        """Return what a record carries, None where that is nothing, an error or unreadable."""
        if record.kind is Kind.FRAME:
            reader = self._streams.get(record.exchange)
            if reader is None:
                reader = self._streams[record.exchange] = FrameReader(self._decoder(record))
            # Where the text is in the bytes is all that the reader has to know, so the block is good as its data.
            [event] = reader.read((Frame(record.raw, record.raw),), _always)
            return event.said
        if record.kind is Kind.END:
            self._streams.pop(record.exchange, None)
        if record.kind not in (Kind.BODY, Kind.DELIVERY):
            return None
        request = self._journal.request_of(record)
        summary = self._journal.exchanges.get(record.exchange)
        # Without a binding nothing is known of what the exchange speaks, and to try again and again is expensive.
        known = record.kind is Kind.DELIVERY or "binding" in request.meta
        return canonical(record, request, summary.status if summary is not None else 0) if known else None

    def _decoder(self, like: Record) -> Callable[[bytes], tuple[Json, Wire | None]]:
        """Return what reads the frames of the stream that a record is of."""
        request = self._journal.request_of(like)
        if "binding" not in request.meta:
            return lambda _: (None, None)
        return lambda raw: (None, canonical(like._replace(raw=raw), request))


def _always() -> bool:
    return True
